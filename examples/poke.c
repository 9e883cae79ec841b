/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Poke: a ball is pressed into a block that refines where it is touched, and coarsens when the ball is gone.
#include <pliant/body.h>

#include <stdio.h>
#include <stdlib.h>

enum { LEVELS = 3, STEPS = 200 };

int main(void)
{
    PliHost host = pli_host_default();
    PliError err;

    // levels of detail: the same block, meshed coarse to fine
    PliMesh *level[LEVELS];
    for (int i = 0; i < LEVELS; ++i) {
        const PliIndex n = 2u << i;
        PliBoxDef box = { .max = { 1.0, 0.5, 1.0 }, .cells = { n, n / 2, n } };
        level[i] = pli_mesh_box(&host, &box, &err);
        if (!level[i]) return 1;
    }
    PliTetLodDef def = pli_tetlod_default();
    def.levels = (const PliMesh *const *)level;
    def.level_count = LEVELS;
    def.base.material.young = 2e4;
    def.base.material.damping = 0.01;
    def.base.mass_damping = 2.0;
    def.base.gravity[1] = 0.0;           // nothing but the ball moves it
    def.base.criterion.threshold = 0.05; // jump of the strain between neighbours that asks for more
    PliBody *body = pli_tetlod_create(&host, &def, &err);
    for (int i = 0; i < LEVELS; ++i) pli_mesh_destroy(level[i]);
    if (!body) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }

    // arrays have room for the coefficients of all levels: they never change their length
    const PliIndex count = pli_body_dof_count(body);
    double *x = calloc(3 * (size_t)count, sizeof *x), *v = calloc(3 * (size_t)count, sizeof *v);
    PliIndex *held = calloc(count, sizeof *held), held_count = 0;
    if (!x || !v || !held) return 1;
    PliState state = { .x = x, .v = v };
    pli_body_reset(body, &state);
    for (PliIndex i = 0; i < count; ++i)
        if (x[3 * i + 1] == 0.0) held[held_count++] = i;
    if (pli_body_set_fixed(body, held, held_count, &err) != PLI_OK) return 1;

    // tools are ours, too: the body reads where they are and writes the force on them
    PliTool ball = { .shape = PLI_TOOL_SPHERE, .position = { 0.5, 0.72, 0.5 }, .radius = 0.2 };
    if (pli_body_set_tools(body, &ball, 1, &err) != PLI_OK) return 1;

    const PliIndex at_rest = pli_body_active(body).count;
    PliIndex most = 0;
    double push = 0.0;
    int bad = 0;
    for (int step = 0; step < STEPS && !bad; ++step) {
        const double dt = 0.01;
        ball.velocity[1] = step < 60 ? -0.25 : 0.5; // m/s: down, then up and away
        const PliStepInfo info = pli_body_step(body, &state, dt);
        bad = pli_step_check(&info, &err) != PLI_OK;
        ball.position[1] += dt * ball.velocity[1];
        const PliIndex active = pli_body_active(body).count;
        if (active > most) most = active;
        if (ball.force[1] > push) push = ball.force[1];
        if (step % 20 == 19)
            printf("t = %.1f s: %4u active coefficients of %u, %8.2f N on the ball\n", dt * (step + 1), active, count,
                   ball.force[1]);
    }
    if (bad) fprintf(stderr, "%s\n", err.text);

    // it refined under the ball, pushed back, and let go
    const PliIndex after = pli_body_active(body).count;
    bad = bad || !(most > at_rest && after < most && push > 0.0);
    pli_body_destroy(body);
    free(x);
    free(v);
    free(held);
    return bad;
}
