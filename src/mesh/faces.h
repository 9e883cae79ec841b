/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_FACES_H
#define PLI_FACES_H

#include <pliant/mesh.h>

/// Hash table of the faces of a set of tets. Build it, then ask which face lies on which three points.
typedef struct PliFaces {
    PliHost host;
    const PliIndex *tets;
    PliIndex *slot;      ///< face id + 1 (4 tet + local face), 0: empty
    unsigned char *uses; ///< tets on the face, saturates at 255
    size_t mask;
} PliFaces;
PliStatus pli_faces_init(PliFaces *faces, const PliHost *host, const PliIndex *tets, PliIndex tet_count);
void pli_faces_free(PliFaces *faces);
/// First face (lowest id 4 tet + local face) on these points, or PLI_NONE; *uses: how many tets share it (may be NULL).
PliIndex pli_faces_find(const PliFaces *faces, const PliIndex tri[3], unsigned *uses);
/// The corners of a face, outward for a tet of positive volume.
void pli_faces_corners(const PliIndex *tets, PliIndex face, PliIndex tri[3]);

#endif
