/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_QUALITY_H
#define PLI_QUALITY_H

// How good the tetrahedra of a mesh are, and what the worst of them cost.

#include <pliant/mesh.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { PLI_QUALITY_BINS = 10, PLI_WORST_TETS = 3 };

typedef struct PliQuality {
    PliIndex points, tets;
    double volume;
    double least_quality, mean_quality;     ///< 6 sqrt 2 V / l_rms^3: 1 for the regular tetrahedron
    PliIndex bins[PLI_QUALITY_BINS];        ///< how many per tenth of quality
    double least_altitude, median_altitude; ///< m; explicit steps are in proportion to the least one
    PliIndex slivers;                       ///< altitude below a quarter of the median
    PliIndex worst[PLI_WORST_TETS];         ///< those with the least altitudes, worst first
    double worst_altitude[PLI_WORST_TETS], worst_at[PLI_WORST_TETS][3];
} PliQuality;

/// False: no memory, or no tetrahedra.
bool pli_quality_find(const PliHost *host, const PliMesh *mesh, PliQuality *out);
/// Times as many explicit steps as a mesh whose every altitude is at least a quarter of the median would need, at least 1.
double pli_quality_cost(const PliQuality *q);

#ifdef __cplusplus
}
#endif
#endif
