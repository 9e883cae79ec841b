/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/memory.h"
#include "base/vec.h"
#include "host/components/components.h"

#include <string.h>

// FramesModel: a body of affine frames from a closed surface or from tetrahedra.

enum { MAX_LEVELS = 8 };

// ---- the mesh --------------------------------------------------------------------------------------------------------------------

static PliMesh *read_mesh(PliObject *o, const PliHost *host, PliError *err)
{
    const char *path = pli_text(o, "filename");
    PliObject *linked = pli_link(o, "mesh");
    if (*path && linked)
        pli_refuse(err, PLI_BAD_ARGUMENT, "both filename and mesh are given: choose one");
    else if (*path)
        return pli_mesh_read(host, path, err);
    else if (linked)
        return pli_mesh_from_object(host, linked, PLI_NEED_SOLID_OR_SURFACE, err);
    else
        pli_refuse(err, PLI_BAD_ARGUMENT,
                   "no mesh: give filename=\"...\" or mesh=\"@loader\", a closed surface or tetrahedra");
    return NULL;
}

// ---- lists of the definition -----------------------------------------------------------------------------------------------------

typedef struct Lists {
    uint8_t *anchor_level;
    size_t anchors;
} Lists;

static PliStatus read_anchors(PliObject *o, const PliHost *host, PliFramesDef *def, Lists *lists, PliError *err)
{
    size_t n, levels;
    def->anchors = pli_reals(o, "anchors", &n);
    lists->anchors = n / 3;
    def->anchor_count = (PliIndex)lists->anchors;
    const PliIndex *level = pli_indices(o, "anchorLevels", &levels);
    if (levels == 0) return PLI_OK;
    if (levels != lists->anchors)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "anchorLevels has %zu values for %zu anchors", levels, lists->anchors);
    lists->anchor_level = PLI_NEW(host, lists->anchors, uint8_t);
    if (!lists->anchor_level) return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for %zu anchors", lists->anchors);
    for (size_t i = 0; i < levels; ++i) lists->anchor_level[i] = level[i] < 255 ? (uint8_t)level[i] : 255;
    def->anchor_level = lists->anchor_level;
    return PLI_OK;
}

static PliStatus read_level_frames(PliObject *o, PliFramesDef *def, PliError *err)
{
    size_t n;
    const PliIndex *frames = pli_indices(o, "levelFrames", &n);
    if (n == 0) return PLI_OK;
    if (n > MAX_LEVELS)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "levelFrames has %zu levels; at most %d are possible", n, MAX_LEVELS);
    if (pli_is_set(o, "levelCount") && def->level_count != (int)n)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "levelFrames has %zu levels and levelCount is %d", n,
                          def->level_count);
    def->level_count = (int)n;
    for (size_t k = 0; k < n; ++k) def->level_frames[k] = frames[k];
    if (!pli_is_set(o, "frames")) def->frame_count = frames[n - 1];
    return PLI_OK;
}

static PliStatus read_factors(PliObject *o, const char *name, const PliMesh *mesh, const double **factors,
                              PliError *err)
{
    size_t n;
    const double *value = pli_reals(o, name, &n);
    if (n == 0) return PLI_OK;
    if (n != mesh->tet_count)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "%s has %zu values for %u tetrahedra", name, n, mesh->tet_count);
    *factors = value;
    return PLI_OK;
}

// ---- making ----------------------------------------------------------------------------------------------------------------------

// Where the frame of each coefficient is, and which coefficients the anchors have: how a scene names frames.
static PliStatus publish_frames(PliObject *o, PliBody *body, PliIndex anchors, PliError *err)
{
    PliScene *scene = o->node->scene;
    const PliIndex dofs = pli_body_dof_count(body);
    const double *rest = pli_body_rest(body);
    double *place = PLI_SCENE_NEW(scene, 3 * (size_t)dofs, double);
    PliIndex *held = PLI_SCENE_NEW(scene, 4 * (size_t)anchors, PliIndex);
    if (!place || (anchors && !held)) return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for %u coefficients", dofs);
    for (size_t i = 0; i < dofs; ++i) v3_copy(place + 3 * i, rest + 12 * (i / 4) + 9);
    for (PliIndex i = 0; i < 4 * anchors; ++i) held[i] = 4 * pli_frames_anchor(body, i / 4) + i % 4;
    PliStatus status = pli_set_reals(o, "places", place, 3 * (size_t)dofs);
    if (!status) status = pli_set_indices(o, "anchorDofs", held, 4 * (size_t)anchors);
    return status ? pli_refuse(err, status, "no memory for %u coefficients", dofs) : PLI_OK;
}

PliBody *pli_make_frames(PliObject *o, const PliHost *host, PliError *err)
{
    PliFramesDef def = pli_frames_default();
    Lists lists = { 0 };
    if (pli_model_fill(o, &pli_body_attributes, &def, err) || pli_model_fill(o, &pli_frames_attributes, &def, err))
        return NULL;
    v3_copy(def.base.gravity, o->node->scene->gravity);
    PliMesh *mesh = read_mesh(o, host, err);
    if (!mesh) return NULL;
    def.mesh = mesh;
    PliStatus status = read_anchors(o, host, &def, &lists, err);
    if (!status) status = read_level_frames(o, &def, err);
    if (!status) status = read_factors(o, "stiffnessFactors", mesh, &def.tet_stiffness, err);
    if (!status) status = read_factors(o, "densityFactors", mesh, &def.tet_density, err);
    PliBody *body = status ? NULL : pli_frames_create(host, &def, err);
    if (body && publish_frames(o, body, def.anchor_count, err)) {
        pli_body_destroy(body);
        body = NULL;
    }
    PLI_FREE(host, lists.anchor_level, lists.anchors);
    pli_mesh_destroy(mesh);
    return body;
}
