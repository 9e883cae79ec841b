/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/vec.h"
#include "host/stock.h"

#include <string.h>

// Projective constraints. Indices are read at every projection, as SOFA does: an ROI behind them may change.

typedef struct Fixed {
    PliMech *state;
    PliData *indices;
    bool all, project_velocity;
    unsigned char axes[3]; ///< PartialFixed: which directions are held
} Fixed;

// Calls it for every index that exists; SOFA drops the others with a warning at init.
#define FOR_FIXED(c, i)                                                                                                             \
    size_t fixed_count_;                                                                                                            \
    const PliIndex *fixed_list_ = pli_data_indices((c)->indices, &fixed_count_);                                                       \
    if ((c)->all) fixed_count_ = (c)->state->count;                                                                                    \
    for (size_t fixed_at_ = 0; fixed_at_ < fixed_count_; ++fixed_at_)                                                                  \
        for (PliIndex i = (c)->all ? (PliIndex)fixed_at_ : fixed_list_[fixed_at_], once_ = 1; once_ && i < (c)->state->count; once_ = 0)

static void hold(const Fixed *c, double *d)
{
    FOR_FIXED(c, i)
        for (int k = 0; k < 3; ++k)
            if (c->axes[k]) d[3 * (size_t)i + k] = 0.0;
}

static void fixed_project_response(PliObject *o, double *d)
{
    hold(o->self, d);
}

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
    c->state = pli_state_of(o);
    if (!c->state) return pli_refuse(err, PLI_BAD_ARGUMENT, "needs a MechanicalObject in its node or above");
    c->indices = pli_data(o, "indices");
    c->axes[0] = c->axes[1] = c->axes[2] = 1;
    size_t n;
    const PliIndex *list = pli_data_indices(c->indices, &n);
    for (size_t i = 0; i < n; ++i)
        if (list[i] >= c->state->count)
            pli_report_add(o->node->scene, PLI_WARNING, o->xml, o->cls->name, "index %u is left out: there are %u points", list[i], c->state->count);
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
