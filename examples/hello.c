/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Hello: a soft beam, held at one end, sags under its own weight.
#include <pliant/body.h>

#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    // what the library may use: memory, messages, threads; here malloc, stderr and none
    PliHost host = pli_host_default();
    PliError err;

    // a definition always begins with its defaults; lengths are in metres, as everything is in SI units
    PliBoxDef box = { .max = { 1.0, 0.2, 0.2 }, .cells = { 10, 2, 2 } };
    PliMesh *mesh = pli_mesh_box(&host, &box, &err);
    PliFemDef def = pli_fem_default();
    def.mesh = mesh;
    def.base.material.young = 1e6;
    def.base.material.damping = 0.01; // s
    def.base.integrator = PLI_IMPLICIT;
    PliBody *body = mesh ? pli_fem_create(&host, &def, &err) : NULL;
    pli_mesh_destroy(mesh); // the body has its own copy
    if (!body) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }

    // positions and velocities are ours; the body reads and writes them in each call
    const PliIndex count = pli_body_dof_count(body);
    double *x = calloc(3 * (size_t)count, sizeof *x), *v = calloc(3 * (size_t)count, sizeof *v);
    PliIndex *held = calloc(count, sizeof *held), held_count = 0, tip = 0;
    if (!x || !v || !held) return 1;
    PliState state = { .x = x, .v = v };
    pli_body_reset(body, &state);
    for (PliIndex i = 0; i < count; ++i) {
        if (x[3 * i] == 0.0) held[held_count++] = i;
        if (x[3 * i] > x[3 * tip]) tip = i;
    }
    if (pli_body_set_fixed(body, held, held_count, &err) != PLI_OK) return 1;

    // steps: one that cannot be done is undone, and says why
    const double height = x[3 * tip + 1];
    int bad = 0;
    for (int step = 1; step <= 100 && !bad; ++step) {
        const PliStepInfo info = pli_body_step(body, &state, 0.02);
        bad = pli_step_check(&info, &err) != PLI_OK;
        if (bad) fprintf(stderr, "step %d: %s\n", step, err.text);
        if (step % 20 == 0) printf("t = %.1f s: the tip sagged by %.4f m\n", 0.02 * step, height - x[3 * tip + 1]);
    }

    bad = bad || !(height - x[3 * tip + 1] > 0.01);
    pli_body_destroy(body);
    free(x);
    free(v);
    free(held);
    return bad;
}
