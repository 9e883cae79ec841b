/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Creation, the step, and what a host may set. The step is the table of contents: adapt, integrate, spread, check.
#include "body/body.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/timer.h"
#include "base/vec.h"
#include "body/forms.h"

/// Part of the accuracy that linear solvers may leave of a change of velocity.
static const double SOLVED = 5e-4;

static void copy_definition(PliBody *b)
{
    PliSystem *s = &b->system;
    memcpy(s->gravity, b->def.gravity, sizeof s->gravity);
    s->mass_damping = b->def.mass_damping;
    s->rayleigh_stiffness = b->def.rayleigh_stiffness;
    s->material_damping = b->def.material.damping;
    b->implicit.wish = b->def.linear_solver;
    b->implicit.newton = b->def.newton;
    const double least = SOLVED * 0.01 * b->def.criterion.accuracy;
    b->implicit.iterative = (PliIterative){ b->def.cg_iterations, fmax(b->def.cg_tolerance, least) };
}

static double diagonal_of(const double *x, PliIndex count)
{
    double lo[3] = { INFINITY, INFINITY, INFINITY }, hi[3] = { -INFINITY, -INFINITY, -INFINITY };
    for (PliIndex i = 0; i < count; ++i)
        for (int d = 0; d < 3; ++d)
            lo[d] = fmin(lo[d], x[3 * (size_t)i + d]), hi[d] = fmax(hi[d], x[3 * (size_t)i + d]);
    return count ? v3_distance(lo, hi) : 0.0;
}

static PliStatus create_forces(PliBody *b, PliError *err)
{
    const PliSchemeStatic *st = &b->statics;
    PliSystem *s = &b->system;
    if (st->block > PLI_BLOCK_MAX)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "blocks have up to %d points, not %u", PLI_BLOCK_MAX, st->block);
    s->force = st->force, s->force_self = st->force_self;
    if (!s->force) {
        b->elastic = pli_elastic_force_create(&b->host, &b->def, st, err);
        if (!b->elastic) return PLI_OUT_OF_MEMORY;
        b->bytes += pli_elastic_force_bytes(b->elastic);
        s->force = &pli_elastic_force_ops, s->force_self = b->elastic;
    }
    if (s->force->retune) s->force->retune(s->force_self, &b->def);
    return PLI_OK;
}

static PliStatus create_solvers(PliBody *b, PliError *err)
{
    const PliIndex most = b->def.criterion.max_active;
    const bool limited = b->def.adapt && most < b->statics.active_capacity;
    const PliStatus status = pli_implicit_create(&b->implicit, &b->host, &b->statics, limited ? most : 0);
    return status == PLI_OK ? PLI_OK
                            : pli_refuse(err, status, "no memory for the solvers of %u active points",
                                         limited ? most : b->statics.active_capacity);
}

PliBody *pli_body_create(const PliHost *host, const PliBodyDef *def, const PliSchemeOps *ops, void *self,
                         const PliSchemeStatic *statics, PliError *err)
{
    PliBody *b = NULL;
    if (pli_body_def_check(def, err) != PLI_OK) goto fail;
    if (pli_body_check_criterion(ops, &def->criterion, err) != PLI_OK) goto fail;
    if ((def->dense_region_count && !ops->density_by_place) || (def->poisson_region_count && !ops->poisson_by_place)) {
        const bool dense = def->dense_region_count && !ops->density_by_place;
        pli_refuse(err, PLI_UNSUPPORTED, "%s has one %s everywhere: %s regions do nothing to it", ops->name,
                   dense ? "density" : "Poisson's ratio", dense ? "dense" : "poisson");
        goto fail;
    }
    b = PLI_NEW(host, 1, PliBody);
    if (!b) {
        pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for a body");
        goto fail;
    }
    b->host = *host;
    b->def = *def;
    b->def.integrator = pli_body_def_integrator(def, ops);
    b->ops = ops;
    b->self = self;
    b->statics = *statics;
    b->bytes = sizeof *b;
    b->system.host = *host;
    b->system.block = statics->block;
    b->system.dense = statics->dense;
    b->caution = 1.0;
    b->size = diagonal_of(statics->rest, statics->dof_count);
    if (create_forces(b, err) != PLI_OK) goto fail;
    if (b->def.integrator == PLI_INTEGRATE_AUTO && (!b->elastic || statics->sample_capacity > 0)) {
        pli_refuse(err, PLI_UNSUPPORTED, "%s: integrator=\"auto\" knows the cost of tetrahedra only; choose one",
                   ops->name);
        goto fail;
    }
    if (pli_live_create(b) != PLI_OK) {
        pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for a body of %u coefficients", statics->dof_count);
        goto fail;
    }
    pli_body_def_forget_regions(&b->def); // were the caller's
    copy_definition(b);
    pli_choice_reset(b);
    if (b->def.integrator != PLI_SYMPLECTIC && create_solvers(b, err) != PLI_OK) goto fail;
    ops->reset(self);
    pli_body_recut(b);
    if (statics->surface_point_count && pli_body_default_skin(b, err) != PLI_OK) goto fail;
    return b;
fail:
    if (b)
        pli_body_destroy(b);
    else
        ops->destroy(self, host);
    return NULL;
}

void pli_body_destroy(PliBody *b)
{
    if (!b) return;
    if (b->forms) {
        pli_forms_destroy(b);
        return;
    }
    PliHost host = b->host;
    pli_body_shadows_free(b);
    pli_contact_destroy(b->contact);
    pli_skin_destroy(b->skin);
    pli_implicit_destroy(&b->implicit);
    pli_elastic_force_destroy(b->elastic);
    PLI_FREE(&host, b->filter, 9 * (size_t)b->statics.active_capacity);
    PLI_FREE(&host, b->filter_stiffness, 9 * (size_t)b->statics.active_capacity);
    pli_body_points_free(b);
    pli_body_constraints_free(b);
    pli_live_destroy(b);
    b->ops->destroy(b->self, &host);
    PLI_FREE(&host, b, 1);
}

const char *pli_body_scheme(const PliBody *b) { return b->ops->name; }
bool pli_body_uses(const PliBody *b, const PliSchemeOps *ops) { return b->ops == ops; }
PliIndex pli_body_dof_place(const PliBody *b, PliIndex dof)
{
    if (b->forms) return pli_forms_place(b, dof);
    return b->ops->place ? b->ops->place(b->self, dof) : dof;
}
bool pli_body_judges_forces(const PliBody *b)
{
    return b->forms ? pli_body_judges_forces(b->forms->fallback) : b->ops->judges_forces;
}
const PliBodyDef *pli_body_def(const PliBody *b) { return &b->def; }
PliIndex pli_body_dof_count(const PliBody *b) { return b->statics.dof_count; }
const double *pli_body_rest(const PliBody *b) { return b->statics.rest; }
int pli_body_level_count(const PliBody *b) { return b->statics.level_count; }
const uint8_t *pli_body_dof_level(const PliBody *b) { return b->statics.dof_level; }
PliActive pli_body_active(const PliBody *b)
{
    if (b->forms) return pli_forms_active(b);
    return (PliActive){ b->live.dof, b->system.active_count, b->revision };
}
void *pli_body_self(PliBody *b) { return b->self; }
uint64_t pli_body_revision(const PliBody *b) { return b->revision; }
const uint8_t *pli_body_fixed(const PliBody *b) { return b->is_fixed; }
PliStats *pli_body_stats_mutable(PliBody *b) { return &b->stats; }

bool pli_body_is_tethered(const PliBody *b) { return b->system.tether_count > 0; }

bool pli_body_is_constrained(const PliBody *b) { return b->held_points != NULL; }

const PliState *pli_body_state(const PliBody *b) { return b->state; }

const PliTool *pli_body_tools(const PliBody *b, int *count)
{
    *count = b->tool_count;
    return b->tools;
}

// Where fixed coefficients are is the host's business, also while they are passive: what follows others must not carry them
// along, or one that becomes active would stay where it was astray, and keep the velocity it was astray with.
static void copy_fixed(const PliBody *b, const double *from, double *to)
{
    for (PliIndex i = 0; i < b->fixed_count; ++i)
        memcpy(to + 3 * (size_t)b->fixed_dof[i], from + 3 * (size_t)b->fixed_dof[i], 3 * sizeof *to);
}

void pli_body_keep_fixed(PliBody *b)
{
    if (b->fixed_are_kept || !b->state) return;
    copy_fixed(b, b->state->x, b->fixed_x);
    copy_fixed(b, b->state->v, b->fixed_v);
    b->fixed_are_kept = true;
}

bool pli_body_is_live(const PliBody *b, PliIndex dof) { return b->live.position[dof] != PLI_NONE; }

void pli_body_lead_astray(PliBody *b, PliIndex dof, const double p[3])
{
    double *at = b->fixed_x + 3 * (size_t)dof, *astray = b->astray + 3 * (size_t)dof;
    for (int k = 0; k < 3; ++k) astray[k] += p[k] - at[k], at[k] = p[k];
    b->any_astray = true;
}

// Astray ones go home, those that nothing live touches any more at once.
static void bring_home(PliBody *b, double *x, bool live, double share)
{
    const double least = 1e-12 * b->size;
    if (!b->any_astray) return;
    b->any_astray = false;
    for (PliIndex i = 0; i < b->fixed_count; ++i) {
        const size_t dof = b->fixed_dof[i];
        double *astray = b->astray + 3 * dof, *at = x + 3 * dof;
        if (astray[0] == 0.0 && astray[1] == 0.0 && astray[2] == 0.0) continue;
        b->any_astray = true;
        if (pli_body_is_live(b, (PliIndex)dof) != live) continue;
        const double left = v3_norm(astray) > least ? 1.0 - share : 0.0;
        for (int k = 0; k < 3; ++k) {
            const double home = at[k] - astray[k];
            astray[k] *= left;
            at[k] = home + astray[k];
        }
    }
}

void pli_body_fixed_values(const PliBody *b, const double **x, const double **v) { *x = b->fixed_x, *v = b->fixed_v; }

// What the forces learnt from cut to cut is forgotten: a reset body goes on as a new one, to the bit.
static void recut_afresh(PliBody *b)
{
    if (b->system.force->retune) b->system.force->retune(b->system.force_self, &b->def);
    pli_body_recut(b);
}

PliStatus pli_body_set_fixed(PliBody *b, const PliIndex *dofs, PliIndex count, PliError *err)
{
    if (b->forms) return pli_forms_set_fixed(b, dofs, count, err);
    for (PliIndex i = 0; i < count; ++i)
        if (dofs[i] >= b->statics.dof_count)
            return pli_refuse(err, PLI_BAD_ARGUMENT, "fixed coefficient %u does not exist, the body has %u", dofs[i],
                              b->statics.dof_count);
    memset(b->is_fixed, 0, b->statics.dof_count);
    memset(b->astray, 0, 3 * (size_t)b->statics.dof_count * sizeof *b->astray);
    b->fixed_count = 0;
    for (PliIndex i = 0; i < count; ++i) {
        if (!b->is_fixed[dofs[i]]) b->fixed_dof[b->fixed_count++] = dofs[i];
        b->is_fixed[dofs[i]] = 1;
    }
    pli_body_constraints_refix(b);
    if (b->ops->pin) b->ops->pin(b->self, b->is_fixed);
    recut_afresh(b);
    if (b->ops->pin && b->skin) pli_skin_forget_rows(b->skin); // what is pinned is active now
    return pli_body_shadows_fix(b, err);
}

void pli_body_set_gravity(PliBody *b, const double g[3])
{
    if (b->forms) {
        pli_forms_set_gravity(b, g);
        return;
    }
    memcpy(b->def.gravity, g, sizeof b->def.gravity);
    memcpy(b->system.gravity, g, sizeof b->system.gravity);
}

PliStatus pli_body_retune(PliBody *b, const PliBodyDef *def, PliError *err)
{
    if (b->forms) return pli_forms_retune(b, def, err);
    PliStatus status = pli_body_def_check(def, err);
    if (status == PLI_OK) status = pli_body_check_criterion(b->ops, &def->criterion, err);
    if (status != PLI_OK) return status;
    const bool same = def->integrator == PLI_INTEGRATE_USUAL || def->integrator == b->def.integrator;
    if (!same || def->linear_solver != b->def.linear_solver)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "the integrator and its linear solver cannot change while running");
    if ((def->newton > 1) != (b->def.newton > 1))
        return pli_refuse(err, PLI_BAD_ARGUMENT, "newton cannot change between 1 and more while running");
    if (def->material.density != b->def.material.density)
        return pli_refuse(
            err, PLI_UNSUPPORTED,
            "the density cannot change while running, from %g to %g kg/m3: all masses are made with the body",
            b->def.material.density, def->material.density);
    if (b->ops->retune) status = b->ops->retune(b->self, def, err);
    if (status != PLI_OK) return status;
    const PliMaterial *old = &b->def.material, *now = &def->material;
    if (old->law != now->law || old->young != now->young || old->poisson != now->poisson)
        b->caution = 1.0, b->system.last_drift = 0.0; // it goes on as a new body would
    const PliIntegrator integrator = b->def.integrator;
    b->def = *def;
    b->def.integrator = integrator;
    pli_body_def_forget_regions(&b->def);
    copy_definition(b);
    recut_afresh(b);
    return pli_body_shadows_retune(b, err);
}

void pli_body_reset(PliBody *b, const PliState *s)
{
    if (b->forms) {
        pli_forms_reset(b, s);
        return;
    }
    b->ops->reset(b->self);
    memset(&b->stats, 0, sizeof b->stats);
    b->caution = 1.0, b->system.last_drift = 0.0;
    b->implicit.pick = (PliPick){ 0 };
    b->implicit.asked = 0;
    pli_choice_reset(b);
    memset(b->astray, 0, 3 * (size_t)b->statics.dof_count * sizeof *b->astray);
    recut_afresh(b);
    if (b->skin) pli_skin_reset(b->skin);
    if (b->contact) pli_contact_forget(b->contact);
    pli_body_constraints_reset(b);
    pli_body_shadows_reset(b);
    b->was_under = false;
    memcpy(s->x, b->statics.rest, 3 * (size_t)b->statics.dof_count * sizeof *s->x);
    memset(s->v, 0, 3 * (size_t)b->statics.dof_count * sizeof *s->v);
}

// What the scheme evaluated on the way (forces at the start of the step) may be used by a step that follows at once.
static bool adapt_now(PliBody *b, const PliState *s, double dt)
{
    b->system.force_ready = b->external_ready = b->points_ready = b->points_kept = b->force_kept = false;
    bring_home(b, s->x, true, pli_body_homing(dt));
    if (!b->ops->adapt || !b->def.adapt) {
        b->stats.adapt_ms = b->adapting_ms = 0.0;
        return false;
    }
    const double begin = pli_cpu_ms();
    const uint64_t before = b->revision;
    static const double origin[3] = { 0.0, 0.0, 0.0 };
    b->state = s;
    if (!b->ops->announces) pli_body_before_event(b, s->x, origin, INFINITY);
    b->stats.force_ms = 0.0; // what the scheme evaluates for the step that follows is not the price of adapting
    if (!b->ops->keeps_fixed) pli_body_keep_fixed(b);
    const bool changed = b->ops->adapt(b->self, b, s->x, s->v, dt);
    b->state = NULL;
    if (changed && b->revision == before) pli_body_recut(b);
    pli_body_after_events(b, s->x); // lets passive ones follow, too
    if (b->fixed_are_kept) {
        copy_fixed(b, b->fixed_x, s->x);
        copy_fixed(b, b->fixed_v, s->v);
    }
    b->fixed_are_kept = false;
    bring_home(b, s->x, false, 1.0);
    b->adapting_ms = pli_cpu_ms() - begin;
    b->stats.adapt_ms = b->adapting_ms - b->stats.force_ms;
    return changed;
}

bool pli_body_adapt(PliBody *b, const PliState *s, double dt)
{
    if (b->forms) return pli_forms_adapt(b, s, dt);
    const bool changed = adapt_now(b, s, dt);
    b->external_ready = false; // the host may move things before it advances
    pli_body_points_keep(b, s);
    return changed;
}

// ---- the step ------------------------------------------------------------------------------------------------------------

enum { MOST_RETRIES = 4 };
/// Times the longest substep of where a step ended that its substeps may have been.
static const double MOST_EXCESS = 1.2, UNDAMPED_EXCESS = 1.5; // of what counts the strain twice
/// s, in which a body forgets that strain made its substeps shorter: long against a step, because steps that change all the time
/// are not symplectic.
static const double CAUTION_TIME = 10.0;
/// s, in which what events would have moved on the skin fades: about what an eye takes for one continuous motion.
static const double OFFSET_TIME = 0.1;
enum { MOST_SUBSTEPS = 1 << 24 }; // hours of work: only a mistake asks for more

// s, for compact points, or at rest
static double longest_substep(const PliBody *b, const double *x)
{
    const PliForceOps *force = b->system.force;
    // the filter is stable at several times the critical step; twice is what the paper takes
    const double share = (b->filter ? 2.0 : 1.0) * b->def.courant;
    if (force->longest_substep) return force->longest_substep(b->system.force_self, x, share);
    return pli_damped_step(share * b->live.critical_step, b->def.material.damping);
}

double pli_body_longest_substep(PliBody *b, const double *x)
{
    if (b->forms) return pli_body_longest_substep(b->forms->acting, PLI_ACTING(b, x));
    pli_live_gather(b, x, NULL);
    return longest_substep(b, b->live.x);
}

// 0: more than MOST_SUBSTEPS
static int substeps_for(const PliBody *b, double dt, double h, double *needed)
{
    const double wanted = *needed = ceil(dt / h - 1e-9);
    if (!(wanted <= MOST_SUBSTEPS)) return 0;
    const int n = wanted < 1.0 ? 1 : (int)wanted;
    const int period = 1 << (b->system.rate_count - 1);
    return (n + period - 1) / period * period;
}

// contact of the tools and forces of the host, on compact points
static void hook_force(void *self, double t, double h, const double *x, const double *v, double *f)
{
    PliBody *b = self;
    if (b->tool_count && !b->choice.implicit) pli_contact_add_force(b->contact, t, h, x, v, f);
    if (!b->state->external && !b->state->points) return;
    const PliIndex points = b->system.active_count + b->system.slave_count;
    pli_live_scatter(b, b->full_x, b->full_v);
    // a passive coefficient that is held stays where the host has it: hosts may take these arrays over as their state
    for (PliIndex i = b->system.active_count; i < b->system.active_count + b->system.slave_count; ++i) {
        const size_t dof = b->live.dof[i];
        if (!b->is_fixed[dof]) continue;
        v3_copy(b->full_x + 3 * dof, b->state->x + 3 * dof);
        v3_copy(b->full_v + 3 * dof, b->state->v + 3 * dof);
    }
    if (b->external_ready && t == 0.0) {
        memcpy(b->full_f, b->external_f, 3 * (size_t)b->statics.dof_count * sizeof *b->full_f);
    } else {
        memset(b->full_f, 0, 3 * (size_t)b->statics.dof_count * sizeof *b->full_f);
        if (b->state->external) b->state->external(b->full_x, b->full_v, t, b->full_f, b->state->external_user);
    }
    b->external_ready = false;
    if (b->state->points) pli_body_points_add(b, h, b->full_f);
    pli_body_reduce(b, b->full_f);
    for (PliIndex i = 0; i < points; ++i)
        v3_add(f + 3 * (size_t)i, f + 3 * (size_t)i, b->full_f + 3 * (size_t)b->live.dof[i]);
}

static void hook_correct(void *self, double t, double h, double *x, double *v)
{
    PliBody *b = self;
    if (b->tool_count && !b->choice.implicit) {
        b->contact->tick = b->system.tick;
        pli_contact_correct(b->contact, t, h, x, v);
    }
    if (b->rows) pli_body_rows_correct(b, t, h, x, v);
}

static void begin_hooks(PliBody *b, const PliState *s, const PliStage *stage)
{
    PliSystem *sys = &b->system;
    b->state = s;
    sys->self = b;
    sys->add_force = NULL, sys->correct = NULL, sys->press = NULL, sys->settle = NULL, sys->unsettle = NULL;
    sys->press_tethers = NULL, sys->foresee = NULL;
    if (b->tool_count) pli_body_contact_begin(b, stage);
    if (b->tool_count && b->choice.implicit) {
        sys->press = pli_body_press, sys->settle = pli_body_settle, sys->unsettle = pli_body_unsettle;
        sys->press_tethers = pli_body_press_tethers, sys->foresee = pli_body_foresee;
    } else if (b->tool_count) {
        bool penalty = false;
        for (int t = 0; t < b->tool_count; ++t) penalty |= b->tools[t].stiffness > 0.0;
        if (penalty) sys->add_force = hook_force;
        sys->correct = hook_correct;
    }
    if (b->rows) {
        pli_body_rows_begin(b);
        sys->correct = hook_correct;
    }
    if (s->external || s->points) {
        sys->add_force = hook_force;
        // coefficients nothing live touches keep what the host gave
        memcpy(b->full_x, s->x, 3 * (size_t)b->statics.dof_count * sizeof *s->x);
        memcpy(b->full_v, s->v, 3 * (size_t)b->statics.dof_count * sizeof *s->v);
        if (stage->start > 0.0) { // the host's arrays are those of the start of the step
            pli_live_scatter(b, b->full_x, b->full_v);
            pli_body_spread(b, b->full_x);
            pli_body_spread_velocity(b, b->full_v);
        }
    }
    pli_body_tethers_begin(b, stage->reach);
    pli_body_constraints_begin(b, s, stage->length);
    sys->f_ext = NULL;
    if (s->f_ext) {
        memcpy(b->full_f, s->f_ext, 3 * (size_t)b->statics.dof_count * sizeof *s->f_ext);
        pli_body_reduce(b, b->full_f);
        for (PliIndex i = 0; i < sys->active_count; ++i)
            memcpy(b->live.f_ext + 3 * (size_t)i, b->full_f + 3 * (size_t)b->live.dof[i], 3 * sizeof(double));
        sys->f_ext = b->live.f_ext;
    }
    if (b->ops->add_force) {
        if (!sys->f_ext) memset(b->live.f_ext, 0, 3 * (size_t)sys->active_count * sizeof(double));
        b->ops->add_force(b->self, b->live.f_ext);
        sys->f_ext = b->live.f_ext;
    }
}

// What is wrong with where the body is now, and with which coefficient.
static PliStepCause judge(const PliBody *b, PliIndex *bad)
{
    const double limit = 1e6 * b->size;
    const size_t n = 3 * (size_t)b->system.active_count;
    for (size_t i = 0; i < n; ++i) {
        if (fabs(b->live.x[i]) < limit && isfinite(b->live.v[i])) continue;
        *bad = b->live.dof[i / 3];
        return isfinite(b->live.x[i]) && isfinite(b->live.v[i]) ? PLI_STEP_RUNAWAY : PLI_STEP_NOT_FINITE;
    }
    return PLI_STEP_DONE;
}

// A solver also fails on forces that are not numbers: those are to blame then.
static PliStepCause judge_failed_solve(const PliBody *b, PliIndex *bad)
{
    for (size_t i = 0; i < 3 * (size_t)b->system.active_count; ++i) {
        if (isfinite(b->system.f[i])) continue;
        *bad = b->live.dof[i / 3];
        return PLI_STEP_NOT_FINITE;
    }
    return PLI_STEP_SOLVER_FAILED;
}

static void fail_step(PliStepInfo *info, PliStatus status, PliStepCause cause)
{
    info->status = status;
    info->cause = cause;
}

static void take_stage(PliBody *b, PliStage *stage, PliStepInfo *info)
{
    if (b->pattern_revision != b->revision || pli_implicit_outgrown(&b->system, &b->implicit)) {
        const PliStatus status = pli_implicit_pattern(&b->system, &b->implicit);
        if (status != PLI_OK) {
            fail_step(info, status, PLI_STEP_NO_ROOM);
            return;
        }
        b->pattern_revision = b->revision;
        stage->again = false;
    }
    const int iterations = pli_implicit_step(&b->system, &b->implicit, stage);
    const PliSolveCost *cost = &b->system.solve;
    info->cg_iterations += iterations;
    info->residual = fmax(info->residual, cost->residual);
    info->linearizations = cost->linearizations;
    b->stats.linearize_ms += cost->linearize_ms, b->stats.prepare_ms += cost->prepare_ms;
    b->stats.iterate_ms += cost->iterate_ms, b->stats.linear_solver = b->implicit.chosen->ops->name;
    if (iterations < 0) fail_step(info, PLI_DIVERGED, judge_failed_solve(b, &info->bad_dof));
}

// In one piece, or in several where that failed.
static void integrate_implicitly(PliBody *b, const PliState *s, double dt, int pieces, PliStepInfo *info)
{
    PliStage stage[PLI_STAGES];
    const int count = pli_implicit_stages(b->order, dt / pieces, stage);
    b->stats.linearize_ms = b->stats.prepare_ms = b->stats.iterate_ms = 0.0;
    info->substeps = pieces;
    for (int i = 0; i < count * pieces && info->status == PLI_OK; ++i) {
        PliStage now = stage[i % count];
        now.start += dt / pieces * (i / count);
        if (i > 0 && b->tool_count) pli_contact_book(b->contact);
        begin_hooks(b, s, &now);
        take_stage(b, &now, info);
    }
}

// As many explicit steps as dt needs.
static void integrate_explicitly(PliBody *b, const PliState *s, double dt, PliStepInfo *info)
{
    b->state = s;
    // both at once: frequencies add up in squares
    const double own = b->caution * b->rest_substep, points = pli_body_points_step(b, b->def.courant);
    const double h = isfinite(points) ? 1.0 / hypot(1.0 / own, 1.0 / points) : own;
    if (b->elastic)
        b->system.rate_count =
            pli_elastic_force_use_rates(b->elastic, fmax(1.0, ceil(dt / h - 1e-9)), pli_choice_substep_work(b));
    const int wanted = substeps_for(b, dt, h, &info->needed_substeps);
    begin_hooks(b, s, &(PliStage){ 0.0, dt, dt, false });
    if (!wanted) {
        fail_step(info, PLI_BAD_ARGUMENT, PLI_STEP_TOO_MANY_SUBSTEPS);
        return;
    }
    pli_body_update_filter(b, dt / wanted);
    info->substeps = pli_explicit_step(&b->system, dt, wanted);
}

double pli_body_rest_substep(PliBody *b)
{
    if (b->rest_revision != b->revision) b->rest_substep = longest_substep(b, NULL), b->rest_revision = b->revision;
    return b->rest_substep;
}

/// The same as the body is strained now.
static double strained_substep(PliBody *b)
{
    if (!(b->strained > 0.0)) b->strained = longest_substep(b, b->live.x);
    return b->strained;
}

// Explicit: what strain allows now, and has allowed lately.
static void be_cautious(PliBody *b, double dt)
{
    if (b->choice.implicit) return;
    const double rest = pli_body_rest_substep(b);
    const double strained = isfinite(rest) ? strained_substep(b) / rest : 1.0;
    b->caution = fmin(fmin(strained, 1.0), b->caution * exp(dt / CAUTION_TIME));
}

// The step that was just made asks to be made again with shorter substeps: it failed, or it strained the body so much that they
// were too long in the end.
static bool asks_again(PliBody *b, double dt, const PliStepInfo *info)
{
    // multipliers of the host's rows and of held points are those of one step
    if (b->choice.implicit) return info->status == PLI_DIVERGED && !b->rows && !b->held_points;
    if (info->substeps == 0) return false;
    const double used = dt / info->substeps / b->rest_substep;
    if (info->status != PLI_OK) {
        if (info->status != PLI_DIVERGED) return false;
        b->caution = 0.25 * used;
        return true;
    }
    const double now = strained_substep(b) / b->rest_substep;
    if (!(used > (b->def.material.damping > 0.0 ? MOST_EXCESS : UNDAMPED_EXCESS) * now)) return false;
    b->caution = fmax(now, 0.125 * used);
    return true;
}

// Forces where a step ended are those that the next one begins with, and tell on the way which elements are inside out.
static bool foresee(PliBody *b, PliStepInfo *info)
{
    const PliSystem *s = &b->system;
    if (!s->force->noted_inverted || !b->choice.implicit || info->status != PLI_OK) return false;
    if (b->foreseen_wait > 0) return b->foreseen_wait--, false;
    memset(b->kept_f, 0, 3 * (size_t)(s->active_count + s->slave_count) * sizeof *b->kept_f);
    s->force->add_force(s->force_self, s->x, s->material_damping > 0.0 ? s->v : NULL, b->kept_f);
    b->foreseen = s->force->noted_inverted(s->force_self, &info->inverted, &info->bad_element);
    if (!b->foreseen) b->foreseen_wait = INT_MAX; // the forces of this body do not tell
    return b->foreseen;
}

// One attempt from the state the compact points have.
static void attempt(PliBody *b, const PliState *s, double dt, PliStepInfo *info)
{
    b->step_length = dt;
    b->strained = 0.0; // it moves
    if (b->choice.implicit)
        integrate_implicitly(b, s, dt, 1 << info->retries, info);
    else
        integrate_explicitly(b, s, dt, info);
    const PliForceOps *force = b->system.force;
    const PliStepCause cause = info->status == PLI_OK ? judge(b, &info->bad_dof) : PLI_STEP_DONE;
    if (cause != PLI_STEP_DONE) fail_step(info, PLI_DIVERGED, cause);
    info->bad_element = PLI_NONE;
    if (force->inverted && !foresee(b, info))
        info->inverted = force->inverted(b->system.force_self, b->live.x, &info->bad_element);
}

static void go_back(PliBody *b)
{
    b->strained = 0.0;
    const size_t n = 3 * (size_t)b->system.active_count;
    memcpy(b->live.x, b->live.x_saved, n * sizeof(double));
    memcpy(b->live.v, b->live.v_saved, n * sizeof(double));
    pli_system_spread(&b->system, b->live.x);
    pli_system_spread(&b->system, b->live.v);
}

PliStepInfo pli_body_step(PliBody *b, const PliState *s, double dt)
{
    if (b->forms) return pli_forms_step(b, s, dt);
    const double begin = pli_cpu_ms();
    PliStats *stats = &b->stats; // times are those of the last step until new ones are known: governors read them
    const uint64_t refined = stats->refined, coarsened = stats->coarsened;
    adapt_now(b, s, dt);
    PliStepInfo info = pli_body_advance(b, s, dt);
    info.refined = (PliIndex)(stats->refined - refined);
    info.coarsened = (PliIndex)(stats->coarsened - coarsened);
    stats->step_ms = pli_cpu_ms() - begin;
    return info;
}

// Compact results go back to the host's arrays. Passive fixed coefficients keep what the host gave them; active ones moved with
// the velocity the host gave them.
static void scatter(PliBody *b, const PliState *s)
{
    if (!b->def.spread) {
        pli_live_scatter_free(b, s->x, s->v);
        return;
    }
    copy_fixed(b, s->x, b->fixed_x);
    copy_fixed(b, s->v, b->fixed_v);
    pli_live_scatter(b, s->x, s->v);
    pli_body_spread(b, s->x);
    pli_body_spread_velocity(b, s->v);
    for (PliIndex i = 0; i < b->fixed_count; ++i) {
        const PliIndex dof = b->fixed_dof[i];
        if (b->live.position[dof] < b->system.active_count) continue;
        v3_copy(s->x + 3 * (size_t)dof, b->fixed_x + 3 * (size_t)dof);
        v3_copy(s->v + 3 * (size_t)dof, b->fixed_v + 3 * (size_t)dof);
    }
}

static PliStepInfo advance(PliBody *b, const PliState *s, double dt, int order, bool once)
{
    if (b->def.integrator == PLI_INTEGRATE_AUTO && !once) order = 2;
    b->order = b->held_points ? 1 : order; // multipliers of held points are those of one implicit Euler step
    PliStepInfo info = { .finite = true, .bad_element = PLI_NONE, .bad_dof = PLI_NONE };
    const double begin = pli_cpu_ms();
    PliStats *stats = &b->stats;
    const PliState *outer = b->state; // a scheme may relax its body inside adapt
    stats->solve_ms = 0.0;
    if (b->live.refused != PLI_OK && b->system.active_count == 0) pli_body_recut(b); // there may be memory now
    if (b->live.refused != PLI_OK) { // the forces have no room for this cut: nothing moves, and it is said
        fail_step(&info, b->live.refused, PLI_STEP_NO_ROOM);
        info.finite = false;
        return info;
    }
    pli_body_points_recall(b, s);
    pli_live_gather(b, s->x, s->v);
    const size_t n = 3 * (size_t)b->system.active_count;
    if (b->foreseen && !b->system.force_ready) {
        memcpy(b->live.f, b->kept_f, (n + 3 * (size_t)b->system.slave_count) * sizeof *b->kept_f);
        b->system.force_ready = true;
    }
    b->foreseen = false;
    memcpy(b->live.x_saved, b->live.x, n * sizeof(double));
    memcpy(b->live.v_saved, b->live.v, n * sizeof(double));
    const double start = pli_cpu_ms();
    const double last_drift = b->system.last_drift;
    pli_choice_make(b, s, dt, once);
    be_cautious(b, dt);
    attempt(b, s, dt, &info);
    if (pli_choice_take_back(b, &info)) {
        go_back(b);
        b->system.last_drift = 0.0;
        info = (PliStepInfo){ .bad_element = PLI_NONE, .bad_dof = PLI_NONE };
        be_cautious(b, dt);
        attempt(b, s, dt, &info);
    }
    for (int k = 0; k < MOST_RETRIES && asks_again(b, dt, &info); ++k) {
        go_back(b);
        b->system.last_drift = last_drift;
        info = (PliStepInfo){ .bad_element = PLI_NONE, .bad_dof = PLI_NONE, .retries = k + 1 };
        attempt(b, s, dt, &info);
    }
    stats->retries += (uint64_t)info.retries;
    stats->substep = info.substeps ? dt / info.substeps : 0.0;
    stats->solve_ms = pli_cpu_ms() - start;
    info.finite = info.status == PLI_OK;
    pli_choice_note(b, dt, &info);
    if (b->tool_count) pli_contact_end(b->contact, info.finite);
    pli_body_constraints_end(b, dt, info.finite);
    if (!info.finite) go_back(b);
    scatter(b, s);
    if (b->skin && !b->rows) pli_skin_fade(b->skin, exp(-dt / OFFSET_TIME));
    if (!b->rows) pli_body_shadows_show(b, s->x, dt);
    b->state = outer;
    if (!b->rows) stats->steps++;
    stats->step_ms = pli_cpu_ms() - begin + b->adapting_ms; // also where the host adapted before: governors count on it
    b->adapting_ms = 0.0;
    return info;
}

PliStepInfo pli_body_advance(PliBody *b, const PliState *s, double dt)
{
    return b->forms ? pli_forms_advance(b, s, dt, false) : advance(b, s, dt, b->def.order, false);
}

PliStepInfo pli_body_advance_once(PliBody *b, const PliState *s, double dt)
{
    return b->forms ? pli_forms_advance(b, s, dt, true) : advance(b, s, dt, 1, true);
}

static PliSystem *system_of(const PliBody *b) { return &((PliBody *)b)->system; } // for its scratch
static PliImplicit *implicit_of(const PliBody *b) { return &((PliBody *)b)->implicit; }

/// Whether the last step was one that forces can be added to afterwards.
static bool responds(const PliBody *b)
{
    return !b->choice.implicit || (b->order < 2 && b->pattern_revision == b->revision);
}

PliStatus pli_body_response(const PliBody *b, const double *f, double dt, double *dv)
{
    if (b->forms) {
        memset(dv + 3 * (size_t)b->forms->shift, 0, 3 * pli_forms_rest_count(b->forms) * sizeof *dv);
        return pli_body_response(pli_forms_fallback(b), f, dt, dv);
    }
    const PliLive *l = &b->live;
    const PliIndex active = b->system.active_count;
    const bool implicit = b->choice.implicit;
    if (!responds(b)) return PLI_UNSUPPORTED;
    memcpy(b->full_f, f, 3 * (size_t)b->statics.dof_count * sizeof *f);
    pli_body_reduce(b, b->full_f);
    for (PliIndex i = 0; i < active; ++i) {
        const double *fi = b->full_f + 3 * (size_t)l->dof[i];
        const double scale = implicit ? (l->fixed[i] ? 0.0 : dt) : dt * l->inv_mass[i];
        for (int c = 0; c < 3; ++c) l->f[3 * (size_t)i + c] = scale * fi[c];
    }
    if (implicit) {
        const PliStatus status = pli_implicit_solve(system_of(b), implicit_of(b), l->f, l->f_ext); // free between steps
        if (status != PLI_OK) return status;
        memcpy(l->f, l->f_ext, 3 * (size_t)active * sizeof(double));
    }
    memset(dv, 0, 3 * (size_t)b->statics.dof_count * sizeof *dv);
    for (PliIndex i = 0; i < active; ++i)
        if (!l->fixed[i]) memcpy(dv + 3 * (size_t)l->dof[i], l->f + 3 * (size_t)i, 3 * sizeof(double));
    pli_body_spread_velocity(b, dv);
    return PLI_OK;
}

enum { LANES = 8 }; ///< right-hand sides of one pass over the factor

size_t pli_body_compliance_work(const PliBody *b)
{
    return b->forms ? pli_body_compliance_work(pli_forms_fallback(b)) : 2 * LANES * 3 * (size_t)b->system.active_count;
}

// f += weight^T of a coefficient, or what f is there: a passive one acts on those it follows, and follows them.
static void put_unit(const PliBody *b, PliRows w, PliIndex dof, size_t lane, size_t direction, double unit, double *f)
{
    const PliLive *l = &b->live;
    for (PliIndex e = w.first[dof]; e < w.first[dof + 1]; ++e) {
        const size_t at = l->position[w.column[e]];
        const double scale = b->choice.implicit ? 1.0 : l->inv_mass[at];
        if (!l->fixed[at]) f[LANES * (3 * at + direction) + lane] += unit * w.weight[e] * scale;
    }
}

static double take_motion(const PliBody *b, PliRows w, PliIndex dof, size_t lane, size_t direction, const double *x)
{
    double sum = 0.0;
    if (b->is_fixed[dof]) return 0.0;
    for (PliIndex e = w.first[dof]; e < w.first[dof + 1]; ++e) {
        const size_t at = b->live.position[w.column[e]];
        if (!b->live.fixed[at]) sum += w.weight[e] * x[LANES * (3 * at + direction) + lane];
    }
    return sum;
}

PliStatus pli_body_compliance(const PliBody *b, const PliIndex *dofs, PliIndex count, double dt, double *c,
                              double *work)
{
    if (b->forms) return pli_body_compliance(pli_forms_fallback(b), dofs, count, dt, c, work);
    const size_t n = 3 * (size_t)b->system.active_count, size = 3 * (size_t)count;
    if (!responds(b)) return PLI_UNSUPPORTED;
    const PliRows w = b->ops->transfer(b->self);
    const bool implicit = b->choice.implicit;
    if (implicit) {
        const PliTouched touched = { count, dofs, w, b->live.position, b->is_fixed };
        const PliStatus status = pli_implicit_condense(system_of(b), implicit_of(b), &touched, dt, c);
        if (status != PLI_UNSUPPORTED) return status;
    }
    double *x = work, *scratch = work + LANES * n;
    for (size_t first = 0; first < size; first += LANES) {
        const size_t lanes = size - first < LANES ? size - first : LANES;
        memset(x, 0, LANES * n * sizeof *x);
        for (size_t k = 0; k < lanes; ++k)
            if (!b->is_fixed[dofs[(first + k) / 3]]) put_unit(b, w, dofs[(first + k) / 3], k, (first + k) % 3, dt, x);
        const PliStatus status = implicit ? pli_implicit_solve_eight(system_of(b), implicit_of(b), x, scratch) : PLI_OK;
        if (status != PLI_OK) return status;
        for (size_t k = 0; k < lanes; ++k)
            for (size_t j = 0; j < size; ++j) c[(first + k) * size + j] = take_motion(b, w, dofs[j / 3], k, j % 3, x);
    }
    return PLI_OK;
}

PliStats pli_body_stats(const PliBody *b)
{
    if (b->forms) return pli_forms_stats(b);
    PliStats stats = b->stats;
    stats.bytes = b->bytes;
    stats.rates = b->system.rate_count;
    stats.eased = b->elastic ? pli_elastic_force_eased(b->elastic) : 0;
    return stats;
}

uint64_t pli_body_hash(const PliBody *b, const PliState *s)
{
    if (b->forms) {
        const PliState t = pli_forms_state(b, s);
        return pli_body_hash(b->forms->acting, &t);
    }
    uint64_t h = pli_hash(PLI_HASH_SEED, b->live.dof, b->system.active_count * sizeof(PliIndex));
    for (PliIndex i = 0; i < b->system.active_count; ++i) {
        h = pli_hash(h, s->x + 3 * (size_t)b->live.dof[i], 3 * sizeof(double));
        h = pli_hash(h, s->v + 3 * (size_t)b->live.dof[i], 3 * sizeof(double));
    }
    return h;
}
