/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// A body that is one level everywhere costs what plain finite elements on that mesh cost: its masses are those of its own mesh. (Masses
// that come down from the finest level leave some nodes light where meshes are not nested: 30 % more substeps on the bars.)
#include <math.h>
#include <string.h>

#include "base/vec.h"
#include "scheme/tetlod/tetlod.h"

// ---- masses ------------------------------------------------------------------------------------------------------------------

static void forget_level(PliTetLod *t, int l)
{
    for (PliIndex p = t->h->point_first[l]; p < t->h->point_first[l + 1]; ++p) t->own_volume[p] = 0.0;
}

/// A linear factor moves the centre of a level's volumes to `centre`; their sum is that of the body already.
static bool recentre(PliTetLod *t, int l, const double centre[3])
{
    const PliLevels *h = t->h;
    double sum = 0.0, own[3] = { 0.0, 0.0, 0.0 }, second[9] = { 0.0 }, inverse[9], shift[3], slope[3];
    for (PliIndex p = h->point_first[l]; p < h->point_first[l + 1]; ++p) {
        sum += t->own_volume[p];
        v3_madd(own, t->own_volume[p], h->x + 3 * (size_t)p);
    }
    if (!(sum > 0.0)) return false;
    v3_scale(own, 1.0 / sum);
    for (PliIndex p = h->point_first[l]; p < h->point_first[l + 1]; ++p) {
        double r[3];
        v3_sub(r, h->x + 3 * (size_t)p, own);
        for (int i = 0; i < 9; ++i) second[i] += t->own_volume[p] * r[i / 3] * r[i % 3];
    }
    v3_sub(shift, centre, own);
    v3_scale(shift, sum);
    if (!(fabs(m3_inverse(inverse, second)) > 0.0)) return false;
    m3_apply(slope, inverse, shift);
    for (PliIndex p = h->point_first[l]; p < h->point_first[l + 1]; ++p) {
        double r[3];
        v3_sub(r, h->x + 3 * (size_t)p, own);
        const double factor = 1.0 + v3_dot(slope, r);
        if (!(factor > 0.7 && factor < 1.3 && t->own_volume[p] > 0.0)) return false;
        t->own_volume[p] *= factor;
    }
    return true;
}

void pli_tetlod_own_volumes(PliTetLod *t)
{
    const PliLevels *h = t->h;
    double centre[3] = { 0.0, 0.0, 0.0 }, sum = 0.0;
    for (PliIndex e = 0; e < h->tet_count; ++e)
        for (int c = 0; c < 4; ++c)
            t->own_volume[h->tets[4 * (size_t)e + c]] += 0.25 * (double)h->tet_share[e] * h->unit;
    for (PliIndex p = h->finest_first; p < h->point_count; ++p) {
        sum += t->own_volume[p];
        v3_madd(centre, t->own_volume[p], h->x + 3 * (size_t)p);
    }
    v3_scale(centre, 1.0 / sum);
    for (int l = 0; l < h->level_count; ++l)
        if (!recentre(t, l, centre)) forget_level(t, l);
}

// ---- changing over -----------------------------------------------------------------------------------------------------------

static PliMoments moments_of(PliTetLod *t, PliBody *body, const double *x, const double *v, PliEventPatch *patch)
{
    const PliLiveView live = pli_body_live(body);
    for (PliIndex i = 0; i < live.active_count; ++i) t->patch_mass[i] = live.mass[i];
    *patch = (PliEventPatch){ live.dof, t->patch_mass, live.active_count };
    return pli_patch_moments(patch, x, v);
}

static bool holds_nothing(const PliBody *body)
{
    const PliLiveView live = pli_body_live(body);
    for (PliIndex i = 0; i < live.active_count; ++i)
        if (live.fixed[i]) return false;
    return true;
}

/// Of a change of level speeds change by no more than this share.
static const double MOST_SPEED = 0.2;

/// All of the motion of a held body takes or gives energy: most of it turns about where it is held. @return what is left, J
static double share_out(const PliEventPatch *patch, double kinetic, double gained, double *v)
{
    const double low = (1.0 - MOST_SPEED) * (1.0 - MOST_SPEED), high = (1.0 + MOST_SPEED) * (1.0 + MOST_SPEED);
    if (!(kinetic > 0.0)) return gained;
    const double square = fmin(high, fmax(low, 1.0 - gained / kinetic)), factor = sqrt(square);
    for (PliIndex i = 0; i < patch->count; ++i)
        if (patch->mass[i] > 0.0) v3_scale(v + 3 * (size_t)patch->node[i], factor);
    return gained - (1.0 - square) * kinetic;
}

/// After a recut: momenta become what they were (of a body that nothing holds), and energy gained comes from motion that is not rigid; of a
/// held one from all of its motion, which gets what was lost as well.
static void settle(PliTetLod *t, PliBody *body, const double *x, double *v, const PliMoments *before, double elastic)
{
    PliStats *stats = pli_body_stats_mutable(body);
    const PliLiveView live = pli_body_live(body);
    const double *g = pli_body_def(body)->gravity;
    PliEventPatch patch;
    PliMoments after = moments_of(t, body, x, v, &patch);
    if (holds_nothing(body)) {
        double push[3], spin[3];
        v3_sub(push, before->momentum, after.momentum);
        for (PliIndex i = 0; i < live.active_count; ++i) v3_madd(v + 3 * (size_t)live.dof[i], 1.0 / after.mass, push);
        after = pli_patch_moments(&patch, x, v);
        v3_sub(spin, before->angular, after.angular);
        if (pli_handover_spin(&patch, spin, x, v)) after = pli_patch_moments(&patch, x, v);
    }
    double lifted[3];
    for (int i = 0; i < 3; ++i) lifted[i] = after.mass * after.centre[i] - before->mass * before->centre[i];
    double gained =
        pli_body_energy(body, x, NULL).elastic - elastic + after.kinetic - before->kinetic - v3_dot(g, lifted);
    for (PliIndex i = 0; i < live.active_count; ++i)
        if (live.fixed[i]) t->patch_mass[i] = 0.0; // prescribed motion pays nothing
    if (!holds_nothing(body)) gained = share_out(&patch, pli_patch_moments(&patch, x, v).kinetic, gained, v);
    if (gained <= 0.0) {
        stats->energy_removed -= gained;
        t->bank -= gained;
        return;
    }
    const double unpaid = pli_handover_cap(&patch, gained, x, v);
    t->bank -= unpaid;
    stats->energy_added += unpaid;
}

void pli_tetlod_leave_uniform(PliTetLod *t, PliBody *body, double *x, double *v)
{
    static const double origin[3] = { 0.0, 0.0, 0.0 };
    if (t->uniform_level < 0) return;
    pli_body_before_event(body, x, origin, INFINITY); // the skin will hang on the finest level
    PliEventPatch patch;
    const PliMoments before = moments_of(t, body, x, v, &patch);
    const double elastic = pli_body_energy(body, x, NULL).elastic;
    t->uniform_level = -1;
    pli_body_recut(body);
    t->set->revision = pli_body_revision(body) + 1; // rows that change from now on belong to the next cut
    settle(t, body, x, v, &before, elastic);
}

/// Nodes of the level start where it is expected to be. Fixed ones that nothing live touched are carried there, and go home later.
static void start_level(PliTetLod *t, PliBody *body, double *x, double *v, int level)
{
    const PliLevels *h = t->h;
    const uint8_t *fixed = pli_body_fixed(body);
    const double *held_x, *held_v;
    pli_body_fixed_values(body, &held_x, &held_v);
    pli_tetlod_expect(t, body, x, v, level);
    for (PliIndex p = h->point_first[level]; p < h->point_first[level + 1]; ++p) {
        if (!fixed[p]) continue;
        v3_copy(v + 3 * (size_t)p, held_v + 3 * (size_t)p);
        if (pli_body_is_live(body, p))
            v3_copy(x + 3 * (size_t)p, held_x + 3 * (size_t)p);
        else
            pli_body_lead_astray(body, p, x + 3 * (size_t)p);
    }
}

bool pli_tetlod_go_uniform(PliTetLod *t, PliBody *body, double *x, double *v, int level)
{
    static const double origin[3] = { 0.0, 0.0, 0.0 };
    PliStats *stats = pli_body_stats_mutable(body);
    const PliIndex was = t->set->active_count;
    pli_body_before_event(body, x, origin, INFINITY);
    PliEventPatch patch;
    const PliMoments before = moments_of(t, body, x, v, &patch);
    const double elastic = pli_body_energy(body, x, NULL).elastic;
    start_level(t, body, x, v, level);
    (void)pli_activeset_reset(t->set, level); // succeeded at creation, for every level
    pli_tetlod_count_buckets(t);
    t->uniform_level = t->own_volume[t->h->point_first[level]] > 0.0 ? level : -1;
    pli_body_recut(body);
    settle(t, body, x, v, &before, elastic);
    if (t->set->active_count > was)
        stats->refined++;
    else
        stats->coarsened++;
    return true;
}
