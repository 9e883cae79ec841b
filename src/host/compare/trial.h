/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_TRIAL_H
#define PLI_TRIAL_H

// One body of a comparison scene with some attributes set, under the scene's load or one varied by a seed: what sweeps and tuning are
// made of. And the variation of loads itself.

#include "host/compare/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A scene definition with more overrides than its own. `def` points into it: it may not move.
typedef struct PliVaried {
    PliSceneDef def;
    PliOverride *all;
    PliScene *graph; ///< owns the texts
} PliVaried;

/// The scene's definition, then `set`, then the load of `seed`. 0: as the scene says. Others: tools that move are displaced sideways by
/// up to half a radius and go 0.7 to 1.1 times as far; where none moves, gravity is tilted by up to 20 degrees and is 0.7 to 1.1 times
/// as strong. All bodies get the same, and the same seed gives the same load on every machine. Refused where there is nothing to vary.
PliStatus pli_varied_begin(PliVaried *v, const PliHost *host, const char *path, const PliSceneDef *def,
                           const PliOverride *set, int set_count, uint64_t seed, PliError *err);
void pli_varied_end(PliVaried *v); ///< fine after a refusal, too

typedef struct PliTrial {
    const char *scene, *body; ///< name of the body
    const PliOverride *set;
    int set_count;
    uint64_t seed;
    int steps, repeat;     ///< 0: the scene's; 0: as `pliant compare` does
    bool brief;            ///< one run, see PliCompareDef
    const char *cache;     ///< folder of recorded references, or NULL
    bool (*stopped)(void); ///< or NULL
} PliTrial;
/// Runs the reference (or reads its recording) and the body. @return a comparison of the two; `*which` is the body
PliComparison *pli_trial_run(const PliHost *host, const PliSceneDef *def, const PliTrial *trial, int *which,
                             PliError *err);

/// Adds what decides the outcome of a trial: the whole scene with includes and overrides, the contents of every file it names. Not the
/// program and not the machine.
PliStatus pli_trial_key(const PliHost *host, const char *scene, const PliSceneDef *def, PliKey *key, PliError *err);

#ifdef __cplusplus
}
#endif
#endif
