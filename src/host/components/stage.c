/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/vec.h"
#include "host/components/grab.h"
#include "host/components/components.h"

#include <string.h>

// The stages of a body for stock solvers: force, mass, and the mask that keeps passive coefficients out. Forces and matrices come
// out of the core reduced to the active coefficients.

typedef struct Stage {
    PliModel *model;
    double rayleigh;
} Stage;

static PliStatus stage_init(PliObject *o, PliError *err)
{
    Stage *s = o->self;
    s->model = pli_model_of(o, err);
    if (!s->model) return err->status;
    return pli_model_claim(s->model, PLI_ROUTE_STAGES, err);
}

// ---- AdaptiveForceField ------------------------------------------------------------------------------------------------------------

static PliStatus force_init(PliObject *o, PliError *err)
{
    PliStatus status = stage_init(o, err);
    if (status) return status;
    Stage *s = o->self;
    s->rayleigh = pli_real(o, "rayleighStiffness");
    pli_body_set_definite(s->model->body, pli_bool(o, "definite"));
    return PLI_OK;
}

static PliStatus force_ready(PliObject *o, PliError *err)
{
    const Stage *s = o->self;
    bool mask = false, mass = false;
    for (PliObject *other = o->node->first_object; other; other = other->next) {
        mask = mask || other->cls->ops == &pli_adaptive_mask_ops;
        mass = mass || other->cls->ops == &pli_adaptive_mass_ops;
    }
    if (!mass) return pli_refuse(err, PLI_BAD_ARGUMENT, "needs an AdaptiveMass in its node");
    bool passive = pli_body_active(s->model->body).count < pli_body_dof_count(s->model->body) ||
                   pli_body_level_count(s->model->body) > 1;
    if (passive && !mask)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "a body with passive coefficients needs an AdaptiveMask in this node");
    return PLI_OK;
}

static void force_add_force(PliObject *o, const double *x, const double *v, double *f)
{
    const PliModel *m = ((Stage *)o->self)->model;
    pli_body_add_force(m->body, x, v, f);
    if (pli_model_grabbed(m))
        pli_grab_force(m, x, f); // assembled matrices leave its stiffness out: it is softer than the body's
}

static void force_add_mbk(PliObject *o, const double *dx, PliFactors factors, double *df)
{
    const Stage *s = o->self;
    double k = factors.k + factors.b * s->rayleigh;
    if (k != 0.0) pli_body_add_dforce(s->model->body, dx, k, df);
    if (factors.k != 0.0 && pli_model_grabbed(s->model)) pli_grab_dforce(s->model, dx, factors.k, df);
}

typedef struct Target {
    PliMechanics *m;
    const PliMech *state;
    double factor;
} Target;

static void push_block(PliIndex row, PliIndex col, const double k9[9], void *user)
{
    (void)k9;
    const Target *t = user;
    pli_mechanics_push(t->m, t->state, row, col);
}

static void add_block(PliIndex row, PliIndex col, const double k9[9], void *user)
{
    const Target *t = user;
    double block[9];
    for (int i = 0; i < 9; ++i) block[i] = t->factor * k9[i];
    pli_mechanics_add(t->m, t->state, row, col, block);
}

static void force_pattern(PliObject *o, PliMechanics *m, PliMech *state)
{
    const Stage *s = o->self;
    Target t = { m, state, 0.0 };
    // the blocks exist once the tangent was computed: compute it at the state that is there
    memset(state->f, 0, 3 * (size_t)state->count * sizeof(double));
    pli_body_add_force(s->model->body, state->x, state->v, state->f);
    pli_body_stiffness_blocks(s->model->body, push_block, &t);
}

static void force_add_matrix(PliObject *o, PliMechanics *m, PliMech *state, PliFactors factors)
{
    const Stage *s = o->self;
    Target t = { m, state, factors.k + factors.b * s->rayleigh };
    pli_body_stiffness_blocks(s->model->body, add_block, &t);
}

static uint64_t stage_revision(PliObject *o) { return pli_body_active(((Stage *)o->self)->model->body).revision; }

static double force_potential(PliObject *o, const double *x)
{
    const PliModel *m = ((Stage *)o->self)->model;
    return pli_body_energy(m->body, x, m->state->v).elastic;
}

const PliOps pli_adaptive_force_ops = { .size = sizeof(Stage),
                                        .init = force_init,
                                        .ready = force_ready,
                                        .add_force = force_add_force,
                                        .add_mbk = force_add_mbk,
                                        .pattern = force_pattern,
                                        .add_matrix = force_add_matrix,
                                        .revision = stage_revision,
                                        .potential = force_potential };

// ---- AdaptiveMass ------------------------------------------------------------------------------------------------------------------

static PliStatus mass_init(PliObject *o, PliError *err)
{
    PliStatus status = stage_init(o, err);
    if (!status) ((Stage *)o->self)->rayleigh = pli_real(o, "rayleighMass");
    return status;
}

static void mass_add_force(PliObject *o, const double *x, const double *v, double *f)
{
    (void)x;
    (void)v;
    pli_body_add_gravity(((Stage *)o->self)->model->body, f);
}

static void mass_add_mbk(PliObject *o, const double *dx, PliFactors factors, double *df)
{
    const Stage *s = o->self;
    double factor = factors.m - factors.b * s->rayleigh;
    if (factor != 0.0) pli_body_add_mass(s->model->body, dx, factor, df);
}

static void push_scalar(PliIndex row, PliIndex col, double value, void *user)
{
    (void)value;
    const Target *t = user;
    pli_mechanics_push(t->m, t->state, row, col);
}

static void add_scalar(PliIndex row, PliIndex col, double value, void *user)
{
    const Target *t = user;
    double d = t->factor * value;
    const double block[9] = { d, 0, 0, 0, d, 0, 0, 0, d };
    pli_mechanics_add(t->m, t->state, row, col, block);
}

static void mass_pattern(PliObject *o, PliMechanics *m, PliMech *state)
{
    Target t = { m, state, 0.0 };
    pli_body_mass_entries(((Stage *)o->self)->model->body, push_scalar, &t);
}

static void mass_add_matrix(PliObject *o, PliMechanics *m, PliMech *state, PliFactors factors)
{
    const Stage *s = o->self;
    Target t = { m, state, factors.m - factors.b * s->rayleigh };
    pli_body_mass_entries(s->model->body, add_scalar, &t);
}

static void mass_acceleration(PliObject *o, const double *f, double *a)
{
    pli_body_acceleration(((Stage *)o->self)->model->body, f, a);
}

static double mass_kinetic(PliObject *o, const double *v)
{
    const PliModel *m = ((Stage *)o->self)->model;
    return pli_body_energy(m->body, m->state->x, v).kinetic;
}

static double mass_potential(PliObject *o, const double *x)
{
    const PliModel *m = ((Stage *)o->self)->model;
    return pli_body_energy(m->body, x, m->state->v).gravity;
}

const PliOps pli_adaptive_mass_ops = { .size = sizeof(Stage),
                                       .init = mass_init,
                                       .add_force = mass_add_force,
                                       .add_mbk = mass_add_mbk,
                                       .pattern = mass_pattern,
                                       .add_matrix = mass_add_matrix,
                                       .revision = stage_revision,
                                       .acceleration = mass_acceleration,
                                       .kinetic = mass_kinetic,
                                       .potential = mass_potential };

// ---- AdaptiveMask ------------------------------------------------------------------------------------------------------------------

static PliStatus mask_init(PliObject *o, PliError *err)
{
    Stage *s = o->self;
    s->model = pli_model_of(o, err);
    if (!s->model) return err->status;
    if (s->model->route == PLI_ROUTE_OWNED)
        return pli_refuse(err, PLI_BAD_ARGUMENT,
                          "AdaptiveSolver keeps passive coefficients itself: remove AdaptiveMask");
    return PLI_OK;
}

// Passive coefficients: those between the active ones, which ascend.
#define FOR_PASSIVE(body, i)                                                                                           \
    PliActive active_ = pli_body_active(body);                                                                         \
    PliIndex next_ = 0;                                                                                                \
    for (PliIndex i = 0, total_ = pli_body_dof_count(body); i < total_; ++i)                                           \
        if (next_ < active_.count && active_.dof[next_] == i)                                                          \
            ++next_;                                                                                                   \
        else

static void mask_project_response(PliObject *o, double *d)
{
    const PliBody *body = ((Stage *)o->self)->model->body;
    FOR_PASSIVE(body, i) d[3 * (size_t)i] = d[3 * (size_t)i + 1] = d[3 * (size_t)i + 2] = 0.0;
}

static void mask_fixed(PliObject *o, unsigned char *fixed)
{
    const PliBody *body = ((Stage *)o->self)->model->body;
    FOR_PASSIVE(body, i) memset(fixed + 3 * (size_t)i, 1, 3);
}

static void mask_project_velocity(PliObject *o, double *v, double time)
{
    (void)time;
    pli_body_spread_velocity(((Stage *)o->self)->model->body, v);
}

static void mask_project_position(PliObject *o, double *x, double time)
{
    (void)time;
    pli_body_spread(((Stage *)o->self)->model->body, x);
}

const PliOps pli_adaptive_mask_ops = { .size = sizeof(Stage),
                                       .init = mask_init,
                                       .project_response = mask_project_response,
                                       .project_velocity = mask_project_velocity,
                                       .project_position = mask_project_position,
                                       .mask = mask_fixed };
