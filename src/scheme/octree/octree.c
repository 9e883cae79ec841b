/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Creation of a body of particles, and its cuts.
#include "scheme/octree/octree.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec.h"

static const double one[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };

static void destroy(void *self, const PliHost *host)
{
    PliOctree *s = self;
    if (!s) return;
    const PliIndex cells = s->tree ? s->tree->cell_count : 0, walls = s->tree ? s->tree->wall_count : 0;
    const size_t dofs = s->dof_count, active = s->op.capacity + PLI_OCTREE_AXES;
    const size_t scratch = 6 * (active + s->op.wall_capacity);
    PLI_FREE(host, s->rest, 3 * dofs);
    PLI_FREE(host, s->level, dofs);
    PLI_FREE(host, s->is_held, walls);
    PLI_FREE(host, s->stays_split, cells);
    PLI_FREE(host, s->place, 3 * (size_t)cells);
    PLI_FREE(host, s->seat, 3 * (size_t)cells);
    PLI_FREE(host, s->frame, cells);
    PLI_FREE(host, s->frame_is_stale, cells);
    PLI_FREE(host, s->sum, dofs);
    PLI_FREE(host, s->touched, dofs);
    PLI_FREE(host, s->row_first, dofs + 1);
    PLI_FREE(host, s->row_column, s->row_capacity);
    PLI_FREE(host, s->row_weight, s->row_capacity);
    PLI_FREE(host, s->cut_active, active);
    PLI_FREE(host, s->cut_mass, active);
    PLI_FREE(host, s->cut_driven, active);
    PLI_FREE(host, s->cut_slave, walls);
    PLI_FREE(host, s->cut_first, (size_t)walls + 1);
    PLI_FREE(host, s->patch, cells);
    PLI_FREE(host, s->patch_mass, cells);
    PLI_FREE(host, s->in_patch, cells);
    PLI_FREE(host, s->uneven, cells);
    PLI_FREE(host, s->bent, s->tree ? s->tree->level_first[s->tree->level_count - 1] : 0);
    PLI_FREE(host, s->fresh, cells);
    PLI_FREE(host, s->drift, 3 * (size_t)cells);
    PLI_FREE(host, s->planned, cells);
    PLI_FREE(host, s->mark, cells);
    PLI_FREE(host, s->scratch, scratch);
    PLI_FREE(host, s->surface_points, 3 * (size_t)s->surface_point_count);
    PLI_FREE(host, s->surface_tris, 3 * (size_t)s->surface_tri_count);
    pli_criterion_free(&s->criterion);
    pli_octree_operator_free(&s->op);
    pli_octree_operator_free(&s->next);
    pli_octree_active_free(&s->active);
    pli_octree_active_free(&s->next_active);
    pli_octree_tree_destroy(s->tree);
    PLI_FREE(host, s, 1);
}

// ---- cuts ------------------------------------------------------------------------------------------------------------------

static void reset_places(PliOctree *s)
{
    const PliOctreeTree *t = s->tree;
    for (PliIndex c = 0; c < t->cell_count; ++c) {
        memset(s->place + 3 * (size_t)c, 0, 3 * sizeof *s->place);
        if (t->cell[c].parent != PLI_NONE)
            v3_sub(s->place + 3 * (size_t)c, t->rest + 3 * (size_t)c, t->rest + 3 * (size_t)t->cell[c].parent);
    }
    memcpy(s->seat, s->place, 3 * (size_t)t->cell_count * sizeof *s->seat);
}

/// What lies above fixed cells cannot be active.
static void split_what_stays(PliOctree *s)
{
    for (PliIndex c = 0; c < s->tree->cell_count; ++c) {
        if (!s->stays_split[c] || !s->active.is_active[c]) continue;
        const PliIndex *order, count = pli_octree_plan_split(&s->active, c, &order);
        for (PliIndex i = 0; i < count; ++i) {
            pli_octree_split(&s->active, order[i]);
            pli_octree_split(&s->next_active, order[i]);
        }
    }
    memset(s->frame_is_stale, 1, s->tree->cell_count);
    s->op_is_made = false;
    s->revision++;
}

static void reset(void *self)
{
    PliOctree *s = self;
    pli_octree_active_start(&s->active, s->def.start_level);
    pli_octree_active_start(&s->next_active, s->def.start_level);
    s->planned_count = s->carried_out = 0;
    s->lag = s->since_look = s->prepared_ms = 0.0;
    reset_places(s);
    memcpy(s->rotation, one, sizeof one);
    memcpy(s->turn, one, sizeof one);
    pli_criterion_reset(&s->criterion);
    pli_governor_reset(&s->governor);
    s->decided = false;
    split_what_stays(s);
}

static void cut(void *self, PliCut *cut)
{
    PliOctree *s = self;
    if (!s->carrying_out && !s->op_is_made) { // sets, walls or material were changed by others
        pli_octree_forget_plan(s);
        pli_octree_operator_begin(&s->next, s->is_held, &s->op);
        double work = INFINITY;
        (void)pli_octree_operator_continue(&s->next, &work);
    }
    if (s->carrying_out || !s->op_is_made) pli_octree_operator_swap(&s->op, &s->next);
    s->carrying_out = false;
    s->op_is_made = true;
    PliIndex n = 0;
    for (; n < s->op.count; ++n) {
        s->cut_active[n] = s->op.cell[n];
        s->cut_mass[n] = s->op.mass[n];
        s->cut_driven[n] = 0;
    }
    for (PliIndex k = 0; k < s->axis_count; ++k, ++n) {
        s->cut_active[n] = s->axis_first + k;
        s->cut_mass[n] = 0.0;
        s->cut_driven[n] = 1;
    }
    for (PliIndex w = 0; w < s->op.wall_count; ++w) s->cut_slave[w] = s->wall_first + s->op.wall[w];
    cut->active = s->cut_active;
    cut->active_count = n;
    cut->mass = s->cut_mass;
    cut->driven = s->axis_count ? s->cut_driven : NULL;
    cut->slave = s->cut_slave;
    cut->slave_count = s->op.wall_count;
    cut->slave_first = s->cut_first; // zeros: held walls follow nobody
    cut->slave_column = s->cut_slave;
    cut->slave_weight = s->cut_mass;
}

static void pin(void *self, const uint8_t *fixed)
{
    PliOctree *s = self;
    const PliOctreeTree *t = s->tree;
    s->fixed = fixed;
    pli_octree_forget_plan(s);
    memset(s->stays_split, 0, t->cell_count);
    for (PliIndex w = 0; w < t->wall_count; ++w) s->is_held[w] = fixed[s->wall_first + w];
    for (PliIndex c = 0; c < t->cell_count; ++c) {
        if (!fixed[c]) continue;
        for (PliIndex up = t->cell[c].parent; up != PLI_NONE && !fixed[up]; up = t->cell[up].parent)
            s->stays_split[up] = 1;
    }
    split_what_stays(s);
}

static PliIndex place(const void *self, PliIndex dof)
{
    const PliOctree *s = self;
    return dof < s->axis_first ? dof : PLI_NONE;
}

static bool is_valid(const void *self, PliError *err)
{
    const PliOctree *s = self;
    return pli_octree_active_is_valid(&s->active, err);
}

static const PliSchemeOps octree_ops = {
    .name = "octree",
    .destroy = destroy,
    .reset = reset,
    .cut = cut,
    .adapt = pli_octree_adapt,
    .criteria = 1u << PLI_BY_STRAIN_JUMP | 1u << PLI_BY_VELOCITY | 1u << PLI_BY_FORCE | 1u << PLI_BY_CONTACT |
                1u << PLI_BY_CAMERA | 1u << PLI_BY_REGION,
    .spread = pli_octree_spread,
    .transfer = pli_octree_rows,
    .follow = pli_octree_follow,
    .transfer_rows = pli_octree_rows_of,
    .place = place,
    .announces = true,
    .locate = pli_octree_locate,
    .pin = pin,
    .is_valid = is_valid,
};

// ---- creation --------------------------------------------------------------------------------------------------------------

static bool allocate(PliOctree *s)
{
    const PliHost *host = &s->host;
    const PliIndex cells = s->tree->cell_count, walls = s->tree->wall_count;
    const size_t dofs = s->dof_count, active = s->op.capacity + PLI_OCTREE_AXES;
    s->rest = PLI_NEW(host, 3 * dofs, double);
    s->level = PLI_NEW(host, dofs, uint8_t);
    s->is_held = PLI_NEW(host, walls, uint8_t);
    s->stays_split = PLI_NEW(host, cells, uint8_t);
    s->place = PLI_NEW(host, 3 * (size_t)cells, double);
    s->seat = PLI_NEW(host, 3 * (size_t)cells, double);
    s->frame = PLI_NEW(host, cells, PliOctreeFrame);
    s->frame_is_stale = PLI_NEW(host, cells, uint8_t);
    s->sum = PLI_NEW(host, dofs, double);
    s->touched = PLI_NEW(host, dofs, PliIndex);
    s->row_first = PLI_NEW(host, dofs + 1, PliIndex);
    // a frame has so many neighbours at most; a mother, all of her active descendants
    s->row_capacity = (PLI_OCTREE_FRAME + 1 + PLI_OCTREE_AXES) * dofs +
                      (size_t)PLI_OCTREE_FRAME * (size_t)s->tree->level_count * s->op.capacity;
    s->row_column = PLI_NEW(host, s->row_capacity, PliIndex);
    s->row_weight = PLI_NEW(host, s->row_capacity, double);
    s->cut_active = PLI_NEW(host, active, PliIndex);
    s->cut_mass = PLI_NEW(host, active, double);
    s->cut_driven = PLI_NEW(host, active, uint8_t);
    s->cut_slave = PLI_NEW(host, walls, PliIndex);
    s->cut_first = PLI_NEW(host, (size_t)walls + 1, PliIndex);
    s->patch = PLI_NEW(host, cells, PliIndex);
    s->patch_mass = PLI_NEW(host, cells, double);
    s->in_patch = PLI_NEW(host, cells, uint8_t);
    s->uneven = PLI_NEW(host, cells, double);
    s->bent = PLI_NEW(host, s->tree->level_first[s->tree->level_count - 1], PliOctreeBent);
    s->fresh = PLI_NEW(host, cells, PliIndex);
    s->drift = PLI_NEW(host, 3 * (size_t)cells, double);
    s->planned = PLI_NEW(host, cells, PliIndex);
    s->mark = PLI_NEW(host, cells, uint8_t);
    s->scratch = PLI_NEW(host, 6 * (active + s->op.wall_capacity), double);
    return s->rest && s->level && s->is_held && s->stays_split && s->place && s->seat && s->frame &&
           s->frame_is_stale && s->sum && s->touched && s->row_first && s->row_column && s->row_weight &&
           s->cut_active && s->cut_mass && s->cut_driven && s->cut_slave && s->cut_first && s->patch && s->patch_mass &&
           s->in_patch && s->uneven && (s->bent || s->tree->level_count == 1) && s->fresh && s->drift && s->planned &&
           s->mark && s->scratch && pli_criterion_init(&s->criterion, host, cells) == PLI_OK;
}

static void fill_coefficients(PliOctree *s)
{
    const PliOctreeTree *t = s->tree;
    memcpy(s->rest, t->rest, 3 * (size_t)t->cell_count * sizeof *s->rest);
    memcpy(s->rest + 3 * (size_t)s->wall_first, t->wall_rest, 3 * (size_t)t->wall_count * sizeof *s->rest);
    for (PliIndex c = 0; c < t->cell_count; ++c) s->level[c] = t->cell[c].level;
    for (PliIndex w = 0; w < t->wall_count; ++w) s->level[s->wall_first + w] = t->cell[t->wall_cell[w]].level;
    if (s->axis_count) memcpy(s->rest + 3 * (size_t)s->axis_first, one, sizeof one);
}

/// The surface of the mesh, as skin.
static PliStatus copy_surface(PliOctree *s, const PliMesh *mesh)
{
    PliMesh copy = *mesh; // owns nothing but what find_surface gives it
    copy.host = s->host;
    const bool own = mesh->tet_count > 0;
    if (own) {
        copy.tris = NULL, copy.tri_count = 0;
        if (pli_mesh_find_surface(&copy) != PLI_OK) return PLI_OUT_OF_MEMORY;
    }
    const PliIndex quads = own ? 0 : mesh->quad_count;
    PliIndex *number = PLI_NEW(&s->host, mesh->point_count, PliIndex);
    s->surface_tri_count = copy.tri_count + 2 * quads;
    s->surface_tris = PLI_NEW(&s->host, 3 * (size_t)s->surface_tri_count, PliIndex);
    bool good = number && s->surface_tris;
    if (good) {
        memcpy(s->surface_tris, copy.tris, 3 * (size_t)copy.tri_count * sizeof *s->surface_tris);
        for (PliIndex q = 0; q < quads; ++q) {
            const PliIndex *c = mesh->quads + 4 * (size_t)q, two[6] = { c[0], c[1], c[2], c[0], c[2], c[3] };
            memcpy(s->surface_tris + 3 * ((size_t)copy.tri_count + 2 * q), two, sizeof two);
        }
        memset(number, 0xff, mesh->point_count * sizeof *number);
        for (size_t i = 0; i < 3 * (size_t)s->surface_tri_count; ++i)
            if (number[s->surface_tris[i]] == PLI_NONE) number[s->surface_tris[i]] = s->surface_point_count++;
        s->surface_points = PLI_NEW(&s->host, 3 * (size_t)s->surface_point_count, double);
        good = s->surface_points != NULL;
    }
    for (PliIndex p = 0; good && p < mesh->point_count; ++p)
        if (number[p] != PLI_NONE) v3_copy(s->surface_points + 3 * (size_t)number[p], mesh->x + 3 * (size_t)p);
    for (size_t i = 0; good && i < 3 * (size_t)s->surface_tri_count; ++i)
        s->surface_tris[i] = number[s->surface_tris[i]];
    PLI_FREE(&s->host, number, mesh->point_count);
    if (own) PLI_FREE(&s->host, copy.tris, 3 * (size_t)copy.tri_count);
    return good ? PLI_OK : PLI_OUT_OF_MEMORY;
}

PliOctreeDef pli_octree_default(void)
{
    PliOctreeDef def = { .base = pli_body_default(), .resolution = 16, .levels = 3, .speed_change = -1.0 };
    def.base.material.law = PLI_COROT;
    def.base.criterion.threshold = 0.1;
    def.base.multirate =
        PLI_RATES_ONE; // what joins levels ticks with the finest: measured, it costs more than it saves
    return def;
}

PliStatus pli_octree_check(const PliOctreeDef *def, PliError *err)
{
    if (pli_body_def_integrator(&def->base, &octree_ops) != PLI_SYMPLECTIC)
        return pli_refuse(
            err, PLI_UNSUPPORTED,
            "octree bodies take explicit steps only: next to a change of level their stiffness is not symmetric");
    if (def->operators == PLI_OCTREE_CONSISTENT && def->base.material.law == PLI_NEOHOOKEAN)
        return pli_refuse(err, PLI_UNSUPPORTED, "octree bodies have no neo-Hookean law: choose stvk or corotational");
    if (def->operators == PLI_OCTREE_PAPER && def->base.stiff_region_count)
        return pli_refuse(err, PLI_UNSUPPORTED,
                          "the printed operators have one stiffness: stiffRegions need consistent ones");
    if (def->levels < 1 || def->levels > PLI_OCTREE_MAX_LEVELS)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "levels is %d; an octree has 1 to %d of them", def->levels,
                          PLI_OCTREE_MAX_LEVELS);
    if (def->start_level < 0 || def->start_level >= def->levels)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "start level is %d; the octree has levels 0 to %d", def->start_level,
                          def->levels - 1);
    if (!(def->speed_change >= 0.0) && def->speed_change != -1.0)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "speed change must be >= 0 m/s, or -1, not %g", def->speed_change);
    return PLI_OK;
}

/// A point of a surface that no triangle has would stretch the lattice to it.
static PliStatus check_points(const PliHost *host, const PliMesh *mesh, PliError *err)
{
    if (mesh->tet_count || mesh->hex_count) return PLI_OK;
    uint8_t *used = PLI_NEW(host, mesh->point_count, uint8_t);
    if (!used) return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory to check %u points", mesh->point_count);
    for (size_t i = 0; i < 3 * (size_t)mesh->tri_count; ++i) used[mesh->tris[i]] = 1;
    for (size_t i = 0; i < 4 * (size_t)mesh->quad_count; ++i) used[mesh->quads[i]] = 1;
    PliIndex lost = 0;
    while (lost < mesh->point_count && used[lost]) ++lost;
    const bool good = lost == mesh->point_count;
    PLI_FREE(host, used, mesh->point_count);
    return good ? PLI_OK
                : pli_refuse(err, PLI_BAD_MESH, "point %u of the surface belongs to no triangle: remove it", lost);
}

static PliStatus build(PliOctree *s, const PliOctreeDef *def, PliError *err)
{
    enum { MOST_CELLS = 1 << 20 };
    PliVoxelDef voxels = { .mesh = def->mesh, .resolution = def->resolution };
    if (check_points(&s->host, def->mesh, err) != PLI_OK) return err ? err->status : PLI_BAD_MESH;
    PliVoxels *v = pli_voxels_create(&s->host, &voxels, err);
    if (!v) return PLI_BAD_MESH;
    if (v->cell_count > MOST_CELLS)
        pli_refuse(err, PLI_BAD_ARGUMENT, "a resolution of %u gives %u particles; an octree has room for %d",
                   def->resolution, v->cell_count, MOST_CELLS);
    else
        s->tree = pli_octree_tree_create(&s->host, v, def->levels, err);
    pli_voxels_destroy(v);
    if (!s->tree) return PLI_BAD_ARGUMENT;
    if (pli_octree_active_init(&s->active, s->tree) != PLI_OK ||
        pli_octree_active_init(&s->next_active, s->tree) != PLI_OK)
        return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for the neighbours of %u cells", s->tree->cell_count);
    const bool is_paper = def->operators == PLI_OCTREE_PAPER;
    for (int k = 0; k < 2; ++k) {
        PliOctreeOperator *o = k ? &s->next : &s->op;
        const PliOctreeActive *set = k ? &s->next_active : &s->active;
        PliStatus status = pli_octree_operator_init(o, set, &def->base.material, is_paper, err);
        if (status == PLI_OK) status = pli_octree_operator_set_regions(o, &def->base, err);
        if (status != PLI_OK) return status;
    }
    s->axis_count = PLI_OCTREE_AXES;
    s->op.extra = s->next.extra = s->axis_count;
    s->wall_first = s->tree->cell_count;
    s->axis_first = s->wall_first + s->tree->wall_count;
    s->dof_count = s->axis_first + s->axis_count;
    if (!allocate(s) || copy_surface(s, def->mesh) != PLI_OK)
        return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for an octree of %u cells", s->tree->cell_count);
    fill_coefficients(s);
    return PLI_OK;
}

PliStatus pli_octree_limit_speed(PliBody *body, const PliOctreeDef *def)
{
    const PliLame m = pli_lame(&def->base.material);
    const double sound = sqrt((m.bulk + 2.0 * m.mu) / def->base.material.density);
    return pli_body_set_explicit(body, false, def->speed_change < 0.0 ? 0.5 * sound : def->speed_change);
}

PliBody *pli_octree_create(const PliHost *host, const PliOctreeDef *def, PliError *err)
{
    if (pli_octree_check(def, err) != PLI_OK) return NULL;
    if (!def->mesh) {
        pli_refuse(err, PLI_BAD_ARGUMENT, "an octree needs a closed surface or tetrahedra to fill");
        return NULL;
    }
    PliOctree *s = PLI_NEW(host, 1, PliOctree);
    if (!s) {
        pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for an octree");
        return NULL;
    }
    s->host = *host;
    s->def = *def;
    pli_body_def_forget_regions(&s->def.base); // are the caller's
    if (build(s, def, err) != PLI_OK) {
        destroy(s, host);
        return NULL;
    }
    const PliSchemeStatic fixed = {
        .dof_count = s->dof_count,
        .rest = s->rest,
        .dof_level = s->level,
        .level_count = s->tree->level_count,
        .level_spacing = s->tree->size,
        .point_entries = PLI_OCTREE_FRAME,
        .active_capacity = s->op.capacity + s->axis_count,
        .slave_capacity = s->tree->wall_count,
        .force = &pli_octree_force_ops,
        .force_self = s,
        .surface_points = s->surface_points,
        .surface_point_count = s->surface_point_count,
        .surface_tris = s->surface_tris,
        .surface_tri_count = s->surface_tri_count,
    };
    PliBody *body = pli_body_create(host, &def->base, &octree_ops, s, &fixed, err);
    if (body && pli_octree_limit_speed(body, def) != PLI_OK) {
        pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for the limit on changes of speed");
        pli_body_destroy(body);
        return NULL;
    }
    return body;
}

PliOctreeInfo pli_octree_info(const PliBody *body)
{
    const PliOctree *s = pli_body_self((PliBody *)body);
    PliOctreeInfo info = { .walls = s->tree->wall_count, .cell_count = s->tree->cell_count, .fill = s->tree->fill };
    for (int l = 0; l < s->tree->level_count; ++l)
        info.cells[l] = s->tree->level_first[l + 1] - s->tree->level_first[l];
    info.corrections = s->op.correction_count;
    info.uncorrected = s->op.uncorrected;
    return info;
}

bool pli_octree_event(PliBody *body, const PliState *state, PliIndex cell, bool split)
{
    PliOctree *s = pli_body_self(body);
    if (cell >= s->tree->cell_count) return false;
    pli_octree_forget_plan(s);
    if (split ? !pli_octree_may_split(&s->active, cell) : !pli_octree_may_merge(&s->active, cell)) return false;
    if (split)
        pli_octree_split_cell(s, cell, state->x, state->v);
    else
        pli_octree_merge_cell(s, cell, state->x, state->v);
    (split ? pli_octree_split : pli_octree_merge)(&s->next_active, cell);
    s->op_is_made = false;
    pli_body_recut(body);
    return true;
}
