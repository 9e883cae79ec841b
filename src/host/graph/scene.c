/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/graph/scene.h"
#include "base/memory.h"
#include "host/graph/component.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FINDINGS = 10000 };

// ---- memory --------------------------------------------------------------------------------------------------------------

void *pli_scene_alloc(PliScene *scene, size_t count, size_t size)
{
    if (count == 0) count = 1;
    void *block = pli_alloc(&scene->host, count, size);
    if (!block) return NULL;
    if (!PLI_GROW(&scene->host, scene->block, scene->block_count, scene->block_capacity)) {
        pli_free(&scene->host, block, count, size);
        return NULL;
    }
    scene->block[scene->block_count++] = (struct PliSceneBlock){ block, count * size };
    scene->bytes += count * size;
    return block;
}

const char *pli_scene_format(PliScene *scene, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n < 0) return NULL;
    char *text = PLI_SCENE_NEW(scene, (size_t)n + 1, char);
    if (!text) return NULL;
    va_start(args, format);
    vsnprintf(text, (size_t)n + 1, format, args);
    va_end(args);
    return text;
}

void pli_scene_destroy(PliScene *scene)
{
    if (!scene) return;
    PliHost host = scene->host;
    for (size_t i = scene->object_count; i-- > 0;) {
        PliObject *o = scene->object[i];
        if (o->cls->ops && o->cls->ops->destroy && o->self) o->cls->ops->destroy(o);
    }
    for (size_t i = 0; i < scene->block_count; ++i) pli_free(&host, scene->block[i].block, 1, scene->block[i].bytes);
    PLI_FREE(&host, scene->block, scene->block_capacity);
    PLI_FREE(&host, scene->object, scene->object_capacity);
    PLI_FREE(&host, scene->report.finding, scene->report.capacity);
    pli_xml_destroy(scene->doc);
    PLI_FREE(&host, scene, 1);
}

// ---- reports -------------------------------------------------------------------------------------------------------------

void pli_finding_add(PliScene *scene, PliSeverity severity, const PliXml *at, const char *component, const char *format,
                     ...)
{
    PliFindings *r = &scene->report;
    if (r->count >= MAX_FINDINGS || !PLI_GROW(&scene->host, r->finding, r->count, r->capacity)) {
        r->dropped++;
        return;
    }
    PliFinding *f = &r->finding[r->count++];
    *f = (PliFinding){ .severity = severity, .file = at ? at->file : scene->path, .line = at ? at->line : 0 };
    snprintf(f->component, sizeof f->component, "%s", component ? component : "");
    va_list args;
    va_start(args, format);
    vsnprintf(f->text, sizeof f->text, format, args);
    va_end(args);
}

const char *pli_severity_name(PliSeverity severity)
{
    static const char *const name[] = { "note", "warning", "unsupported", "missing file", "error" };
    return name[severity];
}

PliSeverity pli_findings_worst(const PliFindings *report)
{
    PliSeverity worst = PLI_NOTE;
    for (size_t i = 0; i < report->count; ++i)
        if (report->finding[i].severity > worst) worst = report->finding[i].severity;
    return worst;
}

// ---- looking around ------------------------------------------------------------------------------------------------------

PliObject *pli_node_find(PliNode *node, unsigned roles)
{
    for (PliObject *o = node->first_object; o; o = o->next)
        if (o->cls->roles & roles) return o;
    return NULL;
}

PliObject *pli_context_find(PliNode *node, unsigned roles)
{
    for (; node; node = node->parent) {
        PliObject *o = pli_node_find(node, roles);
        if (o) return o;
    }
    return NULL;
}

PliObject *pli_subtree_find(PliNode *node, unsigned roles)
{
    PliObject *o = pli_node_find(node, roles);
    for (PliNode *c = node->first; c && !o; c = c->next) o = pli_subtree_find(c, roles);
    return o;
}

const char *pli_object_path(const PliObject *o, char *text, size_t size)
{
    const PliNode *chain[PLI_XML_DEPTH + 1];
    int n = 0;
    for (const PliNode *node = o->node; node && node->parent && n < PLI_XML_DEPTH; node = node->parent)
        chain[n++] = node;
    size_t used = 0;
    text[0] = '\0';
    while (n-- > 0 && used < size) used += (size_t)snprintf(text + used, size - used, "/%s", chain[n]->name);
    if (used < size) snprintf(text + used, size - used, "/%s", o->name);
    return text;
}

static bool same(const char *name, const char *p, size_t n) { return strncmp(name, p, n) == 0 && name[n] == '\0'; }

static PliObject *object_named(PliNode *node, const char *p, size_t n)
{
    for (PliObject *o = node->first_object; o; o = o->next)
        if (same(o->name, p, n)) return o;
    return NULL;
}

static PliNode *child_named(PliNode *node, const char *p, size_t n)
{
    for (PliNode *c = node->first; c; c = c->next)
        if (same(c->name, p, n)) return c;
    return NULL;
}

// "[-1]": the component before, counted backwards from `self` (or from the end of the node).
static PliObject *object_before(PliNode *node, PliObject *self, long back)
{
    PliObject *list[4096];
    int n = 0, at = -1;
    for (PliObject *o = node->first_object; o && n < 4096; o = o->next) {
        if (o == self) at = n;
        list[n++] = o;
    }
    if (at < 0) at = self ? -1 : n - 1;
    return at >= 0 && back >= -(long)at && back <= 0 ? list[at + back] : NULL; // back may be any long
}

bool pli_scene_follow(PliNode *from, PliObject *self, const char *path, size_t length, PliObject **object,
                      PliNode **node)
{
    const char *p = path, *end = path + length;
    *object = NULL;
    *node = NULL;
    if (p == end || (length == 2 && p[0] == '[' && p[1] == ']')) {
        *object = self;
        *node = self ? NULL : from;
        return true;
    }
    if (*p == '[') {
        char *stop;
        long back = strtol(p + 1, &stop, 10);
        if (stop == p + 1 || stop >= end || *stop != ']' || back > 0) return false;
        *object = object_before(from, self, back);
        return *object != NULL;
    }
    PliNode *at = from;
    bool based = false; // once a step was taken, a name is no longer looked for in ancestors
    if (*p == '/') {
        while (at->parent) at = at->parent;
        ++p;
        based = true;
    }
    while (p < end) {
        size_t n = 0;
        while (p + n < end && p[n] != '/') ++n;
        if (n == 1 && p[0] == '.') {
            based = true;
        } else if (n == 2 && p[0] == '.' && p[1] == '.') {
            if (*object) {
                *object = NULL; // back from a component to its node
            } else {
                if (!at->parent) return false;
                at = at->parent;
            }
            based = true;
        } else if (n > 0) {
            if (*object) return false; // components have no children here
            for (;;) {
                PliNode *child = child_named(at, p, n);
                PliObject *o = object_named(at, p, n);
                if (child) {
                    at = child;
                    break;
                }
                if (o) {
                    *object = o;
                    break;
                }
                if (based || !at->parent) return false;
                at = at->parent;
            }
            based = true;
        }
        p += n + (p + n < end);
    }
    if (!*object) *node = at;
    return true;
}

// ---- data ------------------------------------------------------------------------------------------------------------------

PliData *pli_data(const PliObject *o, const char *name)
{
    const PliAttribute *row = pli_class_attribute(o->cls, name);
    if (!row) return NULL;
    for (int i = 0; i < o->data_count; ++i)
        if (o->data[i].row == row) return &o->data[i];
    return NULL;
}

bool pli_is_set(const PliObject *o, const char *name)
{
    const PliData *d = pli_data(o, name);
    return d && d->set;
}

static PliStatus refresh(PliObject *o)
{
    const PliOps *ops = o->cls->ops;
    if (!ops || !ops->update || o->busy || !o->ready) return PLI_OK;
    o->busy = true;
    uint64_t sum = 0;
    for (int i = 0; i < o->data_count; ++i) {
        PliData *d = &o->data[i];
        if (!pli_is_input(d->row)) continue;
        PliData *s = d;
        while (s->source) s = s->source;
        if (s != d && s->row->role == PLI_OUT) refresh(s->owner);
        sum += s->version;
    }
    PliStatus status = PLI_OK;
    if (sum != o->seen || o->stale) {
        o->seen = sum;
        o->stale = false;
        PliError err = { 0 };
        status = ops->update(o, &err);
        if (status) pli_finding_add(o->node->scene, PLI_MALFORMED, o->xml, o->cls->name, "%s", err.text);
    }
    o->busy = false;
    return status;
}

// The data that holds the value, after bringing an engine behind it up to date.
static PliData *settle(PliData *d)
{
    while (d->source) d = d->source;
    if (d->row->role == PLI_OUT) refresh(d->owner);
    return d;
}

const double *pli_data_reals(PliData *d, size_t *count)
{
    d = settle(d);
    *count = d->count;
    return d->real;
}

const PliIndex *pli_data_indices(PliData *d, size_t *count)
{
    d = settle(d);
    *count = d->index ? d->count : 0;
    return d->index;
}

const double *pli_reals(PliObject *o, const char *name, size_t *count)
{
    return pli_data_reals(pli_data(o, name), count);
}

const PliIndex *pli_indices(PliObject *o, const char *name, size_t *count)
{
    return pli_data_indices(pli_data(o, name), count);
}

double pli_real(PliObject *o, const char *name)
{
    size_t n;
    const double *value = pli_reals(o, name, &n);
    return n > 0 ? value[0] : 0.0;
}

bool pli_bool(PliObject *o, const char *name) { return pli_real(o, name) != 0.0; }

int pli_int(PliObject *o, const char *name)
{
    // a link may bring any number
    return (int)fmin(fmax(pli_real(o, name), INT_MIN), INT_MAX);
}

void pli_vec3(PliObject *o, const char *name, double value[3])
{
    size_t n;
    const double *from = pli_reals(o, name, &n);
    for (size_t i = 0; i < 3; ++i) value[i] = i < n ? from[i] : 0.0;
}

const char *pli_text(PliObject *o, const char *name)
{
    PliData *d = settle(pli_data(o, name));
    return d->text ? d->text : "";
}

PliObject *pli_link(PliObject *o, const char *name)
{
    PliData *d = pli_data(o, name);
    return d && d->link && d->count > 0 ? d->link[0] : NULL;
}

static PliStatus grow_data(PliData *d, size_t count, size_t size)
{
    if (count <= d->capacity) return PLI_OK;
    size_t capacity = d->capacity * 2 > count ? d->capacity * 2 : count;
    void *block = pli_scene_alloc(d->owner->node->scene, capacity, size);
    if (!block) return PLI_OUT_OF_MEMORY;
    void *old = d->row->kind == PLI_INDICES ? (void *)d->index : (void *)d->real;
    if (old && d->count) memcpy(block, old, d->count * size);
    if (d->row->kind == PLI_INDICES)
        d->index = block;
    else
        d->real = block;
    d->capacity = capacity;
    return PLI_OK;
}

PliStatus pli_reserve_data(PliData *d, size_t count)
{
    return grow_data(d, count, d->row->kind == PLI_INDICES ? sizeof(PliIndex) : sizeof(double));
}

PliStatus pli_set_reals(PliObject *o, const char *name, const double *value, size_t count)
{
    PliData *d = pli_data(o, name);
    if (d->lent) d->real = NULL, d->capacity = 0, d->lent = false, d->count = 0;
    PliStatus status = grow_data(d, count, sizeof(double));
    if (status) return status;
    if (count) memmove(d->real, value, count * sizeof(double));
    d->count = count;
    d->version++;
    return PLI_OK;
}

PliStatus pli_set_indices(PliObject *o, const char *name, const PliIndex *value, size_t count)
{
    PliData *d = pli_data(o, name);
    PliStatus status = grow_data(d, count, sizeof(PliIndex));
    if (status) return status;
    if (count) memmove(d->index, value, count * sizeof(PliIndex));
    d->count = count;
    d->version++;
    return PLI_OK;
}

void pli_lend_reals(PliObject *o, const char *name, double *value, size_t count)
{
    PliData *d = pli_data(o, name);
    d->real = value;
    d->count = d->capacity = count;
    d->lent = true;
    d->source = NULL;
    d->version++;
}

PliStatus pli_scene_refuse(const PliScene *scene, PliStatus status, PliError *err)
{
    const PliFinding *worst = NULL;
    for (size_t k = 0; k < scene->report.count; ++k)
        if (!worst || scene->report.finding[k].severity > worst->severity) worst = &scene->report.finding[k];
    if (!worst) return pli_refuse(err, status, "%s: cannot be loaded", scene->path);
    if (worst->file)
        return pli_refuse(err, status, "%s:%d: %s: %s", worst->file, worst->line, worst->component, worst->text);
    return pli_refuse(err, status, "%s%s%s", worst->component, worst->component[0] ? ": " : "", worst->text);
}
