/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Shadows: bodies that live through the same as another one, so that the difference tells how far the coarser of them is off.
#include <math.h>
#include <string.h>

#include "base/vec.h"
#include "body/body.h"

/// s, in which the weight of what is shown beyond the body follows what was asked for, the least of it that is anything, and
/// the same of what fades, over the size.
static const double AHEAD_TIME = 0.1, LEAST_WEIGHT = 1e-3, LEAST_FADE = 1e-9;
/// Spacing of what large tools touch on a shadow over that on a body of its level: what contact adds to its distance is not of the order that
/// errors of levels are. (A cube of 27 nodes between plates told 0.44 and 2.7 times what was true, without and with its weight, with 1;
/// 0.59 and 0.66 with this; 0.51 and 0.59 where every point was touched.)
static const double CLOSER = 0.75;
/// How far a point of a shadow may be above or below what stands for it in contact, over the spacing: a ball that comes down between two
/// points of 53 nodes comes so late that it was told three times as far off.
static const double SAG = 0.05;

/// Share of what its first pass changes, below which contact of a shadow goes on no further: what it tells is not known to that.
static const double ENOUGH = 0.05;

static PliState state_of(PliShadow *s) { return (PliState){ .x = s->x, .v = s->v }; }

void pli_body_shadows_free(PliBody *b)
{
    for (int k = 0; k < b->shadow_count; ++k) {
        PliShadow *s = &b->shadow[k];
        const size_t n = s->body->statics.dof_count;
        PLI_FREE(&b->host, s->x, 3 * n);
        PLI_FREE(&b->host, s->v, 3 * n);
        PLI_FREE(&b->host, s->fixed, n);
        pli_thin_free(&b->host, &s->thin);
        pli_transfer_destroy(s->rows);
        pli_body_destroy(s->body);
    }
    PLI_FREE(&b->host, b->shadow_points, 12 * (size_t)b->shadow_point_count);
}

// ---- what the body is told, they are told, too ------------------------------------------------------------------------------

/// Every point of a skin from the coefficients of a shadow.
static PliStatus hang(PliBody *b, PliShadow *s)
{
    const PliSkin *skin = b->skin;
    PliIndex column[PLI_LOCATE_MAX];
    double weight[PLI_LOCATE_MAX];
    pli_transfer_destroy(s->rows);
    s->rows = pli_transfer_create(&b->host, skin->point_count, 4 * (size_t)skin->point_count);
    if (!s->rows) return PLI_OUT_OF_MEMORY;
    pli_transfer_clear(s->rows, s->body->statics.dof_count);
    for (PliIndex i = 0; i < skin->point_count; ++i) {
        const double *p = skin->rest + 3 * (size_t)i;
        const PliIndex count = s->body->ops->locate(s->body->self, p, column, weight, PLI_LOCATE_MAX);
        if (pli_transfer_push(s->rows, column, weight, count) != PLI_OK) return PLI_OUT_OF_MEMORY;
    }
    return PLI_OK;
}

/// Of the points it has, those that large tools may touch: nearly as far apart as those of a body of its own.
static PliStatus thin_contact(PliBody *b, PliShadow *s)
{
    PliSkin *own = s->body->skin;
    PliThin few = { 0 }, *to = &own->thin[0];
    if (!s->body->statics.sparse_contact) return PLI_OK;
    const double spacing = CLOSER * pli_body_touch_spacing(own, 0);
    const PliStatus status =
        pli_skin_thin(b->skin, &(PliThinning){ .spacing = spacing, .sag = SAG * spacing, .from = &s->thin }, &few);
    to->spacing = spacing, to->count = 0;
    for (PliIndex k = 0; status == PLI_OK && k < s->thin.count; ++k) {
        const PliIndex i = s->thin.point[k];
        if (to->count == few.count || few.point[to->count] != i) continue;
        to->point[to->count++] = k;
        to->area[k] = few.area[i];
    }
    pli_thin_free(&b->host, &few);
    return status;
}

/// Points of a skin that are `spacing` apart or more, each with the area of those it stands for.
static PliStatus wear(PliBody *b, PliShadow *s, PliError *err)
{
    const PliSkin *skin = b->skin;
    double *place = PLI_NEW(&b->host, 3 * (size_t)skin->point_count, double);
    PliStatus status =
        place ? pli_skin_thin(skin, &(PliThinning){ .spacing = s->spacing }, &s->thin) : PLI_OUT_OF_MEMORY;
    for (PliIndex k = 0; status == PLI_OK && k < s->thin.count; ++k)
        v3_copy(place + 3 * (size_t)k, skin->rest + 3 * (size_t)s->thin.point[k]);
    if (status == PLI_OK) status = hang(b, s);
    if (status == PLI_OK) status = pli_body_attach_skin(s->body, place, s->thin.count, NULL, 0, err);
    for (PliIndex k = 0; status == PLI_OK && k < s->thin.count; ++k)
        s->body->skin->area[k] = s->thin.area[s->thin.point[k]];
    if (status == PLI_OK) status = thin_contact(b, s);
    PLI_FREE(&b->host, place, 3 * (size_t)skin->point_count);
    return status == PLI_OK ? status : pli_refuse(err, status, "no memory for the skins of shadows");
}

/// Room for a skin as the body and a shadow have it, and for what is shown beyond.
static PliStatus make_room(PliBody *b)
{
    PLI_FREE(&b->host, b->shadow_points, 12 * (size_t)b->shadow_point_count);
    b->shadow_point_count = b->skin->point_count;
    b->shadow_points = PLI_NEW(&b->host, 12 * (size_t)b->shadow_point_count, double);
    b->ahead = (PliAhead){ .shadow = -1, .shown = -1 };
    if (!b->shadow_points) {
        b->shadow_point_count = 0;
        return PLI_OUT_OF_MEMORY;
    }
    b->ahead.points = b->shadow_points + 6 * (size_t)b->shadow_point_count;
    b->ahead.fade = b->shadow_points + 9 * (size_t)b->shadow_point_count;
    return PLI_OK;
}

PliStatus pli_body_shadows_wear(PliBody *b, PliError *err)
{
    PliStatus status = PLI_OK;
    if (b->shadow_count == 0 || !b->skin) return status;
    if (make_room(b) != PLI_OK) return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for the skins of shadows");
    for (int k = 0; k < b->shadow_count && status == PLI_OK; ++k) status = wear(b, &b->shadow[k], err);
    return status;
}

PliStatus pli_body_add_shadow(PliBody *b, PliBody *shadow, PliIndex first, double spacing, PliError *err)
{
    const PliSchemeStatic *st = &b->statics;
    if (b->shadow_count == PLI_SHADOW_MAX || first + shadow->statics.dof_count > st->dof_count) {
        pli_body_destroy(shadow);
        return pli_refuse(err, PLI_BAD_ARGUMENT, "a body has up to %d shadows, each with some of its coefficients",
                          PLI_SHADOW_MAX);
    }
    PliShadow *s = &b->shadow[b->shadow_count++];
    const size_t n = 3 * (size_t)shadow->statics.dof_count;
    *s = (PliShadow){ .body = shadow, .first = first, .spacing = spacing };
    s->x = PLI_NEW(&b->host, n, double);
    s->v = PLI_NEW(&b->host, n, double);
    s->fixed = PLI_NEW(&b->host, shadow->statics.dof_count, PliIndex);
    if (!s->x || !s->v || !s->fixed) return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for a shadow");
    b->bytes += shadow->bytes + 2 * n * sizeof(double);
    const PliState at = state_of(s);
    pli_body_reset(shadow, &at);
    if (!b->skin) return PLI_OK;
    if (!b->shadow_points && make_room(b) != PLI_OK)
        return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for the skins of shadows");
    return wear(b, s, err);
}

PliStatus pli_body_shadows_meet(PliBody *b, PliError *err)
{
    PliStatus status = PLI_OK;
    for (int k = 0; k < b->shadow_count && status == PLI_OK; ++k) {
        PliShadow *s = &b->shadow[k];
        if (b->tool_count) memcpy(s->tools, b->tools, (size_t)b->tool_count * sizeof *b->tools);
        status = pli_body_set_tools(s->body, s->tools, b->tool_count, err);
        if (s->body->contact) s->body->contact->enough = ENOUGH;
    }
    return status;
}

PliStatus pli_body_shadows_fix(PliBody *b, PliError *err)
{
    PliStatus status = PLI_OK;
    for (int k = 0; k < b->shadow_count && status == PLI_OK; ++k) {
        PliShadow *s = &b->shadow[k];
        const PliIndex n = s->body->statics.dof_count;
        PliIndex count = 0;
        for (PliIndex i = 0; i < n; ++i)
            if (b->is_fixed[s->first + i]) s->fixed[count++] = i;
        status = pli_body_set_fixed(s->body, s->fixed, count, err);
    }
    return status;
}

PliStatus pli_body_shadows_retune(PliBody *b, PliError *err)
{
    PliStatus status = PLI_OK;
    for (int k = 0; k < b->shadow_count && status == PLI_OK; ++k) {
        PliBodyDef def = b->def;
        def.criterion = b->shadow[k].body->def.criterion;
        def.adapt = b->shadow[k].body->def.adapt;
        status = pli_body_retune(b->shadow[k].body, &def, err);
    }
    return status;
}

/// `fade` comes behind `points`.
static void show_nothing(PliBody *b)
{
    PliAhead *a = &b->ahead;
    if (a->points) memset(a->points, 0, 6 * (size_t)b->shadow_point_count * sizeof *a->points);
    a->busy = false, a->most_fade = 0.0;
}

void pli_body_shadows_reset(PliBody *b)
{
    b->ahead.shadow = b->ahead.shown = -1;
    b->ahead.weight = 0.0;
    show_nothing(b);
    for (int k = 0; k < b->shadow_count; ++k) {
        const PliState at = state_of(&b->shadow[k]);
        pli_body_reset(b->shadow[k].body, &at);
    }
}

// ---- for schemes --------------------------------------------------------------------------------------------------------------

void pli_body_shadow_state(PliBody *b, int k, double **x, double **v) { *x = b->shadow[k].x, *v = b->shadow[k].v; }

/// Only tools, gravity and what is fixed reach a shadow.
static bool is_alone(const PliBody *b)
{
    const PliState *s = b->state;
    if (!s || s->external || s->points || b->held_points || b->was_under) return false;
    if (s->f_ext)
        for (size_t i = 0; i < 3 * (size_t)b->statics.dof_count; ++i)
            if (s->f_ext[i] != 0.0) return false;
    return true;
}

bool pli_body_step_shadow(PliBody *b, int k, double dt)
{
    PliShadow *s = &b->shadow[k];
    if (!is_alone(b)) return false;
    memcpy(s->body->def.gravity, b->def.gravity, sizeof b->def.gravity);
    pli_body_set_gravity(s->body, b->def.gravity);
    if (b->tool_count) memcpy(s->tools, b->tools, (size_t)b->tool_count * sizeof *b->tools);
    for (PliIndex i = 0; i < s->body->fixed_count; ++i) {
        const size_t own = s->body->fixed_dof[i], dof = s->first + own;
        v3_copy(s->x + 3 * own, b->fixed_x + 3 * dof);
        v3_copy(s->v + 3 * own, b->fixed_v + 3 * dof);
    }
    const PliState at = state_of(s);
    return pli_body_step(s->body, &at, dt).finite;
}

/// Where a point of the skin is as the body has it, from what was evaluated. What fades is shown, but is not there.
static void own_place(const PliBody *b, PliIndex i, double p[3])
{
    v3_sub(p, b->shadow_points + 3 * (size_t)i, b->skin->offset + 3 * (size_t)i);
}

/// Of a shadow's places or velocities, at a point of the skin.
static void shadow_value(const PliShadow *s, const double *values, PliIndex i, double p[3])
{
    const PliRows rows = pli_transfer_rows(s->rows);
    memset(p, 0, 3 * sizeof *p);
    for (PliIndex k = rows.first[i]; k < rows.first[i + 1]; ++k)
        v3_madd(p, rows.weight[k], values + 3 * (size_t)rows.column[k]);
}

double pli_body_shadow_distance(PliBody *b, int k, const double *x)
{
    const PliSkin *skin = b->skin;
    PliShadow *s = &b->shadow[k];
    if (!skin || !b->shadow_points) return 0.0;
    double *other = b->shadow_points + 3 * (size_t)skin->point_count, sum = 0.0, area = 0.0;
    pli_body_skin_some(b, x, s->thin.point, s->thin.count, b->shadow_points);
    pli_body_skin_positions(s->body, s->x, other);
    for (PliIndex n = 0; n < s->thin.count; ++n) {
        const double weight = s->body->skin->area[n];
        double p[3], d[3];
        own_place(b, s->thin.point[n], p);
        v3_sub(d, p, other + 3 * (size_t)n);
        sum += weight * v3_dot(d, d);
        area += weight;
    }
    return area > 0.0 ? sqrt(sum / area) : 0.0;
}

PliShadowGaps pli_body_shadow_gaps(PliBody *b, int k, int coarser, const double *x)
{
    const PliShadow *one = &b->shadow[k], *two = &b->shadow[coarser];
    PliShadowGaps gaps = { 0 };
    double area = 0.0;
    if (!b->skin || !b->shadow_points) return gaps;
    pli_body_skin_some(b, x, one->thin.point, one->thin.count, b->shadow_points);
    for (PliIndex n = 0; n < one->thin.count; ++n) {
        const PliIndex i = one->thin.point[n];
        const double weight = one->body->skin->area[n];
        double p[3][3], v[2][3], fine[3], coarse[3];
        own_place(b, i, p[0]);
        shadow_value(one, one->x, i, p[1]);
        shadow_value(two, two->x, i, p[2]);
        shadow_value(one, one->v, i, v[0]);
        shadow_value(two, two->v, i, v[1]);
        v3_sub(fine, p[0], p[1]);
        v3_sub(coarse, p[1], p[2]);
        gaps.fine += weight * v3_dot(fine, fine);
        gaps.coarse += weight * v3_dot(coarse, coarse);
        gaps.product += weight * v3_dot(fine, coarse);
        gaps.speed += weight * v3_dot(v[0], v[0]);
        gaps.lag += weight * v3_dot(fine, v[0]);
        v3_add(v[1], v[1], v[0]);
        v3_scale(v[1], 0.5);
        gaps.coarse_speed += weight * v3_dot(v[1], v[1]);
        gaps.coarse_lag += weight * v3_dot(coarse, v[1]);
        area += weight;
    }
    double *const sum[] = { &gaps.fine, &gaps.coarse,       &gaps.product,   &gaps.speed,
                            &gaps.lag,  &gaps.coarse_speed, &gaps.coarse_lag };
    for (size_t i = 0; area > 0.0 && i < sizeof sum / sizeof *sum; ++i) *sum[i] /= area;
    return gaps;
}

// ---- showing more than there is -------------------------------------------------------------------------------------------------

void pli_body_extrapolate(PliBody *b, int k, double weight)
{
    b->ahead.shadow = b->shadow_points ? k : -1;
    b->ahead.wanted = weight;
}

void pli_body_shadows_show(PliBody *b, const double *x, double dt)
{
    PliAhead *a = &b->ahead;
    PliSkin *skin = b->skin;
    if (!skin || !b->shadow_points || (a->shadow < 0 && !a->busy)) return;
    const int level = b->ops->only_level ? b->ops->only_level(b->self) : -1;
    bool other = a->shadow != a->shown || level != a->level;
    const double keep = exp(-dt / AHEAD_TIME);
    a->weight = other ? a->wanted : a->weight + (1.0 - keep) * (a->wanted - a->weight);
    a->shown = a->shadow, a->level = level;
    const bool shows = a->shadow >= 0 && a->weight > LEAST_WEIGHT;
    if (!shows && !a->busy) return;
    other |= !shows || !a->busy; // without a weight all of it fades
    a->busy = true, a->most_fade = 0.0;
    if (shows) pli_body_skin_some(b, x, NULL, 0, b->shadow_points);
    for (PliIndex i = 0; i < skin->point_count; ++i) {
        double now[3] = { 0.0, 0.0, 0.0 }, *shown = a->points + 3 * (size_t)i, *fade = a->fade + 3 * (size_t)i;
        if (shows) {
            double p[3], q[3];
            own_place(b, i, p);
            shadow_value(&b->shadow[a->shadow], b->shadow[a->shadow].x, i, q);
            v3_sub(now, p, q);
            v3_scale(now, a->weight);
        }
        if (other) v3_sub(fade, shown, now);
        v3_scale(fade, keep);
        v3_add(shown, now, fade);
        a->most_fade = fmax(a->most_fade, v3_norm(fade));
    }
    if (!shows && a->most_fade < LEAST_FADE * b->size) show_nothing(b);
}
