/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// How far off a resolution is, measured: uniform bodies of coarser levels run along as shadows, under the same load. Errors of level l
// go like h_l^p, so that the distance of two levels tells the error of both, and the distances of three tell p (Richardson
// 1911). It does not matter where the error comes from: stiff elements, a clamp, a face that touches, a phase that lags.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec.h"
#include "scheme/tetlod/tetlod.h"

/// Work of the first shadow over that of the body, at most; and where phases lag, as one that is far behind tells little of where they go.
static const double SHARE = 0.15, LAG_SHARE = 0.25;
/// Spacing of the points of their skins over their size.
static const double SKIN = 0.5;
/// s, without a change of plan, after which they rest, and s in which new ones find their own shape.
static const double LONG = 0.4, SETTLE = 0.1;
/// Growth of what strains say that wakes them.
static const double GROWTH = 1.5;
/// Order of the error of displacements where only one shadow tells, and what is believed of two.
static const double ORDER = 1.5, LEAST_ORDER = 1.0, MOST_ORDER = 2.2;
/// s, in which the error is averaged where it may ask for more, and where it may allow less.
static const double RECENT = 0.25, WHOLE = 10.0;
/// Share of an error that extrapolating is believed to leave at least, and above which it is not done; and s, in which what tells
/// that is averaged.
static const double LEAST_DOUBT = 0.3, MOST_DOUBT = 0.6, DOUBT_TIME = 0.5;
/// s, that of a body that swings new shadows are believed to agree as the last ones did.
static const double DOUBT_HOLD = 0.25;

// ---- making them -------------------------------------------------------------------------------------------------------------

static PliStatus add(PliTetLod *t, PliBody *body, const PliHost *host, const PliBodyDef *def, int l, PliError *err)
{
    const PliLevels *h = t->h;
    PliFemDef fem = pli_fem_default();
    fem.base = *def;
    fem.base.criterion = pli_criterion_default();
    fem.base.adapt = false;
    fem.sparse_contact = true; // as the body, when it is of that level
    const PliIndex first = h->point_first[l], tets = h->tet_first[l + 1] - h->tet_first[l];
    PliIndex *corner = PLI_NEW(host, 4 * (size_t)tets, PliIndex);
    if (!corner) return pli_refuse(err, PLI_OUT_OF_MEMORY, "tetlod: no memory for a shadow");
    for (size_t i = 0; i < 4 * (size_t)tets; ++i) corner[i] = h->tets[4 * (size_t)h->tet_first[l] + i] - first;
    const PliMesh mesh = { .host = *host,
                           .x = h->x + 3 * (size_t)first,
                           .point_count = h->point_first[l + 1] - first,
                           .tets = corner,
                           .tet_count = tets };
    fem.mesh = &mesh;
    PliBody *shadow = pli_fem_create(host, &fem, err);
    PLI_FREE(host, corner, 4 * (size_t)tets);
    if (!shadow) return PLI_OUT_OF_MEMORY;
    return pli_body_add_shadow(body, shadow, first, SKIN * pli_tetlod_level_size(h, l), err);
}

PliStatus pli_tetlod_add_shadows(PliTetLod *t, PliBody *body, const PliHost *host, const PliBodyDef *def, PliError *err)
{
    PliStatus status = PLI_OK;
    for (int l = 0; l + 1 < t->h->level_count && status == PLI_OK; ++l) status = add(t, body, host, def, l, err);
    t->has_shadows = status == PLI_OK && t->h->level_count > 1;
    return status;
}

void pli_tetlod_shadows_reset(PliTetLod *t)
{
    t->shadow[0] = t->shadow[1] = -1;
    t->shadow_lost = false;
    t->order = ORDER;
    t->shadow_begin = t->gaps_begin = t->strain_error = t->strain_error_seen = 0.0;
    t->use_shadows = false;
    t->recent = t->whole = t->recent_time = t->whole_time = 0.0;
    t->gaps = (PliShadowGaps){ 0 };
    t->doubt = 1.0;
}

// ---- states ---------------------------------------------------------------------------------------------------------------------

/// m, of the elements of a level: what errors go with. (Nodes of a coarse level are more than its elements are small.)
static double size_of(const PliTetLod *t, int l)
{
    const PliLevels *h = t->h;
    return cbrt(h->volume / (double)(h->tet_first[l + 1] - h->tet_first[l]));
}

static double power_size(const PliTetLod *t, int l) { return pow(size_of(t, l), t->order); }

/// Values of one level into the others up to `to`, through the tetrahedra that contain their nodes. [all nodes, 3]
static void carry(const PliLevels *h, int from, int to, double *a)
{
    const bool finer = to > from;
    for (int l = from; l != to;) {
        l += finer ? 1 : -1;
        for (PliIndex p = h->point_first[l]; p < h->point_first[l + 1]; ++p) {
            const PliIndex *source;
            const double *weight;
            const PliIndex n = pli_levels_sources(h, p, finer, &source, &weight);
            double sum[3] = { 0.0, 0.0, 0.0 };
            for (PliIndex k = 0; k < n; ++k) v3_madd(sum, weight[k], a + 3 * (size_t)source[k]);
            v3_copy(a + 3 * (size_t)p, sum);
        }
    }
}

void pli_tetlod_expect(PliTetLod *t, PliBody *body, double *x, double *v, int level)
{
    const PliLevels *h = t->h;
    const double *values[2];
    const int s = t->shadow[0];
    const PliIndex first = h->point_first[level], last = h->point_first[level + 1];
    for (int k = 0; k < 2; ++k) {
        pli_activeset_follow_begin(t->set);
        for (PliIndex p = first; p < last; ++p) (void)pli_activeset_follow(t->set, p, k ? v : x);
    }
    if (s < 0 || t->shadow_lost) return;
    const double least = power_size(t, t->present), apart = power_size(t, s) - least;
    // between the two, or beyond the finer one
    const double share = fmax(-0.5, fmin(1.0, (power_size(t, level) - least) / apart));
    double *own[2];
    pli_body_shadow_state(body, s, &own[0], &own[1]);
    values[0] = x, values[1] = v;
    for (int k = 0; k < 2; ++k) {
        double *all = t->change, *to = k ? v : x;
        memcpy(all + 3 * (size_t)h->point_first[s], own[k],
               3 * (size_t)(h->point_first[s + 1] - h->point_first[s]) * sizeof *all);
        carry(h, s, level, all);
        for (PliIndex p = first; p < last; ++p)
            for (int c = 0; c < 3; ++c) {
                const size_t i = 3 * (size_t)p + (size_t)c;
                to[i] = values[k][i] + share * (all[i] - values[k][i]);
            }
    }
}

/// Shadow of a level: from where the body and the present shadow are.
static void begin(PliTetLod *t, PliBody *body, double *x, double *v, int level)
{
    const PliLevels *h = t->h;
    const PliIndex first = h->point_first[level], count = h->point_first[level + 1] - first;
    double *own[2];
    memcpy(t->old_x + 3 * (size_t)first, x + 3 * (size_t)first, 3 * (size_t)count * sizeof *x);
    memcpy(t->old_v + 3 * (size_t)first, v + 3 * (size_t)first, 3 * (size_t)count * sizeof *v);
    pli_tetlod_expect(t, body, x, v, level);
    pli_body_shadow_state(body, level, &own[0], &own[1]);
    memcpy(own[0], x + 3 * (size_t)first, 3 * (size_t)count * sizeof *x);
    memcpy(own[1], v + 3 * (size_t)first, 3 * (size_t)count * sizeof *v);
    memcpy(x + 3 * (size_t)first, t->old_x + 3 * (size_t)first, 3 * (size_t)count * sizeof *x);
    memcpy(v + 3 * (size_t)first, t->old_v + 3 * (size_t)first, 3 * (size_t)count * sizeof *v);
}

/// The finest level of at most so much work, below `below`; -1: none.
static int cheap_level(const PliTetLod *t, const PliBodyDef *def, double most, int below)
{
    for (int l = below - 1; l >= 0; --l) {
        double density, rate;
        pli_tetlod_level_work(t, def, l, &density, &rate);
        if (density * rate <= most) return l;
    }
    return -1;
}

/// Which levels are shadows from now on.
static void choose(PliTetLod *t, PliBody *body, double *x, double *v)
{
    const PliBodyDef *def = pli_body_def(body);
    double density, rate;
    pli_tetlod_level_work(t, def, t->plan.level, &density, &rate);
    const double work = density * rate;
    const bool lags = t->swings && !(def->material.damping > 0.0) && !(def->mass_damping > 0.0);
    const double share = lags ? LAG_SHARE : SHARE;
    int wanted[2];
    wanted[0] = cheap_level(t, def, share * work, t->plan.level);
    if (wanted[0] < 0 && t->plan.level > 0) wanted[0] = 0;
    wanted[1] = wanted[0] > 0 ? cheap_level(t, def, 0.25 * share * work, wanted[0]) : -1;
    if (wanted[0] > 0 && wanted[1] < 0) wanted[1] = 0;
    // the second first: it starts from where the first is
    for (int k = 1; k >= 0; --k)
        if (wanted[k] >= 0 && wanted[k] != t->shadow[0] && wanted[k] != t->shadow[1]) begin(t, body, x, v, wanted[k]);
    // ways between other levels are other ways, as parallel as those were
    if (wanted[0] != t->shadow[0] || wanted[1] != t->shadow[1]) t->gaps = (PliShadowGaps){ 0 }, t->gaps_begin = t->time;
    if (wanted[1] < 0) t->doubt = 1.0;
    t->shadow[0] = wanted[0], t->shadow[1] = wanted[1];
}

/// They run while the plan is new, and when what strains say has grown since.
static bool are_needed(PliTetLod *t)
{
    if (!t->use_shadows || !t->plan.uniform) return false;
    if (pli_tetlod_extrapolates(t)) return true;
    if (t->time < t->last_change + LONG || t->time < t->shadow_begin + LONG) return true;
    if (t->shadow[0] < 0) return t->strain_error > GROWTH * t->strain_error_seen;
    return t->strain_error > t->strain_error_seen; // still growing
}

bool pli_tetlod_extrapolates(const PliTetLod *t)
{
    return t->shadow[0] >= 0 && t->shadow[1] >= 0 && t->doubt < MOST_DOUBT && !t->shadow_lost;
}

/// What is shown goes on from the shadow beyond the body, to where the finest level would be.
static void show(const PliTetLod *t, PliBody *body)
{
    const int s = t->shadow_lost ? -1 : t->shadow[0];
    double weight = 0.0;
    if (pli_tetlod_extrapolates(t))
        weight = (power_size(t, t->plan.level) - power_size(t, t->h->level_count - 1)) /
                 (power_size(t, s) - power_size(t, t->plan.level));
    pli_body_extrapolate(body, s, weight);
}

static void run(PliTetLod *t, PliBody *body, double *x, double *v, double dt)
{
    if (!are_needed(t)) {
        t->shadow[0] = t->shadow[1] = -1;
        return;
    }
    if (t->shadow[0] < 0) t->shadow_begin = t->time;
    if (t->plan.level != t->shadow_plan || t->shadow[0] < 0) {
        choose(t, body, x, v);
        t->shadow_plan = t->plan.level;
    }
    for (int k = 0; k < 2; ++k)
        if (t->shadow[k] >= 0 && !pli_body_step_shadow(body, t->shadow[k], dt)) t->shadow_lost = true;
}

void pli_tetlod_step_shadows(PliTetLod *t, PliBody *body, double *x, double *v, double dt)
{
    if (!t->has_shadows) return;
    if (!t->shadow_lost) run(t, body, x, v, dt);
    show(t, body);
}

// ---- what they tell -----------------------------------------------------------------------------------------------------------

/// p of (b^p - a^p) / (c^p - a^p) = ratio, sizes a < c < b.
static double order_of(double a, double c, double b, double ratio)
{
    double low = LEAST_ORDER, high = MOST_ORDER;
    for (int i = 0; i < 20; ++i) {
        const double p = 0.5 * (low + high);
        const double r = (pow(b, p) - pow(a, p)) / (pow(c, p) - pow(a, p));
        if (r < ratio)
            low = p;
        else
            high = p;
    }
    return 0.5 * (low + high);
}

static void remember(PliShadowGaps *sum, const PliShadowGaps *g, double gap)
{
    double *const to[] = { &sum->fine, &sum->coarse,       &sum->product,   &sum->speed,
                           &sum->lag,  &sum->coarse_speed, &sum->coarse_lag };
    const double now[] = { g->fine, g->coarse, g->product, g->speed, g->lag, g->coarse_speed, g->coarse_lag };
    const double keep = exp(-gap / DOUBT_TIME);
    for (size_t k = 0; k < sizeof now / sizeof *now; ++k) *to[k] = keep * *to[k] + gap * now[k];
}

/// Share of a way that is not along another.
static double sine(double product, double a, double b)
{
    const double cosine = a > 0.0 && b > 0.0 ? product / sqrt(a * b) : 0.0;
    return sqrt(fmax(0.0, 1.0 - cosine * cosine));
}

/// How parallel the two ways are tells how much of the next one is known; by how much the first is shorter tells the order. Of a body that
/// swings the coarser shadow may soon be half a period behind. Where the first way is a lag it goes on along the motion, and how long the
/// two lags are tells the order.
static void learn_order(PliTetLod *t, const PliShadowGaps *now, double gap)
{
    PliShadowGaps *g = &t->gaps;
    remember(g, now, gap);
    double ratio = g->fine > 0.0 ? g->product / g->fine : 0.0; // of the two ways
    if (t->swings && t->last_change > 0.0 && t->time < t->gaps_begin + DOUBT_HOLD) return;
    t->doubt = ratio > 0.0 ? fmax(LEAST_DOUBT, sine(g->product, g->fine, g->coarse)) : 1.0;
    const double lag = g->speed > 0.0 ? g->lag / g->speed : 0.0,
                 coarse = g->coarse_speed > 0.0 ? g->coarse_lag / g->coarse_speed : 0.0;
    const double lags = lag * coarse > 0.0 ? fmax(LEAST_DOUBT, sine(g->lag, g->fine, g->speed)) : 1.0;
    if (t->swings && lags < t->doubt) {
        t->doubt = lags;
        // one that is far behind moves another way, and the order is what it was
        if (sine(g->coarse_lag, g->coarse, g->coarse_speed) > LEAST_DOUBT) return;
        ratio = coarse / lag;
    }
    if (ratio > 0.0)
        t->order = order_of(size_of(t, t->present), size_of(t, t->shadow[0]), size_of(t, t->shadow[1]), 1.0 + ratio);
}

static void average(double *sum, double *time, double value, double gap, double memory)
{
    const double keep = exp(-gap / memory);
    *sum = keep * *sum + gap * value;
    *time = keep * *time + gap;
}

bool pli_tetlod_compare_shadows(PliTetLod *t, PliBody *body, const double *x, double gap)
{
    if (!t->has_shadows || t->shadow_lost || !t->use_shadows) return false;
    const bool young =
        t->shadow_begin > 1.5 * gap && t->time < t->shadow_begin + SETTLE; // of a start at rest all are old
    if (t->shadow[0] < 0 || young) { // what they said last goes on; of a body that swings it would not
        if (t->recent_time > 0.0 && !t->swings)
            average(&t->whole, &t->whole_time, t->recent / t->recent_time, gap, WHOLE);
        return t->recent_time > 0.0;
    }
    t->strain_error_seen = fmax(t->strain_error_seen, t->strain_error);
    double apart; // m
    if (!t->swings || t->shadow[1] < 0) t->order = ORDER;
    if (t->shadow[1] >= 0) {
        const PliShadowGaps g = pli_body_shadow_gaps(body, t->shadow[0], t->shadow[1], x);
        learn_order(t, &g, gap);
        apart = sqrt(g.fine);
    } else {
        apart = pli_body_shadow_distance(body, t->shadow[0], x);
    }
    const double now = size_of(t, t->present), now4 = now * now * now * now;
    // errors of orders that were believed at other times: put as what the present size would be off
    const double e = apart * power_size(t, t->present) / (power_size(t, t->shadow[0]) - power_size(t, t->present));
    average(&t->recent, &t->recent_time, e * e / now4, gap, RECENT);
    average(&t->whole, &t->whole_time, e * e / now4, gap, WHOLE);
    return true;
}

double pli_tetlod_plain_error_of(const PliTetLod *t, int level, int finest, bool whole)
{
    const double now = size_of(t, t->present);
    const double square = whole ? t->whole / t->whole_time : t->recent / t->recent_time;
    const double at_now = sqrt(square) * now * now; // m, of the present size
    return at_now * (power_size(t, level) - power_size(t, finest)) / power_size(t, t->present);
}

double pli_tetlod_error_of(const PliTetLod *t, int level, int finest, bool whole)
{
    return pli_tetlod_plain_error_of(t, level, finest, whole) * (level >= 2 && t->doubt < MOST_DOUBT ? t->doubt : 1.0);
}
