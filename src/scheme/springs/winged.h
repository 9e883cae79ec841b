/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_WINGED_H
#define PLI_WINGED_H

// Winged-edge triangle surface: every question about neighbours is answered in constant time. Faces are traversed
// counter-clockwise seen from outside. A border edge has no right face.

#include <pliant/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct PliWing {
    PliIndex start, end;
    PliIndex left, right;          ///< faces; only `right` may be PLI_NONE
    PliIndex left_pred, left_succ; ///< edges before and after this one around the left face
    PliIndex right_pred, right_succ;
} PliWing;

typedef struct PliWinged {
    PliHost host;
    PliIndex vertex_count, edge_count, face_count;
    PliIndex border_count; ///< edges with one face
    PliWing *edge;
    PliIndex *vertex_edge; ///< where the fan around a vertex begins
    PliIndex *corner;      ///< shape [face_count, 3]
    PliIndex *side;        ///< shape [face_count, 3]: edge from corner i to corner i + 1
} PliWinged;

/// Turns triangles so that neighbours run against each other along their edge, the first of each piece as it is. Refuses a surface
/// with one side, and what pli_winged_create does about corners.
PliStatus pli_winged_orient(const PliHost *host, PliIndex vertex_count, PliIndex *tris, PliIndex tri_count,
                            PliError *err);
/// From triangles alike in orientation. Refuses repeated corners, edges of three triangles, sheets joined at a point, and
/// points no triangle uses. NULL with a sentence in `err`.
PliWinged *pli_winged_create(const PliHost *host, PliIndex vertex_count, const PliIndex *tris, PliIndex tri_count,
                             PliError *err);
/// Every triangle cut in four. Vertex v stays v, the one on edge e is vertex_count + e; children of face f are 4 f + i at
/// corner i and 4 f + 3 in the middle; halves of edge e are 2 e at its start and 2 e + 1; the edge that cuts corner i off
/// face f is 2 edge_count + 3 f + i.
PliWinged *pli_winged_subdivide(const PliWinged *mesh);
void pli_winged_destroy(PliWinged *mesh); ///< NULL is fine

/// Walks counter-clockwise around a vertex: the edge after `edge`, or PLI_NONE behind a border. A closed fan returns to
/// where it began. `face` (may be NULL) receives the face between the two.
static inline PliIndex pli_winged_next(const PliWinged *m, PliIndex vertex, PliIndex edge, PliIndex *face)
{
    const PliWing *w = &m->edge[edge];
    const PliIndex between = w->start == vertex ? w->left : w->right;
    if (face) *face = between;
    if (between == PLI_NONE) return PLI_NONE;
    return w->start == vertex ? w->left_pred : w->right_pred;
}
static inline PliIndex pli_winged_other(const PliWinged *m, PliIndex vertex, PliIndex edge)
{
    return m->edge[edge].start == vertex ? m->edge[edge].end : m->edge[edge].start;
}
/// Corner of `face` that is not on `edge`.
static inline PliIndex pli_winged_opposite(const PliWinged *m, PliIndex face, PliIndex edge)
{
    const PliIndex *s = m->side + 3 * (size_t)face, *c = m->corner + 3 * (size_t)face;
    return s[0] == edge ? c[2] : s[1] == edge ? c[0] : c[1];
}
bool pli_winged_is_valid(const PliWinged *mesh, PliError *err); ///< every wing against the faces; for tests

#ifdef __cplusplus
}
#endif
#endif
