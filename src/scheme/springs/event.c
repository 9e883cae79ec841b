/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// One event: a star is put in or taken out, the motion is handed over, the energy is settled; or everything is as before.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec.h"
#include "adapt/handover.h"
#include "scheme/springs/springs.h"
#include "solver/system.h"

PliStatus pli_springs_event_create(PliSprings *s)
{
    const PliHost *host = &s->host;
    const size_t n = s->pyramid->vertex_count;
    s->old_mass = PLI_NEW(host, n, double);
    s->in_patch = PLI_NEW(host, n, uint8_t);
    s->patch = PLI_NEW(host, n, PliIndex);
    s->patch_mass = PLI_NEW(host, n, double);
    s->saved_v = PLI_NEW(host, 3 * n, double);
    s->saved_x = PLI_NEW(host, 3 * n, double);
    s->old_active = PLI_NEW(host, n, PliIndex);
    s->compact_x = PLI_NEW(host, 3 * n, double);
    s->near_spring = PLI_NEW(host, 2 * (size_t)s->cut->spring_capacity, PliIndex);
    s->near_stiffness = PLI_NEW(host, s->cut->spring_capacity, double);
    s->near_length = PLI_NEW(host, s->cut->spring_capacity, double);
    s->near_tri = PLI_NEW(host, 3 * (size_t)s->cut->tri_capacity, PliIndex);
    if (!s->near_spring || !s->near_stiffness || !s->near_length || !s->near_tri) return PLI_OUT_OF_MEMORY;
    return s->old_mass && s->in_patch && s->patch && s->patch_mass && s->saved_v && s->saved_x && s->old_active &&
                   s->compact_x
               ? PLI_OK
               : PLI_OUT_OF_MEMORY;
}

void pli_springs_event_destroy(PliSprings *s)
{
    const PliHost *host = &s->host;
    const size_t n = s->pyramid->vertex_count;
    PLI_FREE(host, s->old_mass, n);
    PLI_FREE(host, s->in_patch, n);
    PLI_FREE(host, s->patch, n);
    PLI_FREE(host, s->patch_mass, n);
    PLI_FREE(host, s->saved_v, 3 * n);
    PLI_FREE(host, s->saved_x, 3 * n);
    PLI_FREE(host, s->old_active, n);
    PLI_FREE(host, s->compact_x, 3 * n);
    PLI_FREE(host, s->near_spring, 2 * (size_t)s->cut->spring_capacity);
    PLI_FREE(host, s->near_stiffness, s->cut->spring_capacity);
    PLI_FREE(host, s->near_length, s->cut->spring_capacity);
    PLI_FREE(host, s->near_tri, 3 * (size_t)s->cut->tri_capacity);
}

double pli_springs_substeps(PliSprings *s, const PliBodyDef *def, double dt)
{
    const double step = pli_damped_step(def->courant * pli_springs_step(s), def->material.damping);
    return def->integrator == PLI_IMPLICIT ? 1.0 : fmax(1.0, ceil(dt / step));
}

double pli_springs_work(PliSprings *s, const PliBodyDef *def, double dt)
{
    return (double)s->cut->spring_count * pli_springs_substeps(s, def, dt);
}

// ---- the patch -----------------------------------------------------------------------------------------------------------------

static void add_patch(PliSprings *s, PliIndex v)
{
    if (s->in_patch[v]) return;
    s->in_patch[v] = 1;
    s->patch[s->patch_count++] = v;
}

/// Active vertices that v follows, or followed.
static void add_followed(PliSprings *s, PliIndex v)
{
    const PliPyramid *p = s->pyramid;
    for (PliIndex k = p->row_first[v]; k < p->row_first[v + 1]; ++k) {
        const PliIndex a = p->row_column[k];
        if (s->cut->is_active[a])
            add_patch(s, a);
        else
            add_followed(s, a);
    }
}

/// Vertices whose mass changed, and those that new and old ones follow: the same set for an event and the one that undoes it.
static void find_patch(PliSprings *s)
{
    const PliSpringsCut *c = s->cut;
    s->patch_count = 0;
    for (PliIndex i = 0; i < c->active_count; ++i) {
        const PliIndex v = c->active[i];
        if (c->mass[v] == s->old_mass[v]) continue;
        add_patch(s, v);
        if (s->old_mass[v] == 0.0) add_followed(s, v);
    }
    for (PliIndex i = 0; i < s->old_count; ++i) {
        const PliIndex v = s->old_active[i];
        if (c->is_active[v]) continue;
        add_patch(s, v);
        add_followed(s, v);
    }
}

static void forget_patch(PliSprings *s)
{
    for (PliIndex i = 0; i < s->patch_count; ++i) s->in_patch[s->patch[i]] = 0;
}

// ---- values --------------------------------------------------------------------------------------------------------------------

/// New vertices begin where they followed to; by ascending number, so that what they hang on has begun.
static void start_vertices(PliSprings *s, PliBody *body, double *x, double *v)
{
    const PliSpringsCut *c = s->cut;
    const uint8_t *fixed = pli_body_fixed(body);
    const double *held_x, *held_v;
    pli_body_fixed_values(body, &held_x, &held_v);
    for (PliIndex i = s->pyramid->mesh[0]->vertex_count; i < c->active_count; ++i) {
        const PliIndex u = c->active[i];
        if (s->old_mass[u] != 0.0) continue;
        pli_springs_value(c, u, x, x + 3 * (size_t)u);
        if (fixed[u])
            v3_copy(v + 3 * (size_t)u, held_v + 3 * (size_t)u);
        else
            pli_springs_value(c, u, v, v + 3 * (size_t)u);
    }
}

static bool is_new(const PliSprings *s, PliIndex i) { return s->old_mass[s->cut->active[i]] == 0.0; }

/// Springs and triangles that end at a new vertex: all that changes while those move. Volume is seen from a point that stays.
static void find_near(PliSprings *s)
{
    const PliSpringForce *all = &s->force;
    PliSpringForce *near = &s->near;
    *near = *all;
    near->spring = s->near_spring, near->stiffness = s->near_stiffness, near->length = s->near_length;
    near->tri = s->near_tri;
    near->about = s->compact_x, near->beyond = 0.0; // of the base
    near->spring_count = near->tri_count = 0;
    for (PliIndex i = 0; i < all->spring_count; ++i) {
        const PliIndex *e = all->spring + 2 * (size_t)i, n = near->spring_count;
        if (!is_new(s, e[0]) && !is_new(s, e[1])) continue;
        memcpy(s->near_spring + 2 * (size_t)n, e, 2 * sizeof *e);
        s->near_stiffness[n] = all->stiffness[i], s->near_length[n] = all->length[i];
        near->spring_count++;
    }
    for (PliIndex t = 0; t < all->tri_count && all->bulk > 0.0; ++t) {
        const PliIndex *c = all->tri + 3 * (size_t)t;
        if (!is_new(s, c[0]) && !is_new(s, c[1]) && !is_new(s, c[2])) continue;
        memcpy(s->near_tri + 3 * (size_t)near->tri_count++, c, 3 * sizeof *c);
    }
    if (all->bulk > 0.0) near->beyond = pli_springs_volume(all, s->compact_x) - pli_springs_volume(near, s->compact_x);
}

/// New vertices go a little way down the elastic energy, the rest held, until the event adds none: where the surface is bent, what
/// they followed to is not where their springs want them. @return elastic energy, J
static double settle_vertices(PliSprings *s, const uint8_t *fixed, double *x, double before)
{
    const PliSpringsCut *c = s->cut;
    double energy = pli_springs_elastic(s, x);
    if (energy <= before) return energy;
    find_near(s);
    const double others = energy - pli_springs_energy(&s->near, s->compact_x);
    // steps of x by f h^2 / m are stable below h = critical; a quarter of that squared is safe
    const double rate = 0.25 * pli_springs_step(s) * pli_springs_step(s);
    const double part = (double)s->near.spring_count / c->spring_count;
    double *f = s->step_work;
    for (int round = 0; round < 12 && energy > before; ++round) {
        memset(f, 0, 3 * (size_t)c->active_count * sizeof *f);
        pli_springs_add_force(&s->near, s->compact_x, NULL, f);
        for (PliIndex i = s->pyramid->mesh[0]->vertex_count; i < c->active_count; ++i) {
            const PliIndex u = c->active[i];
            if (!is_new(s, i) || fixed[u]) continue;
            v3_madd(x + 3 * (size_t)u, rate / s->mass[i], f + 3 * (size_t)i);
            v3_copy(s->compact_x + 3 * (size_t)i, x + 3 * (size_t)u);
        }
        energy = others + pli_springs_energy(&s->near, s->compact_x);
        s->passes += 2.0 * part;
    }
    return energy;
}

/// What a vertex that stops had beyond the motion it follows goes to the ends of its edge, as its mass does.
static void give_momentum(PliSprings *s, PliIndex v, const double momentum[3], const uint8_t *fixed, double *velocity)
{
    const PliSpringsCut *c = s->cut;
    const PliPyramid *p = s->pyramid;
    const PliWing *w = &p->mesh[p->level[v] - 1]->edge[pli_pyramid_edge(p, v)];
    const PliIndex end[2] = { w->start, w->end };
    const double half[3] = { 0.5 * momentum[0], 0.5 * momentum[1], 0.5 * momentum[2] };
    for (int k = 0; k < 2; ++k)
        if (!c->is_active[end[k]])
            give_momentum(s, end[k], half, fixed, velocity);
        else if (!fixed[end[k]])
            v3_madd(velocity + 3 * (size_t)end[k], 1.0 / c->mass[end[k]], half);
}

static void stop_vertices(PliSprings *s, const uint8_t *fixed, double *v)
{
    const PliSpringsCut *c = s->cut;
    // all are read before any is written: saved_v has the patch as it was
    for (PliIndex i = 0; i < s->patch_count; ++i) {
        const PliIndex u = s->patch[i];
        if (c->is_active[u]) continue;
        double *lack = s->saved_x + 3 * (size_t)i; // positions of these do not change
        pli_springs_value(c, u, v, lack);
        for (size_t d = 0; d < 3; ++d) lack[d] = s->old_mass[u] * (v[3 * (size_t)u + d] - lack[d]);
    }
    for (PliIndex i = 0; i < s->patch_count; ++i)
        if (!c->is_active[s->patch[i]]) give_momentum(s, s->patch[i], s->saved_x + 3 * (size_t)i, fixed, v);
}

/// Mean velocity of the body as it was.
static void mean_velocity(const PliSprings *s, const double *v, double mean[3])
{
    double mass = 0.0;
    memset(mean, 0, 3 * sizeof *mean);
    for (PliIndex i = 0; i < s->old_count; ++i) {
        mass += s->old_mass[s->old_active[i]];
        v3_madd(mean, s->old_mass[s->old_active[i]], v + 3 * (size_t)s->old_active[i]);
    }
    v3_scale(mean, 1.0 / mass);
}

static void add_velocity(const PliSprings *s, double sign, const double u[3], double *v)
{
    for (PliIndex i = 0; i < s->patch_count; ++i) v3_madd(v + 3 * (size_t)s->patch[i], sign, u);
}

/// Momentum, and angular momentum seen from where the body as a whole is at rest. Seen from elsewhere the latter could not be kept:
/// vertices that lie off the middle of their edge move the centre of mass a little when they come and go.
/// @return kinetic plus gravity energy gained, J; `noise` is what rounding may have added to that
static double hand_over(PliSprings *s, PliBody *body, const double *x, double *v, double *noise)
{
    const PliSpringsCut *c = s->cut;
    const uint8_t *fixed = pli_body_fixed(body);
    const double *g = pli_body_def(body)->gravity;
    bool clamped = false;
    double frame[3];
    mean_velocity(s, v, frame);
    for (PliIndex i = 0; i < s->patch_count; ++i) {
        const PliIndex u = s->patch[i];
        clamped = clamped || fixed[u];
        s->patch_mass[i] = s->old_mass[u];
        v3_copy(s->saved_v + 3 * (size_t)i, v + 3 * (size_t)u);
    }
    const PliEventPatch patch = { s->patch, s->patch_mass, s->patch_count };
    add_velocity(s, -1.0, frame, v);
    const PliMoments before = pli_patch_moments(&patch, x, v);
    stop_vertices(s, fixed, v);
    for (PliIndex i = 0; i < s->patch_count; ++i)
        s->patch_mass[i] = c->is_active[s->patch[i]] ? c->mass[s->patch[i]] : 0.0;
    PliMoments after = pli_patch_moments(&patch, x, v);
    if (!clamped) { // what holds a clamped patch takes the difference
        double change[3], spin[3];
        v3_sub(change, before.momentum, after.momentum);
        add_velocity(s, 1.0 / after.mass, change, v);
        after = pli_patch_moments(&patch, x, v);
        v3_sub(spin, before.angular, after.angular);
        if (pli_handover_spin(&patch, spin, x, v)) after = pli_patch_moments(&patch, x, v);
    }
    add_velocity(s, 1.0, frame, v);
    double lifted = 0.0, height = 0.0;
    for (int d = 0; d < 3; ++d) {
        lifted += g[d] * (after.mass * after.centre[d] - before.mass * before.centre[d]);
        height += fabs(g[d] * before.centre[d]);
    }
    *noise = 1e-13 * (before.kinetic + before.mass * (height + v3_dot(frame, frame)));
    return after.kinetic - before.kinetic - lifted;
}

// ---- energy --------------------------------------------------------------------------------------------------------------------

static bool settle_energy(PliSprings *s, PliBody *body, const double *x, double *v, double gained, double noise,
                          bool forced)
{
    PliStats *stats = pli_body_stats_mutable(body);
    const uint8_t *fixed = pli_body_fixed(body);
    if (gained <= 0.0) {
        stats->energy_removed -= gained;
        s->bank -= gained;
        return true;
    }
    for (PliIndex i = 0; i < s->patch_count; ++i)
        if (fixed[s->patch[i]]) s->patch_mass[i] = 0.0; // prescribed motion pays nothing
    const PliEventPatch patch = { s->patch, s->patch_mass, s->patch_count };
    const double unpaid = pli_handover_cap(&patch, gained, x, v);
    // all springs of the base stretched by 1e-12: rounding
    const double rounding = 1e-24 * s->stiffness * s->size * s->size * (double)s->cut->spring_count;
    if (unpaid <= rounding + noise) return true;
    // all events together never add energy: one may give back what others took before
    if (unpaid <= s->bank) {
        s->bank -= unpaid;
        stats->energy_added += unpaid;
        return true;
    }
    if (!forced) return false;
    stats->energy_forced += unpaid;
    return true;
}

// ---- the event -----------------------------------------------------------------------------------------------------------------

static void remember(PliSprings *s)
{
    const PliSpringsCut *c = s->cut;
    s->old_count = c->active_count;
    memcpy(s->old_active, c->active, c->active_count * sizeof *c->active);
    for (PliIndex i = 0; i < c->active_count; ++i) s->old_mass[c->active[i]] = c->mass[c->active[i]];
}

static void forget(PliSprings *s)
{
    for (PliIndex i = 0; i < s->old_count; ++i) s->old_mass[s->old_active[i]] = 0.0;
    forget_patch(s);
}

/// What the skin shows of followers that follow others from now on, before anything moves.
static void look_back(PliSprings *s, PliBody *body, double *x, PliIndex star)
{
    const PliIndex v = star - s->cut->star_first[pli_springs_star_level(s->cut, star)];
    if (++s->event == 0) memset(s->judged, 0, s->pyramid->vertex_count * sizeof *s->judged), s->event = 1;
    s->looks_back = true;
    // triangles cut to balance lie within a ring or two, and what follows their vertices within another
    pli_body_before_event(body, x, s->pyramid->rest + 3 * (size_t)v, 5.0 * s->star_size[star]);
    s->looks_back = false;
}

static void undo(PliSprings *s, PliIndex star, bool in, double *v, bool moved)
{
    for (PliIndex i = 0; moved && i < s->patch_count; ++i)
        v3_copy(v + 3 * (size_t)s->patch[i], s->saved_v + 3 * (size_t)i);
    pli_springs_cut_choose(s->cut, star, !in);
    pli_springs_cut_refresh(s->cut);
    pli_springs_live_refresh(s);
}

PliSpringsEvent pli_springs_event(PliSprings *s, PliBody *body, double *x, double *v, PliIndex star, bool in,
                                  bool forced, double most_work, double dt)
{
    PliSpringsCut *c = s->cut;
    const PliBodyDef *def = pli_body_def(body);
    const double elastic = pli_springs_elastic(s, x);
    remember(s);
    s->patch_count = 0;
    s->passes += PLI_SPRINGS_EVENT_PASSES;
    pli_springs_cut_choose(c, star, in);
    pli_springs_cut_refresh(c);
    pli_springs_live_refresh(s);
    PliSpringsEvent result = PLI_SPRINGS_DONE;
    if (c->active_count == s->old_count) {
        result = PLI_SPRINGS_NOTHING; // others ask for the same triangles
    } else if (in && !forced &&
               (c->active_count > def->criterion.max_active ||
                (isfinite(most_work) && pli_springs_work(s, def, dt) > most_work))) {
        undo(s, star, in, v, false);
        result = PLI_SPRINGS_TOO_COSTLY;
    } else {
        look_back(s, body, x, star);
        start_vertices(s, body, x, v);
        const double after = settle_vertices(s, pli_body_fixed(body), x, elastic);
        find_patch(s);
        double noise;
        const double gained = hand_over(s, body, x, v, &noise) + after - elastic;
        if (!settle_energy(s, body, x, v, gained, noise, forced)) {
            undo(s, star, in, v, true);
            result = PLI_SPRINGS_ADDS_ENERGY;
        }
    }
    if (result == PLI_SPRINGS_DONE && in) {
        const uint8_t *fixed = pli_body_fixed(body);
        for (PliIndex i = s->pyramid->mesh[0]->vertex_count; i < c->active_count; ++i)
            if (s->old_mass[c->active[i]] == 0.0 && fixed[c->active[i]])
                pli_body_lead_astray(body, c->active[i], x + 3 * (size_t)c->active[i]);
    }
    forget(s);
    return result;
}
