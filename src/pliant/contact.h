/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLIANT_CONTACT_H
#define PLIANT_CONTACT_H

// Forces on the skin of a body that hosts lend to its steps (PliState.points): contact between the separate pieces of one body,
// and attraction to a target surface. They act on coefficients of the finest level, so that a scheme can judge with them what is
// passive now. One thing for all hosts; nothing here allocates after creation.
// Contact between pieces is a pressure that grows with depth, taken at the end of an implicit step, with springs that slide as
// friction; tools are constraints (PliTool).

#include <pliant/stages.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Pieces of the skin that no triangle connects push each other out.
typedef struct PliPiecesDef {
    double stiffness; ///< N/m3, pressure per depth; 0: from the material
    double thickness; ///< m, distance at which pieces begin to push
    double friction;  ///< Coulomb coefficient
} PliPiecesDef;
PLI_API PliPiecesDef pli_pieces_default(void); ///< stiffness from the material, no friction

typedef enum PliMatch { PLI_MATCH_CLOSEST, PLI_MATCH_INDEX } PliMatch;
/// Every skin point is drawn to a point of the target.
typedef struct PliTargetDef {
    double stiffness; ///< N/m3, traction per distance; 0: from the material
    PliMatch match;   ///< the closest point of the surface, or the point of the same number
} PliTargetDef;
PLI_API PliTargetDef pli_target_default(void); ///< stiffness from the material, closest points

typedef struct PliSkinForce PliSkinForce;
/// Pieces of the body's skin push each other where they touch.
PLI_API PliSkinForce *pli_skin_force_pieces(const PliHost *host, const PliBody *body, const PliPiecesDef *def,
                                            PliError *err);
/// Target points and triangles are copied.
PLI_API PliSkinForce *pli_skin_force_target(const PliHost *host, const PliBody *body, const PliTargetDef *def,
                                            const PliMesh *target, PliError *err);
PLI_API void pli_skin_force_destroy(PliSkinForce *o); ///< NULL is fine

PLI_API void pli_skin_force_begin(PliSkinForce *o, double dt); ///< length of the step to come
PLI_API PliIndex
pli_skin_force_capacity(const PliSkinForce *o); ///< most points it acts on, for pli_body_reserve_points
/// Forces at x and v, dof_count Vec3 each, until the next call. @return its own list, whose `next` is the caller's to set
PLI_API PliPointForces *pli_skin_force_points(PliSkinForce *o, const double *x, const double *v);
/// Target: RMS distance of the skin from what it is drawn to, m. Pieces: deepest contact, m. Of the last force.
PLI_API double pli_skin_force_measure(const PliSkinForce *o);
PLI_API const char *pli_skin_force_measure_name(const PliSkinForce *o); ///< "distance" or "depth"

#ifdef __cplusplus
}
#endif
#endif
