/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "scheme/tetlod/levels.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/sorted.h"
#include "base/vec.h"
#include "mesh/nearest.h"
#include "mesh/tet.h"

// ---- checks of what the user gave ----------------------------------------------------------------------------------

static PliStatus check_meshes(const PliMesh *const *meshes, int count, PliError *err)
{
    if (count < 1 || count > PLI_MAX_LEVELS)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "tetlod: %d levels were given; it takes 1 to %d", count,
                          PLI_MAX_LEVELS);
    size_t points = 0, tets = 0;
    for (int l = 0; l < count; ++l) {
        const PliMesh *m = meshes[l];
        if (!m) return pli_refuse(err, PLI_BAD_ARGUMENT, "tetlod: level %d has no mesh", l);
        if (m->tet_count == 0)
            return pli_refuse(err, PLI_BAD_MESH, "tetlod: the mesh of level %d has no tetrahedra (%u points)", l,
                              m->point_count);
        for (size_t i = 0; i < 4 * (size_t)m->tet_count; ++i)
            if (m->tets[i] >= m->point_count)
                return pli_refuse(err, PLI_BAD_MESH,
                                  "tetlod: level %d: tetrahedron %zu uses point %u, but there are only %u", l, i / 4,
                                  m->tets[i], m->point_count);
        PliError why;
        const PliStatus status = pli_mesh_check_tets(m, 1e-4, &why);
        if (status != PLI_OK) return pli_refuse(err, status, "tetlod: level %d: %s", l, why.text);
        if (l > 0 && m->point_count <= meshes[l - 1]->point_count)
            return pli_refuse(
                err, PLI_BAD_MESH,
                "tetlod: level %d has %u points and level %d before it %u: give the levels coarse to fine", l,
                m->point_count, l - 1, meshes[l - 1]->point_count);
        points += m->point_count, tets += m->tet_count;
    }
    if (points >= PLI_NONE / 16 || tets >= PLI_NONE / 16)
        return pli_refuse(err, PLI_BAD_MESH,
                          "tetlod: %zu points and %zu tetrahedra are more than this build can number", points, tets);
    return PLI_OK;
}

// ---- concatenation -------------------------------------------------------------------------------------------------

static uint64_t hash_meshes(const PliMesh *const *meshes, int count)
{
    uint64_t h = pli_hash(PLI_HASH_SEED, &count, sizeof count);
    for (int l = 0; l < count; ++l) {
        h = pli_hash(h, &meshes[l]->point_count, sizeof meshes[l]->point_count);
        h = pli_hash(h, &meshes[l]->tet_count, sizeof meshes[l]->tet_count);
        h = pli_hash(h, meshes[l]->x, 3 * sizeof(double) * (size_t)meshes[l]->point_count);
        h = pli_hash(h, meshes[l]->tets, 4 * sizeof(PliIndex) * (size_t)meshes[l]->tet_count);
    }
    return h;
}

static PliStatus concatenate(PliLevels *h, const PliMesh *const *meshes, PliError *err)
{
    h->x = PLI_NEW(&h->host, 3 * (size_t)h->point_count, double);
    h->level = PLI_NEW(&h->host, h->point_count, uint8_t);
    h->tets = PLI_NEW(&h->host, 4 * (size_t)h->tet_count, PliIndex);
    h->tet_volume = PLI_NEW(&h->host, h->tet_count, double);
    if (!h->x || !h->level || !h->tets || !h->tet_volume) return PLI_OUT_OF_MEMORY;
    for (int l = 0; l < h->level_count; ++l) {
        const PliMesh *m = meshes[l];
        const PliIndex p0 = h->point_first[l], t0 = h->tet_first[l];
        memcpy(h->x + 3 * (size_t)p0, m->x, 3 * sizeof(double) * (size_t)m->point_count);
        memset(h->level + p0, l, m->point_count);
        for (PliIndex t = 0; t < m->tet_count; ++t) {
            PliIndex *corner = h->tets + 4 * (size_t)(t0 + t);
            for (int c = 0; c < 4; ++c) corner[c] = p0 + m->tets[4 * (size_t)t + c];
            h->tet_volume[t0 + t] = pli_tet_volume6(h->x, corner) / 6.0;
            if (!(h->tet_volume[t0 + t] > 0.0))
                return pli_refuse(err, PLI_BAD_MESH, "tetlod: level %d: tetrahedron %u is flat or inverted (volume %g)",
                                  l, t, h->tet_volume[t0 + t]);
            h->level_volume[l] += h->tet_volume[t0 + t];
        }
    }
    h->volume = h->level_volume[h->level_count - 1];
    h->unit = ldexp(h->volume, -56);
    return PLI_OK;
}

static PliStatus find_stars(PliLevels *h, PliError *err)
{
    h->star_first = PLI_NEW(&h->host, (size_t)h->point_count + 1, PliIndex);
    h->star = PLI_NEW(&h->host, 4 * (size_t)h->tet_count, PliIndex);
    if (!h->star_first || !h->star) return PLI_OUT_OF_MEMORY;
    const size_t corners = 4 * (size_t)h->tet_count;
    for (size_t i = 0; i < corners; ++i) h->star_first[h->tets[i] + 1]++;
    for (PliIndex p = 0; p < h->point_count; ++p) {
        if (h->star_first[p + 1] == 0) {
            const int l = h->level[p];
            return pli_refuse(err, PLI_BAD_MESH,
                              "tetlod: level %d: point %u belongs to no tetrahedron; remove it from the mesh", l,
                              p - h->point_first[l]);
        }
        h->star_first[p + 1] += h->star_first[p];
    }
    for (size_t i = corners; i-- > 0;) h->star[--h->star_first[h->tets[i] + 1]] = (PliIndex)(i / 4);
    for (PliIndex p = 0; p < h->point_count; ++p) h->star_first[p] = h->star_first[p + 1];
    h->star_first[h->point_count] = (PliIndex)corners;
    return PLI_OK;
}

static bool has_corner(const PliLevels *h, PliIndex tet, PliIndex node)
{
    const PliIndex *c = h->tets + 4 * (size_t)tet;
    return c[0] == node || c[1] == node || c[2] == node || c[3] == node;
}

/// Surface flags, sizes, edges of the finest mesh.
static PliStatus find_edges(PliLevels *h)
{
    h->on_surface = PLI_NEW(&h->host, h->point_count, uint8_t);
    h->size = PLI_NEW(&h->host, h->point_count, double);
    PliIndex *mark = PLI_NEW(&h->host, h->point_count, PliIndex);
    PliIndex *edge = NULL;
    size_t edges = 0, capacity = 0;
    bool ok = h->on_surface && h->size && mark;
    for (PliIndex p = 0; ok && p < h->point_count; ++p) {
        double length = 0.0;
        PliIndex degree = 0;
        for (PliIndex s = h->star_first[p]; s < h->star_first[p + 1]; ++s)
            for (int c = 0; c < 4; ++c) {
                const PliIndex q = h->tets[4 * (size_t)h->star[s] + c];
                if (q == p || mark[q] == p + 1) continue;
                mark[q] = p + 1;
                length += v3_distance(h->x + 3 * (size_t)p, h->x + 3 * (size_t)q);
                degree++;
                if (q < p || p < h->finest_first) continue;
                if (!(ok = PLI_GROW(&h->host, edge, edges + 1, capacity))) break;
                edge[edges++] = p, edge[edges++] = q;
            }
        h->size[p] = length / (double)degree;
    }
    PLI_FREE(&h->host, mark, h->point_count);
    // growth doubles a byte-sized block; keep an exact copy so that counts describe the array
    if (ok) {
        h->edge = PLI_NEW(&h->host, edges, PliIndex);
        h->edge_count = (PliIndex)(edges / 2);
        ok = h->edge != NULL;
        if (ok) memcpy(h->edge, edge, edges * sizeof *edge);
    }
    if (edge) PLI_FREE(&h->host, edge, capacity);
    if (!ok) return PLI_OUT_OF_MEMORY;

    // a face is on the boundary when no other tetrahedron around its first corner has it
    for (PliIndex t = 0; t < h->tet_count; ++t)
        for (int f = 0; f < 4; ++f) {
            const PliIndex *c = h->tets + 4 * (size_t)t;
            const PliIndex a = c[pli_tet_face[f][0]], b = c[pli_tet_face[f][1]], d = c[pli_tet_face[f][2]];
            bool shared = false;
            for (PliIndex s = h->star_first[a]; s < h->star_first[a + 1] && !shared; ++s)
                shared = h->star[s] != t && has_corner(h, h->star[s], b) && has_corner(h, h->star[s], d);
            if (!shared) h->on_surface[a] = h->on_surface[b] = h->on_surface[d] = 1;
        }
    return PLI_OK;
}

// ---- the tree: Voronoi parents ---------------------------------------------------------------------------------------

typedef struct StealArg {
    const PliLevels *h;
    const PliIndex *children; ///< count per node
    PliIndex base;
} StealArg;

/// A finer node may be taken from its parent only if that one keeps another: otherwise stealing would cascade.
static bool may_be_stolen(PliIndex i, void *user)
{
    const StealArg *s = user;
    return s->children[s->h->parent[s->base + i]] >= 2;
}

static PliStatus find_parents(PliLevels *h)
{
    h->parent = PLI_NEW(&h->host, h->point_count, PliIndex);
    h->child_first = PLI_NEW(&h->host, (size_t)h->point_count + 1, PliIndex);
    PliIndex *children = PLI_NEW(&h->host, h->point_count, PliIndex);
    const PliIndex coarsest = h->point_first[1];
    h->child = PLI_NEW(&h->host, h->point_count - coarsest, PliIndex);
    PliStatus status = h->parent && h->child_first && children && h->child ? PLI_OK : PLI_OUT_OF_MEMORY;
    for (PliIndex p = 0; status == PLI_OK && p < coarsest; ++p) h->parent[p] = PLI_NONE;

    for (int l = 1; l < h->level_count && status == PLI_OK; ++l) {
        const PliIndex coarse = h->point_first[l - 1], fine = h->point_first[l], end = h->point_first[l + 1];
        PliNearest near;
        status = pli_nearest_init(&near, &h->host, h->x + 3 * (size_t)coarse, fine - coarse);
        if (status != PLI_OK) break;
        for (PliIndex p = fine; p < end; ++p) {
            h->parent[p] = coarse + pli_nearest_find(&near, h->x + 3 * (size_t)p, NULL, NULL);
            children[h->parent[p]]++;
        }
        pli_nearest_free(&near);

        bool childless = false;
        for (PliIndex p = coarse; p < fine; ++p) childless |= children[p] == 0;
        if (!childless) continue;
        status = pli_nearest_init(&near, &h->host, h->x + 3 * (size_t)fine, end - fine);
        if (status != PLI_OK) break;
        StealArg arg = { h, children, fine };
        for (PliIndex p = coarse; p < fine; ++p) {
            if (children[p] != 0) continue;
            // a finer level has more nodes, so some parent always has two children
            const PliIndex taken = fine + pli_nearest_find(&near, h->x + 3 * (size_t)p, may_be_stolen, &arg);
            children[h->parent[taken]]--;
            h->parent[taken] = p;
            children[p] = 1;
            h->stolen++;
        }
        pli_nearest_free(&near);
    }
    if (status == PLI_OK) {
        for (PliIndex p = 0; p < h->point_count; ++p) h->child_first[p + 1] = h->child_first[p] + children[p];
        for (PliIndex p = h->point_count; p-- > coarsest;) {
            const PliIndex q = h->parent[p];
            h->child[h->child_first[q] + --children[q]] = p;
        }
    }
    PLI_FREE(&h->host, children, h->point_count);
    return status;
}

// ---- containing tetrahedra one level up and down ---------------------------------------------------------------------

PliLocator *pli_levels_locator(const PliLevels *h, int l)
{
    const PliIndex p0 = h->point_first[l], t0 = h->tet_first[l], tets = h->tet_first[l + 1] - t0;
    PliIndex *local = PLI_NEW(&h->host, 4 * (size_t)tets, PliIndex);
    if (!local) return NULL;
    for (size_t i = 0; i < 4 * (size_t)tets; ++i) local[i] = h->tets[4 * (size_t)t0 + i] - p0;
    PliLocator *locator = pli_locator_create(&h->host, h->x + 3 * (size_t)p0, h->point_first[l + 1] - p0, local, tets);
    PLI_FREE(&h->host, local, 4 * (size_t)tets);
    return locator;
}

/// Nodes of level `of` in the tetrahedra of level `in`.
static PliStatus locate_level(PliLevels *h, int of, int in, PliIndex *where, double *weight)
{
    const PliIndex t0 = h->tet_first[in];
    PliLocator *locator = pli_levels_locator(h, in);
    if (!locator) return PLI_OUT_OF_MEMORY;
    for (PliIndex p = h->point_first[of]; p < h->point_first[of + 1]; ++p) {
        double *w = weight + 4 * (size_t)p;
        PliIndex tet = 0;
        pli_locator_find(locator, h->x + 3 * (size_t)p, &tet, w);
        where[p] = t0 + tet;
        // nodes on a shared face or edge: rounding noise would only add dependencies (and cycles) that mean nothing
        int largest = 0;
        double sum = 0.0;
        for (int c = 0; c < 4; ++c) {
            if (fabs(w[c]) < 1e-13) w[c] = 0.0;
            if (w[c] > w[largest]) largest = c;
            if (w[c] < h->worst_weight) h->worst_weight = w[c];
        }
        for (int c = 0; c < 4; ++c) sum += c == largest ? 0.0 : w[c];
        w[largest] = 1.0 - sum;
    }
    pli_locator_destroy(locator);
    return PLI_OK;
}

static void visit_users(PliLevels *h, bool fill)
{
    for (PliIndex p = 0; p < h->point_count; ++p)
        for (int side = 0; side < 2; ++side) {
            if ((side ? h->down[p] : h->up[p]) == PLI_NONE) continue;
            const PliIndex *from;
            const double *w;
            const PliIndex n = pli_levels_sources(h, p, !side, &from, &w);
            for (PliIndex c = 0; c < n; ++c) {
                if (w[c] == 0.0) continue;
                const PliIndex q = from[c];
                if (fill)
                    h->user[h->user_first[q]++] = p;
                else
                    h->user_first[q + 1]++;
            }
        }
}

static PliStatus find_containers(PliLevels *h)
{
    h->up = PLI_NEW(&h->host, h->point_count, PliIndex);
    h->down = PLI_NEW(&h->host, h->point_count, PliIndex);
    h->up_weight = PLI_NEW(&h->host, 4 * (size_t)h->point_count, double);
    h->down_weight = PLI_NEW(&h->host, 4 * (size_t)h->point_count, double);
    if (!h->up || !h->down || !h->up_weight || !h->down_weight) return PLI_OUT_OF_MEMORY;
    for (PliIndex p = 0; p < h->point_count; ++p) h->up[p] = h->down[p] = PLI_NONE;
    for (int l = 0; l + 1 < h->level_count; ++l) {
        PliStatus status = locate_level(h, l + 1, l, h->up, h->up_weight);
        if (status == PLI_OK) status = locate_level(h, l, l + 1, h->down, h->down_weight);
        if (status != PLI_OK) return status;
    }
    return PLI_OK;
}

static PliStatus find_users(PliLevels *h)
{
    h->user_first = PLI_NEW(&h->host, (size_t)h->point_count + 1, PliIndex);
    if (!h->user_first) return PLI_OUT_OF_MEMORY;
    visit_users(h, false);
    for (PliIndex p = 0; p < h->point_count; ++p) h->user_first[p + 1] += h->user_first[p];
    const PliIndex total = h->user_first[h->point_count];
    h->user = PLI_NEW(&h->host, total, PliIndex);
    if (!h->user) return PLI_OUT_OF_MEMORY;
    visit_users(h, true);
    for (PliIndex p = h->point_count; p > 0; --p) h->user_first[p] = h->user_first[p - 1];
    h->user_first[0] = 0;
    return PLI_OK;
}

// ---- finest-mesh adjacency, seen from every level ----------------------------------------------------------------------

/// Quotient graphs of the finest mesh: two nodes of a level are adjacent when an edge of the finest mesh joins something
/// below one to something below the other. Balance is stated on these, not on the edges of the coarse meshes: checking
/// coarse edges gives false alarms, because the meshes are not nested.
static PliStatus find_adjacency(PliLevels *h)
{
    const PliIndex n = h->point_count;
    h->adjacent_first = PLI_NEW(&h->host, (size_t)n + 1, PliIndex);
    PliIndex *mark = PLI_NEW(&h->host, n, PliIndex), *list = NULL, *at = PLI_NEW(&h->host, n, PliIndex);
    size_t used = 0, capacity = 0;
    bool ok = h->adjacent_first && mark && at;
    // finest level first, because each level is made from the next finer one; lists go to a pool and are moved afterwards
    for (int l = h->level_count - 1; ok && l >= 0; --l)
        for (PliIndex p = h->point_first[l]; ok && p < h->point_first[l + 1]; ++p) {
            const size_t start = used;
            at[p] = (PliIndex)start;
            mark[p] = p + 1;
            if (l == h->level_count - 1) {
                for (PliIndex s = h->star_first[p]; ok && s < h->star_first[p + 1]; ++s)
                    for (int c = 0; c < 4; ++c) {
                        const PliIndex q = h->tets[4 * (size_t)h->star[s] + c];
                        if (mark[q] == p + 1) continue;
                        mark[q] = p + 1;
                        if (!(ok = PLI_GROW(&h->host, list, used, capacity))) break;
                        list[used++] = q;
                    }
            } else {
                for (PliIndex c = h->child_first[p]; ok && c < h->child_first[p + 1]; ++c) {
                    const PliIndex child = h->child[c], count = h->adjacent_first[child + 1];
                    for (PliIndex k = 0; k < count; ++k) {
                        const PliIndex q = h->parent[list[at[child] + k]];
                        if (mark[q] == p + 1) continue;
                        mark[q] = p + 1;
                        if (!(ok = PLI_GROW(&h->host, list, used, capacity))) break;
                        list[used++] = q;
                    }
                }
            }
            if (!ok) break;
            pli_sort_short(list + start, (PliIndex)(used - start));
            h->adjacent_first[p + 1] = (PliIndex)(used - start); // a count until the end
        }
    if (ok) {
        h->adjacent = PLI_NEW(&h->host, used, PliIndex);
        ok = h->adjacent != NULL;
    }
    if (ok)
        for (PliIndex p = 0; p < n; ++p) {
            const PliIndex count = h->adjacent_first[p + 1];
            memcpy(h->adjacent + h->adjacent_first[p], list + at[p], count * sizeof *list);
            h->adjacent_first[p + 1] = h->adjacent_first[p] + count;
        }
    PLI_FREE(&h->host, mark, n);
    PLI_FREE(&h->host, at, n);
    if (list) PLI_FREE(&h->host, list, capacity);
    return ok ? PLI_OK : PLI_OUT_OF_MEMORY;
}

// ---- creation ------------------------------------------------------------------------------------------------------------

void pli_levels_arrays(PliLevels *h, PliLevelsArray out[PLI_LEVELS_ARRAYS])
{
    const size_t n = h->point_count, t = h->tet_count;
#define LIST(field, length)                                                                                            \
    {                                                                                                                  \
        (void **)&h->field, (length), sizeof *h->field                                                                 \
    }
    const PliLevelsArray all[PLI_LEVELS_ARRAYS] = {
        LIST(x, 3 * n),
        LIST(level, n),
        LIST(on_surface, n),
        LIST(size, n),
        LIST(tets, 4 * t),
        LIST(tet_volume, t),
        LIST(parent, n),
        LIST(child_first, n + 1),
        LIST(child, n - h->point_first[1]),
        LIST(up, n),
        LIST(down, n),
        LIST(up_weight, 4 * n),
        LIST(down_weight, 4 * n),
        LIST(wide_first, (size_t)h->wide_count + 1),
        LIST(wide_node, h->wide_first ? h->wide_first[h->wide_count] : 0),
        LIST(wide_weight, h->wide_first ? h->wide_first[h->wide_count] : 0),
        LIST(user_first, n + 1),
        LIST(user, h->user_first ? h->user_first[n] : 0),
        LIST(adjacent_first, n + 1),
        LIST(adjacent, h->adjacent_first ? h->adjacent_first[n] : 0),
        LIST(star_first, n + 1),
        LIST(star, 4 * t),
        LIST(edge, 2 * (size_t)h->edge_count),
        LIST(tet_share, t),
        LIST(cover_first, t + 1),
        LIST(cover, h->cover_first ? h->cover_first[t] : 0),
        LIST(cover_share, h->cover_first ? h->cover_first[t] : 0),
        LIST(point_share, n),
    };
#undef LIST
    memcpy(out, all, sizeof all);
}

void pli_levels_destroy(PliLevels *h)
{
    if (!h) return;
    PliHost host = h->host;
    PliLevelsArray arrays[PLI_LEVELS_ARRAYS];
    pli_levels_arrays(h, arrays);
    for (int i = 0; i < PLI_LEVELS_ARRAYS; ++i) pli_free(&host, *arrays[i].array, arrays[i].count, arrays[i].size);
    PLI_FREE(&host, h, 1);
}

static PliStatus build(PliLevels *h, const PliMesh *const *meshes, PliError *err)
{
    PliStatus status = concatenate(h, meshes, err);
    if (status == PLI_OK) status = find_stars(h, err);
    if (status == PLI_OK) status = find_edges(h);
    if (status == PLI_OK) status = find_parents(h);
    if (status == PLI_OK) status = find_containers(h);
    if (status == PLI_OK) status = find_adjacency(h);
    if (status == PLI_OK) status = pli_levels_overlap(h, err);
    if (status == PLI_OK) status = pli_levels_repair(h, err);
    if (status == PLI_OK) status = find_users(h);
    if (status == PLI_OUT_OF_MEMORY)
        pli_refuse(err, status, "tetlod: no memory for a hierarchy of %u nodes", h->point_count);
    return status;
}

PliLevels *pli_levels_create(const PliHost *host, const PliMesh *const *meshes, int level_count, const char *cache,
                             PliError *err)
{
    if (check_meshes(meshes, level_count, err) != PLI_OK) return NULL;
    PliLevels *h = PLI_NEW(host, 1, PliLevels);
    if (!h) {
        pli_refuse(err, PLI_OUT_OF_MEMORY, "tetlod: no memory for the hierarchy");
        return NULL;
    }
    h->host = *host;
    h->level_count = level_count;
    for (int l = 0; l < level_count; ++l) {
        h->point_first[l + 1] = h->point_first[l] + meshes[l]->point_count;
        h->tet_first[l + 1] = h->tet_first[l] + meshes[l]->tet_count;
    }
    h->point_count = h->point_first[level_count];
    h->tet_count = h->tet_first[level_count];
    h->finest_first = h->point_first[level_count - 1];
    h->hash = hash_meshes(meshes, level_count);

    if (cache && *cache && pli_levels_read_cache(h, cache)) return h;
    if (build(h, meshes, err) != PLI_OK) {
        pli_levels_destroy(h);
        return NULL;
    }
    if (cache && *cache) {
        // a cache that cannot be written costs time, not results
        PliError why;
        if (pli_levels_write_cache(h, cache, &why) != PLI_OK && host->log)
            host->log(PLI_LOG_WARNING, why.text, host->user);
    }
    return h;
}
