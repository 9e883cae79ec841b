/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_TET_H
#define PLI_TET_H

#include <pliant/mesh.h>

#include "base/vec.h"

/// Faces of a tetrahedron of positive volume, seen from outside; face k leaves out corner 3 - k.
static const unsigned char pli_tet_face[4][3] = { { 0, 2, 1 }, { 0, 1, 3 }, { 0, 3, 2 }, { 1, 2, 3 } };
static const unsigned char pli_tet_edge[6][2] = { { 0, 1 }, { 0, 2 }, { 0, 3 }, { 1, 2 }, { 1, 3 }, { 2, 3 } };

/// Six times the signed volume.
static inline double pli_tet_volume6(const double *x, const PliIndex tet[4])
{
    const double *o = x + 3 * (size_t)tet[0];
    double a[3], b[3], c[3], n[3];
    v3_sub(a, x + 3 * (size_t)tet[1], o);
    v3_sub(b, x + 3 * (size_t)tet[2], o);
    v3_sub(c, x + 3 * (size_t)tet[3], o);
    v3_cross(n, a, b);
    return v3_dot(n, c);
}

/// 6 sqrt(2) V / l_rms^3: 1 for the regular tetrahedron, 0 flat, negative inverted; NaN when all corners coincide.
static inline double pli_tet_quality(const double *x, const PliIndex tet[4])
{
    double sum = 0.0;
    for (int e = 0; e < 6; ++e) {
        double d[3];
        v3_sub(d, x + 3 * (size_t)tet[pli_tet_edge[e][0]], x + 3 * (size_t)tet[pli_tet_edge[e][1]]);
        sum += v3_dot(d, d);
    }
    const double rms = sqrt(sum / 6.0);
    return 1.4142135623730951 * pli_tet_volume6(x, tet) / (rms * rms * rms);
}

/// Ascending, by a network of five exchanges.
static inline void pli_tet_sort(PliIndex c[4])
{
    static const unsigned char pair[5][2] = { { 0, 1 }, { 2, 3 }, { 0, 2 }, { 1, 3 }, { 1, 2 } };
    for (int k = 0; k < 5; ++k) {
        const PliIndex a = c[pair[k][0]], b = c[pair[k][1]];
        c[pair[k][0]] = a < b ? a : b;
        c[pair[k][1]] = a < b ? b : a;
    }
}

#endif
