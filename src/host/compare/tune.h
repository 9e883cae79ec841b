/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_TUNE_H
#define PLI_TUNE_H

// Parameters of one body that reach an error at the least cost, or the least error within a cost: all attributes that have a range
// (PliSlide) turned finer together until the error is reached, then a pattern search in logarithms over them, judged by the worst of
// some training loads. What was found is then tried on a load it
// was not chosen on.

#include "host/compare/trial.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PLI_KNOBS = 4, PLI_TUNE_LOADS = 8 };

/// An attribute that is turned.
typedef struct PliKnob {
    const char *name;
    char path[256]; ///< "@TetLod/model.threshold"
    double low, high, start, value;
    bool whole; ///< a number of something
} PliKnob;

typedef struct PliTuneDef {
    const char *scene, *body;
    double error;  ///< relative, wanted; 0: none
    double budget; ///< ms per step, wanted; 0: none. One of the two
    double margin; ///< what is aimed at on training loads, times `error`; default 0.8
    int loads;     ///< training loads: seeds 0 .. loads - 1
    uint64_t unseen_seed;
    const char *unseen_scene; ///< NULL: `scene`, with unseen_seed
    int steps;                ///< 0: the scene's
    int most;                 ///< evaluations
    double seconds;           ///< after which no new choice is tried, of wall time; 0: no limit
    const char *cache;
    bool (*stopped)(void);
    void (*progress)(int done, int most, const char *body); ///< or NULL
} PliTuneDef;
PliTuneDef pli_tune_default(void);

/// What a choice of parameters does on some loads.
typedef struct PliScore {
    bool ran; ///< false: some load diverged or could not be done
    double error, force,
        ms; ///< worst error over the loads, worst error of the tools' forces (NaN: none), mean ms per step
    char reason[200];
} PliScore;

typedef struct PliTuned {
    PliKnob knob[PLI_KNOBS];
    int knob_count;
    PliScore before, after, unseen; ///< before, after: on training loads
    bool reached;                   ///< on training loads, without the margin
    bool holds;                     ///< on the unseen load, too
    int tried;
    bool out_of_time; ///< there was no time for all tries
} PliTuned;
/// Refused when there is no such body, the reference fails, or somebody stopped it. A body without knobs is only measured.
PliStatus pli_tune(const PliHost *host, const PliSceneDef *def, const PliTuneDef *tune, PliTuned *out, PliError *err);

#ifdef __cplusplus
}
#endif
#endif
