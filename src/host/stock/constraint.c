/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/vec.h"
#include "host/stock/stock.h"

#include <string.h>

// Projective constraints. Indices are read at every projection, as SOFA does: an ROI behind them may change.

typedef struct Fixed {
    PliMech *state;
    PliData *indices;
    bool all, project_velocity;
    unsigned char axes[3]; ///< PartialFixed: which directions are held
} Fixed;

// Calls it for every index that exists; SOFA drops the others with a warning at init.
#define FOR_FIXED(c, i)                                                                                                \
    size_t fixed_count_;                                                                                               \
    const PliIndex *fixed_list_ = pli_data_indices((c)->indices, &fixed_count_);                                       \
    if ((c)->all) fixed_count_ = (c)->state->count;                                                                    \
    for (size_t fixed_at_ = 0; fixed_at_ < fixed_count_; ++fixed_at_)                                                  \
        for (PliIndex i = (c)->all ? (PliIndex)fixed_at_ : fixed_list_[fixed_at_], once_ = 1;                          \
             once_ && i < (c)->state->count; once_ = 0)

static void hold(const Fixed *c, double *d)
{
    FOR_FIXED(c, i)
    for (int k = 0; k < 3; ++k)
        if (c->axes[k]) d[3 * (size_t)i + k] = 0.0;
}

static void fixed_project_response(PliObject *o, double *d) { hold(o->self, d); }

static void fixed_project_velocity(PliObject *o, double *v, double time)
{
    (void)time;
    const Fixed *c = o->self;
    if (c->project_velocity) hold(c, v);
}

static void fixed_mask(PliObject *o, unsigned char *fixed)
{
    const Fixed *c = o->self;
    FOR_FIXED(c, i)
    for (int k = 0; k < 3; ++k) fixed[3 * (size_t)i + k] |= c->axes[k];
}

static PliStatus constraint_begin(PliObject *o, Fixed *c, PliError *err)
{
    c->state = pli_state_counted(o, err);
    if (!c->state) return PLI_BAD_ARGUMENT;
    c->indices = pli_data(o, "indices");
    c->axes[0] = c->axes[1] = c->axes[2] = 1;
    size_t n;
    const PliIndex *list = pli_data_indices(c->indices, &n);
    for (size_t i = 0; i < n; ++i)
        if (list[i] >= c->state->count)
            pli_finding_add(o->node->scene, PLI_WARNING, o->xml, o->cls->name,
                            "index %u is left out: there are %u points", list[i], c->state->count);
    return PLI_OK;
}

static PliStatus fixed_init(PliObject *o, PliError *err)
{
    Fixed *c = o->self;
    PliStatus status = constraint_begin(o, c, err);
    if (status) return status;
    c->all = pli_bool(o, "fixAll");
    c->project_velocity = pli_bool(o, "activate_projectVelocity");
    return PLI_OK;
}

const PliOps pli_fixed_ops = { .size = sizeof(Fixed),
                               .init = fixed_init,
                               .project_response = fixed_project_response,
                               .project_velocity = fixed_project_velocity,
                               .mask = fixed_mask };

// ---- PartialFixedProjectiveConstraint --------------------------------------------------------------------------------------------

static PliStatus partial_init(PliObject *o, PliError *err)
{
    Fixed *c = o->self;
    PliStatus status = constraint_begin(o, c, err);
    if (status) return status;
    c->all = pli_bool(o, "fixAll");
    c->project_velocity = pli_bool(o, "projectVelocity");
    size_t n;
    const double *axes = pli_reals(o, "fixedDirections", &n);
    for (size_t i = 0; i < 3 && i < n; ++i) c->axes[i] = axes[i] != 0.0;
    return PLI_OK;
}

const PliOps pli_partial_fixed_ops = { .size = sizeof(Fixed),
                                       .init = partial_init,
                                       .project_response = fixed_project_response,
                                       .project_velocity = fixed_project_velocity,
                                       .mask = fixed_mask };

// ---- LinearMovementProjectiveConstraint ------------------------------------------------------------------------------------------
// Between two keys points move linearly; before the first and after the last key they are free. SOFA asks for the motion at the
// time the step began, so a state at t holds the motion of t - dt.

typedef struct Movement {
    Fixed base;
    double *x0; ///< where the points were when the motion was first asked for
    const double *time, *move;
    size_t count;
    bool known, relative;
} Movement;

static bool find_keys(const Movement *m, double t, size_t *next)
{
    if (m->count == 0 || t < m->time[0] || t > m->time[m->count - 1]) return false;
    for (size_t i = 1; i < m->count; ++i)
        if (m->time[i] > t) return *next = i, m->time[i] != m->time[i - 1];
    return false;
}

static void movement_project_response(PliObject *o, double *d)
{
    const Movement *m = o->self;
    size_t next;
    if (find_keys(m, o->node->scene->time, &next)) hold(&m->base, d);
}

static void movement_mask(PliObject *o, unsigned char *fixed)
{
    const Movement *m = o->self;
    size_t next;
    if (find_keys(m, o->node->scene->time, &next)) fixed_mask(o, fixed);
}

static void movement_project_velocity(PliObject *o, double *v, double time)
{
    const Movement *m = o->self;
    size_t next;
    if (!find_keys(m, time, &next)) return;
    double span = 1.0 / (m->time[next] - m->time[next - 1]);
    const double *a = m->move + 3 * (next - 1), *b = m->move + 3 * next;
    FOR_FIXED(&m->base, i)
    for (int k = 0; k < 3; ++k) v[3 * (size_t)i + k] = (b[k] - a[k]) * span;
}

static void movement_project_position(PliObject *o, double *x, double time)
{
    Movement *m = o->self;
    if (!m->known) memcpy(m->x0, x, 3 * (size_t)m->base.state->count * sizeof *x);
    m->known = true;
    size_t next;
    if (!find_keys(m, time, &next)) return;
    double s = (time - m->time[next - 1]) / (m->time[next] - m->time[next - 1]);
    const double *a = m->move + 3 * (next - 1), *b = m->move + 3 * next;
    FOR_FIXED(&m->base, i)
    for (int k = 0; k < 3; ++k)
        x[3 * (size_t)i + k] = (m->relative ? m->x0[3 * (size_t)i + k] : 0.0) + a[k] + (b[k] - a[k]) * s;
}

static PliStatus movement_init(PliObject *o, PliError *err)
{
    Movement *m = o->self;
    PliStatus status = constraint_begin(o, &m->base, err);
    if (status) return status;
    size_t n;
    m->time = pli_reals(o, "keyTimes", &m->count);
    m->move = pli_reals(o, "movements", &n);
    m->relative = pli_bool(o, "relativeMovements");
    if (n != 3 * m->count) return pli_refuse(err, PLI_BAD_ARGUMENT, "%zu keyTimes, but %zu movements", m->count, n / 3);
    for (size_t i = 1; i < m->count; ++i)
        if (m->time[i] < m->time[i - 1])
            return pli_refuse(err, PLI_BAD_ARGUMENT, "keyTimes must ascend: %g comes after %g", m->time[i],
                              m->time[i - 1]);
    m->x0 = PLI_SCENE_NEW(o->node->scene, 3 * (size_t)m->base.state->count, double);
    return m->x0 ? PLI_OK : pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for %u points", m->base.state->count);
}

const PliOps pli_linear_movement_ops = { .size = sizeof(Movement),
                                         .init = movement_init,
                                         .project_response = movement_project_response,
                                         .project_velocity = movement_project_velocity,
                                         .project_position = movement_project_position,
                                         .mask = movement_mask };
