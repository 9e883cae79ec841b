/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Violent hands: random pulls at the skin and random strokes of the tool, far faster than a body should be treated. Every body must
// go on. A round begins with a fresh scene and its own seed; PLIANT_HANDS="BODY SEED" plays one round again, "BODY FIRST LAST" several.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/timer.h"
#include "base/vec.h"
#include "evidence/assets.h"
#include "evidence/hands.h"
#include "host/components/bodies.h"
#include "host/graph/simulation.h"
#include "output/progress.h"

enum { PULLS_OF_ROUND = 50, STEPS_HELD = 6, STEPS_FREE = 3, PULLS = 10000 };

typedef struct Subject {
    const char *name, *scene;
    PliOverride other; ///< than in the scene; NULL: nothing
} Subject;
static const Subject subjects[] = {
    { "fem", "single/FemModel.scn", { 0 } },
    { "fem_implicit", "single/FemModel_implicit.scn", { 0 } },
    { "tetlod", "single/TetLodModel.scn", { 0 } },
    { "tetlod_implicit", "single/TetLodModel.scn", { "@/box/model.integrator", "implicit" } },
    { "frames", "single/FramesModel.scn", { 0 } },
    { "wavelet", "single/WaveletModel.scn", { "@/block/model.cells", "2 1 2" } },
    { "octree", "single/OctreeModel.scn", { 0 } },
    { "springs", "single/SpringsModel.scn", { 0 } },
};
enum { SUBJECTS = sizeof subjects / sizeof *subjects };

static const Subject *find_subject(const char *name, PliError *err)
{
    for (int k = 0; k < SUBJECTS; ++k)
        if (strcmp(subjects[k].name, name) == 0) return &subjects[k];
    pli_refuse(err, PLI_BAD_ARGUMENT, "'%s' is no body of stability.hands", name);
    return NULL;
}

/// A place within `reach` sizes of p.
static void somewhere(uint64_t *random, const double p[3], double reach, double out[3])
{
    for (int d = 0; d < 3; ++d) out[d] = p[d] + reach * (2.0 * pli_random_unit(random) - 1.0);
}

/// Skin at rest and its size. NULL: no memory, or no skin.
static double *skin_of(const PliHost *host, const PliSceneBody *b, double *size)
{
    const PliIndex n = pli_body_skin_count(b->body);
    double *p = PLI_NEW(host, 3 * (size_t)n, double), low[3], high[3];
    if (!p || n == 0) return p;
    pli_body_skin_positions(b->body, pli_body_rest(b->body), p);
    v3_copy(low, p), v3_copy(high, p);
    for (size_t i = 0; i < 3 * (size_t)n; ++i)
        low[i % 3] = fmin(low[i % 3], p[i]), high[i % 3] = fmax(high[i % 3], p[i]);
    *size = v3_distance(low, high);
    return p;
}

/// What a hand does while it holds.
typedef enum Manner {
    JERKS,     ///< another place within two sizes every other step
    REVERSALS, ///< to and fro in every step, up to four sizes
    DRAG,      ///< to one place, up to five sizes off
    PINCH,     ///< jerks at a tiny patch, ten times as stiff
    MANNERS
} Manner;

static void aim(Manner manner, uint64_t *random, const double at[3], double size, int step, PliGrip *grip)
{
    const double reach = size * pli_random_unit(random);
    if (manner == REVERSALS && step > 0) {
        for (int d = 0; d < 3; ++d) grip->target[d] = 2.0 * at[d] - grip->target[d];
    } else if (manner == REVERSALS) {
        somewhere(random, at, 4.0 * reach, grip->target);
    } else if (manner == DRAG) {
        if (step == 0) somewhere(random, at, 5.0 * reach, grip->target);
    } else if (step % 2 == 0) {
        somewhere(random, at, 2.0 * size, grip->target);
    }
}

/// The tool goes somewhere near, or straight through the body.
static void stroke(PliScene *scene, uint64_t *random, const double at[3], const double middle[3], double size)
{
    double target[3];
    if (pli_random_unit(random) < 0.5)
        somewhere(random, at, 0.5 * size, target);
    else
        for (int d = 0; d < 3; ++d) target[d] = 2.0 * middle[d] - at[d];
    pli_scene_steer(scene, 0, target);
}

static bool play(PliScene *scene, const PliSceneBody *b, const double *skin, double size, uint64_t *random,
                 PliHandsTally *t, PliError *err)
{
    const PliIndex n = pli_body_skin_count(b->body);
    const double *at = skin + 3 * (size_t)(pli_random_unit(random) * n);
    const double *across = skin + 3 * (size_t)(pli_random_unit(random) * n);
    const Manner manner = (Manner)(MANNERS * pli_random_unit(random));
    PliGrip grip = { .radius = size * (0.02 + 0.15 * pli_random_unit(random)) };
    double middle[3];
    for (int d = 0; d < 3; ++d) middle[d] = 0.5 * (at[d] + across[d]);
    v3_copy(grip.at, at);
    if (manner == PINCH) {
        grip.radius *= 0.1;
        grip.stiffness = 20.0 * pli_body_def(b->body)->material.young * grip.radius;
    }
    // another threshold is another active set, whatever the scheme decides by
    const PliTuning threshold = { "threshold", pow(10.0, 3.5 * pli_random_unit(random) - 2.0) };
    if (pli_random_unit(random) < 0.3 && pli_scene_tune(scene, 0, &threshold, 1, err) != PLI_OK) return false;
    for (int k = 0; k < STEPS_HELD + STEPS_FREE; ++k) {
        if (k < STEPS_HELD) {
            aim(manner, random, at, size, k, &grip);
            if (pli_scene_grab(scene, &grip, err) != PLI_OK) return false;
        } else if (k == STEPS_HELD) {
            (void)pli_scene_grab(scene, NULL, err);
        }
        if (b->tool_count && k % 3 == 0) stroke(scene, random, at, middle, size);
        t->steps++;
        if (pli_scene_step(scene, err) != PLI_OK) return false;
    }
    return true;
}

static PliScene *load(const PliHost *host, const Subject *s, PliSceneBody *b, PliError *err)
{
    PliSceneDef def = pli_scene_default();
    PliStatus status = PLI_OK;
    char path[2048];
    if (pli_asset_path(s->scene, path, sizeof path, err) != PLI_OK) return NULL;
    def.overrides = &s->other, def.override_count = s->other.path != NULL;
    PliScene *scene = pli_scene_load(host, path, &def, &status);
    if (scene && status == PLI_OK && pli_scene_bodies(scene, b, 1) >= 1) return scene;
    pli_refuse(err, status ? status : PLI_BAD_FILE, "%s cannot be loaded", path);
    pli_scene_destroy(scene);
    return NULL;
}

/// One round. @return pulls survived; fewer than asked for: err says why.
static int play_round(const PliHost *host, const Subject *s, uint64_t seed, int pulls, PliHandsTally *t, PliError *err)
{
    PliSceneBody b;
    uint64_t random = seed;
    double size = 0.0;
    int done = 0;
    PliScene *scene = load(host, s, &b, err);
    if (!scene) return -1;
    double *skin = skin_of(host, &b, &size);
    const bool ready = skin && size > 0.0 && pli_scene_start(scene, err) == PLI_OK;
    while (ready && done < pulls && play(scene, &b, skin, size, &random, t, err)) ++done;
    const PliStats stats = pli_body_stats(b.body);
    t->retries += stats.retries;
    t->events += stats.refined + stats.coarsened;
    t->limited += pli_scene_grab_limited(scene, 0);
    PLI_FREE(host, skin, 3 * (size_t)pli_body_skin_count(b.body));
    pli_scene_destroy(scene);
    return ready ? done : -1;
}

bool pli_hands_play(const char *body, uint64_t seed, int pulls, PliHandsTally *t, PliError *err)
{
    const PliHost host = pli_host_default();
    const Subject *s = find_subject(body, err);
    *t = (PliHandsTally){ 0 };
    if (!s) return false;
    for (; t->pulls < pulls; ++seed) {
        const int want = pulls - t->pulls < PULLS_OF_ROUND ? pulls - t->pulls : PULLS_OF_ROUND;
        PliError why = { PLI_OK, "" };
        const int done = play_round(&host, s, seed, want, t, &why);
        if (done < 0) {
            *err = why;
            return false;
        }
        t->pulls += done < want ? done + 1 : want; // the one that failed ends its round
        t->survived += done;
        if (done < want && !t->first_seed) t->first_seed = seed, t->first_pull = done + 1, t->first = why;
    }
    return true;
}

/// @return share that survived, NaN: it could not be played
static double play_body(PliBench *b, const char *body, uint64_t seed, int pulls)
{
    PliHandsTally t;
    PliError err = { PLI_OK, "" };
    char text[64];
    const double begin = pli_cpu_ms();
    if (!pli_hands_play(body, seed, pulls, &t, &err)) {
        pli_bench_broken(b, "%s", err.text);
        return NAN;
    }
    if (t.first_seed)
        pli_bench_broken(b, "%s: seed %llu, pull %d: %s", body, (unsigned long long)t.first_seed, t.first_pull,
                         t.first.text);
    const struct {
        const char *what, *unit;
        double value;
    } row[] = {
        { "survived", "of the pulls", (double)t.survived / t.pulls },
        { "pulls", "", t.pulls },
        { "retried", "steps again", (double)t.retries },
        { "limited", "of the steps", (double)t.limited / (double)t.steps },
        { "events", "", (double)t.events },
        { "cost", "s of CPU", 1e-3 * (pli_cpu_ms() - begin) },
    };
    for (size_t k = 0; k < sizeof row / sizeof *row; ++k) {
        snprintf(text, sizeof text, "%s_%s", body, row[k].what);
        pli_bench_report(b, text, row[k].value, row[k].unit);
    }
    return row[0].value;
}

static void run_hands(PliBench *b)
{
    const char *part = getenv("PLIANT_HANDS");
    double least = INFINITY;
    if (part) {
        char body[64];
        unsigned long long first, last;
        const int words = sscanf(part, "%63s %llu %llu", body, &first, &last);
        if (words < 2 || first < 1 || (words == 3 && (last < first || last - first >= 1000000)))
            pli_bench_broken(b, "PLIANT_HANDS is a body, a seed and perhaps the last seed, not '%s'", part);
        else
            play_body(b, body, first, PULLS_OF_ROUND * (int)(words == 3 ? last - first + 1 : 1));
        return;
    }
    for (int s = 0; s < SUBJECTS; ++s) {
        pli_progress(s, SUBJECTS, subjects[s].name);
        const double survived = play_body(b, subjects[s].name, 1, PULLS);
        if (!(survived >= least)) least = survived;
    }
    pli_bench_report(b, "survived", least, "of 10,000 pulls, worst body");
}

const PliBenchCase pli_bench_stability_cases[] = {
    { "stability.hands", "10,000 violent random pulls and strokes on a body of every scheme (half an hour)",
      run_hands },
    { 0 },
};
