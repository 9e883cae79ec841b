/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// A ball pokes a liver in runSofa: bodies of every scheme through the plugin, and stock finite elements on meshes of five sizes with
// the contact that SOFA has for them. The same surface touches everywhere, the same ball goes the same way, steps are of 10 ms (explicit
// stock bodies take shorter ones), and the material is corotational where a scheme has that.
//
// Errors are distances of the surface while the ball rests in it, against the finest mesh. Stock set-ups may choose between two finest
// bodies, their own and ours, so that what the two kinds of contact do otherwise is not held against them.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fold.h"
#include "base/memory.h"
#include "base/vec.h"
#include "evidence/assets.h"
#include "evidence/sofa.h"
#include "host/compare/family.h"
#include "output/progress.h"

#include <pliant/mesh.h>

static const double dt = 0.01;
static const double SAME_POKE = 0.8; ///< of the largest displacement: a body that moves less was hardly touched
enum { BEFORE = 5, STEPS = 85, FEW = 25, MESHES = 5 };
static const char *const mesh_name[MESHES] = { "liver_0.msh", "liver_1.msh", "liver_2.msh", "liver_2b.vtu",
                                               "liver_3.msh" };
static const int rest[2] = { 70, 90 }; ///< steps after which the ball rests

#define MATERIAL "youngModulus=\"4000\" poissonRatio=\"0.4\" density=\"1050\" damping=\"0.0002\" massDamping=\"15\""
#define LEVELS "%1$s/liver_0.msh %1$s/liver_1.msh %1$s/liver_2.msh %1$s/liver_3.msh"
#define SURFACE "skin=\"%1$s/liver_surface.obj\" "
#define OF_SURFACE "filename=\"%1$s/liver_surface.obj\" " SURFACE
#define FALLS_BACK "accuracy=\"2\" fallbackLaw=\"corotational\" fallbackFilenames=\"" LEVELS "\" "

/// A body: what its node is made of. %1$s: folder of the meshes.
typedef struct Body {
    const char *name, *parts;
} Body;

static const Body reference = { "reference", "<FemModel name=\"model\" filename=\"%1$s/liver_3.msh\" " SURFACE
                                             "law=\"corotational\" " MATERIAL "/>" };
static const Body ours[] = {
    { "tetlod", "<TetLodModel name=\"model\" filenames=\"" LEVELS "\" " SURFACE
                "accuracy=\"2\" integrator=\"auto\" spread=\"0\" law=\"corotational\" " MATERIAL "/>" },
    { "frames",
      "<FramesModel name=\"model\" " OF_SURFACE
      "frames=\"24\" resolution=\"32\" anchors=\"-0.05 -0.04 0  0.084 0.0125 0.015\" law=\"corotational\" " FALLS_BACK
          MATERIAL "/>" },
    { "wavelet",
      "<WaveletModel name=\"model\" " OF_SURFACE "resolution=\"10\" detailLevels=\"1\" " FALLS_BACK MATERIAL "/>" },
    { "octree", "<OctreeModel name=\"model\" " OF_SURFACE "resolution=\"32\" levels=\"3\" " FALLS_BACK MATERIAL "/>" },
    { "springs",
      "<SpringsModel name=\"model\" " OF_SURFACE "basePoints=\"139\" detailLevels=\"2\" " FALLS_BACK MATERIAL "/>" },
};

/// A stock set-up: loop and contact, time and linear solver, and what corrects.
typedef struct Stock {
    const char *name, *loop, *solver, *correction;
    int last, pieces[MESHES]; ///< finest mesh it is tried on, and steps for each of ours
} Stock;

#define DETECTION "<CollisionPipeline/><BruteForceBroadPhase/><BVHNarrowPhase/>\n"
#define PENALTY                                                                                                        \
    "<DefaultAnimationLoop/>\n" DETECTION                                                                              \
    "<NewProximityIntersection alarmDistance=\"0.002\" contactDistance=\"0.0005\"/>"                                   \
    "<CollisionResponse response=\"PenalityContactForceField\"/>\n"
#define LAGRANGE                                                                                                       \
    "<FreeMotionAnimationLoop/>\n<BlockGaussSeidelConstraintSolver tolerance=\"1e-5\" "                                \
    "maxIterations=\"200\"/>\n" DETECTION                                                                              \
    "<NewProximityIntersection alarmDistance=\"0.002\" contactDistance=\"0.0005\"/>"                                   \
    "<CollisionResponse response=\"FrictionContactConstraint\" responseParams=\"mu=0\"/>\n"
#define EULER "<EulerImplicitSolver rayleighStiffness=\"0.0002\" rayleighMass=\"15\"/>"
#define OF_BLOCKS " template=\"CompressedRowSparseMatrixMat3x3\" "
static const Stock stock[] = {
    { "cg",
      PENALTY,
      EULER "<CGLinearSolver iterations=\"1000\" tolerance=\"1e-4\" threshold=\"1e-30\" warmStart=\"1\"/>",
      "",
      4,
      { 1, 1, 1, 1, 1 } },
    { "cg_25",
      PENALTY,
      EULER "<CGLinearSolver iterations=\"25\" tolerance=\"1e-9\" threshold=\"1e-30\"/>",
      "",
      4,
      { 1, 1, 1, 1, 1 } },
    { "explicit", PENALTY, "<EulerExplicitSolver symplectic=\"1\"/>", "", 1, { 5, 10, 20, 30, 40 } },
    { "ldl",
      LAGRANGE,
      EULER "<SparseLDLSolver name=\"linear\"" OF_BLOCKS "/>",
      "<LinearSolverConstraintCorrection linearSolver=\"@linear\"/>",
      2,
      { 1, 1, 1, 1, 1 } },
};
static const int finest_stock = 0; ///< the set-up that is solved to 1e-4, on the finest mesh

static const char held[] = "<BoxROI name=\"held\" position=\"@%s\" "
                           "box=\"-0.2 -0.2 -0.2 0.2 -0.025 0.2  0.07 -0.2 -0.2 0.2 0.2 0.2\"/>"
                           "<FixedProjectiveConstraint indices=\"@held.indices\"/>\n";
#define WAY                                                                                                            \
    "keyTimes=\"0 0.1 0.5 0.9 1.1 1.3\" movements=\"0 0 0  0 -0.004 0  0 -0.016 0  0 -0.016 0  0 0.02 0  0 0.06 0\"/>"

static void begin(PliText *t, double step)
{
    pli_sofa_begin(t, step, 0.0);
    pli_text_put(t, "<RequiredPlugin pluginName=\"Sofa.Component.Engine.Select\"/>\n"
                    "<RequiredPlugin pluginName=\"Sofa.Component.MechanicalLoad\"/>\n"
                    "<RequiredPlugin pluginName=\"Sofa.Component.ODESolver.Forward\"/>\n");
}

static void put_ours(PliText *t, const PliSofa *sofa, const Body *body, const char *meshes, bool watch)
{
    char parts[6000];
    const bool places = strstr(body->parts, "FramesModel") || strstr(body->parts, "WaveletModel");
    begin(t, dt);
    snprintf(parts, sizeof parts, body->parts, meshes);
    pli_text_print(t,
                   "<DefaultAnimationLoop/>\n<Node name=\"Body\">\n%s\n<MechanicalObject name=\"dofs\" "
                   "position=\"@model.position\"/>\n",
                   parts);
    pli_text_print(t, held, places ? "model.places" : "model.position");
    pli_text_put(t, "<AdaptiveSolver/><SphereTool radius=\"0.01\" position=\"-0.04 0.068 0\" " WAY "\n");
    if (watch) {
        pli_text_put(t, "<Node name=\"Skin\"><AdaptiveSurface name=\"surface\"/><MechanicalObject name=\"points\" "
                        "position=\"@surface.position\"/><AdaptiveMapping/>");
        pli_sofa_write_places(sofa, t, rest, 2, dt);
        pli_text_put(t, "</Node>\n");
    }
    pli_text_put(t, "</Node></Node>\n");
}

/// path: of the mesh. damping: N s/m of a point.
static void put_stock(PliText *t, const PliSofa *sofa, const Stock *with, int mesh, double damping, const char *meshes,
                      const char *path)
{
    const double step = dt / with->pieces[mesh];
    const bool is_penalty = with->correction[0] == '\0';
    char stiffness[40] = ""; // k1 k2 over the contact distance; what short explicit steps bear, or nearly rigid
    if (is_penalty)
        snprintf(stiffness, sizeof stiffness, " contactStiffness=\"%g\"", with->pieces[mesh] > 1 ? 0.5 : 20.0);
    begin(t, step);
    pli_text_print(t,
                   "%s<Node name=\"Body\">%s\n<MeshGmshLoader name=\"loader\" filename=\"%s\"/>"
                   "<TetrahedronSetTopologyContainer src=\"@loader\"/>"
                   "<TetrahedronSetGeometryAlgorithms template=\"Vec3d\"/>"
                   "<MechanicalObject name=\"dofs\" template=\"Vec3d\" src=\"@loader\"/>\n"
                   "<DiagonalMass massDensity=\"1050\"/><FastTetrahedralCorotationalForceField youngModulus=\"4000\" "
                   "poissonRatio=\"0.4\"/>%s\n",
                   with->loop, with->solver, path, with->correction);
    pli_text_print(t, held, "dofs.rest_position");
    if (with->pieces[mesh] > 1) // explicit: damping is a force, the same on every point
        pli_text_print(t, "<UniformVelocityDampingForceField template=\"Vec3d\" dampingCoefficient=\"%.9g\"/>\n",
                       damping);
    pli_text_print(t,
                   "<Node name=\"Skin\"><MeshOBJLoader name=\"surface\" filename=\"%s/liver_surface.obj\"/>"
                   "<MeshTopology src=\"@surface\"/><MechanicalObject name=\"points\" template=\"Vec3d\" "
                   "src=\"@surface\"/><PointCollisionModel%s/><BarycentricMapping/>",
                   meshes, stiffness);
    pli_sofa_write_places(sofa, t, rest, 2, dt);
    pli_text_print(t,
                   "</Node></Node>\n<Node name=\"Tool\"><MechanicalObject template=\"Vec3d\" position=\"-0.04 0.068 "
                   "0\"/><LinearMovementProjectiveConstraint template=\"Vec3d\" indices=\"0\" " WAY
                   "<SphereCollisionModel radius=\"0.0095\" simulated=\"0\" moving=\"1\"%s/></Node></Node>\n",
                   stiffness);
}

typedef struct Poke {
    PliSofa sofa;
    char meshes[1100];
    PliMesh *skin; ///< the surface at rest
    size_t count;  ///< numbers of both instants
    double *ours, *stocks, *places;
    double largest;          ///< m, that the surface moves in the finest body of ours
    char path[MESHES][1200]; ///< of a file that SOFA reads
    double damping[MESHES];
} Poke;

/// RMS distance of the surface at both instants over the largest displacement, %.
static double distance(const Poke *p, const double *from)
{
    double square = 0.0;
    for (size_t i = 0; i < p->count; ++i) square += (p->places[i] - from[i]) * (p->places[i] - from[i]);
    return 100.0 * sqrt(3.0 * square / (double)p->count) / p->largest;
}

/// Where the surface was.
static PliStatus take_places(const Poke *p, PliError *err)
{
    PliStatus status = pli_sofa_read_places(&p->sofa, p->count / 3, p->places, err);
    for (size_t i = 0; i < p->count && status == PLI_OK; ++i)
        if (!isfinite(p->places[i])) status = pli_refuse(err, PLI_DIVERGED, "its surface is nowhere");
    return status;
}

static PliStatus no_room(PliError *err) { return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for a scene"); }

/// Where the surface is, and ms of CPU of a step. NULL: time is not asked for. What is timed has no mapping of the surface: nobody
/// needs it for contact, as stock bodies do.
static PliStatus run_ours(const Poke *p, const Body *body, double *ms, PliError *err)
{
    PliText watched = { 0 }, timed = { 0 };
    put_ours(&watched, &p->sofa, body, p->meshes, true);
    put_ours(&timed, &p->sofa, body, p->meshes, false);
    PliStatus status =
        watched.failed || timed.failed ? no_room(err) : pli_sofa_run(&p->sofa, &watched, rest[1] + 1, NULL, err);
    if (status == PLI_OK) status = take_places(p, err);
    if (status == PLI_OK && ms) status = pli_sofa_time(&p->sofa, &timed, BEFORE, STEPS, ms, err);
    pli_text_free(&watched);
    pli_text_free(&timed);
    return status;
}

/// The same. Of the finest mesh the first steps are enough for its time.
static PliStatus run_stock(const Poke *p, const Stock *with, int mesh, double *ms, PliError *err)
{
    const int pieces = with->pieces[mesh];
    const bool is_finest = mesh == MESHES - 1;
    PliText t = { 0 };
    PliStatus status;
    put_stock(&t, &p->sofa, with, mesh, p->damping[mesh], p->meshes, p->path[mesh]);
    if (t.failed)
        status = no_room(err);
    else if (!ms)
        status = pli_sofa_run(&p->sofa, &t, rest[1] * pieces + 1, NULL, err);
    else
        status = pli_sofa_time(&p->sofa, &t, BEFORE * pieces, (is_finest ? FEW : STEPS) * pieces, ms, err);
    if (status == PLI_OK && !(ms && is_finest)) status = take_places(p, err);
    if (ms) *ms *= pieces;
    pli_text_free(&t);
    return status;
}

static bool open_poke(Poke *p, const PliHost *host, PliError *err)
{
    if (pli_asset_path("meshes", p->meshes, sizeof p->meshes, err) != PLI_OK) return false;
    for (int m = 0; m < MESHES; ++m) {
        char name[40];
        snprintf(name, sizeof name, "meshes/%s", mesh_name[m]);
        if (pli_asset_path(name, p->path[m], sizeof p->path[m], err) != PLI_OK) return false;
        PliMesh *mesh = pli_mesh_read(host, p->path[m], err);
        if (!mesh) return false;
        p->damping[m] = 15.0 * 1050.0 * pli_mesh_volume(mesh) / mesh->point_count;
        if (strstr(mesh_name[m], ".vtu")) { // in a form that stock loaders read
            snprintf(p->path[m], sizeof p->path[m], "%s/mesh.msh", p->sofa.folder);
            pli_mesh_write_msh(mesh, p->path[m], err);
        }
        pli_mesh_destroy(mesh);
        if (err->status != PLI_OK) return false;
    }
    p->skin = pli_asset_mesh(host, "meshes/liver_surface.obj", err);
    if (!p->skin) return false;
    p->count = 6 * (size_t)p->skin->point_count;
    p->ours = PLI_NEW(host, p->count, double);
    p->stocks = PLI_NEW(host, p->count, double);
    p->places = PLI_NEW(host, p->count, double);
    if (p->ours && p->stocks && p->places) return true;
    pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for a surface of %zu points", p->count / 6);
    return false;
}

/// m, the farthest that a point of the surface has moved.
static double largest_way(const Poke *p)
{
    double most = 0.0;
    for (size_t i = 0; i < p->count / 3; ++i) {
        double way[3];
        v3_sub(way, p->places + 3 * i, p->skin->x + 3 * (i % (p->count / 6)));
        most = pli_max(most, v3_norm(way));
    }
    return most;
}

/// The finest body of each side.
static bool find_references(Poke *p, PliBench *b, PliError *err)
{
    pli_progress(0, 1, "references");
    if (run_ours(p, &reference, NULL, err) != PLI_OK) return false;
    memcpy(p->ours, p->places, p->count * sizeof *p->ours);
    p->largest = largest_way(p);
    if (run_stock(p, &stock[finest_stock], MESHES - 1, NULL, err) != PLI_OK) return false;
    memcpy(p->stocks, p->places, p->count * sizeof *p->stocks);
    const double way = largest_way(p);
    pli_bench_report(b, "way", 1e3 * p->largest, "mm, largest of our finest body");
    pli_bench_report(b, "sofa_way", 1e3 * way, "mm, largest of stock's");
    pli_bench_report(b, "references", distance(p, p->ours), "% between both finest bodies");
    if (way > SAME_POKE * p->largest && p->largest > SAME_POKE * way) return true;
    pli_refuse(err, PLI_DIVERGED, "the ball moves one finest body by %.3g mm and the other by %.3g: not the same poke",
               1e3 * p->largest, 1e3 * way);
    return false;
}

static void report(PliBench *b, const char *name, const char *what, double value, const char *unit)
{
    char metric[64];
    snprintf(metric, sizeof metric, "%s_%s", name, what);
    pli_bench_report(b, metric, value, unit);
}

/// Set-ups on all meshes but the finest, which has no error that could be told: it is the reference, and what no error costs more than.
static PliFamily race_stock(Poke *p, PliBench *b)
{
    enum { SETUPS = sizeof stock / sizeof *stock };
    double cost[MESHES * SETUPS], error[MESHES * SETUPS], ceiling = INFINITY;
    int count = 0;
    for (int k = 0; k < SETUPS; ++k)
        for (int m = 0; m <= stock[k].last; ++m) {
            PliError err = { PLI_OK, "" };
            char name[48];
            double ms = NAN;
            snprintf(name, sizeof name, "sofa_%s_%d", stock[k].name, m);
            pli_progress(MESHES * k + m, MESHES * SETUPS, name);
            if (run_stock(p, &stock[k], m, &ms, &err) != PLI_OK) {
                pli_bench_broken(b, "%s: %s", name, err.text); // this one only
                continue;
            }
            report(b, name, "ms", ms, "ms/step in runSofa");
            if (m == MESHES - 1) {
                ceiling = pli_min(ceiling, ms);
                continue;
            }
            cost[count] = ms;
            error[count] = pli_min(distance(p, p->ours), distance(p, p->stocks));
            report(b, name, "error", error[count++], "%, nearer of both references");
        }
    PliFamily family = pli_family_curve(cost, error, count);
    if (isfinite(ceiling)) family.ceiling = ceiling;
    return family;
}

static void race_ours(Poke *p, PliBench *b, const PliFamily *family)
{
    double best = 0.0, best_error = NAN, sofa_error = NAN;
    const char *unit = "stock cost at equal error";
    for (size_t k = 0; k < sizeof ours / sizeof *ours; ++k) {
        PliError err = { PLI_OK, "" };
        double ms;
        pli_progress((int)k, (int)(sizeof ours / sizeof *ours), ours[k].name);
        if (run_ours(p, &ours[k], &ms, &err) != PLI_OK) {
            pli_bench_broken(b, "%s: %s", ours[k].name, err.text);
            continue;
        }
        const double error = distance(p, p->ours);
        const PliRival rival = pli_family_rival(family, ms, error);
        report(b, ours[k].name, "ms", ms, "ms/step in runSofa");
        report(b, ours[k].name, "error", error, "%");
        const char *bound = rival.cost_bound ? pli_bound_name(rival.cost_bound) : "at equal error";
        report(b, ours[k].name, "vs_sofa", rival.gain, bound);
        if (rival.gain > best) best = rival.gain, best_error = error, sofa_error = rival.error, unit = bound;
    }
    pli_bench_report(b, "best_vs_sofa", best, unit);
    pli_bench_report(b, "error", best_error, "%");
    pli_bench_report(b, "sofa_error", sofa_error, "%, stock at equal cost");
}

static void run_poke(PliBench *b)
{
    const PliHost host = pli_host_default();
    PliError err = { PLI_OK, "" };
    Poke p = { .largest = 0.0 };
    if (!pli_sofa_open(&p.sofa, b)) return;
    if (open_poke(&p, &host, &err) && find_references(&p, b, &err)) {
        const PliFamily family = race_stock(&p, b);
        race_ours(&p, b, &family);
    } else {
        pli_bench_broken(b, "%s", err.text);
    }
    PLI_FREE(&host, p.ours, p.count);
    PLI_FREE(&host, p.stocks, p.count);
    PLI_FREE(&host, p.places, p.count);
    pli_mesh_destroy(p.skin);
    pli_sofa_close(&p.sofa);
}

const PliBenchCase pli_bench_poke_cases[] = {
    { "liver.poke", "a ball pokes a liver in runSofa: every scheme, and stock set-ups on five meshes (minutes)",
      run_poke },
    { 0 },
};
