/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// What is planned is carried out, and the energy that this gives is taken back: first what split goes where forces want it, then motion pays.
// What an event adds or takes is in the elements that touch what comes or goes: those alone are looked at.
#include <math.h>
#include <string.h>

#include "adapt/handover.h"
#include "base/sorted.h"
#include "base/vec.h"
#include "scheme/octree/octree.h"

/// Where the points of the operator are.
static double *gather(PliOctree *s, const double *x)
{
    const PliOctreeOperator *o = &s->op;
    double *at = s->scratch;
    for (PliIndex i = 0; i < o->count; ++i) v3_copy(at + 3 * (size_t)i, x + 3 * (size_t)o->cell[i]);
    for (PliIndex i = 0; i < o->extra; ++i)
        v3_copy(at + 3 * (size_t)(o->count + i), x + 3 * (size_t)(s->axis_first + i));
    for (PliIndex i = 0; i < o->wall_count; ++i)
        v3_copy(at + 3 * (size_t)(o->count + o->extra + i), x + 3 * (size_t)(s->wall_first + o->wall[i]));
    return at;
}

/// Internal forces on the points of the operator, nothing viscous; `near`: those around what came alone.
static const double *forces_at(PliOctree *s, bool near, const double *x)
{
    PliOctreeOperator *o = &s->op;
    const PliIndex n = o->count + o->extra + o->wall_count;
    double *at = gather(s, x), *f = s->scratch + 3 * (size_t)n;
    memset(f, 0, 3 * (size_t)n * sizeof *f);
    if (near)
        pli_octree_add_near_force(o, at, f);
    else
        pli_octree_add_force(o, at, NULL, f);
    return f;
}

/// Daughters of one mother go where internal forces push them, about their common centre.
static void relax_group(PliOctree *s, PliIndex mother, const double *f, double *x, const double *v, double spin[3])
{
    const PliOctreeOperator *o = &s->op;
    double mean[3] = { 0, 0, 0 }, mass = 0.0, step = INFINITY;
    for (int pass = 0; pass < 2; ++pass) {
        if (pass && !isfinite(step)) return; // cells that touch nothing by a face: no force moves them
        for (int k = 0; k < 8; ++k) {
            const PliIndex c = s->tree->cell[mother].child[k];
            if (c == PLI_NONE || !s->active.is_active[c] || (s->fixed && s->fixed[c])) continue;
            const PliIndex i = o->position[c];
            if (pass == 0) {
                step = o->step[i] < step ? o->step[i] : step;
                mass += o->mass[i];
                v3_add(mean, mean, f + 3 * (size_t)i);
                continue;
            }
            double *move = s->drift + 3 * (size_t)c, l[3];
            for (int a = 0; a < 3; ++a)
                move[a] =
                    0.85 * move[a] + 0.2 * step * step * (f[3 * (size_t)i + (size_t)a] / o->mass[i] - mean[a] / mass);
            v3_add(x + 3 * (size_t)c, x + 3 * (size_t)c, move);
            v3_cross(l, move, v + 3 * (size_t)c);
            v3_madd(spin, -o->mass[i], l);
        }
    }
}

/// All particles, when daughters alone cannot give enough back: the centre of mass of what is free stays.
static void relax_all(PliOctree *s, const double *f, double *x, const double *v, double spin[3])
{
    const PliOctreeOperator *o = &s->op;
    double step = INFINITY;
    for (PliIndex i = 0; i < o->count; ++i) step = o->step[i] < step ? o->step[i] : step;
    if (!isfinite(step)) return;
    for (PliIndex i = 0; i < o->count; ++i) {
        const size_t c = o->cell[i];
        double *move = s->drift + 3 * c, l[3];
        if (s->fixed && s->fixed[c]) continue;
        for (size_t a = 0; a < 3; ++a) move[a] = 0.85 * move[a] + 0.2 * step * step * f[3 * (size_t)i + a] / o->mass[i];
        v3_add(x + 3 * c, x + 3 * c, move);
        v3_cross(l, move, v + 3 * c);
        v3_madd(spin, -o->mass[i], l);
    }
}

static void forget_drift(PliOctree *s)
{
    for (PliIndex i = 0; i < s->op.count; ++i) memset(s->drift + 3 * (size_t)s->op.cell[i], 0, 3 * sizeof *s->drift);
}

/// J, of motion and weight.
static double moving_energy(const PliOctree *s, const double *gravity, const double *x, const double *v)
{
    double sum = 0.0;
    for (PliIndex i = 0; i < s->op.count; ++i) {
        const size_t c = 3 * (size_t)s->op.cell[i];
        sum += s->op.mass[i] * (0.5 * v3_dot(v + c, v + c) - v3_dot(gravity, x + c));
    }
    return sum;
}

/// J, with the elastic energy around what comes or goes, or all of it.
static double energy_of(PliOctree *s, const PliBody *body, bool near, const double *x, const double *v)
{
    const double *at = gather(s, x);
    const double elastic = near ? pli_octree_near_energy(&s->op, at) : pli_octree_energy(&s->op, at);
    return elastic + moving_energy(s, pli_body_def(body)->gravity, x, v);
}

/// Points of the operator that `other` does not have.
static void mark_difference(PliOctree *s, const PliOctreeActive *other)
{
    for (PliIndex i = 0; i < s->op.count; ++i) s->mark[i] = !other->is_active[s->op.cell[i]];
    pli_octree_find_near(&s->op, s->mark);
}

/// What a split put too far from where forces want it goes there, as long as the body is richer than before. @return what it is richer by, J.
static double relax(PliOctree *s, PliBody *body, double before, double *x, double *v)
{
    enum { ROUNDS = 8, IN_A_ROUND = 4 };
    double energy = energy_of(s, body, true, x, v), spin[3] = { 0, 0, 0 };
    int tools;
    (void)pli_body_tools(body, &tools);
    // what a tool presses would spring into it; and it makes splits all the time
    for (int all = 0; all < (tools ? 1 : 2); ++all) {
        if (all && !(energy > before)) break;
        forget_drift(s);
        if (all) { // from here on all elements count
            const double whole = energy_of(s, body, false, x, v);
            before += whole - energy;
            energy = whole;
        }
        for (int round = 0; round < (tools ? 1 : ROUNDS) && (all || s->fresh_count) && energy > before; ++round) {
            for (int k = 0; k < IN_A_ROUND; ++k) {
                const double *f = forces_at(s, !all, x);
                for (PliIndex i = 0; i < s->fresh_count && !all; ++i) relax_group(s, s->fresh[i], f, x, v, spin);
                if (all) relax_all(s, f, x, v, spin);
            }
            energy = energy_of(s, body, !all, x, v);
        }
    }
    if (v3_norm(spin) > 0.0) {
        const PliEventPatch patch = { s->patch, s->patch_mass, s->op.count };
        const double *gravity = pli_body_def(body)->gravity, was = moving_energy(s, gravity, x, v);
        (void)pli_handover_spin(&patch, spin, x, v);
        energy += moving_energy(s, gravity, x, v) - was;
    }
    return energy - before;
}

/// Motion that is not rigid pays for what made the body richer.
static void settle_energy(PliOctree *s, PliBody *body, double before, double *x, double *v)
{
    PliStats *stats = pli_body_stats_mutable(body);
    for (PliIndex i = 0; i < s->op.count; ++i) {
        s->patch[i] = s->op.cell[i];
        s->patch_mass[i] = s->fixed && s->fixed[s->op.cell[i]] ? 0.0 : s->op.mass[i];
    }
    const double gained = relax(s, body, before, x, v);
    if (gained > 0.0) {
        const PliEventPatch patch = { s->patch, s->patch_mass, s->op.count };
        stats->energy_added += pli_handover_cap(&patch, gained, x, v);
    } else {
        stats->energy_removed -= gained;
    }
}

/// Events that stand together and are of one kind, in the order of cells: scores that differ by rounding must not tell whose daughters are
/// there first. Coarse cells split first, fine ones merge first, so what was possible stays so.
static void put_in_order(PliOctree *s)
{
    for (PliIndex first = 0, last; first < s->planned_count; first = last) {
        const bool splits = !s->next_active.is_active[s->planned[first]];
        for (last = first + 1; last < s->planned_count && s->next_active.is_active[s->planned[last]] != splits;
             ++last) {}
        pli_sort_short(s->planned + first, last - first);
        for (PliIndex i = first, j = last - 1; !splits && i < j; ++i, --j) {
            const PliIndex swap = s->planned[i];
            s->planned[i] = s->planned[j], s->planned[j] = swap;
        }
    }
}

void pli_octree_carry_out(PliOctree *s, PliBody *body, double *x, double *v)
{
    PliStats *stats = pli_body_stats_mutable(body);
    mark_difference(s, &s->next_active);
    const double before = energy_of(s, body, true, x, v);
    s->fresh_count = 0;
    put_in_order(s);
    for (PliIndex i = 0; i < s->planned_count; ++i) {
        const PliIndex cell = s->planned[i];
        pli_body_before_event(body, x, s->tree->rest + 3 * (size_t)cell,
                              3.0 * s->tree->size[s->tree->cell[cell].level]);
        if (s->active.is_active[cell]) {
            pli_octree_split_cell(s, cell, x, v);
            s->fresh[s->fresh_count++] = cell;
            stats->refined++;
        } else {
            pli_octree_merge_cell(s, cell, x, v);
            stats->coarsened++;
        }
    }
    s->planned_count = 0;
    s->next_ready = false;
    s->carrying_out = true;
    pli_body_recut(body);
    // of the operator before, which is the next one now, only the numbers of its particles are asked for
    for (PliIndex i = 0; i < s->op.count; ++i) s->mark[i] = s->next.position[s->op.cell[i]] == PLI_NONE;
    pli_octree_find_near(&s->op, s->mark);
    settle_energy(s, body, before, x, v);
}
