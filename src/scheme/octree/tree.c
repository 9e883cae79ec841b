/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "scheme/octree/tree.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec.h"

// Cells of a level are in lattice order, so a place is found by bisection: no table of the whole box is kept.
static int64_t key_of(const PliOctreeTree *t, const int32_t at[3])
{
    return ((int64_t)at[2] * (t->lattice[1] + 1) + at[1]) * (t->lattice[0] + 1) + at[0];
}

PliIndex pli_octree_tree_at(const PliOctreeTree *t, int level, const int32_t at[3])
{
    for (int a = 0; a < 3; ++a)
        if (at[a] < 0 || at[a] >= (int32_t)t->lattice[a]) return PLI_NONE;
    const int64_t wanted = key_of(t, at);
    PliIndex low = t->level_first[level], high = t->level_first[level + 1];
    while (low < high) {
        const PliIndex middle = low + (high - low) / 2;
        const int64_t key = key_of(t, t->cell[middle].at);
        if (key == wanted) return middle;
        if (key < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return PLI_NONE;
}

void pli_octree_cell_centre(const PliOctreeTree *t, PliIndex cell, double p[3])
{
    const PliOctreeCell *c = &t->cell[cell];
    for (int a = 0; a < 3; ++a) p[a] = t->origin[a] + t->size[c->level] * (c->at[a] + 0.5);
}

double pli_octree_octant_volume(const PliOctreeTree *t, PliIndex cell, int octant)
{
    const PliOctreeCell *c = &t->cell[cell];
    if (c->level + 1 == t->level_count) return 0.125 * t->volume[cell];
    return c->child[octant] == PLI_NONE ? 0.0 : t->volume[c->child[octant]];
}

PliIndex pli_octree_tree_find(const PliOctreeTree *t, const double p[3])
{
    const int level = t->level_count - 1;
    const double h = t->size[level];
    int32_t at[3], far = 0;
    for (int a = 0; a < 3; ++a) {
        const double s = floor((p[a] - t->origin[a]) / h);
        const int32_t last = (int32_t)t->lattice[a] - 1;
        at[a] = !(s > 0.0) ? 0 : s > last ? last : (int32_t)s;
        far = last > far ? last : far;
    }
    const PliIndex here = pli_octree_tree_at(t, level, at);
    if (here != PLI_NONE) return here;
    // shells around it; one more than the first hit needs decides, since a corner of a shell is further than its faces
    PliIndex best = PLI_NONE;
    double distance = INFINITY;
    for (int32_t r = 1; r <= far; ++r) {
        if (best != PLI_NONE && (r - 1) * h > distance) break;
        for (int32_t k = -r; k <= r; ++k)
            for (int32_t j = -r; j <= r; ++j)
                for (int32_t i = -r; i <= r; i += (k == -r || k == r || j == -r || j == r) ? 1 : 2 * r) {
                    const int32_t near[3] = { at[0] + i, at[1] + j, at[2] + k };
                    const PliIndex c = pli_octree_tree_at(t, level, near);
                    if (c == PLI_NONE) continue;
                    const double d = v3_distance(t->rest + 3 * (size_t)c, p);
                    if (d < distance || (d == distance && c < best)) best = c, distance = d;
                }
    }
    return best;
}

// ---- cells -----------------------------------------------------------------------------------------------------------------

static PliIndex count_level(const PliVoxels *v, int shift, const PliIndex lattice[3], uint8_t *mark)
{
    PliIndex n[3], count = 0;
    for (int a = 0; a < 3; ++a) n[a] = ((lattice[a] - 1) >> shift) + 1;
    memset(mark, 0, (size_t)n[0] * n[1] * n[2]);
    for (PliIndex s = 0; s < v->cell_count; ++s) {
        const PliIndex c = v->cell[s], x = (c % v->size[0] - 1) >> shift,
                       y = (c / v->size[0] % v->size[1] - 1) >> shift, z = (c / v->size[0] / v->size[1] - 1) >> shift;
        uint8_t *m = &mark[x + (size_t)n[0] * (y + (size_t)n[1] * z)];
        count += *m == 0;
        *m = 1;
    }
    return count;
}

static void number_level(PliOctreeTree *t, int level, const uint8_t *mark)
{
    const int shift = t->level_count - 1 - level;
    PliIndex n[3], next = t->level_first[level];
    for (int a = 0; a < 3; ++a) n[a] = ((t->lattice[a] - 1) >> shift) + 1;
    for (PliIndex z = 0; z < n[2]; ++z)
        for (PliIndex y = 0; y < n[1]; ++y)
            for (PliIndex x = 0; x < n[0]; ++x) {
                if (!mark[x + (size_t)n[0] * (y + (size_t)n[1] * z)]) continue;
                PliOctreeCell *c = &t->cell[next++];
                *c = (PliOctreeCell){ .parent = PLI_NONE,
                                      .at = { (int32_t)x, (int32_t)y, (int32_t)z },
                                      .level = (uint8_t)level };
                for (int k = 0; k < 8; ++k) c->child[k] = PLI_NONE;
                for (int k = 0; k < 6; ++k) c->neighbour[k] = c->wall[k] = PLI_NONE;
            }
}

static void join_parents(PliOctreeTree *t)
{
    for (PliIndex c = t->level_first[1]; c < t->cell_count; ++c) {
        PliOctreeCell *cell = &t->cell[c];
        const int32_t above[3] = { cell->at[0] >> 1, cell->at[1] >> 1, cell->at[2] >> 1 };
        cell->parent = pli_octree_tree_at(t, cell->level - 1, above);
        t->cell[cell->parent].child[(cell->at[0] & 1) | (cell->at[1] & 1) << 1 | (cell->at[2] & 1) << 2] = c;
    }
}

// Mass and centre from below: a mother weighs what her daughters weigh and is where they balance.
static void fill_moments(PliOctreeTree *t)
{
    const int finest = t->level_count - 1;
    const double h = t->size[finest], each = t->fill * h * h * h;
    for (PliIndex c = t->cell_count; c-- > 0;) {
        double *p = t->rest + 3 * (size_t)c;
        if (t->cell[c].level == finest) {
            t->volume[c] = each;
            pli_octree_cell_centre(t, c, p);
            continue;
        }
        t->volume[c] = 0.0, p[0] = p[1] = p[2] = 0.0;
        for (int k = 0; k < 8; ++k) {
            const PliIndex child = t->cell[c].child[k];
            if (child == PLI_NONE) continue;
            t->volume[c] += t->volume[child];
            v3_madd(p, t->volume[child], t->rest + 3 * (size_t)child);
        }
        v3_scale(p, 1.0 / t->volume[c]);
    }
}

// Two cells touch where finest cells of theirs do: a gap narrower than a coarse cell stays a gap.
static void fill_links(PliOctreeTree *t)
{
    const int finest = t->level_count - 1;
    for (PliIndex c = t->cell_count; c-- > 0;) {
        PliOctreeCell *cell = &t->cell[c];
        for (int side = 0; side < 6; ++side) {
            const int axis = side >> 1, up = side & 1;
            int32_t at[3] = { cell->at[0], cell->at[1], cell->at[2] };
            at[axis] += up ? 1 : -1;
            const PliIndex n = pli_octree_tree_at(t, cell->level, at);
            if (n == PLI_NONE) continue;
            for (int o = 0; o < 8; ++o) {
                if ((o >> axis & 1) != up) continue;
                bool linked = cell->level == finest;
                if (!linked && cell->child[o] != PLI_NONE) {
                    const uint32_t below = t->cell[cell->child[o]].link;
                    for (int q = 0; q < 8; ++q)
                        linked = linked || ((q >> axis & 1) == up && (below >> (3 * q + axis) & 1));
                }
                if (linked) cell->link |= 1u << (3 * o + axis), cell->neighbour[side] = n;
            }
        }
    }
}

// ---- faces that look outside -------------------------------------------------------------------------------------------------

static PliStatus fill_walls(PliOctreeTree *t)
{
    const int finest = t->level_count - 1;
    const double h = t->size[finest];
    // areas from below; a mother has the faces of her daughters that look outside
    double *area = PLI_NEW(&t->host, 6 * (size_t)t->cell_count, double),
           *centre = PLI_NEW(&t->host, 18 * (size_t)t->cell_count, double);
    if (area && centre)
        for (PliIndex c = t->cell_count; c-- > 0;) {
            const PliOctreeCell *cell = &t->cell[c];
            for (int side = 0; side < 6; ++side) {
                double *a = &area[6 * (size_t)c + side], *p = &centre[3 * (6 * (size_t)c + side)];
                if (cell->level == finest && cell->neighbour[side] == PLI_NONE) {
                    *a = h * h;
                    v3_copy(p, t->rest + 3 * (size_t)c);
                    p[side >> 1] += side & 1 ? 0.5 * h : -0.5 * h;
                    v3_scale(p, *a);
                }
                for (int k = 0; k < 8; ++k) {
                    if (cell->child[k] == PLI_NONE) continue;
                    *a += area[6 * (size_t)cell->child[k] + side];
                    v3_add(p, p, &centre[3 * (6 * (size_t)cell->child[k] + side)]);
                }
                t->wall_count += *a > 0.0;
            }
        }
    t->wall_rest = PLI_NEW(&t->host, 3 * (size_t)t->wall_count, double);
    t->wall_area = PLI_NEW(&t->host, t->wall_count, double);
    t->wall_cell = PLI_NEW(&t->host, t->wall_count, PliIndex);
    t->wall_side = PLI_NEW(&t->host, t->wall_count, uint8_t);
    const bool good = area && centre && t->wall_rest && t->wall_area && t->wall_cell && t->wall_side;
    for (PliIndex c = 0, w = 0; good && c < t->cell_count; ++c)
        for (int side = 0; side < 6; ++side) {
            const double a = area[6 * (size_t)c + side];
            if (!(a > 0.0)) continue;
            t->cell[c].wall[side] = w;
            t->wall_area[w] = a;
            t->wall_cell[w] = c;
            t->wall_side[w] = (uint8_t)side;
            v3_copy(t->wall_rest + 3 * (size_t)w, &centre[3 * (6 * (size_t)c + side)]);
            v3_scale(t->wall_rest + 3 * (size_t)w, 1.0 / a);
            w++;
        }
    PLI_FREE(&t->host, area, 6 * (size_t)t->cell_count);
    PLI_FREE(&t->host, centre, 18 * (size_t)t->cell_count);
    return good ? PLI_OK : PLI_OUT_OF_MEMORY;
}

// ---- potential neighbours ----------------------------------------------------------------------------------------------------------

static PliIndex push_once(PliIndex *list, PliIndex count, PliIndex c)
{
    if (c == PLI_NONE) return count;
    for (PliIndex i = 0; i < count; ++i)
        if (list[i] == c) return count;
    list[count] = c;
    return count + 1;
}

static PliIndex potential_of(const PliOctreeTree *t, PliIndex c, PliIndex list[PLI_OCTREE_MAX_NEIGHBOURS])
{
    const PliOctreeCell *cell = &t->cell[c];
    PliIndex count = 0;
    for (int n = 0; n < 27; ++n) {
        const int32_t d[3] = { n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1 };
        if (n == 13) continue;
        const int32_t at[3] = { cell->at[0] + d[0], cell->at[1] + d[1], cell->at[2] + d[2] };
        const PliIndex same = pli_octree_tree_at(t, cell->level, at);
        count = push_once(list, count, same);
        if (cell->level > 0) {
            const int32_t above[3] = { at[0] >> 1, at[1] >> 1, at[2] >> 1 };
            const PliIndex coarse =
                at[0] < 0 || at[1] < 0 || at[2] < 0 ? PLI_NONE : pli_octree_tree_at(t, cell->level - 1, above);
            if (coarse != cell->parent) count = push_once(list, count, coarse);
        }
        if (same == PLI_NONE) continue;
        for (int k = 0; k < 8; ++k) {
            bool touches = true;
            for (int a = 0; a < 3; ++a) touches = touches && (d[a] == 0 || (d[a] > 0) == !(k >> a & 1));
            if (touches) count = push_once(list, count, t->cell[same].child[k]);
        }
    }
    return count;
}

static PliStatus fill_potential(PliOctreeTree *t)
{
    PliIndex list[PLI_OCTREE_MAX_NEIGHBOURS];
    t->first = PLI_NEW(&t->host, (size_t)t->cell_count + 1, PliIndex);
    if (!t->first) return PLI_OUT_OF_MEMORY;
    for (PliIndex c = 0; c < t->cell_count; ++c) t->first[c + 1] = t->first[c] + potential_of(t, c, list);
    const PliIndex total = t->first[t->cell_count];
    t->potential = PLI_NEW(&t->host, total, PliIndex);
    t->mirror = PLI_NEW(&t->host, total, PliIndex);
    if (!t->potential || !t->mirror) return PLI_OUT_OF_MEMORY;
    for (PliIndex c = 0; c < t->cell_count; ++c) (void)potential_of(t, c, t->potential + t->first[c]);
    for (PliIndex c = 0; c < t->cell_count; ++c)
        for (PliIndex e = t->first[c]; e < t->first[c + 1]; ++e) {
            const PliIndex other = t->potential[e];
            for (PliIndex back = t->first[other]; back < t->first[other + 1]; ++back)
                if (t->potential[back] == c) t->mirror[e] = back;
        }
    return PLI_OK;
}

// ---- creation ------------------------------------------------------------------------------------------------------------------------

void pli_octree_tree_destroy(PliOctreeTree *t)
{
    if (!t) return;
    const PliHost host = t->host;
    const PliIndex entries = t->first ? t->first[t->cell_count] : 0;
    PLI_FREE(&host, t->cell, t->cell_count);
    PLI_FREE(&host, t->rest, 3 * (size_t)t->cell_count);
    PLI_FREE(&host, t->volume, t->cell_count);
    PLI_FREE(&host, t->wall_rest, 3 * (size_t)t->wall_count);
    PLI_FREE(&host, t->wall_area, t->wall_count);
    PLI_FREE(&host, t->wall_cell, t->wall_count);
    PLI_FREE(&host, t->wall_side, t->wall_count);
    PLI_FREE(&host, t->potential, entries);
    PLI_FREE(&host, t->mirror, entries);
    PLI_FREE(&host, t->first, (size_t)t->cell_count + 1);
    PLI_FREE(&host, t, 1);
}

static PliStatus make_cells(PliOctreeTree *t, const PliVoxels *v)
{
    const size_t places = (size_t)t->lattice[0] * t->lattice[1] * t->lattice[2];
    uint8_t *mark = PLI_NEW(&t->host, places, uint8_t);
    if (!mark) return PLI_OUT_OF_MEMORY;
    uint64_t total = 0;
    for (int l = 0; l < t->level_count; ++l) {
        total += count_level(v, t->level_count - 1 - l, t->lattice, mark);
        t->level_first[l + 1] = (PliIndex)total;
    }
    t->cell_count = (PliIndex)total;
    t->cell = PLI_NEW(&t->host, total, PliOctreeCell);
    t->rest = PLI_NEW(&t->host, 3 * total, double);
    t->volume = PLI_NEW(&t->host, total, double);
    const bool good = t->cell && t->rest && t->volume;
    for (int l = 0; good && l < t->level_count; ++l) {
        (void)count_level(v, t->level_count - 1 - l, t->lattice, mark);
        number_level(t, l, mark);
    }
    PLI_FREE(&t->host, mark, places);
    return good ? PLI_OK : PLI_OUT_OF_MEMORY;
}

PliOctreeTree *pli_octree_tree_create(const PliHost *host, const PliVoxels *v, int level_count, PliError *err)
{
    if (level_count < 1 || level_count > PLI_OCTREE_MAX_LEVELS) {
        pli_refuse(err, PLI_BAD_ARGUMENT, "levels is %d; an octree has 1 to %d of them", level_count,
                   PLI_OCTREE_MAX_LEVELS);
        return NULL;
    }
    PliOctreeTree *t = PLI_NEW(host, 1, PliOctreeTree);
    PliStatus status = t ? PLI_OK : PLI_OUT_OF_MEMORY;
    if (t) {
        t->host = *host;
        t->level_count = level_count;
        t->fill = v->fill;
        for (int a = 0; a < 3; ++a) t->lattice[a] = v->size[a] - 2, t->origin[a] = v->origin[a] + v->h;
        for (int l = 0; l < level_count; ++l) t->size[l] = ldexp(v->h, level_count - 1 - l);
        status = make_cells(t, v);
    }
    if (status == PLI_OK) {
        join_parents(t);
        fill_moments(t);
        fill_links(t);
        status = fill_walls(t);
    }
    if (status == PLI_OK) status = fill_potential(t);
    if (status == PLI_OK) return t;
    pli_refuse(err, status, "no memory for an octree of %u cells on its finest level", v->cell_count);
    pli_octree_tree_destroy(t);
    return NULL;
}
