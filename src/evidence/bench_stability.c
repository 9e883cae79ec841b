/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Violent hands: random pulls at the skin and random strokes of the tool, far faster than a body should be treated. Every body must
// go on. A round begins with a fresh scene and its own seed; PLIANT_HANDS="SCENE SEED" plays one round again and says what it did.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/vec.h"
#include "evidence/assets.h"
#include "evidence/hands.h"
#include "host/components/bodies.h"
#include "host/graph/simulation.h"
#include "output/progress.h"

enum { PULLS_OF_ROUND = 50, STEPS_HELD = 6, STEPS_FREE = 3, PULLS = 10000 };

typedef struct Subject {
    const char *scheme, *scene;
} Subject;
static const Subject subjects[] = {
    { "fem", "single/FemModel.scn" },         { "fem_implicit", "single/FemModel_implicit.scn" },
    { "tetlod", "single/TetLodModel.scn" },   { "frames", "single/FramesModel.scn" },
    { "wavelet", "single/WaveletModel.scn" }, { "octree", "single/OctreeModel.scn" },
    { "springs", "single/SpringsModel.scn" },
};
enum { SUBJECTS = sizeof subjects / sizeof *subjects };

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

static bool play(PliScene *scene, const PliSceneBody *b, const double *skin, double size, uint64_t *random,
                 PliHandsTally *t, PliError *err)
{
    const PliIndex n = pli_body_skin_count(b->body);
    const double *at = skin + 3 * (size_t)(pli_random_unit(random) * n);
    PliGrip grip = { .radius = size * (0.02 + 0.15 * pli_random_unit(random)) };
    v3_copy(grip.at, at);
    for (int k = 0; k < STEPS_HELD + STEPS_FREE; ++k) {
        if (k < STEPS_HELD && k % 2 == 0) { // jerks
            somewhere(random, at, 2.0 * size, grip.target);
            if (pli_scene_grab(scene, &grip, err) != PLI_OK) return false;
        } else if (k == STEPS_HELD) {
            (void)pli_scene_grab(scene, NULL, err);
        }
        if (b->tool_count && k % 3 == 0) {
            double target[3];
            somewhere(random, at, 0.5 * size, target);
            pli_scene_steer(scene, 0, target);
        }
        t->steps++;
        if (pli_scene_step(scene, err) != PLI_OK) return false;
    }
    return true;
}

/// One round. @return pulls survived; fewer than asked for: err says why.
static int play_round(const PliHost *host, const char *path, uint64_t seed, int pulls, PliHandsTally *t, PliError *err)
{
    PliSceneDef def = pli_scene_default();
    PliStatus status = PLI_OK;
    PliSceneBody b;
    uint64_t random = seed;
    double size = 0.0;
    int done = 0;
    PliScene *scene = pli_scene_load(host, path, &def, &status);
    if (!scene || status != PLI_OK || pli_scene_bodies(scene, &b, 1) < 1) {
        pli_refuse(err, status ? status : PLI_BAD_FILE, "%s cannot be loaded", path);
        pli_scene_destroy(scene);
        return -1;
    }
    double *skin = skin_of(host, &b, &size);
    const bool ready = skin && size > 0.0 && pli_scene_start(scene, err) == PLI_OK;
    while (ready && done < pulls && play(scene, &b, skin, size, &random, t, err)) ++done;
    t->retries += pli_body_stats(b.body).retries;
    PLI_FREE(host, skin, 3 * (size_t)pli_body_skin_count(b.body));
    pli_scene_destroy(scene);
    return ready ? done : -1;
}

bool pli_hands_play(const char *scene, int pulls, PliHandsTally *t, PliError *err)
{
    const PliHost host = pli_host_default();
    char path[2048];
    *t = (PliHandsTally){ 0 };
    if (pli_asset_path(scene, path, sizeof path, err) != PLI_OK) return false;
    for (uint64_t seed = 1; t->pulls < pulls; ++seed) {
        const int want = pulls - t->pulls < PULLS_OF_ROUND ? pulls - t->pulls : PULLS_OF_ROUND;
        PliError why = { PLI_OK, "" };
        const int done = play_round(&host, path, seed, want, t, &why);
        if (done < 0) {
            *err = why;
            return false;
        }
        t->pulls += done < want ? done + 1 : want; // the one that failed ends its round
        t->survived += done;
        if (done < want && !t->first_seed) t->first_seed = seed, t->first = why;
    }
    return true;
}

static bool replay(PliBench *b)
{
    const char *text = getenv("PLIANT_HANDS");
    char scene[200], path[2048];
    unsigned long long seed;
    if (!text) return false;
    const PliHost host = pli_host_default();
    PliHandsTally t = { 0 };
    PliError err = { PLI_OK, "" };
    if (sscanf(text, "%199s %llu", scene, &seed) != 2 || pli_asset_path(scene, path, sizeof path, &err) != PLI_OK) {
        pli_bench_broken(b, "PLIANT_HANDS is a scene and a seed, not '%s'", text);
        return true;
    }
    const int done = play_round(&host, path, seed, PULLS_OF_ROUND, &t, &err);
    pli_bench_report(b, "pulls", done, "of 50");
    pli_bench_report(b, "steps", (double)t.steps, "");
    if (done < PULLS_OF_ROUND) pli_bench_broken(b, "seed %llu, pull %d: %s", seed, done + 1, err.text);
    return true;
}

static void run_hands(PliBench *b)
{
    double least = INFINITY;
    if (replay(b)) return;
    for (int s = 0; s < SUBJECTS; ++s) {
        PliHandsTally t;
        PliError err = { PLI_OK, "" };
        char text[64];
        pli_progress(s, SUBJECTS, subjects[s].scheme);
        if (!pli_hands_play(subjects[s].scene, PULLS, &t, &err)) {
            pli_bench_broken(b, "%s", err.text);
            continue;
        }
        if (t.first_seed)
            pli_bench_broken(b, "%s: seed %llu: %s", subjects[s].scene, (unsigned long long)t.first_seed, t.first.text);
        const double survived = (double)t.survived / t.pulls;
        least = fmin(least, survived);
        snprintf(text, sizeof text, "%s_survived", subjects[s].scheme);
        pli_bench_report(b, text, survived, "of 10,000 pulls");
        snprintf(text, sizeof text, "%s_retried", subjects[s].scheme);
        pli_bench_report(b, text, (double)t.retries, "steps again");
    }
    pli_bench_report(b, "survived", least, "of 10,000 pulls, worst scheme");
}

const PliBenchCase pli_bench_stability_cases[] = {
    { "stability.hands", "10,000 violent random pulls and strokes on a body of every scheme (minutes)", run_hands },
    { 0 },
};
