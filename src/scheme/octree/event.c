/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// What a split and a merge do to motion: mass, momentum and centre of mass stay by construction, angular momentum by a rigid rotation of
// the cells around.
#include <math.h>
#include <string.h>

#include "adapt/handover.h"
#include "base/vec.h"
#include "scheme/octree/octree.h"

static void mark_stale(PliOctree *s, PliIndex cell)
{
    s->frame_is_stale[cell] = 1;
    for (PliIndex i = 0; i < s->active.length[cell]; ++i)
        s->frame_is_stale[pli_octree_neighbour(&s->active, cell, i)] = 1;
}

static void mark_daughters_stale(PliOctree *s, PliIndex mother)
{
    for (int k = 0; k < 8; ++k)
        if (s->tree->cell[mother].child[k] != PLI_NONE) mark_stale(s, s->tree->cell[mother].child[k]);
}

static void add_to_patch(PliOctree *s, PliIndex cell)
{
    if (s->in_patch[cell]) return;
    s->in_patch[cell] = 1;
    s->patch[s->patch_count] = cell;
    s->patch_mass[s->patch_count++] = s->fixed && s->fixed[cell] ? 0.0 : s->op.material.density * s->tree->volume[cell];
}

static void add_around(PliOctree *s, PliIndex cell)
{
    add_to_patch(s, cell);
    for (PliIndex i = 0; i < s->active.length[cell]; ++i) add_to_patch(s, pli_octree_neighbour(&s->active, cell, i));
}

static double mass_of(const PliOctree *s, PliIndex cell) { return s->op.material.density * s->tree->volume[cell]; }

// L of a cell about the origin
static void add_angular(const PliOctree *s, PliIndex cell, double sign, const double *x, const double *v, double sum[3])
{
    double l[3];
    v3_cross(l, x + 3 * (size_t)cell, v + 3 * (size_t)cell);
    v3_madd(sum, sign * mass_of(s, cell), l);
}

/// Cells around take over the angular momentum that came or went.
static void repair_spin(PliOctree *s, const double lost[3], const double *x, double *v)
{
    const PliEventPatch patch = { s->patch, s->patch_mass, s->patch_count };
    if (v3_norm(lost) > 0.0) (void)pli_handover_spin(&patch, lost, x, v);
    for (PliIndex i = 0; i < s->patch_count; ++i) s->in_patch[s->patch[i]] = 0;
    s->patch_count = 0;
}

void pli_octree_split_cell(PliOctree *s, PliIndex cell, double *x, double *v)
{
    const PliOctreeFrame f = pli_octree_event_frame(s, cell);
    double F[9], rate[9], lost[3] = { 0, 0, 0 };
    pli_octree_frame_turned(s, &f, x, F);
    pli_octree_frame_rate(s, &f, x, v, rate);
    add_angular(s, cell, 1.0, x, v, lost);
    mark_stale(s, cell);
    pli_octree_split(&s->active, cell);
    for (int k = 0; k < 8; ++k) {
        const PliIndex c = s->tree->cell[cell].child[k];
        if (c == PLI_NONE) continue;
        double *xc = x + 3 * (size_t)c, *vc = v + 3 * (size_t)c;
        m3_apply(xc, F, s->seat + 3 * (size_t)c);
        v3_add(xc, xc, x + 3 * (size_t)cell);
        m3_apply(vc, rate, s->seat + 3 * (size_t)c);
        v3_add(vc, vc, v + 3 * (size_t)cell);
        add_angular(s, c, -1.0, x, v, lost);
        v3_sub(s->place + 3 * (size_t)c, s->tree->rest + 3 * (size_t)c, s->tree->rest + 3 * (size_t)cell);
        v3_copy(s->seat + 3 * (size_t)c, s->place + 3 * (size_t)c);
    }
    mark_daughters_stale(s, cell);
    for (int k = 0; k < 8; ++k)
        if (s->tree->cell[cell].child[k] != PLI_NONE) add_around(s, s->tree->cell[cell].child[k]);
    repair_spin(s, lost, x, v);
    s->revision++;
}

/// Where daughters are in a frame of their mother, so that they come back there.
static void refresh_in(const PliOctree *s, PliIndex mother, const double F[9], const double *x, double *places)
{
    double inverse[9] = { 0 };
    const double det = m3_det(F);
    const bool usable = det > 0.05 && det < 20.0 && m3_inverse(inverse, F) != 0.0;
    for (int k = 0; k < 8; ++k) {
        const PliIndex c = s->tree->cell[mother].child[k];
        if (c == PLI_NONE) continue;
        double *place = places + 3 * (size_t)c, d[3];
        v3_sub(place, s->tree->rest + 3 * (size_t)c, s->tree->rest + 3 * (size_t)mother);
        if (!usable) continue;
        v3_sub(d, x + 3 * (size_t)c, x + 3 * (size_t)mother);
        m3_apply(place, inverse, d);
    }
}

static void refresh_places(PliOctree *s, PliIndex mother, const double *x)
{
    double F[9];
    pli_octree_frame_gradient(s, pli_octree_frame(s, mother), x, F);
    refresh_in(s, mother, F, x, s->place);
    const PliOctreeFrame turned = pli_octree_event_frame(s, mother);
    pli_octree_frame_turned(s, &turned, x, F);
    refresh_in(s, mother, F, x, s->seat);
}

void pli_octree_merge_cell(PliOctree *s, PliIndex mother, double *x, double *v)
{
    double *xm = x + 3 * (size_t)mother, *vm = v + 3 * (size_t)mother, lost[3] = { 0, 0, 0 };
    memset(xm, 0, 3 * sizeof *xm);
    memset(vm, 0, 3 * sizeof *vm);
    mark_daughters_stale(s, mother);
    for (int k = 0; k < 8; ++k) {
        const PliIndex c = s->tree->cell[mother].child[k];
        if (c == PLI_NONE) continue;
        const double share = s->tree->volume[c] / s->tree->volume[mother];
        v3_madd(xm, share, x + 3 * (size_t)c);
        v3_madd(vm, share, v + 3 * (size_t)c);
        add_angular(s, c, 1.0, x, v, lost);
    }
    add_angular(s, mother, -1.0, x, v, lost);
    pli_octree_merge(&s->active, mother);
    mark_stale(s, mother);
    refresh_places(s, mother, x);
    add_around(s, mother);
    repair_spin(s, lost, x, v);
    s->revision++;
}

// ---- axes ------------------------------------------------------------------------------------------------------------------

void pli_octree_turn_axes(PliOctree *s, double *x, double *v, double dt)
{
    if (!s->axis_count) return;
    double centre[3] = { 0, 0, 0 }, rest[3] = { 0, 0, 0 }, mass = 0.0, size = 0.0, F[9] = { 0 }, turned[9];
    for (PliIndex i = 0; i < s->op.count; ++i) {
        const size_t c = s->op.cell[i];
        mass += s->tree->volume[c];
        v3_madd(centre, s->tree->volume[c], x + 3 * c);
        v3_madd(rest, s->tree->volume[c], s->tree->rest + 3 * c);
    }
    v3_scale(centre, 1.0 / mass);
    v3_scale(rest, 1.0 / mass);
    for (PliIndex i = 0; i < s->op.count; ++i) {
        const size_t c = s->op.cell[i];
        double p[3], q[3];
        v3_sub(p, x + 3 * c, centre);
        v3_sub(q, s->tree->rest + 3 * c, rest);
        size += s->tree->volume[c] * v3_dot(q, q);
        for (int a = 0; a < 3; ++a)
            for (int b = 0; b < 3; ++b) F[3 * a + b] += s->tree->volume[c] * p[a] * q[b];
    }
    // about a row of particles nothing says how it turned: there the last rotation stays
    for (int i = 0; i < 9; ++i) F[i] += 1e-3 * size * s->rotation[i];
    pli_polar_robust(F, turned);
    memcpy(s->rotation, turned, sizeof turned);
    for (PliIndex k = 0; k < 3; ++k)
        for (PliIndex i = 0; i < 3; ++i) {
            double *at = x + 3 * (size_t)(s->axis_first + k) + i, *to = v + 3 * (size_t)(s->axis_first + k) + i;
            *to = dt > 0.0 ? (turned[3 * i + k] - *at) / dt : 0.0;
        }
}
