/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_TUNE_H
#define PLI_TUNE_H

// Parameters of one body that reach an error at the least cost, or the least error within a cost, judged by the worst of some training
// loads: the accuracy or the threshold alone first, by halving between a value that is fine enough and one that is not; where that is
// not enough, or numbers of the scheme count, all attributes that have a range (PliSlide) turned finer together until the error is
// reached, then a pattern search in logarithms over them. What was found must then hold on more loads, the guards: one it does not hold
// on joins the training loads, and the search goes on from there. At last it is tried on a load that had no part in this; where it fails,
// that one is trained on as well, and another one takes its place.
//
// Tool forces count, too: a choice whose forces are off by more than pli_doubtful_force is taken only when no other is within the error.

#include "host/compare/trial.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PLI_KNOBS = 4, PLI_TUNE_LOADS = 16 };
struct PliTuned;

/// An attribute that is turned.
typedef struct PliKnob {
    const char *name;
    char path[256]; ///< "@TetLod/model.threshold"
    double low, high, start, value;
    bool whole; ///< a number of something
} PliKnob;

typedef struct PliTuneDef {
    const char *scene, *body;
    double error;             ///< relative, wanted; 0: none
    double budget;            ///< ms per step, wanted; 0: none. One of the two
    double margin;            ///< what is aimed at on training loads, times `error`; default 0.6
    double guard_margin;      ///< and on guards, times `error`; default 0.8
    int loads;                ///< training loads: seeds 0 .. loads - 1
    int guards;               ///< loads that the choice must hold on as well: the next seeds; only for an error
    uint64_t unseen_seed;     ///< or the first one after it whose load moves the body
    const char *unseen_scene; ///< NULL: `scene`, with unseen_seed
    int steps;                ///< 0: the scene's
    int most;                 ///< evaluations
    double seconds;           ///< after which no new choice is tried, of wall time; 0: no limit
    const char *cache;
    const struct PliTuned
        *others; ///< bodies of the same scene and loads that have been tuned: one that did exactly what this one
                 ///< does before is asked first for what it found
    int other_count;
    bool (*stopped)(void);
    void (*progress)(int done, int most, const char *body); ///< or NULL
} PliTuneDef;
PliTuneDef pli_tune_default(void);

/// What a choice of parameters does on some loads.
typedef struct PliScore {
    bool ran; ///< false: some load diverged or could not be done
    double error, force,
        ms;         ///< worst error over the loads, worst error of the tools' forces (NaN: none), mean ms per step
    bool fell_back; ///< on every load it ended on what it falls back on
    bool part;      ///< it was too far off on the first loads, the others were not run
    char reason[200];
} PliScore;

typedef struct PliTuned {
    PliKnob knob[PLI_KNOBS];
    int knob_count;
    PliScore before, after,
        unseen; ///< before: on the first training loads; after: the same, with guards where it is reached
    uint64_t seed[PLI_TUNE_LOADS]; ///< of the loads: those that move the body; training loads first
    PliScore load[PLI_TUNE_LOADS]; ///< what was chosen, on each
    bool trained[PLI_TUNE_LOADS];  ///< it counted in the search
    int load_count;
    uint64_t unseen_seed;
    int failed;   ///< unseen loads that a choice failed on, after which they were trained on
    bool reached; ///< on all loads, guards too, without the margin
    bool holds;   ///< on the unseen load, too
    int tried;
    bool out_of_time; ///< there was no time for all tries
    bool ready;       ///< it was tuned: others may ask it
    char like[80];    ///< the body whose choice it took over, because both do the same; "": its own
    char name[80];
} PliTuned;
/// Refused when there is no such body, the reference fails, or somebody stopped it. A body without knobs is only measured.
PliStatus pli_tune(const PliHost *host, const PliSceneDef *def, const PliTuneDef *tune, PliTuned *out, PliError *err);

#ifdef __cplusplus
}
#endif
#endif
