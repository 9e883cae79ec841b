/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// A plate presses a box in implicit steps and is held. Without lateral contraction the box is a bar: the force has a closed form.
#include <math.h>
#include <stdlib.h>

#include "base/vec.h"
#include "evidence/press.h"
#include "evidence/verify.h"

static void against_bar(PliVerifyResult *r, PliPressScheme scheme, PliLinearSolver solver)
{
    PliPressDef def = pli_press_default(scheme, false);
    def.material.law = PLI_STVK;
    def.material.poisson = 0.0;
    def.solver = solver;
    double force[3];
    PliError err = { PLI_OK, "" };
    if (!pli_press_run(&def, force, &err)) {
        pli_verify_broken(r, "%s", err.text);
        return;
    }
    const double l = pli_press_box_stretch,
                 expected = 0.5 * l * (1.0 - l * l) * def.material.young * pli_press_box_area;
    pli_verify_note(r, "N on the plate; sideways %.1e", sqrt(force[0] * force[0] + force[2] * force[2]));
    pli_verify_relative(r, expected, force[1], 1e-3);
}

static void fem_plate(PliVerifyResult *r) { against_bar(r, PLI_PRESS_FEM, PLI_SOLVE_LDL); }
static void fem_plate_cg(PliVerifyResult *r) { against_bar(r, PLI_PRESS_FEM, PLI_SOLVE_CG); }
static void tetlod_plate(PliVerifyResult *r) { against_bar(r, PLI_PRESS_TETLOD, PLI_SOLVE_LDL); }
static void wavelet_plate(PliVerifyResult *r) { against_bar(r, PLI_PRESS_WAVELET, PLI_SOLVE_AUTO); }

static void frames_plate(PliVerifyResult *r)
{
    const PliPressDef def = pli_press_default(PLI_PRESS_FRAMES, false);
    double force[3], expected[3];
    PliError err = { PLI_OK, "" };
    if (!pli_press_run(&def, force, &err) || !pli_press_by_springs(&def, expected, &err)) {
        pli_verify_broken(r, "%s", err.text);
        return;
    }
    pli_verify_note(r, "N on the plate, against stiff springs");
    pli_verify_relative(r, expected[1], force[1], 5e-3);
}

const PliVerifyCase pli_verify_contact_cases[] = {
    { "fem", "held plate, implicit", fem_plate },       { "fem", "held plate, implicit with CG", fem_plate_cg },
    { "tetlod", "held plate, implicit", tetlod_plate }, { "frames", "held plate", frames_plate },
    { "wavelet", "held plate", wavelet_plate },         { 0 },
};
