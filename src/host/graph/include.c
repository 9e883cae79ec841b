/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#define _XOPEN_SOURCE 700 // realpath
#include "host/graph/include.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_INCLUDES = 16 };

// ---- files -------------------------------------------------------------------------------------------------------------------

static bool readable(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

static bool inside(const char *root, const char *path)
{
    char a[PATH_MAX], b[PATH_MAX];
    if (!realpath(root, a) || !realpath(path, b)) return false;
    size_t n = strlen(a);
    return strncmp(a, b, n) == 0 && (b[n] == '/' || b[n] == '\0' || (n == 1 && a[0] == '/'));
}

static const char *try_file(PliScene *scene, const char *directory, size_t length, const char *name)
{
    const char *path =
        length ? pli_scene_format(scene, "%.*s/%s", (int)length, directory, name) : pli_scene_format(scene, "%s", name);
    return path && readable(path) ? path : NULL;
}

const char *pli_scene_file(PliScene *scene, const PliXml *at, const char *component, const char *name)
{
    if (strlen(name) >= PATH_MAX || strpbrk(name, "\n\r")) {
        pli_finding_add(scene, PLI_MALFORMED, at, component, "the file name \"%.60s\" is not a path", name);
        return NULL;
    }
    const char *found = NULL;
    if (name[0] == '/') {
        found = try_file(scene, NULL, 0, name);
    } else {
        const char *file = at ? at->file : scene->path, *slash = strrchr(file, '/');
        found = slash ? try_file(scene, file, (size_t)(slash - file) + (slash == file), name)
                      : try_file(scene, NULL, 0, name);
        for (const char *p = scene->def.data_path; p && *p && !found;) {
            size_t n = strcspn(p, ":;");
            if (n) found = try_file(scene, p, n, name);
            p += n + (p[n] != '\0');
        }
    }
    if (!found) {
        pli_finding_add(scene, PLI_MISSING_FILE, at, component, "the file \"%s\" was not found%s", name,
                        name[0] == '/' ? "" : " beside the scene or on the data path");
        return NULL;
    }
    if (scene->def.root && !inside(scene->def.root, found)) {
        pli_finding_add(scene, PLI_MISSING_FILE, at, component, "the file \"%s\" is outside the allowed directory %s",
                        name, scene->def.root);
        return NULL;
    }
    return found;
}

// ---- includes ------------------------------------------------------------------------------------------------------------------

// "attr" replaces it wherever it is; "Name__attr" only in elements of that name. Attributes that are absent stay absent.
static bool override_attribute(PliScene *scene, PliXml *e, const char *name, const char *attribute, const char *value)
{
    const char *own = pli_xml_get(e, "name");
    if (!name || (own && strcmp(own, name) == 0))
        if (pli_xml_get(e, attribute) && !pli_xml_set(scene->doc, e, attribute, value)) return false;
    for (PliXml *c = e->first; c; c = c->next)
        if (!override_attribute(scene, c, name, attribute, value)) return false;
    return true;
}

static bool override_all(PliScene *scene, PliXml *root, const PliXml *include)
{
    for (int i = 0; i < include->attr_count; ++i) {
        const PliXmlAttr *a = &include->attrs[i];
        if (strcmp(a->name, "href") == 0) continue;
        if (strcmp(a->name, "name") == 0) {
            if (!pli_xml_set(scene->doc, root, "name", a->value)) return false;
            continue;
        }
        const char *bar = strstr(a->name, "__");
        char name[128];
        snprintf(name, sizeof name, "%.*s", bar ? (int)(bar - a->name) : 0, a->name);
        if (!override_attribute(scene, root, bar ? name : NULL, bar ? bar + 2 : a->name, a->value)) return false;
    }
    return true;
}

static bool same_text(const char *a, const char *b) { return a && b && *a && strcmp(a, b) == 0; }

// _Merge_: attributes overwrite, equally named children of the same type merge, others are appended.
static bool merge(PliScene *scene, PliXml *into, PliXml *from)
{
    for (int i = 0; i < from->attr_count; ++i)
        if (strcmp(from->attrs[i].name, "name") != 0 &&
            !pli_xml_set(scene->doc, into, from->attrs[i].name, from->attrs[i].value))
            return false;
    for (PliXml *c = from->first, *next; c; c = next) {
        next = c->next;
        PliXml *match = NULL;
        for (PliXml *d = into->first; d && !match; d = d->next)
            if (strcmp(d->tag, c->tag) == 0 && same_text(pli_xml_get(d, "name"), pli_xml_get(c, "name"))) match = d;
        if (match) {
            if (!merge(scene, match, c)) return false;
        } else {
            pli_xml_append(into, c);
        }
    }
    return true;
}

static PliStatus expand(PliScene *scene, PliXml *parent, const char **chain, int depth);

// The included tree takes the place of the element; *after is where reading goes on.
static PliStatus expand_one(PliScene *scene, PliXml *parent, PliXml *e, const char **chain, int depth)
{
    const char *href = pli_xml_get(e, "href");
    if (!href || !*href) {
        pli_finding_add(scene, PLI_MALFORMED, e, "include", "needs href");
        pli_xml_replace(parent, e, NULL);
        return PLI_OK;
    }
    const char *path = pli_scene_file(scene, e, "include", href);
    if (!path) {
        pli_xml_replace(parent, e, NULL);
        return PLI_OK;
    }
    char real[PATH_MAX];
    if (!realpath(path, real)) snprintf(real, sizeof real, "%s", path);
    for (int i = 0; i < depth; ++i) {
        if (strcmp(chain[i], real) != 0) continue;
        pli_finding_add(scene, PLI_MALFORMED, e, "include", "\"%s\" includes itself", href);
        return PLI_BAD_FILE;
    }
    if (depth >= MAX_INCLUDES) {
        pli_finding_add(scene, PLI_MALFORMED, e, "include", "included more than %d files deep", MAX_INCLUDES);
        return PLI_BAD_FILE;
    }
    PliError err = { 0 };
    PliXml *root = pli_xml_read(scene->doc, path, &err);
    if (!root) {
        pli_finding_add(scene, PLI_MALFORMED, e, "include", "%s", err.text);
        return err.status;
    }
    chain[depth] = pli_scene_format(scene, "%s", real);
    if (!chain[depth]) return PLI_OUT_OF_MEMORY;
    PliXml *holder = root; // an included file may itself be just an <include>
    PliStatus status = expand(scene, holder, chain, depth + 1);
    if (status) return status;
    if (!override_all(scene, root, e)) return PLI_OUT_OF_MEMORY;
    const char *name = pli_xml_get(root, "name");
    if (name && (strcmp(name, "Group") == 0 || strcmp(name, "_Group_") == 0)) {
        // its children stand where the element stood
        PliXml *at = e;
        for (PliXml *c = root->first, *next; c; c = next) {
            next = c->next;
            c->next = at->next;
            c->parent = parent;
            at->next = c;
            if (parent->last == at) parent->last = c;
            at = c;
        }
        pli_xml_replace(parent, e, NULL);
    } else if (name && strcmp(name, "_Merge_") == 0) {
        pli_xml_replace(parent, e, NULL);
        if (!merge(scene, parent, root)) return PLI_OUT_OF_MEMORY;
    } else {
        pli_xml_replace(parent, e, root);
    }
    return PLI_OK;
}

static PliStatus expand(PliScene *scene, PliXml *parent, const char **chain, int depth)
{
    for (PliXml *c = parent->first, *next; c; c = next) {
        next = c->next;
        PliStatus status = strcmp(c->tag, "include") == 0 ? expand_one(scene, parent, c, chain, depth)
                                                          : expand(scene, c, chain, depth);
        if (status) return status;
    }
    return PLI_OK;
}

PliStatus pli_include_expand(PliScene *scene, PliXml *root)
{
    const char *chain[MAX_INCLUDES + 1];
    char real[PATH_MAX];
    chain[0] = pli_scene_format(scene, "%s", realpath(scene->path, real) ? real : scene->path);
    return chain[0] ? expand(scene, root, chain, 1) : PLI_OUT_OF_MEMORY;
}
