/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_BENCH_SCENE_H
#define PLI_BENCH_SCENE_H

#include "evidence/bench.h"

/// One body of a shipped comparison scene (compare/NAME.scn) against the reference of that scene, both timed here: speedup, error,
/// error_near_tool, force_error, active_mean, finest, adaptive, uniform.
void pli_bench_scene(PliBench *b, const char *scene, const char *body);

#endif
