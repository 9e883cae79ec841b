/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Rows of the printed operators: (6) Lap d = 2 / sum l  sum (d_j - d_i) / l, and (9), its part along l, called grad div d.
#include "base/vec.h"
#include "scheme/octree/operator.h"

static void add_neighbour(PliOctreeOperator *o, PliIndex i, PliIndex j, double *total, double *least)
{
    double d[3], *u = o->entry_grad + PLI_OCTREE_GRAD * (size_t)o->entry_count;
    v3_sub(d, o->rest + 3 * (size_t)i, o->rest + 3 * (size_t)j);
    const double length = v3_norm(d);
    o->entry_point[o->entry_count] = j;
    o->entry_length[o->entry_count++] = length;
    v3_copy(u, d);
    v3_scale(u, 1.0 / length);
    *total += length;
    *least = length < *least ? length : *least;
}

void pli_octree_paper_rows(PliOctreeOperator *o)
{
    const PliOctreeTree *t = o->tree;
    o->entry_count = 0;
    for (PliIndex i = 0; i < o->count; ++i) {
        const PliIndex cell = o->cell[i];
        double total = 0.0, least = INFINITY;
        o->row_first[i] = o->entry_count;
        for (PliIndex n = 0; n < o->active->length[cell]; ++n)
            add_neighbour(o, i, o->position[pli_octree_neighbour(o->active, cell, n)], &total, &least);
        for (int side = 0; side < 6; ++side) {
            const PliIndex w = t->cell[cell].wall[side];
            if (w != PLI_NONE && o->wall_position[w] != PLI_NONE)
                add_neighbour(o, i, o->wall_position[w], &total, &least);
        }
        o->row_scale[i] = total > 0.0 ? t->volume[cell] * 2.0 / total : 0.0;
        // (12) of the paper
        o->step[i] = least * sqrt(o->material.density / (o->lame.lambda + 2.0 * o->lame.mu));
    }
    o->row_first[o->count] = o->entry_count;
}
