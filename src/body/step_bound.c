/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "body/step_bound.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/vec.h"
#include "solver/system.h"

enum { FIRST_PRODUCTS = 30, PRODUCTS = 3 }; ///< of the power iteration: for the first cut, and for each that follows
static const double MARGIN = 1.05;          ///< a power iteration comes from below
static const double FALL = 0.99;            ///< theta falls by no more than this from cut to cut
static const double ORDINARY = 0.25;        ///< altitude over longest edge from which on a tetrahedron is no sliver
static const double GAIN = 1.5;             ///< in viscous substeps, for which slivers give up damping

struct PliStepBound {
    PliHost host;
    PliIndex dof_count, point_capacity;
    PliLiveView live;
    double *stiffness;              ///< N/m per point, lumped; of active points with what slaves pull at
    double *rate;                   ///< 1/s2 per point; a slave has the highest of what it follows
    double *viscous, *viscous_rate; ///< the same with each element times its share of the damping
    double *mode;                   ///< Vec3 per dof: of the highest mode, as far as it is known
    double *move, *response;        ///< Vec3 per point
    double theta;                   ///< 0: not known yet
    bool rests, eased;              ///< rates are those at rest; the viscous ones are known
};

static size_t sizes_of(const PliStepBound *b) { return 10 * (size_t)b->point_capacity + 3 * (size_t)b->dof_count; }
size_t pli_step_bound_bytes(const PliStepBound *b) { return sizeof *b + sizes_of(b) * sizeof(double); }

PliStepBound *pli_step_bound_create(const PliHost *host, PliIndex dof_count, PliIndex point_capacity)
{
    PliStepBound *b = PLI_NEW(host, 1, PliStepBound);
    if (!b) return NULL;
    b->host = *host;
    b->dof_count = dof_count, b->point_capacity = point_capacity;
    b->stiffness = PLI_NEW(host, point_capacity, double);
    b->rate = PLI_NEW(host, point_capacity, double);
    b->viscous = PLI_NEW(host, point_capacity, double);
    b->viscous_rate = PLI_NEW(host, point_capacity, double);
    b->mode = PLI_NEW(host, 3 * (size_t)dof_count, double);
    b->move = PLI_NEW(host, 3 * (size_t)point_capacity, double);
    b->response = PLI_NEW(host, 3 * (size_t)point_capacity, double);
    if (b->stiffness && b->rate && b->viscous && b->viscous_rate && b->mode && b->move && b->response) {
        pli_step_bound_forget(b);
        return b;
    }
    pli_step_bound_destroy(b);
    return NULL;
}

void pli_step_bound_destroy(PliStepBound *b)
{
    if (!b) return;
    const PliHost host = b->host;
    PLI_FREE(&host, b->stiffness, b->point_capacity);
    PLI_FREE(&host, b->rate, b->point_capacity);
    PLI_FREE(&host, b->viscous, b->point_capacity);
    PLI_FREE(&host, b->viscous_rate, b->point_capacity);
    PLI_FREE(&host, b->mode, 3 * (size_t)b->dof_count);
    PLI_FREE(&host, b->move, 3 * (size_t)b->point_capacity);
    PLI_FREE(&host, b->response, 3 * (size_t)b->point_capacity);
    PLI_FREE(&host, b, 1);
}

void pli_step_bound_forget(PliStepBound *b)
{
    uint64_t random = 1; // every mode takes part in what the iteration starts with
    for (size_t i = 0; i < 3 * (size_t)b->dof_count; ++i) b->mode[i] = pli_random_unit(&random) - 0.5;
    b->theta = 0.0;
}

// ---- rates -----------------------------------------------------------------------------------------------------------------

static void lump(PliStepBound *b, const PliLiveTets *tets, const double *x)
{
    const size_t points = b->live.active_count + b->live.slave_count;
    memset(b->stiffness, 0, points * sizeof *b->stiffness);
    if (tets->eased) memset(b->viscous, 0, points * sizeof *b->viscous);
    pli_elastic_add_lumped(tets->kernel, x, b->stiffness, tets->eased ? b->viscous : NULL);
}

// |x_s|^2 <= sum |W| . sum |W| |x_a|^2: what is stiff at a slave is stiff at what it follows
static void pull(const PliStepBound *b, double *stiffness, double *rate)
{
    const PliLiveView *l = &b->live;
    const PliRows *w = &l->slaves;
    for (PliIndex s = 0; s < l->slave_count; ++s) {
        double sum = 0.0;
        for (PliIndex k = w->first[s]; k < w->first[s + 1]; ++k)
            if (!l->fixed[w->column[k]]) sum += fabs(w->weight[k]);
        for (PliIndex k = w->first[s]; k < w->first[s + 1]; ++k)
            stiffness[w->column[k]] += stiffness[l->active_count + s] * sum * fabs(w->weight[k]);
    }
    for (PliIndex a = 0; a < l->active_count; ++a) rate[a] = l->fixed[a] ? 0.0 : stiffness[a] / l->mass[a];
    for (PliIndex s = 0; s < l->slave_count; ++s) {
        double most = 0.0;
        for (PliIndex k = w->first[s]; k < w->first[s + 1]; ++k) most = fmax(most, rate[w->column[k]]);
        rate[l->active_count + s] = most;
    }
}

// ---- theta -----------------------------------------------------------------------------------------------------------------

// response = W^T K W move, for small strains about rest
static void respond(PliStepBound *b, const PliLiveTets *tets)
{
    const PliLiveView *l = &b->live;
    const PliRows *w = &l->slaves;
    double *u = b->move, *f = b->response;
    for (PliIndex s = 0; s < l->slave_count; ++s) {
        double *at = u + 3 * (size_t)(l->active_count + s);
        at[0] = at[1] = at[2] = 0.0;
        for (PliIndex k = w->first[s]; k < w->first[s + 1]; ++k)
            v3_madd(at, w->weight[k], u + 3 * (size_t)w->column[k]);
    }
    memset(f, 0, 3 * (size_t)(l->active_count + l->slave_count) * sizeof *f);
    pli_elastic_add_rest_response(tets->kernel, u, f);
    for (PliIndex s = 0; s < l->slave_count; ++s)
        for (PliIndex k = w->first[s]; k < w->first[s + 1]; ++k)
            v3_madd(f + 3 * (size_t)w->column[k], w->weight[k], f + 3 * (size_t)(l->active_count + s));
}

// one product of the power iteration; @return growth, which is at most theta
static double iterate(PliStepBound *b, const PliLiveTets *tets)
{
    const PliLiveView *l = &b->live;
    double before = 0.0, after = 0.0;
    for (PliIndex a = 0; a < l->active_count; ++a) {
        double *u = b->move + 3 * (size_t)a;
        const double *mode = b->mode + 3 * (size_t)l->dof[a];
        const double scale = b->rate[a] > 0.0 ? 1.0 / sqrt(b->stiffness[a]) : 0.0;
        v3_copy(u, mode);
        v3_scale(u, scale);
        if (scale > 0.0) before += v3_dot(mode, mode);
    }
    respond(b, tets);
    for (PliIndex a = 0; a < l->active_count; ++a) {
        double *f = b->response + 3 * (size_t)a;
        v3_scale(f, b->rate[a] > 0.0 ? 1.0 / sqrt(b->stiffness[a]) : 0.0);
        after += v3_dot(f, f);
    }
    if (!(before > 0.0 && after > 0.0)) return 0.0;
    const double unit = sqrt((double)l->active_count / after); // new points join with the size the others have
    for (PliIndex a = 0; a < l->active_count; ++a) {
        if (!(b->rate[a] > 0.0)) continue;
        double *mode = b->mode + 3 * (size_t)l->dof[a];
        v3_copy(mode, b->response + 3 * (size_t)a);
        v3_scale(mode, unit);
    }
    return sqrt(after / before);
}

void pli_step_bound_recut(PliStepBound *b, const PliLiveView *live, const PliLiveTets *tets)
{
    b->live = *live;
    b->rests = false;
    pli_step_bound_strain(b, tets, NULL);
    const int products = b->theta > 0.0 ? PRODUCTS : FIRST_PRODUCTS;
    double growth = 0.0;
    for (int k = 0; k < products; ++k) growth = fmax(growth, iterate(b, tets));
    b->theta = fmax(growth, FALL * b->theta);
}

void pli_step_bound_strain(PliStepBound *b, const PliLiveTets *tets, const double *x)
{
    if (!x && b->rests && b->eased == tets->eased) return;
    b->rests = !x, b->eased = tets->eased;
    lump(b, tets, x);
    pull(b, b->stiffness, b->rate);
    if (tets->eased) pull(b, b->viscous, b->viscous_rate);
}

static double most_of(const double *rate, const PliIndex c[4])
{
    const double a = rate[c[0]] > rate[c[1]] ? rate[c[0]] : rate[c[1]],
                 b = rate[c[2]] > rate[c[3]] ? rate[c[2]] : rate[c[3]];
    return a > b ? a : b;
}

// (h/2)^2 K + h/2 C <= M at every corner, C the viscous part: for C = damping K this is what a damped oscillator allows.
double pli_step_bound_element(const PliStepBound *b, const PliLiveTets *tets, PliIndex i, double share, double damping)
{
    const PliIndex *c = tets->corner + 4 * (size_t)i;
    const double most = most_of(b->rate, c);
    if (!(most > 0.0)) return INFINITY;
    if (tets->eased) damping *= most_of(b->viscous_rate, c) / most;
    return pli_damped_step(share * (2.0 / sqrt(MARGIN * b->theta * most)), damping);
}

double pli_step_bound_least(const PliStepBound *b, const PliLiveTets *tets, PliIndex first, PliIndex last, double share,
                            double damping)
{
    double least = INFINITY, most = 0.0;
    PliIndex quickest = first;
    for (PliIndex i = first; i < last; ++i) {
        if (tets->eased) {
            least = fmin(least, pli_step_bound_element(b, tets, i, share, damping));
            continue;
        }
        const double rate = most_of(b->rate, tets->corner + 4 * (size_t)i);
        if (rate > most) most = rate, quickest = i;
    }
    return most > 0.0 ? pli_step_bound_element(b, tets, quickest, share, damping) : least;
}

static double highest(const double *rate, PliIndex count)
{
    double most = 0.0;
    for (PliIndex i = 0; i < count; ++i) most = fmax(most, rate[i]);
    return most;
}

PliIndex pli_step_bound_ease(PliStepBound *b, const PliLiveTets *tets, const double *flatness, double *share)
{
    PliLiveTets eased = *tets;
    PliIndex count = 0;
    eased.eased = true;
    for (PliIndex i = 0; i < tets->count; ++i) {
        const double r = flatness[tets->which[i]] / ORDINARY;
        share[tets->which[i]] = r < 1.0 ? r * r : 1.0;
    }
    pli_elastic_set_tet_damping(tets->kernel, tets->which, share);
    pli_step_bound_strain(b, &eased, NULL);
    const double most = highest(b->viscous_rate, b->live.active_count);
    const bool pays = highest(b->rate, b->live.active_count) > GAIN * most;
    for (PliIndex i = 0; i < tets->count; ++i) {
        double *to = &share[tets->which[i]];
        if (!pays || !(most_of(b->rate, tets->corner + 4 * (size_t)i) > most)) *to = 1.0;
        count += *to < 1.0;
    }
    pli_elastic_set_tet_damping(tets->kernel, tets->which, share);
    b->rests = false;
    if (count) pli_step_bound_strain(b, &eased, NULL);
    return count;
}
