/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_SPRINGS_CUT_H
#define PLI_SPRINGS_CUT_H

// Which triangles of a pyramid are simulated. The choice is a set of *stars*: a star is a vertex at a level, and in the set
// the triangles of that level around it are cut in four. All else follows from the set alone, never from its history, so that
// taking a star out undoes putting it in: a triangle with one cut side is cut in two, one with more in four, and neighbours
// differ by one level at most.

#include "scheme/springs/pyramid.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct PliSpringsCut {
    PliHost host;
    const PliPyramid *pyramid;
    PliIndex star_first[PLI_PYRAMID_LEVELS + 1]; ///< star of vertex v at level l: star_first[l] + v
    PliIndex star_count;
    uint8_t *star;            ///< per star: 1 in the set
    PliIndex *chosen, *place; ///< stars in the set, and where each is in that list
    PliIndex chosen_count;

    // ---- what follows ------------------------------------------------------------------------------------------------
    PliIndex *red[PLI_PYRAMID_LEVELS]; ///< triangles cut in four, any order
    PliIndex red_count[PLI_PYRAMID_LEVELS];
    uint8_t *is_red[PLI_PYRAMID_LEVELS], *is_split[PLI_PYRAMID_LEVELS]; ///< per face, per edge
    uint8_t *is_active;                                                 ///< per vertex
    PliIndex *active, *position;                                        ///< ascending; position[v] in it, or PLI_NONE
    PliIndex active_count;
    PliIndex *tri; ///< shape [tri_count, 3]: triangles, vertex numbers
    PliIndex tri_count;
    PliIndex *spring;  ///< shape [spring_count, 2]
    double *stiffness; ///< N/m each
    double *length;    ///< m each, at rest
    PliIndex spring_count, tri_capacity, spring_capacity;
    double *mass; ///< kg, per vertex of the finest level; 0 where passive

    // ---- what never changes --------------------------------------------------------------------------------------------
    double *base_stiffness; ///< N/m, shape [faces of the base, 3]: what a triangle adds to the springs on its sides
    double *level_mass;     ///< kg, per vertex: what it weighs in the uniform mesh of the level it begins at
    PliIndex edge_first[PLI_PYRAMID_LEVELS + 1]; ///< edges counted through all levels
    PliIndex *spring_at, *spring_edge;           ///< per edge: its spring, or PLI_NONE; per spring: its edge, or
                                                 ///< PLI_NONE where it cuts a triangle in two
} PliSpringsCut;

/// `stiffness` as base_stiffness, `mass` per vertex of the finest level; both are copied.
PliSpringsCut *pli_springs_cut_create(const PliHost *host, const PliPyramid *p, const double *stiffness,
                                      const double *mass);
void pli_springs_cut_destroy(PliSpringsCut *c); ///< NULL is fine
void pli_springs_cut_clear(PliSpringsCut *c);   ///< no star: the base
/// Puts a star into the set or takes it out; nothing else changes until refresh.
void pli_springs_cut_choose(PliSpringsCut *c, PliIndex star, bool in);
/// Works out what follows. Never allocates.
void pli_springs_cut_refresh(PliSpringsCut *c);
static inline int pli_springs_star_level(const PliSpringsCut *c, PliIndex star)
{
    int l = 0;
    while (star >= c->star_first[l + 1]) ++l;
    return l;
}
/// Passive vertices from active ones, whole array.
void pli_springs_follow(const PliSpringsCut *c, double *x);
/// Triangles that fit together without a T-junction, springs and masses that go with them. For tests.
bool pli_springs_cut_is_valid(const PliSpringsCut *c, PliError *err);

#ifdef __cplusplus
}
#endif
#endif
