/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "body/elastic_force.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec.h"
#include "body/step_bound.h"
#include "solver/system.h"

enum { RATES = 8 }; ///< the slowest elements tick every 2^7 substeps
/// Of the work with as many rates as in the last step: less is worth a change. Points that stick creep when rounds change.
static const double CLEARLY = 0.9;
static const double RATES_PAY = 0.5; ///< of the cost of a substep: below, elements tick at their own rates unasked

struct PliElasticForce {
    PliHost host;
    PliElastic *kernel;
    const PliIndex *tets;
    const PliTetRest *tet_rest;
    PliTetRest *own_rest; ///< where the scheme has none
    PliIndex tet_count, element_capacity;
    size_t sample_entry_capacity;
    bool has_samples;
    const PliForceOps *tangent; ///< see PliSchemeStatic
    void *tangent_self;
    bool stands_in; ///< it was taken at the last linearize
    PliRates wish;
    PliMaterial material;
    double courant;
    PliStepBound *bound;  ///< NULL: steps are not explicit
    PliIndex *corner;     ///< shape [element_count, 4], compact numbers, by rate
    PliIndex *element;    ///< live elements by rate, numbers of the scheme
    double *volume;       ///< m3
    PliIndex *rate;       ///< per element while they are ordered
    double *flatness;     ///< per tetrahedron of the scheme: altitude over longest edge; NULL: steps are not explicit
    double *share;        ///< the same: of the material's damping that it has ...
    PliIndex eased;       ///< ... and how many live ones have less than all
    PliIndex *sample_dof; ///< compact numbers
    // of bodies with regions of another stiffness; NULL: there are none
    double *tet_stiffness;       ///< per tetrahedron
    double *natural, *stiffness; ///< per live element: m3, which `volume` has times the factor, and the factor
    PliIndex element_count, sample_count, first[RATES + 1];
    int rate_count, used_rates; ///< of this cut, and of this step: what is slower ticks with the slowest of them
    size_t bytes;
};

PliElastic *pli_elastic_force_kernel(const PliElasticForce *e) { return e->kernel; }
PliIndex pli_elastic_force_eased(const PliElasticForce *e) { return e->eased; }
size_t pli_elastic_force_bytes(const PliElasticForce *e) { return e->bytes; }

static void *take(PliElasticForce *e, size_t count, size_t size)
{
    e->bytes += count * size;
    return pli_alloc(&e->host, count, size);
}

void pli_elastic_force_destroy(PliElasticForce *e)
{
    if (!e) return;
    const PliHost host = e->host;
    const size_t elements = e->element_capacity;
    pli_elastic_destroy(e->kernel);
    PLI_FREE(&host, e->own_rest, e->tet_count);
    pli_step_bound_destroy(e->bound);
    PLI_FREE(&host, e->corner, 4 * elements);
    PLI_FREE(&host, e->element, elements);
    PLI_FREE(&host, e->volume, elements);
    PLI_FREE(&host, e->rate, elements);
    PLI_FREE(&host, e->tet_stiffness, e->tet_stiffness ? e->tet_count : 0);
    PLI_FREE(&host, e->stiffness, e->stiffness ? elements : 0);
    PLI_FREE(&host, e->natural, e->natural ? elements : 0);
    PLI_FREE(&host, e->flatness, e->tet_count);
    PLI_FREE(&host, e->share, e->tet_count);
    PLI_FREE(&host, e->sample_dof, e->sample_entry_capacity);
    PLI_FREE(&host, e, 1);
}

static PliStatus make_rest(PliElasticForce *e, const PliSchemeStatic *st, PliError *err)
{
    PliIndex bad;
    e->tet_rest = st->tet_rest;
    if (st->tet_rest || !st->tet_count) return PLI_OK;
    e->tet_rest = e->own_rest = take(e, st->tet_count, sizeof(PliTetRest));
    if (!e->own_rest) return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for %u tetrahedra", st->tet_count);
    const PliStatus status = pli_tet_rest(st->tets, st->tet_count, st->rest, e->own_rest, &bad);
    return status == PLI_OK ? PLI_OK : pli_refuse(err, status, "tetrahedron %u is flat or inverted", bad);
}

/// Mean factor of Young's modulus of each tetrahedron, over points spread evenly in it.
static PliStatus find_stiffness(PliElasticForce *e, const PliBodyDef *def, const PliSchemeStatic *st, PliError *err)
{
    if (!def->stiff_region_count || !st->tet_count) return PLI_OK;
    e->tet_stiffness = take(e, st->tet_count, sizeof *e->tet_stiffness);
    e->stiffness = take(e, st->element_capacity, sizeof *e->stiffness);
    e->natural = take(e, st->element_capacity, sizeof *e->natural);
    if (!e->tet_stiffness || !e->stiffness || !e->natural)
        return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for the stiffness of %u tetrahedra", st->tet_count);
    for (PliIndex t = 0; t < st->tet_count; ++t)
        e->tet_stiffness[t] = pli_body_def_tet_mean(def, pli_body_def_stiffness, st->rest, st->tets + 4 * (size_t)t);
    return PLI_OK;
}

/// Altitude over longest edge, both at rest: 0.82 for the regular tetrahedron.
static bool measure_shapes(PliElasticForce *e, const PliSchemeStatic *st)
{
    e->flatness = take(e, e->tet_count, sizeof *e->flatness);
    e->share = take(e, e->tet_count, sizeof *e->share);
    if (!e->flatness || !e->share) return e->tet_count == 0;
    for (PliIndex i = 0; i < e->tet_count; ++i) {
        const PliIndex *t = st->tets + 4 * (size_t)i;
        double g[3] = { 0.0, 0.0, 0.0 }, steepest = 0.0, longest = 0.0;
        for (int a = 0; a < 3; ++a) {
            const double *one = e->tet_rest[i].grad + 3 * a;
            steepest = fmax(steepest, v3_dot(one, one));
            v3_add(g, g, one);
        }
        steepest = fmax(steepest, v3_dot(g, g));
        for (int a = 0; a < 4; ++a)
            for (int b = 0; b < a; ++b)
                longest = fmax(longest, v3_distance(st->rest + 3 * (size_t)t[a], st->rest + 3 * (size_t)t[b]));
        e->flatness[i] = 1.0 / (sqrt(steepest) * longest);
    }
    return true;
}

PliElasticForce *pli_elastic_force_create(const PliHost *host, const PliBodyDef *def, const PliSchemeStatic *st,
                                          PliError *err)
{
    PliElasticForce *e = PLI_NEW(host, 1, PliElasticForce);
    if (!e) {
        pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for a body");
        return NULL;
    }
    e->host = *host;
    e->tets = st->tets;
    e->tet_count = st->tet_count;
    e->element_capacity = st->element_capacity;
    e->has_samples = st->sample_capacity > 0;
    e->tangent = st->tangent, e->tangent_self = st->tangent_self;
    e->sample_entry_capacity = st->sample_entry_capacity;
    e->rate_count = 1;
    const PliElasticDef kernel = { .material = def->material,
                                   .simd = pli_simd_best(),
                                   .point_capacity = st->active_capacity + st->slave_capacity,
                                   .tet_capacity = st->element_capacity,
                                   .sample_capacity = st->sample_capacity,
                                   .sample_entry_capacity = st->sample_entry_capacity,
                                   .sample_cells = st->sample_cells,
                                   .sample_poisson = st->sample_poisson };
    const size_t elements = st->element_capacity;
    e->kernel = pli_elastic_create(host, &kernel, err);
    if (!e->kernel || make_rest(e, st, err) != PLI_OK || find_stiffness(e, def, st, err) != PLI_OK) goto fail;
    if (def->integrator != PLI_IMPLICIT) {
        e->bound = pli_step_bound_create(host, st->dof_count, st->active_capacity + st->slave_capacity);
        if (!e->bound) goto full;
        e->bytes += pli_step_bound_bytes(e->bound);
        if (!measure_shapes(e, st)) goto full;
    }
    e->corner = take(e, 4 * elements, sizeof *e->corner);
    e->element = take(e, elements, sizeof *e->element);
    e->volume = take(e, elements, sizeof *e->volume);
    e->rate = take(e, elements, sizeof *e->rate);
    e->sample_dof = take(e, st->sample_entry_capacity, sizeof *e->sample_dof);
    if (e->corner && e->element && e->volume && e->rate && e->sample_dof) return e;
full:
    pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for a body of %u coefficients", st->dof_count);
fail:
    pli_elastic_force_destroy(e);
    return NULL;
}

static void retune(void *self, const PliBodyDef *def)
{
    PliElasticForce *e = self;
    e->wish = pli_body_def_rates(def);
    e->used_rates = RATES;
    if (e->bound) pli_step_bound_forget(e->bound);
    e->material = def->material;
    e->courant = def->courant;
    pli_elastic_set_material(e->kernel, &def->material);
}

// ---- the cut -----------------------------------------------------------------------------------------------------------------

static PliLiveTets live_tets(const PliElasticForce *e)
{
    return (PliLiveTets){ e->element_count, e->corner, e->element, e->kernel, e->eased > 0 };
}

// The substep of element i alone, damping included, at a share of its undamped limit.
static double element_step(const PliElasticForce *e, const PliLiveTets *tets, PliIndex i, double share)
{
    return pli_step_bound_element(e->bound, tets, i, share, e->material.damping);
}

static void place_corners(PliElasticForce *e, const PliLiveView *live)
{
    for (PliIndex i = 0; i < e->element_count; ++i) {
        const PliIndex *t = e->tets + 4 * (size_t)e->element[i];
        for (int k = 0; k < 4; ++k) e->corner[4 * (size_t)i + k] = live->position[t[k]];
    }
}

/// Volumes of the live elements, in their present order, as what they weigh in stiffness.
static void weigh(PliElasticForce *e)
{
    if (!e->tet_stiffness) return;
    for (PliIndex i = 0; i < e->element_count; ++i) {
        e->natural[i] = e->volume[i];
        e->stiffness[i] = e->tet_stiffness[e->element[i]];
        e->volume[i] *= e->stiffness[i];
    }
}

// An element may be evaluated every 2^g substeps while 2^g times the smallest step stays below its own. Fills `first`.
static void find_rates(PliElasticForce *e)
{
    const PliIndex count = e->element_count;
    const PliLiveTets tets = live_tets(e);
    const double least = pli_step_bound_least(e->bound, &tets, 0, count, e->courant, e->material.damping);
    memset(e->first, 0, sizeof e->first);
    PliIndex slowest = 0;
    for (PliIndex i = 0; i < count; ++i) {
        const double h = element_step(e, &tets, i, e->courant);
        PliIndex g = 0;
        while (g + 1 < RATES && h >= least * (double)(2 << g)) ++g;
        e->rate[i] = g;
        if (isfinite(h) && g > slowest) slowest = g;
    }
    for (PliIndex i = 0; i < count;
         ++i) { // one between fixed points has no step of its own: it asks for no slower rate
        if (e->rate[i] > slowest) e->rate[i] = slowest;
        e->first[e->rate[i] + 1]++;
    }
    for (int g = 1; g <= RATES; ++g) {
        if (e->first[g]) e->rate_count = g;
        e->first[g] += e->first[g - 1];
    }
}

static void one_rate(PliElasticForce *e)
{
    e->rate_count = 1;
    e->first[0] = 0;
    for (int g = 1; g <= RATES; ++g) e->first[g] = e->element_count;
}

// Of a substep in the mean, in evaluations of one element, where no element ticks slower than every 2^(rates - 1) substeps.
static double substep_work(const PliElasticForce *e, PliIndex points, int rates)
{
    double work = PLI_POINT_WORK * points;
    for (int g = 0; g < rates; ++g) work += ldexp(e->first[g + 1 < rates ? g + 1 : RATES] - e->first[g], -g);
    return work;
}

// What a substep costs with rates over what it costs without.
static double rates_cost(const PliElasticForce *e, PliIndex points)
{
    return substep_work(e, points, e->rate_count) / substep_work(e, points, 1);
}

double pli_elastic_force_work(const PliElasticForce *e) { return substep_work(e, 0, e->used_rates); }

static double step_work(const PliElasticForce *e, int rates, double substeps, double others)
{
    const double period = ldexp(1.0, rates - 1);
    return period * ceil(substeps / period) * (substep_work(e, 0, rates) + others);
}

int pli_elastic_force_rates(const PliElasticForce *e, double substeps, double others, double *work)
{
    int best = e->used_rates;
    *work = step_work(e, best, substeps, others);
    const double most = CLEARLY * *work;
    for (int rates = 1; rates <= e->rate_count; ++rates) {
        const double now = step_work(e, rates, substeps, others);
        if (now < *work && now < most) *work = now, best = rates;
    }
    return best;
}

int pli_elastic_force_use_rates(PliElasticForce *e, double substeps, double others)
{
    double work;
    return e->used_rates = pli_elastic_force_rates(e, substeps, others, &work);
}

static void order_by_rate(PliElasticForce *e, const PliCut *cut)
{
    PliIndex next[RATES + 1];
    memcpy(next, e->first, sizeof next);
    for (PliIndex i = 0; i < e->element_count; ++i) {
        const PliIndex at = next[e->rate[i]]++;
        e->element[at] = cut->element[i];
        e->volume[at] = cut->volume[i];
    }
}

static PliStatus give_elements(PliElasticForce *e, const PliLiveView *live)
{
    weigh(e);
    place_corners(e, live);
    return pli_elastic_set_tets(e->kernel, live->active_count + live->slave_count, e->element_count, e->corner,
                                e->element, e->tet_rest, e->tet_stiffness ? e->natural : e->volume, e->stiffness);
}

// Live elements in the order of the cut, or by rate.
static PliStatus order_elements(PliElasticForce *e, const PliCut *cut, const PliLiveView *live)
{
    const PliIndex count = e->element_count = cut->element_count;
    e->eased = 0;
    one_rate(e);
    if (count) memcpy(e->element, cut->element, count * sizeof *e->element);
    if (count) memcpy(e->volume, cut->volume, count * sizeof *e->volume);
    PliStatus status = give_elements(e, live);
    if (!count || !e->bound || status != PLI_OK) return status;
    const PliLiveTets tets = live_tets(e);
    pli_step_bound_recut(e->bound, live, &tets);
    if (e->material.damping > 0.0) e->eased = pli_step_bound_ease(e->bound, &tets, e->flatness, e->share);
    if (e->wish == PLI_RATES_ONE) return status;
    find_rates(e);
    if (e->wish == PLI_RATES_AUTO && rates_cost(e, live->active_count + live->slave_count) > RATES_PAY) {
        one_rate(e);
        return status;
    }
    order_by_rate(e, cut);
    status = give_elements(e, live);
    if (e->eased && status == PLI_OK) pli_elastic_set_tet_damping(e->kernel, e->element, e->share);
    return status;
}

static PliStatus list_elements(PliElasticForce *e, const PliCut *cut, const PliLiveView *live)
{
    const PliStatus status = order_elements(e, cut, live);
    if (e->used_rates > e->rate_count) e->used_rates = e->rate_count;
    return status;
}

static double least_step(const PliElasticForce *e, double share)
{
    const PliLiveTets tets = live_tets(e);
    double least = INFINITY;
    for (int g = 0; g < e->rate_count; ++g) {
        const double own =
            pli_step_bound_least(e->bound, &tets, e->first[g], e->first[g + 1], share, e->material.damping);
        least = fmin(least, ldexp(own, -g));
    }
    return least;
}

static double longest_substep(void *self, const double *x, double share)
{
    PliElasticForce *e = self;
    if (!e->bound || !e->element_count) return INFINITY;
    const PliLiveTets tets = live_tets(e);
    pli_step_bound_strain(e->bound, &tets, x);
    return least_step(e, share);
}

static PliStatus recut(void *self, const PliCut *cut, const PliLiveView *live)
{
    PliElasticForce *e = self;
    const PliIndex points = live->active_count + live->slave_count;
    const PliStatus status = list_elements(e, cut, live);
    e->sample_count = cut->sample_count;
    if (!e->has_samples) return status;
    const PliIndex entries = cut->sample_count ? cut->sample_first[cut->sample_count] : 0;
    for (PliIndex k = 0; k < entries; ++k) e->sample_dof[k] = live->position[cut->sample_dof[k]];
    const PliStatus samples = pli_elastic_set_samples(e->kernel, points, cut->sample_count, cut->sample_first,
                                                      e->sample_dof, cut->sample_grad, cut->sample_volume,
                                                      cut->sample_stiffness, cut->sample_f0, cut->sample_s0);
    if (cut->sample_poisson) pli_elastic_set_sample_poisson(e->kernel, cut->sample_poisson);
    if (cut->sample_bulk) pli_elastic_set_sample_bulk(e->kernel, cut->sample_bulk);
    return status == PLI_OK ? samples : status;
}

// ---- forces ------------------------------------------------------------------------------------------------------------------

static void add_force(void *self, const double *x, const double *v, double *f)
{
    pli_elastic_add_force(((PliElasticForce *)self)->kernel, x, v, f);
}

static void linearize(void *self, const double *x, bool definite)
{
    PliElasticForce *e = self;
    PliElastic *kernel = e->kernel;
    e->stands_in = e->tangent && e->tangent->stands_in(e->tangent_self);
    if (e->stands_in) {
        e->tangent->linearize(e->tangent_self, x, definite);
        return;
    }
    pli_elastic_set_project(kernel, definite);
    pli_elastic_linearize(kernel, x);
    pli_elastic_set_project(kernel, false);
}

static void add_dforce(void *self, const double *dx, double k, double *df)
{
    const PliElasticForce *e = self;
    if (e->stands_in)
        e->tangent->add_dforce(e->tangent_self, dx, k, df);
    else
        pli_elastic_add_dforce(e->kernel, dx, k, df);
}

static double energy(void *self, const double *x) { return pli_elastic_energy(((PliElasticForce *)self)->kernel, x); }

typedef struct BlockArg {
    PliBlockFn *fn;
    void *user;
} BlockArg;

static void split_element(const PliIndex *point, PliIndex n, const double *k, void *user)
{
    const BlockArg *arg = user;
    for (PliIndex a = 0; a < n; ++a)
        for (PliIndex b = 0; b < n; ++b) {
            double block[9];
            for (int i = 0; i < 3; ++i)
                for (int j = 0; j < 3; ++j) block[3 * i + j] = k[(3 * a + (PliIndex)i) * 3 * n + 3 * b + (PliIndex)j];
            arg->fn(point[a], point[b], block, arg->user);
        }
}

static void blocks(void *self, PliBlockFn *fn, void *user)
{
    const PliElasticForce *e = self;
    BlockArg arg = { fn, user };
    if (e->stands_in)
        e->tangent->blocks(e->tangent_self, fn, user);
    else
        pli_elastic_element_matrices(e->kernel, split_element, &arg);
}

static int rate_count(void *self) { return ((PliElasticForce *)self)->used_rates; }

static void add_force_at_rate(void *self, int rate, const double *x, const double *v, double *f)
{
    const PliElasticForce *e = self;
    const PliIndex last = rate + 1 < e->used_rates ? e->first[rate + 1] : e->element_count;
    pli_elastic_add_force_range(e->kernel, e->first[rate], last, x, v, f);
}

// ---- looks ---------------------------------------------------------------------------------------------------------------------

static PliIndex element_count(void *self)
{
    const PliElasticForce *e = self;
    return e->element_count + e->sample_count;
}

static PliIndex inverted(void *self, const double *x, PliIndex *first)
{
    const PliElasticForce *e = self;
    const PliIndex count = pli_elastic_inverted(e->kernel, x, first);
    if (*first != PLI_NONE && *first < e->element_count) *first = e->element[*first];
    return count;
}

static bool noted_inverted(void *self, PliIndex *count, PliIndex *first)
{
    const PliElasticForce *e = self;
    const bool noted = pli_elastic_noted_inverted(e->kernel, count, first);
    if (*first != PLI_NONE && *first < e->element_count)
        *first = e->element[*first]; // samples: in the order of the scheme
    return noted;
}

static void add_von_mises(void *self, const double *x, double *sum)
{
    const PliElasticForce *e = self;
    for (PliIndex i = 0; i < e->element_count; ++i) {
        const double s = pli_elastic_tet_von_mises(e->kernel, i, x);
        for (int k = 0; k < 4; ++k) {
            double *to = sum + 3 * (size_t)e->corner[4 * (size_t)i + k];
            to[0] += s * e->volume[i];
            to[1] += e->volume[i];
        }
    }
}

// ---- points in blocks: the kernel knows samples that list groups of four ------------------------------------------------------

static bool couplings(void *self, PliIndex n, PliBlocksFn *fn, void *user)
{
    const PliElasticForce *e = self;
    if (n != 4 || e->element_count) return false;
    pli_elastic_sample_groups(e->kernel, fn, user);
    return true;
}

static bool add_blocks(void *self, PliIndex n, double k, PliBlockPlaceFn *place, void *user, size_t stride)
{
    const PliElasticForce *e = self;
    if (n != 4 || e->element_count) return false;
    pli_elastic_add_pairs(e->kernel, k, place, user, stride);
    return true;
}

static bool add_diagonal_blocks(void *self, PliIndex n, double k, double *to)
{
    const PliElasticForce *e = self;
    if (e->element_count) return false;
    pli_elastic_add_group_blocks(e->kernel, k, n, to);
    return true;
}

// ---- elements with four corners ------------------------------------------------------------------------------------------------

static bool corners(void *self, const PliIndex **corner, PliIndex *count)
{
    const PliElasticForce *e = self;
    *corner = e->corner, *count = e->element_count;
    return e->sample_count == 0;
}

static void add_corner_blocks(void *self, double k, const PliIndex *place, double *value)
{
    pli_elastic_add_tet_blocks(((PliElasticForce *)self)->kernel, k, place, value);
}

const PliForceOps pli_elastic_force_ops = {
    .recut = recut,
    .retune = retune,
    .add_force = add_force,
    .linearize = linearize,
    .add_dforce = add_dforce,
    .blocks = blocks,
    .energy = energy,
    .longest_substep = longest_substep,
    .rate_count = rate_count,
    .add_force_at_rate = add_force_at_rate,
    .element_count = element_count,
    .inverted = inverted,
    .noted_inverted = noted_inverted,
    .add_von_mises = add_von_mises,
    .couplings = couplings,
    .add_blocks = add_blocks,
    .add_diagonal_blocks = add_diagonal_blocks,
    .corners = corners,
    .add_corner_blocks = add_corner_blocks,
};
