/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// What slivers cost: a body as it is shipped, and the same with a handful of tetrahedra pressed flat, side by side at the defaults.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pliant/body.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/timer.h"
#include "base/vec.h"
#include "evidence/assets.h"
#include "evidence/bench.h"
#include "mesh/tet.h"
#include "mesher/quality.h"
#include "output/progress.h"

enum { SLIVERS = 8, STEPS = 20, ROUNDS = 2 };
static const double FLAT = 1.0 / 20.0; ///< altitude of a sliver over the median
static const double STEP = 0.01;       ///< s

typedef struct Subject {
    const char *name, *asset;
    double young, damping;
} Subject;
static const Subject subjects[] = {
    { "liver", "meshes/liver_2.msh", 2e4, 0.0 },     { "liver_damped", "meshes/liver_2.msh", 2e4, 0.002 },
    { "sphere", "meshes/sphere_2.msh", 1e5, 0.0 },   { "sphere_damped", "meshes/sphere_2.msh", 1e5, 0.005 },
    { "box_damped", "meshes/box_3.msh", 1e5, 0.01 },
};
enum { SUBJECTS = sizeof subjects / sizeof *subjects };

// ---- slivers ----------------------------------------------------------------------------------------------------------------

/// Six volumes over the area of the face opposite corner k, twice: its altitude, with the unit normal towards the corner.
static double altitude(const double *x, const PliIndex t[4], int k, double up[3])
{
    const unsigned char *face = pli_tet_face[3 - k];
    const double *p = x + 3 * (size_t)t[face[0]];
    double a[3], b[3], to[3];
    v3_sub(a, x + 3 * (size_t)t[face[1]], p);
    v3_sub(b, x + 3 * (size_t)t[face[2]], p);
    v3_cross(up, b, a); // faces are seen from outside
    v3_scale(up, 1.0 / v3_norm(up));
    v3_sub(to, x + 3 * (size_t)t[k], p);
    return v3_dot(up, to);
}

/// Whether every tetrahedron around a point is still at least as high as a sliver.
static bool is_sound(const PliMesh *m, PliIndex point, double least)
{
    double up[3];
    for (PliIndex e = 0; e < m->tet_count; ++e) {
        const PliIndex *t = m->tets + 4 * (size_t)e;
        if (t[0] != point && t[1] != point && t[2] != point && t[3] != point) continue;
        for (int k = 0; k < 4; ++k)
            if (!(altitude(m->x, t, k, up) > least)) return false;
    }
    return true;
}

/// Presses random tetrahedra flat by moving one corner each. @return how many
static int make_slivers(PliMesh *m, double height, uint8_t *moved)
{
    uint64_t random = 7;
    int made = 0;
    for (int tries = 0; made < SLIVERS && tries < 4000; ++tries) {
        const PliIndex *t = m->tets + 4 * (size_t)(pli_random_unit(&random) * m->tet_count);
        const int k = (int)(4.0 * pli_random_unit(&random));
        double up[3], *p = m->x + 3 * (size_t)t[k], old[3];
        const double high = altitude(m->x, t, k, up);
        if (moved[t[0]] || moved[t[1]] || moved[t[2]] || moved[t[3]]) continue;
        v3_copy(old, p);
        v3_madd(p, height - high, up);
        if (is_sound(m, t[k], 0.9 * height))
            ++made, moved[t[k]] = 1;
        else
            v3_copy(p, old);
    }
    return made;
}

// ---- running ----------------------------------------------------------------------------------------------------------------

typedef struct Run {
    PliBody *body;
    double *x, *v;
    double ms; ///< CPU per step, least of all rounds
    double substeps;
    PliStats stats;
} Run;

static bool open_run(Run *r, const PliHost *host, const PliMesh *mesh, const Subject *s, PliError *err)
{
    PliFemDef def = pli_fem_default();
    def.mesh = mesh;
    def.base.material = (PliMaterial){ PLI_COROT, s->young, 0.4, 1000.0, s->damping };
    r->body = pli_fem_create(host, &def, err);
    if (!r->body) return false;
    const PliIndex n = pli_body_dof_count(r->body);
    const double *rest = pli_body_rest(r->body);
    PliIndex *held = PLI_NEW(host, n, PliIndex), count = 0;
    double low = INFINITY, high = -INFINITY;
    r->x = PLI_NEW(host, 3 * (size_t)n, double), r->v = PLI_NEW(host, 3 * (size_t)n, double);
    for (PliIndex i = 0; i < n; ++i) low = fmin(low, rest[3 * i]), high = fmax(high, rest[3 * i]);
    for (PliIndex i = 0; held && i < n; ++i)
        if (rest[3 * i] < low + 0.1 * (high - low)) held[count++] = i;
    const bool ready = held && r->x && r->v && pli_body_set_fixed(r->body, held, count, err) == PLI_OK;
    PLI_FREE(host, held, n);
    return ready || pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for a body of %u nodes", n) == PLI_OK;
}

static void close_run(Run *r, const PliHost *host)
{
    const size_t n = r->body ? 3 * (size_t)pli_body_dof_count(r->body) : 0;
    PLI_FREE(host, r->x, n);
    PLI_FREE(host, r->v, n);
    pli_body_destroy(r->body);
}

/// Hangs from its held end for STEPS steps, from rest.
static bool swing(Run *r)
{
    PliState s = { .x = r->x, .v = r->v };
    pli_body_reset(r->body, &s);
    const double begin = pli_cpu_ms();
    r->substeps = 0.0;
    for (int k = 0; k < STEPS; ++k) {
        const PliStepInfo info = pli_body_step(r->body, &s, STEP);
        if (!info.finite) return false;
        r->substeps += (double)info.substeps / STEPS;
    }
    r->ms = fmin(r->ms, (pli_cpu_ms() - begin) / STEPS);
    r->stats = pli_body_stats(r->body);
    return true;
}

/// RMS difference of displacements over their RMS, of points that are where they were.
static double difference(const Run *plain, const Run *flat, const uint8_t *moved)
{
    const double *a = pli_body_rest(plain->body), *b = pli_body_rest(flat->body);
    double sum = 0.0, size = 0.0;
    for (PliIndex i = 0; i < pli_body_dof_count(plain->body); ++i)
        for (size_t k = 3 * (size_t)i; !moved[i] && k < 3 * (size_t)i + 3; ++k) {
            const double u = plain->x[k] - a[k], w = flat->x[k] - b[k];
            sum += (u - w) * (u - w), size += u * u;
        }
    return sqrt(sum / size);
}

static void judge(PliBench *b, const Subject *s, double *worst, double *error)
{
    const PliHost host = pli_host_default();
    PliError err = { PLI_OK, "" };
    PliQuality q;
    Run plain = { .ms = INFINITY }, flat = { .ms = INFINITY };
    char metric[64];
    PliMesh *good = pli_asset_mesh(&host, s->asset, &err), *bad = good ? pli_asset_mesh(&host, s->asset, &err) : NULL;
    uint8_t *moved = bad ? PLI_NEW(&host, bad->point_count, uint8_t) : NULL;
    bool done = moved && pli_quality_find(&host, good, &q);
    if (done && make_slivers(bad, FLAT * q.median_altitude, moved) < SLIVERS)
        done = pli_refuse(&err, PLI_BAD_MESH, "%s has no room for %d slivers", s->asset, SLIVERS) == PLI_OK;
    done = done && open_run(&plain, &host, good, s, &err) && open_run(&flat, &host, bad, s, &err);
    for (int k = 0; k < ROUNDS && done; ++k) done = swing(&plain) && swing(&flat);
    if (done) {
        const double slower = flat.ms / plain.ms, off = difference(&plain, &flat, moved);
        snprintf(metric, sizeof metric, "%s_slowdown", s->name);
        pli_bench_report(b, metric, slower, "x");
        snprintf(metric, sizeof metric, "%s_substeps", s->name);

        pli_bench_report(b, metric, flat.substeps / plain.substeps, "x");
        snprintf(metric, sizeof metric, "%s_error", s->name);
        pli_bench_report(b, metric, 100.0 * off, "%");
        *worst = slower > *worst ? slower : *worst, *error = off > *error ? off : *error;
    } else {
        pli_bench_broken(b, "%s: %s", s->name, err.text[0] ? err.text : "it diverged");
        *worst = NAN;
    }
    close_run(&plain, &host), close_run(&flat, &host);
    if (bad) PLI_FREE(&host, moved, bad->point_count);
    pli_mesh_destroy(good), pli_mesh_destroy(bad);
}

static void run_sliver(PliBench *b)
{
    double worst = 0.0, error = 0.0;
    for (int s = 0; s < SUBJECTS; ++s) {
        pli_progress(s, SUBJECTS, subjects[s].name);
        judge(b, &subjects[s], &worst, &error);
    }
    pli_bench_report(b, "slowdown", worst, "x, worst body");
    pli_bench_report(b, "error", 100.0 * error, "%, worst body");
}

const PliBenchCase pli_bench_sliver_cases[] = {
    { "meshes.sliver", "eight slivers in a body: CPU time of a step against the same body without them", run_sliver },
    { 0 },
};
