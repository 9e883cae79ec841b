/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Points of the body that are where the host wants them at the end of every step. Rows come from the finest level and go through W,
// so that they hold on any cut; what the cut is too coarse for is left and told. Places are linear in coefficients: asking
// for C (v + dv) = (target - C x) / h takes back any drift within the step.
#include "body/constraints.h"

#include <string.h>

#include "base/vec.h"
#include "body/body.h"

struct PliHeld {
    PliHost host;
    PliIndex count, row_count;
    PliConstraint *def;
    PliIndex *first, *dof; ///< of points, over coefficients of the finest level
    double *weight;
    size_t entries;
    double *target;     ///< m, Vec3 each
    double *from, *to;  ///< of targets that are led; they have been for `clock` of `span` seconds
    double clock, span; ///< span 0: they are not
    // rows over all coefficients that are free: which depend on others, and how
    PliIndex *row_point, *order, rank;
    double *direction, *factor, *scale;
    PliConstraints *set;
    double *force; ///< N, Vec3 per point, of the last step
    double unmet;  ///< m
    PliIndex unmet_point;
};

void pli_body_constraints_free(PliBody *b)
{
    PliHeld *h = b->held_points;
    if (!h) return;
    const PliHost host = h->host;
    PLI_FREE(&host, h->def, h->count);
    PLI_FREE(&host, h->first, (size_t)h->count + 1);
    PLI_FREE(&host, h->dof, h->entries);
    PLI_FREE(&host, h->weight, h->entries);
    PLI_FREE(&host, h->target, 3 * (size_t)h->count);
    PLI_FREE(&host, h->from, 3 * (size_t)h->count);
    PLI_FREE(&host, h->to, 3 * (size_t)h->count);
    PLI_FREE(&host, h->row_point, h->row_count);
    PLI_FREE(&host, h->order, h->row_count);
    PLI_FREE(&host, h->direction, 3 * (size_t)h->row_count);
    PLI_FREE(&host, h->factor, (size_t)h->row_count * h->row_count);
    PLI_FREE(&host, h->scale, h->row_count);
    PLI_FREE(&host, h->force, 3 * (size_t)h->count);
    pli_constraints_destroy(h->set);
    PLI_FREE(&host, h, 1);
    b->held_points = NULL;
    b->system.constraints = NULL;
}

static bool holds_all(const PliConstraint *c)
{
    return c->direction[0] == 0.0 && c->direction[1] == 0.0 && c->direction[2] == 0.0;
}

/// Beyond the box around the surface, which bases may reach out of.
static bool is_outside(const PliBody *b, const double p[3])
{
    const PliSchemeStatic *st = &b->statics;
    for (size_t d = 0; d < 3 && st->surface_point_count; ++d) {
        double low = INFINITY, high = -INFINITY;
        for (size_t i = 0; i < st->surface_point_count; ++i)
            low = fmin(low, st->surface_points[3 * i + d]), high = fmax(high, st->surface_points[3 * i + d]);
        if (p[d] < low - 1e-3 * b->size || p[d] > high + 1e-3 * b->size) return true;
    }
    return false;
}

static PliStatus locate_points(PliBody *b, PliHeld *h, PliError *err)
{
    PliIndex column[PLI_LOCATE_MAX];
    double weight[PLI_LOCATE_MAX];
    for (int pass = 0; pass < 2; ++pass) { // how many entries, then the entries
        PliIndex at = 0;
        for (PliIndex p = 0; p < h->count; ++p) {
            const double *point = h->def[p].point;
            const PliIndex n = pli_body_locate(b, point, column, weight, PLI_LOCATE_MAX);
            double place[3] = { 0.0, 0.0, 0.0 };
            for (PliIndex k = 0; k < n; ++k) v3_madd(place, weight[k], b->statics.rest + 3 * (size_t)column[k]);
            if (!(v3_distance(place, point) <= 1e-3 * b->size) || is_outside(b, point))
                return pli_refuse(err, PLI_BAD_ARGUMENT, "constraint %u: the point %g %g %g is outside the body", p,
                                  point[0], point[1], point[2]);
            if (pass) {
                memcpy(h->dof + at, column, n * sizeof *column);
                memcpy(h->weight + at, weight, n * sizeof *weight);
                v3_copy(h->target + 3 * (size_t)p, place);
            }
            at += n;
            h->first[p + 1] = at;
        }
        if (pass) break;
        h->entries = at;
        h->dof = PLI_NEW(&h->host, at, PliIndex);
        h->weight = PLI_NEW(&h->host, at, double);
        if (!h->dof || !h->weight) return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for constraints");
    }
    return PLI_OK;
}

static void list_rows(PliHeld *h)
{
    PliIndex r = 0;
    for (PliIndex p = 0; p < h->count; ++p) {
        const bool all = holds_all(&h->def[p]);
        for (int d = 0; d < (all ? 3 : 1); ++d, ++r) {
            double *n = h->direction + 3 * (size_t)r;
            h->row_point[r] = p;
            memset(n, 0, 3 * sizeof *n);
            if (all)
                n[d] = 1.0;
            else
                v3_copy(n, h->def[p].direction), v3_scale(n, 1.0 / v3_norm(n));
        }
    }
}

/// Which rows depend on others, whatever is active: fixed coefficients answer to nobody.
static void find_dependent(PliBody *b, PliHeld *h)
{
    const size_t n = h->row_count;
    double *dense = b->full_f;
    memset(dense, 0, b->statics.dof_count * sizeof *dense);
    for (size_t i = 0; i < n; ++i) {
        const PliIndex p = h->row_point[i];
        for (PliIndex k = h->first[p]; k < h->first[p + 1]; ++k)
            if (!b->is_fixed[h->dof[k]]) dense[h->dof[k]] = h->weight[k];
        for (size_t j = 0; j <= i; ++j) {
            const PliIndex q = h->row_point[j];
            double sum = 0.0;
            for (PliIndex k = h->first[q]; k < h->first[q + 1]; ++k) sum += dense[h->dof[k]] * h->weight[k];
            h->factor[i * n + j] = sum * v3_dot(h->direction + 3 * i, h->direction + 3 * j);
        }
        for (PliIndex k = h->first[p]; k < h->first[p + 1]; ++k) dense[h->dof[k]] = 0.0;
    }
    for (size_t i = 0; i < n; ++i) {
        const double s = h->factor[i * n + i];
        h->scale[i] = s > 0.0 ? 1.0 / sqrt(s) : 0.0;
    }
    for (size_t i = 0; i < n; ++i)
        for (size_t j = 0; j <= i; ++j) h->factor[j * n + i] = h->factor[i * n + j] *= h->scale[i] * h->scale[j];
    h->rank = pli_pivoted_cholesky(h->factor, h->row_count, h->order);
}

PliStatus pli_body_constrain(PliBody *b, const PliConstraint *constraints, PliIndex count, PliError *err)
{
    if (count && b->forms)
        return pli_refuse(err, PLI_UNSUPPORTED,
                          "held points and an accuracy exclude each other: what the body falls back on makes explicit "
                          "steps");
    if (b->forms) return PLI_OK;
    if (count && b->def.integrator == PLI_SYMPLECTIC)
        return pli_refuse(err, PLI_UNSUPPORTED, "constraints need integrator=\"implicit\" or \"auto\"");
    for (PliIndex p = 0; p < count; ++p)
        for (int d = 0; d < 3; ++d)
            if (!isfinite(constraints[p].point[d]) || !isfinite(constraints[p].direction[d]))
                return pli_refuse(err, PLI_BAD_ARGUMENT, "constraint %u is not a number", p);
    if (count == 0) {
        pli_body_constraints_free(b);
        return PLI_OK;
    }
    PliHeld *h = PLI_NEW(&b->host, 1, PliHeld), *old = b->held_points;
    if (!h) return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for %u constraints", count);
    b->held_points = h;
    h->host = b->host;
    h->count = count;
    for (PliIndex p = 0; p < count; ++p) h->row_count += holds_all(&constraints[p]) ? 3 : 1;
    const size_t rows = h->row_count;
    h->def = PLI_NEW(&b->host, count, PliConstraint);
    h->first = PLI_NEW(&b->host, (size_t)count + 1, PliIndex);
    h->target = PLI_NEW(&b->host, 3 * (size_t)count, double);
    h->from = PLI_NEW(&b->host, 3 * (size_t)count, double);
    h->to = PLI_NEW(&b->host, 3 * (size_t)count, double);
    h->force = PLI_NEW(&b->host, 3 * (size_t)count, double);
    h->row_point = PLI_NEW(&b->host, rows, PliIndex);
    h->order = PLI_NEW(&b->host, rows, PliIndex);
    h->direction = PLI_NEW(&b->host, 3 * rows, double);
    h->factor = PLI_NEW(&b->host, rows * rows, double);
    h->scale = PLI_NEW(&b->host, rows, double);
    const size_t entries = (size_t)count * b->statics.active_capacity;
    h->set = pli_constraints_create(&b->host, count, h->row_count,
                                    entries < (size_t)count * 4096 ? entries : (size_t)count * 4096,
                                    b->statics.active_capacity, b->def.linear_solver == PLI_SOLVE_MINRES);
    PliStatus status = h->def && h->first && h->target && h->from && h->to && h->force && h->row_point && h->order &&
                               h->direction && h->factor && h->scale && h->set && pli_body_has_transfer(b)
                           ? PLI_OK
                           : pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for %u constraints", count);
    if (status == PLI_OK) {
        memcpy(h->def, constraints, count * sizeof *constraints);
        status = locate_points(b, h, err);
    }
    if (status != PLI_OK) {
        pli_body_constraints_free(b);
        b->held_points = old;
        return status;
    }
    list_rows(h);
    find_dependent(b, h);
    b->held_points = old;
    pli_body_constraints_free(b);
    b->held_points = h;
    return PLI_OK;
}

/// m, along a row
static double asked(const PliHeld *h, const double *target, PliIndex row)
{
    return v3_dot(h->direction + 3 * (size_t)row, target + 3 * (size_t)h->row_point[row]);
}

/// A row behind the rank, as a combination of those before it: coefficients to `mix`.
static void find_mix(const PliHeld *h, PliIndex k, double *mix)
{
    const size_t n = h->row_count;
    for (PliIndex i = h->rank; i-- > 0;) {
        mix[i] = h->factor[k * n + i];
        for (PliIndex j = i + 1; j < h->rank; ++j) mix[i] -= h->factor[j * n + i] * mix[j];
        mix[i] /= h->factor[i * n + i];
    }
}

static PliStatus check_targets(PliBody *b, const double *target, PliError *err)
{
    PliHeld *h = b->held_points;
    if (!h) return pli_refuse(err, PLI_BAD_ARGUMENT, "the body has no constraints to move");
    for (PliIndex k = 0; k < 3 * h->count; ++k)
        if (!isfinite(target[k]))
            return pli_refuse(err, PLI_BAD_ARGUMENT, "the target of constraint %u is not a number", k / 3);
    double *mix = h->set->row_work;
    for (PliIndex k = h->rank; k < h->row_count; ++k) {
        const PliIndex row = h->order[k];
        double want = asked(h, target, row) - asked(h, h->target, row), most = 0.0;
        PliIndex other = PLI_NONE;
        if (h->scale[row] > 0.0) find_mix(h, k, mix);
        for (PliIndex i = 0; i < h->rank && h->scale[row] > 0.0; ++i) {
            const PliIndex by = h->order[i];
            const double share = mix[i] * h->scale[by] / h->scale[row];
            want -= share * (asked(h, target, by) - asked(h, h->target, by));
            if (fabs(share) > most) most = fabs(share), other = h->row_point[by];
        }
        if (fabs(want) <= 1e-7 * b->size) continue;
        const PliIndex p = h->row_point[row];
        const double *at = h->def[p].point;
        if (other == PLI_NONE)
            return pli_refuse(err, PLI_BAD_ARGUMENT,
                              "constraint %u (at %g %g %g) cannot move: it hangs on fixed coefficients only", p, at[0],
                              at[1], at[2]);
        return pli_refuse(err, PLI_BAD_ARGUMENT,
                          "constraint %u (at %g %g %g) contradicts constraint %u and others: it follows from them, "
                          "and its target is %.3g m away from where they put it",
                          p, at[0], at[1], at[2], other, fabs(want));
    }
    return PLI_OK;
}

PliStatus pli_body_move_constraints(PliBody *b, const double *target, PliError *err)
{
    const PliStatus status = check_targets(b, target, err);
    if (status != PLI_OK) return status;
    PliHeld *h = b->held_points;
    memcpy(h->target, target, 3 * (size_t)h->count * sizeof *target);
    h->span = 0.0;
    return PLI_OK;
}

PliStatus pli_body_lead_constraints(PliBody *b, const double *target, double seconds, PliError *err)
{
    if (!(seconds > 0.0) || !isfinite(seconds))
        return pli_refuse(err, PLI_BAD_ARGUMENT, "held points are led in %g s; it must be more than 0", seconds);
    const PliStatus status = check_targets(b, target, err);
    if (status != PLI_OK) return status;
    PliHeld *h = b->held_points;
    memcpy(h->from, h->target, 3 * (size_t)h->count * sizeof *target);
    memcpy(h->to, target, 3 * (size_t)h->count * sizeof *target);
    h->clock = 0.0, h->span = seconds;
    return PLI_OK;
}

/// Where they are at the end of the step to come. Combinations of targets that agree agree, too.
static void lead(PliHeld *h, double dt)
{
    if (h->span == 0.0) return;
    const double t = fmin(1.0, (h->clock + dt) / h->span), s = t * t * (3.0 - 2.0 * t);
    for (size_t k = 0; k < 3 * (size_t)h->count; ++k) h->target[k] = h->from[k] + s * (h->to[k] - h->from[k]);
}

PliIndex pli_body_constraint_rank(const PliBody *b, PliIndex *rows)
{
    const PliHeld *h = b->held_points;
    if (rows) *rows = h ? h->row_count : 0;
    return h ? h->rank : 0;
}

double pli_body_constraint_forces(const PliBody *b, double *force, PliIndex *worst)
{
    const PliHeld *h = b->held_points;
    if (worst) *worst = h ? h->unmet_point : PLI_NONE;
    if (h && force) memcpy(force, h->force, 3 * (size_t)h->count * sizeof *force);
    return h ? h->unmet : 0.0;
}

// ---- in a step -------------------------------------------------------------------------------------------------------------

/// Adds a coefficient to the row of the point being made.
static bool add_entry(PliConstraints *c, PliIndex point, PliIndex column, double weight)
{
    for (PliIndex k = c->first[point]; k < c->first[point + 1]; ++k)
        if (c->column[k] == column) return c->weight[k] += weight, true;
    const PliIndex at = c->first[point + 1];
    if (at == c->entry_capacity) return false;
    c->column[at] = column, c->weight[at] = weight;
    c->first[point + 1]++;
    return true;
}

static bool make_row(const PliBody *b, PliHeld *h, PliIndex p, const PliState *s, double dt, double left[3])
{
    const PliRows w = b->ops->transfer(b->self);
    const PliSystem *sys = &b->system;
    PliConstraints *c = h->set;
    bool good = true;
    v3_copy(left, h->target + 3 * (size_t)p);
    c->first[p + 1] = c->first[p];
    for (PliIndex k = h->first[p]; k < h->first[p + 1]; ++k) {
        const PliIndex dof = h->dof[k];
        const double weight = h->weight[k];
        if (b->is_fixed[dof] && b->live.position[dof] >= sys->active_count) { // the host has it
            v3_madd(left, -weight, s->x + 3 * (size_t)dof);
            continue;
        }
        for (PliIndex e = w.first[dof]; e < w.first[dof + 1]; ++e) {
            const PliIndex at = b->live.position[w.column[e]];
            const double share = weight * w.weight[e];
            v3_madd(left, -share, b->live.x + 3 * (size_t)at);
            v3_madd(left, -share * dt, b->live.v + 3 * (size_t)at); // fixed ones move by their velocity
            if (!sys->fixed[at]) good = add_entry(c, p, at, share) && good;
        }
    }
    return good;
}

void pli_body_constraints_begin(PliBody *b, const PliState *s, double dt)
{
    PliHeld *h = b->held_points;
    b->system.constraints = NULL;
    if (!h) return;
    lead(h, dt);
    PliConstraints *c = h->set;
    c->first[0] = 0;
    c->point_count = h->count, c->row_count = h->row_count;
    memcpy(c->row_point, h->row_point, h->row_count * sizeof *c->row_point);
    memcpy(c->direction, h->direction, 3 * (size_t)h->row_count * sizeof *c->direction);
    PliIndex r = 0;
    for (PliIndex p = 0; p < h->count; ++p) {
        double left[3];
        (void)make_row(b, h, p, s, dt, left); // room for 4096 coefficients a point
        for (; r < h->row_count && h->row_point[r] == p; ++r)
            c->goal[r] = v3_dot(left, h->direction + 3 * (size_t)r) / dt;
    }
    b->system.constraints = c;
}

void pli_body_constraints_end(PliBody *b, double dt, bool done)
{
    PliHeld *h = b->held_points;
    if (!h || !done) return;
    h->clock += dt;
    const PliConstraints *c = h->set;
    memset(h->force, 0, 3 * (size_t)h->count * sizeof *h->force);
    for (PliIndex r = 0; r < h->row_count; ++r)
        v3_madd(h->force + 3 * (size_t)h->row_point[r], c->multiplier[r] / dt, h->direction + 3 * (size_t)r);
    h->unmet = dt * c->unmet;
    h->unmet_point = c->unmet_row == PLI_NONE ? PLI_NONE : h->row_point[c->unmet_row];
}

void pli_body_constraints_judge(const PliBody *b, double *f)
{
    const PliHeld *h = b->held_points;
    for (PliIndex p = 0; h && p < h->count; ++p)
        for (PliIndex k = h->first[p]; k < h->first[p + 1]; ++k)
            v3_madd(f + 3 * (size_t)h->dof[k], h->weight[k], h->force + 3 * (size_t)p);
}

void pli_body_constraints_reset(PliBody *b)
{
    PliHeld *h = b->held_points;
    if (!h) return;
    memset(h->force, 0, 3 * (size_t)h->count * sizeof *h->force);
    h->unmet = 0.0, h->unmet_point = PLI_NONE;
    h->clock = 0.0;
    if (h->span > 0.0) memcpy(h->target, h->from, 3 * (size_t)h->count * sizeof *h->target);
}

void pli_body_constraints_refix(PliBody *b)
{
    if (b->held_points) find_dependent(b, b->held_points);
}
