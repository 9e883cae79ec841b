/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// The body's skin: attaching a surface, its rows for hosts, and the candidates of tool contact.
#include <math.h>
#include <string.h>

#include "base/fold.h"
#include "base/vec.h"
#include "body/forms.h"

PliStatus pli_body_attach_skin(PliBody *b, const double *points, PliIndex point_count, const PliIndex *tris,
                               PliIndex tri_count, PliError *err)
{
    if (b->forms) return pli_forms_attach_skin(b, points, point_count, tris, tri_count, err);
    if (point_count == 0) return pli_refuse(err, PLI_BAD_ARGUMENT, "a skin needs points");
    for (PliIndex i = 0; i < 3 * tri_count; ++i)
        if (tris[i] >= point_count)
            return pli_refuse(err, PLI_BAD_MESH, "skin triangle %u uses point %u of %u", i / 3, tris[i], point_count);
    PliTransfer *base = pli_transfer_create(&b->host, point_count, (size_t)point_count * PLI_LOCATE_MAX);
    if (!base) goto no_memory;
    pli_transfer_clear(base, b->statics.dof_count);
    for (PliIndex i = 0; i < point_count; ++i) {
        PliIndex column[PLI_LOCATE_MAX];
        double weight[PLI_LOCATE_MAX];
        const double *p = points + 3 * (size_t)i;
        if (!isfinite(p[0]) || !isfinite(p[1]) || !isfinite(p[2])) {
            pli_transfer_destroy(base);
            return pli_refuse(err, PLI_BAD_MESH, "skin point %u is not finite", i);
        }
        const PliIndex count = b->ops->locate(b->self, p, column, weight, PLI_LOCATE_MAX);
        if (pli_transfer_push(base, column, weight, count) != PLI_OK) goto no_memory;
    }
    PliSkin *skin = pli_skin_create(&b->host, b->statics.dof_count, points, point_count, tris, tri_count, base);
    base = NULL; // the skin's, also when it could not be made
    if (!skin) goto no_memory;
    pli_skin_destroy(b->skin);
    pli_contact_destroy(b->contact);
    b->contact = NULL;
    b->skin = skin;
    if (pli_body_shadows_wear(b, points, point_count, tris, tri_count, err) != PLI_OK) return PLI_OUT_OF_MEMORY;
    if (b->tool_count) return pli_body_set_tools(b, b->tools, b->tool_count, err);
    return PLI_OK;
no_memory:
    pli_transfer_destroy(base);
    return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for a skin of %u points", point_count);
}

PliStatus pli_body_default_skin(PliBody *b, PliError *err)
{
    const PliSchemeStatic *f = &b->statics;
    return pli_body_attach_skin(b, f->surface_points, f->surface_point_count, f->surface_tris, f->surface_tri_count,
                                err);
}

PliStatus pli_body_set_tools(PliBody *b, PliTool *tools, int count, PliError *err)
{
    if (b->forms) return pli_forms_set_tools(b, tools, count, err);
    if (count < 0 || count > PLI_TOOL_MAX)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "a body takes up to %d tools, not %d", PLI_TOOL_MAX, count);
    if (count && !b->skin) return pli_refuse(err, PLI_BAD_ARGUMENT, "tools need a skin to touch");
    if (count && !b->contact) {
        b->contact = pli_contact_create(&b->host, b->skin->point_count * 2);
        if (!b->contact)
            return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for the contact of %u skin points",
                              b->skin->point_count);
    }
    if (b->contact && count != b->tool_count) pli_contact_forget(b->contact);
    b->tools = tools;
    b->tool_count = count;
    b->looks = 0; // other tools: every point has to be looked at again
    const PliStatus status = pli_body_reserve_tethers(b, err);
    return status == PLI_OK ? pli_body_shadows_meet(b, err) : status;
}

// the composed rows of every skin point, brought up to date
void pli_body_skin_compose(const PliBody *b)
{
    if (!b->skin) return;
    pli_skin_compose_all(b->skin, b->ops->transfer(b->self), b->statics.row_revision, b->revision,
                         b->statics.dof_level);
}

PliIndex pli_body_skin_count(const PliBody *b)
{
    if (b->forms) return pli_body_skin_count(b->forms->acting);
    return b->skin ? b->skin->point_count : 0;
}

const PliIndex *pli_body_skin_tris(const PliBody *b, PliIndex *tri_count)
{
    if (b->forms) return pli_body_skin_tris(b->forms->acting, tri_count);
    *tri_count = b->skin ? b->skin->tri_count : 0;
    return b->skin ? b->skin->tris : NULL;
}

PliRows pli_body_skin_rows(const PliBody *b)
{
    if (b->forms) return pli_forms_skin_rows(b);
    if (!b->skin) return (PliRows){ 0 };
    pli_body_skin_compose(b);
    return pli_skin_rows(b->skin, b->revision);
}

const uint8_t *pli_body_skin_level(const PliBody *b)
{
    if (b->forms) return pli_body_skin_level(b->forms->acting);
    if (!b->skin) return NULL;
    (void)pli_body_skin_rows(b);
    return b->skin->level;
}

// ---- places of points ----------------------------------------------------------------------------------------------------

/// The listed points (NULL: all) with their offsets, from active values in x, whose passive entries are written. Schemes that can
/// follow only work out what the points need.
static void evaluate_points(const PliBody *b, const PliIndex *list, PliIndex count, double *x, double *points)
{
    PliSkin *skin = b->skin;
    if (!list && !b->ops->follow) {
        pli_rows_apply(pli_body_skin_rows(b), x, points);
        for (size_t i = 0; i < 3 * (size_t)skin->point_count; ++i) points[i] += skin->offset[i];
        return;
    }
    const PliRows base = pli_transfer_rows(skin->base);
    if (!b->ops->follow) {
        pli_body_skin_compose(b);
        for (PliIndex n = 0; n < count; ++n) pli_skin_point(skin, list[n], x, points + 3 * (size_t)list[n]);
        return;
    }
    if (!list) {
        b->ops->follow(b->self, skin->dof, skin->used_dofs, x);
    } else {
        PliIndex used = 0;
        for (PliIndex n = 0; n < count; ++n)
            for (PliIndex k = base.first[list[n]]; k < base.first[list[n] + 1]; ++k)
                if (skin->dense[base.column[k]] == 0.0)
                    skin->dense[base.column[k]] = 1.0, skin->touched[used++] = base.column[k];
        for (PliIndex n = 0; n < used; ++n) skin->dense[skin->touched[n]] = 0.0;
        b->ops->follow(b->self, skin->touched, used, x);
    }
    const PliIndex last = list ? count : skin->point_count;
    for (PliIndex n = 0; n < last; ++n) {
        const PliIndex i = list ? list[n] : n;
        double *p = points + 3 * (size_t)i;
        v3_copy(p, skin->offset + 3 * (size_t)i);
        for (PliIndex k = base.first[i]; k < base.first[i + 1]; ++k)
            v3_madd(p, base.weight[k], x + 3 * (size_t)base.column[k]);
    }
}

void pli_body_skin_positions(const PliBody *b, const double *x, double *points)
{
    if (b->forms) {
        pli_body_skin_positions(b->forms->acting, PLI_ACTING(b, x), points);
        return;
    }
    if (!b->skin) return;
    b->skin->in_use = true;
    for (PliIndex i = 0; i < b->system.active_count; ++i)
        v3_copy(b->full_x + 3 * (size_t)b->live.dof[i], x + 3 * (size_t)b->live.dof[i]);
    evaluate_points(b, NULL, 0, b->full_x, points);
}

static void keep_point(PliIndex i, void *user)
{
    PliSkin *skin = user;
    if (skin->is_kept[i]) return;
    skin->is_kept[i] = 1;
    skin->kept[skin->kept_count++] = i;
}

void pli_body_before_event(PliBody *b, double *x, const double centre[3], double radius)
{
    PliSkin *skin = b->skin;
    if (!skin || !skin->in_use) return;
    const PliIndex first = skin->kept_count;
    if (isinf(radius))
        for (PliIndex i = 0; i < skin->point_count; ++i) keep_point(i, skin);
    else
        pli_nearest_within(&skin->near, centre, radius, keep_point, skin);
    evaluate_points(b, skin->kept + first, skin->kept_count - first, x, skin->before);
}

void pli_body_after_events(PliBody *b, double *x)
{
    PliSkin *skin = b->skin;
    if (!skin || skin->kept_count == 0) return;
    evaluate_points(b, skin->kept, skin->kept_count, x, skin->position);
    b->stats.largest_hidden = pli_max(b->stats.largest_hidden, pli_skin_absorb(skin));
    evaluate_points(b, skin->kept, skin->kept_count, x, skin->position); // what is shown now, not what should be
    b->stats.largest_jump = pli_max(b->stats.largest_jump, pli_skin_forget_kept(skin));
}

// ---- contact -----------------------------------------------------------------------------------------------------------------

/// The composed row of one skin point, in compact positions.
static PliIndex point_row(PliBody *b, PliIndex i, PliIndex column[PLI_SKIN_ROW])
{
    PliSkin *skin = b->skin;
    if (b->ops->transfer_rows) {
        const PliRows base = pli_transfer_rows(skin->base);
        const PliRows w =
            b->ops->transfer_rows(b->self, base.column + base.first[i], base.first[i + 1] - base.first[i]);
        pli_skin_compose(skin, i, w, b->statics.row_revision, b->revision);
    }
    const PliIndex *dof = skin->column + (size_t)i * PLI_SKIN_ROW;
    for (PliIndex k = 0; k < skin->entries[i]; ++k) column[k] = b->live.position[dof[k]];
    return skin->entries[i];
}

/// How far the active points and the tools have moved since contact last looked; INFINITY when that cannot be known.
static double moved_since_last_look(PliBody *b, double time)
{
    double most = 0.0;
    const uint64_t last = b->looks++;
    for (PliIndex i = 0; i < b->system.active_count; ++i) {
        const PliIndex dof = b->live.dof[i];
        if (b->contact_look[dof] == last)
            most = fmax(most, v3_distance(b->live.x + 3 * (size_t)i, b->contact_x + 3 * (size_t)dof));
        v3_copy(b->contact_x + 3 * (size_t)dof, b->live.x + 3 * (size_t)i);
        b->contact_look[dof] = b->looks;
    }
    most *= 2.0; // a point is a sum of active ones with weights that may be negative
    double tools = 0.0;
    for (int t = 0; t < b->tool_count; ++t) {
        const PliTool *now = &b->tools[t], *old = &b->tool_last[t];
        if (last == 0 || now->shape != old->shape ||
            (now->shape == PLI_TOOL_PLANE && v3_distance(now->other, old->other) > 0.0))
            return INFINITY;
        double d = v3_distance(now->position, old->position) + fmax(0.0, now->radius - old->radius);
        if (now->shape == PLI_TOOL_CAPSULE) d += v3_distance(now->other, old->other);
        tools = fmax(tools, d + time * v3_norm(now->velocity));
    }
    return most + tools;
}

static double compression_modulus(const PliMaterial *m)
{
    return m->young * (1.0 - m->poisson) / ((1.0 + m->poisson) * (1.0 - 2.0 * m->poisson));
}

// Points that a tool may reach during the step: its present distance against what both can move, with a margin. A point whose
// distance was larger than all that has moved since then need not be looked at.
void pli_body_contact_begin(PliBody *b, const PliStage *stage)
{
    PliContact *c = b->contact;
    PliSkin *skin = b->skin;
    c->tool = b->tools;
    c->tool_count = b->tool_count;
    skin->in_use = true;
    c->implicit = b->def.integrator == PLI_IMPLICIT;
    c->modulus = compression_modulus(&b->def.material);
    c->size = b->size;
    c->drag = b->def.mass_damping;
    if (stage->start == 0.0) pli_contact_begin(c, b->live.inv_mass, b->step_length);
    pli_contact_begin_stage(c, stage);
    if (!b->ops->transfer_rows) (void)pli_body_skin_rows(b);
    double fastest = 0.0, reach[PLI_TOOL_MAX], longest = 0.0;
    for (PliIndex i = 0; i < b->system.active_count; ++i) {
        fastest = fmax(fastest, v3_dot(b->live.v + 3 * (size_t)i, b->live.v + 3 * (size_t)i));
        v3_copy(b->full_x + 3 * (size_t)b->live.dof[i], b->live.x + 3 * (size_t)i);
    }
    for (int t = 0; t < b->tool_count; ++t) {
        reach[t] = stage->length * (sqrt(fastest) + v3_norm(b->tools[t].velocity)) + 0.01 * b->size;
        longest = fmax(longest, reach[t]);
    }
    const double moved = moved_since_last_look(b, stage->start);
    if (isinf(moved))
        pli_skin_wake(skin);
    else
        skin->motion += moved;
    PliIndex awake = 0;
    for (PliIndex i = 0; i < skin->point_count; ++i)
        if (!(skin->wake[i] - skin->motion > longest)) skin->kept[awake++] = i; // borrowed: no event is going on
    evaluate_points(b, skin->kept, awake, b->full_x, skin->position);
    for (PliIndex n = 0; n < awake; ++n) {
        const PliIndex i = skin->kept[n];
        double nearest = INFINITY;
        for (int t = 0; t < b->tool_count; ++t) {
            double normal[3];
            const double distance =
                pli_tool_distance(&b->tools[t], stage->start, skin->position + 3 * (size_t)i, normal);
            nearest = fmin(nearest, distance);
            if (distance > reach[t]) continue;
            PliIndex column[PLI_SKIN_ROW];
            const PliIndex entries = point_row(b, i, column);
            (void)pli_contact_add(c, i, t, column, skin->weight + (size_t)i * PLI_SKIN_ROW, entries,
                                  skin->offset + 3 * (size_t)i, skin->area[i], b->live.x);
        }
        skin->wake[i] = skin->motion + nearest;
    }
    memcpy(b->tool_last, b->tools, (size_t)b->tool_count * sizeof *b->tools);
}

/// The force of tool t on skin point i at p with velocity u, as far as it is known before the step. @return false: none
static bool foresee_press(const PliBody *b, PliIndex i, int t, const double p[3], const double u[3], double dt,
                          double force[3])
{
    const PliTool *tool = &b->tools[t];
    const bool implicit = b->contact && b->def.integrator == PLI_IMPLICIT;
    double n[3], rate[3];
    const double gap = pli_tool_distance(tool, 0.0, p, n);
    v3_sub(rate, u, tool->velocity);
    const double end = implicit ? gap + dt * v3_dot(rate, n) : gap; // one that comes presses at the end of the step
    const PliGrip *grip = implicit ? pli_contact_grip(b->contact, i, t) : NULL;
    if (gap >= 0.0 && end >= 0.0 && !grip) return false;
    // what comes dents the material by a fiftieth of the body, until a step has told
    const double stiffness = tool->stiffness > 0.0 ? tool->stiffness : 50.0 * b->def.material.young / b->size;
    double pressure = stiffness * b->skin->area[i] * fmax(0.0, gap < 0.0 ? -gap : -end);
    if (grip && tool->stiffness == 0.0) pressure = grip->pressure + stiffness * b->skin->area[i] * fmax(0.0, -end);
    for (int c = 0; c < 3; ++c) force[c] = pressure * n[c] + (grip ? grip->friction[c] : 0.0);
    return true;
}

// Outside forces on the finest level, for schemes that judge coefficients that are passive now: the host's, and the pressure of
// the tools as an implicit step applies it.
void pli_body_add_external_forces(PliBody *b, const double *x, const double *v, double dt, double *f)
{
    const PliState *s = b->state;
    if (s && s->f_ext)
        for (size_t k = 0; k < 3 * (size_t)b->statics.dof_count; ++k) f[k] += s->f_ext[k];
    if (s && s->external) {
        memset(b->external_f, 0, 3 * (size_t)b->statics.dof_count * sizeof *b->external_f);
        s->external(x, v, 0.0, b->external_f, s->external_user);
        b->external_ready = true;
        for (size_t k = 0; k < 3 * (size_t)b->statics.dof_count; ++k) f[k] += b->external_f[k];
    }
    if (s && s->points) pli_body_points_judge(b, x, v, f);
    pli_body_constraints_judge(b, f);
    if (!b->tool_count || !b->skin) return;
    const PliRows base = pli_transfer_rows(b->skin->base);
    for (PliIndex i = 0; i < base.out_count; ++i) {
        double p[3], u[3] = { 0.0, 0.0, 0.0 }, force[3];
        v3_copy(p, b->skin->offset + 3 * (size_t)i);
        for (PliIndex k = base.first[i]; k < base.first[i + 1]; ++k) {
            v3_madd(p, base.weight[k], x + 3 * (size_t)base.column[k]);
            v3_madd(u, base.weight[k], v + 3 * (size_t)base.column[k]);
        }
        for (int t = 0; t < b->tool_count; ++t) {
            if (!foresee_press(b, i, t, p, u, dt, force)) continue;
            for (PliIndex k = base.first[i]; k < base.first[i + 1]; ++k)
                v3_madd(f + 3 * (size_t)base.column[k], base.weight[k], force);
        }
    }
}
