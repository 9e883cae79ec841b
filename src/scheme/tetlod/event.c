/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// One event: the cut changes, the motion is handed over, the energy is settled; or everything is as before.
#include <math.h>
#include <string.h>

#include "base/vec.h"
#include "scheme/tetlod/tetlod.h"
#include "solver/system.h"

// ---- how many substeps a set needs -------------------------------------------------------------------------------------------

static void move_bucket(PliTetLod *t, PliIndex tet, bool was_live, bool is_live)
{
    if (was_live == is_live) return;
    t->bucket_count[t->bucket[tet]] += is_live ? 1u : -1u;
}

void pli_tetlod_count_buckets(PliTetLod *t)
{
    memset(t->bucket_count, 0, sizeof t->bucket_count);
    for (PliIndex e = 0; e < t->h->tet_count; ++e) move_bucket(t, e, false, t->set->volume[e] > 0.0);
}

static double bucket_altitude(const PliTetLod *t, int b) { return t->least_altitude * exp2((double)b / 64.0); }

/// s, from an altitude.
static double step_of(const PliBodyDef *def, double altitude)
{
    const PliMaterial *m = &def->material;
    return pli_damped_step(def->courant * altitude / sqrt(pli_wave_modulus(m) / m->density), m->damping);
}

/// Left to choose, the body ticks elements apart where that halves the work.
static double rated_work(const PliBodyDef *def, double together, double apart)
{
    const PliRates rates = pli_body_def_rates(def);
    const bool own = rates == PLI_RATES_OWN || (rates == PLI_RATES_AUTO && apart < 0.5 * together);
    return own ? apart : together;
}

void pli_tetlod_level_work(const PliTetLod *t, const PliBodyDef *def, int level, double *density, double *rate)
{
    *density = rated_work(def, t->level_density[level][0], t->level_density[level][1]);
    const double substep = step_of(def, bucket_altitude(t, (int)t->level_first_bucket[level]));
    *rate = def->integrator == PLI_IMPLICIT ? 1.0 : 1.0 / substep;
    if (def->integrator == PLI_INTEGRATE_AUTO && t->step_length > 0.0)
        *rate += (1.0 - t->bound) * (pli_body_step_evaluations(def, t->step_length, substep) / t->step_length - *rate);
}

double pli_tetlod_work(const PliTetLod *t, const PliBodyDef *def, double dt)
{
    int first = 0;
    while (first < PLI_TETLOD_BUCKETS && t->bucket_count[first] == 0) ++first;
    if (first == PLI_TETLOD_BUCKETS) return 0.0;
    const double step = step_of(def, bucket_altitude(t, first));
    const double substeps = def->integrator == PLI_IMPLICIT ? 1.0 : fmax(1.0, ceil(dt / step));
    double together = 0.0, apart = 0.0;
    for (int b = first; b < PLI_TETLOD_BUCKETS; ++b) {
        const int g = (b - first) / 64;
        together += t->bucket_count[b] * substeps;
        apart += t->bucket_count[b] * substeps / (double)(1 << (g < 7 ? g : 7));
    }
    return rated_work(def, together, apart);
}

// ---- values before and after -------------------------------------------------------------------------------------------------

/// Old values of every node whose row is about to change; new nodes then start from them.
static void remember(PliTetLod *t, const double *x, const double *v)
{
    const PliActiveSet *s = t->set;
    for (PliIndex i = 0; i < s->affected_count; ++i) {
        const PliIndex node = s->affected[i];
        if (s->valid[node]) {
            pli_activeset_value(s, node, x, t->old_x + 3 * (size_t)node);
            pli_activeset_value(s, node, v, t->old_v + 3 * (size_t)node);
        } else { // was active, and nothing followed it
            v3_copy(t->old_x + 3 * (size_t)node, x + 3 * (size_t)node);
            v3_copy(t->old_v + 3 * (size_t)node, v + 3 * (size_t)node);
        }
    }
}

/// A fixed node that no live tetrahedron touched before this event follows others, like any passive one, and becomes live there.
static bool is_carried(const PliTetLod *t, const PliBody *body, PliIndex node)
{
    return t->placed[node] != t->criterion.decision && !pli_body_is_live(body, node);
}

static void start_new_nodes(PliTetLod *t, const PliBody *body, double *x, double *v)
{
    const PliActiveSet *s = t->set;
    const uint8_t *fixed = pli_body_fixed(body);
    const double *held_x, *held_v;
    pli_body_fixed_values(body, &held_x, &held_v);
    for (PliIndex i = 0; i < s->changed_count; ++i) {
        const PliIndex node = s->changed[i];
        if (s->state[node] != PLI_ACTIVE) continue;
        v3_copy(x + 3 * (size_t)node,
                (fixed[node] && !is_carried(t, body, node) ? held_x : t->old_x) + 3 * (size_t)node);
        v3_copy(v + 3 * (size_t)node, (fixed[node] ? held_v : t->old_v) + 3 * (size_t)node);
    }
}

static const double *new_position(PliTetLod *t, const double *x, PliIndex node)
{
    if (t->set->state[node] == PLI_ACTIVE) return x + 3 * (size_t)node;
    if (t->position_stamp[node] != t->stamp) {
        t->position_stamp[node] = t->stamp;
        pli_activeset_value(t->set, node, x, t->new_x + 3 * (size_t)node);
    }
    return t->new_x + 3 * (size_t)node;
}

static double density_at(const PliBody *body, const PliTetRest *rest, const double *const corner[4])
{
    double c[12], F[9];
    static const PliIndex order[4] = { 0, 1, 2, 3 };
    for (int k = 0; k < 4; ++k) v3_copy(c + 3 * k, corner[k]);
    pli_tet_gradient(order, rest, c, F);
    return pli_body_energy_density(body, F);
}

/// Far apart in memory, and used in a moment: waiting for them is most of what an event costs.
static void prefetch(const PliTetLod *t, PliIndex tet)
{
    __builtin_prefetch(&t->rest[tet]);
    __builtin_prefetch((const char *)&t->rest[tet] + 64);
    __builtin_prefetch(t->h->tets + 4 * (size_t)tet);
}

/// Tetrahedra whose energy differs: weights that changed, and live ones with a corner whose row changed.
static PliIndex list_elements(PliTetLod *t)
{
    const PliActiveSet *s = t->set;
    const PliLevels *h = t->h;
    PliIndex n = 0;
    if (++t->seen == 0) memset(t->seen_stamp, 0, h->tet_count * sizeof *t->seen_stamp), t->seen = 1;
    for (PliIndex i = 0; i < s->dirty_count; ++i) {
        const PliIndex tet = s->dirty[i];
        t->seen_stamp[tet] = t->seen;
        if (s->dirty_volume[i] == 0.0 && s->volume[tet] == 0.0) continue;
        t->element[n] = tet;
        t->element_volume[n++] = s->dirty_volume[i];
        prefetch(t, tet);
    }
    for (PliIndex i = 0; i < s->affected_count; ++i) {
        const PliIndex node = s->affected[i];
        if (s->touch[node] == 0) continue; // what it touched before is among the dirty ones
        for (PliIndex k = h->star_first[node]; k < h->star_first[node + 1]; ++k) {
            const PliIndex tet = h->star[k];
            if (t->seen_stamp[tet] == t->seen || s->volume[tet] == 0.0) continue;
            t->seen_stamp[tet] = t->seen;
            t->element[n] = tet;
            t->element_volume[n++] = s->volume[tet];
            prefetch(t, tet);
        }
    }
    return n;
}

/// Elastic energy after minus before.
static double elastic_change(PliTetLod *t, PliBody *body, const double *x)
{
    const uint8_t *fixed = pli_body_fixed(body);
    const double *held_x, *held_v;
    pli_body_fixed_values(body, &held_x, &held_v);
    const PliActiveSet *s = t->set;
    const PliLevels *h = t->h;
    if (++t->stamp == 0) memset(t->position_stamp, 0, h->point_count * sizeof *t->position_stamp), t->stamp = 1;
    const PliIndex n = list_elements(t);
    double change = 0.0;
    for (PliIndex i = 0; i < n; ++i) {
        const PliIndex tet = t->element[i], *c = h->tets + 4 * (size_t)tet;
        const double before = t->element_volume[i], after = s->volume[tet];
        const double *now[4], *old[4];
        bool moved = false;
        for (int k = 0; k < 4; ++k) {
            if (fixed[c[k]] && !is_carried(t, body, c[k])) { // active or slave, it does not follow
                now[k] = old[k] = held_x + 3 * (size_t)c[k];
                continue;
            }
            now[k] = new_position(t, x, c[k]);
            old[k] = s->node_mark[c[k]] ? t->old_x + 3 * (size_t)c[k] : now[k];
            moved = moved || memcmp(now[k], old[k], 3 * sizeof(double)) != 0;
        }
        if (!moved && before == after) continue;
        const double old_density = before > 0.0 || !moved ? density_at(body, &t->rest[tet], old) : 0.0;
        const double density = moved && after > 0.0 ? density_at(body, &t->rest[tet], now) : old_density;
        change += after * density - before * old_density;
    }
    return change;
}

// ---- momentum and energy -------------------------------------------------------------------------------------------------------

static double unit_mass(const PliTetLod *t) { return t->h->unit * t->density; }

/// Whatever a node that stops hands momentum to is part of the patch. A patch of a few nodes may lie on a line, and then nothing can
/// turn it: take in the active nodes around.
static void widen_patch(PliTetLod *t)
{
    PliActiveSet *s = t->set;
    for (PliIndex i = 0; i < s->changed_count; ++i)
        for (PliIndex k = s->row_first[s->changed[i]]; k < s->row_first[s->changed[i]] + s->row_count[s->changed[i]];
             ++k)
            pli_activeset_add_patch(s, s->column[k], true);
    if (s->patch_count >= 16) return;
    for (PliIndex i = 0; i < s->dirty_count; ++i)
        for (int c = 0; c < 4; ++c) {
            const PliIndex node = t->h->tets[4 * (size_t)s->dirty[i] + c];
            if (s->state[node] == PLI_ACTIVE) pli_activeset_add_patch(s, node, true);
            if (s->touch[node] == 0) continue; // whether it has a row depends on who has asked for it
            for (PliIndex k = s->row_first[node]; k < s->row_first[node] + s->row_count[node]; ++k)
                pli_activeset_add_patch(s, s->column[k], true);
        }
}

/// Steps 2 and 3 of the handover. @return kinetic plus gravity energy gained, J.
static double hand_over(PliTetLod *t, PliBody *body, const double *x, double *v)
{
    PliActiveSet *s = t->set;
    const double unit = unit_mass(t);
    const uint8_t *fixed = pli_body_fixed(body);
    const double *g = pli_body_def(body)->gravity;

    widen_patch(t);
    // the patch as it was: nodes that stopped still have their values in x and v, new ones had no mass
    bool clamped = false;
    for (PliIndex i = 0; i < s->patch_count; ++i) {
        const PliIndex node = s->patch[i];
        clamped = clamped || fixed[node];
        t->patch_mass[i] = (double)s->patch_mass[i] * unit;
        t->dof_mass[node] = s->state[node] == PLI_ACTIVE ? (double)s->mass[node] * unit : 0.0;
        v3_copy(t->saved_v + 3 * (size_t)i, v + 3 * (size_t)node);
    }
    PliEventPatch patch = { s->patch, t->patch_mass, s->patch_count };
    const PliMoments before = pli_patch_moments(&patch, x, v);

    // nodes that stop hand their mass over through their new row, and with it the momentum that row does not reproduce
    PliIndex carriers = 0;
    for (PliIndex i = 0; i < s->changed_count; ++i) {
        if (s->changed_from[i] != PLI_ACTIVE) continue;
        t->carrier[carriers] = s->changed[i];
        t->carrier_mass[carriers] = (double)s->changed_mass[i] * unit;
        v3_copy(t->carrier_old + 3 * (size_t)carriers, v + 3 * (size_t)s->changed[i]);
        carriers++;
    }
    // a coefficient whose mass an event leaves as it was is not in the patch, and may still be in a row
    const PliRows rows = pli_activeset_valid_rows(s);
    for (PliIndex i = 0; i < carriers; ++i)
        for (PliIndex k = rows.first[t->carrier[i]]; k < rows.first[t->carrier[i] + 1]; ++k)
            t->dof_mass[rows.column[k]] = (double)s->mass[rows.column[k]] * unit;
    pli_handover_momentum(rows, t->carrier, t->carrier_mass, t->carrier_old, carriers, t->dof_mass, fixed, v,
                          t->change);

    for (PliIndex i = 0; i < s->patch_count; ++i) t->patch_mass[i] = t->dof_mass[s->patch[i]];
    PliMoments after = pli_patch_moments(&patch, x, v);
    if (!clamped) {
        double spin[3];
        v3_sub(spin, before.angular, after.angular);
        if (pli_handover_spin(&patch, spin, x, v)) after = pli_patch_moments(&patch, x, v);
    }
    const double lifted[3] = { after.mass * after.centre[0] - before.mass * before.centre[0],
                               after.mass * after.centre[1] - before.mass * before.centre[1],
                               after.mass * after.centre[2] - before.mass * before.centre[2] };
    return after.kinetic - before.kinetic - v3_dot(g, lifted);
}

/// Elastic energy and that of the motion about the centre of mass: the same for whoever flies along.
static double own_energy(PliBody *body, const double *x, const double *v)
{
    const PliEnergy e = pli_body_energy(body, x, v);
    return e.elastic + fmax(0.0, e.kinetic - 0.5 * v3_dot(e.momentum, e.momentum) / e.mass);
}

/// The body's energy when a decision begins (the cut is the body's then), only after somebody asked for it. Energy that comes in
/// anew (a tool that presses again, after a fall of the energy) counts to the turnover; the small oscillation of a symplectic step
/// does not.
void pli_tetlod_count_energy(PliTetLod *t, PliBody *body, const double *x, const double *v)
{
    if (!t->energy_wanted) return;
    const double now = own_energy(body, x, v);
    t->energy_wanted = false;
    if (now > 1.25 * t->energy_low) t->turnover += now - t->energy_low, t->energy_low = now;
    t->energy_low = fmin(t->energy_low, now);
}

/// Energy an event may add beyond what the motion of its patch can pay for: what events have removed before, and on credit, in all,
/// less than a thousandth of the energy that went through the body.
static bool afford(PliTetLod *t, double unpaid)
{
    if (unpaid <= t->bank) return true;
    t->energy_wanted = true; // for the next decision; what is known is that of an earlier one
    const double share = fmin(2e-4 + 1e-4 * t->time, 9e-4); // not all of it at once
    return unpaid <= t->bank + share * t->turnover;
}

/// Step 4. @return false when the event would add energy that nothing can pay for and it is not forced.
static bool settle_energy(PliTetLod *t, PliBody *body, const double *x, double *v, double gained, bool forced)
{
    PliStats *stats = pli_body_stats_mutable(body);
    const PliActiveSet *s = t->set;
    if (gained <= 0.0) {
        stats->energy_removed -= gained;
        t->bank -= gained;
        return true;
    }
    const uint8_t *fixed = pli_body_fixed(body);
    int64_t units = 0;
    for (PliIndex i = 0; i < s->patch_count; ++i) {
        if (fixed[s->patch[i]]) t->patch_mass[i] = 0.0; // prescribed motion pays nothing
        units += s->patch_mass[i] > 0 ? s->patch_mass[i] : 0;
    }
    const PliEventPatch patch = { s->patch, t->patch_mass, s->patch_count };
    const double unpaid = pli_handover_cap(&patch, gained, x, v);
    // a strain of 1e-12: rounding, of a body at rest for example
    const double rounding = 1e-24 * pli_body_def(body)->material.young * (double)units * t->h->unit;
    if (unpaid <= rounding) return true;
    if (afford(t, unpaid)) {
        t->bank -= unpaid;
        stats->energy_added += unpaid;
        return true;
    }
    if (!forced) return false;
    stats->energy_forced += unpaid;
    return true;
}

/// Weights are fitted when a cut is made, so what that changes is known only then: it is paid by the motion of the whole body, or
/// booked. `before`: elastic energy when the decision began.
void pli_tetlod_settle_fit(PliTetLod *t, PliBody *body, const double *x, double *v, double before)
{
    pli_body_recut(body);
    PliStats *stats = pli_body_stats_mutable(body);
    const PliLiveView live = pli_body_live(body);
    const double gained = pli_body_energy(body, x, v).elastic - before - t->booked;
    if (gained <= 0.0) {
        stats->energy_removed -= gained;
        t->bank -= gained;
        return;
    }
    for (PliIndex i = 0; i < live.active_count; ++i) t->patch_mass[i] = live.fixed[i] ? 0.0 : live.mass[i];
    const PliEventPatch patch = { live.dof, t->patch_mass, live.active_count };
    const double unpaid = pli_handover_cap(&patch, gained, x, v);
    t->bank -= unpaid;
    stats->energy_added += unpaid;
}

static void take_back(PliTetLod *t, double *v)
{
    const PliActiveSet *s = t->set;
    for (PliIndex i = 0; i < s->patch_count; ++i) v3_copy(v + 3 * (size_t)s->patch[i], t->saved_v + 3 * (size_t)i);
}

/// Fixed nodes that live tetrahedra touch from now on.
static void place_fixed(PliTetLod *t, PliBody *body, const double *x)
{
    const PliActiveSet *s = t->set;
    const uint8_t *fixed = pli_body_fixed(body);
    for (PliIndex i = 0; i < s->dirty_count; ++i) {
        if (s->dirty_volume[i] > 0.0 || !(s->volume[s->dirty[i]] > 0.0)) continue;
        for (int k = 0; k < 4; ++k) {
            const PliIndex node = t->h->tets[4 * (size_t)s->dirty[i] + k];
            if (!fixed[node] || !is_carried(t, body, node)) continue;
            pli_body_lead_astray(body, node, new_position(t, x, node));
            t->placed[node] = t->criterion.decision;
        }
    }
}

PliEventResult pli_tetlod_event(PliTetLod *t, PliBody *body, double *x, double *v, PliIndex node, bool split,
                                bool forced, double most_work, double dt)
{
    PliActiveSet *s = t->set;
    const PliLevels *h = t->h;
    pli_activeset_begin(s);
    // rows of the nodes that will start, while they still follow
    if (!split && pli_activeset_need(s, node) != PLI_OK) return PLI_EVENT_IMPOSSIBLE;
    for (PliIndex c = h->child_first[node]; split && c < h->child_first[node + 1]; ++c)
        if (pli_activeset_need(s, h->child[c]) != PLI_OK) return PLI_EVENT_IMPOSSIBLE;
    if (!(split ? pli_activeset_split(s, node) : pli_activeset_merge(s, node))) return PLI_EVENT_IMPOSSIBLE;
    pli_activeset_affect(s);
    remember(t, x, v);
    if (pli_activeset_commit(s) != PLI_OK) {
        pli_activeset_undo(s);
        return PLI_EVENT_IMPOSSIBLE;
    }
    for (PliIndex i = 0; i < s->dirty_count; ++i)
        move_bucket(t, s->dirty[i], s->dirty_volume[i] > 0.0, s->volume[s->dirty[i]] > 0.0);

    PliEventResult result = PLI_EVENT_DONE;
    if (split && isfinite(most_work) && pli_tetlod_work(t, pli_body_def(body), dt) > most_work) {
        result = PLI_EVENT_TOO_COSTLY;
    } else {
        start_new_nodes(t, body, x, v);
        const double moving = hand_over(t, body, x, v), elastic = elastic_change(t, body, x);
        if (!settle_energy(t, body, x, v, moving + elastic, forced)) {
            take_back(t, v);
            result = PLI_EVENT_ADDS_ENERGY;
        } else {
            t->booked += elastic;
        }
    }
    if (result != PLI_EVENT_DONE) {
        for (PliIndex i = 0; i < s->dirty_count; ++i)
            move_bucket(t, s->dirty[i], s->volume[s->dirty[i]] > 0.0, s->dirty_volume[i] > 0.0);
        pli_activeset_undo(s);
        return result;
    }
    place_fixed(t, body, x);
    for (PliIndex i = 0; i < s->changed_count; ++i) t->look_again[s->changed[i]] = 0;
    PliStats *stats = pli_body_stats_mutable(body);
    if (split) {
        pli_criterion_note_refined(&t->criterion, node);
        stats->refined++;
    } else {
        pli_criterion_note_coarsened(&t->criterion, node);
        stats->coarsened++;
    }
    return result;
}
