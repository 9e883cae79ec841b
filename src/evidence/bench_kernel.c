/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Cost of the elastic kernel per tetrahedron on one core, scatter to the points included.
#include "evidence/bench.h"

#include "base/fold.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/timer.h"
#include "evidence/assets.h"
#include "evidence/sofa.h"
#include "kernel/elastic.h"
#include "output/progress.h"
#include "solver/assembled.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/// Strains of some 5 % in a mesh whose edges are about `edge` long. Takes the mesh, or says why not.
static bool take_mesh(PliBench *b, Load *l, PliMesh *m, double edge, PliError *err)
{
    *l = (Load){ .mesh = m };
    if (!m) goto fail;
    size_t points = 3 * (size_t)m->point_count, tets = m->tet_count;
    l->rest = malloc(tets * sizeof *l->rest);
    l->which = malloc(tets * sizeof *l->which);
    l->volume = malloc(tets * sizeof *l->volume);
    l->x = malloc(points * sizeof *l->x);
    l->v = malloc(points * sizeof *l->v);
    l->f = malloc(points * sizeof *l->f);
    if (!l->rest || !l->which || !l->volume || !l->x || !l->v || !l->f) {
        pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for %zu tetrahedra", tets);
        goto fail;
    }
    PliIndex bad = PLI_NONE;
    if (pli_tet_rest(m->tets, m->tet_count, m->x, l->rest, &bad) != PLI_OK) {
        pli_refuse(err, PLI_BAD_MESH, "tetrahedron %u is flat", (unsigned)bad);
        goto fail;
    }
    uint64_t seed = 2;
    for (size_t i = 0; i < tets; ++i) l->which[i] = (PliIndex)i, l->volume[i] = l->rest[i].volume;
    for (size_t i = 0; i < points; ++i) {
        l->x[i] = m->x[i] + 0.05 * edge * (pli_random_unit(&seed) - 0.5);
        l->v[i] = pli_random_unit(&seed) - 0.5;
    }
    return true;
fail:
    pli_bench_broken(b, "%s", err->text);
    free_load(l);
    return false;
}

/// A jittered box of more than 100,000 tetrahedra. Shuffled: points and elements in random order, the worst a mesh file can do.
static bool make_load(PliBench *b, Load *l, bool shuffled)
{
    PliHost host = pli_host_default();
    PliError err = { PLI_OK, "no memory" };
    PliBoxDef box = { .min = { 0, 0, 0 }, .max = { 1, 1, 1 }, .cells = { 28, 28, 28 }, .jitter = 0.2, .seed = 1 };
    PliMesh *m = pli_mesh_box(&host, &box, &err);
    if (m && shuffled && !shuffle(m)) pli_mesh_destroy(m), m = NULL;
    return take_mesh(b, l, m, 1.0 / 28.0, &err);
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

// ---- against SOFA ----------------------------------------------------------------------------------------------------------

/// A stock force field. %g: Young's modulus, Lame's constants mu and lambda.
typedef struct Field {
    const char *name, *law, *text;
} Field;

static const Field fields[] = {
    { "fast", "corot", "<FastTetrahedralCorotationalForceField youngModulus=\"%1$g\" poissonRatio=\"0.3\"/>" },
    { "fem_polar", "corot", "<TetrahedronFEMForceField youngModulus=\"%1$g\" poissonRatio=\"0.3\" method=\"polar\"/>" },
    { "fem_large", "corot", "<TetrahedronFEMForceField youngModulus=\"%1$g\" poissonRatio=\"0.3\" method=\"large\"/>" },
    { "corotational", "corot",
      "<TetrahedralCorotationalFEMForceField youngModulus=\"%1$g\" poissonRatio=\"0.3\" method=\"polar\"/>" },
    { "hyperelastic", "stvk",
      "<TetrahedronHyperelasticityFEMForceField materialName=\"StVenantKirchhoff\" ParameterSet=\"%2$g %3$g\"/>" },
};
enum { FIELDS = sizeof fields / sizeof *fields };

static const char explicit_solver[] = "<EulerExplicitSolver/>";
static const double SHORT = 1e-5,
                    LONG = 0.01; ///< steps, s: that explicit ones stay stable; that CG is not done before its count

/// Bodies that fall freely, a little strained by nothing but their weight at the held end: a field's cost does not depend on that.
static PliStatus time_field(const PliSofa *sofa, const char *path, const Field *f, const char *solver, double dt,
                            double *ms, PliError *err)
{
    enum { BEFORE = 2, STEPS = 10 };
    const double young = 1e4, mu = young / 2.6, lambda = young * 0.3 / (1.3 * 0.4);
    PliText t = { 0 };
    char field[400] = "";
    pli_sofa_begin(&t, dt, 9.81);
    if (f) snprintf(field, sizeof field, f->text, young, mu, lambda);
    pli_text_print(&t,
                   "<RequiredPlugin pluginName=\"Sofa.Component.ODESolver.Forward\"/><DefaultAnimationLoop/>\n"
                   "<Node name=\"Body\">%s<MeshGmshLoader name=\"loader\" filename=\"%s\"/>"
                   "<TetrahedronSetTopologyContainer src=\"@loader\"/>"
                   "<TetrahedronSetGeometryAlgorithms template=\"Vec3d\"/>"
                   "<MechanicalObject template=\"Vec3d\" src=\"@loader\"/>"
                   "<DiagonalMass massDensity=\"1000\"/>%s<FixedProjectiveConstraint indices=\"0\"/></Node></Node>\n",
                   solver, path, field);
    const PliStatus status = t.failed ? pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for a scene")
                                      : pli_sofa_time(sofa, &t, BEFORE, STEPS, ms, err);
    pli_text_free(&t);
    return status;
}

/// ns per tetrahedron of a force, and of a product with its tangent (30 iterations of CG less 10). The vectors of CG count with the
/// product: some tenth of it. without: ms of an explicit step that has no field.
static PliStatus time_stock(const PliSofa *sofa, const char *path, const Field *f, size_t tets, double without,
                            double *force, double *product, PliError *err)
{
    static const char few[] = "<EulerImplicitSolver/><CGLinearSolver iterations=\"10\" tolerance=\"1e-99\" "
                              "threshold=\"1e-300\"/>";
    static const char many[] = "<EulerImplicitSolver/><CGLinearSolver iterations=\"30\" tolerance=\"1e-99\" "
                               "threshold=\"1e-300\"/>";
    double with = NAN, ten = NAN, thirty = NAN;
    PliStatus status = time_field(sofa, path, f, explicit_solver, SHORT, &with, err);
    if (status == PLI_OK) status = time_field(sofa, path, f, few, LONG, &ten, err);
    if (status == PLI_OK) status = time_field(sofa, path, f, many, LONG, &thirty, err);
    *force = 1e6 * (with - without) / (double)tets;
    *product = 1e6 * (thirty - ten) / 20.0 / (double)tets;
    return status;
}

static int by_key(const void *a, const void *b)
{
    const uint64_t p = *(const uint64_t *)a, q = *(const uint64_t *)b;
    return (p > q) - (p < q);
}

/// ns per tetrahedron of a product with the matrix that our iterations keep, rows in the order of the file; NaN: no memory.
static double time_product(const Load *l)
{
    const PliIndex n = l->mesh->point_count;
    const size_t tets = l->mesh->tet_count;
    const PliHost host = pli_host_default();
    double best = NAN;
    uint64_t *key = malloc(PLI_CORNER_PAIRS * tets * sizeof *key), seed = 3;
    PliAssembled m = { .host = host, .n = n };
    size_t pairs = 0;
    if (!key) return best;
    for (const PliIndex *c = l->mesh->tets; c < l->mesh->tets + 4 * tets; c += 4)
        for (int a = 1; a < 4; ++a)
            for (int b = 0; b < a; ++b) {
                const uint64_t row = c[a] > c[b] ? c[a] : c[b], column = c[a] > c[b] ? c[b] : c[a];
                key[pairs++] = row << 32 | column;
            }
    qsort(key, pairs, sizeof *key, by_key);
    size_t used = 0;
    for (size_t k = 0; k < pairs; ++k)
        if (k == 0 || key[k] != key[k - 1]) key[used++] = key[k];
#define ROOM(name, count) pli_reserve(&host, (void **)&m.name, &m.name##_capacity, (count), sizeof *m.name)
    if (ROOM(first, n + 1) && ROOM(column, used) && ROOM(value, 9 * (n + used) + 4) && ROOM(in, 4 * (size_t)n) &&
        ROOM(out, 4 * (size_t)n)) {
#undef ROOM
        memset(m.first, 0, ((size_t)n + 1) * sizeof *m.first);
        for (size_t k = 0; k < used; ++k) m.first[(key[k] >> 32) + 1]++, m.column[k] = (PliIndex)key[k];
        for (PliIndex i = 0; i < n; ++i) m.first[i + 1] += m.first[i];
        for (size_t k = 0; k < 9 * (n + used) + 4; ++k) m.value[k] = pli_random_unit(&seed);
        for (size_t k = 0; k < 4 * (size_t)n; ++k) m.in[k] = k % 4 == 3 ? 0.0 : pli_random_unit(&seed);
        best = INFINITY;
        for (int r = 0; r <= 50; ++r) {
            const double start = pli_cpu_ms();
            pli_assembled_multiply(&m, m.in, m.out);
            const double ns = (pli_cpu_ms() - start) * 1e6 / (double)tets;
            best = r > 0 ? pli_min(best, ns) : best;
        }
    }
    free(key);
    pli_assembled_release(&m);
    return best;
}

/// Ours on the same mesh, and the best stock field of each law over it.
static void bench_sofa(PliBench *b)
{
    static const char *const law_name[] = { "corot", "stvk" };
    static const PliLaw law[] = { PLI_COROT, PLI_STVK };
    PliHost host = pli_host_default();
    PliError err = { PLI_OK, "" };
    PliSofa sofa;
    Load l;
    char path[1100];
    double best[3] = { INFINITY, INFINITY, INFINITY }; // corotational, StVK, product
    if (!pli_sofa_open(&sofa, b)) return;
    if (pli_asset_path("meshes/liver_3.msh", path, sizeof path, &err) != PLI_OK ||
        !take_mesh(b, &l, pli_mesh_read(&host, path, &err), 0.004, &err)) {
        if (err.text[0]) pli_bench_broken(b, "%s", err.text);
        pli_sofa_close(&sofa);
        return;
    }
    double without = NAN;
    if (time_field(&sofa, path, NULL, explicit_solver, SHORT, &without, &err) != PLI_OK)
        pli_bench_broken(b, "%s", err.text);
    for (int k = 0; k < FIELDS && isfinite(without); ++k) {
        const int which = strcmp(fields[k].law, law_name[0]) != 0;
        double force, product;
        char metric[64];
        pli_progress(k, FIELDS, fields[k].name);
        if (time_stock(&sofa, path, &fields[k], l.mesh->tet_count, without, &force, &product, &err) != PLI_OK) {
            pli_bench_broken(b, "%s: %s", fields[k].name, err.text); // this one only
            continue;
        }
        snprintf(metric, sizeof metric, "sofa_%s", fields[k].name);
        pli_bench_report(b, metric, force, "ns per tetrahedron");
        snprintf(metric, sizeof metric, "sofa_%s_dforce", fields[k].name);
        pli_bench_report(b, metric, product, "ns per tetrahedron");
        best[which] = pli_min(best[which], force);
        if (which == 0) best[2] = pli_min(best[2], product);
    }
    for (int k = 0; k < 2; ++k) {
        char metric[64];
        PliElastic *e = make_elastic(b, &l, law[k], 0.0, pli_simd_best());
        if (!e) break;
        measure(e, &l, WORK_SET, NULL, 0);
        const double force = measure(e, &l, WORK_FORCE, NULL, 20);
        pli_bench_report(b, law_name[k], force, "ns per tetrahedron");
        snprintf(metric, sizeof metric, "%s_vs_sofa", law_name[k]);
        pli_bench_report(b, metric, best[k] / force, "best stock field over ours");
        if (k == 0) {
            measure(e, &l, WORK_LINEARIZE, NULL, 0);
            const double product = measure(e, &l, WORK_DFORCE, NULL, 10);
            pli_bench_report(b, "dforce", product, "ns per tetrahedron");
            const double assembled = time_product(&l);
            pli_bench_report(b, "dforce_assembled", assembled, "ns per tetrahedron, as iterations take it");
            pli_bench_report(b, "dforce_vs_sofa", best[2] / pli_min(product, assembled), "best stock field over ours");
        }
        pli_elastic_destroy(e);
    }
    free_load(&l);
    pli_sofa_close(&sofa);
}

const PliBenchCase pli_bench_kernel_cases[] = {
    { "kernel.stvk", "St. Venant-Kirchhoff force, box of > 100,000 tetrahedra, one core, smallest of 20", bench_stvk },
    { "kernel.corot", "corotational force, same box", bench_corot },
    { "kernel.neohookean", "stable neo-Hookean force, same box", bench_neohookean },
    { "kernel.tangent", "product with the tangent, replacing the elements, looking for inverted ones", bench_tangent },
    { "kernel.step", "explicit steps of a uniform StVK body, integration and checks included", bench_step },
    { "kernel.sofa", "forces and products with tangents of SOFA's force fields in runSofa, ours on the same liver",
      bench_sofa },
    { NULL, NULL, NULL },
};
