/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/memory.h"
#include "host/graph/component.h"
#include "host/graph/include.h"
#include "host/graph/value.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// From elements to components: graph, overrides, values, links; then loaders, then init in SOFA's order.

PliSceneDef pli_scene_default(void) { return (PliSceneDef){ 0 }; }

// ---- graph -----------------------------------------------------------------------------------------------------------------

static bool is_node(const PliXml *e) { return strcmp(e->tag, "Node") == 0; }

/// Name of the component an element asks for: <Name .../> or <Object type="Name" .../>.
static const char *class_name(const PliXml *e)
{
    const char *type = strcmp(e->tag, "Object") == 0 ? pli_xml_get(e, "type") : NULL;
    return type ? type : e->tag;
}

static int count_of_class(const PliNode *node, const PliClass *cls)
{
    int n = 0;
    for (const PliObject *o = node->first_object; o; o = o->next) n += o->cls == cls;
    return n;
}

static void refuse_component(PliScene *scene, const PliXml *e, const char *name)
{
    const char *near = pli_profile_nearest(name);
    if (near)
        pli_finding_add(scene, PLI_UNSUPPORTED_PART, e, name, "%s; did you mean %s?", pli_profile_reason(name), near);
    else
        pli_finding_add(scene, PLI_UNSUPPORTED_PART, e, name, "%s", pli_profile_reason(name));
    if (scene->def.allow_unsupported) scene->degraded = true;
}

static PliStatus add_object(PliScene *scene, PliNode *node, PliXml *e)
{
    const char *type = class_name(e);
    const PliClass *cls = pli_profile_find(type);
    if (!cls || cls->support == PLI_NOT_SUPPORTED) {
        if (cls)
            pli_finding_add(scene, PLI_UNSUPPORTED_PART, e, type, "%s", cls->reason);
        else
            refuse_component(scene, e, type);
        scene->refused = true;
        if (scene->def.allow_unsupported) scene->degraded = true;
        return PLI_OK;
    }
    if (e->first)
        pli_finding_add(scene, PLI_UNSUPPORTED_PART, e->first, type, "elements inside a component (<%s>) are not read",
                        e->first->tag);
    PliObject *o = PLI_SCENE_NEW(scene, 1, PliObject);
    if (!o) return PLI_OUT_OF_MEMORY;
    o->cls = cls;
    o->node = node;
    o->xml = e;
    const char *name = pli_xml_get(e, "name");
    o->name = name && *name ? name : pli_scene_format(scene, "%s%d", cls->name, count_of_class(node, cls) + 1);
    while (pli_class_row(cls, o->data_count)) o->data_count++;
    o->data = PLI_SCENE_NEW(scene, (size_t)o->data_count, PliData);
    o->self = pli_scene_alloc(scene, 1, cls->ops && cls->ops->size ? cls->ops->size : 1);
    if (!o->name || !o->data || !o->self) return PLI_OUT_OF_MEMORY;
    for (int i = 0; i < o->data_count; ++i) {
        o->data[i].row = pli_class_row(cls, i);
        o->data[i].owner = o;
    }
    if (node->last_object)
        node->last_object->next = o;
    else
        node->first_object = o;
    node->last_object = o;
    return PLI_OK;
}

static PliStatus add_node(PliScene *scene, PliNode *parent, PliXml *e, int depth, PliNode **made)
{
    if (depth > PLI_XML_DEPTH) {
        pli_finding_add(scene, PLI_MALFORMED, e, "Node", "nested deeper than %d, includes counted", PLI_XML_DEPTH);
        return PLI_BAD_FILE;
    }
    PliNode *node = PLI_SCENE_NEW(scene, 1, PliNode);
    if (!node) return PLI_OUT_OF_MEMORY;
    node->scene = scene;
    node->parent = parent;
    node->xml = e;
    node->active = true;
    const char *name = pli_xml_get(e, "name");
    node->name = name && *name ? name : "unnamed";
    if (parent) {
        if (parent->last)
            parent->last->next = node;
        else
            parent->first = node;
        parent->last = node;
    }
    for (PliXml *c = e->first; c; c = c->next) {
        PliStatus status =
            is_node(c) ? add_node(scene, node, c, depth + 1, &(PliNode *){ NULL }) : add_object(scene, node, c);
        if (status) return status;
    }
    *made = node;
    return PLI_OK;
}

// Objects of a node, then of its children: the order of every pass over the graph.
static PliStatus list_objects(PliScene *scene, PliNode *node)
{
    for (PliObject *o = node->first_object; o; o = o->next) {
        if (!PLI_GROW(&scene->host, scene->object, scene->object_count, scene->object_capacity))
            return PLI_OUT_OF_MEMORY;
        scene->object[scene->object_count++] = o;
    }
    for (PliNode *c = node->first; c; c = c->next) {
        PliStatus status = list_objects(scene, c);
        if (status) return status;
    }
    return PLI_OK;
}

// ---- values ------------------------------------------------------------------------------------------------------------------

static bool template_is_vec3(const char *text)
{
    static const char *const other[] = { "Rigid", "Vec1", "Vec2", "Vec6", "Cuda", "Affine", "Quadratic", "1d", "1f" };
    for (size_t i = 0; i < sizeof other / sizeof *other; ++i)
        if (strstr(text, other[i])) return false;
    return true;
}

static bool all_zero(const char *text) { return strspn(text, " \t\r\n0.-+eE") == strlen(text); }

static void refuse_part(PliScene *scene, const PliXml *e, const char *component, const char *name, const char *value,
                        const char *reason)
{
    pli_finding_add(scene, PLI_UNSUPPORTED_PART, e, component, "%s=\"%.60s\": %s", name, value, reason);
    if (scene->def.allow_unsupported) scene->degraded = true;
}

static void unknown_attribute(PliScene *scene, const PliXml *e, const PliClass *cls, const PliXmlAttr *a)
{
    if (cls->support == PLI_VISUAL_ONLY) return;
    const char *near = pli_class_nearest(cls, a->name);
    if (pli_class_is_ours(cls)) {
        const bool adaptive = cls->scheme && pli_attribute_find(&pli_criterion_attributes, a->name);
        pli_finding_add(scene, PLI_MALFORMED, e, cls->name, "has no attribute %s%s%s%s", a->name,
                        adaptive ? ": it belongs to adaptive models"
                        : near   ? "; did you mean "
                                 : "",
                        near && !adaptive ? near : "", near && !adaptive ? "?" : "");
        return;
    }
    // SOFA's own way to switch a parameter off, and its own warning
    if (a->name[0] == '_' || strncmp(a->name, "NO", 2) == 0) return;
    pli_finding_add(scene, PLI_WARNING, e, cls->name, "unused attribute %s=\"%.60s\"%s%s%s", a->name, a->value,
                    near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

static void read_attribute(PliScene *scene, PliObject *o, PliXmlAttr *a)
{
    const PliAttribute *row = pli_class_attribute(o->cls, a->name);
    if (!row) {
        unknown_attribute(scene, o->xml, o->cls, a);
        return;
    }
    if (row->support == PLI_VISUAL_ONLY) return;
    if (row->support == PLI_NOT_SUPPORTED) {
        bool harmless = (row->value && pli_value_same(row->kind, a->value, row->value)) ||
                        (row->kind == PLI_POINTS && all_zero(a->value));
        if (!harmless) refuse_part(scene, o->xml, o->cls->name, a->name, a->value, row->reason);
        return;
    }
    if (row->support == PLI_APPROXIMATED && !(row->value && pli_value_same(row->kind, a->value, row->value)))
        pli_finding_add(scene, PLI_NOTE, o->xml, o->cls->name, "%s=\"%.60s\": %s", a->name, a->value, row->reason);
    if (strcmp(row->name, "template") == 0 && !template_is_vec3(a->value)) {
        refuse_part(scene, o->xml, o->cls->name, a->name, a->value, "only Vec3 states are in the profile");
        return;
    }
    PliData *d = pli_data(o, a->name);
    d->text = a->value;
    d->set = true;
}

static PliStatus read_values(PliScene *scene, PliObject *o)
{
    PliXml *e = o->xml;
    for (int i = 0; i < e->attr_count; ++i) {
        PliXmlAttr *a = &e->attrs[i];
        if (strcmp(a->name, "name") == 0 || (strcmp(a->name, "type") == 0 && strcmp(e->tag, "Object") == 0)) continue;
        read_attribute(scene, o, a);
    }
    PliDefaults def = { 0 };
    if (o->cls->defaults) o->cls->defaults(&def);
    for (int i = 0; i < o->data_count; ++i) {
        PliData *d = &o->data[i];
        PliError err = { 0 };
        PliStatus status = PLI_OK;
        if (!pli_is_input(d->row) || d->row->support == PLI_VISUAL_ONLY || d->row->support == PLI_NOT_SUPPORTED)
            continue;
        if (d->set) {
            if (d->text[0] == '@' || d->row->kind == PLI_LINK || d->row->kind == PLI_LINKS) continue; // resolved later
            if (d->row->kind == PLI_FILE) {
                if (*d->text) d->text = pli_scene_file(scene, e, o->cls->name, d->text);
                if (!d->text) d->set = false;
                continue;
            }
            status = pli_value_parse(d, d->text, &err);
            if (status == PLI_OUT_OF_MEMORY) return status;
            if (status) pli_finding_add(scene, PLI_MALFORMED, e, o->cls->name, "%s", err.text);
        } else if (d->row->size && o->cls->defaults) {
            char text[128];
            pli_attribute_text(d->row, &def, text, sizeof text);
            d->text = pli_scene_format(scene, "%s", text);
            if (!d->text) return PLI_OUT_OF_MEMORY;
            status = pli_value_parse(d, d->text, &err);
        } else if (d->row->value) {
            d->text = d->row->value;
            status = pli_value_parse(d, d->text, &err);
        }
        if (status == PLI_OUT_OF_MEMORY) return status;
    }
    return PLI_OK;
}

// The root's context is the scene's: SOFA copies it to every node.
static void read_node(PliScene *scene, PliNode *node)
{
    const PliClass *cls = pli_profile_find("Node");
    for (int i = 0; i < node->xml->attr_count; ++i) {
        const PliXmlAttr *a = &node->xml->attrs[i];
        const PliAttribute *row = pli_class_attribute(cls, a->name);
        if (strcmp(a->name, "name") == 0) continue;
        if (!row) {
            unknown_attribute(scene, node->xml, cls, a);
            continue;
        }
        if (row->support == PLI_NOT_SUPPORTED && !pli_value_same(row->kind, a->value, row->value))
            refuse_part(scene, node->xml, "Node", a->name, a->value, row->reason);
        if (row->support != PLI_SUPPORTED || (row->kind != PLI_REAL && row->kind != PLI_VEC3 && row->kind != PLI_BOOL))
            continue;
        double value[3] = { 0 };
        const char *p = a->value;
        bool good = true;
        if (row->kind == PLI_BOOL) {
            value[0] = pli_value_same(PLI_BOOL, a->value, "1");
            good = value[0] != 0.0 || pli_value_same(PLI_BOOL, a->value, "0");
        } else {
            for (int k = 0; k < (row->kind == PLI_VEC3 ? 3 : 1) && good; ++k) {
                p = pli_parse_number(p + strspn(p, " \t\r\n"), &value[k]);
                good = p != NULL;
            }
        }
        if (!good) {
            pli_finding_add(scene, PLI_MALFORMED, node->xml, "Node", "%s=\"%.60s\" is not %s", a->name, a->value,
                            row->kind == PLI_VEC3 ? "three numbers" : "a number");
            continue;
        }
        if (strcmp(row->name, "activated") == 0) {
            node->active = value[0] != 0.0;
        } else if (!node->parent) {
            if (strcmp(row->name, "dt") == 0) scene->dt = value[0];
            if (strcmp(row->name, "time") == 0) scene->time = value[0];
            if (strcmp(row->name, "gravity") == 0) memcpy(scene->gravity, value, sizeof value);
        }
    }
    if (node->parent && !node->parent->active) node->active = false;
    for (PliNode *c = node->first; c; c = c->next) read_node(scene, c);
}

/// With allow_unsupported: a node whose state the host cannot hold (rigid bodies, say) is switched off with everything below it. Its
/// components would be read as if they were about points.
static void skip_other_states(PliScene *scene, PliNode *node)
{
    if (node->parent && node->parent->skipped) node->skipped = true;
    for (PliObject *o = node->first_object; o && !node->skipped; o = o->next) {
        const char *text = o->cls->roles & PLI_ROLE_STATE ? pli_xml_get(o->xml, "template") : NULL;
        if (!text || template_is_vec3(text)) continue;
        refuse_part(scene, o->xml, o->cls->name, "template", text,
                    "only Vec3 states are in the profile; the node is skipped, and what is below it");
        node->skipped = true;
    }
    if (node->skipped) node->active = false;
    for (PliNode *c = node->first; c; c = c->next) skip_other_states(scene, c);
}

static void read_plugins(PliScene *scene, const PliObject *o)
{
    const char *names = pli_xml_get(o->xml, "pluginName");
    if (!names) names = pli_xml_get(o->xml, "name");
    char word[128];
    for (const char *p = names ? names : ""; *p;) {
        p += strspn(p, " \t\r\n,");
        size_t n = strcspn(p, " \t\r\n,");
        if (n == 0) break;
        snprintf(word, sizeof word, "%.*s", (int)(n < 127 ? n : 127), p);
        if (!pli_profile_knows_plugin(word))
            refuse_part(scene, o->xml, o->cls->name, "pluginName", word, "this plugin is unknown to the embedded host");
        p += n;
    }
}

// ---- links ---------------------------------------------------------------------------------------------------------------------

static bool numeric(PliKind kind)
{
    return kind == PLI_BOOL || kind == PLI_INT || kind == PLI_REAL || kind == PLI_VEC3 || kind == PLI_REALS ||
           kind == PLI_POINTS;
}

static bool compatible(const PliAttribute *to, const PliAttribute *from)
{
    if (numeric(to->kind)) return numeric(from->kind);
    if (to->kind == PLI_INDICES) return from->kind == PLI_INDICES;
    return !numeric(from->kind) && from->kind != PLI_INDICES;
}

static void dead_link(PliScene *scene, PliObject *o, const char *attribute, const char *text, const char *why)
{
    // what was refused may be what the link meant: then the refusal is the finding
    PliSeverity severity = scene->def.allow_unsupported || scene->refused ? PLI_WARNING : PLI_MALFORMED;
    pli_finding_add(scene, severity, o->xml, o->cls->name, "%s=\"%.80s\" %s", attribute, text, why);
}

// "@path.data": data after the last dot, unless that dot belongs to the path.
static const char *split_data(const char *text)
{
    const char *slash = strrchr(text, '/'), *dot = strrchr(text, '.');
    if (!dot || (slash && dot < slash) || dot[1] == '\0' || dot[-1] == '.') return NULL;
    return dot;
}

static void link_data(PliScene *scene, PliObject *o, PliData *d)
{
    const char *text = d->text, *dot = split_data(text);
    const char *end = dot ? dot : text + strlen(text);
    PliObject *target;
    PliNode *node;
    if (!pli_scene_follow(o->node, o, text + 1, (size_t)(end - text - 1), &target, &node) || !target) {
        d->set = false;
        dead_link(scene, o, d->row->name, text, target || !dot ? "leads to no component" : "leads nowhere");
        return;
    }
    if (target->node->skipped) {
        d->set = false;
        dead_link(scene, o, d->row->name, text, "leads to a part that is skipped");
        return;
    }
    const char *name = dot ? dot + 1 : d->row->name;
    PliData *from = pli_data(target, name);
    if (!from || from->row->support == PLI_VISUAL_ONLY || from->row->support == PLI_NOT_SUPPORTED) {
        d->set = false;
        pli_finding_add(scene, PLI_UNSUPPORTED_PART, o->xml, o->cls->name,
                        "%s=\"%.80s\": %s has no data %s in the profile", d->row->name, text, target->cls->name, name);
        if (scene->def.allow_unsupported) scene->degraded = true;
        return;
    }
    if (from == d || !compatible(d->row, from->row)) {
        d->set = false;
        dead_link(scene, o, d->row->name, text, from == d ? "is linked to itself" : "has another type");
        return;
    }
    for (PliData *s = from; s; s = s->source) {
        if (s != d) continue;
        d->set = false;
        dead_link(scene, o, d->row->name, text, "closes a loop of links");
        return;
    }
    d->source = from;
}

static PliStatus link_objects(PliScene *scene, PliObject *o, PliData *d)
{
    size_t capacity = 1;
    for (const char *p = d->text; *p; ++p) capacity += *p == '@';
    d->link = PLI_SCENE_NEW(scene, capacity, PliObject *);
    if (!d->link) return PLI_OUT_OF_MEMORY;
    d->count = 0;
    for (const char *p = d->text + strspn(d->text, " \t\r\n"); *p; p += strspn(p, " \t\r\n")) {
        size_t n = strcspn(p, " \t\r\n");
        PliObject *target = NULL;
        PliNode *node = NULL;
        bool at = *p == '@';
        if (!pli_scene_follow(o->node, o, p + at, n - at, &target, &node) || d->count >= capacity) {
            dead_link(scene, o, d->row->name, d->text, "leads nowhere");
        } else if (!target && node) { // SOFA takes a node for the state inside it
            target = pli_node_find(node, PLI_ROLE_STATE);
            if (!target) target = node->first_object;
        }
        if (target)
            d->link[d->count++] = target;
        else if (node)
            dead_link(scene, o, d->row->name, d->text, "leads to an empty node");
        p += n;
    }
    if (d->count == 0) d->set = false;
    return PLI_OK;
}

// src="@loader": every list that both have and that is not given otherwise.
static void link_source(PliScene *scene, PliObject *o)
{
    PliData *src = pli_data(o, "src");
    if (!src || !src->set) return;
    const char *text = src->text + (src->text[0] == '@');
    PliObject *target = NULL;
    PliNode *node;
    if (!pli_scene_follow(o->node, o, text, strlen(text), &target, &node) || !target) {
        dead_link(scene, o, "src", src->text, "leads to no component");
        return;
    }
    for (int i = 0; i < o->data_count; ++i) {
        PliData *d = &o->data[i];
        if (d->set || !pli_is_input(d->row) || (d->row->kind != PLI_POINTS && d->row->kind != PLI_INDICES)) continue;
        PliData *from = pli_data(target, d->row->name);
        if (!from || from == d || !compatible(d->row, from->row)) continue;
        d->source = from;
        d->set = true;
    }
}

static PliStatus read_links(PliScene *scene, PliObject *o)
{
    for (int i = 0; i < o->data_count; ++i) {
        PliData *d = &o->data[i];
        if (!d->set || !pli_is_input(d->row) || strcmp(d->row->name, "src") == 0) continue;
        if (d->row->kind == PLI_LINK || d->row->kind == PLI_LINKS) {
            PliStatus status = link_objects(scene, o, d);
            if (status) return status;
        } else if (d->text && d->text[0] == '@') {
            link_data(scene, o, d);
        }
    }
    return PLI_OK;
}

// ---- all of it -------------------------------------------------------------------------------------------------------------------

static PliStatus apply_overrides(PliScene *scene)
{
    for (int i = 0; i < scene->def.override_count; ++i) {
        const PliOverride *set = &scene->def.overrides[i];
        const char *path = set->path + (set->path[0] == '@'), *dot = strrchr(path, '.');
        PliObject *o = NULL;
        PliNode *node = NULL;
        if (!dot || !pli_scene_follow(scene->root, NULL, path, (size_t)(dot - path), &o, &node)) {
            pli_finding_add(scene, PLI_MALFORMED, NULL, "--set", "%s leads to no component or node", set->path);
            continue;
        }
        if (!pli_xml_set(scene->doc, o ? o->xml : node->xml, dot + 1, set->value)) return PLI_OUT_OF_MEMORY;
    }
    return PLI_OK;
}

static PliStatus read_graph(PliScene *scene, PliXml *root)
{
    if (!is_node(root)) {
        pli_finding_add(scene, PLI_MALFORMED, root, root->tag, "a scene begins with <Node>");
        return PLI_BAD_FILE;
    }
    PliStatus status = pli_include_expand(scene, root);
    if (!status) status = add_node(scene, NULL, root, 1, &scene->root);
    if (!status) status = apply_overrides(scene);
    if (!status) status = list_objects(scene, scene->root);
    if (status) return status;
    read_node(scene, scene->root);
    if (scene->def.allow_unsupported) skip_other_states(scene, scene->root);
    if (scene->def.dt > 0.0) scene->dt = scene->def.dt;
    if (!(scene->dt > 0.0)) pli_finding_add(scene, PLI_MALFORMED, root, "Node", "dt=%g must be > 0", scene->dt);
    for (size_t i = 0; i < scene->object_count && !status; ++i)
        if (!scene->object[i]->node->skipped) status = read_values(scene, scene->object[i]);
    for (size_t i = 0; i < scene->object_count && !status; ++i)
        if (!scene->object[i]->node->skipped) status = read_links(scene, scene->object[i]);
    for (size_t i = 0; i < scene->object_count && !status; ++i) {
        PliObject *o = scene->object[i];
        if (o->node->skipped) continue;
        link_source(scene, o);
        if (strcmp(o->cls->name, "RequiredPlugin") == 0) read_plugins(scene, o);
    }
    return status;
}

static PliStatus run_pass(PliScene *scene, size_t i, PliStatus (*fn)(PliObject *, PliError *))
{
    PliObject *o = scene->object[i];
    if (!fn || !o->node->active) return PLI_OK;
    PliError err = { 0 };
    PliStatus status = fn(o, &err);
    if (status)
        pli_finding_add(scene, status == PLI_UNSUPPORTED ? PLI_UNSUPPORTED_PART : PLI_MALFORMED, o->xml, o->cls->name,
                        "%s", err.text);
    return status;
}

// Children before their node, as SOFA's bwdInit.
static PliStatus run_ready(PliScene *scene, PliNode *node)
{
    PliStatus worst = PLI_OK;
    for (PliNode *c = node->first; c; c = c->next) {
        PliStatus status = run_ready(scene, c);
        if (status) worst = status;
    }
    for (PliObject *o = node->first_object; o; o = o->next) {
        if (!o->cls->ops || !o->cls->ops->ready || !node->active) continue;
        PliError err = { 0 };
        PliStatus status = o->cls->ops->ready(o, &err);
        if (status) {
            worst = status;
            pli_finding_add(scene, status == PLI_UNSUPPORTED ? PLI_UNSUPPORTED_PART : PLI_MALFORMED, o->xml,
                            o->cls->name, "%s", err.text);
        }
    }
    return worst;
}

static PliStatus init_graph(PliScene *scene)
{
    PliStatus worst = PLI_OK;
    // loaders and what is filled from them, then bodies, then what shows bodies: whatever their order in the file
    for (int turn = 0; turn < 3; ++turn)
        for (size_t i = 0; i < scene->object_count; ++i) {
            const PliClass *cls = scene->object[i]->cls;
            int own = cls->roles & PLI_ROLE_MODEL ? 1 : pli_class_is_ours(cls) ? 2 : 0;
            PliStatus status = own == turn ? run_pass(scene, i, cls->ops ? cls->ops->parse : NULL) : PLI_OK;
            if (status) worst = status;
        }
    for (size_t i = 0; i < scene->object_count && !worst; ++i) {
        const PliOps *ops = scene->object[i]->cls->ops;
        worst = run_pass(scene, i, ops ? ops->init : NULL);
        scene->object[i]->ready = true;
    }
    return worst ? worst : run_ready(scene, scene->root);
}

static PliStatus finish_load(PliScene *scene, PliXml *xml)
{
    PliStatus status = read_graph(scene, xml);
    PliSeverity worst = pli_findings_worst(&scene->report);
    if (!status && worst == PLI_MALFORMED) status = PLI_BAD_FILE;
    if (!status && worst == PLI_MISSING_FILE) status = PLI_BAD_FILE;
    if (!status && worst == PLI_UNSUPPORTED_PART && !scene->def.allow_unsupported) status = PLI_UNSUPPORTED;
    if (status || scene->def.graph_only) return status;
    status = init_graph(scene);
    if (status && status != PLI_UNSUPPORTED && status != PLI_OUT_OF_MEMORY) status = PLI_BAD_FILE;
    return status;
}

static PliScene *create(const PliHost *host, const char *path, const PliSceneDef *def)
{
    PliScene *scene = PLI_NEW(host, 1, PliScene);
    if (!scene) return NULL;
    scene->host = *host;
    scene->def = *def;
    scene->dt = 0.01;
    scene->gravity[1] = -9.81;
    scene->doc = pli_xml_create();
    scene->path = scene->doc ? pli_xml_keep(scene->doc, path) : NULL;
    if (!scene->path) {
        pli_scene_destroy(scene);
        return NULL;
    }
    return scene;
}

static PliScene *load(const PliHost *host, const char *text, size_t bytes, const char *path, const PliSceneDef *def,
                      PliStatus *status)
{
    PliSceneDef plain = pli_scene_default();
    PliScene *scene = create(host, path, def ? def : &plain);
    *status = PLI_OUT_OF_MEMORY;
    if (!scene) return NULL;
    PliError err = { 0 };
    PliXml *xml = text ? pli_xml_parse(scene->doc, text, bytes, path, &err) : pli_xml_read(scene->doc, path, &err);
    if (!xml) {
        *status = err.status;
        bool missing = !text && strstr(err.text, "cannot be opened");
        // the text already begins with file:line
        pli_finding_add(scene, missing ? PLI_MISSING_FILE : PLI_MALFORMED, NULL, "", "%s", err.text);
        scene->report.finding[scene->report.count - 1].file = NULL;
        return scene;
    }
    *status = finish_load(scene, xml);
    return scene;
}

PliScene *pli_scene_load(const PliHost *host, const char *path, const PliSceneDef *def, PliStatus *status)
{
    return load(host, NULL, 0, path, def, status);
}

PliScene *pli_scene_parse(const PliHost *host, const char *text, size_t bytes, const char *path, const PliSceneDef *def,
                          PliStatus *status)
{
    return load(host, text, bytes, path, def, status);
}
