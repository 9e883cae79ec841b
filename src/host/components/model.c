/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/memory.h"
#include "base/vec.h"
#include "host/components/components.h"

#include <stdio.h>
#include <string.h>

// Models: they make the body from meshes and attributes, publish its points and its skin, and adapt it when a step begins.
// A new scheme is a definition, a `make` function and a row in the profile.

enum { MAX_LEVELS = 8 };

PliModel *pli_model_self(PliObject *o) { return o->self; }

PliModel *pli_model_of(PliObject *o, PliError *err)
{
    PliObject *model = pli_link(o, "model");
    if (!model) model = pli_context_find(o->node, PLI_ROLE_MODEL);
    if (!model || !(model->cls->roles & PLI_ROLE_MODEL)) {
        pli_refuse(err, PLI_BAD_ARGUMENT,
                   model ? "model must lead to a FemModel, TetLodModel, FramesModel, WaveletModel or another body"
                         : "finds no model in its node or above: add one, or give model=\"@path\"");
        return NULL;
    }
    PliModel *m = model->self;
    if (!m->body) {
        pli_refuse(err, PLI_BAD_ARGUMENT, "its model %s was not made", model->name);
        return NULL;
    }
    return m;
}

PliStatus pli_model_claim(PliModel *m, PliRoute route, PliError *err)
{
    if (m->route != PLI_ROUTE_NONE && m->route != route)
        return pli_refuse(err, PLI_BAD_ARGUMENT,
                          "the body %s is already stepped by %s: its forces would count twice, remove one of the two",
                          m->object->name,
                          m->route == PLI_ROUTE_OWNED ? "an AdaptiveSolver"
                                                      : "a stock solver through AdaptiveForceField or AdaptiveMass");
    m->route = route;
    return PLI_OK;
}

// ---- attributes -> definition ----------------------------------------------------------------------------------------------------

PliStatus pli_model_fill(PliObject *o, const PliAttributeGroup *group, void *def, PliError *err)
{
    for (int i = 0; i < group->count; ++i) {
        const PliAttribute *row = &group->rows[i];
        PliData *d = pli_data(o, row->name);
        if (!d->set) continue;
        const char *text = d->text;
        char number[128];
        if (d->source || text[0] == '@') { // a linked number: as text, through the same door
            size_t n;
            const double *value = pli_data_reals(d, &n);
            size_t used = 0;
            number[0] = '\0';
            for (size_t k = 0; k < n && k < 3; ++k)
                used += (size_t)snprintf(number + used, sizeof number - used, "%.17g ", value[k]);
            text = number;
        }
        PliStatus status = pli_attribute_set(row, def, text, err);
        if (status) return status;
    }
    return PLI_OK;
}

// ---- making ----------------------------------------------------------------------------------------------------------------------

static PliBody *make_fem(PliObject *o, const PliHost *host, PliError *err)
{
    PliFemDef def = pli_fem_default();
    if (pli_model_fill(o, &pli_body_attributes, &def, err)) return NULL;
    v3_copy(def.base.gravity, o->node->scene->gravity);
    const char *path = pli_text(o, "filename");
    PliObject *linked = pli_link(o, "mesh");
    size_t nt;
    pli_indices(o, "tetrahedra", &nt);
    PliMesh *mesh;
    if (*path) {
        mesh = pli_mesh_read(host, path, err);
    } else if (linked || nt > 0) {
        mesh = pli_mesh_from_object(host, linked ? linked : o, PLI_NEED_TETS, err);
    } else {
        pli_refuse(err, PLI_BAD_ARGUMENT,
                   "no mesh: give filename=\"...\", mesh=\"@loader\", or src=\"@loader\" with tetrahedra");
        return NULL;
    }
    if (!mesh) return NULL;
    def.mesh = mesh;
    PliBody *body = pli_fem_create(host, &def, err);
    if (body) pli_note_slivers(o, mesh, "its mesh");
    // the volume, so that exports have it: points are the coefficients, in the order of the mesh
    if (body && pli_body_dof_count(body) == mesh->point_count)
        pli_set_indices(o, "tetrahedra", mesh->tets, 4 * (size_t)mesh->tet_count);
    pli_data(o, "tetrahedra")->source = NULL;
    pli_mesh_destroy(mesh);
    return body;
}

static PliStatus read_level_files(PliObject *o, const PliHost *host, PliMesh **level, int *count, PliError *err)
{
    PliScene *scene = o->node->scene;
    for (const char *p = pli_text(o, "filenames"); *p;) {
        p += strspn(p, " \t\r\n");
        size_t n = strcspn(p, " \t\r\n");
        if (n == 0) break;
        if (*count >= MAX_LEVELS) return pli_refuse(err, PLI_OVER_CAPACITY, "more than %d levels", MAX_LEVELS);
        const char *name = pli_scene_format(scene, "%.*s", (int)n, p);
        const char *path = name ? pli_scene_file(scene, o->xml, o->cls->name, name) : NULL;
        if (!path) return pli_refuse(err, PLI_BAD_FILE, "level %d was not found", *count);
        level[*count] = pli_mesh_read(host, path, err);
        if (!level[*count]) return err->status;
        ++*count;
        p += n;
    }
    return PLI_OK;
}

static PliStatus read_level_links(PliObject *o, const PliHost *host, PliMesh **level, int *count, PliError *err)
{
    PliData *links = pli_data(o, "levels");
    for (size_t i = 0; i < (links->set ? links->count : 0); ++i) {
        if (*count >= MAX_LEVELS) return pli_refuse(err, PLI_OVER_CAPACITY, "more than %d levels", MAX_LEVELS);
        level[*count] = pli_mesh_from_object(host, links->link[i], PLI_NEED_TETS, err);
        if (!level[*count]) return err->status;
        ++*count;
    }
    return PLI_OK;
}

/// A cache named without a folder lies beside the scene, wherever the command is run from.
static const char *cache_path(PliObject *o, const char *name)
{
    PliScene *scene = o->node->scene;
    const char *slash = scene->path ? strrchr(scene->path, '/') : NULL;
    if (!name || !*name || name[0] == '/' || !slash) return name;
    return pli_scene_format(scene, "%.*s/%s", (int)(slash - scene->path), scene->path, name);
}

static PliBody *make_tetlod(PliObject *o, const PliHost *host, PliError *err)
{
    PliTetLodDef def = pli_tetlod_default();
    if (pli_model_fill(o, &pli_body_attributes, &def, err) || pli_model_fill(o, &pli_tetlod_attributes, &def, err))
        return NULL;
    v3_copy(def.base.gravity, o->node->scene->gravity);
    def.cache = cache_path(o, def.cache);
    PliMesh *level[MAX_LEVELS] = { 0 };
    int count = 0;
    PliStatus status = PLI_OK;
    if (pli_is_set(o, "filenames") && pli_is_set(o, "levels"))
        status = pli_refuse(err, PLI_BAD_ARGUMENT, "both filenames and levels are given: choose one");
    if (!status) status = read_level_files(o, host, level, &count, err);
    if (!status) status = read_level_links(o, host, level, &count, err);
    if (!status && count == 0)
        status =
            pli_refuse(err, PLI_BAD_ARGUMENT,
                       "no levels: give filenames=\"coarse.msh ... fine.msh\" or levels=\"@loader0 ... @loaderN\"");
    def.levels = (const PliMesh *const *)level;
    def.level_count = count;
    PliBody *body = status ? NULL : pli_tetlod_create(host, &def, err);
    for (int i = 0; i < count; ++i) {
        const char *which = body ? pli_scene_format(o->node->scene, "level %d", i) : NULL;
        if (which) pli_note_slivers(o, level[i], which);
        pli_mesh_destroy(level[i]);
    }
    return body;
}

// ---- publishing ------------------------------------------------------------------------------------------------------------------

static PliStatus attach_skin(PliObject *o, const PliHost *host, PliBody *body, PliError *err)
{
    const char *path = pli_text(o, "skin");
    if (!*path) return PLI_OK;
    PliMesh *skin = pli_mesh_read(host, path, err);
    if (!skin) return err->status;
    PliStatus status = pli_body_attach_skin(body, skin->x, skin->point_count, skin->tris, skin->tri_count, err);
    pli_mesh_destroy(skin);
    return status;
}

static PliStatus publish(PliObject *o, PliModel *m, PliError *err)
{
    PliIndex dofs = pli_body_dof_count(m->body), points = pli_body_skin_count(m->body), tris = 0;
    const PliIndex *triangles = pli_body_skin_tris(m->body, &tris);
    double *skin = PLI_SCENE_NEW(o->node->scene, 3 * (size_t)points, double);
    if (!skin) return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for %u skin points", points);
    pli_body_skin_positions(m->body, pli_body_rest(m->body), skin);
    pli_data(o, "position")->source = NULL; // a src link fed it; from here on it is the body's
    PliStatus status = pli_set_reals(o, "position", pli_body_rest(m->body), 3 * (size_t)dofs);
    if (!status) status = pli_set_reals(o, "skinPosition", skin, 3 * (size_t)points);
    if (!status) status = pli_set_indices(o, "triangles", triangles, 3 * (size_t)tris);
    return status ? pli_refuse(err, status, "no memory for the skin") : PLI_OK;
}

typedef PliBody *MakeFn(PliObject *o, const PliHost *host, PliError *err);

static PliStatus model_parse(PliObject *o, MakeFn *make, PliError *err)
{
    PliModel *m = o->self;
    const PliHost *host = &o->node->scene->host;
    m->object = o;
    m->body = make(o, host, err);
    if (!m->body)
        return err && err->status ? err->status : pli_refuse(err, PLI_BAD_ARGUMENT, "the body could not be made");
    PliStatus status = attach_skin(o, host, m->body, err);
    return status ? status : publish(o, m, err);
}

static PliStatus fem_parse(PliObject *o, PliError *err) { return model_parse(o, make_fem, err); }
static PliStatus tetlod_parse(PliObject *o, PliError *err) { return model_parse(o, make_tetlod, err); }
static PliStatus frames_parse(PliObject *o, PliError *err) { return model_parse(o, pli_make_frames, err); }
static PliStatus wavelet_parse(PliObject *o, PliError *err) { return model_parse(o, pli_make_wavelet, err); }

// ---- the node around it ------------------------------------------------------------------------------------------------------------

// Coefficients that every direction of is held by a projective constraint of the node.
static PliStatus read_fixed(PliObject *o, PliModel *m, PliError *err)
{
    PliScene *scene = o->node->scene;
    unsigned char *held = PLI_SCENE_NEW(scene, 3 * (size_t)m->state->count, unsigned char);
    PliIndex *fixed = PLI_SCENE_NEW(scene, m->state->count, PliIndex), count = 0;
    if (!held || !fixed) return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for %u coefficients", m->state->count);
    for (PliObject *c = o->node->first_object; c; c = c->next)
        if ((c->cls->roles & PLI_ROLE_CONSTRAINT) && c->cls->ops != &pli_adaptive_mask_ops && c->cls->ops->mask)
            c->cls->ops->mask(c, held);
    for (PliIndex i = 0; i < m->state->count; ++i) {
        int n = held[3 * (size_t)i] + held[3 * (size_t)i + 1] + held[3 * (size_t)i + 2];
        if (n == 3)
            fixed[count++] = i;
        else if (n > 0 && m->route == PLI_ROUTE_OWNED)
            return pli_refuse(err, PLI_UNSUPPORTED,
                              "a projective constraint holds only some directions of point %u: AdaptiveSolver can hold "
                              "all three or none, use a stock solver",
                              i);
    }
    return pli_body_set_fixed(m->body, fixed, count, err);
}

static PliStatus model_ready(PliObject *o, PliError *err)
{
    PliModel *m = o->self;
    PliObject *state = pli_context_find(o->node, PLI_ROLE_STATE);
    if (!state)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "needs a MechanicalObject with position=\"@%s.position\" in its node",
                          o->name);
    m->state = pli_state_self(state);
    if (m->state->count != pli_body_dof_count(m->body))
        return pli_refuse(
            err, PLI_BAD_ARGUMENT,
            "MechanicalObject %s has %u points, and this body %u coefficients: give it position=\"@%s.position\"",
            state->name, m->state->count, pli_body_dof_count(m->body), o->name);
    if (m->route == PLI_ROUTE_NONE)
        pli_finding_add(o->node->scene, PLI_WARNING, o->xml, o->cls->name,
                        "nothing moves this body: add an AdaptiveSolver, or AdaptiveMass and AdaptiveForceField with a "
                        "stock solver");
    if (m->route == PLI_ROUTE_STAGES && m->skin_force_count)
        return pli_refuse(err, PLI_UNSUPPORTED, "PieceContact and SkinTarget act inside AdaptiveSolver only");
    if (m->route == PLI_ROUTE_STAGES && m->tool_count)
        return pli_refuse(err, PLI_UNSUPPORTED, "SphereTool and PlaneTool act inside AdaptiveSolver only");
    PliStatus status = read_fixed(o, m, err);
    if (status) return status;
    if (m->tool_count) status = pli_body_set_tools(m->body, m->tool, m->tool_count, err);
    return status;
}

/// Levels change here and nowhere else: before any solver looks at the state.
static PliStatus model_begin(PliObject *o, double dt, PliError *err)
{
    (void)err;
    PliModel *m = o->self;
    PliScene *scene = o->node->scene;
    if (m->route == PLI_ROUTE_NONE) return PLI_OK;
    for (int i = 0; i < m->tool_count; ++i) pli_tool_place(m->tool_object[i], scene->time, dt, &m->tool[i]);
    PliState s = { .x = m->state->x,
                   .v = m->state->v,
                   .external = m->external,
                   .external_user = m->external_user,
                   .points = m->points,
                   .points_user = m->external_user };
    for (int i = 0; i < m->skin_force_count; ++i) pli_skin_force_begin(m->skin_force[i], dt);
    if (pli_body_adapt(m->body, &s, dt)) {
        pli_touch(m->state->position);
        pli_touch(m->state->velocity);
    }
    return PLI_OK;
}

static void model_destroy(PliObject *o) { pli_body_destroy(((PliModel *)o->self)->body); }

static void model_von_mises(PliObject *o, const double *x, double *per_point)
{
    pli_body_von_mises(((PliModel *)o->self)->body, x, per_point);
}

#define MODEL_OPS                                                                                                      \
    .size = sizeof(PliModel), .ready = model_ready, .begin = model_begin, .destroy = model_destroy,                    \
    .von_mises = model_von_mises
const PliOps pli_fem_model_ops = { MODEL_OPS, .parse = fem_parse };
const PliOps pli_tetlod_model_ops = { MODEL_OPS, .parse = tetlod_parse };
const PliOps pli_frames_model_ops = { MODEL_OPS, .parse = frames_parse };
const PliOps pli_wavelet_model_ops = { MODEL_OPS, .parse = wavelet_parse };

void pli_fem_model_defaults(PliDefaults *def) { def->fem = pli_fem_default(); }
void pli_tetlod_model_defaults(PliDefaults *def) { def->tetlod = pli_tetlod_default(); }
void pli_frames_model_defaults(PliDefaults *def) { def->frames = pli_frames_default(); }
void pli_wavelet_model_defaults(PliDefaults *def) { def->wavelet = pli_wavelet_default(); }
