/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include <pliant/registry.h>

#include "base/memory.h"
#include "base/vec.h"

// From what a scene says about a component to a body: the same way, with the same sentences, in every host.

static bool has_word(const char *words, const char *word)
{
    const size_t n = strlen(word);
    for (const char *p = words; p && (p = strstr(p, word)); p += n)
        if ((p == words || p[-1] == ' ') && (p[n] == ' ' || p[n] == '\0')) return true;
    return false;
}

static PliStatus fill(const PliSchemeInfo *info, const PliSource *source, void *def, PliError *err)
{
    const PliAttributeGroup *group;
    for (int g = 0; (group = pli_scheme_group(info, g)); ++g)
        for (int i = 0; i < group->count; ++i) {
            const PliAttribute *row = &group->rows[i];
            if (row->role != PLI_IN || !source->is_set(source->user, row)) continue;
            if (has_word(info->refuses, row->name))
                return pli_refuse(err, PLI_UNSUPPORTED, "%s means nothing to a %s", row->name, info->component);
            const PliStatus status = row->size ? source->fill(source->user, row, def, err) : PLI_OK;
            if (status) return status;
        }
    return PLI_OK;
}

PliValue pli_input(const PliInputs *in, const char *name)
{
    const PliAttribute *row = pli_attribute_find(&in->info->attributes, name);
    if (!row) return (PliValue){ 0 };
    if (row->size > 0) return (PliValue){ .set = in->source->is_set(in->source->user, row) };
    return in->source->list(in->source->user, row);
}

// ---- meshes ----------------------------------------------------------------------------------------------------------------

typedef struct Meshes {
    PliMesh *mesh[PLI_MOST_MESHES];
    int count;
} Meshes;

/// The kind of mesh that the definition at hand asks for.
static PliMeshKind kind_of(const PliSchemeInfo *info, const void *def)
{
    if (!info->mesh.around) return info->mesh.kind;
    const PliAttribute *row = pli_attribute_find(&info->attributes, info->mesh.around);
    int cells;
    memcpy(&cells, (const char *)def + row->offset, sizeof cells);
    return cells > 0 ? PLI_MESH_SOLID_OR_SURFACE : info->mesh.kind;
}

static PliStatus read_files(const PliSource *source, const PliAttribute *row, const PliHost *host, int count,
                            PliMeshKind kind, Meshes *m, PliError *err)
{
    for (int k = 0; k < count; ++k) {
        const char *path = source->file(source->user, row, k, err);
        if (!path) return PLI_BAD_FILE;
        m->mesh[m->count] = pli_mesh_read(host, path, err);
        if (!m->mesh[m->count]) return PLI_BAD_FILE;
        PliMesh *mesh = m->mesh[m->count++];
        const PliStatus status =
            kind == PLI_MESH_TETS && mesh->tet_count == 0 ? pli_mesh_split_hexes(mesh, err) : PLI_OK;
        if (status) return status;
    }
    return PLI_OK;
}

static PliStatus read_links(const PliSource *source, const PliAttribute *row, const PliHost *host, int count,
                            PliMeshKind kind, Meshes *m, PliError *err)
{
    for (int k = 0; k < count; ++k) {
        PliMeshArrays arrays = { 0 };
        PliStatus status =
            row ? source->linked(source->user, row, k, &arrays, err) : source->own(source->user, &arrays, err);
        if (status) return status;
        m->mesh[m->count] = pli_mesh_from_arrays(host, &arrays, kind, err);
        if (!m->mesh[m->count]) return PLI_BAD_MESH;
        m->count++;
    }
    return PLI_OK;
}

static PliStatus read_meshes(const PliSchemeInfo *info, const PliSource *source, const PliHost *host, const void *def,
                             Meshes *m, PliError *err)
{
    const PliMeshNeed *need = &info->mesh;
    const PliAttribute *file = need->file ? pli_attribute_find(&info->attributes, need->file) : NULL;
    const PliAttribute *link = need->link ? pli_attribute_find(&info->attributes, need->link) : NULL;
    const PliAttribute *own = need->own ? pli_attribute_find(&info->attributes, need->own) : NULL;
    const int files = file ? source->file_count(source->user, file) : 0;
    const int links = link ? source->link_count(source->user, link) : 0;
    if (files && links)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "both %s and %s are given: choose one", file->name, link->name);
    if (files + links > need->most)
        return pli_refuse(err, PLI_OVER_CAPACITY, "%d meshes are given; at most %d are possible", files + links,
                          need->most);
    if (files) return read_files(source, file, host, files, kind_of(info, def), m, err);
    const bool alone = !links && own && source->list(source->user, own).count > 0;
    PliStatus status = links   ? read_links(source, link, host, links, kind_of(info, def), m, err)
                       : alone ? read_links(source, NULL, host, 1, kind_of(info, def), m, err)
                               : PLI_OK;
    if (status || m->count >= need->least) return status;
    return pli_refuse(err, PLI_BAD_ARGUMENT, "%s", need->missing ? need->missing : "no mesh");
}

// ---- outputs ---------------------------------------------------------------------------------------------------------------

static PliStatus publish_row(const PliInputs *in, const PliHost *host, const PliBody *body, const PliAttribute *row,
                             PliError *err)
{
    const bool indices = row->kind == PLI_INDICES;
    const size_t count = in->info->output(body, in, row->name, NULL, NULL);
    double *real = indices ? NULL : PLI_NEW(host, count, double);
    PliIndex *index = indices ? PLI_NEW(host, count, PliIndex) : NULL;
    PliStatus status = PLI_OK;
    if (count && !real && !index) {
        status = pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for %zu numbers of %s", count, row->name);
    } else {
        if (count) in->info->output(body, in, row->name, real, index);
        status = in->source->publish(in->source->user, row, real, index, count, err);
    }
    PLI_FREE(host, real, count);
    PLI_FREE(host, index, count);
    return status;
}

static PliStatus publish(const PliInputs *in, const PliHost *host, const PliBody *body, PliError *err)
{
    const PliAttributeGroup *rows = &in->info->attributes;
    for (int i = 0; in->info->output && i < rows->count; ++i) {
        const PliAttribute *row = &rows->rows[i];
        if ((row->role != PLI_OUT && row->role != PLI_IN_OUT) || strcmp(row->name, "position") == 0) continue;
        PliStatus status = publish_row(in, host, body, row, err);
        if (status) return status;
    }
    return PLI_OK;
}

// ---- points that are held ----------------------------------------------------------------------------------------------------

static PliValue shared_list(const PliSource *source, const char *name)
{
    return source->list(source->user, pli_attribute_find(&pli_body_attributes, name));
}

/// The definition borrows the list while the body is made.
static PliStatus read_regions(const PliSource *source, PliBodyDef *def, PliError *err)
{
    const PliValue list = shared_list(source, "stiffRegions");
    if (list.count % 5)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "stiffRegions has %zu numbers; a region has five: x y z radius factor",
                          list.count);
    def->stiff_regions = list.real, def->stiff_region_count = (PliIndex)(list.count / 5);
    return PLI_OK;
}

static PliStatus constrain(const PliSource *source, const PliHost *host, PliBody *body, PliError *err)
{
    const PliValue held = shared_list(source, "held"), to = shared_list(source, "heldTo"),
                   time = shared_list(source, "heldTime");
    const PliIndex count = (PliIndex)held.count;
    if (to.count && to.count != held.count)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "heldTo has %zu points, and held %zu: there must be one for each",
                          to.count, held.count);
    if (time.count && (time.count > 1 || !to.count))
        return pli_refuse(err, PLI_BAD_ARGUMENT, "heldTime is one number, for the points of heldTo");
    if (!count) return PLI_OK;
    PliConstraint *list = PLI_NEW(host, count, PliConstraint);
    if (!list) return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for %u held points", count);
    for (PliIndex i = 0; i < count; ++i) v3_copy(list[i].point, held.real + 3 * (size_t)i);
    PliStatus status = pli_body_constrain(body, list, count, err);
    PLI_FREE(host, list, count);
    if (!status && to.count) status = pli_body_lead_constraints(body, to.real, time.count ? time.real[0] : 1.0, err);
    return status;
}

// ---- bodies ----------------------------------------------------------------------------------------------------------------

PliBody *pli_scheme_make(const PliSchemeInfo *info, const PliHost *host, const PliSource *source,
                         const double gravity[3], void *def, PliError *err)
{
    Meshes m = { 0 };
    memset(def, 0, info->def_size);
    info->defaults(def);
    v3_copy(((PliBodyDef *)def)->gravity, gravity);
    PliStatus status = fill(info, source, def, err);
    if (!status) status = read_regions(source, def, err);
    if (!status) status = read_meshes(info, source, host, def, &m, err);
    const PliInputs in = { .mesh = (const PliMesh *const *)m.mesh, m.count, info, source };
    PliBody *body = status ? NULL : info->create(host, def, &in, err);
    if (body && (constrain(source, host, body, err) || publish(&in, host, body, err))) {
        pli_body_destroy(body);
        body = NULL;
    }
    ((PliBodyDef *)def)->stiff_regions = NULL, ((PliBodyDef *)def)->stiff_region_count = 0;
    for (int i = 0; i < m.count; ++i) {
        if (body && source->look) source->look(source->user, m.mesh[i], i);
        pli_mesh_destroy(m.mesh[i]);
    }
    return body;
}

/// Two definitions agree in the field of a row.
static bool same_field(const PliAttribute *row, const void *a, const void *b)
{
    const char *p = (const char *)a + row->offset, *q = (const char *)b + row->offset;
    if (row->kind != PLI_TEXT && row->kind != PLI_FILE && row->kind != PLI_NEW_FILE)
        return memcmp(p, q, (size_t)row->size) == 0;
    const char *s, *t;
    memcpy(&s, p, sizeof s);
    memcpy(&t, q, sizeof t);
    return strcmp(s ? s : "", t ? t : "") == 0;
}

PliStatus pli_scheme_retune(const PliSchemeInfo *info, PliBody *body, const PliSource *source, void *def, PliError *err)
{
    union {
        PliBodyDef base;
        char bytes[PLI_DEF_BYTES];
    } now;
    memset(&now, 0, info->def_size);
    info->defaults(&now);
    v3_copy(now.base.gravity, pli_body_def(body)->gravity);
    PliStatus status = fill(info, source, &now, err);
    const PliAttributeGroup *group;
    for (int g = 0; !status && (group = pli_scheme_group(info, g)); ++g)
        for (int i = 0; i < group->count; ++i) {
            const PliAttribute *row = &group->rows[i];
            if (row->size == 0 || row->running || same_field(row, def, &now)) continue;
            char text[128];
            pli_attribute_text(row, def, text, sizeof text);
            return pli_refuse(err, PLI_UNSUPPORTED, "%s cannot change while running: it stays %s", row->name,
                              *text ? text : "empty");
        }
    if (!status) status = info->retune ? info->retune(body, &now, err) : pli_body_retune(body, &now.base, err);
    if (!status) memcpy(def, &now, info->def_size);
    return status;
}
