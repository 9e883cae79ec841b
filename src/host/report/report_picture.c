/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Surfaces of a comparison as pictures: the same camera and the same scales for every body and instant.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "host/report/report.h"

static const PliColour sky_top = { 250, 251, 253 }, sky_bottom = { 226, 231, 239 }, uniform = { 196, 202, 212 },
                       steel = { 120, 126, 136 }, ink = { 40, 44, 52 };

static void widen(double min[3], double max[3], const double p[3], double by)
{
    for (int k = 0; k < 3; ++k) {
        if (isfinite(p[k])) min[k] = fmin(min[k], p[k] - by), max[k] = fmax(max[k], p[k] + by);
    }
}

static void frame(const PliCamera *camera, const double *x, size_t count, double low[2], double high[2])
{
    for (size_t i = 0; i < count; ++i) {
        double s[3];
        if (!pli_camera_project(camera, x + 3 * i, s)) continue;
        for (int k = 0; k < 2; ++k) low[k] = fmin(low[k], s[k]), high[k] = fmax(high[k], s[k]);
    }
}

/// The reference at all its instants makes the frame.
static PliCamera choose_camera(const PliChapter *chapter, int width, int height)
{
    const PliComparison *c = chapter->comparison;
    const PliOutcome *reference = &c->outcome[c->reference];
    double min[3] = { INFINITY, INFINITY, INFINITY }, max[3] = { -INFINITY, -INFINITY, -INFINITY };
    double from[3] = { 0.55, 0.5, 1.0 }, up[3] = { 0.0, 1.0, 0.0 };
    for (size_t i = 0; i < c->point_count; ++i) widen(min, max, c->rest + 3 * i, 0.0);
    for (int k = 0; k < reference->shot_count; ++k)
        for (size_t i = 0; reference->shot[k].points && i < c->point_count; ++i)
            widen(min, max, reference->shot[k].points + 3 * i, 0.0);
    if (v3_norm(chapter->view) > 0.0) v3_copy(from, chapter->view);
    if (v3_norm(chapter->up) > 0.0) v3_copy(up, chapter->up);
    PliCamera camera = pli_camera_fit(min, max, from, up, width, height);
    // a box is loose around an organ: shift and zoom to what is there
    double low[2] = { INFINITY, INFINITY }, high[2] = { -INFINITY, -INFINITY };
    frame(&camera, c->rest, c->point_count, low, high);
    for (int k = 0; k < reference->shot_count; ++k)
        if (reference->shot[k].points) frame(&camera, reference->shot[k].points, c->point_count, low, high);
    if (!(high[0] > low[0] && high[1] > low[1])) return camera;
    const double zoom = 0.88 * fmin(width / (high[0] - low[0]), height / (high[1] - low[1]));
    camera.focal *= zoom;
    camera.middle[0] = 0.5 * width + zoom * (camera.middle[0] - 0.5 * (low[0] + high[0]));
    camera.middle[1] = 0.5 * height + zoom * (camera.middle[1] - 0.5 * (low[1] + high[1]));
    return camera;
}

/// Edges as wide as there is room for: on a small picture of a fine surface they would only darken it.
static double wire_width(const PliComparison *c, int width, int height)
{
    const double edge =
        sqrt(2.0 * 0.4 * width * height / (0.5 * c->tri_count + 1.0)); // pixels; bodies fill about 0.4 of a picture
    return fmin(1.0, fmax(0.0, (edge - 9.0) / 9.0));
}

static bool faces_eye(const PliCamera *camera, const PliTool *plane)
{
    double to_eye[3];
    v3_sub(to_eye, camera->eye, plane->position);
    return v3_dot(to_eye, plane->other) > 0.0;
}

/// Solid where one looks at its outside, a veil where one looks through it at the body.
static PliStatus draw_plane(PliPicture *p, const PliCamera *camera, const PliComparison *c, const PliTool *tool)
{
    double reach = 0.0, u[3], v[3], x[12], foot[3] = { 0.0, 0.0, 0.0 };
    for (size_t i = 0; i < c->point_count; ++i) {
        v3_madd(foot, 1.0 / c->point_count, c->rest + 3 * i);
        reach = fmax(reach, v3_distance(c->rest + 3 * i, c->rest));
    }
    const double other[3] = { fabs(tool->other[0]) < 0.8, fabs(tool->other[0]) >= 0.8, 0.0 };
    double down[3];
    v3_sub(down, foot, tool->position);
    v3_madd(foot, -v3_dot(down, tool->other), tool->other);
    v3_cross(u, tool->other, other);
    v3_scale(u, 1.0 / fmax(1e-12, v3_norm(u)));
    v3_cross(v, tool->other, u);
    reach *= 0.62; // half the side of a square somewhat larger than the body
    for (int k = 0; k < 4; ++k) {
        v3_copy(x + 3 * k, foot);
        v3_madd(x + 3 * k, k == 0 || k == 3 ? -reach : reach, u);
        v3_madd(x + 3 * k, k < 2 ? -reach : reach, v);
    }
    const bool front = faces_eye(camera, tool);
    const PliIndex outside[6] = { 0, 1, 2, 0, 2, 3 }, inside[6] = { 0, 2, 1, 0, 3, 2 };
    const PliPaint paint = { .x = x,
                             .point_count = 4,
                             .tris = front ? outside : inside,
                             .tri_count = 2,
                             .colour = { 214, 219, 227 },
                             .opacity = front ? 1.0 : 0.3 };
    return pli_picture_draw(p, camera, &paint);
}

/// What is solid comes before the body, what shines through after it.
static PliStatus draw_tools(PliPicture *p, const PliCamera *camera, const PliComparison *c, const PliShot *shot,
                            bool solid)
{
    PliStatus status = PLI_OK;
    for (int t = 0; t < shot->tool_count && status == PLI_OK; ++t) {
        const PliTool *tool = &shot->tools[t];
        if (tool->shape == PLI_TOOL_PLANE && faces_eye(camera, tool) == solid) status = draw_plane(p, camera, c, tool);
        if (solid || tool->shape == PLI_TOOL_PLANE) continue;
        status = pli_picture_sphere(p, camera, tool->position, tool->radius, steel, 0.45);
        if (tool->shape == PLI_TOOL_CAPSULE && status == PLI_OK)
            status = pli_picture_sphere(p, camera, tool->other, tool->radius, steel, 0.45);
    }
    return status;
}

static PliColour point_colour(const PliChapter *chapter, const PliOutcome *o, int shot, size_t point,
                              PliPictureKind kind)
{
    const PliComparison *c = chapter->comparison;
    if (kind == PLI_PICTURE_BY_LEVEL) return o->level_count > 1 ? pli_map_level(o->shot[shot].level[point]) : uniform;
    const PliShot *reference = &c->outcome[c->reference].shot[shot];
    if (!reference->points || c->largest_displacement <= 0.0) return pli_map_value(0.0);
    const double error =
        v3_distance(o->shot[shot].points + 3 * point, reference->points + 3 * point) / c->largest_displacement;
    return pli_map_value(error / PLI_REPORT_ERROR_SCALE);
}

PliPicture *pli_report_picture(const PliChapter *chapter, int body, int shot, PliPictureKind kind, int width,
                               int height)
{
    const PliComparison *c = chapter->comparison;
    const PliOutcome *o = &c->outcome[body];
    if (shot >= o->shot_count || !o->shot[shot].points) return NULL;
    PliPicture *large = pli_picture_create(2 * width, 2 * height), *small = NULL;
    PliColour *colours = malloc(((size_t)c->point_count + 1) * sizeof *colours);
    if (large && colours) {
        const PliCamera camera = choose_camera(chapter, 2 * width, 2 * height);
        for (size_t i = 0; i < c->point_count; ++i) colours[i] = point_colour(chapter, o, shot, i, kind);
        const PliPaint paint = { .x = o->shot[shot].points,
                                 .point_count = c->point_count,
                                 .tris = c->tris,
                                 .tri_count = c->tri_count,
                                 .colours = colours,
                                 .smooth = true,
                                 .blocks = kind == PLI_PICTURE_BY_LEVEL,
                                 .wire = kind == PLI_PICTURE_BY_LEVEL ? wire_width(c, 2 * width, 2 * height) : 0.0,
                                 .wire_colour = { 30, 34, 46 } };
        pli_picture_fill(large, sky_top, sky_bottom);
        if (draw_tools(large, &camera, c, &o->shot[shot], true) == PLI_OK &&
            pli_picture_draw(large, &camera, &paint) == PLI_OK &&
            draw_tools(large, &camera, c, &o->shot[shot], false) == PLI_OK)
            small = pli_picture_halved(large);
    }
    free(colours);
    pli_picture_destroy(large);
    return small;
}

/// Bodies in one picture, in the order of the scene: those with levels before uniform ones where there are too many.
enum { PANORAMA = 9 };
static int choose_bodies(const PliComparison *c, int shot, int shown[PANORAMA])
{
    int finished = 0, count = 0;
    for (int pass = 0; pass < 2; ++pass)
        for (int k = 0; k < c->count; ++k) {
            const PliOutcome *o = &c->outcome[k];
            if (o->verdict != PLI_FINISHED || shot >= o->shot_count || !o->shot[shot].points) continue;
            const bool is_plain = !o->is_reference && o->level_count <= 1;
            if (pass == 0) {
                ++finished;
                continue;
            }
            if (is_plain && finished > PANORAMA) { // left out
                --finished;
                continue;
            }
            if (count < PANORAMA) shown[count++] = k;
        }
    return count;
}

PliPicture *pli_report_panorama(const PliChapter *chapter, int shot, int width, int height)
{
    const PliComparison *c = chapter->comparison;
    int shown[PANORAMA], levels = 1;
    const int count = choose_bodies(c, shot, shown);
    for (int k = 0; k < count; ++k)
        if (c->outcome[shown[k]].level_count > levels) levels = c->outcome[shown[k]].level_count;
    if (count == 0) return NULL;
    const int columns = count > 8   ? 3
                        : count > 3 ? (count + 1) / 2
                                    : count,
              rows = (count + columns - 1) / columns, cell_w = width / columns, cell_h = height / rows;
    PliPicture *p = pli_picture_create(width, height);
    if (!p) return NULL;
    pli_picture_fill(p, sky_top, sky_top);
    for (int k = 0; k < count; ++k) {
        const PliOutcome *o = &c->outcome[shown[k]];
        PliPicture *part = pli_report_picture(chapter, shown[k], shot, PLI_PICTURE_BY_LEVEL, cell_w - 4, cell_h - 4);
        if (!part) {
            pli_picture_destroy(p);
            return NULL;
        }
        const int x = k % columns * cell_w + 2, y = k / columns * cell_h + 2, scale = cell_w >= 400 ? 2 : 1;
        char line[160], name[120];
        pli_picture_paste(p, part, x, y);
        pli_picture_destroy(part);
        snprintf(name, sizeof name, "%s%s", o->name, o->fell_back ? ", on tetrahedra" : "");
        pli_picture_text(p, x + 8, y + 8, scale, ink, name);
        if (o->is_reference)
            snprintf(line, sizeof line, "reference, %.0f DOFs, %.2f ms/step", o->dofs_mean, o->total_ms / c->steps);
        else
            snprintf(line, sizeof line, "error %.2f %%, %.0f DOFs, %.2f ms/step, %.1fx", 100 * o->error_rms,
                     o->dofs_mean, o->total_ms / c->steps, o->speedup);
        pli_picture_text(p, x + 8, y + 8 + 12 * scale, 1, ink, line);
    }
    if (levels > 1) pli_picture_legend_levels(p, width - 74, height - 11 * (levels + 1) - 10, 1, levels, "level");
    return p;
}
