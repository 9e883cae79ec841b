/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/compare/scene.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/words.h"
#include "host/components/components.h"
#include "host/graph/simulation.h"
#include "output/machine.h"

enum { PARTS_MAX = 64 };

// ---- finding the bodies -------------------------------------------------------------------------------------------------------

static bool contains(const PliXml *e, const char *file, int line)
{
    if (e->line == line && strcmp(e->file, file) == 0) return true;
    for (const PliXml *c = e->first; c; c = c->next)
        if (contains(c, file, line)) return true;
    return false;
}

/// First thing outside the profile in this node, or NULL.
static const PliFinding *trouble_in(const PliScene *scene, const PliNode *node)
{
    for (size_t k = 0; k < scene->report.count; ++k) {
        const PliFinding *f = &scene->report.finding[k];
        if (f->severity == PLI_UNSUPPORTED_PART && f->file && contains(node->xml, f->file, f->line)) return f;
    }
    return NULL;
}

/// "TetLodModel" -> "tetlod".
static const char *scheme_of(PliScene *scene, const char *component)
{
    char text[64];
    size_t n = strlen(component);
    if (n > 5 && strcmp(component + n - 5, "Model") == 0) n -= 5;
    if (n >= sizeof text) n = sizeof text - 1;
    for (size_t k = 0; k < n; ++k) text[k] = (char)tolower((unsigned char)component[k]);
    text[n] = '\0';
    return pli_scene_format(scene, "%s", text);
}

static PliStatus no_memory(PliError *err)
{
    return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for the bodies of a comparison");
}

static PliStatus find_parts(PliContest *contest, PliError *err)
{
    PliScene *scene = contest->graph;
    for (PliNode *node = scene->root->first; node; node = node->next) {
        if (!node->active) continue;
        const PliObject *model = pli_subtree_find(node, PLI_ROLE_MODEL);
        const PliFinding *trouble = trouble_in(scene, node);
        if (!model && !trouble) continue; // tools, floors, lights
        if (contest->count == PARTS_MAX)
            return pli_refuse(err, PLI_OVER_CAPACITY, "%s: more than %d bodies", contest->path, PARTS_MAX);
        PliContender *p = &contest->part[contest->count++];
        p->name = node->name;
        p->scheme = scheme_of(scene, model ? model->cls->name : trouble->component);
        if (trouble)
            p->unable = pli_scene_format(scene, "%s (line %d): %s", trouble->component, trouble->line, trouble->text);
        if (!p->scheme || (trouble && !p->unable)) return no_memory(err);
        for (int k = 0; k + 1 < contest->count; ++k)
            if (strcmp(contest->part[k].name, p->name) == 0)
                return pli_refuse(err, PLI_BAD_ARGUMENT, "%s: two bodies are called %s", contest->path, p->name);
    }
    return PLI_OK;
}

/// The child of the root that holds the object.
static const PliNode *top_of(const PliObject *o)
{
    const PliNode *node = o->node;
    while (node->parent && node->parent->parent) node = node->parent;
    return node;
}

static PliStatus read_monitor(PliContest *contest, PliError *err)
{
    PliObject *monitor = NULL;
    for (size_t k = 0; k < contest->graph->object_count; ++k)
        if (strcmp(contest->graph->object[k]->cls->name, "ComparisonMonitor") == 0) monitor = contest->graph->object[k];
    if (!monitor)
        return pli_refuse(
            err, PLI_BAD_ARGUMENT,
            "%s: no reference: a comparison scene has a ComparisonMonitor reference=\"@Body/model\" at its root",
            contest->path);
    PliObject *reference = pli_link(monitor, "reference");
    if (!reference)
        return pli_refuse(err, PLI_BAD_ARGUMENT,
                          "%s:%d: no reference: ComparisonMonitor needs reference=\"@Body/model\"", contest->path,
                          monitor->xml->line);
    contest->reference = -1;
    for (int k = 0; k < contest->count; ++k)
        if (strcmp(contest->part[k].name, top_of(reference)->name) == 0) contest->reference = k;
    if (!(reference->cls->roles & PLI_ROLE_MODEL) || contest->reference < 0)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "%s:%d: the reference %s is no body model in a node under the root",
                          contest->path, monitor->xml->line, reference->name);
    const int steps = pli_int(monitor, "steps");
    if (steps < 1)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "%s:%d: steps=%d must be at least 1", contest->path,
                          monitor->xml->line, steps);
    contest->steps = (PliIndex)steps;
    size_t count;
    const double *instants = pli_reals(monitor, "instants", &count);
    if (count > 8)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "%s:%d: %zu instants, at most 8", contest->path, monitor->xml->line,
                          count);
    for (size_t k = 0; k < count; ++k) contest->instants[k] = instants[k];
    contest->instant_count = (int)count;
    pli_vec3(monitor, "view", contest->view);
    pli_vec3(monitor, "up", contest->up);
    contest->title = pli_text(monitor, "title");
    contest->note = pli_text(monitor, "note");
    if (!*contest->title) {
        const char *slash = strrchr(contest->path, '/'), *name = slash ? slash + 1 : contest->path;
        contest->title = pli_scene_format(contest->graph, "%.*s", (int)strcspn(name, "."), name);
    }
    return contest->title && contest->note ? PLI_OK : no_memory(err);
}

/// Parts outside the profile that are nobody's own make the whole scene impossible.
static const PliFinding *shared_trouble(const PliContest *contest)
{
    const PliScene *scene = contest->graph;
    for (size_t k = 0; k < scene->report.count; ++k) {
        const PliFinding *f = &scene->report.finding[k];
        bool owned = false;
        if (f->severity != PLI_UNSUPPORTED_PART) continue;
        for (const PliNode *node = scene->root->first; node && f->file; node = node->next)
            owned = owned || contains(node->xml, f->file, f->line);
        if (!owned) return f;
    }
    return NULL;
}

PliContest *pli_contest_load(const PliHost *host, const char *path, const PliSceneDef *def, PliError *err)
{
    PliContest *contest = PLI_NEW(host, 1, PliContest);
    if (!contest) {
        no_memory(err);
        return NULL;
    }
    PliStatus status = PLI_OUT_OF_MEMORY;
    contest->host = *host;
    contest->path = path;
    contest->def = *def;
    contest->own_count = def->override_count;
    contest->part = PLI_NEW(host, PARTS_MAX, PliContender);
    contest->entrant = PLI_NEW(host, PARTS_MAX, PliEntrant);
    contest->overrides = PLI_NEW(host, (size_t)def->override_count + PARTS_MAX + 1, PliOverride);
    PliSceneDef look = *def;
    look.graph_only = true;
    look.allow_unsupported = true;
    if (contest->part && contest->entrant && contest->overrides)
        contest->graph = pli_scene_load(host, path, &look, &status);
    if (!contest->graph)
        no_memory(err);
    else if (status != PLI_OK)
        pli_scene_refuse(contest->graph, status, err);
    else if (shared_trouble(contest) && !def->allow_unsupported)
        status = pli_scene_refuse(contest->graph, PLI_UNSUPPORTED, err);
    else
        status = find_parts(contest, err);
    if (contest->graph && status == PLI_OK) status = read_monitor(contest, err);
    if (contest->graph && status == PLI_OK) return contest;
    pli_contest_destroy(contest);
    return NULL;
}

void pli_contest_destroy(PliContest *contest)
{
    if (!contest) return;
    const PliHost host = contest->host;
    pli_scene_destroy(contest->graph);
    PLI_FREE(&host, contest->overrides, (size_t)contest->own_count + PARTS_MAX + 1);
    PLI_FREE(&host, contest->entrant, PARTS_MAX);
    PLI_FREE(&host, contest->part, PARTS_MAX);
    free(contest->slots);
    PLI_FREE(&host, contest, 1);
}

// ---- choosing -----------------------------------------------------------------------------------------------------------------

static bool in_list(const char *list, const char *word)
{
    const size_t n = strlen(word);
    for (const char *p = list; *p;) {
        const size_t length = strcspn(p, ",");
        if (length == n && strncmp(p, word, n) == 0) return true;
        p += length + (p[length] == ',');
    }
    return false;
}

PliStatus pli_contest_choose(PliContest *contest, const char *names, PliError *err)
{
    for (const char *p = names; *p;) {
        const size_t length = strcspn(p, ",");
        bool known = false;
        for (int k = 0; k < contest->count; ++k)
            known = known ||
                    (strlen(contest->part[k].name) == length && strncmp(contest->part[k].name, p, length) == 0) ||
                    (strlen(contest->part[k].scheme) == length && strncmp(contest->part[k].scheme, p, length) == 0);
        if (!known) {
            char have[200] = "", word[65];
            size_t used = 0;
            snprintf(word, sizeof word, "%.*s", (int)length, p);
            const char *near = NULL;
            int best = pli_word_tolerance(word) + 1;
            for (int k = 0; k < contest->count; ++k) {
                const char *const known_as[] = { contest->part[k].name, contest->part[k].scheme };
                for (int i = 0; i < 2; ++i) {
                    const int d = pli_word_distance(word, known_as[i]);
                    if (d < best) best = d, near = known_as[i];
                }
                if (used < sizeof have)
                    used += (size_t)snprintf(have + used, sizeof have - used, "%s%s (%s)", k ? ", " : "",
                                             contest->part[k].name, contest->part[k].scheme);
            }
            return pli_refuse(err, PLI_BAD_ARGUMENT, "%s has no body or scheme '%s'%s%s; it has %s", contest->path,
                              word, near ? ", did you mean " : "", near ? near : "", have);
        }
        p += length + (p[length] == ',');
    }
    int kept = 0, reference = 0;
    for (int k = 0; k < contest->count; ++k) {
        const bool is_reference = k == contest->reference;
        if (!is_reference && !in_list(names, contest->part[k].name) && !in_list(names, contest->part[k].scheme))
            continue;
        if (is_reference) reference = kept;
        contest->part[kept++] = contest->part[k];
    }
    contest->count = kept;
    contest->reference = reference;
    return PLI_OK;
}

PliStatus pli_contest_sweep(PliContest *contest, const char *text, PliError *err)
{
    const char *equal = strchr(text, '=');
    if (text[0] != '@' || !equal || !equal[1])
        return pli_refuse(err, PLI_BAD_ARGUMENT, "a sweep is @Body/component.attribute=value,value,..., not '%s'",
                          text);
    const char *path = pli_scene_format(contest->graph, "%.*s", (int)(equal - text), text),
               *dot = path ? strrchr(path, '.') : NULL;
    if (!path) return no_memory(err);
    const char *from = path + 1 + (path[1] == '/');
    const size_t first = strcspn(from, "/.");
    int body = -1;
    for (int k = 0; k < contest->count; ++k)
        if (!contest->part[k].set.path && strlen(contest->part[k].name) == first &&
            strncmp(contest->part[k].name, from, first) == 0)
            body = k;
    PliObject *object = NULL;
    PliNode *node = NULL;
    if (body < 0 || !dot ||
        !pli_scene_follow(contest->graph->root, NULL, path + 1, (size_t)(dot - path - 1), &object, &node) || !object)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "%s: the sweep %s leads to no component of a body", contest->path,
                          path);
    if (!pli_class_attribute(object->cls, dot + 1))
        return pli_refuse(err, PLI_BAD_ARGUMENT, "%s: %s has no attribute %s", contest->path, object->cls->name,
                          dot + 1);
    PliContender base = contest->part[body];
    const char *curve = pli_scene_format(contest->graph, "%s %s", base.name, dot + 1);
    for (const char *p = equal + 1; *p;) {
        const size_t length = strcspn(p, ",");
        if (contest->count == PARTS_MAX)
            return pli_refuse(err, PLI_OVER_CAPACITY, "%s: more than %d bodies", contest->path, PARTS_MAX);
        const char *value = pli_scene_format(contest->graph, "%.*s", (int)length, p);
        PliContender part = base;
        part.curve = curve;
        part.set = (PliOverride){ path, value };
        part.parameters = value ? pli_scene_format(contest->graph, "%s=%s", dot + 1, value) : NULL;
        part.name = part.parameters ? pli_scene_format(contest->graph, "%s %s", base.name, part.parameters) : NULL;
        if (!curve || !part.name) return no_memory(err);
        contest->part[contest->count++] = part;
        p += length + (p[length] == ',');
    }
    if (body != contest->reference) contest->part[body].curve = curve;
    return PLI_OK;
}

// ---- running --------------------------------------------------------------------------------------------------------------------

typedef struct Slot {
    PliContest *contest;
    const PliContender *part;
    const char *node; ///< name of its node
} Slot;

typedef struct Open {
    PliScene *scene;
    PliModel *model;
} Open;

static void close_seat(PliRun *run)
{
    Open *o = run->self;
    if (!o) return;
    const PliHost host = o->scene->host;
    pli_scene_destroy(o->scene);
    PLI_FREE(&host, o, 1);
    run->self = NULL;
}

/// What else acts on the body: supports, and work that nobody measures.
static void look_around(PliNode *node, PliRun *run)
{
    for (PliObject *o = node->first_object; o; o = o->next) {
        if (pli_class_is_ours(o->cls)) continue;
        if (o->cls->roles & PLI_ROLE_CONSTRAINT) {
            run->held = true;
            if (o->cls->ops && o->cls->ops->project_velocity && strstr(o->cls->name, "Movement")) run->driven = true;
        }
        if (o->cls->roles & PLI_ROLE_FORCE) run->driven = true;
    }
    for (PliNode *c = node->first; c; c = c->next) look_around(c, run);
}

static PliNode *child_of(const PliNode *root, const char *name)
{
    for (PliNode *node = root->first; node; node = node->next)
        if (strcmp(node->name, name) == 0) return node;
    return NULL;
}

/// Bodies that are switched off while another one runs.
static bool is_body(const PliContest *contest, const PliNode *node)
{
    return pli_subtree_find((PliNode *)node, PLI_ROLE_MODEL) || trouble_in(contest->graph, node);
}

static PliStatus fill_slot(const Slot *slot, PliRun *run, PliError *err)
{
    PliContest *contest = slot->contest;
    if (slot->part->unable) return pli_refuse(err, PLI_UNSUPPORTED, "%s", slot->part->unable);
    PliSceneDef def = contest->def;
    int count = contest->own_count;
    if (count > 0) memcpy(contest->overrides, contest->def.overrides, (size_t)count * sizeof *contest->overrides);
    for (const PliNode *node = contest->graph->root->first; node; node = node->next) {
        if (!is_body(contest, node) || !node->active || strcmp(node->name, slot->node) == 0 ||
            count >= contest->own_count + PARTS_MAX)
            continue;
        const char *path = pli_scene_format(contest->graph, "@%s.activated", node->name);
        if (!path) return no_memory(err);
        contest->overrides[count++] = (PliOverride){ path, "0" };
    }
    if (slot->part->set.path) contest->overrides[count++] = slot->part->set;
    def.overrides = contest->overrides;
    def.override_count = count;
    def.allow_unsupported = true; // what is outside the profile belongs to bodies that are switched off
    PliStatus status;
    PliScene *scene = pli_scene_load(&contest->host, contest->path, &def, &status);
    Open *o = scene ? PLI_NEW(&contest->host, 1, Open) : NULL;
    if (!o) {
        pli_scene_destroy(scene);
        return no_memory(err);
    }
    *o = (Open){ .scene = scene };
    *run = (PliRun){ .self = o };
    if (status != PLI_OK) return pli_scene_refuse(scene, status, err);
    PliNode *node = child_of(scene->root, slot->node);
    PliObject *object = node ? pli_subtree_find(node, PLI_ROLE_MODEL) : NULL;
    if (!object) return pli_refuse(err, PLI_BAD_ARGUMENT, "%s: the node %s has no body", contest->path, slot->node);
    o->model = pli_model_self(object);
    if (o->model->route == PLI_ROUTE_NONE)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "%s: nothing moves the body %s: it has no solver", contest->path,
                          slot->node);
    run->body = o->model->body;
    run->x = o->model->state->x;
    run->v = o->model->state->v;
    run->tools = o->model->tool;
    run->tool_count = o->model->tool_count;
    run->dt = scene->dt;
    look_around(node, run);
    return PLI_OK;
}

static PliStatus open_seat(void *user, PliRun *run, PliError *err)
{
    const PliStatus status = fill_slot(user, run, err);
    if (status != PLI_OK) close_seat(run);
    return status;
}

static PliStatus step_seat(PliRun *run, PliError *err) { return pli_scene_step(((Open *)run->self)->scene, err); }

// ---- what decides the run of the reference --------------------------------------------------------------------------------

static void key_element(PliKey *key, const PliXml *e)
{
    pli_key_text(key, e->tag);
    for (int k = 0; k < e->attr_count; ++k) {
        pli_key_text(key, e->attrs[k].name);
        pli_key_text(key, e->attrs[k].value);
    }
    pli_key_add(key, &e->attr_count, sizeof e->attr_count);
}

static void key_files(PliKey *key, PliScene *graph, const PliObject *o)
{
    for (int i = 0; i < o->data_count; ++i) {
        const PliData *d = &o->data[i];
        if (!d->set || !d->text || !d->text[0] || !pli_is_input(d->row)) continue;
        if (d->row->kind == PLI_FILE) pli_key_file(key, d->text); // found when the scene was read
        if (d->row->kind != PLI_FILES) continue;
        static const char blanks[] = " \t\r\n";
        for (const char *p = d->text + strspn(d->text, blanks); *p; p += strspn(p, blanks)) {
            const size_t n = strcspn(p, blanks);
            const char *name = pli_scene_format(graph, "%.*s", (int)n, p);
            const char *path = name ? pli_scene_file(graph, o->xml, o->cls->name, name) : NULL;
            if (path)
                pli_key_file(key, path);
            else
                key->unknown = true;
            p += n;
        }
    }
}

/// Elements of the tree and what is in their files, but for the bodies beside the reference; without a contest, all of them.
static void key_node(PliKey *key, const PliContest *contest, PliScene *graph, const PliNode *node)
{
    const bool top = contest && node->parent == graph->root;
    if (top && is_body(contest, node) && strcmp(node->name, contest->part[contest->reference].name) != 0) return;
    key_element(key, node->xml);
    for (const PliObject *o = node->first_object; o; o = o->next) {
        key_element(key, o->xml);
        for (const PliXml *e = o->xml->first; e; e = e->next) key_element(key, e);
        key_files(key, graph, o);
    }
    for (const PliNode *child = node->first; child; child = child->next) key_node(key, contest, graph, child);
    pli_key_text(key, "end");
}

void pli_scene_key(PliScene *graph, PliKey *key) { key_node(key, NULL, graph, graph->root); }

static PliKey reference_key(PliContest *contest)
{
    const PliMachine machine = pli_machine();
    PliKey key = pli_key_begin();
    pli_key_program(&key);
    pli_key_text(&key, machine.cpu);
    pli_key_text(&key, machine.simd);
    pli_key_add(&key, &contest->host.worker_count, sizeof contest->host.worker_count);
    pli_key_add(&key, &contest->def.dt, sizeof contest->def.dt);
    key_node(&key, contest, contest->graph, contest->graph->root);
    return key;
}

PliComparison *pli_contest_compare(PliContest *contest, PliCompareDef *def, PliError *err)
{
    free(contest->slots);
    Slot *slot = calloc((size_t)contest->count, sizeof *slot);
    contest->slots = slot;
    if (!slot) {
        no_memory(err);
        return NULL;
    }
    for (int k = 0; k < contest->count; ++k) {
        const PliContender *p = &contest->part[k];
        const char *node = p->set.path ? p->set.path + 1 + (p->set.path[1] == '/') : p->name;
        slot[k] =
            (Slot){ contest, p,
                    p->set.path ? pli_scene_format(contest->graph, "%.*s", (int)strcspn(node, "/."), node) : p->name };
        if (!slot[k].node) {
            no_memory(err);
            return NULL;
        }
        contest->entrant[k] = (PliEntrant){ .name = p->name,
                                            .scheme = p->scheme,
                                            .curve = p->curve,
                                            .parameters = p->parameters,
                                            .open = open_seat,
                                            .step = step_seat,
                                            .close = close_seat,
                                            .user = &slot[k] };
    }
    def->entrants = contest->entrant;
    def->count = contest->count;
    def->reference = contest->reference;
    if (def->steps == 0) def->steps = contest->steps;
    if (def->cache) def->reference_key = reference_key(contest);
    if (!def->instants && contest->instant_count > 0) {
        def->instants = contest->instants;
        def->instant_count = contest->instant_count;
    }
    return pli_compare(def, err);
}
