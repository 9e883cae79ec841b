/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/memory.h"
#include "host/components/components.h"

#include <string.h>

// Forces on the skin that act inside AdaptiveSolver: contact between the pieces of a body, attraction to a target.

typedef struct SkinForces {
    PliModel *model;
    PliSkinForce *force;
    double measure;
} SkinForces;

static PliStatus join(PliObject *o, PliError *err)
{
    SkinForces *s = o->self;
    PliModel *m = s->model;
    const int most = (int)(sizeof m->skin_force / sizeof *m->skin_force);
    if (m->skin_force_count == most)
        return pli_refuse(err, PLI_OVER_CAPACITY, "more than %d forces on the skin of %s", most, m->object->name);
    m->skin_force[m->skin_force_count++] = s->force;
    return PLI_OK;
}

static PliStatus pieces_init(PliObject *o, PliError *err)
{
    SkinForces *s = o->self;
    PliPiecesDef def = pli_pieces_default();
    s->model = pli_model_of(o, err);
    if (!s->model || pli_model_fill(o, &pli_pieces_attributes, &def, err)) return err->status;
    s->force = pli_skin_force_pieces(&o->node->scene->host, s->model->body, &def, err);
    if (!s->force) return err->status;
    pli_lend_reals(o, "depth", &s->measure, 1);
    return join(o, err);
}

static PliMesh *target_mesh(PliObject *o, PliError *err)
{
    const PliHost *host = &o->node->scene->host;
    const char *path = pli_text(o, "filename");
    PliObject *linked = pli_link(o, "target");
    if (*path && linked)
        pli_refuse(err, PLI_BAD_ARGUMENT, "both filename and target are given: choose one");
    else if (*path)
        return pli_mesh_read(host, path, err);
    else if (linked)
        return pli_mesh_from_object(host, linked, PLI_MESH_SOLID_OR_SURFACE, err);
    else
        pli_refuse(err, PLI_BAD_ARGUMENT, "no target: give filename=\"...\" or target=\"@loader\"");
    return NULL;
}

static PliStatus target_init(PliObject *o, PliError *err)
{
    SkinForces *s = o->self;
    PliTargetDef def = pli_target_default();
    s->model = pli_model_of(o, err);
    if (!s->model || pli_model_fill(o, &pli_target_attributes, &def, err)) return err->status;
    PliMesh *mesh = target_mesh(o, err);
    if (!mesh) return err->status;
    s->force = pli_skin_force_target(&o->node->scene->host, s->model->body, &def, mesh, err);
    pli_mesh_destroy(mesh);
    if (!s->force) return err->status;
    pli_lend_reals(o, "distance", &s->measure, 1);
    return join(o, err);
}

static PliStatus skin_forces_end(PliObject *o, double dt, PliError *err)
{
    (void)dt;
    (void)err;
    SkinForces *s = o->self;
    s->measure = pli_skin_force_measure(s->force);
    pli_touch(pli_data(o, pli_skin_force_measure_name(s->force)));
    return PLI_OK;
}

static void skin_forces_destroy(PliObject *o) { pli_skin_force_destroy(((SkinForces *)o->self)->force); }

#define SKIN_FORCES_OPS .size = sizeof(SkinForces), .end = skin_forces_end, .destroy = skin_forces_destroy
const PliOps pli_piece_contact_ops = { SKIN_FORCES_OPS, .init = pieces_init };
const PliOps pli_skin_target_ops = { SKIN_FORCES_OPS, .init = target_init };

void pli_pieces_defaults(void *def) { *(PliPiecesDef *)def = pli_pieces_default(); }
void pli_target_defaults(void *def) { *(PliTargetDef *)def = pli_target_default(); }
