/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_PIECE_SEARCH_H
#define PLI_PIECE_SEARCH_H

// For every point of a surface in pieces the nearest triangle of another piece. Points remember what they found: as long as points
// have not moved far against each other, a point looks only at the triangles that can be nearest by now, and one that was far
// outside of everything does not look at all. The answer is always the exact one. Nothing here allocates after creation.

#include <pliant/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct PliPieceSearch PliPieceSearch;

typedef struct PliPieceHit {
    PliIndex tri;     ///< of another piece
    double w[3];      ///< weights of its corners: the nearest point
    double distance;  ///< m
    double side;      ///< 1: outside of that piece, -1: inside
    double normal[3]; ///< of the surface there, not of unit length; zero where it has none
} PliPieceHit;

/// `tris` and `piece` (of each point) are borrowed. `reach`, m: nothing farther is found; `slack`, m: how much distances may change
/// before a point looks at all triangles again.
PliPieceSearch *pli_piece_search_create(const PliHost *host, const double *rest, PliIndex points, const PliIndex *tris,
                                        PliIndex tri_count, const PliIndex *piece, PliIndex piece_count, double reach,
                                        double slack);
void pli_piece_search_destroy(PliPieceSearch *s); ///< NULL is fine
/// Points are at x now, borrowed until the next call. Points outside of the others by more than `near`, m, need not be found.
void pli_piece_search_move(PliPieceSearch *s, const double *x, double near);
/// What is nearest to point i. @return false: nothing within reach, or nothing near
bool pli_piece_search_nearest(PliPieceSearch *s, PliIndex i, PliPieceHit *out);
uint64_t pli_piece_search_looks(const PliPieceSearch *s); ///< points that had to look at all triangles, since creation

#ifdef __cplusplus
}
#endif
#endif
