/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// A rigid ball falls on a liver in runSofa, with the Lagrangian friction contact of SOFA: our implicit body of levels, and stock finite
// elements on a coarser mesh.
#include <math.h>
#include <stdio.h>

#include "base/vec.h"
#include "evidence/assets.h"
#include "evidence/sofa.h"

static const double dt = 0.01;
/// The ball touches after five steps, lies on the liver, and begins to roll off its side after twenty more. One that nothing holds
/// would have fallen to -0.1 m by then.
enum { BEFORE = 6, STEPS = 14 };
static const double LEAST = 0.03; ///< m, height of its centre
/// mm, that both balls may be apart; on meshes of 705 and 3,515 nodes alike but for their size they are 7.
static const double APART = 12.0;

static const char pipeline[] =
    "<RequiredPlugin pluginName=\"Sofa.Component.Engine.Select\"/>\n"
    "<RequiredPlugin pluginName=\"Sofa.Component.Mapping.NonLinear\"/>\n"
    "<FreeMotionAnimationLoop/>\n<LCPConstraintSolver tolerance=\"1e-7\" maxIt=\"200\" mu=\"0.5\"/>\n"
    "<CollisionPipeline/><BruteForceBroadPhase/><BVHNarrowPhase/>\n"
    "<NewProximityIntersection alarmDistance=\"0.006\" contactDistance=\"0.002\"/>\n"
    "<CollisionResponse response=\"FrictionContactConstraint\" responseParams=\"mu=0.5\"/>\n";

/// 0.2 kg, 3 cm, a centimetre above the highest point of the liver.
static const char ball[] = "<Node name=\"Ball\"><EulerImplicitSolver/>"
                           "<CGLinearSolver iterations=\"20\" tolerance=\"1e-9\" threshold=\"1e-12\"/>"
                           "<MechanicalObject template=\"Rigid3d\" position=\"-0.038 0.094 -0.0004 0 0 0 1\"/>"
                           "<UniformMass totalMass=\"0.2\"/><UncoupledConstraintCorrection/>\n"
                           "<Node name=\"Shape\"><MechanicalObject template=\"Vec3d\" position=\"0 0 0\"/>"
                           "<SphereCollisionModel radius=\"0.03\"/><RigidMapping/>\n";

static const char ours[] =
    "<TetLodModel name=\"model\" filenames=\"%s %s %s\" law=\"corotational\" youngModulus=\"2e4\" poissonRatio=\"0.4\" "
    "density=\"1000\" integrator=\"implicit\" linearSolver=\"auto\" rayleighStiffness=\"0.01\"/>\n"
    "<AdaptiveSolver/><MechanicalObject name=\"dofs\" position=\"@model.position\"/>\n"
    "<AdaptiveConstraintCorrection/>\n";
static const char skin[] = "<Node name=\"Skin\"><AdaptiveSurface name=\"surface\"/>"
                           "<MechanicalObject name=\"points\" position=\"@surface.position\"/>"
                           "<PointCollisionModel/><AdaptiveMapping/></Node>\n";
static const char stock[] = "<EulerImplicitSolver rayleighStiffness=\"0.01\" rayleighMass=\"0\"/>"
                            "<SparseLDLSolver name=\"linear\" template=\"CompressedRowSparseMatrixMat3x3\"/>\n"
                            "<MeshGmshLoader name=\"loader\" filename=\"%s\"/>"
                            "<TetrahedronSetTopologyContainer src=\"@loader\"/>"
                            "<TetrahedronSetGeometryAlgorithms template=\"Vec3d\"/>"
                            "<MechanicalObject name=\"dofs\" template=\"Vec3d\" src=\"@loader\"/>\n"
                            "<DiagonalMass massDensity=\"1000\"/><FastTetrahedralCorotationalForceField "
                            "youngModulus=\"2e4\" poissonRatio=\"0.4\"/><PointCollisionModel/>"
                            "<LinearSolverConstraintCorrection linearSolver=\"@linear\"/>\n";

static void put_scene(PliText *t, char path[3][1100], bool is_stock)
{
    pli_sofa_begin(t, dt, 9.81);
    pli_text_put(t, pipeline);
    pli_text_put(t, "<Node name=\"Body\">\n");
    is_stock ? pli_text_print(t, stock, path[1]) : pli_text_print(t, ours, path[0], path[1], path[2]);
    pli_text_print(t,
                   "<BoxROI name=\"held\" position=\"@%s\" box=\"-1 -1 -1 1 -0.05 1\"/>"
                   "<FixedProjectiveConstraint indices=\"@held.indices\"/>\n",
                   is_stock ? "dofs.rest_position"
                            : "model.position"); // a box on places that move holds whatever enters it
    if (!is_stock) pli_text_put(t, skin);
    pli_text_put(t, "</Node>\n");
    pli_text_put(t, ball);
}

/// Steps per second of CPU time while the ball lies on the body, and where it lies.
static PliStatus drop(const PliSofa *sofa, char path[3][1100], bool is_stock, double *fps, double place[3],
                      PliError *err)
{
    PliText scene = { 0 };
    double ms = NAN;
    put_scene(&scene, path, is_stock);
    pli_sofa_write_places(sofa, &scene, &(int){ BEFORE + STEPS }, 1, dt);
    pli_text_put(&scene, "</Node></Node></Node>\n");
    PliStatus status = scene.failed ? pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for a scene")
                                    : pli_sofa_time(sofa, &scene, BEFORE, STEPS, &ms, err);
    if (status == PLI_OK) status = pli_sofa_read_places(sofa, 1, place, err);
    *fps = 1e3 / ms;
    pli_text_free(&scene);
    if (status == PLI_OK && !(place[1] > LEAST))
        status = pli_refuse(err, PLI_DIVERGED, "the ball is at %g m: it does not lie on the liver", place[1]);
    return status;
}

static void run_contact(PliBench *b)
{
    static const char *const asset[] = { "meshes/liver_0.msh", "meshes/liver_1.msh", "meshes/liver_2.msh" };
    static const char *const name[] = { "fps", "stock_fps" }, *const place[] = { "ball", "stock_ball" };
    PliSofa sofa;
    PliError err = { PLI_OK, "" };
    char path[3][1100];
    if (!pli_sofa_open(&sofa, b)) return;
    PliStatus status = PLI_OK;
    for (int k = 0; k < 3 && status == PLI_OK; ++k) status = pli_asset_path(asset[k], path[k], sizeof path[k], &err);
    double ball_at[2][3] = { { NAN, NAN, NAN }, { NAN, NAN, NAN } };
    for (int k = 0; k < 2 && status == PLI_OK; ++k) {
        double fps;
        status = drop(&sofa, path, k == 1, &fps, ball_at[k], &err);
        if (status != PLI_OK) break;
        pli_bench_report(b, name[k], fps, k ? "steps per s of CPU, 705 nodes" : "steps per s of CPU, up to 3,515");
        pli_bench_report(b, place[k], 1e3 * ball_at[k][1], "mm, its height after 0.2 s");
    }
    if (status == PLI_OK) {
        double way[3];
        v3_sub(way, ball_at[0], ball_at[1]);
        const double apart = 1e3 * v3_norm(way);
        pli_bench_report(b, "apart", apart, "mm, between both balls then");
        if (!(apart < APART)) pli_bench_broken(b, "the balls are %.3g mm apart: not the same contact", apart);
    }
    if (status != PLI_OK) pli_bench_broken(b, "%s", err.text);
    pli_sofa_close(&sofa);
}

const PliBenchCase pli_bench_tetlod_sofa_cases[] = {
    { "contact.sofa",
      "rigid ball on a liver in runSofa, Lagrangian friction contact, implicit levels up to 3,515 nodes", run_contact },
    { 0 },
};
