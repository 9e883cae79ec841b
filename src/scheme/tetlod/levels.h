/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_LEVELS_H
#define PLI_LEVELS_H

// Levels of detail made of independent tetrahedral meshes of one body, coarse to fine (Debunne 2001, section 2).
// Nodes and tetrahedra of all levels are numbered one after another, level 0 (coarsest) first; node numbers are the
// body's dof numbers. Built once, constant afterwards.
//
// Volumes that have to add up whatever is live are whole numbers of `unit` (total volume / 2^56): sums are then exact,
// so an incremental update has the same bits as a rebuild, and a covered element has weight zero and not 1e-17.

#include <pliant/mesh.h>

enum { PLI_MAX_LEVELS = 8 };

typedef struct PliLevels {
    PliHost host;
    int level_count;
    PliIndex point_first[PLI_MAX_LEVELS + 1]; ///< nodes of level l: point_first[l] .. point_first[l+1]
    PliIndex tet_first[PLI_MAX_LEVELS + 1];
    PliIndex point_count, tet_count, finest_first; ///< finest_first: first node of the finest level
    double volume;                                 ///< m3, of the finest level
    double level_volume[PLI_MAX_LEVELS]; ///< m3, of each mesh as given (coarse meshes of curved bodies have less)
    double unit;                         ///< m3

    double *x;           ///< rest positions, [point_count, 3]
    uint8_t *level;      ///< of each node
    uint8_t *on_surface; ///< node lies on the boundary of its own mesh
    double *size;        ///< m, mean edge length around each node
    PliIndex *tets;      ///< [tet_count, 4], node numbers
    double *tet_volume;  ///< m3, geometric

    PliIndex *parent;              ///< nearest node one level coarser, PLI_NONE on level 0
    PliIndex *child_first, *child; ///< every node above the finest level has at least one child
    /// Tetrahedron that contains the node one level coarser / finer, or PLI_NONE; from tet_count on: a wide row (see repair).
    PliIndex *up, *down;
    double *up_weight, *down_weight;  ///< [point_count, 4], barycentric, extrapolated outside; exact zeros are not used
    PliIndex *wide_first, *wide_node; ///< rows of nodes that follow more than four, [wide_count + 1] and their nodes
    double *wide_weight;
    PliIndex wide_count;
    PliIndex *user_first, *user;         ///< nodes that follow this one, up or down, with a non-zero weight
    PliIndex *adjacent_first, *adjacent; ///< nodes of the same level joined by an edge of the *finest* mesh below them
    PliIndex *star_first, *star;         ///< tetrahedra of its own mesh around a node
    PliIndex *edge;                      ///< edges of the finest mesh, [edge_count, 2]
    PliIndex edge_count;

    /// Share of the body each tetrahedron stands for, in units: its own volume on the finest level, what finer ones give
    /// it on the others. Every level sums to the whole body, also where a coarse mesh of a curved body has less volume.
    int64_t *tet_share;
    PliIndex *cover_first, *cover; ///< coarser tetrahedra that a tetrahedron overlaps ...
    int64_t *cover_share;          ///< ... and how much of its share each of them holds, units
    int64_t *point_share;          ///< lumped volume of the finest nodes (0 elsewhere), units

    PliIndex stolen;         ///< coarse nodes that had no nearest finer node and were given one
    PliIndex empty_tets;     ///< coarse tetrahedra no finer one overlaps; they stand for nothing
    PliIndex repaired_nodes; ///< coarse nodes that would have carried no mass
    double worst_weight;     ///< most negative extrapolated weight
    uint64_t hash;           ///< of the meshes, key of the cache
} PliLevels;

/// Meshes of levels without points that no tetrahedron has, which are left out with a warning.
typedef struct PliTightLevels {
    const PliMesh *mesh[PLI_MAX_LEVELS]; ///< as given, or what was made of it
    PliMesh *made[PLI_MAX_LEVELS];
} PliTightLevels;
PliStatus pli_levels_tighten(const PliHost *host, const PliMesh *const *meshes, int count, PliTightLevels *out,
                             PliError *err);
void pli_levels_tight_free(PliTightLevels *t);

/// Refuses meshes that are not levels of one body with one clear sentence. Copies everything.
/// `cache` (may be NULL): a file the result is read from when it matches the meshes, and written to otherwise.
PliLevels *pli_levels_create(const PliHost *host, const PliMesh *const *meshes, int level_count, const char *cache,
                             PliError *err);
void pli_levels_destroy(PliLevels *levels); ///< NULL is fine

/// Whole-structure check, for tests: tree, weights, adjacency, shares.
bool pli_levels_is_valid(const PliLevels *levels, PliError *err);

PliLocator *pli_levels_locator(const PliLevels *h, int level); ///< in numbers of that level; NULL: no memory
/// The nodes one level coarser (`up`) or finer that a node follows when it is not active, and how many.
static inline PliIndex pli_levels_sources(const PliLevels *h, PliIndex node, bool up, const PliIndex **source,
                                          const double **weight)
{
    const PliIndex in = up ? h->up[node] : h->down[node];
    if (in < h->tet_count) {
        *source = h->tets + 4 * (size_t)in;
        *weight = (up ? h->up_weight : h->down_weight) + 4 * (size_t)node;
        return 4;
    }
    const PliIndex first = h->wide_first[in - h->tet_count];
    *source = h->wide_node + first;
    *weight = h->wide_weight + first;
    return h->wide_first[in - h->tet_count + 1] - first;
}

// ---- parts, each in its own file -----------------------------------------------------------------------------------

/// Volume common to two tetrahedra with corners a, b of shape [4, 3], both of positive volume.
double pli_tet_overlap(const double a[12], const double b[12]);
/// Fills tet_share, cover_first, cover, cover_share and point_share.
PliStatus pli_levels_overlap(PliLevels *levels, PliError *err);
/// Gives coarse nodes that would carry no mass their share, and says so in the log; where that fails, names level, node and place.
PliStatus pli_levels_repair(PliLevels *levels, PliError *err);
/// The arrays of the structure, for freeing and for the cache. Counts are only known once the arrays exist.
typedef struct PliLevelsArray {
    void **array;
    size_t count, size;
} PliLevelsArray;
enum { PLI_LEVELS_ARRAYS = 28 };
void pli_levels_arrays(PliLevels *levels, PliLevelsArray out[PLI_LEVELS_ARRAYS]);
/// Cache: a binary file of this build's byte order, refused (false) unless version, hash, sizes and checksum all match.
bool pli_levels_read_cache(PliLevels *levels, const char *path);
PliStatus pli_levels_write_cache(PliLevels *levels, const char *path, PliError *err);

#endif
