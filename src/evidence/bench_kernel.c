/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Cost of the elastic kernel per tetrahedron on one core, scatter to the points included.
#include "evidence/bench.h"

#include "base/hash.h"
#include "base/timer.h"
#include "kernel/elastic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// A jittered box of more than 100,000 tetrahedra. Shuffled: points and elements in random order, the worst a mesh file can do.
typedef struct Load {
    PliMesh *mesh;
    PliTetRest *rest;
    PliIndex *which;
    double *volume, *x, *v, *f;
} Load;

static void free_load(Load *l)
{
    pli_mesh_destroy(l->mesh);
    free(l->rest), free(l->which), free(l->volume), free(l->x), free(l->v), free(l->f);
    *l = (Load){ 0 };
}

static bool shuffle(PliMesh *m)
{
    uint64_t seed = 1;
    PliIndex *to = malloc(m->point_count * sizeof *to);
    double *x = malloc(3 * (size_t)m->point_count * sizeof *x);
    if (to && x) {
        for (PliIndex i = 0; i < m->point_count; ++i) to[i] = i;
        for (PliIndex i = m->point_count; i-- > 1;) {
            PliIndex j = (PliIndex)(pli_random(&seed) % (i + 1)), t = to[i];
            to[i] = to[j], to[j] = t;
        }
        memcpy(x, m->x, 3 * (size_t)m->point_count * sizeof *x);
        for (PliIndex i = 0; i < m->point_count; ++i)
            memcpy(m->x + 3 * (size_t)to[i], x + 3 * (size_t)i, 3 * sizeof *x);
        for (size_t k = 0; k < 4 * (size_t)m->tet_count; ++k) m->tets[k] = to[m->tets[k]];
        for (PliIndex i = m->tet_count; i-- > 1;) {
            PliIndex j = (PliIndex)(pli_random(&seed) % (i + 1)), t[4];
            memcpy(t, m->tets + 4 * (size_t)i, sizeof t);
            memcpy(m->tets + 4 * (size_t)i, m->tets + 4 * (size_t)j, sizeof t);
            memcpy(m->tets + 4 * (size_t)j, t, sizeof t);
        }
    }
    bool ok = to && x;
    free(to), free(x);
    return ok;
}

static bool make_load(PliBench *b, Load *l, bool shuffled)
{
    PliHost host = pli_host_default();
    PliError err = { PLI_OK, "no memory" };
    PliBoxDef box = { .min = { 0, 0, 0 }, .max = { 1, 1, 1 }, .cells = { 28, 28, 28 }, .jitter = 0.2, .seed = 1 };
    *l = (Load){ .mesh = pli_mesh_box(&host, &box, &err) };
    PliMesh *m = l->mesh;
    if (!m || (shuffled && !shuffle(m))) goto fail;
    size_t points = 3 * (size_t)m->point_count, tets = m->tet_count;
    l->rest = malloc(tets * sizeof *l->rest);
    l->which = malloc(tets * sizeof *l->which);
    l->volume = malloc(tets * sizeof *l->volume);
    l->x = malloc(points * sizeof *l->x);
    l->v = malloc(points * sizeof *l->v);
    l->f = malloc(points * sizeof *l->f);
    if (!l->rest || !l->which || !l->volume || !l->x || !l->v || !l->f) goto fail;
    PliIndex bad = PLI_NONE;
    if (pli_tet_rest(m->tets, m->tet_count, m->x, l->rest, &bad) != PLI_OK) {
        pli_refuse(&err, PLI_BAD_MESH, "tetrahedron %u of the box is flat", (unsigned)bad);
        goto fail;
    }
    uint64_t seed = 2;
    for (size_t i = 0; i < tets; ++i) l->which[i] = (PliIndex)i, l->volume[i] = l->rest[i].volume;
    for (size_t i = 0; i < points; ++i) {
        l->x[i] = m->x[i] + 0.05 / 28.0 * (pli_random_unit(&seed) - 0.5); // strains of some 5 %
        l->v[i] = pli_random_unit(&seed) - 0.5;
    }
    return true;
fail:
    pli_bench_broken(b, "%s", err.text);
    free_load(l);
    return false;
}

static PliElastic *make_elastic(PliBench *b, const Load *l, PliLaw law, double damping, PliSimd simd)
{
    PliHost host = pli_host_default();
    PliError err = { PLI_OK, "" };
    PliElasticDef def = { .material = { law, 1e4, 0.3, 1000.0, damping },
                          .simd = simd,
                          .point_capacity = l->mesh->point_count,
                          .tet_capacity = l->mesh->tet_count };
    PliElastic *e = pli_elastic_create(&host, &def, &err);
    if (!e) pli_bench_broken(b, "%s", err.text);
    return e;
}

typedef enum Work { WORK_SET, WORK_FORCE, WORK_LINEARIZE, WORK_DFORCE, WORK_ENERGY, WORK_INVERTED } Work;

/// Smallest CPU time over `repeats`, ns per tetrahedron; one more run warms up.
static double measure(PliElastic *e, const Load *l, Work work, const double *v, int repeats)
{
    const PliMesh *m = l->mesh;
    double best = 1e300;
    memset(l->f, 0, 3 * (size_t)m->point_count * sizeof *l->f);
    for (int r = 0; r <= repeats; ++r) {
        double start = pli_cpu_ms();
        switch (work) {
        case WORK_SET:
            (void)pli_elastic_set_tets(e, m->point_count, m->tet_count, m->tets, l->which, l->rest, l->volume, NULL);
            break;
        case WORK_FORCE: pli_elastic_add_force(e, l->x, v, l->f); break;
        case WORK_LINEARIZE: pli_elastic_linearize(e, l->x); break;
        case WORK_DFORCE: pli_elastic_add_dforce(e, l->v, 1.0, l->f); break;
        case WORK_ENERGY: l->f[0] += pli_elastic_energy(e, l->x); break;
        case WORK_INVERTED: l->f[0] += pli_elastic_inverted(e, l->x, NULL); break;
        }
        double ns = (pli_cpu_ms() - start) * 1e6 / m->tet_count;
        if (r > 0 && ns < best) best = ns;
    }
    return best;
}

static void bench_law(PliBench *b, PliLaw law)
{
    for (int shuffled = 0; shuffled < 2; ++shuffled) {
        Load l;
        if (!make_load(b, &l, shuffled)) return;
        for (PliSimd simd = PLI_SIMD_NONE; simd <= pli_simd_best(); ++simd) {
            bool best = simd == pli_simd_best();
            PliElastic *e = make_elastic(b, &l, law, 0.001, simd);
            if (!e) break;
            measure(e, &l, WORK_SET, NULL, 0);
            char metric[64];
            snprintf(metric, sizeof metric, "ns_per_tet%s%s%s", best ? "" : "_", best ? "" : pli_simd_name(simd),
                     shuffled ? "_shuffled" : "");
            pli_bench_report(b, metric, measure(e, &l, WORK_FORCE, NULL, 20), "ns");
            if (best && !shuffled) {
                pli_bench_report(b, "ns_per_tet_damped", measure(e, &l, WORK_FORCE, l.v, 20), "ns");
                pli_bench_report(b, "energy_ns_per_tet", measure(e, &l, WORK_ENERGY, NULL, 5), "ns");
                pli_bench_report(b, "linearize_ns_per_tet", measure(e, &l, WORK_LINEARIZE, NULL, 5), "ns");
            }
            pli_elastic_destroy(e);
        }
        free_load(&l);
    }
}

static void bench_stvk(PliBench *b) { bench_law(b, PLI_STVK); }
static void bench_corot(PliBench *b) { bench_law(b, PLI_COROT); }
static void bench_neohookean(PliBench *b) { bench_law(b, PLI_NEOHOOKEAN); }

static void bench_tangent(PliBench *b)
{
    Load l;
    if (!make_load(b, &l, false)) return;
    PliElastic *e = make_elastic(b, &l, PLI_COROT, 0.0, pli_simd_best());
    if (e) {
        pli_bench_report(b, "set_tets_ns_per_tet", measure(e, &l, WORK_SET, NULL, 10), "ns");
        measure(e, &l, WORK_LINEARIZE, NULL, 0);
        pli_bench_report(b, "dforce_ns_per_tet", measure(e, &l, WORK_DFORCE, NULL, 10), "ns");
        pli_bench_report(b, "inverted_ns_per_tet", measure(e, &l, WORK_INVERTED, NULL, 10), "ns");
    }
    pli_elastic_destroy(e);
    free_load(&l);
}

/// Whole explicit steps of a uniform body: kernel, integration and checks.
static void bench_step(PliBench *b)
{
    Load l;
    if (!make_load(b, &l, false)) return;
    PliHost host = pli_host_default();
    PliError err = { PLI_OK, "" };
    PliFemDef def = pli_fem_default();
    def.mesh = l.mesh;
    PliBody *body = pli_fem_create(&host, &def, &err);
    if (!body) {
        pli_bench_broken(b, "%s", err.text);
        free_load(&l);
        return;
    }
    PliState state = { .x = l.x, .v = l.v };
    memcpy(l.x, pli_body_rest(body), 3 * (size_t)l.mesh->point_count * sizeof *l.x);
    memset(l.v, 0, 3 * (size_t)l.mesh->point_count * sizeof *l.v);
    pli_body_reset(body, &state);
    double best = 1e300;
    int substeps = 1;
    for (int r = 0; r < 4; ++r) {
        double start = pli_cpu_ms();
        PliStepInfo info = pli_body_step(body, &state, 0.01);
        double ns = (pli_cpu_ms() - start) * 1e6;
        substeps = info.substeps > 0 ? info.substeps : 1;
        if (!info.finite) pli_bench_broken(b, "the step diverged");
        if (r > 0 && ns / substeps < best) best = ns / substeps;
    }
    pli_bench_report(b, "ns_per_tet_and_substep", best / l.mesh->tet_count, "ns");
    pli_bench_report(b, "substeps_per_10ms_step", substeps, "1");
    pli_bench_report(b, "million_tet_updates_per_s", 1e3 * l.mesh->tet_count / best, "1/us");
    pli_body_destroy(body);
    free_load(&l);
}

const PliBenchCase pli_bench_kernel_cases[] = {
    { "kernel.stvk", "St. Venant-Kirchhoff force, box of > 100,000 tetrahedra, one core, smallest of 20", bench_stvk },
    { "kernel.corot", "corotational force, same box", bench_corot },
    { "kernel.neohookean", "stable neo-Hookean force, same box", bench_neohookean },
    { "kernel.tangent", "product with the tangent, replacing the elements, looking for inverted ones", bench_tangent },
    { "kernel.step", "explicit steps of a uniform StVK body, integration and checks included", bench_step },
    { NULL, NULL, NULL },
};
