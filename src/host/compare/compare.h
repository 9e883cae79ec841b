/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_COMPARE_H
#define PLI_COMPARE_H

// One load, every scheme: runs each body alone, measures it on the surface all bodies share against the reference, and
// times it. Who makes the bodies does not matter here: scenes do it through compare_scene.h, tests with bodies of their own.
//
// Every error is relative to the reference's largest displacement. A DOF is one active Vec3 coefficient.

#include <pliant/body.h>

#include "host/compare/cache.h"
#include "host/components/metrics.h"

#ifdef __cplusplus
extern "C" {
#endif

/// One body while it runs. `open` fills it; pointers stay good until `close`.
typedef struct PliRun {
    PliBody *body;
    double *x, *v;        ///< its state
    const PliTool *tools; ///< where they were when the last step began, and how they moved in it
    int tool_count;
    double dt;   ///< s
    bool held;   ///< some points are held, so momentum goes into the support
    bool driven; ///< held points move, or forces act that are not a tool's: work comes from outside what is measured
    void *self;
} PliRun;

/// A body that takes part.
typedef struct PliEntrant {
    const char *name;
    const char *scheme;     ///< said when the body cannot be made; NULL: unknown
    const char *curve;      ///< entrants of one sweep share it; NULL: none
    const char *parameters; ///< what was set, for the report; NULL: nothing
    PliStatus (*open)(void *user, PliRun *run,
                      PliError *err);              ///< makes it afresh, at rest; a failure leaves nothing to close
    PliStatus (*step)(PliRun *run, PliError *err); ///< one time step; PLI_DIVERGED ends the run
    void (*close)(PliRun *run);
    void *user;
} PliEntrant;

typedef struct PliCompareDef {
    const PliEntrant *entrants;
    int count;
    int reference; ///< which entrant the others are measured against
    PliIndex steps;
    int repeat; ///< timed runs; 0: three, or as many as `patience` allows
    bool
        wall_clock; ///< time by the wall, for bodies that use several threads; else by the CPU time of the caller's thread,
                    ///< which does not count what else runs on the machine
    bool
        brief; ///< errors and times are all that is asked: every body runs once, timed as it is looked at, with no pictures and no
    ///< Hausdorff distance (0); `repeat` is not looked at
    double patience;        ///< s that repeating one body may take when `repeat` is 0; default 10
    const double *instants; ///< s, when pictures are taken; NULL: four, evenly
    int instant_count;
    void (*progress)(double part, const char *text, void *user); ///< part of all runs done, 0 .. 1; NULL: silent
    void *progress_user;
    const char *cache;     ///< folder in which the run of the reference is kept; NULL: it runs every time
    PliKey reference_key;  ///< of all that decides what the reference does and how long it takes, but for what is above
    uint64_t cache_bytes;  ///< most that is kept there; default 512 MiB
    bool (*stopped)(void); ///< somebody wants it to end: it is refused then; NULL: nobody
} PliCompareDef;
PliCompareDef pli_compare_default(void);

typedef enum PliVerdict { PLI_FINISHED, PLI_WENT_AWAY, PLI_UNABLE } PliVerdict;
const char *pli_verdict_name(PliVerdict verdict); ///< "ok", "diverged", "unable"

typedef enum PliBound { PLI_EXACT, PLI_AT_LEAST, PLI_AT_MOST } PliBound;
/// The uniform bodies of the scene (family.h) beside one body. NaN: there is nothing to compare with.
typedef struct PliRival {
    double cost;                      ///< ms per step of the uniform body of equal error
    double gain;                      ///< that over the body's own cost: above 1, adaptivity pays
    double error;                     ///< of the uniform body of equal cost
    PliBound cost_bound, error_bound; ///< of cost and gain, of error; beyond the ends of the family's curve
} PliRival;

/// The surface at one instant.
typedef struct PliShot {
    double time;
    double *points; ///< NULL: the body did not get there
    uint8_t *level;
    PliTool tools[8];
    int tool_count;
} PliShot;

/// What one body did. Arrays have one number per step or per sample of the evidence run.
typedef struct PliOutcome {
    char name[80], scheme[24], curve[80], parameters[160];
    PliVerdict verdict;
    char reason[400];
    char steps_text[200]; ///< how its steps were taken, see pli_body_choice_text
    char form[200];       ///< which one a body with two is in at the end, see pli_body_form_text
    bool fell_back;       ///< that is not its scheme's own
    double stopped_at;    ///< s, when it diverged
    bool is_reference;
    int level_count;
    PliIndex dofs_total;

    PliIndex steps; ///< done
    double *ms;     ///< time of a step, median over the timed runs
    double *active; ///< DOFs after the step
    double *event;  ///< refined + coarsened in the step
    double *force;  ///< shape [steps, tool_count, 3], N, on the tools
    int tool_count;
    double *per_level; ///< shape [steps, 8]

    PliIndex samples;                          ///< done, the state at rest included
    double *time;                              ///< s
    double *rms, *max, *hausdorff, *near_tool; ///< relative
    double *elastic, *kinetic, *balance;       ///< J; balance: energy minus what it was and what tools put in
    PliShot *shot;
    int shot_count;

    // the figures
    double error_rms, error_max, error_hausdorff, error_near_tool, force_error;
    double dofs_mean, dofs_max, dofs_min;
    PliSpread step_ms;
    double total_ms, speedup;
    double run_low, run_high; ///< total time of the fastest and the slowest timed run over their median
    int timed_runs;
    bool timed_with_evidence; ///< too slow to repeat: the steps of the evidence run were timed
    char recorded[32]; ///< date of the recording that everything here, times included, was taken from; "": it ran
    double
        busy; ///< wall time over CPU time of the timed runs; well above 1: something else was running, or threads waited
    double pop_max, hidden_max, energy_drift, energy_loss, momentum_drift; ///< NaN: does not apply
    double energy_added, energy_removed, energy_forced;                    ///< by events, relative to energy_scale
    uint64_t refined, coarsened, refused, forced;
    size_t bytes;
    uint64_t hash;
    bool repeatable;             ///< every run ended with the same hash
    bool on_front;               ///< nobody is both cheaper and closer
    bool uniform;                ///< one of the family that `rival` and `force_rival` are about
    PliRival rival, force_rival; ///< at equal RMS error, at equal error of the tools' forces
} PliOutcome;

typedef struct PliComparison {
    PliOutcome *outcome;
    int count, reference;
    bool wall_clock;
    PliIndex steps, every; ///< a sample is taken every so many steps
    double dt, largest_displacement, energy_scale, force_scale;
    PliIndex point_count, tri_count; ///< of the common surface
    double *rest;
    PliIndex *tris;
} PliComparison;

/// Runs everything. Bodies that cannot take part or diverge are outcomes, not failures; without a reference there is nothing
/// to compare with, and that is refused. Returns NULL on failure.
PliComparison *pli_compare(const PliCompareDef *def, PliError *err);
void pli_comparison_destroy(PliComparison *c); ///< NULL is fine

#ifdef __cplusplus
}
#endif
#endif
