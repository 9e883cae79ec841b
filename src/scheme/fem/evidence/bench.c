/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// What an implicit step costs, whole and in parts, for every linear solver. All times are CPU times of one thread.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fold.h"
#include "base/memory.h"
#include "base/timer.h"
#include "evidence/assets.h"
#include "evidence/bench.h"
#include "evidence/sofa.h"
#include "output/progress.h"

#include <pliant/body.h>

static const double dt = 0.01;
static const double HELD = 0.2;      ///< of the length, from one end
static const double SAME_BODY = 5.0; ///< %, a set-up that ends farther off has another material
enum { WARM = 3, STEPS = 5 };

/// A body that hangs on one side, falls and swings; nothing pushes it, so that the solver is all there is.
typedef struct Hanging {
    PliHost host;
    PliMesh *mesh;
    PliBody *body;
    size_t count;
    PliState state;
} Hanging;

typedef struct Cost {
    double step, linearize, prepare, iterate; ///< ms, medians
    double iterations, residual;              ///< means, largest
} Cost;

static void close_body(Hanging *h)
{
    PLI_FREE(&h->host, h->state.x, 3 * h->count);
    PLI_FREE(&h->host, h->state.v, 3 * h->count);
    pli_body_destroy(h->body);
    h->body = NULL, h->state = (PliState){ 0 };
}

static bool open_body(Hanging *h, PliIntegrator integrator, double young, PliLinearSolver solver, double tolerance,
                      PliError *err)
{
    PliFemDef def = pli_fem_default();
    def.mesh = h->mesh;
    def.base.material = (PliMaterial){ PLI_COROT, young, 0.4, 1050.0, 0.0 };
    def.base.integrator = integrator;
    def.base.linear_solver = solver;
    def.base.cg_iterations = 5000, def.base.cg_tolerance = tolerance;
    h->body = pli_fem_create(&h->host, &def, err);
    if (!h->body) return false;
    h->count = pli_body_dof_count(h->body);
    h->state.x = PLI_NEW(&h->host, 3 * h->count, double);
    h->state.v = PLI_NEW(&h->host, 3 * h->count, double);
    PliIndex *held = PLI_NEW(&h->host, h->count, PliIndex), n = 0;
    if (!h->state.x || !h->state.v || !held) return false;
    const double *rest = pli_body_rest(h->body);
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < h->count; ++i) low = pli_min(low, rest[3 * i]), high = pli_max(high, rest[3 * i]);
    for (size_t i = 0; i < h->count; ++i)
        if (rest[3 * i] < low + HELD * (high - low)) held[n++] = (PliIndex)i;
    memcpy(h->state.x, rest, 3 * h->count * sizeof *rest);
    const bool good = pli_body_set_fixed(h->body, held, n, err) == PLI_OK;
    PLI_FREE(&h->host, held, h->count);
    return good;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *value, int count)
{
    qsort(value, (size_t)count, sizeof *value, by_value);
    return value[count / 2];
}

static bool measure(Hanging *h, int steps, Cost *cost)
{
    double step[STEPS], linearize[STEPS], prepare[STEPS], iterate[STEPS];
    *cost = (Cost){ 0 };
    for (int k = -WARM; k < steps; ++k) {
        const PliStepInfo info = pli_body_step(h->body, &h->state, dt);
        if (!info.finite) return false;
        if (k < 0) continue;
        const PliStats s = pli_body_stats(h->body);
        step[k] = s.step_ms, linearize[k] = s.linearize_ms, prepare[k] = s.prepare_ms, iterate[k] = s.iterate_ms;
        cost->iterations += (double)info.cg_iterations / steps;
        cost->residual = pli_max(cost->residual, info.residual);
    }
    cost->step = median(step, steps), cost->linearize = median(linearize, steps);
    cost->prepare = median(prepare, steps), cost->iterate = median(iterate, steps);
    return true;
}

static void report(PliBench *b, const char *which, const Cost *c)
{
    const struct {
        const char *name;
        double value;
        const char *unit;
    } rows[] = { { "", c->step, "ms/step" },
                 { "_linearize", c->linearize, "ms/step" },
                 { "_prepare", c->prepare, "ms/step" },
                 { "_iterate", c->iterate, "ms/step" },
                 { "_iterations", c->iterations, "" },
                 { "_residual", c->residual, "" } };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; ++k) {
        char metric[64];
        snprintf(metric, sizeof metric, "%s%s", which, rows[k].name);
        pli_bench_report(b, metric, rows[k].value, rows[k].unit);
    }
}

static const struct {
    const char *name;
    PliLinearSolver solver;
} solvers[] = { { "cg", PLI_SOLVE_CG },
                { "minres", PLI_SOLVE_MINRES },
                { "ldl", PLI_SOLVE_LDL },
                { "incomplete", PLI_SOLVE_INCOMPLETE },
                { "multigrid", PLI_SOLVE_MULTIGRID },
                { "auto", PLI_SOLVE_AUTO } };

static void run_implicit(PliBench *b)
{
    static const char *const asset[] = { "meshes/liver_1.msh", "meshes/liver_2.msh", "meshes/liver_3.msh" };
    static const double young[] = { 4e3, 4e5 };
    PliError err = { PLI_OK, "" };
    for (int m = 0; m < 3; ++m) {
        Hanging h = { .host = pli_host_default() };
        h.mesh = pli_asset_mesh(&h.host, asset[m], &err);
        for (int y = 0; h.mesh && y < 2; ++y)
            for (size_t s = 0; s < sizeof solvers / sizeof *solvers; ++s) {
                Cost cost;
                char which[48];
                snprintf(which, sizeof which, "%s_%u_%s", solvers[s].name, (unsigned)h.mesh->point_count,
                         y ? "stiff" : "soft");
                if (open_body(&h, PLI_IMPLICIT, young[y], solvers[s].solver, 1e-4, &err) && measure(&h, STEPS, &cost))
                    report(b, which, &cost);
                else
                    pli_bench_broken(b, "%s: %s", which, err.text[0] ? err.text : "a step was not done");
                close_body(&h);
            }
        if (!h.mesh) pli_bench_broken(b, "%s", err.text);
        pli_mesh_destroy(h.mesh);
    }
}

/// Iterations of cubes of 0.1 m that hang on one side, from 729 to 103,823 nodes.
static void run_growth(PliBench *b)
{
    static const PliIndex cells[] = { 8, 19, 46 };
    static const double young[] = { 4e3, 4e5 };
    enum { SIZES = sizeof cells / sizeof *cells };
    PliError err = { PLI_OK, "" };
    double iterations[2][SIZES] = { { 0.0 } };
    for (int m = 0; m < SIZES; ++m) {
        Hanging h = { .host = pli_host_default() };
        const PliBoxDef box = {
            .max = { 0.1, 0.1, 0.1 }, .cells = { cells[m], cells[m], cells[m] }, .jitter = 0.2, .seed = 5
        };
        h.mesh = pli_mesh_box(&h.host, &box, &err);
        for (int y = 0; h.mesh && y < 2; ++y) {
            Cost cost;
            if (!open_body(&h, PLI_IMPLICIT, young[y], PLI_SOLVE_MULTIGRID, 1e-4, &err) || !measure(&h, 3, &cost)) {
                pli_bench_broken(b, "%s", err.text[0] ? err.text : "a step was not done");
            } else {
                char metric[64];
                snprintf(metric, sizeof metric, "iterations_%u_%s", (unsigned)h.mesh->point_count,
                         y ? "stiff" : "soft");
                iterations[y][m] = cost.iterations;
                pli_bench_report(b, metric, cost.iterations, "");
                snprintf(metric, sizeof metric, "ms_%u_%s", (unsigned)h.mesh->point_count, y ? "stiff" : "soft");
                pli_bench_report(b, metric, cost.step, "ms/step");
            }
            close_body(&h);
        }
        if (!h.mesh) pli_bench_broken(b, "%s", err.text);
        pli_mesh_destroy(h.mesh);
    }
    for (int y = 0; y < 2; ++y)
        pli_bench_report(b, y ? "growth_stiff" : "growth", iterations[y][SIZES - 1] / iterations[y][0], "");
}

// ---- threads ---------------------------------------------------------------------------------------------------------------

/// Two bodies of 13,086 nodes side by side, with one thread and with two, their steps in turn: least wall time and least CPU time of the
/// thread that steps, which is what a step takes at best where other processes have the processors.
static void run_threads_of(PliBench *b, const char *name, PliIntegrator integrator, PliRates rates)
{
    enum { TURNS = 6 };
    PliError err = { PLI_OK, "" };
    PliPool *pool = pli_pool_create(2);
    Hanging h[2] = { { .host = pli_host_default() }, { .host = pli_host_default() } };
    double wall[2] = { INFINITY, INFINITY }, cpu[2] = { INFINITY, INFINITY };
    if (pool) pli_pool_lend(pool, &h[1].host);
    bool ok = pool != NULL;
    for (int k = 0; k < 2 && ok; ++k) {
        h[k].mesh = pli_asset_mesh(&h[k].host, "meshes/liver_3.msh", &err);
        ok = h[k].mesh && open_body(&h[k], integrator, 4e3, PLI_SOLVE_AUTO, 1e-4, &err);
        if (!ok) break;
        PliBodyDef def = *pli_body_def(h[k].body);
        def.multirate = rates;
        ok = pli_body_retune(h[k].body, &def, &err) == PLI_OK;
    }
    for (int turn = -WARM; turn < TURNS && ok; ++turn)
        for (int k = 0; k < 2 && ok; ++k) {
            const double start = pli_wall_ms(), begin = pli_cpu_ms();
            ok = pli_body_step(h[k].body, &h[k].state, dt).finite;
            if (turn < 0) continue;
            cpu[k] = pli_min(cpu[k], pli_cpu_ms() - begin), wall[k] = pli_min(wall[k], pli_wall_ms() - start);
        }
    if (ok) {
        const struct {
            const char *what;
            double value;
            const char *unit;
        } rows[] = { { "speedup", wall[0] / wall[1], "wall, two threads" },
                     { "split", cpu[0] / cpu[1], "CPU of the thread that steps" },
                     { "one", wall[0], "ms wall" },
                     { "two", wall[1], "ms wall" },
                     { "same_hash",
                       pli_body_hash(h[0].body, &h[0].state) == pli_body_hash(h[1].body, &h[1].state) ? 1.0 : 0.0,
                       "" } };
        for (size_t k = 0; k < sizeof rows / sizeof *rows; ++k) {
            char metric[64];
            snprintf(metric, sizeof metric, "%s_%s", name, rows[k].what);
            pli_bench_report(b, metric, rows[k].value, rows[k].unit);
        }
    } else {
        pli_bench_broken(b, "%s", err.text[0] ? err.text : "a step was not done");
    }
    for (int k = 0; k < 2; ++k) {
        close_body(&h[k]);
        pli_mesh_destroy(h[k].mesh);
    }
    pli_pool_destroy(pool);
}

static void run_threads(PliBench *b)
{
    run_threads_of(b, "explicit", PLI_SYMPLECTIC, PLI_RATES_ONE);
    run_threads_of(b, "rates", PLI_SYMPLECTIC, PLI_RATES_OWN);
    run_threads_of(b, "implicit", PLI_IMPLICIT, PLI_RATES_ONE);
}

// ---- against SOFA ----------------------------------------------------------------------------------------------------------

/// A stock set-up: a force field and what solves. %1$g: Young's modulus, %2$g and %3$g: Lame's constants mu and lambda.
typedef struct Stock {
    const char *name, *field, *solver;
    PliIndex most; ///< points of the largest mesh it is tried on: factors of larger ones take seconds a step
} Stock;

#define FAST "<FastTetrahedralCorotationalForceField youngModulus=\"%1$g\" poissonRatio=\"0.4\"/>"
#define FEM "<TetrahedronFEMForceField youngModulus=\"%1$g\" poissonRatio=\"0.4\" method=\"polar\"/>"
#define CG "<CGLinearSolver iterations=\"5000\" tolerance=\"1e-4\" threshold=\"1e-30\"/>"
#define PCG(rate)                                                                                                      \
    "<PreconditionedMatrixFreeSystem assemblingRate=\"" rate                                                           \
    "\"/><PCGLinearSolver iterations=\"5000\" tolerance=\"1e-4\" preconditioner=\"@pre\"/>"                            \
    "<MatrixLinearSystem template=\"CompressedRowSparseMatrixMat3x3\" name=\"matrix\"/>"
#define OF_BLOCKS " template=\"CompressedRowSparseMatrixMat3x3\" "
static const Stock stock[] = {
    { "fast_cg", FAST, CG, 100000 },
    { "fast_cg_warm", FAST,
      "<CGLinearSolver iterations=\"5000\" tolerance=\"1e-4\" threshold=\"1e-30\" warmStart=\"1\"/>", 100000 },
    { "fast_pcg_ssor", FAST, PCG("1") "<SSORPreconditioner name=\"pre\"" OF_BLOCKS "linearSystem=\"@matrix\"/>",
      100000 },
    { "fast_pcg_ldl_20", FAST, PCG("20") "<SparseLDLSolver name=\"pre\"" OF_BLOCKS "linearSystem=\"@matrix\"/>", 5000 },
    { "fast_ldl", FAST, "<SparseLDLSolver" OF_BLOCKS "/>", 5000 },
    { "fast_eigen_ldlt", FAST, "<EigenSimplicialLDLT" OF_BLOCKS "/>", 5000 },
    { "fem_warp_ldl_20", FEM,
      PCG("20") "<SparseLDLSolver name=\"factor\"" OF_BLOCKS
                "linearSystem=\"@matrix\"/><RotationMatrixSystem name=\"turned\" assemblingRate=\"1\"/>"
                "<WarpPreconditioner name=\"pre\" linearSystem=\"@turned\" linearSolver=\"@factor\"/>",
      5000 },
    { "fem_cg", FEM, CG, 5000 },
    { "corotational_cg",
      "<TetrahedralCorotationalFEMForceField youngModulus=\"%1$g\" poissonRatio=\"0.4\" method=\"polar\"/>", CG, 5000 },
    { "hyperelastic_cg",
      "<TetrahedronHyperelasticityFEMForceField materialName=\"StVenantKirchhoff\" ParameterSet=\"%2$g %3$g\"/>", CG,
      5000 },
};

static void put_held(PliText *t, const PliMesh *mesh)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < mesh->point_count; ++i)
        low = pli_min(low, mesh->x[3 * i]), high = pli_max(high, mesh->x[3 * i]);
    pli_text_put(t, "<FixedProjectiveConstraint indices=\"");
    for (size_t i = 0; i < mesh->point_count; ++i)
        if (mesh->x[3 * i] < low + HELD * (high - low)) pli_text_print(t, "%zu ", i);
    pli_text_put(t, "\"/>\n");
}

/// The hanging body as a scene: of stock components, or of ours (NULL).
static void put_scene(PliText *t, const Stock *with, const PliMesh *mesh, const char *path, double young)
{
    const double mu = young / 2.8, lambda = young * 0.4 / (1.4 * 0.2);
    pli_sofa_begin(t, dt, 9.81);
    pli_text_put(t, "<DefaultAnimationLoop/>\n<Node name=\"Body\">\n");
    if (with) {
        pli_text_print(t,
                       "<EulerImplicitSolver rayleighStiffness=\"0\" rayleighMass=\"0\"/>%s\n"
                       "<MeshGmshLoader name=\"loader\" filename=\"%s\"/>\n"
                       "<TetrahedronSetTopologyContainer src=\"@loader\"/>\n"
                       "<TetrahedronSetGeometryAlgorithms template=\"Vec3d\"/>\n"
                       "<MechanicalObject name=\"dofs\" template=\"Vec3d\" src=\"@loader\"/>\n"
                       "<DiagonalMass massDensity=\"1050\"/>\n",
                       with->solver, path);
        char field[400];
        snprintf(field, sizeof field, with->field, young, mu, lambda);
        pli_text_put(t, field);
    } else {
        pli_text_print(t,
                       "<FemModel name=\"model\" filename=\"%s\" law=\"corotational\" youngModulus=\"%g\" "
                       "poissonRatio=\"0.4\" density=\"1050\" integrator=\"implicit\" linearSolver=\"auto\" "
                       "tolerance=\"1e-4\" iterations=\"5000\"/>\n"
                       "<AdaptiveSolver/>\n<MechanicalObject name=\"dofs\" position=\"@model.position\"/>\n",
                       path, young);
    }
    put_held(t, mesh);
}

/// ms/step of a set-up, and how far it ends from `wanted` (RMS over the largest displacement there, %).
static PliStatus try_setup(const PliSofa *sofa, const Stock *with, const PliMesh *mesh, const char *path, double young,
                           int steps, const double *wanted, double *places, double *ms, double *off, PliError *err)
{
    PliText scene = { 0 };
    put_scene(&scene, with, mesh, path, young);
    pli_sofa_write_places(sofa, &scene, &(int){ WARM + steps }, 1, dt);
    pli_text_put(&scene, "</Node></Node>\n");
    PliStatus status = scene.failed ? pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for a scene")
                                    : pli_sofa_time(sofa, &scene, WARM, steps, ms, err);
    if (status == PLI_OK) status = pli_sofa_read_places(sofa, mesh->point_count, places, err);
    double square = 0.0, most = 0.0;
    for (size_t i = 0; i < mesh->point_count; ++i) {
        double moved = 0.0;
        for (size_t c = 3 * i; c < 3 * i + 3; ++c) {
            square += (places[c] - wanted[c]) * (places[c] - wanted[c]) / mesh->point_count;
            moved += (wanted[c] - mesh->x[c]) * (wanted[c] - mesh->x[c]);
        }
        most = pli_max(most, sqrt(moved));
    }
    *off = 100.0 * sqrt(square) / most;
    pli_text_free(&scene);
    return status;
}

static void report_setup(PliBench *b, const char *name, const char *kind, double ms, double off)
{
    char metric[64];
    snprintf(metric, sizeof metric, "%s_%s_ms", name, kind);
    pli_bench_report(b, metric, ms, "ms/step in runSofa");
    snprintf(metric, sizeof metric, "%s_%s_error", name, kind);
    pli_bench_report(b, metric, off, "% of the largest displacement");
}

/// Where the same mesh is after those steps, linear systems solved to 1e-10.
static bool find_wanted(Hanging *h, double young, int steps, double *wanted, PliError *err)
{
    bool ok = open_body(h, PLI_IMPLICIT, young, PLI_SOLVE_MULTIGRID, 1e-10, err);
    for (int k = 0; k < WARM + steps && ok; ++k) ok = pli_body_step(h->body, &h->state, dt).finite;
    if (ok) memcpy(wanted, h->state.x, 3 * h->count * sizeof *wanted);
    close_body(h);
    return ok;
}

/// One stiffness: ours, every stock set-up, and the best of those over ours.
static bool race(PliBench *b, const PliSofa *sofa, Hanging *h, const char *path, double young, const char *kind,
                 double *work, PliError *err)
{
    const int steps = h->mesh->point_count > 10000 ? 8 : 20;
    double *wanted = work, *places = work + 3 * (size_t)h->mesh->point_count, ours, off, best = INFINITY;
    char metric[64];
    if (!find_wanted(h, young, steps, wanted, err) ||
        try_setup(sofa, NULL, h->mesh, path, young, steps, wanted, places, &ours, &off, err) != PLI_OK)
        return false;
    report_setup(b, "pliant", kind, ours, off);
    for (size_t k = 0; k < sizeof stock / sizeof *stock; ++k) {
        double ms;
        if (h->mesh->point_count > stock[k].most) continue;
        pli_progress((int)k, (int)(sizeof stock / sizeof *stock), stock[k].name);
        if (try_setup(sofa, &stock[k], h->mesh, path, young, steps, wanted, places, &ms, &off, err) != PLI_OK) {
            pli_bench_broken(b, "%s: %s", stock[k].name, err->text); // this one only
            continue;
        }
        report_setup(b, stock[k].name, kind, ms, off);
        if (off <= SAME_BODY) best = pli_min(best, ms);
    }
    snprintf(metric, sizeof metric, "vs_sofa_%s", kind);
    if (isfinite(best)) pli_bench_report(b, metric, best / ours, "best stock set-up over ours");
    return isfinite(best);
}

static void run_sofa(PliBench *b, const char *asset)
{
    PliSofa sofa;
    PliError err = { PLI_OK, "" };
    char path[2048];
    if (!pli_sofa_open(&sofa, b)) return;
    Hanging h = { .host = pli_host_default() };
    h.mesh = pli_asset_path(asset, path, sizeof path, &err) == PLI_OK ? pli_mesh_read(&h.host, path, &err) : NULL;
    const size_t room = h.mesh ? 6 * (size_t)h.mesh->point_count : 0;
    double *work = PLI_NEW(&h.host, room, double);
    if (!h.mesh || !work || !race(b, &sofa, &h, path, 4e3, "soft", work, &err) ||
        !race(b, &sofa, &h, path, 4e5, "stiff", work, &err))
        pli_bench_broken(b, "%s", err.text[0] ? err.text : "a step was not done");
    PLI_FREE(&h.host, work, room);
    pli_mesh_destroy(h.mesh);
    pli_sofa_close(&sofa);
}

static void run_sofa_small(PliBench *b) { run_sofa(b, "meshes/liver_1.msh"); }
static void run_sofa_middle(PliBench *b) { run_sofa(b, "meshes/liver_2.msh"); }
static void run_sofa_large(PliBench *b) { run_sofa(b, "meshes/liver_3.msh"); }

// ---- memory ----------------------------------------------------------------------------------------------------------------------

typedef struct Counter {
    PliHost host;
    size_t now, most; ///< bytes
} Counter;

static void *count_alloc(size_t bytes, size_t align, void *user)
{
    Counter *c = user;
    void *block = c->host.alloc(bytes, align, c->host.user);
    if (block) c->now += bytes;
    if (c->now > c->most) c->most = c->now;
    return block;
}

static void count_release(void *block, size_t bytes, void *user)
{
    Counter *c = user;
    if (block) c->now -= bytes;
    c->host.release(block, bytes, c->host.user);
}

/// Everything a body of the finest liver holds, its copy of the mesh, skin and solver included, after some steps; the host's own arrays apart.
static void run_memory(PliBench *b)
{
    static const struct {
        const char *name;
        PliIntegrator integrator;
        PliLinearSolver solver;
    } row[] = { { "symplectic", PLI_SYMPLECTIC, PLI_SOLVE_CG },
                { "cg", PLI_IMPLICIT, PLI_SOLVE_CG },
                { "incomplete", PLI_IMPLICIT, PLI_SOLVE_INCOMPLETE },
                { "multigrid", PLI_IMPLICIT, PLI_SOLVE_MULTIGRID },
                { "ldl", PLI_IMPLICIT, PLI_SOLVE_LDL } };
    PliError err = { PLI_OK, "" };
    for (size_t k = 0; k < sizeof row / sizeof *row; ++k) {
        Counter counter = { .host = pli_host_default() };
        Hanging h = { .host = counter.host };
        h.mesh = pli_asset_mesh(&h.host, "meshes/liver_3.msh", &err);
        h.host.alloc = count_alloc, h.host.release = count_release, h.host.user = &counter;
        bool good = h.mesh && open_body(&h, row[k].integrator, 4e3, row[k].solver, 1e-4, &err);
        for (int step = 0; good && step < 2; ++step) good = pli_body_step(h.body, &h.state, dt).finite;
        if (good) {
            char metric[64];
            const double tets = h.mesh->tet_count, own = 6.0 * (double)h.count * sizeof(double);
            snprintf(metric, sizeof metric, "bytes_per_tet_%s", row[k].name);
            pli_bench_report(b, metric, ((double)counter.now - own) / tets, "B");
            snprintf(metric, sizeof metric, "most_per_tet_%s", row[k].name);
            pli_bench_report(b, metric, (double)counter.most / tets, "B");
        } else {
            pli_bench_broken(b, "%s: %s", row[k].name, err.text[0] ? err.text : "a step was not done");
        }
        close_body(&h);
        h.host = counter.host;
        pli_mesh_destroy(h.mesh);
    }
}

const PliBenchCase pli_bench_fem_cases[] = {
    { "memory.liver",
      "what a body of the liver of 13,086 nodes holds per tetrahedron, explicit and per implicit solver", run_memory },
    { "implicit.fem",
      "implicit steps of a hanging liver to 1e-4, 705, 3,515 and 13,086 nodes, 4 and 400 kPa, per solver",
      run_implicit },
    { "implicit.multigrid", "iterations of multigrid steps to 1e-4, cubes of 729 to 103,823 nodes, 4 and 400 kPa",
      run_growth },
    { "threads.fem", "steps of the hanging liver of 13,086 nodes with one thread and with two, in turn", run_threads },
    { "sofa.fem_705", "implicit steps of the hanging liver to 1e-4 in runSofa: ours and stock set-ups, 4 and 400 kPa",
      run_sofa_small },
    { "sofa.fem_3515", "the same, 3,515 nodes", run_sofa_middle },
    { "sofa.fem_13086", "the same, 13,086 nodes, set-ups without a factor", run_sofa_large },
    { 0 },
};
