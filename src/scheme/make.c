/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include <pliant/registry.h>
#include <pliant/scheme.h>

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

/// Meshes of an attribute with files or one with links. @return how many there are in `m` then says it
static PliStatus read_either(const PliSource *source, const PliHost *host, const PliAttribute *file,
                             const PliAttribute *link, int most, PliMeshKind kind, Meshes *m, PliError *err)
{
    const int files = file ? source->file_count(source->user, file) : 0;
    const int links = link ? source->link_count(source->user, link) : 0;
    if (files && links)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "both %s and %s are given: choose one", file->name, link->name);
    if (files + links > most)
        return pli_refuse(err, PLI_OVER_CAPACITY, "%d meshes are given; at most %d are possible", files + links, most);
    if (files) return read_files(source, file, host, files, kind, m, err);
    return links ? read_links(source, link, host, links, kind, m, err) : PLI_OK;
}

static PliStatus read_meshes(const PliSchemeInfo *info, const PliSource *source, const PliHost *host, const void *def,
                             Meshes *m, PliError *err)
{
    const PliMeshNeed *need = &info->mesh;
    const PliAttribute *file = need->file ? pli_attribute_find(&info->attributes, need->file) : NULL;
    const PliAttribute *link = need->link ? pli_attribute_find(&info->attributes, need->link) : NULL;
    const PliAttribute *own = need->own ? pli_attribute_find(&info->attributes, need->own) : NULL;
    PliStatus status = read_either(source, host, file, link, need->most, kind_of(info, def), m, err);
    if (!status && m->count == 0 && own && source->list(source->user, own).count > 0)
        status = read_links(source, NULL, host, 1, kind_of(info, def), m, err);
    if (status || m->count >= need->least) return status;
    return pli_refuse(err, PLI_BAD_ARGUMENT, "%s", need->missing ? need->missing : "no mesh");
}

// ---- outputs ---------------------------------------------------------------------------------------------------------------

static PliStatus publish_row(const PliInputs *in, const PliHost *host, const PliBody *body, const PliAttribute *row,
                             PliError *err)
{
    const bool indices = row->kind == PLI_INDICES;
    PliIndex shift;
    const PliBody *own = pli_body_own_form(body, &shift, NULL);
    const size_t ahead = indices ? 0 : 3 * (size_t)shift; // one for each coefficient, those of the fallback first
    const size_t count = ahead + in->info->output(own, in, row->name, NULL, NULL);
    double *real = indices ? NULL : PLI_NEW(host, count, double);
    PliIndex *index = indices ? PLI_NEW(host, count, PliIndex) : NULL;
    PliStatus status = PLI_OK;
    if (count && !real && !index) {
        status = pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for %zu numbers of %s", count, row->name);
    } else {
        if (ahead) memcpy(real, pli_body_rest(body), ahead * sizeof *real);
        if (count) in->info->output(own, in, row->name, real ? real + ahead : NULL, index);
        for (size_t i = 0; index && i < count; ++i) index[i] += shift;
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
    static const struct Kind {
        const char *name, *value;
    } kind[3] = { { "stiffRegions", "factor" }, { "denseRegions", "factor" }, { "poissonRegions", "ratio" } };
    const double **regions[3] = { &def->stiff_regions, &def->dense_regions, &def->poisson_regions };
    PliIndex *count[3] = { &def->stiff_region_count, &def->dense_region_count, &def->poisson_region_count };
    for (int k = 0; k < 3; ++k) {
        const PliValue list = shared_list(source, kind[k].name);
        if (list.count % 5)
            return pli_refuse(err, PLI_BAD_ARGUMENT, "%s has %zu numbers; a region has five: x y z radius %s",
                              kind[k].name, list.count, kind[k].value);
        *regions[k] = list.real, *count[k] = (PliIndex)(list.count / 5);
    }
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

// ---- a form to fall back on --------------------------------------------------------------------------------------------------

/// Tetrahedra of the same material, which choose their levels by the accuracy.
static PliBody *make_fallback(const PliHost *host, const PliBodyDef *def, const PliMesh *const *levels, int count,
                              PliError *err)
{
    PliTetLodDef d = pli_tetlod_default();
    d.base.material = def->material;
    if (def->fallback_law) d.base.material.law = (PliLaw)(def->fallback_law - 1);
    d.base.mass_damping = def->mass_damping;
    d.base.adapt = def->adapt;
    d.base.stiff_regions = def->stiff_regions, d.base.stiff_region_count = def->stiff_region_count;
    d.base.dense_regions = def->dense_regions, d.base.dense_region_count = def->dense_region_count;
    d.base.poisson_regions = def->poisson_regions, d.base.poisson_region_count = def->poisson_region_count;
    d.base.criterion.accuracy = def->criterion.accuracy;
    d.base.criterion.max_active = def->criterion.max_active;
    d.base.criterion.smallest_size = def->criterion.smallest_size;
    v3_copy(d.base.gravity, def->gravity);
    d.base.spread = false;
    d.levels = levels, d.level_count = count;
    return pli_tetlod_create(host, &d, err);
}

/// The body of the scheme alone, or of both forms where the scene asks for an accuracy that the scheme does not follow by itself.
static PliBody *make_forms(const PliInputs *in, const PliHost *host, PliBodyDef *def, PliError *err)
{
    static const char missing[] = "an accuracy of %g %% needs tetrahedra to fall back on: give "
                                  "fallbackFilenames=\"coarse.msh ... fine.msh\" or fallbackLevels=\"@loader0 ...\"";
    const double accuracy = def->criterion.accuracy;
    Meshes m = { 0 };
    if (!in->info->adaptive || in->info->accurate) return in->info->create(host, def, in, err);
    PliStatus status = accuracy > 0.0 ? pli_body_def_check(def, err) : PLI_OK;
    if (!status)
        status = read_either(in->source, host, pli_attribute_find(&pli_criterion_attributes, "fallbackFilenames"),
                             pli_attribute_find(&pli_criterion_attributes, "fallbackLevels"), PLI_MOST_MESHES,
                             PLI_MESH_TETS, &m, err);
    const bool given = m.count > 0, lent = !given && in->mesh_count && in->mesh[0]->tet_count > 0;
    if (!status && (given || def->fallback_law) && !(accuracy > 0.0))
        status = pli_refuse(err, PLI_BAD_ARGUMENT, "there is a form to fall back on, and no accuracy that asks for it");
    if (!status && accuracy > 0.0 && !given && !lent) status = pli_refuse(err, PLI_BAD_ARGUMENT, missing, accuracy);
    PliBody *body = NULL, *fallback = NULL;
    if (!status && accuracy > 0.0)
        fallback =
            make_fallback(host, def, given ? (const PliMesh *const *)m.mesh : in->mesh, given ? m.count : 1, err);
    def->criterion.accuracy = 0.0;
    if (!status && (fallback || !(accuracy > 0.0))) body = in->info->create(host, def, in, err);
    def->criterion.accuracy = accuracy;
    for (int i = 0; i < m.count; ++i) pli_mesh_destroy(m.mesh[i]);
    if (body && fallback) return pli_body_of_forms(host, fallback, body, accuracy, err);
    pli_body_destroy(fallback);
    return body;
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
    PliBody *body = status ? NULL : make_forms(&in, host, def, err);
    if (body && (constrain(source, host, body, err) || publish(&in, host, body, err))) {
        pli_body_destroy(body);
        body = NULL;
    }
    pli_body_def_forget_regions(def);
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
