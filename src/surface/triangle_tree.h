/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_TRIANGLE_TREE_H
#define PLI_TRIANGLE_TREE_H

// Triangles of a moving surface in a tree of boxes. The tree is made once, at rest, and refitted to every state; nothing here
// allocates after creation.

#include <pliant/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Point of a triangle nearest to p, as weights of its corners. @return square of the distance
double pli_closest_on_triangle(const double p[3], const double *a, const double *b, const double *c, double w[3]);
double pli_distance_to_triangle(const double p[3], const double a[3], const double b[3], const double c[3]);

typedef struct PliTriangleTree PliTriangleTree;
PliTriangleTree *pli_triangle_tree_create(const PliHost *host, const double *rest, PliIndex count, const PliIndex *tris,
                                          PliIndex tri_count);        ///< copies; NULL: no memory
void pli_triangle_tree_destroy(PliTriangleTree *tree);                ///< NULL is fine
void pli_triangle_tree_refit(PliTriangleTree *tree, const double *x); ///< borrows x until the next refit
/// Smallest distance from p to the surface, or `bound` when nothing is closer.
double pli_triangle_tree_distance(const PliTriangleTree *tree, const double p[3], double bound);
/// Nearest triangle whose squared distance is below *square, or PLI_NONE; it lowers *square and fills w. Of equals the one with the
/// least number.
PliIndex pli_triangle_tree_nearest(const PliTriangleTree *tree, const double p[3], double *square, double w[3]);
/// Triangles not farther than `radius`, in the order of the tree. @return how many there are; at most `capacity` are written
PliIndex pli_triangle_tree_within(const PliTriangleTree *tree, const double p[3], double radius, PliIndex *out,
                                  PliIndex capacity);
/// Symmetric Hausdorff distance of two states of one surface, taken at the points of each against the triangles of the other.
/// Never larger than the largest distance of corresponding points. Refits the tree.
double pli_hausdorff(PliTriangleTree *tree, const double *a, const double *b);

#ifdef __cplusplus
}
#endif
#endif
