/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/compare/trial.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"
#include "host/graph/component.h"
#include "output/file.h"

// ---- loads -----------------------------------------------------------------------------------------------------------------

static const double least_way = 0.7, most_way = 1.1; // times as far, or as strong
static const double most_tilt = 20.0 * 3.14159265358979323846 / 180.0;

typedef struct List {
    PliOverride *set;
    int count, capacity;
    bool failed;
} List;

static void add(List *l, const char *path, const char *value)
{
    if (l->count == l->capacity) {
        const int wider = l->capacity ? 2 * l->capacity : 64;
        PliOverride *set = realloc(l->set, (size_t)wider * sizeof *set);
        if (!set) l->failed = true;
        if (!set) return;
        l->set = set, l->capacity = wider;
    }
    if (!path || !value) l->failed = true;
    l->set[l->count++] = (PliOverride){ path, value };
}

/// Two directions across `along`.
static void across(const double along[3], double u[3], double v[3])
{
    const double axis[3] = { fabs(along[0]) < 0.9 ? 1.0 : 0.0, fabs(along[0]) < 0.9 ? 0.0 : 1.0, 0.0 };
    v3_cross(u, along, axis);
    v3_scale(u, 1.0 / v3_norm(u));
    v3_cross(v, along, u);
}

/// The furthest movement of a tool; false: it stays.
static bool way_of(PliObject *tool, double way[3])
{
    size_t count;
    const double *move = pli_reals(tool, "movements", &count);
    double most = 0.0;
    for (size_t k = 0; k + 3 <= count; k += 3) {
        const double d[3] = { move[k] - move[0], move[k + 1] - move[1], move[k + 2] - move[2] };
        if (v3_norm(d) > most) most = v3_norm(d), v3_copy(way, d);
    }
    return most > 0.0;
}

static const char *numbers_text(PliScene *graph, const double *value, size_t count)
{
    PliText t = { 0 };
    for (size_t k = 0; k < count; ++k) pli_text_print(&t, "%s%.17g", k ? " " : "", value[k]);
    const char *kept = t.failed ? NULL : pli_scene_format(graph, "%s", t.data ? t.data : "");
    pli_text_free(&t);
    return kept;
}

static void vary_tool(PliScene *graph, PliObject *tool, const double way[3], uint64_t random, List *out)
{
    char path[1024];
    pli_object_path(tool, path, sizeof path);
    const double scale = least_way + (most_way - least_way) * pli_random_unit(&random);
    size_t count;
    const double *move = pli_reals(tool, "movements", &count);
    double *scaled = malloc((count + 1) * sizeof *scaled);
    if (!scaled) out->failed = true;
    if (!scaled) return;
    for (size_t k = 0; k < count; ++k) scaled[k] = scale * move[k];
    add(out, pli_scene_format(graph, "@%s.movements", path), numbers_text(graph, scaled, count));
    free(scaled);
    if (!pli_data(tool, "radius")) return; // a plane is the same everywhere
    double along[3], u[3], v[3], place[3];
    v3_copy(along, way);
    v3_scale(along, 1.0 / v3_norm(along));
    across(along, u, v);
    const double far = 0.5 * pli_real(tool, "radius") * sqrt(pli_random_unit(&random)),
                 turn = 2.0 * 3.14159265358979323846 * pli_random_unit(&random);
    pli_vec3(tool, "position", place);
    v3_madd(place, far * cos(turn), u);
    v3_madd(place, far * sin(turn), v);
    add(out, pli_scene_format(graph, "@%s.position", path), numbers_text(graph, place, 3));
}

static void vary_gravity(PliScene *graph, uint64_t random, List *out)
{
    double g[3], along[3], u[3], v[3];
    v3_copy(g, graph->gravity);
    const double length = v3_norm(g), strong = length * (least_way + (most_way - least_way) * pli_random_unit(&random));
    const double tilt = most_tilt * pli_random_unit(&random),
                 turn = 2.0 * 3.14159265358979323846 * pli_random_unit(&random);
    v3_copy(along, g);
    v3_scale(along, 1.0 / length);
    across(along, u, v);
    for (int k = 0; k < 3; ++k)
        g[k] = strong * (cos(tilt) * along[k] + sin(tilt) * (cos(turn) * u[k] + sin(turn) * v[k]));
    add(out, "@/.gravity", numbers_text(graph, g, 3));
}

/// Tools of every body are numbered from 0, so that all bodies get the same.
static bool vary_tools(PliScene *graph, PliNode *node, uint64_t seed, uint64_t *number, List *out)
{
    bool any = false;
    for (PliObject *o = node->first_object; o; o = o->next) {
        double way[3];
        if (!(o->cls->roles & PLI_ROLE_TOOL)) continue;
        uint64_t random = seed + 0x632be59bd9b4e019ULL * ++*number;
        pli_random(&random);
        if (!way_of(o, way)) continue;
        vary_tool(graph, o, way, random, out);
        any = true;
    }
    for (PliNode *c = node->first; c; c = c->next) any = vary_tools(graph, c, seed, number, out) || any;
    return any;
}

static PliStatus vary(PliScene *graph, uint64_t seed, List *out, PliError *err)
{
    bool any = false;
    for (PliNode *node = graph->root->first; node; node = node->next) {
        uint64_t number = 0;
        any = vary_tools(graph, node, seed, &number, out) || any;
    }
    uint64_t random = seed;
    if (!any && v3_norm(graph->gravity) > 0.0)
        vary_gravity(graph, random, out);
    else if (!any)
        return pli_refuse(err, PLI_UNSUPPORTED, "%s: no tool moves and nothing falls: its load cannot be varied",
                          graph->path);
    return PLI_OK;
}

static PliScene *read_graph(const PliHost *host, const char *path, const PliSceneDef *def, PliError *err)
{
    PliSceneDef look = *def;
    look.graph_only = look.allow_unsupported = true;
    PliStatus status;
    PliScene *graph = pli_scene_load(host, path, &look, &status);
    if (graph && status == PLI_OK) return graph;
    if (graph)
        pli_scene_refuse(graph, status, err);
    else
        pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for %s", path);
    pli_scene_destroy(graph);
    return NULL;
}

PliStatus pli_varied_begin(PliVaried *v, const PliHost *host, const char *path, const PliSceneDef *def,
                           const PliOverride *set, int set_count, uint64_t seed, PliError *err)
{
    *v = (PliVaried){ .def = *def };
    List list = { 0 };
    for (int k = 0; k < def->override_count; ++k) add(&list, def->overrides[k].path, def->overrides[k].value);
    for (int k = 0; k < set_count; ++k) add(&list, set[k].path, set[k].value);
    v->def.overrides = list.set, v->def.override_count = list.count;
    PliStatus status = PLI_OK;
    if (seed && !list.failed) {
        v->graph = read_graph(host, path, &v->def, err);
        status = v->graph ? vary(v->graph, seed, &list, err) : err->status;
    }
    v->all = list.set;
    v->def.overrides = list.set, v->def.override_count = list.count;
    return list.failed ? pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for what is set in %s", path) : status;
}

void pli_varied_end(PliVaried *v)
{
    free(v->all);
    pli_scene_destroy(v->graph);
    *v = (PliVaried){ 0 };
}

// ---- one body --------------------------------------------------------------------------------------------------------------

PliComparison *pli_trial_run(const PliHost *host, const PliSceneDef *def, const PliTrial *trial, int *which,
                             PliError *err)
{
    PliVaried varied;
    PliComparison *comparison = NULL;
    PliContest *contest = NULL;
    if (pli_varied_begin(&varied, host, trial->scene, def, trial->set, trial->set_count, trial->seed, err) == PLI_OK)
        contest = pli_contest_load(host, trial->scene, &varied.def, err);
    if (contest && pli_contest_choose(contest, trial->body, err) == PLI_OK) {
        PliCompareDef compare = pli_compare_default();
        compare.steps = (PliIndex)trial->steps;
        compare.repeat = trial->repeat;
        compare.brief = trial->brief;
        compare.cache = trial->cache;
        compare.stopped = trial->stopped;
        comparison = pli_contest_compare(contest, &compare, err);
    }
    *which = 0;
    for (int k = 0; comparison && k < comparison->count; ++k)
        if (strcmp(comparison->outcome[k].name, trial->body) == 0) *which = k;
    pli_contest_destroy(contest);
    pli_varied_end(&varied);
    return comparison;
}

// ---- what decides it -------------------------------------------------------------------------------------------------------

PliStatus pli_trial_key(const PliHost *host, const char *scene, const PliSceneDef *def, PliKey *key, PliError *err)
{
    PliScene *graph = read_graph(host, scene, def, err);
    if (!graph) return err->status;
    pli_scene_key(graph, key);
    key->unknown = false; // a file that cannot be read will be refused when the job runs
    pli_scene_destroy(graph);
    return PLI_OK;
}
