/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Memory of an operator, and the rows of the printed one.
#include "scheme/octree/operator.h"

#include <string.h>

#include "base/memory.h"
#include "base/vec.h"

enum { CORRECTION_ENTRIES = 40 }; ///< on average

static bool allocate(PliOctreeOperator *o)
{
    const PliHost *host = &o->host;
    const size_t n = o->capacity, points = n + PLI_OCTREE_AXES + o->wall_capacity, cells = o->tree->cell_count;
    o->cell = PLI_NEW(host, n, PliIndex);
    o->wall = PLI_NEW(host, o->wall_capacity, PliIndex);
    o->position = PLI_NEW(host, cells, PliIndex);
    o->wall_position = PLI_NEW(host, o->tree->wall_count, PliIndex);
    o->rest = PLI_NEW(host, 3 * points, double);
    o->mass = PLI_NEW(host, n, double);
    o->step = PLI_NEW(host, n, double);
    bool good = o->cell && o->wall && o->position && o->wall_position && o->rest && o->mass && o->step;
    o->entry_point = PLI_NEW(host, o->entry_capacity, PliIndex);
    o->entry_grad = PLI_NEW(host, PLI_OCTREE_GRAD * (size_t)o->entry_capacity, double);
    o->is_interior = PLI_NEW(host, cells, uint8_t);
    good = good && o->entry_point && o->entry_grad && o->is_interior;
    if (o->is_paper) {
        o->row_first = PLI_NEW(host, n + 1, PliIndex);
        o->row_scale = PLI_NEW(host, n, double);
        o->entry_length = PLI_NEW(host, o->entry_capacity, double);
        return good && o->row_first && o->row_scale && o->entry_length;
    }
    o->skewed = PLI_NEW(host, cells, uint8_t);
    o->corner = PLI_NEW(host, 8 * (size_t)o->tet_capacity, PliIndex);
    o->which = PLI_NEW(host, o->tet_capacity, PliIndex);
    o->tet_rest = PLI_NEW(host, o->tet_capacity, PliTetRest);
    o->tet_volume = PLI_NEW(host, o->tet_capacity, double);
    o->tet_level = PLI_NEW(host, o->tet_capacity, uint8_t);
    o->joint = PLI_NEW(host, o->joint_capacity, PliOctreeJoint);
    o->hinge = PLI_NEW(host, 2 * (size_t)o->joint_capacity, PliOctreeHinge);
    o->joint_first = PLI_NEW(host, n + 1, PliIndex);
    o->joint_rest = PLI_NEW(host, 12 * (size_t)o->joint_capacity, double); // and x, v and f behind it
    o->joint_x = o->joint_rest ? o->joint_rest + 3 * (size_t)o->joint_capacity : NULL;
    o->joint_v = o->joint_rest ? o->joint_x + 3 * (size_t)o->joint_capacity : NULL;
    o->joint_f = o->joint_rest ? o->joint_v + 3 * (size_t)o->joint_capacity : NULL;
    o->sample = PLI_NEW(host, 8 * n, PliOctreeSample);
    o->membrane = PLI_NEW(host, 8 * n, PliOctreeMembrane);
    o->bar = PLI_NEW(host, 8 * n, PliOctreeBar);
    o->bend = PLI_NEW(host, 9 * n, PliOctreeBend);
    o->correction = PLI_NEW(host, o->correction_capacity, PliOctreeCorrection);
    o->entry_block = PLI_NEW(host, PLI_OCTREE_BLOCK * (size_t)o->entry_capacity, double);
    o->looks = PLI_NEW(host, cells, uint32_t);
    o->correction_at = PLI_NEW(host, 6 * cells, PliIndex);
    if (o->correction_at) memset(o->correction_at, 0xff, 6 * cells * sizeof *o->correction_at);
    PliOctreeNear *k = &o->near;
    k->tet = PLI_NEW(host, o->tet_capacity, PliIndex);
    k->sample = PLI_NEW(host, 8 * n, PliIndex);
    k->membrane = PLI_NEW(host, 8 * n, PliIndex);
    k->bar = PLI_NEW(host, 8 * n, PliIndex);
    k->bend = PLI_NEW(host, 9 * n, PliIndex);
    k->hinge = PLI_NEW(host, 2 * (size_t)o->joint_capacity, PliIndex);
    k->correction = PLI_NEW(host, o->correction_capacity, PliIndex);
    good = good && o->looks && o->correction_at && k->tet && k->sample && k->membrane && k->bar && k->bend &&
           (k->hinge || !o->joint_capacity) && (k->correction || !o->correction_capacity);
    o->diagonal = PLI_NEW(host, 9 * n, double);
    o->viscosity = PLI_NEW(host, n, double);
    return good && o->joint && o->hinge && o->joint_first && o->joint_rest && o->skewed && o->corner && o->which &&
           o->tet_rest && o->tet_volume && o->tet_level && o->sample && o->membrane && o->bar && o->bend &&
           o->correction && o->entry_block && o->diagonal && o->viscosity;
}

static void mark_interior(PliOctreeOperator *o)
{
    const PliOctreeTree *t = o->tree;
    for (PliIndex c = 0; c < t->cell_count; ++c) {
        const PliOctreeCell *cell = &t->cell[c];
        const double h = t->size[cell->level], full = (1.0 - 1e-9) * t->fill * h * h * h;
        o->is_interior[c] = 1;
        for (int n = 0; n < 27 && o->is_interior[c]; ++n) {
            const int32_t at[3] = { cell->at[0] + n % 3 - 1, cell->at[1] + n / 3 % 3 - 1, cell->at[2] + n / 9 - 1 };
            const PliIndex near = pli_octree_tree_at(t, cell->level, at);
            o->is_interior[c] = near != PLI_NONE && t->volume[near] > full;
        }
    }
}

PliStatus pli_octree_operator_init(PliOctreeOperator *o, const PliOctreeActive *active, const PliMaterial *material,
                                   bool is_paper, PliError *err)
{
    const PliOctreeTree *t = active->tree;
    *o = (PliOctreeOperator){
        .host = t->host, .tree = t, .active = active, .is_paper = is_paper, .correction_damping = 0.25
    };
    o->capacity = t->cell_count - t->level_first[t->level_count - 1];
    o->wall_capacity = 6 * o->capacity;
    o->tet_capacity = 8 * o->capacity;
    const PliIndex mothers = t->level_first[t->level_count - 1];
    o->joint_capacity = 6 * (mothers < o->capacity ? mothers : o->capacity);
    // corrections that have no room are left out, which is counted
    o->correction_capacity = t->level_count > 1 ? o->capacity + 64 : 0;
    o->entry_capacity =
        is_paper ? 56 * o->capacity + o->wall_capacity + 64 : CORRECTION_ENTRIES * o->correction_capacity;
    if (!allocate(o))
        return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for the operators of %u particles", o->capacity);
    mark_interior(o);
    pli_octree_operator_set_material(o, material);
    if (is_paper) return PLI_OK;
    PliElasticDef def = { .material = *material,
                          .simd = pli_simd_best(),
                          .point_capacity = o->capacity + PLI_OCTREE_AXES + o->wall_capacity,
                          .tet_capacity = o->tet_capacity,
                          .explicit_only = true };
    o->elastic = pli_elastic_create(&o->host, &def, err);
    return o->elastic ? PLI_OK : PLI_OUT_OF_MEMORY;
}

/// Mean over points spread evenly in a finest cell; a coarser one has the mean of its daughters.
PliStatus pli_octree_operator_set_regions(PliOctreeOperator *o, const PliBodyDef *def, PliError *err)
{
    enum { SIDE = 4 };
    const PliOctreeTree *t = o->tree;
    if (!def->stiff_region_count) return PLI_OK;
    if (!(o->factor = PLI_NEW(&o->host, t->cell_count, double)))
        return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for the stiffness of %u cells", t->cell_count);
    for (PliIndex c = t->cell_count; c-- > 0;) { // daughters come behind their mothers
        const PliOctreeCell *cell = &t->cell[c];
        double centre[3], sum = 0.0;
        if (cell->level + 1 < t->level_count) {
            for (int q = 0; q < 8; ++q)
                if (cell->child[q] != PLI_NONE) sum += o->factor[cell->child[q]] * t->volume[cell->child[q]];
            o->factor[c] = sum / t->volume[c];
            continue;
        }
        pli_octree_cell_centre(t, c, centre);
        for (int k = 0; k < SIDE * SIDE * SIDE; ++k) {
            const int at[3] = { k % SIDE, k / SIDE % SIDE, k / (SIDE * SIDE) };
            double p[3];
            for (int a = 0; a < 3; ++a) p[a] = centre[a] + ((at[a] + 0.5) / SIDE - 0.5) * t->size[cell->level];
            sum += pli_body_def_stiffness(def, p);
        }
        o->factor[c] = sum / (SIDE * SIDE * SIDE);
    }
    return PLI_OK;
}

void pli_octree_operator_set_material(PliOctreeOperator *o, const PliMaterial *material)
{
    o->material = *material;
    o->lame = pli_lame(material);
    if (o->elastic) pli_elastic_set_material(o->elastic, material);
    o->is_stale = true; // corrections are made of it
}

void pli_octree_operator_free(PliOctreeOperator *o)
{
    if (!o->tree) return;
    const PliHost *host = &o->host;
    const size_t n = o->capacity, points = n + PLI_OCTREE_AXES + o->wall_capacity, cells = o->tree->cell_count;
    PLI_FREE(host, o->cell, n);
    PLI_FREE(host, o->wall, o->wall_capacity);
    PLI_FREE(host, o->position, cells);
    PLI_FREE(host, o->wall_position, o->tree->wall_count);
    PLI_FREE(host, o->rest, 3 * points);
    PLI_FREE(host, o->mass, n);
    PLI_FREE(host, o->step, n);
    PLI_FREE(host, o->entry_point, o->entry_capacity);
    PLI_FREE(host, o->entry_grad, PLI_OCTREE_GRAD * (size_t)o->entry_capacity);
    PLI_FREE(host, o->row_first, n + 1);
    PLI_FREE(host, o->row_scale, n);
    PLI_FREE(host, o->entry_length, o->entry_capacity);
    PLI_FREE(host, o->skewed, cells);
    PLI_FREE(host, o->corner, 8 * (size_t)o->tet_capacity);
    PLI_FREE(host, o->which, o->tet_capacity);
    PLI_FREE(host, o->tet_rest, o->tet_capacity);
    PLI_FREE(host, o->tet_volume, o->tet_capacity);
    PLI_FREE(host, o->tet_level, o->tet_capacity);
    PLI_FREE(host, o->is_interior, cells);
    PLI_FREE(host, o->factor, cells);
    PLI_FREE(host, o->joint, o->joint_capacity);
    PLI_FREE(host, o->hinge, 2 * (size_t)o->joint_capacity);
    PLI_FREE(host, o->joint_first, n + 1);
    PLI_FREE(host, o->joint_rest, 12 * (size_t)o->joint_capacity);
    PLI_FREE(host, o->sample, 8 * n);
    PLI_FREE(host, o->membrane, 8 * n);
    PLI_FREE(host, o->bar, 8 * n);
    PLI_FREE(host, o->bend, 9 * n);
    PLI_FREE(host, o->correction, o->correction_capacity);
    PLI_FREE(host, o->entry_block, PLI_OCTREE_BLOCK * (size_t)o->entry_capacity);
    PLI_FREE(host, o->looks, cells);
    PLI_FREE(host, o->correction_at, 6 * cells);
    PLI_FREE(host, o->near.tet, o->tet_capacity);
    PLI_FREE(host, o->near.sample, 8 * n);
    PLI_FREE(host, o->near.membrane, 8 * n);
    PLI_FREE(host, o->near.bar, 8 * n);
    PLI_FREE(host, o->near.bend, 9 * n);
    PLI_FREE(host, o->near.hinge, 2 * (size_t)o->joint_capacity);
    PLI_FREE(host, o->near.correction, o->correction_capacity);
    PLI_FREE(host, o->diagonal, 9 * n);
    PLI_FREE(host, o->viscosity, n);
    pli_elastic_destroy(o->elastic);
    *o = (PliOctreeOperator){ 0 };
}

void pli_octree_operator_swap(PliOctreeOperator *a, PliOctreeOperator *b)
{
    const PliOctreeActive *of_a = a->active, *of_b = b->active;
    const PliOctreeOperator old = *a;
    *a = *b;
    *b = old;
    a->active = of_a, b->active = of_b;
}
