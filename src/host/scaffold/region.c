/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#define _POSIX_C_SOURCE 200809L
#include "host/scaffold/region.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec.h"
#include "base/words.h"

enum { SIDES = 6, CELLS = 24 };
static const double usual_part = 0.1;

/// Axes of a body whose up is y; `across` of another up are the two other axes, in order.
static const struct {
    const char *name;
    int across; ///< 0: left to right, 1: up, 2: to the front
    double sign;
} sides[SIDES] = { { "top", 1, 1.0 },   { "bottom", 1, -1.0 }, { "left", 0, -1.0 },
                   { "right", 0, 1.0 }, { "front", 2, 1.0 },   { "back", 2, -1.0 } };

static int axis_of(int across, int up)
{
    static const int table[3][3] = { { 1, 0, 2 }, { 0, 1, 2 }, { 0, 2, 1 } }; // of up along x, y, z
    return table[up][across];
}

static void bounds(const PliMesh *m, double min[3], double max[3])
{
    for (int a = 0; a < 3; ++a) min[a] = INFINITY, max[a] = -INFINITY;
    for (size_t i = 0; i < 3 * (size_t)m->point_count; ++i)
        min[i % 3] = fmin(min[i % 3], m->x[i]), max[i % 3] = fmax(max[i % 3], m->x[i]);
}

void pli_region_deepen(const PliRegionFrame *frame, PliRegion *r, double part)
{
    double min[3], max[3], width = 0.0;
    if (r->axis < 0) return;
    bounds(frame->surface, min, max);
    for (int a = 0; a < 3; ++a) width = fmax(width, max[a] - min[a]);
    r->part = part;
    r->box_count = 1;
    for (int a = 0; a < 3; ++a) r->box[0][a] = min[a] - width, r->box[0][3 + a] = max[a] + width; // lattices reach out
    const double height = max[r->axis] - min[r->axis];
    if (r->sign > 0.0)
        r->box[0][r->axis] = max[r->axis] - part * height;
    else
        r->box[0][3 + r->axis] = min[r->axis] + part * height;
}

// ---- numbers ---------------------------------------------------------------------------------------------------------------

/// Exactly `count` numbers separated by commas or blanks.
static bool read_numbers(const char *text, double *out, int count)
{
    for (int k = 0; k < count; ++k) {
        text += strspn(text, ", ");
        text = pli_parse_number(text, &out[k]);
        if (!text) return false;
    }
    return text[strspn(text, " ")] == '\0';
}

static PliStatus read_sphere(const char *text, PliRegion *r, PliError *err)
{
    double n[4];
    if (!read_numbers(text, n, 4) || !(n[3] > 0.0))
        return pli_refuse(err, PLI_BAD_ARGUMENT, "a sphere is sphere:X,Y,Z,RADIUS in metres, not 'sphere:%.80s'", text);
    r->sphere = true;
    v3_copy(r->centre, n);
    r->radius = n[3];
    return PLI_OK;
}

static PliStatus read_box(const char *text, PliRegion *r, PliError *err)
{
    double n[6];
    if (!read_numbers(text, n, 6))
        return pli_refuse(err, PLI_BAD_ARGUMENT, "a box is box:X,Y,Z,X,Y,Z in metres, not 'box:%.80s'", text);
    for (int a = 0; a < 3; ++a) r->box[0][a] = fmin(n[a], n[3 + a]), r->box[0][3 + a] = fmax(n[a], n[3 + a]);
    r->box_count = 1;
    return PLI_OK;
}

// ---- groups of an OBJ ------------------------------------------------------------------------------------------------------

typedef struct Groups {
    const char *wanted;
    double *point; ///< all of the file, its units
    size_t point_count, point_capacity;
    double *found; ///< corners of the triangles of the group, three each
    size_t found_count, found_capacity;
    char near[64]; ///< the name most like the wanted one
    int distance;
} Groups;

static bool add_point(double **list, size_t *count, size_t *capacity, const double p[3])
{
    if (*count == *capacity) {
        const size_t more = *capacity ? 2 * *capacity : 1024;
        double *grown = realloc(*list, 3 * more * sizeof *grown);
        if (!grown) return false;
        *list = grown, *capacity = more;
    }
    v3_copy(*list + 3 * (*count)++, p);
    return true;
}

/// A face as the triangles around its first corner.
static bool take_face(Groups *g, const char *line)
{
    double first[3], last[3];
    int corners = 0;
    for (const char *p = line; *p;) {
        char *end;
        long k = strtol(p, &end, 10);
        if (end == p) break;
        if (k < 0) k += (long)g->point_count + 1;
        if (k >= 1 && (size_t)k <= g->point_count) {
            const double *x = g->point + 3 * (size_t)(k - 1), *const triangle[3] = { first, last, x };
            for (int c = 0; corners > 1 && c < 3; ++c)
                if (!add_point(&g->found, &g->found_count, &g->found_capacity, triangle[c])) return false;
            v3_copy(corners ? last : first, x);
            ++corners;
        }
        p = end + strcspn(end, " \t\r\n"); // texture and normal
        p += strspn(p, " \t\r\n");
    }
    return true;
}

/// Whether one of the names behind g, o or usemtl is the wanted one.
static bool names_it(Groups *g, char *names)
{
    bool is = false;
    char *save;
    for (char *word = strtok_r(names, " \t\r\n", &save); word; word = strtok_r(NULL, " \t\r\n", &save)) {
        const int d = pli_word_distance(word, g->wanted);
        if (d < g->distance) g->distance = d, snprintf(g->near, sizeof g->near, "%.63s", word);
        is = is || strcmp(word, g->wanted) == 0;
    }
    return is;
}

static PliStatus scan(Groups *g, const char *file, PliError *err)
{
    FILE *in = fopen(file, "r");
    char *line = NULL;
    size_t room = 0;
    bool inside = false, by_material = false, ok = true;
    while (in && ok && getline(&line, &room, in) > 0) {
        char *p = line + strspn(line, " \t");
        if (p[0] == 'v' && (p[1] == ' ' || p[1] == '\t')) {
            double x[3] = { 0.0, 0.0, 0.0 };
            const char *at = p + 2;
            for (int a = 0; a < 3 && at; ++a) at = pli_parse_number(at + strspn(at, " \t"), &x[a]);
            ok = add_point(&g->point, &g->point_count, &g->point_capacity, x);
        } else if ((p[0] == 'g' || p[0] == 'o') && (p[1] == ' ' || p[1] == '\t')) {
            inside = names_it(g, p + 2);
        } else if (strncmp(p, "usemtl", 6) == 0) {
            by_material = names_it(g, p + 6);
        } else if (p[0] == 'f' && (p[1] == ' ' || p[1] == '\t') && (inside || by_material)) {
            ok = take_face(g, p + 2);
        }
    }
    free(line);
    if (in) fclose(in);
    return ok ? PLI_OK : pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for the groups of %.200s", file);
}

/// Boxes around the points of a group: cells of a grid that have any, joined along x.
static PliStatus cover(const PliRegionFrame *frame, const Groups *g, PliRegion *r, PliError *err)
{
    double min[3], max[3], width = 0.0;
    static const int n = CELLS + 2;
    unsigned char *cell = calloc((size_t)n * n * n, 1);
    if (!cell) return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for a region");
    bounds(frame->surface, min, max);
    for (int a = 0; a < 3; ++a) width = fmax(width, max[a] - min[a]);
    const double h = width / CELLS;
    for (size_t t = 0; t + 2 < g->found_count; t += 3) {
        const double *x = g->found + 3 * t; // points of the triangle closer than half a cell
        const double longest =
            frame->unit * fmax(v3_distance(x, x + 3), fmax(v3_distance(x, x + 6), v3_distance(x + 3, x + 6)));
        const int parts = (int)fmin(4.0 * CELLS, 1.0 + ceil(2.0 * longest / h));
        for (int i = 0; i <= parts; ++i)
            for (int j = 0; i + j <= parts; ++j) {
                int c[3];
                for (int a = 0; a < 3; ++a) {
                    const double here = x[a] + (x[3 + a] - x[a]) * i / parts + (x[6 + a] - x[a]) * j / parts,
                                 at = floor((here * frame->unit - min[a]) / h + 0.5);
                    c[a] = at < 0.0 ? 0 : at > n - 1 ? n - 1 : (int)at;
                }
                cell[c[0] + n * (c[1] + n * c[2])] = 1;
            }
    }
    for (int k = 0; k < n && r->box_count < PLI_REGION_BOXES; ++k)
        for (int j = 0; j < n && r->box_count < PLI_REGION_BOXES; ++j)
            for (int i = 0; i < n && r->box_count < PLI_REGION_BOXES; ++i) {
                if (!cell[i + n * (j + n * k)]) continue;
                int last = i;
                while (last + 1 < n && cell[last + 1 + n * (j + n * k)]) ++last;
                const int low[3] = { i, j, k }, high[3] = { last, j, k };
                double *box = r->box[r->box_count++];
                for (int a = 0; a < 3; ++a)
                    box[a] = min[a] + h * (low[a] - 0.5), box[3 + a] = min[a] + h * (high[a] + 0.5);
                i = last;
            }
    free(cell);
    return PLI_OK;
}

static PliStatus read_group(const PliRegionFrame *frame, const char *name, PliRegion *r, PliError *err)
{
    const size_t length = strlen(frame->file);
    Groups g = { .wanted = name, .distance = pli_word_tolerance(name) + 1 };
    for (int s = 0; s < SIDES; ++s) {
        const int d = pli_word_distance(name, sides[s].name);
        if (d < g.distance) g.distance = d, snprintf(g.near, sizeof g.near, "%s", sides[s].name);
    }
    const bool obj =
        length > 4 && (strcmp(frame->file + length - 4, ".obj") == 0 || strcmp(frame->file + length - 4, ".OBJ") == 0);
    PliStatus status = obj ? scan(&g, frame->file, err) : PLI_OK;
    if (status == PLI_OK && g.found_count)
        status = cover(frame, &g, r, err);
    else if (status == PLI_OK)
        status = pli_refuse(err, PLI_BAD_ARGUMENT,
                            "there is no region '%.60s'%s%s%s; a region is top, bottom, left, right, front, back, "
                            "sphere:X,Y,Z,R, box:X,Y,Z,X,Y,Z, or a group of the OBJ file",
                            name, g.near[0] ? " (did you mean " : "", g.near, g.near[0] ? "?)" : "");
    free(g.point);
    free(g.found);
    return status;
}

// ---- the whole ---------------------------------------------------------------------------------------------------------------

static PliStatus read_any(const PliRegionFrame *frame, const char *text, PliRegion *r, PliError *err)
{
    if (strncmp(text, "sphere:", 7) == 0) return read_sphere(text + 7, r, err);
    if (strncmp(text, "box:", 4) == 0) return read_box(text + 4, r, err);
    const size_t length = strcspn(text, ":");
    for (int s = 0; s < SIDES; ++s) {
        if (strlen(sides[s].name) != length || strncmp(text, sides[s].name, length) != 0) continue;
        double part = usual_part;
        if (text[length] && (!read_numbers(text + length + 1, &part, 1) || !(part > 0.0 && part < 1.0)))
            return pli_refuse(err, PLI_BAD_ARGUMENT,
                              "'%.60s': the part of the body behind the colon must be between 0 and 1", text);
        r->axis = axis_of(sides[s].across, frame->up);
        r->sign = sides[s].sign;
        pli_region_deepen(frame, r, part);
        return PLI_OK;
    }
    return read_group(frame, text, r, err);
}

PliStatus pli_region_read(const PliRegionFrame *frame, const char *text, PliRegion *r, PliError *err)
{
    *r = (PliRegion){ .axis = -1 };
    const PliStatus status = read_any(frame, text, r, err);
    if (status != PLI_OK) return status;
    for (PliIndex p = 0; p < frame->surface->point_count; ++p)
        if (pli_region_has(r, frame->surface->x + 3 * (size_t)p)) return PLI_OK;
    double min[3], max[3];
    bounds(frame->surface, min, max);
    return pli_refuse(
        err, PLI_BAD_ARGUMENT,
        "no point of the surface is in the region '%.80s'; the body is between (%.4g %.4g %.4g) and (%.4g "
        "%.4g %.4g) m",
        text, min[0], min[1], min[2], max[0], max[1], max[2]);
}

bool pli_region_has(const PliRegion *r, const double p[3])
{
    if (r->sphere) return v3_distance(p, r->centre) <= r->radius;
    for (int k = 0; k < r->box_count; ++k) {
        bool in = true;
        for (int a = 0; a < 3; ++a) in = in && p[a] >= r->box[k][a] && p[a] <= r->box[k][3 + a];
        if (in) return true;
    }
    return false;
}

void pli_region_write(const PliRegion *r, PliText *t)
{
    if (r->sphere) {
        pli_text_print(t, " centers=\"%.6g %.6g %.6g\" radii=\"%.6g\"", r->centre[0], r->centre[1], r->centre[2],
                       r->radius);
        return;
    }
    pli_text_put(t, " box=\"");
    for (int k = 0; k < r->box_count; ++k)
        for (int c = 0; c < 6; ++c) pli_text_print(t, "%s%.6g", k || c ? (c ? " " : "  ") : "", r->box[k][c]);
    pli_text_put(t, "\"");
}
