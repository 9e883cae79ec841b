/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// The body's skin: attaching a surface, its rows for hosts, and the candidates of tool contact.
#include <math.h>
#include <string.h>

#include "base/fold.h"
#include "base/vec.h"
#include "body/forms.h"

/// Spacing of the points that tools may touch over that of the coefficients they hang on.
static const double TOUCH = 1.0;

double pli_body_touch_spacing(const PliSkin *skin, int l)
{
    const PliRows rows = pli_transfer_rows(skin->at[l] ? skin->at[l] : skin->finest);
    double area = 0.0, used = 0.0;
    for (PliIndex k = 0; k < rows.first[rows.out_count]; ++k) skin->dense[rows.column[k]] = 1.0;
    for (PliIndex i = 0; i < skin->dof_count; ++i) used += skin->dense[i], skin->dense[i] = 0.0;
    for (PliIndex i = 0; i < skin->point_count; ++i) area += skin->area[i];
    return TOUCH * sqrt(area / used);
}

/// A level with an accuracy is touched as finely as it can give way: of a skin as fine as the finest level most points would say the
/// same, and contact is most of what a small body costs.
static PliStatus thin_for_level(const PliBody *b, PliSkin *skin, int l)
{
    if (!(b->def.criterion.accuracy > 0.0) && !b->statics.sparse_contact) return PLI_OK;
    return pli_skin_thin(skin, &(PliThinning){ .spacing = pli_body_touch_spacing(skin, l) }, &skin->thin[l]);
}

/// Of a skin much finer than the coefficients of a level, the points that are touched while no finer level is live: contact costs
/// what is there to give way, however fine the levels below and the skin are. Each has points of the one below it.
static PliStatus thin_for_spacings(const PliBody *b, PliSkin *skin)
{
    static const double FINER = 1.5, NEAR = 0.99; // points that are just so far apart all stay
    const double *spacing = b->statics.level_spacing;
    const PliThin *below = NULL;
    double area = 0.0;
    for (PliIndex i = 0; i < skin->point_count; ++i) area += skin->area[i];
    const double own = sqrt(area / skin->point_count);
    for (int l = b->statics.level_count; spacing && l-- > 0;) {
        if (spacing[l] < FINER * own) continue;
        const PliThinning how = { .spacing = NEAR * spacing[l], .from = below };
        if (pli_skin_thin(skin, &how, &skin->thin[l]) != PLI_OK) return PLI_OUT_OF_MEMORY;
        below = &skin->thin[l];
    }
    return PLI_OK;
}

void pli_body_choose_touch(PliBody *b)
{
    if (!b->skin || !b->statics.level_spacing) return;
    int live = 0;
    for (int l = 0; l < b->statics.level_count; ++l)
        if (b->stats.per_level[l] > 0) live = l;
    b->skin->sparse = live, b->skin->sparse_end = b->statics.level_count;
}

/// Where its points are in each level but the finest.
static PliStatus hang_on_levels(PliBody *b, PliSkin *skin)
{
    PliIndex column[4];
    double weight[4];
    for (int l = 0; b->ops->locate_at && l + 1 < b->statics.level_count; ++l) {
        if (b->ops->locate_at(b->self, l, skin->rest, column, weight) == 0) continue;
        skin->at[l] = pli_transfer_create(&b->host, skin->point_count, 4 * (size_t)skin->point_count);
        if (!skin->at[l]) return PLI_OUT_OF_MEMORY;
        pli_transfer_clear(skin->at[l], b->statics.dof_count);
        for (PliIndex i = 0; i < skin->point_count; ++i) {
            const PliIndex count = b->ops->locate_at(b->self, l, skin->rest + 3 * (size_t)i, column, weight);
            if (pli_transfer_push(skin->at[l], column, weight, count) != PLI_OK) return PLI_OUT_OF_MEMORY;
        }
        if (thin_for_level(b, skin, l) != PLI_OK) return PLI_OUT_OF_MEMORY;
    }
    if (b->statics.sparse_contact) {
        if (thin_for_level(b, skin, 0) != PLI_OK) return PLI_OUT_OF_MEMORY;
        skin->sparse = 0, skin->sparse_end = 1;
    }
    if (thin_for_spacings(b, skin) != PLI_OK) return PLI_OUT_OF_MEMORY;
    if (b->ops->only_level) pli_skin_hang(skin, b->ops->only_level(b->self));
    return PLI_OK;
}

/// A copy without the room that was not needed; t is gone.
static PliTransfer *fitted(const PliHost *host, PliTransfer *t)
{
    const PliRows r = pli_transfer_rows(t);
    PliTransfer *to = pli_transfer_create(host, r.out_count, r.first[r.out_count]);
    if (to) pli_transfer_clear(to, r.in_count);
    for (PliIndex i = 0; i < r.out_count && to; ++i) // it has the room
        (void)pli_transfer_push(to, r.column + r.first[i], r.weight + r.first[i], r.first[i + 1] - r.first[i]);
    pli_transfer_destroy(t);
    return to;
}

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
    if (!(base = fitted(&b->host, base))) goto no_memory;
    PliSkin *skin = pli_skin_create(&b->host, b->statics.dof_count, points, point_count, tris, tri_count, base);
    base = NULL; // the skin's, also when it could not be made
    if (!skin) goto no_memory;
    // without a way to follow single points, steps look at all of them by rows
    if ((!b->ops->follow && !pli_skin_reserve(skin, true)) || hang_on_levels(b, skin) != PLI_OK) {
        pli_skin_destroy(skin);
        goto no_memory;
    }
    pli_skin_destroy(b->skin);
    pli_contact_destroy(b->contact);
    b->contact = NULL;
    b->skin = skin;
    pli_body_choose_touch(b);
    if (pli_body_shadows_wear(b, err) != PLI_OK) return PLI_OUT_OF_MEMORY;
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
    if (count && !pli_skin_reserve(b->skin, false))
        return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for the rows of %u skin points", b->skin->point_count);
    if (count && !b->contact) {
        b->contact = pli_contact_create(&b->host, b->skin->point_count * 2);
        if (!b->contact)
            return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for the contact of %u skin points",
                              b->skin->point_count);
        if (!b->ops->transfer_rows) pli_body_skin_compose(b); // or the first step would
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

/// The listed points (NULL: all) with their offsets, of a scheme that can follow: what they hang on is in x.
static void sum_points(const PliSkin *skin, const PliIndex *list, PliIndex count, const double *x, double *points)
{
    const PliRows base = pli_transfer_rows(skin->base);
    const PliIndex last = list ? count : skin->point_count;
    for (PliIndex n = 0; n < last; ++n) {
        const PliIndex i = list ? list[n] : n;
        double *p = points + 3 * (size_t)i;
        v3_copy(p, skin->offset + 3 * (size_t)i);
        for (PliIndex k = base.first[i]; k < base.first[i + 1]; ++k)
            v3_madd(p, base.weight[k], x + 3 * (size_t)base.column[k]);
    }
}

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
    sum_points(skin, list, count, x, points);
}

void pli_body_skin_positions(const PliBody *b, const double *x, double *points)
{
    if (b->forms) {
        pli_body_skin_positions(b->forms->acting, PLI_ACTING(b, x), points);
        return;
    }
    pli_body_skin_some(b, x, NULL, 0, points);
    if (b->skin && b->ahead.busy)
        for (size_t i = 0; i < 3 * (size_t)b->skin->point_count; ++i) points[i] += b->ahead.points[i];
}

void pli_body_skin_some(const PliBody *b, const double *x, const PliIndex *list, PliIndex count, double *points)
{
    if (!b->skin) return;
    b->skin->is_shown = true;
    for (PliIndex i = 0; i < b->system.active_count; ++i)
        v3_copy(b->full_x + 3 * (size_t)b->live.dof[i], x + 3 * (size_t)b->live.dof[i]);
    evaluate_points(b, list, count, b->full_x, points);
}

static bool may_jump(const PliBody *b, PliIndex i)
{
    const PliRows base = pli_transfer_rows(b->skin->base);
    return !b->ops->changes_rows ||
           b->ops->changes_rows(b->self, base.column + base.first[i], base.first[i + 1] - base.first[i]);
}

static void keep_point(PliIndex i, void *user)
{
    const PliBody *b = user;
    PliSkin *skin = b->skin;
    // what nobody sees may jump, but for what a tool is near
    if (skin->is_kept[i] || (!skin->is_shown && skin->wake[i] - skin->motion > skin->within) || !may_jump(b, i)) return;
    skin->is_kept[i] = 1;
    skin->kept[skin->kept_count++] = i;
}

void pli_body_before_event(PliBody *b, double *x, const double centre[3], double radius)
{
    PliSkin *skin = b->skin;
    pli_body_keep_fixed(b);
    if (!skin || !(skin->is_shown || skin->is_touched)) return;
    const PliIndex first = skin->kept_count;
    if (!skin->is_shown && skin->touching)
        for (PliIndex k = 0; k < skin->touching->count; ++k) {
            const PliIndex i = skin->touching->point[k];
            if (v3_distance(skin->rest + 3 * (size_t)i, centre) <= radius) keep_point(i, b);
        }
    else if (isinf(radius))
        for (PliIndex i = 0; i < skin->point_count; ++i) keep_point(i, b);
    else
        pli_nearest_within(&skin->near, centre, radius, keep_point, b);
    evaluate_points(b, skin->kept + first, skin->kept_count - first, x, skin->before);
}

void pli_body_after_events(PliBody *b, double *x)
{
    PliSkin *skin = b->skin;
    if (!skin || skin->kept_count == 0) return;
    evaluate_points(b, skin->kept, skin->kept_count, x, skin->position);
    b->stats.largest_hidden = pli_max(b->stats.largest_hidden, pli_skin_absorb(skin));
    // what is shown now, not what should be
    if (b->ops->follow)
        sum_points(skin, skin->kept, skin->kept_count, x, skin->position);
    else
        evaluate_points(b, skin->kept, skin->kept_count, x, skin->position);
    b->stats.largest_jump = pli_max(b->stats.largest_jump, pli_skin_forget_kept(skin));
}

// ---- contact -----------------------------------------------------------------------------------------------------------------

/// The composed row of one skin point, in compact positions.
static PliIndex point_row(PliBody *b, PliIndex i, PliIndex column[PLI_SKIN_ROW])
{
    PliSkin *skin = b->skin;
    if (b->ops->transfer_rows && skin->stamp[i] != b->revision) { // else it is of this cut
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

/// Pairs of the points skin->kept and of tools within reach of them. @return false: there is no room for all
static bool add_candidates(PliBody *b, PliIndex awake)
{
    PliContact *c = b->contact;
    PliSkin *skin = b->skin;
    bool fits = true;
    c->count = 0;
    for (PliIndex n = 0; n < awake; ++n) {
        const PliIndex i = skin->kept[n];
        double nearest = INFINITY;
        for (int t = 0; t < b->tool_count; ++t) {
            double normal[3];
            const double distance =
                pli_tool_distance(&b->tools[t], c->stage.start, skin->position + 3 * (size_t)i, normal);
            nearest = fmin(nearest, distance);
            if (distance > c->reach[t]) continue;
            PliIndex column[PLI_SKIN_ROW];
            const PliIndex entries = point_row(b, i, column);
            fits &= pli_contact_add(c, i, t, column, skin->weight + (size_t)i * PLI_SKIN_ROW, entries,
                                    skin->offset + 3 * (size_t)i, pli_skin_touching_area(skin, i), b->live.x);
        }
        skin->wake[i] = skin->motion + nearest;
    }
    return fits;
}

/// m, of the smallest tool that is not flat.
static double least_radius(const PliBody *b)
{
    double least = INFINITY;
    for (int t = 0; t < b->tool_count; ++t)
        if (b->tools[t].shape != PLI_TOOL_PLANE) least = fmin(least, b->tools[t].radius);
    return least;
}

// Points that a tool may reach during the step: its present distance against what both can move, with a margin. A point whose
// distance was larger than all that has moved since then need not be looked at.
void pli_body_contact_begin(PliBody *b, const PliStage *stage)
{
    PliContact *c = b->contact;
    PliSkin *skin = b->skin;
    c->tool = b->tools;
    c->tool_count = b->tool_count;
    skin->is_touched = true;
    c->implicit = b->choice.implicit;
    c->modulus = compression_modulus(&b->def.material);
    c->size = b->size;
    c->drag = b->def.mass_damping;
    c->ticks = c->implicit ? 1 : 1 << (b->system.rate_count - 1);
    if (stage->start == 0.0) pli_contact_begin(c, b->live.inv_mass, b->step_length);
    pli_contact_begin_stage(c, stage);
    if (!b->ops->transfer_rows) pli_body_skin_compose(b);
    double fastest = 0.0, longest = 0.0;
    for (PliIndex i = 0; i < b->system.active_count; ++i) {
        fastest = fmax(fastest, v3_dot(b->live.v + 3 * (size_t)i, b->live.v + 3 * (size_t)i));
        v3_copy(b->full_x + 3 * (size_t)b->live.dof[i], b->live.x + 3 * (size_t)i);
    }
    for (int t = 0; t < b->tool_count; ++t) {
        c->reach[t] = stage->length * (sqrt(fastest) + v3_norm(b->tools[t].velocity)) + 0.01 * b->size;
        longest = fmax(longest, c->reach[t]);
    }
    const double moved = moved_since_last_look(b, stage->start);
    if (isinf(moved))
        pli_skin_wake(skin);
    else
        skin->motion += moved;
    skin->within = longest;
    pli_skin_choose_touching(skin, least_radius(b));
    PliIndex awake = 0;
    for (PliIndex k = 0; k < pli_skin_touching(skin); ++k) {
        const PliIndex i = pli_skin_touching_point(skin, k);
        if (!(skin->wake[i] - skin->motion > longest)) skin->kept[awake++] = i; // borrowed: no event is going on
    }
    evaluate_points(b, skin->kept, awake, b->full_x, skin->position);
    // Where speeds are large and tools are many there is no room for all pairs: then for the nearest, and the others when they come.
    while (!add_candidates(b, awake) && c->reach[0] > 0.0)
        for (int t = 0; t < b->tool_count; ++t) c->reach[t] = c->reach[t] > 1e-6 * b->size ? 0.5 * c->reach[t] : 0.0;
    memcpy(b->tool_last, b->tools, (size_t)b->tool_count * sizeof *b->tools);
}

static bool is_late(const PliContact *c, PliIndex point, int tool)
{
    for (PliIndex i = c->early; i < c->count; ++i)
        if (c->point[i] == point && c->tool_of[i] == tool) return true;
    return false;
}

// What a solve moves is not known before it: a body that is stopped at one place goes on at others, and faster than anything did.
PliIndex pli_body_contact_extend(PliBody *b, const double *dv)
{
    PliContact *c = b->contact;
    const PliSkin *skin = b->skin;
    const PliStage *stage = &c->stage;
    const PliIndex before = c->count;
    double most = 0.0, tools = 0.0;
    for (PliIndex i = 0; i < b->system.active_count; ++i) {
        double way[3] = { 0.0, 0.0, 0.0 };
        v3_madd(way, stage->length, b->live.v + 3 * (size_t)i);
        v3_madd(way, stage->reach, dv + 3 * (size_t)i);
        most = fmax(most, v3_norm(way));
    }
    most *= 2.0; // as above
    for (int t = 0; t < b->tool_count; ++t) tools = fmax(tools, stage->length * v3_norm(b->tools[t].velocity));
    for (PliIndex n = 0; n < pli_skin_touching(skin); ++n) {
        const PliIndex i = pli_skin_touching_point(skin, n);
        if (skin->wake[i] - skin->motion > most + tools) continue;
        PliIndex column[PLI_SKIN_ROW], entries = PLI_NONE;
        const double *weight = skin->weight + (size_t)i * PLI_SKIN_ROW;
        double p[3], end[3], normal[3];
        for (int t = 0; t < b->tool_count; ++t) {
            if (entries == PLI_NONE) {
                entries = point_row(b, i, column);
                v3_copy(p, skin->offset + 3 * (size_t)i);
                for (PliIndex k = 0; k < entries; ++k) v3_madd(p, weight[k], b->live.x + 3 * (size_t)column[k]);
                v3_copy(end, p);
                for (PliIndex k = 0; k < entries; ++k) {
                    v3_madd(end, stage->length * weight[k], b->live.v + 3 * (size_t)column[k]);
                    v3_madd(end, stage->reach * weight[k], dv + 3 * (size_t)column[k]);
                }
            }
            if (!(pli_tool_distance(&b->tools[t], stage->start + stage->length, end, normal) < 0.0)) continue;
            if (pli_tool_distance(&b->tools[t], stage->start, p, normal) <= c->reach[t] || is_late(c, i, t)) continue;
            (void)pli_contact_add(c, i, t, column, weight, entries, skin->offset + 3 * (size_t)i,
                                  pli_skin_touching_area(skin, i), b->live.x);
        }
    }
    if (c->count > before) pli_contact_predict_late(c, before, b->live.x, b->live.v);
    return c->count - before;
}

/// The force of tool t on skin point i at p with velocity u, as far as it is known before the step. @return false: none
static bool foresee_press(const PliBody *b, PliIndex i, int t, const double p[3], const double u[3], double dt,
                          double force[3])
{
    const PliTool *tool = &b->tools[t];
    const bool implicit = b->contact && b->choice.implicit;
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
