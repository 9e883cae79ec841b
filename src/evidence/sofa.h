/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_SOFA_H
#define PLI_SOFA_H

// SOFA as an external program: scenes go into a folder of scratch files, runSofa takes their steps without a window, and its CPU time
// and the places of points come back. Our plugin and stock components are measured alike, as scenes of the same host.

#include "evidence/bench.h"
#include "output/file.h"

typedef struct PliSofa {
    char folder[1000]; ///< scratch files
} PliSofa;

/// False: a sentence on stderr says what is missing, and the case is left out. A bench of SOFA without SOFA is no failure.
bool pli_sofa_open(PliSofa *s, PliBench *b);
void pli_sofa_close(PliSofa *s);
/// The first line of a scene of `dt` seconds, gravity downwards in m/s2, with the plugins of stock components that these benches need.
void pli_sofa_begin(PliText *t, double dt, double gravity);
/// Runs that many steps of a scene. *cpu_ms: of the whole program. Refuses what ends badly, says [ERROR], or does fewer steps.
PliStatus pli_sofa_run(const PliSofa *s, const PliText *scene, int steps, double *cpu_ms, PliError *err);
/// ms of CPU time of the whole program for each of `steps` steps that come after `before` others: the mean of the least that each step
/// took in two runs. The scene has to begin with pli_sofa_begin, whose StepTimes sees the steps alone, however long the start is.
/// One step more is taken and not counted: places at the end of the last one are written then.
PliStatus pli_sofa_time(const PliSofa *s, const PliText *scene, int before, int steps, double *ms, PliError *err);
/// A component that writes the places of the points of its node after so many steps of dt: when the next one begins, so take one more ...
void pli_sofa_write_places(const PliSofa *s, PliText *t, const int *steps, int count, double dt);
/// ... and those places, `count` Vec3, one instant after the other.
PliStatus pli_sofa_read_places(const PliSofa *s, size_t count, double *x, PliError *err);

#endif
