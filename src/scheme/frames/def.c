/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <pliant/frames.h>

PliFramesDef pli_frames_default(void)
{
    PliFramesDef d = {
        .base = pli_body_default(),
        .resolution = 32,
        .frame_count = 16,
        .lloyd_iterations = 10,
        .shape = PLI_FRAMES_LINEAR,
        .support = 1.6,
        .material_aware = true,
        .linearity = 1e-4,
        .mass_blend = 1e-3,
        .merge = true,
        .merge_linearity = 0.02,
        .metric = PLI_METRIC_KINETIC,
        .polish = 60,
    };
    d.base.integrator = PLI_IMPLICIT;
    d.base.linear_solver = PLI_SOLVE_AUTO;
    d.base.cg_tolerance = 1e-7;
    d.base.cg_iterations = 400;
    d.base.criterion.kind = PLI_BY_VELOCITY;
    d.base.criterion.threshold = 1e-5;
    d.base.criterion.coarsen = 0.25;
    d.base.criterion.hold = 10;
    d.base.criterion.interval = 0.0;
    return d;
}
