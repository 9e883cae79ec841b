/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Compaction: a cut in dof numbers becomes small arrays in compact numbers, ordered for the integrator.
#include <math.h>
#include <string.h>

#include "base/assert.h"
#include "base/vec.h"
#include "body/cut_check.h"
#include "body/forms.h"
#include "solver/newton.h"

// counts every block so that stats.bytes is true
static void *take(PliBody *b, size_t count, size_t size)
{
    void *block = pli_alloc(&b->host, count, size);
    if (block) b->bytes += count * size;
    return block;
}
#define TAKE(body, count, type) ((type *)take((body), (count), sizeof(type)))

static void forget(PliBody *b, void *block, size_t count, size_t size)
{
    if (block) b->bytes -= count * size;
    pli_free(&b->host, block, count, size);
}
#define FORGET(body, block, count) (forget((body), (block), (count), sizeof *(block)), (block) = NULL)

static bool solves(const PliBody *b) { return b->def.integrator != PLI_SYMPLECTIC; }
static bool has_newton(const PliBody *b) { return solves(b) && b->def.newton > 1; }

/// What is as long as the active set.
static void free_points(PliBody *b)
{
    PliLive *l = &b->live;
    const size_t active = l->room, points = active + b->statics.slave_capacity;
    FORGET(b, l->dof, points);
    FORGET(b, l->mass, active);
    FORGET(b, l->inv_mass, active);
    FORGET(b, l->load, active);
    FORGET(b, l->fixed, active);
    FORGET(b, l->mass_first, active + 1);
    FORGET(b, l->x, 3 * points);
    FORGET(b, l->v, 3 * points);
    FORGET(b, l->f, 3 * points);
    FORGET(b, l->f_ext, 3 * points);
    FORGET(b, l->x_saved, 3 * active);
    FORGET(b, l->v_saved, 3 * active);
    FORGET(b, l->x_tangent, 3 * points);
    FORGET(b, b->kept_f, 3 * points);
    FORGET(b, b->work, pli_implicit_workspace((PliIndex)points));
    FORGET(b, b->newton_work, pli_newton_workspace((PliIndex)points));
    l->room = 0;
}

/// What there was is lost when it grows.
static PliStatus reserve_points(PliBody *b, PliIndex count)
{
    PliLive *l = &b->live;
    if (count <= l->room && l->dof) return PLI_OK;
    const PliIndex most = b->statics.active_capacity, wanted = count + count / 4;
    free_points(b);
    l->room = wanted < most ? wanted : most;
    const size_t active = l->room, points = active + b->statics.slave_capacity;
    l->dof = TAKE(b, points, PliIndex);
    l->mass = TAKE(b, active, double);
    l->inv_mass = TAKE(b, active, double);
    l->load = TAKE(b, active, double);
    l->fixed = TAKE(b, active, uint8_t);
    l->mass_first = TAKE(b, active + 1, PliIndex);
    l->x = TAKE(b, 3 * points, double);
    l->v = TAKE(b, 3 * points, double);
    l->f = TAKE(b, 3 * points, double);
    l->f_ext = TAKE(b, 3 * points, double);
    l->x_saved = TAKE(b, 3 * active, double);
    l->v_saved = TAKE(b, 3 * active, double);
    l->x_tangent = TAKE(b, 3 * points, double);
    b->kept_f = TAKE(b, 3 * points, double);
    if (solves(b)) b->work = TAKE(b, pli_implicit_workspace((PliIndex)points), double);
    if (has_newton(b)) b->newton_work = TAKE(b, pli_newton_workspace((PliIndex)points), double);
    b->system.newton = b->newton_work;
    const void *all[] = { l->dof, l->mass, l->inv_mass, l->load,    l->fixed,   l->mass_first, l->x,
                          l->v,   l->f,    l->f_ext,    l->x_saved, l->v_saved, l->x_tangent,  b->kept_f };
    bool good = (b->work || !solves(b)) && (b->newton_work || !has_newton(b));
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i) good = good && all[i];
    if (!good) free_points(b);
    return good ? PLI_OK : PLI_OUT_OF_MEMORY;
}

PliStatus pli_live_create(PliBody *b)
{
    const PliSchemeStatic *st = &b->statics;
    PliLive *l = &b->live;
    const size_t active = st->active_capacity, slaves = st->slave_capacity;
    b->point_capacity = (PliIndex)(active + slaves);
    l->position = TAKE(b, st->dof_count, PliIndex);
    l->slave_first = TAKE(b, slaves + 1, PliIndex);
    l->slave_column = TAKE(b, st->slave_entry_capacity, PliIndex);
    l->slave_weight = TAKE(b, st->slave_entry_capacity, double);
    l->held = TAKE(b, slaves, PliIndex);
    l->held_x = TAKE(b, 3 * slaves, double);
    l->held_v = TAKE(b, 3 * slaves, double);
    l->mass_column = TAKE(b, st->mass_entry_capacity, PliIndex);
    l->mass_value = TAKE(b, st->mass_entry_capacity, double);
    b->is_fixed = TAKE(b, st->dof_count, uint8_t);
    b->fixed_dof = TAKE(b, st->dof_count, PliIndex);
    b->astray = TAKE(b, 3 * (size_t)st->dof_count, double);
    b->fixed_x = TAKE(b, 3 * (size_t)st->dof_count, double);
    b->fixed_v = TAKE(b, 3 * (size_t)st->dof_count, double);
    b->held = TAKE(b, 3 * (size_t)st->dof_count, double);
    b->full_x = TAKE(b, 3 * (size_t)st->dof_count, double);
    b->full_v = TAKE(b, 3 * (size_t)st->dof_count, double);
    b->full_f = TAKE(b, 3 * (size_t)st->dof_count, double);
    b->external_f = TAKE(b, 3 * (size_t)st->dof_count, double);
    b->points_at = TAKE(b, 6 * (size_t)st->dof_count, double);
    b->contact_x = TAKE(b, 3 * (size_t)st->dof_count, double);
    b->contact_look = TAKE(b, st->dof_count, uint64_t);
    const bool choice = b->def.integrator == PLI_INTEGRATE_AUTO;
    if (choice) b->choice.change = TAKE(b, 3 * active, double);
    const void *all[] = { l->position,   l->slave_first, l->slave_column, l->slave_weight, l->held,      l->held_x,
                          l->held_v,     l->mass_column, l->mass_value,   b->is_fixed,     b->fixed_dof, b->astray,
                          b->fixed_x,    b->fixed_v,     b->held,         b->full_x,       b->full_v,    b->full_f,
                          b->external_f, b->points_at,   b->contact_x,    b->contact_look };
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
        if (!all[i]) return PLI_OUT_OF_MEMORY;
    if (choice && !b->choice.change) return PLI_OUT_OF_MEMORY;
    memset(l->position, 0xff, st->dof_count * sizeof *l->position);
    return reserve_points(b, st->active_grows ? 0 : st->active_capacity);
}

void pli_live_destroy(PliBody *b)
{
    const PliSchemeStatic *st = &b->statics;
    PliLive *l = &b->live;
    const PliHost *h = &b->host;
    const size_t active = st->active_capacity, slaves = st->slave_capacity;
    free_points(b);
    PLI_FREE(h, l->position, st->dof_count);
    PLI_FREE(h, l->slave_first, slaves + 1);
    PLI_FREE(h, l->slave_column, st->slave_entry_capacity);
    PLI_FREE(h, l->slave_weight, st->slave_entry_capacity);
    PLI_FREE(h, l->held, slaves);
    PLI_FREE(h, l->held_x, 3 * slaves);
    PLI_FREE(h, l->held_v, 3 * slaves);
    PLI_FREE(h, l->mass_column, st->mass_entry_capacity);
    PLI_FREE(h, l->mass_value, st->mass_entry_capacity);
    PLI_FREE(h, b->is_fixed, st->dof_count);
    PLI_FREE(h, b->fixed_dof, st->dof_count);
    PLI_FREE(h, b->astray, 3 * (size_t)st->dof_count);
    PLI_FREE(h, b->fixed_x, 3 * (size_t)st->dof_count);
    PLI_FREE(h, b->fixed_v, 3 * (size_t)st->dof_count);
    PLI_FREE(h, b->held, 3 * (size_t)st->dof_count);
    PLI_FREE(h, b->full_x, 3 * (size_t)st->dof_count);
    PLI_FREE(h, b->full_v, 3 * (size_t)st->dof_count);
    PLI_FREE(h, b->full_f, 3 * (size_t)st->dof_count);
    PLI_FREE(h, b->external_f, 3 * (size_t)st->dof_count);
    PLI_FREE(h, b->points_at, 6 * (size_t)st->dof_count);
    PLI_FREE(h, b->contact_x, 3 * (size_t)st->dof_count);
    PLI_FREE(h, b->contact_look, st->dof_count);
    PLI_FREE(h, b->choice.change, 3 * active);
}

static void copy_mass(PliBody *b, const PliCut *cut)
{
    PliLive *l = &b->live;
    for (PliIndex i = 0; i < cut->active_count; ++i) {
        l->mass[i] = cut->mass[i];
        l->load[i] = cut->load ? cut->load[i] : cut->mass[i];
        l->fixed[i] = b->is_fixed[cut->active[i]] || (cut->driven && cut->driven[i]);
        l->inv_mass[i] = l->fixed[i] ? 0.0 : 1.0 / cut->mass[i];
    }
    b->system.impulse = cut->driven ? cut->driven_impulse : NULL;
    if (!cut->mass_first || b->statics.mass_entry_capacity == 0) return;
    const PliIndex entries = cut->mass_first[cut->active_count];
    memcpy(l->mass_first, cut->mass_first, ((size_t)cut->active_count + 1) * sizeof *l->mass_first);
    memcpy(l->mass_column, cut->mass_column, entries * sizeof *l->mass_column);
    memcpy(l->mass_value, cut->mass_value, entries * sizeof *l->mass_value);
}

// A fixed slave stays where the host has it: it follows nothing, and what pulls at it pulls at the clamp.
static void copy_slaves(PliBody *b, const PliCut *cut)
{
    PliLive *l = &b->live;
    PliIndex used = 0;
    l->held_count = 0;
    for (PliIndex i = 0; i < cut->slave_count; ++i) {
        l->slave_first[i] = used;
        if (b->is_fixed[cut->slave[i]]) {
            l->held[l->held_count++] = i;
            continue;
        }
        for (PliIndex k = cut->slave_first[i]; k < cut->slave_first[i + 1]; ++k) {
            l->slave_column[used] = l->position[cut->slave_column[k]];
            l->slave_weight[used++] = cut->slave_weight[k];
        }
    }
    l->slave_first[cut->slave_count] = used;
}

PliLiveView pli_body_live(const PliBody *b)
{
    if (b->forms) return pli_body_live(b->forms->acting);
    const PliSystem *s = &b->system;
    const PliLive *l = &b->live;
    return (PliLiveView){
        .active_count = s->active_count,
        .slave_count = s->slave_count,
        .dof = l->dof,
        .position = l->position,
        .slaves = s->slaves,
        .mass = l->mass,
        .load = l->load,
        .fixed = l->fixed,
        .x = l->x,
        .v = l->v,
        .f = l->f,
    };
}

static void recut_forces(PliBody *b, const PliCut *cut)
{
    PliSystem *s = &b->system;
    const PliForceOps *force = s->force;
    const PliLiveView live = pli_body_live(b);
    b->live.tangent_stale = false;
    b->live.refused = force->recut(s->force_self, cut, &live);
    b->live.critical_step = force->critical_step ? force->critical_step(s->force_self) : INFINITY;
    s->rate_count = force->rate_count ? force->rate_count(s->force_self) : 1;
    b->stats.elements = force->element_count ? force->element_count(s->force_self) : 0;
}

/// In builds with PLI_ASSERT: the scheme is in order, and the cut is what the body may rely on.
static void check_cut(const PliBody *b, const PliCut *cut)
{
#ifndef NDEBUG
    PliError err = { PLI_OK, "" };
    PLI_ASSERT(!b->ops->is_valid || b->ops->is_valid(b->self, &err), "after a change of the cut: %s", err.text);
    PLI_ASSERT(pli_cut_is_valid(cut, &b->statics, &err), "the scheme made a bad cut: %s", err.text);
#else
    (void)b, (void)cut;
#endif
}

void pli_body_recut(PliBody *b)
{
    PliLive *l = &b->live;
    PliSystem *s = &b->system;
    // forget the old numbers
    for (PliIndex i = 0; i < s->active_count + s->slave_count; ++i) l->position[l->dof[i]] = PLI_NONE;
    PliCut cut = { 0 };
    b->ops->cut(b->self, &cut);
    check_cut(b, &cut);
    if (reserve_points(b, cut.active_count) != PLI_OK) { // nothing moves until a cut fits
        s->active_count = s->slave_count = l->held_count = s->held_count = 0;
        l->refused = PLI_OUT_OF_MEMORY;
        b->revision++;
        return;
    }
    for (PliIndex i = 0; i < cut.active_count; ++i) l->dof[i] = cut.active[i], l->position[cut.active[i]] = i;
    for (PliIndex i = 0; i < cut.slave_count; ++i)
        l->dof[cut.active_count + i] = cut.slave[i], l->position[cut.slave[i]] = cut.active_count + i;
    copy_slaves(b, &cut);
    copy_mass(b, &cut);
    s->active_count = cut.active_count;
    s->slave_count = cut.slave_count;
    s->held = l->held, s->held_count = l->held_count, s->held_x = l->held_x, s->held_v = l->held_v;
    s->slaves = (PliRows){ l->slave_first, l->slave_column, l->slave_weight, cut.slave_count, cut.active_count };
    s->one_way = cut.one_way;
    s->mass = l->mass, s->inv_mass = l->inv_mass, s->load = l->load, s->fixed = l->fixed;
    const bool copied = b->statics.mass_entry_capacity > 0;
    s->mass_first = cut.mass_first && copied ? l->mass_first : cut.mass_first;
    s->mass_column = copied ? l->mass_column : cut.mass_column, s->mass_value = copied ? l->mass_value : cut.mass_value;
    s->x = l->x, s->v = l->v, s->f = l->f, s->work = b->work;
    s->force_ready = b->force_kept = b->foreseen = false; // what was evaluated belongs to the old numbers
    if (b->skin && b->ops->only_level) pli_skin_hang(b->skin, b->ops->only_level(b->self));
    recut_forces(b, &cut);
    b->revision++;
    b->strained = 0.0;
    b->stats.active = cut.active_count;
    b->stats.slaves = cut.slave_count;
    memset(b->stats.per_level, 0, sizeof b->stats.per_level);
    for (PliIndex i = 0; i < cut.active_count; ++i) b->stats.per_level[b->statics.dof_level[cut.active[i]] & 7]++;
    pli_body_choose_touch(b);
}

/// @return whether it is another value
static bool renew(double to[3], const double from[3])
{
    const bool other = memcmp(to, from, 3 * sizeof *to) != 0;
    memcpy(to, from, 3 * sizeof *to);
    return other;
}

/// Of its size, that points of a body may be moved between steps before it is looked at how long substeps may be now: what is on its way
/// home (pli_body_homing) goes on in small steps.
static const double FAR = 1e-3;

/// The same for places. @return whether it is another value; far: set where it went
static bool renew_place(double to[3], const double from[3], double limit, bool *far)
{
    const double way = v3_distance(to, from);
    *far |= !(way <= limit);
    return renew(to, from);
}

enum { FORESEEN_WAIT = 4 };

void pli_live_gather(PliBody *b, const double *x, const double *v)
{
    PliLive *l = &b->live;
    const double limit = FAR * b->size;
    bool moved = false, far = false;
    for (PliIndex i = 0; i < b->system.active_count; ++i) {
        moved |= renew_place(l->x + 3 * (size_t)i, x + 3 * (size_t)l->dof[i], limit, &far);
        if (v) moved |= renew(l->v + 3 * (size_t)i, v + 3 * (size_t)l->dof[i]);
    }
    for (PliIndex k = 0; k < l->held_count; ++k) {
        const size_t dof = l->dof[b->system.active_count + l->held[k]];
        moved |= renew_place(l->held_x + 3 * (size_t)k, x + 3 * dof, limit, &far);
        if (v) moved |= renew(l->held_v + 3 * (size_t)k, v + 3 * dof);
    }
    if (far) b->strained = 0.0;
    if (b->foreseen && !moved) return; // slaves are where the last step left them
    if (b->foreseen) b->foreseen_wait = FORESEEN_WAIT;
    b->foreseen = false;
    pli_system_spread(&b->system, l->x);
    if (v) pli_system_spread(&b->system, l->v);
}

void pli_live_scatter(const PliBody *b, double *x, double *v)
{
    const PliLive *l = &b->live;
    for (PliIndex i = 0; i < b->system.active_count + b->system.slave_count; ++i) {
        memcpy(x + 3 * (size_t)l->dof[i], l->x + 3 * (size_t)i, 3 * sizeof(double));
        memcpy(v + 3 * (size_t)l->dof[i], l->v + 3 * (size_t)i, 3 * sizeof(double));
    }
}

void pli_live_scatter_free(const PliBody *b, double *x, double *v)
{
    const PliLive *l = &b->live;
    for (PliIndex i = 0; i < b->system.active_count + b->system.slave_count; ++i) {
        if (i >= b->system.active_count && b->is_fixed[l->dof[i]]) continue;
        v3_copy(x + 3 * (size_t)l->dof[i], l->x + 3 * (size_t)i);
        v3_copy(v + 3 * (size_t)l->dof[i], l->v + 3 * (size_t)i);
    }
}

void pli_live_tangent(const PliBody *b)
{
    PliLive *l = &((PliBody *)b)->live;
    if (l->tangent_stale) {
        b->system.force->linearize(b->system.force_self, l->x_tangent, l->definite);
        ((PliBody *)b)->implicit.tangent.is_known = false; // that of the last step is gone
    }
    l->tangent_stale = false;
}
