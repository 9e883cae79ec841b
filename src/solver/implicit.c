/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Linearised implicit stages on the active points, of length h and reach g (PliStage; implicit Euler: g = h):
//   [(1 + g a) M - g (g + b) K] dv = h [ f(x, v) - a M v + (g + b_r) K v ],   x += h v + g dv
// a: mass damping, b_r: Rayleigh stiffness, b = b_r + material damping (already inside f, so only in the matrix).
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/timer.h"
#include "solver/assembled.h"
#include "solver/methods.h"
#include "solver/newton.h"

// ---- memory lent to a step: six fields over all points, then the iteration's own ------------------------------------------

typedef struct Scratch {
    double *before;          ///< internal forces when the step began, from its first stage to the next
    double *full, *reaction; ///< of pli_step_matrix_apply
    double *free;            ///< right-hand side without tools
    double *b, *dv, *rest;
} Scratch;

size_t pli_implicit_workspace(PliIndex point_capacity)
{
    const size_t n = 3 * (size_t)point_capacity;
    const size_t cg = pli_assembled_cg_workspace(point_capacity), minres = pli_minres_workspace((PliIndex)n);
    return 6 * n + (cg > minres ? cg : minres);
}

static Scratch scratch_of(const PliSystem *s)
{
    const size_t all = 3 * ((size_t)s->active_count + s->slave_count);
    double *w = s->work;
    return (Scratch){ w, w + all, w + 2 * all, w + 3 * all, w + 4 * all, w + 5 * all, w + 6 * all };
}

// ---- the matrix ------------------------------------------------------------------------------------------------------------

static const double *tangent_of(const PliSystem *s) { return s->tangent ? s->tangent : s->x; }

static PliStepMatrix matrix_of(PliSystem *s)
{
    return (PliStepMatrix){
        .count = s->active_count,
        .mass_factor = s->mass_factor,
        .stiffness_factor = s->stiffness_factor,
        .x = tangent_of(s),
        .mass = s->mass,
        .mass_first = s->mass_first,
        .mass_column = s->mass_column,
        .mass_value = s->mass_value,
        .fixed = s->fixed,
        .tether_count = s->tether_count,
        .tether_first = s->tether_first,
        .tether_column = s->tether_column,
        .tether_weight = s->tether_weight,
        .tether_matrix = s->tether_matrix,
        .block = s->block,
        .dense = s->dense,
        .system = s,
    };
}

static void add_tethers(const PliStepMatrix *a, const double *p, double *y)
{
    for (PliIndex j = 0; j < a->tether_count; ++j) {
        double u[3] = { 0.0, 0.0, 0.0 }, f[3];
        const double *q = a->tether_matrix + 6 * (size_t)j;
        for (PliIndex k = a->tether_first[j]; k < a->tether_first[j + 1]; ++k)
            for (int c = 0; c < 3; ++c) u[c] += a->tether_weight[k] * p[3 * (size_t)a->tether_column[k] + (size_t)c];
        f[0] = q[0] * u[0] + q[5] * u[1] + q[4] * u[2];
        f[1] = q[5] * u[0] + q[1] * u[1] + q[3] * u[2];
        f[2] = q[4] * u[0] + q[3] * u[1] + q[2] * u[2];
        for (PliIndex k = a->tether_first[j]; k < a->tether_first[j + 1]; ++k)
            for (int c = 0; c < 3; ++c) y[3 * (size_t)a->tether_column[k] + (size_t)c] += a->tether_weight[k] * f[c];
    }
}

void pli_system_add_tethers(PliSystem *s, const double *p, double *y)
{
    const PliStepMatrix a = matrix_of(s);
    add_tethers(&a, p, y);
}

/// y = A p with all rows, those of fixed points as if they were free; p is 0 there.
static void multiply(const PliStepMatrix *a, const double *p, double *y)
{
    PliSystem *s = a->system;
    const Scratch w = scratch_of(s);
    const size_t n = 3 * (size_t)s->active_count, all = n + 3 * (size_t)s->slave_count;
    memcpy(w.full, p, n * sizeof *p);
    for (PliIndex i = 0; i < s->active_count; ++i)
        if (s->fixed[i]) memset(w.full + 3 * (size_t)i, 0, 3 * sizeof *p);
    pli_system_spread(s, w.full);
    memset(w.reaction, 0, all * sizeof *p);
    s->force->add_dforce(s->force_self, w.full, a->stiffness_factor, w.reaction);
    pli_system_gather(s, w.reaction);
    pli_system_mass(s, w.full, y);
    for (size_t i = 0; i < n; ++i) y[i] = a->mass_factor * y[i] + w.reaction[i];
    add_tethers(a, w.full, y);
}

void pli_step_matrix_apply(const PliStepMatrix *a, const double *p, double *y)
{
    const PliSystem *s = a->system;
    multiply(a, p, y);
    for (PliIndex i = 0; i < s->active_count; ++i)
        if (s->fixed[i]) memcpy(y + 3 * (size_t)i, p + 3 * (size_t)i, 3 * sizeof *p);
}

void pli_step_matrix_stiffness(const PliStepMatrix *a, PliBlockFn *fn, void *user)
{
    pli_system_stiffness_blocks(a->system, fn, user);
}

void pli_step_matrix_pattern(const PliStepMatrix *a, PliBlockFn *fn, void *user)
{
    PliSystem *s = a->system;
    s->force->linearize(s->force_self, s->x, false); // blocks exist only after that
    pli_system_stiffness_blocks(s, fn, user);
}

// ---- methods ---------------------------------------------------------------------------------------------------------------

PliStatus pli_implicit_create(PliImplicit *im, const PliHost *host, const PliSchemeStatic *statics, PliIndex limit)
{
    im->host = *host;
    im->own_count = statics->method_count;
    im->method_count = im->own_count + pli_method_kind_count;
    im->method = PLI_NEW(host, (size_t)im->method_count, PliLinearMethod);
    im->last_capacity = 3 * (size_t)statics->active_capacity;
    im->last = PLI_NEW(host, im->last_capacity, double);
    im->older = PLI_NEW(host, im->last_capacity, double);
    im->tangent.x = PLI_NEW(host, 3 * im->last_capacity, double);
    if (!im->method || !im->last || !im->older || !im->tangent.x) return PLI_OUT_OF_MEMORY;
    im->tangent.v = im->tangent.x + im->last_capacity, im->tangent.f = im->tangent.v + im->last_capacity;
    for (int i = 0; i < im->method_count; ++i) {
        PliLinearMethod *m = &im->method[i];
        if (i < im->own_count) {
            *m = statics->methods[i];
        } else {
            const PliMethodKind *kind = pli_method_kinds[i - im->own_count];
            *m = (PliLinearMethod){ &kind->ops, kind->create ? kind->create(host) : NULL };
            if (kind->create && !m->self) return PLI_OUT_OF_MEMORY;
        }
        if (!m->ops->reserve) continue;
        const PliStatus status = m->ops->reserve(m->self, statics->active_capacity, limit);
        if (status != PLI_OK) return status;
    }
    return PLI_OK;
}

void pli_implicit_destroy(PliImplicit *im)
{
    PLI_FREE(&im->host, im->last, im->last_capacity);
    PLI_FREE(&im->host, im->older, im->last_capacity);
    PLI_FREE(&im->host, im->tangent.x, 3 * im->last_capacity);
    im->last = im->older = im->tangent.x = NULL;
    if (!im->method) return;
    for (int i = im->own_count; i < im->method_count; ++i) {
        const PliMethodKind *kind = pli_method_kinds[i - im->own_count];
        if (kind->destroy && im->method[i].self) kind->destroy(im->method[i].self);
    }
    PLI_FREE(&im->host, im->method, (size_t)im->method_count);
    im->method = NULL;
}

/// What is wished for now: where contacts ask for responses step after step a factor is made anyway, and the step need not iterate.
static PliLinearSolver wish_of(const PliImplicit *im)
{
    return im->wish == PLI_SOLVE_AUTO && im->asked > 0 ? PLI_SOLVE_LDL : im->wish;
}

PliStatus pli_implicit_pattern(PliSystem *s, PliImplicit *im)
{
    const PliLinearSolver wish = im->made_for = wish_of(im);
    PliStepMatrix a = matrix_of(s);
    a.mass_factor = a.stiffness_factor = 0.0;
    im->chosen = im->direct = NULL;
    im->direct_ready = im->has_last = im->has_older = im->tangent.is_known = false;
    im->lately = 0.0;
    for (int i = 0; i < im->method_count && !im->chosen; ++i) {
        const PliLinearMethod *m = &im->method[i];
        if (wish == PLI_SOLVE_AUTO && m->ops == &pli_method_helped.ops && !im->pick.cycles) continue;
        if (m->ops->takes(m->self, &a, wish)) im->chosen = m;
    }
    const PliLinearOps *ops = im->chosen->ops; // the last one takes everything
    return ops->pattern ? ops->pattern(im->chosen->self, &a) : PLI_OK;
}

/// The method is one of two that are left to us.
static bool is_picked(const PliImplicit *im)
{
    const PliLinearOps *ops = im->chosen->ops;
    return im->wish == PLI_SOLVE_AUTO && (ops == &pli_method_helped.ops || ops == &pli_method_incomplete.ops);
}

bool pli_implicit_outgrown(PliSystem *s, PliImplicit *im)
{
    if (!im->chosen) return false;
    if (im->made_for != wish_of(im)) return true; // contacts begin to ask, or nobody asks any more
    if (is_picked(im) && pli_pick_cycles(&im->pick) != im->pick.cycles) {
        im->pick.cycles = !im->pick.cycles;
        return true;
    }
    if (!im->chosen->ops->outgrown) return false;
    const PliStepMatrix a = matrix_of(s);
    return im->chosen->ops->outgrown(im->chosen->self, &a);
}

enum { ASKED = 10 }; ///< steps without a question after which a factor is no longer made for them

/// What answers between steps: the chosen method, or where that one only preconditions a factor, made when it is first asked for.
static const PliLinearMethod *responder(PliSystem *s, PliImplicit *im)
{
    const PliStepMatrix a = matrix_of(s);
    im->asked = ASKED;
    if (!im->chosen || im->chosen->ops->responds) return im->chosen;
    for (int i = 0; i < im->method_count && !im->direct; ++i) {
        const PliLinearMethod *m = &im->method[i];
        if (!m->ops->responds || !m->ops->takes(m->self, &a, PLI_SOLVE_LDL)) continue;
        if (m->ops->pattern && m->ops->pattern(m->self, &a) != PLI_OK) return NULL;
        im->direct = m;
    }
    if (im->direct && !im->direct_ready)
        im->direct_ready = im->direct->ops->prepare(im->direct->self, &a) != PLI_PREPARED_FAILED;
    return im->direct_ready ? im->direct : NULL;
}

PliStatus pli_implicit_solve(PliSystem *s, PliImplicit *im, const double *b, double *x)
{
    const PliLinearMethod *m = responder(s, im);
    const PliStepMatrix a = matrix_of(s);
    if (!m) return PLI_UNSUPPORTED;
    m->ops->solve(m->self, &a, b, x);
    return PLI_OK;
}

PliStatus pli_implicit_condense(PliSystem *s, PliImplicit *im, const PliTouched *b, double factor, double *c)
{
    const PliLinearMethod *m = responder(s, im);
    const PliStepMatrix a = matrix_of(s);
    if (!m || !m->ops->condense) return PLI_UNSUPPORTED;
    return m->ops->condense(m->self, &a, b, factor, c) ? PLI_OK : PLI_OUT_OF_MEMORY;
}

PliStatus pli_implicit_solve_eight(PliSystem *s, PliImplicit *im, double *x, double *work)
{
    const PliLinearMethod *m = responder(s, im);
    const PliStepMatrix a = matrix_of(s);
    if (!m) return PLI_UNSUPPORTED;
    if (m->ops->solve_eight) {
        m->ops->solve_eight(m->self, &a, x, work);
        return PLI_OK;
    }
    const size_t n = 3 * (size_t)s->active_count;
    double *in = work, *out = work + n;
    for (size_t k = 0; k < 8; ++k) {
        for (size_t i = 0; i < n; ++i) in[i] = x[8 * i + k];
        m->ops->solve(m->self, &a, in, out);
        for (size_t i = 0; i < n; ++i) x[8 * i + k] = out[i];
    }
    return PLI_OK;
}

// ---- the step --------------------------------------------------------------------------------------------------------------

typedef struct Prepared {
    const PliStepMatrix *a;
    const PliLinearMethod *method;
} Prepared;

/// A p by what the method assembled; tethers, which are not part of it, move no fixed point.
static void apply_assembled(const PliLinearMethod *m, const PliStepMatrix *a, const double *p, double *y)
{
    double *full = scratch_of(a->system).full;
    m->ops->apply(m->self, a, p, y);
    if (a->tether_count == 0) return;
    for (PliIndex i = 0; i < a->count; ++i)
        for (int c = 0; c < 3; ++c) full[3 * (size_t)i + c] = a->fixed[i] ? 0.0 : p[3 * (size_t)i + c];
    add_tethers(a, full, y);
    for (PliIndex i = 0; i < a->count; ++i)
        if (a->fixed[i]) memcpy(y + 3 * (size_t)i, p + 3 * (size_t)i, 3 * sizeof *p);
}

static void apply(void *self, const double *p, double *y)
{
    const Prepared *q = self;
    if (q->method->ops->apply)
        apply_assembled(q->method, q->a, p, y);
    else
        pli_step_matrix_apply(q->a, p, y);
}

static void precondition(void *self, const double *r, double *z)
{
    const Prepared *p = self;
    p->method->ops->solve(p->method->self, p->a, r, z);
}

/// The matrix of a step and what was made of it.
typedef struct Solve {
    const PliImplicit *im;
    PliSystem *s;
    PliPrepared is;
    bool definite;  ///< the stiffness is
    bool is_stale;  ///< made with other tethers than there are now
    bool has_guess; ///< dv is a solution with other forces or tethers
    bool converged; ///< the last solve
    bool has_free;  ///< the method knows what the right-hand side without tools does
    bool is_rough;  ///< a matrix near A stands in for it
    int first;      ///< iterations of the first round of contact
} Solve;

static bool prepare(Solve *q)
{
    const PliLinearMethod *m = q->im->chosen;
    for (bool again = q->is_stale;; q->definite = true, again = false) {
        PliStepMatrix a = matrix_of(q->s);
        a.again = again;
        const double start = pli_cpu_ms();
        q->is = m->ops->prepare(m->self, &a);
        q->is_stale = false;
        const bool answers = q->is != PLI_PREPARED_INDEFINITE || q->definite;
        if (answers && q->is != PLI_PREPARED_FAILED && q->s->constraints && q->im->wish != PLI_SOLVE_MINRES) {
            Prepared prepared = { &a, m };
            pli_constraints_prepare(q->s->constraints, a.count, m->ops->solve ? precondition : NULL, &prepared);
        }
        q->s->solve.prepare_ms += pli_cpu_ms() - start;
        if (q->is != PLI_PREPARED_INDEFINITE) return q->is != PLI_PREPARED_FAILED;
        q->is = PLI_PREPARED_EXACT;
        if (q->definite) return true;
        q->s->force->linearize(q->s->force_self, tangent_of(q->s), true);
    }
}

/// NULL: it is the scheme's.
static const PliMethodKind *kind_of(const PliLinearMethod *m)
{
    for (int i = 0; i < pli_method_kind_count; ++i)
        if (m->ops == &pli_method_kinds[i]->ops) return pli_method_kinds[i];
    return NULL;
}

/// Iterations that go on from dv, or else from what the last step says, with whatever was prepared.
static PliSolveResult iterate(const Solve *q, const PliIterative *def, bool go_on, const double *b, double *dv,
                              double *scratch)
{
    const PliStepMatrix a = matrix_of(q->s);
    Prepared prepared = { &a, q->im->chosen };
    const PliLinearOp op = { apply, q->im->chosen->ops->solve ? precondition : NULL, &prepared, 3 * a.count };
    const PliMethodKind *kind = kind_of(q->im->chosen);
    PliIterative until = *def;
    PliSolveResult r;
    // relative to what right-hand sides were lately: what is left here acts in the next step. Next to nothing may wait as a whole, and
    // of anything else a tenth
    static const double NOTHING = 1e-3, MOST = 0.1;
    const double size = sqrt(pli_dot(op.count, b, b)),
                 share = def == &q->im->iterative ? fmin(1.0, size / q->im->lately) : 1.0;
    if (share < fmin(NOTHING, def->tolerance) && !go_on) {
        memset(dv, 0, op.count * sizeof *dv);
        q->s->solve.residual = share;
        return (PliSolveResult){ .residual = share, .converged = true };
    }
    if (share > 0.0) until.tolerance = fmax(def->tolerance, fmin(MOST, def->tolerance / share));
    if (q->im->chosen->ops->enough)
        until.tolerance = fmax(until.tolerance, q->im->chosen->ops->enough(prepared.method->self));
    if (q->im->wish == PLI_SOLVE_MINRES) {
        if (!go_on) memset(dv, 0, op.count * sizeof *dv);
        r = pli_minres_solve(&until, &op, b, dv, scratch);
    } else if (kind && kind->iterate) {
        const double *const guess[2] = { go_on             ? dv
                                         : q->im->has_last ? q->im->last
                                                           : NULL,
                                         go_on || !q->im->has_older ? NULL : q->im->older };
        r = kind->iterate(prepared.method->self, &a, &until, b, guess, dv, scratch);
    } else {
        r = go_on ? pli_cg_solve(&until, &op, b, dv, scratch)
                  : pli_cg_solve_near(&until, &op, b, q->im->has_last ? q->im->last : NULL, dv, scratch);
    }
    q->s->solve.residual = r.residual *= share;
    return r;
}

// A factor is exact but for tethers that changed since, or that its pattern has no room for: then it preconditions, and as few
// points changed few iterations are left.
static int solve_exactly(Solve *q, const double *b, double *dv, double *scratch)
{
    static const PliIterative refine = { 40, 1e-7 };
    const PliLinearMethod *m = q->im->chosen;
    for (;;) {
        const PliStepMatrix a = matrix_of(q->s);
        if (!q->is_stale || !q->has_guess) m->ops->solve(m->self, &a, b, dv);
        q->converged = true;
        if ((a.tether_count == 0 || m->ops->tethered) && !q->is_stale) return 1;
        const PliSolveResult r = iterate(q, &refine, true, b, dv, scratch);
        if (r.converged || !q->is_stale) return isfinite(r.residual) ? 1 + r.iterations : -1;
        if (!prepare(q)) return -1;
    }
}

// ---- under constraints ----------------------------------------------------------------------------------------------------------

/// What constraints leave of A, on what they leave of dv.
static void apply_free(void *self, const double *p, double *y)
{
    const Prepared *q = self;
    PliConstraints *c = q->a->system->constraints;
    double *free = c->vector[2];
    memcpy(free, p, 3 * (size_t)q->a->count * sizeof *p);
    pli_constraints_project(c, free);
    apply(self, free, y);
    pli_constraints_project_force(c, y);
}

/// rest = b - A dv
static void find_rest(const Prepared *q, const double *b, const double *dv, double *rest)
{
    apply((void *)q, dv, rest);
    for (size_t i = 0; i < 3 * (size_t)q->a->count; ++i) rest[i] = b[i] - rest[i];
}

/// One try with what was prepared: dv meets the constraints, and forces and inertia balance in all that they leave.
static PliSolveResult solve_free(Solve *q, const double *b, double *dv, double *scratch)
{
    static const PliIterative refine = { 40, 1e-7 };
    PliConstraints *c = q->s->constraints;
    const PliStepMatrix a = matrix_of(q->s);
    const PliLinearOps *ops = q->im->chosen->ops;
    Prepared prepared = { &a, q->im->chosen };
    const size_t n = 3 * (size_t)a.count;
    double *rest = c->vector[0], *change = c->vector[1];
    if (!q->has_guess) memset(dv, 0, n * sizeof *dv);
    pli_constraints_meet(c, dv);
    find_rest(&prepared, b, dv, rest);
    pli_constraints_project_force(c, rest);
    const bool exact = q->is == PLI_PREPARED_EXACT;
    PliSolveResult r = { .iterations = 1, .converged = true };
    if (exact && (a.tether_count == 0 || ops->tethered) && !q->is_stale) {
        ops->solve(q->im->chosen->self, &a, rest, change);
    } else {
        const PliLinearOp op = { apply_free, ops->solve ? precondition : NULL, &prepared, (PliIndex)n };
        memset(change, 0, n * sizeof *change);
        r = pli_cg_solve(exact ? &refine : &q->im->iterative, &op, rest, change, scratch);
    }
    pli_constraints_project(c, change);
    for (size_t i = 0; i < n; ++i) dv[i] += change[i];
    for (int pass = 0; pass < 2; ++pass)
        pli_constraints_meet(c, dv); // rounding, and preconditioners in single precision
    find_rest(&prepared, b, dv, rest);
    for (size_t i = 0; i < n; ++i) rest[i] = -rest[i];
    pli_constraints_read(c, rest, dv);
    q->s->solve.residual = r.residual;
    return r;
}

/// Multipliers are unknowns like others: A and C^T, C and 0.
static void apply_whole(void *self, const double *p, double *y)
{
    const Prepared *q = self;
    const PliConstraints *c = q->a->system->constraints;
    const size_t n = 3 * (size_t)q->a->count;
    apply(self, p, y);
    pli_constraints_add_transpose(c, p + n, y);
    pli_constraints_apply(c, p, y + n);
}

/// The way of Capell et al. 2002: MINRES on dv and multipliers together.
static int solve_whole(Solve *q, const double *b, double *dv)
{
    PliConstraints *c = q->s->constraints;
    const PliStepMatrix a = matrix_of(q->s);
    Prepared prepared = { &a, q->im->chosen };
    const size_t n = 3 * (size_t)a.count, all = n + c->row_count;
    double *right = c->whole, *x = right + all, *scratch = x + all;
    memcpy(right, b, n * sizeof *right);
    memcpy(right + n, c->goal, c->row_count * sizeof *right);
    memset(x, 0, all * sizeof *x);
    const PliLinearOp op = { apply_whole, NULL, &prepared, (PliIndex)all };
    const PliSolveResult r = pli_minres_solve(&q->im->iterative, &op, right, x, scratch);
    memcpy(dv, x, n * sizeof *dv);
    for (PliIndex k = 0; k < c->row_count; ++k) c->multiplier[k] = -x[n + k];
    q->s->solve.residual = r.residual;
    q->converged = r.converged;
    c->unmet = 0.0, c->unmet_row = PLI_NONE;
    return isfinite(r.residual) ? r.iterations : -1;
}

static int solve_constrained(Solve *q, const double *b, double *dv, double *scratch)
{
    if (q->im->wish == PLI_SOLVE_MINRES) return solve_whole(q, b, dv);
    for (int iterations = 0;;) {
        const PliSolveResult r = solve_free(q, b, dv, scratch);
        const PliLinearMethod *m = q->im->chosen;
        if (m->ops->spent) m->ops->spent(m->self, r.iterations);
        iterations += r.iterations;
        q->converged = r.converged;
        if (r.indefinite && !q->definite) {
            q->s->force->linearize(q->s->force_self, tangent_of(q->s), true);
            q->definite = true, q->has_guess = q->is_stale = false;
        } else if (r.converged || !q->is_stale) {
            return isfinite(r.residual) ? iterations : -1;
        }
        if (!prepare(q)) return -1;
    }
}

/// dv = A^-1 b. @return iterations, or -1
static int solve(Solve *q, const double *b, double *dv, double *scratch)
{
    const PliLinearMethod *m = q->im->chosen;
    if (q->s->constraints) return solve_constrained(q, b, dv, scratch);
    if (q->is == PLI_PREPARED_EXACT) return solve_exactly(q, b, dv, scratch);
    int iterations = 0;
    for (;; q->definite = true) {
        const PliSolveResult r = iterate(q, &q->im->iterative, q->has_guess, b, dv, scratch);
        iterations += r.iterations;
        q->converged = r.converged;
        if (q->definite || !r.indefinite) {
            if (m->ops->spent) m->ops->spent(m->self, r.iterations);
            return isfinite(r.residual) ? iterations : -1;
        }
        q->s->force->linearize(q->s->force_self, tangent_of(q->s), true);
        q->definite = true;
        q->has_guess = q->is_stale = false;
        if (!prepare(q)) return -1;
        if (q->is == PLI_PREPARED_EXACT) return solve_exactly(q, b, dv, scratch);
    }
}

// Rounds of contact differ by what presses at points that the matrix holds. A method that knows how those answer solves for the rest of the
// right-hand side in the first round only.
static bool solve_pressed(Solve *q, const PliStage *stage, const Scratch *w)
{
    PliSystem *s = q->s;
    const PliLinearMethod *m = q->im->chosen;
    if (!s->press_tethers || !m->ops->solve_pressed || s->constraints) return false;
    if ((q->is != PLI_PREPARED_EXACT && !q->is_rough) || q->is_stale) return false;
    const PliStepMatrix a = matrix_of(s);
    q->converged = true;
    if (!m->ops->solve_pressed(m->self, &a, w->free, !q->has_free, s->press_tethers(s->self, stage->length), w->dv))
        return false;
    return q->has_free = true;
}

// Where it is known how tethered points answer to each other, what presses and slides is found among them before anything is solved.
static bool foresee(Solve *q, const Scratch *w)
{
    PliSystem *s = q->s;
    const PliLinearMethod *m = q->im->chosen;
    if (!s->foresee || !m->ops->answers || s->constraints || s->tether_count == 0) return true;
    if ((q->is != PLI_PREPARED_EXACT && !q->is_rough) || q->is_stale) return true;
    const PliStepMatrix a = matrix_of(s);
    const double *answer;
    double *free;
    if (!m->ops->answers(m->self, &a, w->free, !q->has_free, &answer, &free)) return true;
    q->has_free = true;
    (void)s->foresee(s->self, answer, free);
    return prepare(q);
}

/// With what presses in the right-hand side.
static int solve_loaded(Solve *q, const PliStage *stage, const Scratch *w)
{
    const PliSystem *s = q->s;
    const size_t n = 3 * (size_t)s->active_count;
    memcpy(w->b, w->free, n * sizeof *w->b);
    if (s->press) {
        memset(w->reaction, 0, n * sizeof *w->reaction);
        s->press(s->self, w->reaction);
        for (size_t i = 0; i < n; ++i)
            if (!s->fixed[i / 3]) w->b[i] += stage->length * w->reaction[i];
    }
    return solve(q, w->b, w->dv, w->rest);
}

// The step's dv: solved until tools have nothing to say. Where solves iterate around a matrix that is near, and rounds with that alone cost
// little, those come first: what presses and what sticks is then mostly known. @return iterations, or -1
static int solve_step(Solve *q, const PliStage *stage, const Scratch *w)
{
    enum { ROUNDS = 40, FORESEEN = 6 };
    static const int WORTH = 12; // iterations, beyond twice the least, that speak for a new preconditioner
    PliSystem *s = q->s;
    const PliImplicit *im = q->im;
    int total = 0, least = 0; ///< of a round with what was prepared for it
    s->prepared_tethers = s->tether_count > 0;
    q->is_rough = q->is == PLI_PREPARED_NEAR && s->tether_count > 0 && s->unsettle;
    bool matrix = true;
    for (int round = 1;; ++round) {
        if (matrix && round <= FORESEEN && !foresee(q, w)) return -1;
        const bool fresh = !q->is_stale, pressed = solve_pressed(q, stage, w);
        const int iterations = pressed ? 1 : solve_loaded(q, stage, w);
        if (iterations < 0) return -1;
        q->is_rough = q->is_rough && pressed;
        if (fresh) least = iterations;
        if (total == 0) q->first = iterations;
        total += iterations;
        s->prepared = q->is;
        matrix = false;
        const bool settled = !s->settle || s->settle(s->self, w->dv, q->converged, &matrix) || round == ROUNDS;
        if (settled && !q->is_rough) return total;
        if (settled) {
            s->unsettle(s->self);
            q->is_rough = false;
            round = 0;
        }
        if (matrix && im->chosen->ops->tethered) {
            if (!prepare(q)) return -1;
        } else {
            q->is_stale = q->is_stale || matrix;
            // one that does not know of what tools hold by now would cost as much in every round that is left
            if (q->is_stale && q->is == PLI_PREPARED_NEAR && iterations > WORTH + 2 * least && !prepare(q)) return -1;
        }
        q->has_guess = true;
        s->prepared_tethers = true;
    }
}

typedef struct Again {
    PliSystem *s;
    PliImplicit im; ///< with the tolerance of the present solve
    const PliStage *stage;
    const Scratch *w;
    double left; ///< N s, that a solve may leave
} Again;

static int solve_again(void *self)
{
    Again *a = self;
    const PliIndex n = 3 * a->s->active_count;
    const double size = sqrt(pli_dot(n, a->w->free, a->w->free));
    if (size > 0.0) a->im.iterative.tolerance = fmin(a->im.iterative.tolerance, a->left / size);
    if (a->s->unsettle) a->s->unsettle(a->s->self);
    Solve q = { .im = &a->im, .s = a->s, .definite = !a->im.chosen->ops->notices, .has_guess = true };
    return prepare(&q) ? solve_step(&q, a->stage, a->w) : -1;
}

/// The other linearisations of a stage. @return their iterations, or -1
static int refine(PliSystem *s, const PliImplicit *im, const PliStage *stage, const Scratch *w)
{
    const PliIndex n = 3 * s->active_count;
    Again again = { s, *im, stage, w, 0.5 * im->iterative.tolerance * sqrt(pli_dot(n, w->free, w->free)) };
    PliNewton q = { .s = s,
                    .stage = stage,
                    .most = im->newton,
                    .definite = !im->chosen->ops->notices,
                    .tolerance = im->iterative.tolerance,
                    .free = w->free,
                    .dv = w->dv,
                    .solve = solve_again,
                    .self = &again };
    const int iterations = pli_newton_refine(&q);
    s->tangent = NULL;
    return iterations;
}

int pli_implicit_stages(int order, double dt, PliStage stage[PLI_STAGES])
{
    const double part = order < 2 ? 1.0 : 1.0 - sqrt(0.5);
    stage[0] = (PliStage){ 0.0, part * dt, part * dt, false };
    stage[1] = (PliStage){ part * dt, dt - part * dt, part * dt, true };
    return order < 2 ? 1 : 2;
}

// Whether the tangent of the stage before still says how the forces change: what they did since, and what it foretold. reach V of the
// stage's start is the way they went. On a step of a hundred seconds the tangent of its beginning threw a beam away.
static bool still_holds(const PliSystem *s, const Scratch *w, double reach)
{
    static const double MOST = 0.25;
    const size_t all = 3 * ((size_t)s->active_count + s->slave_count);
    double off = 0.0, change = 0.0;
    memset(w->reaction, 0, all * sizeof *w->reaction);
    s->force->add_dforce(s->force_self, s->v, reach, w->reaction);
    for (size_t i = 0; i < all; ++i) {
        const double now = s->f[i] - w->before[i];
        off += (now - w->reaction[i]) * (now - w->reaction[i]), change += now * now;
    }
    return off <= MOST * MOST * change;
}

/// The matrix that is assembled for the solve has all of K v: nothing moves that is not active and free.
static bool has_all(const PliSystem *s, const PliImplicit *im)
{
    const PliLinearOps *ops = im->chosen->ops;
    if (!ops->apply || ops->notices || s->impulse || s->one_way) return false;
    for (size_t i = 0; i < 3 * (size_t)s->active_count; ++i)
        if (s->fixed[i / 3] && s->v[i] != 0.0) return false;
    for (size_t i = 0; i < 3 * (size_t)s->held_count; ++i)
        if (s->held_v[i] != 0.0) return false;
    return true;
}

/// y = K p of free points, by the matrix that was assembled; mp is scratch.
static void apply_assembled_stiffness(PliSystem *s, const PliImplicit *im, const double *p, double *mp, double *y)
{
    const PliStepMatrix a = matrix_of(s);
    pli_system_mass(s, p, mp);
    im->chosen->ops->apply(im->chosen->self, &a, p, y);
    for (size_t i = 0; i < 3 * (size_t)s->active_count; ++i)
        y[i] = (y[i] - s->mass_factor * mp[i]) / s->stiffness_factor;
}

/// f = W^T f + k K v on active points.
static void add_assembled_stiffness(PliSystem *s, const PliImplicit *im, double k, const Scratch *w)
{
    pli_system_gather(s, s->f);
    apply_assembled_stiffness(s, im, s->v, w->full, w->reaction);
    for (size_t i = 0; i < 3 * (size_t)s->active_count; ++i) s->f[i] += k * w->reaction[i];
}

/// Internal forces of s->f on active points.
static const double *gathered(const PliSystem *s, const Scratch *w)
{
    memcpy(w->reaction, s->f, 3 * ((size_t)s->active_count + s->slave_count) * sizeof *s->f);
    pli_system_gather(s, w->reaction);
    return w->reaction;
}

static void note_tangent(const PliSystem *s, PliTangent *t, const double *f)
{
    const size_t n = 3 * (size_t)s->active_count;
    memcpy(t->x, s->x, n * sizeof *t->x);
    memcpy(t->v, s->v, n * sizeof *t->v);
    memcpy(t->f, f, n * sizeof *t->f);
}

// Whether the assembled K still says how forces change: what they did since it was made, viscous ones included, and what it foretold. A step
// with a K that is off by a share is off by that share of what the implicit part of the step does, and forces are those of now in any case.
static bool foretells(PliSystem *s, const PliImplicit *im, double most, const Scratch *w)
{
    static const double SMALL =
        0.05; ///< of the forces: a K that is definite for any strain does not foretell compression
    const PliTangent *t = &im->tangent;
    const size_t n = 3 * (size_t)s->active_count;
    double *way = w->free, *foretold = w->b, off = 0.0, all = 0.0, size = 0.0;
    const double *f = gathered(s, w);
    for (size_t i = 0; i < n; ++i) {
        const double change = s->fixed[i / 3] ? 0.0 : f[i] - t->f[i];
        all += change * change, size += s->fixed[i / 3] ? 0.0 : f[i] * f[i];
        way[i] = s->fixed[i / 3] ? 0.0 : s->x[i] - t->x[i] + s->material_damping * (s->v[i] - t->v[i]);
    }
    if (all <= SMALL * SMALL * size) return true;
    apply_assembled_stiffness(s, im, way, w->dv, foretold);
    for (size_t i = 0; i < n; ++i) {
        const double miss = s->fixed[i / 3] ? 0.0 : f[i] - t->f[i] - foretold[i];
        off += miss * miss;
    }
    return off <= most * most * all;
}

int pli_implicit_step(PliSystem *s, PliImplicit *im, const PliStage *stage)
{
    if (!stage->again && im->asked > 0) --im->asked;
    const double h = stage->length, reach = stage->reach;
    const size_t n = 3 * (size_t)s->active_count, all = n + 3 * (size_t)s->slave_count;
    const Scratch w = scratch_of(s);
    double *b = w.free, *dv = w.dv;

    // forces at the start of the step
    if (!s->force_ready) {
        pli_system_spread(s, s->x);
        pli_system_spread(s, s->v);
        memset(s->f, 0, all * sizeof *s->f);
        s->force->add_force(s->force_self, s->x, s->material_damping > 0.0 ? s->v : NULL, s->f);
    }
    s->force_ready = false;
    s->tangent = NULL;
    if (im->chosen->ops->watch && !stage->again) {
        const PliStepMatrix a = matrix_of(s);
        memcpy(w.reaction, s->f, all * sizeof *s->f);
        pli_system_gather(s, w.reaction);
        im->chosen->ops->watch(im->chosen->self, &a, w.reaction);
    }
    // what the tangent of an earlier step, and of the stage before, may miss of what forces do; s, in which right-hand sides are forgotten
    static const double KEEP = 0.1, AGAIN = 0.25, LATELY = 0.1;
    const double mass_factor = 1.0 + reach * s->mass_damping;
    const double stiffness_factor = -reach * (reach + s->rayleigh_stiffness + s->material_damping);
    const bool newton = s->newton && im->newton > 1, all_there = !newton && has_all(s, im);
    bool again = false;
    if (all_there && im->tangent.is_known && !s->constraints)
        again = mass_factor == s->mass_factor && stiffness_factor == s->stiffness_factor &&
                foretells(s, im, stage->again ? AGAIN : KEEP, &w);
    else if (!newton)
        again = stage->again && still_holds(s, &w, reach);
    s->kept = again && !stage->again;
    im->direct_ready = im->direct_ready && s->kept && !s->prepared_tethers && s->tether_count == 0;
    if (!stage->again) memcpy(w.before, s->f, all * sizeof *s->f);
    if (!again) {
        im->tangent.is_known = false;
        if (all_there) note_tangent(s, &im->tangent, gathered(s, &w));
    }
    if (newton) pli_newton_note_internal(s);
    if (s->add_force) s->add_force(s->self, stage->start, reach, s->x, s->v, s->f);
    if (newton) pli_newton_note_outer(s);
    // Under compression the exact tangent has negative eigenvalues: close to singular, the matrix throws points, and contact solved on
    // its inverse has no solution. Without them it is positive definite for any step. Methods that notice try the exact one first,
    // which follows the motion better and comes to rest sooner.
    const double start = pli_cpu_ms();
    if (!again) s->force->linearize(s->force_self, s->x, !im->chosen->ops->notices), im->made++;
    s->solve = (PliSolveCost){ .linearize_ms = pli_cpu_ms() - start, .linearizations = !s->kept };
    s->mass_factor = mass_factor, s->stiffness_factor = stiffness_factor;
    Solve q = { .im = im, .s = s, .definite = !im->chosen->ops->notices, .is = s->prepared };
    q.is_stale = again && !s->kept && (s->prepared_tethers || s->tether_count > 0);
    const bool early = (!again || s->kept) && all_there;
    if (early) {
        if (!prepare(&q)) return -1;
        im->tangent.is_known = true;
    }
    if (all_there) {
        add_assembled_stiffness(s, im, reach + s->rayleigh_stiffness, &w);
    } else {
        s->force->add_dforce(s->force_self, s->v, reach + s->rayleigh_stiffness, s->f);
        pli_system_gather(s, s->f);
    }
    pli_system_mass(s, s->v, b);
    for (PliIndex i = 0; i < s->active_count; ++i) {
        for (int c = 0; c < 3; ++c) {
            const size_t j = 3 * (size_t)i + c;
            double f = s->f[j] + s->load[i] * s->gravity[c] - s->mass_damping * b[j];
            if (s->f_ext) f += s->f_ext[j];
            if (s->impulse) s->impulse[j] = s->fixed[i] ? (stage->again ? s->impulse[j] : 0.0) - h * f : 0.0;
            b[j] = h * f;
        }
    }
    if (newton) pli_newton_note_start(s, stage, b);
    for (size_t i = 0; i < n; ++i)
        if (s->fixed[i / 3]) b[i] = 0.0;
    im->lately = newton ? 0.0 : fmax(sqrt(pli_dot((PliIndex)n, b, b)), im->lately * exp(-h / LATELY));
    const double begin = pli_cpu_ms(), spent = s->solve.prepare_ms;
    if (!again && !early && !prepare(&q)) return -1;
    int iterations = solve_step(&q, stage, &w);
    if (newton && iterations >= 0) {
        const int more = refine(s, im, stage, &w);
        iterations = more < 0 ? -1 : iterations + more;
    }
    s->solve.iterate_ms = pli_cpu_ms() - begin - (s->solve.prepare_ms - spent);
    if (iterations < 0) im->tangent.is_known = false;
    if (iterations < 0) return -1;
    if (is_picked(im)) pli_pick_note(&im->pick, s->active_count, q.first); // rounds of contact say little of a method
    double *spare = im->older;
    im->older = im->last, im->last = spare;
    memcpy(im->last, dv, n * sizeof *dv);
    im->has_older = im->has_last;
    im->has_last = true;
    if (s->impulse) {
        const PliStepMatrix a = matrix_of(s);
        multiply(&a, dv, b);
        memset(w.reaction, 0, n * sizeof *w.reaction);
        if (s->press) s->press(s->self, w.reaction); // tools push at fixed ones, too
        for (size_t i = 0; i < n; ++i) s->impulse[i] = s->fixed[i / 3] ? s->impulse[i] + b[i] - h * w.reaction[i] : 0.0;
    }
    for (size_t i = 0; i < n; ++i) {
        if (reach == h) {
            s->v[i] += dv[i];
            s->x[i] += h * s->v[i];
        } else {
            s->x[i] += h * s->v[i] + reach * dv[i];
            s->v[i] += dv[i];
        }
    }
    if (s->correct) s->correct(s->self, stage->start + h, h, s->x, s->v);
    pli_system_spread(s, s->x);
    pli_system_spread(s, s->v);
    return iterations;
}
