/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_SWEEP_PLAN_H
#define PLI_SWEEP_PLAN_H

// A sweep: scenes x bodies x attributes x seeds, from one TOML file to a list of jobs. A job's id is a hash of all that decides its
// outcome, so that what is done stays done as long as it means the same.

#include "host/compare/trial.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PLI_SWEEP_ATTRIBUTES = 16, PLI_SWEEP_JOBS = 1000000 };

/// An attribute and the values it takes, as a scene writes them.
typedef struct PliSweepAttribute {
    char *who; ///< scheme or body; NULL: every body that has it
    char *name;
    char **value;
    int value_count;
} PliSweepAttribute;

typedef struct PliSweepDef {
    char **scene, **scheme; ///< as the file has them
    int scene_count, scheme_count;
    long long *seed;
    int seed_count;
    int steps, repeat; ///< 0: the scene's; as `pliant compare` does
    PliSweepAttribute *attribute;
    int attribute_count;
} PliSweepDef;
/// Refuses with file, line and what is wrong; PLI_UNSUPPORTED when this program was built without a TOML parser.
PliStatus pli_sweep_read(const char *path, PliSweepDef *def, PliError *err);
void pli_sweep_free(PliSweepDef *def);

typedef struct PliSweepJob {
    char id[33];
    const char *scene, *body, *scheme;
    const char *model;      ///< path of its model in the scene: "/TetLod/model"
    const char *parameters; ///< "threshold=0.05;ramp=2"; "": none
    uint64_t seed;
    int steps, repeat;
} PliSweepJob;

typedef struct PliSweepPlan {
    PliSweepJob *job;
    int count, capacity;
    char **text; ///< what jobs point to
    int text_count, text_capacity;
} PliSweepPlan;
/// All jobs, in the order of the file. Scenes are relative to `path`. A body without one of the attributes goes without it; an attribute
/// that nobody has is refused, with the most similar one.
PliStatus pli_sweep_plan(const PliHost *host, const PliSweepDef *def, const char *path, PliSweepPlan *plan,
                         PliError *err);
void pli_sweep_plan_free(PliSweepPlan *plan);
PliStatus pli_sweep_plan_write(const PliSweepPlan *plan, const char *folder, PliError *err); ///< plan.csv
PliStatus pli_sweep_plan_open(const char *folder, PliSweepPlan *plan, PliError *err);

/// FOLDER/results/ID.csv
const char *pli_sweep_result_path(const char *folder, const char *id, char *path, size_t size);
/// Runs a job and writes its result, whole or not at all. A body that diverges or cannot do the scene is a result, too.
PliStatus pli_sweep_job_run(const PliHost *host, const PliSweepJob *job, const char *folder, bool (*stopped)(void),
                            PliError *err);

/// table.csv (every finished job, in the order of the plan) and report.html (all fronts). @return through `missing` how many jobs have
/// no result
PliStatus pli_sweep_collect(const PliSweepPlan *plan, const char *folder, int *missing, int *failed, PliError *err);

/// One line of CSV into its fields, in place; quotes are removed. @return how many, at most `most`
int pli_sweep_fields(char *line, char **field, int most);

#ifdef __cplusplus
}
#endif
#endif
