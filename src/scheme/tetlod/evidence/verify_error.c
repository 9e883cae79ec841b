/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Is the estimated error the true one? The effectivity under several loads; the finest level by itself is the truth.
#include <math.h>

#include "base/vec.h"
#include "evidence/verify.h"
#include "scheme/tetlod/evidence/rig.h"

typedef struct Load {
    bool held;      ///< by the face x = 0
    double gravity; ///< m/s2, along y
    bool plates;    ///< a floor, and one that comes from above by a tenth
    double ball;    ///< m, how deep it presses the face y = 1
} Load;

static const double DT = 0.01, DOWN = 0.3; ///< s, of a step, and until tools are there
enum { STEPS = 80, LEVELS = 3 };

static bool make(PliTetLodRig *g, const Load *load, const PliIndex *cells, int count, double accuracy, PliError *err)
{
    bool ok = true;
    for (int l = 0; l < count; ++l) ok = ok && pli_rig_add_box(g, cells[l], 1.0, false, err);
    PliTetLodDef def = pli_rig_def();
    def.base.material.young = 1e5;
    def.base.mass_damping = 8.0;
    def.base.gravity[1] = -load->gravity;
    def.base.adapt = accuracy > 0.0;
    def.base.criterion.accuracy = accuracy;
    ok = ok && pli_rig_open(g, def, err);
    return ok && (!load->held || pli_rig_clamp(g, 0, 1e-9, err));
}

static int place_tools(const Load *load, int step, PliTool tool[2])
{
    const double share = fmin(1.0, step * DT / DOWN), speed = share < 1.0 ? 1.0 / DOWN : 0.0;
    if (load->plates) {
        tool[0].shape = tool[1].shape = PLI_TOOL_PLANE;
        tool[0].other[1] = 1.0, tool[1].other[1] = -1.0;
        tool[0].friction = tool[1].friction = 0.5;
        tool[1].position[1] = 1.0 - 0.1 * share, tool[1].velocity[1] = -0.1 * speed;
        return 2;
    }
    if (!(load->ball > 0.0)) return 0;
    tool[0].shape = PLI_TOOL_SPHERE, tool[0].radius = 0.3;
    tool[0].position[0] = 0.6, tool[0].position[1] = 1.3 - load->ball * share, tool[0].position[2] = 0.5;
    tool[0].velocity[1] = -load->ball * speed;
    return 1;
}

/// Estimated over true error: RMS of the finest nodes over the largest displacement, over the whole run as the estimate has it.
static void effectivity(PliVerifyResult *r, const Load *load)
{
    static const PliIndex cells[LEVELS] = { 2, 4, 10 };
    PliError err = { PLI_OK, "" };
    PliTetLodRig body = { 0 }, truth = { 0 };
    PliTool tool[2][2] = { 0 };
    double square = 0.0, largest = 0.0;
    bool ok = make(&body, load, cells, LEVELS, 15.0, &err) && make(&truth, load, cells + LEVELS - 1, 1, 0.0, &err);
    for (int i = 0; ok && i < STEPS; ++i) {
        PliTetLodRig *rig[2] = { &body, &truth };
        for (int k = 0; k < 2 && ok; ++k) {
            const int count = place_tools(load, i, tool[k]);
            ok = (i > 0 || pli_body_set_tools(rig[k]->body, tool[k], count, &err) == PLI_OK) &&
                 pli_body_step(rig[k]->body, &rig[k]->state, DT).finite;
        }
        const size_t first = body.count - truth.count;
        double sum = 0.0;
        for (size_t p = 0; p < truth.count; ++p) {
            double off[3], u[3];
            v3_sub(off, body.x + 3 * (first + p), truth.x + 3 * p);
            v3_sub(u, truth.x + 3 * p, truth.rest + 3 * p);
            sum += v3_dot(off, off);
            largest = fmax(largest, v3_norm(u));
        }
        square += sum / (double)truth.count / STEPS;
    }
    if (ok) {
        const double error = sqrt(square) / largest, guess = pli_body_stats(body.body).error_estimate;
        pli_verify_note(r, "estimated %.2f %%, true %.2f %% of the largest displacement; %u nodes, truth %u",
                        100.0 * guess, 100.0 * error, pli_body_stats(body.body).active, (PliIndex)truth.count);
        pli_verify_within(r, 1.0, guess / error, 1.0);
        r->pass = r->pass && guess >= 0.5 * error; // a factor of two, both ways
    } else {
        pli_verify_broken(r, "%s", err.text);
    }
    pli_rig_close(&body);
    pli_rig_close(&truth);
}

static void plates(PliVerifyResult *r) { effectivity(r, &(Load){ .plates = true }); }
static void drop(PliVerifyResult *r) { effectivity(r, &(Load){ .plates = true, .gravity = 9.81 }); }
static void weight(PliVerifyResult *r) { effectivity(r, &(Load){ .held = true, .gravity = 9.81 }); }
static void poke(PliVerifyResult *r) { effectivity(r, &(Load){ .held = true, .ball = 0.15 }); }

const PliVerifyCase pli_verify_tetlod_error_cases[] = {
    { "tetlod", "effectivity, faces between plates", plates },
    { "tetlod", "effectivity, plates and weight", drop },
    { "tetlod", "effectivity, held under its weight", weight },
    { "tetlod", "effectivity, poked", poke },
    { NULL, NULL, NULL },
};
