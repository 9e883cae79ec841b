/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_EVIDENCE_PRESS_H
#define PLI_EVIDENCE_PRESS_H

// A tool comes, presses a body and is held: what it feels then. One rig for every scheme.

#include <pliant/body.h>

typedef enum PliPressScheme { PLI_PRESS_FEM, PLI_PRESS_TETLOD, PLI_PRESS_FRAMES, PLI_PRESS_WAVELET } PliPressScheme;
enum { PLI_PRESS_SCHEMES = 4 };

typedef struct PliPressDef {
    PliPressScheme scheme;
    bool liver; ///< the shipped liver and a ball, 12 mm deep; else a box on its face and a plate, a tenth of its height
    PliIntegrator integrator;
    PliLinearSolver solver;
    PliMaterial material;
    double stiffness; ///< N/m3, of the tool; 0: a constraint
    double friction;
    bool adapt;
} PliPressDef;
/// Soft tissue, implicit, a factor, a frictionless constraint, nothing adapts.
PliPressDef pli_press_default(PliPressScheme scheme, bool liver);
const char *pli_press_name(PliPressScheme scheme);

/// N, on the tool at the end of the hold.
bool pli_press_run(const PliPressDef *def, double force[3], PliError *err);
/// The same with two tools that are stiff springs, extrapolated to a rigid one: no multiplier, no constraint.
bool pli_press_by_springs(const PliPressDef *def, double force[3], PliError *err);
extern const double pli_press_box_area, pli_press_box_stretch; ///< m2; height when pressed over height

#endif
