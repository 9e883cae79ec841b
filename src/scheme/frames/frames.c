/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Creation of a body of frames, and what a scheme answers.
#include "scheme/frames/frames.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec.h"

static void destroy(void *self, const PliHost *host)
{
    PliFrames *s = self;
    if (!s) return;
    pli_frames_adapt_destroy(s);
    pli_frames_cut_destroy(s);
    PLI_FREE(host, s->rest, 3 * (size_t)s->dof_count);
    PLI_FREE(host, s->dof_level, s->dof_count);
    PLI_FREE(host, s->row_revision, s->dof_count);
    PLI_FREE(host, s->load, s->dof_count);
    PLI_FREE(host, s->anchor_frame, s->anchor_count);
    PLI_FREE(host, s->surface_points, 3 * (size_t)s->surface_point_count);
    PLI_FREE(host, s->surface_tris, 3 * (size_t)s->surface_tri_count);
    pli_dag_destroy(s->dag);
    pli_frame_mass_destroy(s->mass);
    pli_frame_regions_destroy(s->regions);
    pli_frame_layout_destroy(s->layout);
    pli_voxels_destroy(s->voxels);
    PLI_FREE(host, s, 1);
}

// without adaptivity every frame is active from the start: the full model
static void reset(void *self)
{
    PliFrames *s = self;
    pli_dag_reset(s->dag);
    if (!s->def.base.adapt) {
        for (PliIndex i = 0; i < s->count; ++i) pli_dag_activate(s->dag, i);
        pli_dag_refresh(s->dag);
    }
    pli_frames_adapt_reset(s);
    s->cut_revision = 0;
    for (PliIndex i = 0; i < s->regions->node_count; ++i) s->pack[i].stamp = 0, s->pack[i].was_live = false;
    pli_frames_refresh_cut(s, NULL);
}

static void spread(void *self, double *x)
{
    const PliFrames *s = self;
    pli_dag_spread(s->dag, x);
}

static PliRows levels(void *self)
{
    const PliFrames *s = self;
    return pli_dag_rows(s->dag);
}

// Frames that move by the host's will stay active, with their ancestors.
static void pin(void *self, const uint8_t *fixed)
{
    PliFrames *s = self;
    memcpy(s->fixed, fixed, s->dof_count);
    for (PliIndex i = 0; i < s->count; ++i)
        s->wish[i] = fixed[4 * i] || fixed[4 * i + 1] || fixed[4 * i + 2] || fixed[4 * i + 3];
    pli_dag_pin(s->dag, s->wish);
    s->predicted = 0;
}

// Outside the body the weights are those of the nearest voxel's nearest point, the frames act at the true place: affine exact.
static PliIndex locate(void *self, const double point[3], PliIndex *column, double *weight, PliIndex capacity)
{
    const PliFrames *s = self;
    PliIndex cell, frame[PLI_FRAMES_PER_POINT];
    double phi[PLI_FRAMES_PER_POINT], centre[3], t[3];
    pli_voxels_find(s->voxels, point, &cell);
    pli_voxels_cell_centre(s->voxels, cell, centre);
    for (int a = 0; a < 3; ++a) {
        t[a] = (point[a] - centre[a]) / s->voxels->h + 0.5;
        t[a] = t[a] < 0.0 ? 0.0 : t[a] > 1.0 ? 1.0 : t[a];
    }
    PliIndex count = pli_frame_shape(s->layout, s->voxels, cell, t, frame, phi, NULL, NULL), used = 0;
    // the smallest weights give way when they do not fit
    while (4 * count > capacity || (count > 1 && 4 * count > 64)) {
        PliIndex least = 0;
        for (PliIndex k = 1; k < count; ++k)
            if (phi[k] < phi[least]) least = k;
        for (PliIndex k = least + 1; k < count; ++k) frame[k - 1] = frame[k], phi[k - 1] = phi[k];
        count--;
    }
    double sum = 0.0;
    for (PliIndex k = 0; k < count; ++k) sum += phi[k];
    for (PliIndex k = 0; k < count; ++k) {
        const double p = phi[k] / sum;
        if (p == 0.0) continue;
        for (PliIndex c = 0; c < 4; ++c) {
            const double xi =
                c < 3 ? (point[c] - s->layout->x[3 * (size_t)frame[k] + c]) / s->layout->scale[frame[k]] : 1.0;
            if (xi == 0.0) continue;
            column[used] = 4 * frame[k] + c;
            weight[used++] = p * xi;
        }
    }
    return used;
}

static bool is_valid(const void *self, PliError *err)
{
    const PliFrames *s = self;
    if (!pli_dag_is_valid(s->dag, err)) return false;
    // mass and volume do not depend on what is active
    double mass = 0.0, volume = 0.0;
    for (PliIndex k = 3; k < s->active_count; k += 4) mass += s->cut_load[k];
    for (PliIndex k = 0; k < s->regions->count; ++k) volume += s->regions->volume[k];
    if (!(fabs(mass - s->mass->total) <= 1e-9 * s->mass->total))
        return pli_refuse(err, PLI_BAD_ARGUMENT, "the active frames weigh %.12g kg, the body %.12g kg", mass,
                          s->mass->total),
               false;
    const PliVoxels *v = s->voxels;
    if (!(fabs(volume / (v->h * v->h * v->h * v->fill * v->cell_count) - 1.0) < 1e-9))
        return pli_refuse(err, PLI_BAD_ARGUMENT, "regions hold %.12g m3", volume), false;
    return true;
}

// All passive frames at once: each needs its parents anyway.
static void follow(void *self, const PliIndex *dof, PliIndex count, double *x)
{
    (void)dof, (void)count;
    pli_dag_spread(((PliFrames *)self)->dag, x);
}

static PliIndex place(const void *self, PliIndex dof)
{
    (void)self;
    return dof % 4 == 3 ? dof : PLI_NONE;
}

static PliStatus retune(void *self, const PliBodyDef *def, PliError *err)
{
    PliFrames *s = self;
    if (def->material.poisson != s->def.base.material.poisson)
        return pli_refuse(
            err, PLI_UNSUPPORTED,
            "frames: Poisson's ratio cannot change while running, from %g to %g: the integration is made with it",
            s->def.base.material.poisson, def->material.poisson);
    s->def.base = *def;
    s->lame = pli_lame(&def->material);
    s->retuned = true; // forces of merged regions are measured again where the body is
    return PLI_OK;
}

static const PliSchemeOps frames_ops = {
    .density_by_place = true,
    .retune = retune,
    .name = "frames",
    .destroy = destroy,
    .reset = reset,
    .cut = pli_frames_cut,
    .adapt = pli_frames_adapt,
    .spread = spread,
    .transfer = levels,
    .follow = follow,
    .announces = true, // a frame that goes passive moves nothing; only the polish does
    .locate = locate,
    .pin = pin,
    .place = place,
    .criteria = 1u << PLI_BY_VELOCITY | 1u << PLI_BY_CONTACT | 1u << PLI_BY_CAMERA | 1u << PLI_BY_REGION,
    .judges_forces = true,
    .is_valid = is_valid,
};

// ---- creation ---------------------------------------------------------------------------------------------------------------

static PliStatus check(const PliFramesDef *d, PliError *err)
{
    const PliStatus status = pli_body_def_check(&d->base, err);
    if (status != PLI_OK) return status;
    if (!d->mesh) return pli_refuse(err, PLI_BAD_ARGUMENT, "frames: there is no mesh");
    if (d->base.integrator != PLI_IMPLICIT)
        return pli_refuse(err, PLI_UNSUPPORTED,
                          "frames: explicit integration is not available, their mass matrix is not diagonal");
    if (pli_body_check_criterion(&frames_ops, &d->base.criterion, err) != PLI_OK) return PLI_BAD_ARGUMENT;
    if (!(d->growth >= 0.0))
        return pli_refuse(err, PLI_BAD_ARGUMENT, "frames: growth is %g s; it must be 0 or more", d->growth);
    if (!(d->mass_blend > 0.0 && d->mass_blend <= 1.0))
        return pli_refuse(err, PLI_BAD_ARGUMENT, "frames: mass_blend is %g; it must be in (0, 1]", d->mass_blend);
    if (!(d->linearity >= 0.0))
        return pli_refuse(err, PLI_BAD_ARGUMENT, "frames: linearity is %g; it must not be negative", d->linearity);
    if (d->shape == PLI_FRAMES_SMOOTH && !(d->support >= 1.0 && d->support <= 3.0))
        return pli_refuse(err, PLI_BAD_ARGUMENT, "frames: support is %g; it must be between 1 and 3", d->support);
    if ((d->metric == PLI_METRIC_REGION || d->metric == PLI_METRIC_MINIMUM) && !(d->base.criterion.radius > 0.0))
        return pli_refuse(err, PLI_BAD_ARGUMENT, "frames: the region of interest is empty, its radius is %g m",
                          d->base.criterion.radius);
    if (d->anchor_count && !d->anchors)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "frames: %u anchors without places", d->anchor_count);
    return PLI_OK;
}

static PliStatus copy_surface(PliFrames *s, const PliMesh *mesh)
{
    PliMesh *copy = NULL;
    const PliMesh *m = mesh;
    if (mesh->tet_count) { // the boundary of the tetrahedra
        copy = pli_mesh_create(&s->host);
        if (!copy || pli_mesh_resize_points(copy, mesh->point_count) != PLI_OK ||
            pli_mesh_resize_cells(copy, PLI_TET, mesh->tet_count) != PLI_OK) {
            pli_mesh_destroy(copy);
            return PLI_OUT_OF_MEMORY;
        }
        memcpy(copy->x, mesh->x, 3 * (size_t)mesh->point_count * sizeof *mesh->x);
        memcpy(copy->tets, mesh->tets, 4 * (size_t)mesh->tet_count * sizeof *mesh->tets);
        if (pli_mesh_find_surface(copy) != PLI_OK) {
            pli_mesh_destroy(copy);
            return PLI_OUT_OF_MEMORY;
        }
        m = copy;
    }
    // only points that triangles use, in their order
    PliIndex *number = PLI_NEW(&s->host, m->point_count, PliIndex);
    const PliIndex tris = m->tri_count + 2 * m->quad_count;
    s->surface_tris = PLI_NEW(&s->host, 3 * (size_t)tris, PliIndex);
    s->surface_tri_count = tris;
    PliStatus status = number && s->surface_tris ? PLI_OK : PLI_OUT_OF_MEMORY;
    if (status == PLI_OK) {
        for (PliIndex t = 0; t < tris; ++t)
            for (PliIndex c = 0; c < 3; ++c) {
                const PliIndex q = t - m->tri_count;
                const PliIndex p =
                    t < m->tri_count ? m->tris[3 * (size_t)t + c] : m->quads[4 * (size_t)(q / 2) + (c ? c + q % 2 : 0)];
                s->surface_tris[3 * (size_t)t + c] = p;
                number[p] = 1;
            }
        for (PliIndex i = 0; i < m->point_count; ++i) number[i] = number[i] ? s->surface_point_count++ : PLI_NONE;
        s->surface_points = PLI_NEW(&s->host, 3 * (size_t)s->surface_point_count, double);
        if (!s->surface_points) status = PLI_OUT_OF_MEMORY;
        for (PliIndex i = 0; status == PLI_OK && i < m->point_count; ++i)
            if (number[i] != PLI_NONE) v3_copy(s->surface_points + 3 * (size_t)number[i], m->x + 3 * (size_t)i);
        for (size_t k = 0; k < 3 * (size_t)tris; ++k) s->surface_tris[k] = number[s->surface_tris[k]];
    }
    PLI_FREE(&s->host, number, m->point_count);
    pli_mesh_destroy(copy);
    return status;
}

static void fill_rest(PliFrames *s)
{
    const PliFrameLayout *l = s->layout;
    for (size_t i = 0; i < s->count; ++i) {
        double *u = s->rest + 12 * i;
        for (int c = 0; c < 3; ++c) u[4 * c] = l->scale[i];
        v3_copy(u + 9, l->x + 3 * i);
        for (int c = 0; c < 4; ++c) s->dof_level[4 * i + (size_t)c] = l->level[i];
        // int rho N = M times the coefficients of the function 1, which are the origins
        for (PliIndex k = s->mass->first[i]; k < s->mass->first[i + 1]; ++k)
            for (size_t c = 0; c < 4; ++c) s->load[4 * i + c] += s->mass->block[16 * (size_t)k + 4 * c + 3];
    }
}

static void find_anchors(PliFrames *s, const PliFramesDef *def)
{
    // anchors were placed in their order within each level
    PliIndex next[8] = { 0 };
    const PliFrameLayout *l = s->layout;
    for (int k = 0; k < 8; ++k)
        while (next[k] < l->count && l->level[next[k]] < k) next[k]++;
    for (PliIndex i = 0; i < def->anchor_count; ++i) {
        int at = def->anchor_level ? def->anchor_level[i] : i == 0 ? 0 : 1;
        if (at >= l->level_count) at = l->level_count - 1;
        s->anchor_frame[i] = next[at]++;
    }
}

/// What the definition's own field says, and regions of another stiffness and density on top.
static void find_factors(const double p[3], double *stiffness, double *density, void *user)
{
    const PliFramesDef *def = user;
    if (def->field) def->field(p, stiffness, density, def->field_user);
    *stiffness *= pli_body_def_stiffness(&def->base, p);
    *density *= pli_body_def_density(&def->base, p);
}

static PliStatus build(PliFrames *s, const PliFramesDef *def, PliError *err)
{
    const PliHost *host = &s->host;
    const PliVoxelDef voxels = { .mesh = def->mesh,
                                 .resolution = def->resolution,
                                 .size = def->voxel_size,
                                 .tet_stiffness = def->tet_stiffness,
                                 .tet_density = def->tet_density,
                                 .field = find_factors,
                                 .field_user = (void *)def,
                                 .plain_distance = !def->material_aware };
    s->voxels = pli_voxels_create(host, &voxels, err);
    if (!s->voxels) return PLI_BAD_ARGUMENT;
    s->layout = pli_frame_layout_create(host, s->voxels, def, err);
    if (!s->layout) return PLI_BAD_ARGUMENT;
    s->regions = pli_frame_regions_create(host, s->voxels, s->layout, def, err);
    if (!s->regions) return PLI_BAD_ARGUMENT;
    s->mass = pli_frame_mass_create(host, s->voxels, s->layout, def, err);
    if (!s->mass) return PLI_BAD_ARGUMENT;
    const PliFrameLayout *l = s->layout;
    s->count = l->count;
    s->dof_count = 4 * l->count;
    s->dag = pli_dag_create(host, l->count, l->x, l->scale, l->parent_first, l->parent, l->parent_weight);
    s->rest = PLI_NEW(host, 3 * (size_t)s->dof_count, double);
    s->dof_level = PLI_NEW(host, s->dof_count, uint8_t);
    s->row_revision = PLI_NEW(host, s->dof_count, uint64_t);
    s->load = PLI_NEW(host, s->dof_count, double);
    s->anchor_count = def->anchor_count;
    s->anchor_frame = PLI_NEW(host, s->anchor_count, PliIndex);
    PliStatus status =
        s->dag && s->rest && s->dof_level && s->row_revision && s->load && s->anchor_frame ? PLI_OK : PLI_OUT_OF_MEMORY;
    if (status == PLI_OK) status = copy_surface(s, def->mesh);
    if (status == PLI_OK) status = pli_frames_cut_create(s);
    if (status == PLI_OK) status = pli_frames_adapt_create(s);
    if (status != PLI_OK) return pli_refuse(err, status, "no memory for %u frames", l->count);
    fill_rest(s);
    find_anchors(s, def);
    s->info.frames = s->count;
    s->info.regions = s->regions->count;
    return PLI_OK;
}

PliBody *pli_frames_create(const PliHost *host, const PliFramesDef *def, PliError *err)
{
    if (check(def, err) != PLI_OK) return NULL;
    PliFrames *s = PLI_NEW(host, 1, PliFrames);
    if (!s) {
        pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for a body of frames");
        return NULL;
    }
    s->host = *host;
    s->def = *def;
    s->lame = pli_lame(&def->base.material);
    if (build(s, def, err) != PLI_OK) {
        destroy(s, host);
        return NULL;
    }
    const PliSchemeStatic fixed = {
        .dof_count = s->dof_count,
        .rest = s->rest,
        .dof_level = s->dof_level,
        .level_count = s->layout->level_count,
        .row_revision = s->row_revision,
        .active_capacity = s->dof_count,
        .sample_capacity = s->sample_capacity,
        .sample_entry_capacity = s->sample_entry_capacity,
        .mass_entry_capacity = s->mass_capacity,
        .mass = s->mass->total,
        .block = 4,
        .dense = true,
        .point_entries = 96, // a point hangs on a dozen frames, some with weights that do not count
        .surface_points = s->surface_points,
        .surface_point_count = s->surface_point_count,
        .surface_tris = s->surface_tris,
        .surface_tri_count = s->surface_tri_count,
    };
    return pli_body_create(host, &def->base, &frames_ops, s, &fixed, err);
}

PliIndex pli_frames_anchor(const PliBody *body, PliIndex anchor)
{
    if (!pli_body_uses(body, &frames_ops)) return PLI_NONE;
    const PliFrames *s = pli_body_self((PliBody *)body);
    return anchor < s->anchor_count ? s->anchor_frame[anchor] : PLI_NONE;
}

PliIndex pli_frames_count(const PliBody *body)
{
    if (!pli_body_uses(body, &frames_ops)) return 0;
    const PliFrames *s = pli_body_self((PliBody *)body);
    return s->count;
}

PliFramesInfo pli_frames_info(const PliBody *body)
{
    PliFramesInfo info = { 0 };
    if (!pli_body_uses(body, &frames_ops)) return info;
    const PliFrames *s = pli_body_self((PliBody *)body);
    return s->info;
}
