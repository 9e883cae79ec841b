/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "scheme/springs/cut.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec.h"

void pli_springs_cut_destroy(PliSpringsCut *c)
{
    if (!c) return;
    const PliHost host = c->host;
    const PliPyramid *p = c->pyramid;
    const size_t n = p->vertex_count;
    PLI_FREE(&host, c->star, c->star_count);
    PLI_FREE(&host, c->chosen, c->star_count);
    PLI_FREE(&host, c->place, c->star_count);
    for (int l = 0; l < p->level_count; ++l) {
        PLI_FREE(&host, c->red[l], p->mesh[l]->face_count);
        PLI_FREE(&host, c->is_red[l], p->mesh[l]->face_count);
        PLI_FREE(&host, c->is_split[l], p->mesh[l]->edge_count);
    }
    PLI_FREE(&host, c->is_active, n);
    PLI_FREE(&host, c->active, n);
    PLI_FREE(&host, c->position, n);
    PLI_FREE(&host, c->tri, 3 * (size_t)c->tri_capacity);
    PLI_FREE(&host, c->spring, 2 * (size_t)c->spring_capacity);
    PLI_FREE(&host, c->stiffness, c->spring_capacity);
    PLI_FREE(&host, c->mass, n);
    PLI_FREE(&host, c->base_stiffness, 3 * (size_t)p->mesh[0]->face_count);
    PLI_FREE(&host, c->level_mass, n);
    PLI_FREE(&host, c->length, c->spring_capacity);
    PLI_FREE(&host, c->spring_edge, c->spring_capacity);
    PLI_FREE(&host, c->spring_at, c->edge_first[p->level_count]);
    PLI_FREE(&host, c, 1);
}

/// What each vertex weighs in the uniform mesh of its own level: finer ones give their mass to the ends of their edge.
static void find_level_masses(PliSpringsCut *c, const double *mass)
{
    const PliPyramid *p = c->pyramid;
    memcpy(c->level_mass, mass, p->vertex_count * sizeof *mass);
    for (PliIndex v = p->vertex_count; v-- > p->mesh[0]->vertex_count;) {
        const PliWing *w = &p->mesh[p->level[v] - 1]->edge[pli_pyramid_edge(p, v)];
        c->level_mass[w->start] += 0.5 * c->level_mass[v];
        c->level_mass[w->end] += 0.5 * c->level_mass[v];
    }
}

PliSpringsCut *pli_springs_cut_create(const PliHost *host, const PliPyramid *p, const double *stiffness,
                                      const double *mass)
{
    PliSpringsCut *c = PLI_NEW(host, 1, PliSpringsCut);
    if (!c) return NULL;
    c->host = *host;
    c->pyramid = p;
    const size_t n = p->vertex_count;
    for (int l = 0; l < p->level_count; ++l) {
        c->edge_first[l + 1] = c->edge_first[l] + p->mesh[l]->edge_count;
        c->star_first[l + 1] = c->star_first[l] + (l + 1 < p->level_count ? p->mesh[l]->vertex_count : 0);
    }
    for (int l = p->level_count; l < PLI_PYRAMID_LEVELS; ++l) c->star_first[l + 1] = c->star_first[l];
    c->star_count = c->star_first[p->level_count];
    c->star = PLI_NEW(host, c->star_count, uint8_t);
    c->chosen = PLI_NEW(host, c->star_count, PliIndex);
    c->place = PLI_NEW(host, c->star_count, PliIndex);
    bool good = c->star_count == 0 || (c->star && c->chosen && c->place);
    for (int l = 0; l < p->level_count; ++l) {
        c->red[l] = PLI_NEW(host, p->mesh[l]->face_count, PliIndex);
        c->is_red[l] = PLI_NEW(host, p->mesh[l]->face_count, uint8_t);
        c->is_split[l] = PLI_NEW(host, p->mesh[l]->edge_count, uint8_t);
        good = good && c->red[l] && c->is_red[l] && c->is_split[l];
    }
    // a cut has never more triangles or springs than the finest mesh; halves are its edges, cuts in two lie inside a triangle
    c->tri_capacity = p->mesh[p->level_count - 1]->face_count;
    c->spring_capacity = p->mesh[p->level_count - 1]->edge_count;
    c->is_active = PLI_NEW(host, n, uint8_t);
    c->active = PLI_NEW(host, n, PliIndex);
    c->position = PLI_NEW(host, n, PliIndex);
    c->tri = PLI_NEW(host, 3 * (size_t)c->tri_capacity, PliIndex);
    c->spring = PLI_NEW(host, 2 * (size_t)c->spring_capacity, PliIndex);
    c->stiffness = PLI_NEW(host, c->spring_capacity, double);
    c->mass = PLI_NEW(host, n, double);
    c->base_stiffness = PLI_NEW(host, 3 * (size_t)p->mesh[0]->face_count, double);
    c->level_mass = PLI_NEW(host, n, double);
    c->length = PLI_NEW(host, c->spring_capacity, double);
    c->spring_edge = PLI_NEW(host, c->spring_capacity, PliIndex);
    c->spring_at = PLI_NEW(host, c->edge_first[p->level_count], PliIndex);
    if (!good || !c->is_active || !c->active || !c->position || !c->tri || !c->spring || !c->stiffness || !c->mass ||
        !c->base_stiffness || !c->level_mass || !c->length || !c->spring_edge || !c->spring_at) {
        pli_springs_cut_destroy(c);
        return NULL;
    }
    memcpy(c->base_stiffness, stiffness, 3 * (size_t)p->mesh[0]->face_count * sizeof *stiffness);
    memset(c->spring_at, 0xff, c->edge_first[p->level_count] * sizeof *c->spring_at);
    find_level_masses(c, mass);
    pli_springs_cut_refresh(c);
    return c;
}

void pli_springs_cut_clear(PliSpringsCut *c)
{
    while (c->chosen_count) pli_springs_cut_choose(c, c->chosen[c->chosen_count - 1], false);
}

void pli_springs_cut_choose(PliSpringsCut *c, PliIndex star, bool in)
{
    if (c->star[star] == in) return;
    c->star[star] = in;
    if (in) {
        c->place[star] = c->chosen_count;
        c->chosen[c->chosen_count++] = star;
        return;
    }
    const PliIndex last = c->chosen[--c->chosen_count];
    c->chosen[c->place[star]] = last;
    c->place[last] = c->place[star];
}

// ---- closure -----------------------------------------------------------------------------------------------------------------

static void mark_red(PliSpringsCut *c, int level, PliIndex face)
{
    if (face == PLI_NONE || c->is_red[level][face]) return;
    c->is_red[level][face] = 1;
    c->red[level][c->red_count[level]++] = face;
}

static void mark_star(PliSpringsCut *c, PliIndex star)
{
    const int level = pli_springs_star_level(c, star);
    const PliWinged *m = c->pyramid->mesh[level];
    const PliIndex v = star - c->star_first[level], begin = m->vertex_edge[v];
    PliIndex edge = begin;
    do {
        PliIndex face;
        edge = pli_winged_next(m, v, edge, &face);
        mark_red(c, level, face);
    } while (edge != PLI_NONE && edge != begin);
}

static bool wants_four(const PliSpringsCut *c, int level, PliIndex face)
{
    const PliIndex *s = c->pyramid->mesh[level]->side + 3 * (size_t)face;
    const uint8_t *split = c->is_split[level];
    return split[s[0]] + split[s[1]] + split[s[2]] > 1;
}

/// Cuts the sides of the red triangles, which may make their neighbours red. The list grows while it is walked.
static void close_level(PliSpringsCut *c, int level)
{
    const PliWinged *m = c->pyramid->mesh[level];
    for (PliIndex i = 0; i < c->red_count[level]; ++i) {
        const PliIndex face = c->red[level][i];
        for (int k = 0; k < 3; ++k) {
            const PliIndex e = m->side[3 * (size_t)face + (size_t)k];
            if (c->is_split[level][e]) continue;
            c->is_split[level][e] = 1;
            const PliIndex beyond = m->edge[e].left == face ? m->edge[e].right : m->edge[e].left;
            if (beyond != PLI_NONE && wants_four(c, level, beyond)) mark_red(c, level, beyond);
        }
    }
}

/// What a level asks of the one below: parents of red triangles are red, and so is every triangle with a half of a side cut again.
static void mark_parents(PliSpringsCut *c, int level)
{
    const PliWinged *fine = c->pyramid->mesh[level], *coarse = c->pyramid->mesh[level - 1];
    for (PliIndex i = 0; i < c->red_count[level]; ++i) {
        const PliIndex face = c->red[level][i];
        mark_red(c, level - 1, face / 4);
        for (int k = 0; k < 3; ++k) {
            const PliIndex e = fine->side[3 * (size_t)face + (size_t)k];
            if (e >= 2 * coarse->edge_count) continue; // inside the parent
            mark_red(c, level - 1, coarse->edge[e / 2].left);
            mark_red(c, level - 1, coarse->edge[e / 2].right);
        }
    }
}

static void forget(PliSpringsCut *c)
{
    const PliPyramid *p = c->pyramid;
    for (int l = 0; l < p->level_count; ++l) {
        for (PliIndex i = 0; i < c->red_count[l]; ++i) {
            const PliIndex face = c->red[l][i];
            c->is_red[l][face] = 0;
            for (int k = 0; k < 3; ++k) {
                const PliIndex e = p->mesh[l]->side[3 * (size_t)face + (size_t)k];
                c->is_split[l][e] = 0;
                c->is_active[p->mesh[l]->vertex_count + e] = 0;
            }
        }
        c->red_count[l] = 0;
    }
}

static void close_set(PliSpringsCut *c)
{
    const PliPyramid *p = c->pyramid;
    for (PliIndex i = 0; i < c->chosen_count; ++i) mark_star(c, c->chosen[i]);
    for (int l = p->level_count - 2; l >= 0; --l) {
        close_level(c, l);
        if (l > 0) mark_parents(c, l);
    }
    memset(c->is_active, 1, p->mesh[0]->vertex_count);
    for (int l = 0; l + 1 < p->level_count; ++l)
        for (PliIndex i = 0; i < c->red_count[l]; ++i)
            for (int k = 0; k < 3; ++k)
                c->is_active[p->mesh[l]->vertex_count + p->mesh[l]->side[3 * (size_t)c->red[l][i] + (size_t)k]] = 1;
}

// ---- triangles and springs -------------------------------------------------------------------------------------------------

typedef struct Leaf {
    PliIndex face;
    int level;
    int turn; ///< side i runs along side (i + turn) % 3 of the base triangle
} Leaf;

static void add_tri(PliSpringsCut *c, PliIndex a, PliIndex b, PliIndex d)
{
    PliIndex *t = c->tri + 3 * (size_t)c->tri_count++;
    t[0] = a, t[1] = b, t[2] = d;
}

static void new_spring(PliSpringsCut *c, PliIndex edge, PliIndex a, PliIndex b, double stiffness)
{
    const PliIndex at = c->spring_count++;
    c->spring_edge[at] = edge;
    c->spring[2 * (size_t)at] = a, c->spring[2 * (size_t)at + 1] = b;
    c->length[at] = v3_distance(c->pyramid->rest + 3 * (size_t)a, c->pyramid->rest + 3 * (size_t)b);
    c->stiffness[at] = stiffness;
}

/// One spring per edge that triangles end at; each adds its own part.
static void add_spring(PliSpringsCut *c, int level, PliIndex edge, double stiffness)
{
    const PliIndex at = c->edge_first[level] + edge;
    const PliWing *w = &c->pyramid->mesh[level]->edge[edge];
    if (c->spring_at[at] == PLI_NONE) {
        c->spring_at[at] = c->spring_count;
        new_spring(c, at, w->start, w->end, 0.0);
    }
    c->stiffness[c->spring_at[at]] += stiffness;
}

/// Share of a spring on the line that cuts a triangle in two. Without any the vertex on the cut side is held from one side only, and
/// a pulled patch comes out up to 16 % too far; with a whole one the ring around it is too stiff by as much.
static const double cut_share = 0.25;

/// A triangle cut in two keeps the springs it had: its cut side is two halves in a row, each twice as stiff. So it stores what the
/// whole triangle would under any stretch, but for the line that cuts it.
static void add_leaf(PliSpringsCut *c, const Leaf *leaf)
{
    const PliWinged *m = c->pyramid->mesh[leaf->level];
    const PliIndex *corner = m->corner + 3 * (size_t)leaf->face, *side = m->side + 3 * (size_t)leaf->face;
    const double *stiffness = c->base_stiffness + 3 * (size_t)(leaf->face >> (2 * leaf->level));
    int cut = -1;
    for (int i = 0; i < 3; ++i) {
        const double k = stiffness[(i + leaf->turn) % 3];
        if (c->is_split[leaf->level][side[i]]) {
            cut = i;
            add_spring(c, leaf->level + 1, 2 * side[i], 2.0 * k);
            add_spring(c, leaf->level + 1, 2 * side[i] + 1, 2.0 * k);
        } else {
            add_spring(c, leaf->level, side[i], k);
        }
    }
    if (cut < 0) {
        add_tri(c, corner[0], corner[1], corner[2]);
        return;
    }
    const PliIndex middle = m->vertex_count + side[cut], next = corner[(cut + 1) % 3], last = corner[(cut + 2) % 3];
    add_tri(c, corner[cut], middle, last);
    add_tri(c, middle, next, last);
    new_spring(c, PLI_NONE, middle, last, cut_share * (stiffness[0] + stiffness[1] + stiffness[2]) / 3.0);
}

static void descend(PliSpringsCut *c, Leaf leaf)
{
    if (leaf.level + 1 == c->pyramid->level_count || !c->is_red[leaf.level][leaf.face]) {
        add_leaf(c, &leaf);
        return;
    }
    for (int i = 0; i < 4; ++i) {
        // children at corners keep the order of the sides, turned to begin at their corner; the middle one begins at the third
        const int turn = (leaf.turn + (i < 3 ? i : 2)) % 3;
        descend(c, (Leaf){ 4 * leaf.face + (PliIndex)i, leaf.level + 1, turn });
    }
}

static void list_active(PliSpringsCut *c)
{
    const PliPyramid *p = c->pyramid;
    for (PliIndex i = 0; i < c->active_count; ++i) c->position[c->active[i]] = PLI_NONE, c->mass[c->active[i]] = 0.0;
    c->active_count = 0;
    for (PliIndex v = 0; v < p->vertex_count;) {
        uint64_t eight;
        if (v + 8 <= p->vertex_count && (memcpy(&eight, c->is_active + v, 8), eight == 0)) {
            v += 8;
            continue;
        }
        if (c->is_active[v]) c->position[v] = c->active_count, c->active[c->active_count++] = v;
        ++v;
    }
}

/// The mass of v leaves the ends of the edge it begins on, passive ones through the ends of theirs. By halves and not by rows:
/// weights of rows may be negative, and a mass must not.
static void take_mass(PliSpringsCut *c, PliIndex v, double mass)
{
    const PliPyramid *p = c->pyramid;
    const PliWing *w = &p->mesh[p->level[v] - 1]->edge[pli_pyramid_edge(p, v)];
    const PliIndex end[2] = { w->start, w->end };
    for (int k = 0; k < 2; ++k)
        if (c->is_active[end[k]])
            c->mass[end[k]] -= 0.5 * mass;
        else
            take_mass(c, end[k], 0.5 * mass);
}

static void share_mass(PliSpringsCut *c)
{
    const PliPyramid *p = c->pyramid;
    memcpy(c->mass, c->level_mass, p->mesh[0]->vertex_count * sizeof *c->mass);
    for (PliIndex i = p->mesh[0]->vertex_count; i < c->active_count; ++i)
        c->mass[c->active[i]] = c->level_mass[c->active[i]];
    for (PliIndex i = p->mesh[0]->vertex_count; i < c->active_count; ++i)
        take_mass(c, c->active[i], c->level_mass[c->active[i]]);
}

void pli_springs_cut_refresh(PliSpringsCut *c)
{
    const PliPyramid *p = c->pyramid;
    if (c->active_count == 0) memset(c->position, 0xff, p->vertex_count * sizeof *c->position);
    forget(c);
    close_set(c);
    list_active(c);
    share_mass(c);
    for (PliIndex s = 0; s < c->spring_count; ++s)
        if (c->spring_edge[s] != PLI_NONE) c->spring_at[c->spring_edge[s]] = PLI_NONE;
    c->tri_count = c->spring_count = 0;
    for (PliIndex f = 0; f < p->mesh[0]->face_count; ++f) descend(c, (Leaf){ f, 0, 0 });
}

void pli_springs_follow(const PliSpringsCut *c, double *x)
{
    const PliPyramid *p = c->pyramid;
    for (PliIndex v = p->mesh[0]->vertex_count; v < p->vertex_count; ++v) {
        if (c->is_active[v]) continue;
        double s[3] = { 0.0, 0.0, 0.0 };
        for (PliIndex k = p->row_first[v]; k < p->row_first[v + 1]; ++k)
            for (int d = 0; d < 3; ++d) s[d] += p->row_weight[k] * x[3 * (size_t)p->row_column[k] + (size_t)d];
        memcpy(x + 3 * (size_t)v, s, sizeof s);
    }
}

// ---- check -------------------------------------------------------------------------------------------------------------------

static int by_ends(const void *a, const void *b)
{
    const PliIndex *p = a, *q = b;
    for (int k = 0; k < 2; ++k)
        if (p[k] != q[k]) return p[k] < q[k] ? -1 : 1;
    return 0;
}

/// Sides of the triangles as (smaller end, larger end, 1 when it runs that way).
static PliIndex *sorted_sides(const PliSpringsCut *c)
{
    PliIndex *side = PLI_NEW(&c->host, 9 * (size_t)c->tri_count, PliIndex);
    for (PliIndex k = 0; side && k < 3 * c->tri_count; ++k) {
        const PliIndex a = c->tri[k], b = c->tri[k % 3 == 2 ? k - 2 : k + 1];
        PliIndex *s = side + 3 * (size_t)k;
        s[0] = a < b ? a : b, s[1] = a < b ? b : a, s[2] = a < b;
    }
    if (side) qsort(side, 3 * (size_t)c->tri_count, 3 * sizeof *side, by_ends);
    return side;
}

static PliStatus check_sides(const PliSpringsCut *c, const PliIndex *side, PliError *err)
{
    const PliIndex sides = 3 * c->tri_count;
    PliIndex edges = 0, single = 0;
    for (PliIndex k = 0; k < sides;) {
        const PliIndex *s = side + 3 * (size_t)k;
        PliIndex n = 1;
        while (k + n < sides && by_ends(s, s + 3 * (size_t)n) == 0) ++n;
        if (n > 2 || (n == 2 && s[2] == s[5]))
            return pli_refuse(err, PLI_BAD_MESH, "the edge of vertices %u and %u has %u triangles that do not fit",
                              s[0], s[1], n);
        single += n == 1;
        edges++;
        k += n;
    }
    const PliWinged *base = c->pyramid->mesh[0];
    if (base->border_count == 0 && single > 0)
        return pli_refuse(err, PLI_BAD_MESH, "%u edges of a closed surface have one triangle: T-junctions", single);
    const int64_t is = (int64_t)c->active_count - edges + c->tri_count;
    const int64_t was = (int64_t)base->vertex_count - base->edge_count + base->face_count;
    if (is != was)
        return pli_refuse(err, PLI_BAD_MESH, "the Euler characteristic is %lld, that of the base %lld", (long long)is,
                          (long long)was);
    return PLI_OK;
}

bool pli_springs_cut_is_valid(const PliSpringsCut *c, PliError *err)
{
    const PliPyramid *p = c->pyramid;
    for (PliIndex k = 0; k < 3 * c->tri_count; ++k)
        if (!c->is_active[c->tri[k]])
            return pli_refuse(err, PLI_BAD_MESH, "triangle %u uses vertex %u, which is passive", k / 3, c->tri[k]),
                   false;
    for (PliIndex s = 0; s < c->spring_count; ++s)
        if (!c->is_active[c->spring[2 * (size_t)s]] || !c->is_active[c->spring[2 * (size_t)s + 1]] ||
            !(c->stiffness[s] > 0.0))
            return pli_refuse(err, PLI_BAD_MESH, "spring %u is loose, or has stiffness %g", s, c->stiffness[s]), false;
    double mass = 0.0, total = 0.0;
    for (PliIndex v = 0; v < p->mesh[0]->vertex_count; ++v) total += c->level_mass[v];
    for (PliIndex i = 0; i < c->active_count; ++i) {
        const PliIndex v = c->active[i];
        if (!c->is_active[v] || c->position[v] != i)
            return pli_refuse(err, PLI_BAD_MESH, "vertex %u is not where the list says", v), false;
        if (!(c->mass[v] > 0.0)) return pli_refuse(err, PLI_BAD_MESH, "vertex %u weighs %g kg", v, c->mass[v]), false;
        mass += c->mass[v];
    }
    if (!(fabs(mass - total) <= 1e-12 * total))
        return pli_refuse(err, PLI_BAD_MESH, "the cut weighs %.15g kg, the body %.15g kg", mass, total), false;
    PliIndex *side = sorted_sides(c);
    if (!side) return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory to check %u triangles", c->tri_count), false;
    const PliStatus status = check_sides(c, side, err);
    PLI_FREE(&c->host, side, 9 * (size_t)c->tri_count);
    return status == PLI_OK;
}
