/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/graph/mechanics.h"
#include "host/graph/component.h"

#include <math.h>
#include <string.h>

// ---- gathering -----------------------------------------------------------------------------------------------------------------

typedef struct Count {
    size_t states, mapped, forces, masses, constraints;
} Count;

// Two passes over the subtree: count, then fill.
static PliStatus gather(PliMechanics *m, PliNode *node, bool fill, Count *n, PliError *err)
{
    if (!node->active) return PLI_OK;
    for (PliObject *o = node->first_object; o; o = o->next) {
        const PliOps *ops = o->cls->ops;
        if (!ops) continue;
        if (o->cls->roles & PLI_ROLE_STATE) {
            PliMech *s = pli_state_self(o);
            if (s->mapping) {
                if (fill) m->mapped[n->mapped] = s;
                n->mapped++;
            } else {
                if (fill) m->state[n->states] = s;
                n->states++;
            }
        }
        if (!(o->cls->roles & (PLI_ROLE_FORCE | PLI_ROLE_MASS | PLI_ROLE_CONSTRAINT))) continue;
        PliMech *s = pli_state_of(o);
        if (!s)
            return pli_refuse(err, PLI_BAD_ARGUMENT, "%s needs a MechanicalObject in its node or above", o->cls->name);
        if (o->cls->roles & PLI_ROLE_CONSTRAINT) {
            if (s->mapping)
                return pli_refuse(err, PLI_UNSUPPORTED, "%s on a mapped state is not supported", o->cls->name);
            if (fill) m->constraint[n->constraints] = (PliActor){ o, s };
            n->constraints++;
        } else {
            if (fill) m->force[n->forces] = (PliActor){ o, s };
            n->forces++;
            if (o->cls->roles & PLI_ROLE_MASS) {
                if (fill) m->mass[n->masses] = (PliActor){ o, s };
                n->masses++;
            }
        }
    }
    for (PliNode *c = node->first; c; c = c->next) {
        PliStatus status = gather(m, c, fill, n, err);
        if (status) return status;
    }
    return PLI_OK;
}

PliStatus pli_mechanics_gather(PliMechanics *m, PliObject *solver, PliError *err)
{
    PliScene *scene = solver->node->scene;
    *m = (PliMechanics){ .scene = scene, .node = solver->node };
    Count n = { 0 };
    PliStatus status = gather(m, m->node, false, &n, err);
    if (status) return status;
    m->state = PLI_SCENE_NEW(scene, n.states, PliMech *);
    m->mapped = PLI_SCENE_NEW(scene, n.mapped, PliMech *);
    m->force = PLI_SCENE_NEW(scene, n.forces, PliActor);
    m->mass = PLI_SCENE_NEW(scene, n.masses, PliActor);
    m->constraint = PLI_SCENE_NEW(scene, n.constraints, PliActor);
    if (!m->state || !m->mapped || !m->force || !m->mass || !m->constraint)
        return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for the lists of the solver");
    Count filled = { 0 };
    status = gather(m, m->node, true, &filled, err);
    if (status) return status;
    m->state_count = n.states;
    m->mapped_count = n.mapped;
    m->force_count = n.forces;
    m->mass_count = n.masses;
    m->constraint_count = n.constraints;
    for (size_t i = 0; i < n.states; ++i) {
        m->state[i]->offset = m->count;
        m->count += m->state[i]->count;
    }
    for (size_t i = 0; i < n.mapped; ++i) {
        PliMech *s = m->mapped[i];
        s->dx = PLI_SCENE_NEW(scene, 3 * (size_t)s->count, double);
        s->df = PLI_SCENE_NEW(scene, 3 * (size_t)s->count, double);
        if (!s->dx || !s->df) return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for %u mapped points", s->count);
    }
    return PLI_OK;
}

// ---- forces ----------------------------------------------------------------------------------------------------------------------

static PliRows rows_of(const PliMech *mapped) { return mapped->mapping->cls->ops->rows(mapped->mapping); }

static PliRows force_rows_of(const PliMech *mapped)
{
    const PliOps *ops = mapped->mapping->cls->ops;
    return ops->force_rows ? ops->force_rows(mapped->mapping) : ops->rows(mapped->mapping);
}

void pli_mechanics_force(PliMechanics *m, double *f)
{
    for (size_t i = 0; i < m->state_count; ++i)
        memset(m->state[i]->f, 0, 3 * (size_t)m->state[i]->count * sizeof(double));
    for (size_t i = 0; i < m->mapped_count; ++i)
        memset(m->mapped[i]->f, 0, 3 * (size_t)m->mapped[i]->count * sizeof(double));
    for (size_t i = 0; i < m->force_count; ++i) {
        const PliActor *a = &m->force[i];
        if (a->object->cls->ops->add_force)
            a->object->cls->ops->add_force(a->object, a->state->x, a->state->v, a->state->f);
    }
    for (size_t i = m->mapped_count; i-- > 0;)
        pli_rows_add_transpose(force_rows_of(m->mapped[i]), m->mapped[i]->f, m->mapped[i]->parent->f);
    for (size_t i = 0; i < m->state_count; ++i)
        memcpy(f + 3 * (size_t)m->state[i]->offset, m->state[i]->f, 3 * (size_t)m->state[i]->count * sizeof(double));
}

void pli_mechanics_add_mbk(PliMechanics *m, const double *dx, PliFactors factors, double *df)
{
    for (size_t i = 0; i < m->state_count; ++i) {
        // the cast is undone by the const of add_mbk's argument
        m->state[i]->dx = (double *)(uintptr_t)(dx + 3 * (size_t)m->state[i]->offset);
        m->state[i]->df = df + 3 * (size_t)m->state[i]->offset;
    }
    for (size_t i = 0; i < m->mapped_count; ++i) {
        PliMech *s = m->mapped[i];
        pli_rows_apply(rows_of(s), s->parent->dx, s->dx);
        memset(s->df, 0, 3 * (size_t)s->count * sizeof(double));
    }
    for (size_t i = 0; i < m->force_count; ++i) {
        const PliActor *a = &m->force[i];
        if (a->object->cls->ops->add_mbk) a->object->cls->ops->add_mbk(a->object, a->state->dx, factors, a->state->df);
    }
    for (size_t i = m->mapped_count; i-- > 0;)
        pli_rows_add_transpose(rows_of(m->mapped[i]), m->mapped[i]->df, m->mapped[i]->parent->df);
}

void pli_mechanics_project(PliMechanics *m, double *d)
{
    for (size_t i = 0; i < m->constraint_count; ++i) {
        const PliActor *a = &m->constraint[i];
        if (a->object->cls->ops->project_response)
            a->object->cls->ops->project_response(a->object, d + 3 * (size_t)a->state->offset);
    }
}

void pli_mechanics_velocity(const PliMechanics *m, double *v)
{
    for (size_t i = 0; i < m->state_count; ++i)
        memcpy(v + 3 * (size_t)m->state[i]->offset, m->state[i]->v, 3 * (size_t)m->state[i]->count * sizeof(double));
}

void pli_mechanics_integrate(PliMechanics *m, const double *dv, double v_scale, double h)
{
    for (size_t i = 0; i < m->state_count; ++i) {
        PliMech *s = m->state[i];
        const double *d = dv + 3 * (size_t)s->offset;
        for (size_t k = 0; k < 3 * (size_t)s->count; ++k) {
            s->v[k] = v_scale * s->v[k] + d[k];
            s->x[k] += h * s->v[k];
        }
    }
}

void pli_mechanics_end(PliMechanics *m, double time)
{
    for (size_t i = 0; i < m->constraint_count; ++i) {
        const PliActor *a = &m->constraint[i];
        const PliOps *ops = a->object->cls->ops;
        if (ops->project_position) ops->project_position(a->object, a->state->x, time);
        if (ops->project_velocity) ops->project_velocity(a->object, a->state->v, time);
    }
    for (size_t i = 0; i < m->state_count; ++i) pli_touch(m->state[i]->position), pli_touch(m->state[i]->velocity);
    pli_mechanics_map(m);
}

void pli_mechanics_map(PliMechanics *m)
{
    for (size_t i = 0; i < m->mapped_count; ++i) {
        PliMech *s = m->mapped[i];
        PliRows rows = rows_of(s);
        const PliOps *ops = s->mapping->cls->ops;
        if (ops->apply)
            ops->apply(s->mapping, s->parent->x, s->x);
        else
            pli_rows_apply(rows, s->parent->x, s->x);
        pli_rows_apply(rows, s->parent->v, s->v);
        pli_touch(s->position);
        pli_touch(s->velocity);
    }
}

// ---- assembled matrix ---------------------------------------------------------------------------------------------------------

// Walks a block of a mapped state down to independent points: weight_row x weight_col for every pair of parents.
typedef void PairFn(PliMechanics *m, PliIndex row, PliIndex col, double weight, const double *k9);

static void expand(PliMechanics *m, const PliMech *rs, PliIndex row, const PliMech *cs, PliIndex col, double weight,
                   const double *k9, PairFn *fn)
{
    if (rs->mapping) {
        PliRows w = rows_of(rs);
        for (PliIndex k = w.first[row]; k < w.first[row + 1]; ++k)
            expand(m, rs->parent, w.column[k], cs, col, weight * w.weight[k], k9, fn);
    } else if (cs->mapping) {
        PliRows w = rows_of(cs);
        for (PliIndex k = w.first[col]; k < w.first[col + 1]; ++k)
            expand(m, rs, row, cs->parent, w.column[k], weight * w.weight[k], k9, fn);
    } else {
        fn(m, rs->offset + row, cs->offset + col, weight, k9);
    }
}

static void push_pair(PliMechanics *m, PliIndex row, PliIndex col, double weight, const double *k9)
{
    (void)weight;
    (void)k9;
    if (!m->failed) m->failed = pli_block_matrix_push(m->matrix, row, col);
}

static void add_pair(PliMechanics *m, PliIndex row, PliIndex col, double weight, const double *k9)
{
    const unsigned char *fr = m->fixed + 3 * (size_t)row, *fc = m->fixed + 3 * (size_t)col;
    double block[9];
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) block[3 * i + j] = fr[i] || fc[j] ? 0.0 : weight * k9[3 * i + j];
    pli_block_matrix_add(m->matrix, row, col, block);
}

void pli_mechanics_push(PliMechanics *m, const PliMech *state, PliIndex row, PliIndex col)
{
    expand(m, state, row, state, col, 1.0, NULL, push_pair);
}

void pli_mechanics_add(PliMechanics *m, const PliMech *state, PliIndex row, PliIndex col, const double k9[9])
{
    expand(m, state, row, state, col, 1.0, k9, add_pair);
}

void pli_mechanics_add_scalar(PliMechanics *m, const PliMech *state, PliIndex row, PliIndex col, double value)
{
    const double k9[9] = { value, 0, 0, 0, value, 0, 0, 0, value };
    expand(m, state, row, state, col, 1.0, k9, add_pair);
}

static uint64_t revision(const PliMechanics *m)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < m->force_count; ++i) {
        const PliOps *ops = m->force[i].object->cls->ops;
        if (ops->revision) sum += ops->revision(m->force[i].object);
    }
    for (size_t i = 0; i < m->mapped_count; ++i) {
        const PliOps *ops = m->mapped[i]->mapping->cls->ops;
        if (ops->revision) sum += ops->revision(m->mapped[i]->mapping);
    }
    return sum;
}

PliStatus pli_mechanics_refresh(PliMechanics *m, PliError *err)
{
    return m->matrix && m->revision == revision(m) ? PLI_OK : pli_mechanics_pattern(m, err);
}

PliStatus pli_mechanics_pattern(PliMechanics *m, PliError *err)
{
    if (m->count == 0) return PLI_OK;
    if (!m->matrix) m->matrix = pli_block_matrix_create(&m->scene->host);
    if (!m->fixed) m->fixed = PLI_SCENE_NEW(m->scene, 3 * (size_t)m->count, unsigned char);
    if (!m->matrix || !m->fixed)
        return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for the matrix of %u points", m->count);
    m->revision = revision(m);
    PliStatus status = pli_block_matrix_begin(m->matrix, m->count);
    for (PliIndex i = 0; i < m->count && !status; ++i) status = pli_block_matrix_push(m->matrix, i, i);
    m->failed = status;
    for (size_t i = 0; i < m->force_count; ++i) {
        const PliActor *a = &m->force[i];
        if (a->object->cls->ops->pattern) a->object->cls->ops->pattern(a->object, m, a->state);
    }
    if (m->failed) return pli_refuse(err, m->failed, "no memory for the matrix of %u points", m->count);
    return pli_block_matrix_seal(m->matrix, err);
}

void pli_mechanics_mask(PliMechanics *m)
{
    memset(m->fixed, 0, 3 * (size_t)m->count);
    for (size_t i = 0; i < m->constraint_count; ++i) {
        const PliActor *a = &m->constraint[i];
        if (a->object->cls->ops->mask) a->object->cls->ops->mask(a->object, m->fixed + 3 * (size_t)a->state->offset);
    }
}

void pli_mechanics_assemble(PliMechanics *m, PliFactors factors)
{
    pli_mechanics_mask(m);
    pli_block_matrix_zero(m->matrix);
    for (size_t i = 0; i < m->force_count; ++i) {
        const PliActor *a = &m->force[i];
        if (a->object->cls->ops->add_matrix) a->object->cls->ops->add_matrix(a->object, m, a->state, factors);
    }
    for (PliIndex i = 0; i < m->count; ++i) {
        const unsigned char *fixed = m->fixed + 3 * (size_t)i;
        const double unit[9] = { fixed[0], 0, 0, 0, fixed[1], 0, 0, 0, fixed[2] };
        if (fixed[0] || fixed[1] || fixed[2]) pli_block_matrix_add(m->matrix, i, i, unit);
    }
}
