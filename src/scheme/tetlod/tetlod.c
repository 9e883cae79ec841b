/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "scheme/tetlod/tetlod.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

// ---- memory ----------------------------------------------------------------------------------------------------------------

typedef struct Block {
    void **array;
    size_t count, size;
} Block;
enum { BLOCKS = 35 };

static int blocks_of(PliTetLod *t, Block out[BLOCKS])
{
    const size_t n = t->h->point_count, e = t->h->tet_count, rows = t->set ? t->set->entry_capacity : 0;
#define LIST(field, length)                                                                                            \
    {                                                                                                                  \
        (void **)&t->field, (length), sizeof *t->field                                                                 \
    }
    const Block all[] = {
        LIST(rest, e),
        LIST(part_size, n),
        LIST(mass, n),
        LIST(volume, e),
        LIST(slave_first, n + 1),
        LIST(slave_column, rows),
        LIST(slave_weight, rows),
        LIST(bucket, e),
        LIST(old_x, 3 * n),
        LIST(old_v, 3 * n),
        LIST(new_x, 3 * n),
        LIST(position_stamp, n),
        LIST(gradient_stamp, e),
        LIST(seen_stamp, e),
        LIST(gradient, 9 * e),
        LIST(carrier, n),
        LIST(carrier_mass, n),
        LIST(carrier_old, 3 * n),
        LIST(dof_mass, n),
        LIST(change, 3 * n),
        LIST(patch_mass, n),
        LIST(saved_v, 3 * n),
        LIST(element, e),
        LIST(element_volume, e),
        LIST(started, n),
        LIST(last_score, n),
        LIST(look_again, n),
        LIST(placed, n),
        LIST(strain_sum, 8 * n),
        LIST(node_error, n),
        LIST(node_volume, n),
        LIST(region, n),
        LIST(number, n),
        LIST(holds, n),
        LIST(own_volume, n),
    };
#undef LIST
    _Static_assert(sizeof all / sizeof *all <= BLOCKS, "room for every array");
    memcpy(out, all, sizeof all);
    return (int)(sizeof all / sizeof *all);
}

static void tetlod_destroy(void *self, const PliHost *host)
{
    PliTetLod *t = self;
    if (!t) return;
    if (t->h) {
        Block block[BLOCKS];
        const int count = blocks_of(t, block);
        for (int i = 0; i < count; ++i) pli_free(host, *block[i].array, block[i].count, block[i].size);
    }
    PLI_FREE(host, t->surface_tris, 3 * (size_t)t->surface_tri_count);
    PLI_FREE(host, t->surface_points, 3 * (size_t)t->surface_point_count);
    if (t->criterion.region_count) pli_criterion_free(&t->criterion);
    pli_weightfit_destroy(t->fit);
    pli_locator_destroy(t->locator);
    for (int l = 0; l < PLI_MAX_LEVELS; ++l) pli_locator_destroy(t->level_locator[l]);
    pli_activeset_destroy(t->set);
    pli_levels_destroy(t->h);
    PLI_FREE(host, t, 1);
}

// ---- what the body asks ------------------------------------------------------------------------------------------------------

static void tetlod_reset(void *self)
{
    PliTetLod *t = self;
    (void)pli_activeset_reset(t->set, t->start_level); // succeeded at creation
    pli_criterion_reset(&t->criterion);
    memset(t->look_again, 0, t->h->point_count * sizeof *t->look_again);
    memset(t->placed, 0, t->h->point_count * sizeof *t->placed);
    pli_governor_reset(&t->governor);
    pli_tetlod_count_buckets(t);
    t->bank = t->time = t->turnover = t->energy_low = 0.0;
    t->energy_wanted = t->decided = false;
    t->plan = (PliPlan){ .uniform = true, .level = t->start_level };
    t->error_energy = t->strain_energy = t->error = t->next_look = t->look_gap = 0.0;
    t->largest_displacement = t->largest_energy = 0.0;
    t->last_look = t->last_change = t->swing = t->strain = 0.0;
    t->made = t->made_time = 0.0;
    t->bound = 0.0;
    t->bias = 1.0, t->trouble = PLI_PLAN_TROUBLE, t->uniform_trouble = PLI_TETLOD_TROUBLE;
    t->swings = false;
    pli_tetlod_shadows_reset(t);
    const bool own = t->likes_uniform && t->own_volume[t->h->point_first[t->start_level]] > 0.0;
    t->uniform_level = own ? t->start_level : -1;
}

static void tetlod_cut(void *self, PliCut *cut)
{
    PliTetLod *t = self;
    PliActiveSet *s = t->set;
    pli_activeset_list(s);
    const double unit = t->h->unit * t->density;
    for (PliIndex i = 0; i < s->active_count; ++i) {
        const PliIndex node = s->active[i];
        t->mass[i] = t->uniform_level < 0 ? (double)s->mass[node] * unit : t->own_volume[node] * t->density;
    }
    PliIndex used = 0;
    for (PliIndex i = 0; i < s->slave_count; ++i) {
        const PliIndex node = s->slave[i], first = s->row_first[node], count = s->row_count[node];
        t->slave_first[i] = used;
        memcpy(t->slave_column + used, s->column + first, count * sizeof *s->column);
        memcpy(t->slave_weight + used, s->weight + first, count * sizeof *s->weight);
        used += count;
    }
    t->slave_first[s->slave_count] = used;
    for (PliIndex i = 0; i < s->element_count; ++i) t->volume[i] = s->volume[s->element[i]];
    if (t->fit) pli_weightfit_apply(t->fit, s, t->volume);
    *cut = (PliCut){
        .active = s->active,
        .active_count = s->active_count,
        .mass = t->mass,
        .slave = s->slave,
        .slave_count = s->slave_count,
        .slave_first = t->slave_first,
        .slave_column = t->slave_column,
        .slave_weight = t->slave_weight,
        .one_way = t->coupling == PLI_PAPER, // reactions on slaves are lost, as in the paper
        .element = s->element,
        .volume = t->volume,
        .element_count = s->element_count,
    };
}

static void tetlod_spread(void *self, double *x) { pli_activeset_spread(((PliTetLod *)self)->set, x); }
static PliRows tetlod_levels(void *self) { return pli_activeset_rows(((PliTetLod *)self)->set); }

static void tetlod_follow(void *self, const PliIndex *dof, PliIndex count, double *x)
{
    PliTetLod *t = self;
    pli_activeset_follow_begin(t->set);
    for (PliIndex i = 0; i < count; ++i) (void)pli_activeset_follow(t->set, dof[i], x);
}

static PliRows tetlod_rows(void *self, const PliIndex *dof, PliIndex count)
{
    PliTetLod *t = self;
    for (PliIndex i = 0; i < count; ++i) (void)pli_activeset_need(t->set, dof[i]);
    return pli_activeset_valid_rows(t->set);
}

static PliIndex tetlod_locate(void *self, const double point[3], PliIndex *column, double *weight, PliIndex capacity)
{
    const PliTetLod *t = self;
    PliIndex tet;
    if (capacity < 4) return 0;
    pli_locator_find(t->locator, point, &tet, weight);
    memcpy(column, t->h->tets + 4 * ((size_t)t->h->tet_first[t->h->level_count - 1] + tet), 4 * sizeof *column);
    return 4;
}

static PliIndex tetlod_locate_at(void *self, int level, const double point[3], PliIndex column[4], double weight[4])
{
    const PliTetLod *t = self;
    PliIndex tet;
    if (!t->level_locator[level]) return 0;
    pli_locator_find(t->level_locator[level], point, &tet, weight);
    memcpy(column, t->h->tets + 4 * ((size_t)t->h->tet_first[level] + tet), 4 * sizeof *column);
    return 4;
}

static int tetlod_only_level(const void *self)
{
    const PliTetLod *t = self;
    return t->uniform_level;
}

static bool tetlod_is_valid(const void *self, PliError *err)
{
    const PliTetLod *t = self;
    return pli_levels_is_valid(t->h, err) && pli_activeset_is_valid(t->set, err);
}

static const PliSchemeOps tetlod_ops = {
    .name = "tetlod",
    .destroy = tetlod_destroy,
    .reset = tetlod_reset,
    .cut = tetlod_cut,
    .adapt = pli_tetlod_adapt,
    .pin = pli_tetlod_find_holds,
    .spread = tetlod_spread,
    .transfer = tetlod_levels,
    .follow = tetlod_follow,
    .transfer_rows = tetlod_rows,
    .announces = true,
    .criteria = 1u << PLI_BY_STRAIN_JUMP | 1u << PLI_BY_FORCE | 1u << PLI_BY_CONTACT | 1u << PLI_BY_CAMERA |
                1u << PLI_BY_REGION | 1u << PLI_BY_RECOVERED,
    .locate = tetlod_locate,
    .locate_at = tetlod_locate_at,
    .only_level = tetlod_only_level,
    .is_valid = tetlod_is_valid,
    .accurate = true,
};

// ---- creation ------------------------------------------------------------------------------------------------------------------

static PliStatus check_def(const PliTetLodDef *def, PliError *err)
{
    const PliStatus status = pli_body_def_check(&def->base, err);
    if (status != PLI_OK) return status;
    if ((unsigned)def->coupling > PLI_PAPER)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "tetlod: there is no coupling number %d", (int)def->coupling);
    if (def->coupling == PLI_PAPER && (def->ramp || def->fit_weights))
        return pli_refuse(err, PLI_BAD_ARGUMENT,
                          "tetlod: ramp and fit_weights belong to the variational coupling, not to the paper's");
    if (pli_body_check_criterion(&tetlod_ops, &def->base.criterion, err) != PLI_OK) return PLI_BAD_ARGUMENT;
    if (def->base.integrator != PLI_SYMPLECTIC && (def->filter || def->speed_change > 0.0))
        return pli_refuse(
            err, PLI_BAD_ARGUMENT,
            "tetlod: filter and speed_change are options of explicit steps, not of the implicit integrator");
    if (!(def->speed_change >= 0.0))
        return pli_refuse(err, PLI_BAD_ARGUMENT, "tetlod: speed_change must be >= 0 m/s, not %g", def->speed_change);
    return PLI_OK;
}

/// Surface of the finest level, renumbered to the points it uses.
static bool find_surface(PliTetLod *t, const PliHost *host, const PliMesh *finest)
{
    PliMesh copy = *finest; // find_surface replaces tris: of a copy that owns nothing else
    copy.host = *host;
    copy.tris = NULL;
    copy.tri_count = 0;
    if (pli_mesh_find_surface(&copy) != PLI_OK) return false;
    t->surface_tris = copy.tris;
    t->surface_tri_count = copy.tri_count;
    PliIndex *number = PLI_NEW(host, finest->point_count, PliIndex);
    if (!number) return false;
    memset(number, 0xff, finest->point_count * sizeof *number);
    for (size_t i = 0; i < 3 * (size_t)t->surface_tri_count; ++i)
        if (number[t->surface_tris[i]] == PLI_NONE) number[t->surface_tris[i]] = t->surface_point_count++;
    t->surface_points = PLI_NEW(host, 3 * (size_t)t->surface_point_count, double);
    if (t->surface_points) {
        for (PliIndex i = 0; i < finest->point_count; ++i)
            if (number[i] != PLI_NONE)
                memcpy(t->surface_points + 3 * (size_t)number[i], finest->x + 3 * (size_t)i, 3 * sizeof(double));
        for (size_t i = 0; i < 3 * (size_t)t->surface_tri_count; ++i) t->surface_tris[i] = number[t->surface_tris[i]];
    }
    PLI_FREE(host, number, finest->point_count);
    return t->surface_points != NULL;
}

static double altitude_of(const PliTetRest *r)
{
    const PliMaterial plain = { .young = 1.0,
                                .poisson = 0.0,
                                .density = 1.0 }; // wave speed 1: the step is the altitude
    return pli_tet_critical_step(r, &plain);
}

static void fill_tables(PliTetLod *t)
{
    const PliLevels *h = t->h;
    t->least_altitude = INFINITY;
    for (PliIndex e = 0; e < h->tet_count; ++e) t->least_altitude = fmin(t->least_altitude, altitude_of(&t->rest[e]));
    for (PliIndex e = 0; e < h->tet_count; ++e) {
        const double b = 64.0 * log2(altitude_of(&t->rest[e]) / t->least_altitude);
        t->bucket[e] = (uint16_t)(b < PLI_TETLOD_BUCKETS - 1 ? b : PLI_TETLOD_BUCKETS - 1);
    }
    for (int l = 0; l < h->level_count; ++l) {
        PliIndex least = PLI_TETLOD_BUCKETS;
        for (PliIndex e = h->tet_first[l]; e < h->tet_first[l + 1]; ++e)
            if (t->bucket[e] < least) least = t->bucket[e];
        t->level_first_bucket[l] = least;
        for (PliIndex e = h->tet_first[l]; e < h->tet_first[l + 1]; ++e) {
            const unsigned octave = (t->bucket[e] - least) / 64;
            t->level_density[l][0] += 1.0 / h->volume;
            t->level_density[l][1] += 1.0 / (h->volume * (double)(1u << (octave < 7 ? octave : 7)));
        }
    }
    for (PliIndex p = 0; p < h->finest_first; ++p) {
        const PliIndex first = h->child_first[p], last = h->child_first[p + 1];
        for (PliIndex c = first; c < last; ++c) t->part_size[p] += h->size[h->child[c]] / (double)(last - first);
    }
}

static PliStatus build(PliTetLod *t, const PliHost *host, const PliTetLodDef *def, PliError *err)
{
    t->h = pli_levels_create(host, def->levels, def->level_count, def->cache, err);
    if (!t->h) return PLI_BAD_MESH;
    const PliActiveSetDef set = { def->ramp, def->coupling == PLI_PAPER, def->start_level };
    t->set = pli_activeset_create(host, t->h, &set, err);
    if (!t->set) return PLI_BAD_MESH;
    const PliMesh *finest = def->levels[def->level_count - 1];
    Block block[BLOCKS];
    const int count = blocks_of(t, block);
    bool ok = true;
    for (int i = 0; i < count; ++i) {
        *block[i].array = pli_alloc(host, block[i].count, block[i].size);
        ok = ok && *block[i].array;
    }
    ok = ok && pli_criterion_init(&t->criterion, host, t->h->point_count) == PLI_OK && find_surface(t, host, finest);
    if (ok) t->locator = pli_locator_create(host, finest->x, finest->point_count, finest->tets, finest->tet_count);
    for (int l = 0; ok && t->likes_uniform && l + 1 < t->h->level_count; ++l)
        ok = (t->level_locator[l] = pli_levels_locator(t->h, l)) != NULL;
    if (!ok || !t->locator)
        return pli_refuse(err, PLI_OUT_OF_MEMORY, "tetlod: no memory for %u nodes", t->h->point_count);
    PliIndex bad;
    if (pli_tet_rest(t->h->tets, t->h->tet_count, t->h->x, t->rest, &bad) != PLI_OK)
        return pli_refuse(err, PLI_BAD_MESH, "tetlod: tetrahedron %u of all levels is flat or inverted", bad);
    if (def->fit_weights) {
        t->fit = pli_weightfit_create(host, t->h, t->rest[0].grad, sizeof(PliTetRest) / sizeof(double));
        if (!t->fit) return pli_refuse(err, PLI_OUT_OF_MEMORY, "tetlod: no memory to fit weights");
    }
    fill_tables(t);
    pli_tetlod_own_volumes(t);
    memset(t->holds, 0xff, t->h->point_count * sizeof *t->holds);
    return PLI_OK;
}

/// The paper's coupling is unstable without damping: 0.2 of critical at the highest frequency of the finest level is forced. Steps from
/// altitudes are down to half of 2 / omega_max, hence twice that; with half of it a clamped cube still grew within 200 periods.
static double paper_damping(const PliTetLod *t, const PliMaterial *m)
{
    double step = INFINITY;
    for (PliIndex e = 0; e < t->h->tet_count; ++e) step = fmin(step, pli_tet_critical_step(&t->rest[e], m));
    return 0.4 * step;
}

/// What is left open, as it suits the body.
static PliTetLodDef settled(const PliTetLodDef *def)
{
    PliTetLodDef d = *def;
    const bool explicit_only = d.filter || d.speed_change > 0.0;
    if (explicit_only && d.base.integrator == PLI_INTEGRATE_USUAL) d.base.integrator = PLI_SYMPLECTIC;
    d.base.integrator = pli_body_def_integrator(&d.base, &tetlod_ops);
    return d;
}

PliBody *pli_tetlod_create(const PliHost *host, const PliTetLodDef *given, PliError *err)
{
    const PliTetLodDef open = settled(given), *def = &open;
    if (check_def(def, err) != PLI_OK) return NULL;
    PliTetLod *t = PLI_NEW(host, 1, PliTetLod);
    if (!t) {
        pli_refuse(err, PLI_OUT_OF_MEMORY, "tetlod: no memory");
        return NULL;
    }
    t->host = *host;
    t->coupling = def->coupling;
    t->start_level = def->start_level;
    t->density = def->base.material.density;
    t->likes_uniform = def->base.criterion.accuracy > 0.0 || !def->base.adapt;
    // a blow on the coarsest level is over before anybody has looked: with an accuracy of 2 % a body starts with a thousand nodes or less,
    // with one of 5 % (errors go like the square of sizes) with 250, but with two levels to judge it by
    const double accuracy = def->base.criterion.accuracy, cap = fmin(1000.0, def->base.criterion.max_active);
    const double most = fmin(cap, 1000.0 * pow(2.0 / accuracy, 1.5));
    for (int l = t->start_level + 1; accuracy > 0.0 && l < def->level_count; ++l)
        if (def->levels[l]->point_count <= (l <= 2 ? cap : most)) t->start_level = l;
    t->free_level = t->start_level; // one that nothing holds is judged by one
    while (t->free_level > def->start_level && t->free_level > 1 && def->levels[t->free_level]->point_count > most)
        t->free_level--;
    // and loses motion with every change: asked for less than 2 % it begins finer, short of the finest, as if errors went like size^1.5
    const double finer = fmin(1000.0 * pow(2.0 / accuracy, 2.0), def->base.criterion.max_active);
    for (int l = t->free_level + 1; accuracy > 0.0 && accuracy < 2.0 && l + 1 < def->level_count; ++l)
        if (def->levels[l]->point_count <= finer) t->free_level = l;
    PliTightLevels tight;
    PliTetLodDef lean = *def;
    PliStatus status = pli_levels_tighten(host, def->levels, def->level_count, &tight, err);
    if (def->level_count <= PLI_MAX_LEVELS) lean.levels = tight.mesh;
    if (status == PLI_OK) status = build(t, host, &lean, err);
    pli_levels_tight_free(&tight);
    if (status != PLI_OK) {
        tetlod_destroy(t, host);
        return NULL;
    }
    PliBodyDef base = def->base;
    if (def->coupling == PLI_PAPER && base.material.damping < paper_damping(t, &base.material)) {
        char text[200];
        const double needed = paper_damping(t, &base.material);
        snprintf(text, sizeof text,
                 "tetlod: coupling \"paper\" needs damping of %.3g s to stay stable; %.3g was given and is raised",
                 needed, base.material.damping);
        if (host->log) host->log(PLI_LOG_WARNING, text, host->user);
        base.material.damping = needed;
    }
    const PliLevels *h = t->h;
    const PliIndex finest = h->point_count - h->finest_first;
    PliSchemeStatic fixed = {
        .dof_count = h->point_count,
        .rest = h->x,
        .dof_level = h->level,
        .level_count = h->level_count,
        .tets = h->tets,
        .tet_rest = t->rest,
        .tet_count = h->tet_count,
        .active_capacity = finest,
        .slave_capacity = h->point_count,
        .element_capacity = h->tet_count,
        .slave_entry_capacity = t->set->entry_capacity,
        .row_revision = t->set->row_revision,
        .surface_points = t->surface_points,
        .surface_point_count = t->surface_point_count,
        .surface_tris = t->surface_tris,
        .surface_tri_count = t->surface_tri_count,
    };
    PliBody *body = pli_body_create(host, &base, &tetlod_ops, t, &fixed, err);
    if (!body) return NULL;
    status = pli_body_set_explicit(body, def->filter, def->speed_change);
    if (status != PLI_OK) pli_refuse(err, status, "tetlod: no memory for the filter");
    if (status == PLI_OK && base.criterion.accuracy > 0.0) status = pli_tetlod_add_shadows(t, body, host, &base, err);
    if (status == PLI_OK) return body;
    pli_body_destroy(body);
    return NULL;
}
