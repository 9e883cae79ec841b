/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Meshes of any body: are levels that gmsh makes with its ordinary options taken, and what do slivers cost?
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pliant/body.h>

#include "base/memory.h"
#include "evidence/assets.h"
#include "evidence/bench.h"
#include "evidence/shapes.h"
#include "host/graph/simulation.h"
#include "host/scaffold/model_files.h"
#include "mesher/gmsh.h"
#include "mesher/make.h"
#include "output/file.h"
#include "output/program.h"
#include "output/progress.h"

enum { LEVELS = 3, STEPS = 10 };

typedef struct Subject {
    const char *name, *asset; ///< asset: a shipped surface, NULL: a shape
    PliShape shape;
    PliIndex triangles;
    double size;  ///< m, coarsest sides
    double angle; ///< degrees, at which gmsh cuts the surface into patches
} Subject;

static const Subject subjects[] = {
    { "seal", "frames/seal.obj", 0, 0, 0.14, 180.0 },
    { "liver", "meshes/liver_surface.obj", 0, 0, 0.035, 40.0 },
    { "plate", NULL, PLI_SHAPE_PLATE, 3000, 0.2, 40.0 },
    { "handle", NULL, PLI_SHAPE_HANDLE, 3000, 0.2, 40.0 },
    { "branched", NULL, PLI_SHAPE_BRANCHED, 6000, 0.2, 180.0 },
    { "bumpy", NULL, PLI_SHAPE_BUMPY, 200000, 0.3, 180.0 },
};
enum { SUBJECTS = sizeof subjects / sizeof *subjects };

/// Every set begins with gmsh's own defaults.
static const char *const defaults =
    "Mesh.Algorithm = 6; Mesh.Algorithm3D = 1; Mesh.Optimize = 1; Mesh.OptimizeNetgen = 0;\n"
    "Mesh.MeshSizeExtendFromBoundary = 1; Mesh.MeshSizeFromCurvature = 0; Mesh.Smoothing = 1;\n"
    "Mesh.MeshSizeMin = 0; Mesh.RandomFactor = 1e-9;\n";
static const struct {
    double size, ratio;
    const char *options;
} variants[] = {
    { 1.0, 2.0, "" },
    { 0.7, 1.6, "" },
    { 1.0, 1.5, "Mesh.Algorithm = 5;" },
    { 0.8, 2.0, "Mesh.Algorithm = 1;" },
    { 0.9, 1.8, "Mesh.Algorithm3D = 10;" },
    { 1.0, 1.7, "Mesh.Optimize = 0;" },
    { 0.7, 2.0, "Mesh.OptimizeNetgen = 1;" },
    { 1.0, 1.6, "Mesh.MeshSizeExtendFromBoundary = 0;" },
    { 1.0, 2.0, "Mesh.MeshSizeFromCurvature = 6;" },
    { 0.8, 1.8, "Mesh.Smoothing = 5;" },
    { 1.2, 2.5, "Mesh.RandomFactor = 1e-4;" },
};
enum { VARIANTS = sizeof variants / sizeof *variants };

// ---- making -----------------------------------------------------------------------------------------------------------------

static PliMesh *surface_of(const PliHost *host, const Subject *s, PliError *err)
{
    if (s->asset) return pli_asset_mesh(host, s->asset, err);
    PliMesh *m = pli_shape_make(host, s->shape, s->triangles);
    if (!m) pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for a surface of %u triangles", s->triangles);
    return m;
}

/// One run of gmsh for all sets of a surface: cutting a large surface into patches takes longer than everything else.
static PliStatus make_sets(const PliHost *host, const Subject *s, const char *folder, PliError *err)
{
    PliMesh *surface = surface_of(host, s, err);
    if (!surface) return err->status;
    PliStatus status = pli_gmsh_write_stl(surface, folder, s->name, err);
    pli_mesh_destroy(surface);
    if (status != PLI_OK) return status;
    PliText script = { 0 };
    pli_text_print(
        &script,
        "Merge \"%s.stl\";\nClassifySurfaces{%g*Pi/180, 1, 1, Pi};\nCreateGeometry;\nSurface Loop(1) = Surface{:};\n"
        "Volume(1) = {1};\nMesh.MshFileVersion = 2.2;\nMesh.Binary = 0;\n",
        s->name, s->angle);
    for (int v = 0; v < VARIANTS; ++v) {
        double size = s->size * variants[v].size;
        pli_text_print(&script, "%s%s\n", defaults, variants[v].options);
        for (int l = 0; l < LEVELS; ++l, size /= variants[v].ratio)
            pli_text_print(&script, "Mesh.MeshSizeMax = %.17g;\nMesh 1; Mesh 2; Mesh 3;\nSave \"%s_%d_%d.msh\";\n",
                           size, s->name, v, l);
    }
    status = script.failed ? pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for a script")
                           : pli_gmsh_batch(folder, s->name, script.data, err);
    pli_text_free(&script);
    return status;
}

static void remove_files(const char *folder, const Subject *s)
{
    char path[1200];
    static const char *const kinds[] = { "stl", "geo", "log" };
    for (int k = 0; k < 3; ++k) {
        snprintf(path, sizeof path, "%s/%s.%s", folder, s->name, kinds[k]);
        remove(path);
    }
    for (int v = 0; v < VARIANTS; ++v)
        for (int l = 0; l < LEVELS; ++l) {
            snprintf(path, sizeof path, "%s/%s_%d_%d.msh", folder, s->name, v, l);
            remove(path);
        }
}

// ---- judging ----------------------------------------------------------------------------------------------------------------

typedef struct Tally {
    PliIndex sets, accepted, repaired, repairs;
} Tally;

static void count_repair(PliLogLevel level, const char *text, void *user)
{
    (void)level;
    if (strstr(text, "repaired")) ++((Tally *)user)->repairs;
}

/// The body is made, and a few steps of free fall with a push on every seventh node leave it finite.
static bool runs(const PliHost *host, const PliMesh *const *mesh, PliError *err)
{
    PliTetLodDef def = pli_tetlod_default();
    def.levels = mesh, def.level_count = LEVELS;
    PliBody *body = pli_tetlod_create(host, &def, err);
    if (!body) return false;
    const size_t n = 3 * (size_t)pli_body_dof_count(body);
    double *x = PLI_NEW(host, n, double), *v = PLI_NEW(host, n, double);
    bool finite = x && v;
    if (finite) {
        memcpy(x, pli_body_rest(body), n * sizeof *x);
        for (size_t i = 0; i < n; i += 21) v[i] = 0.05;
        PliState state = { .x = x, .v = v };
        for (int k = 0; k < STEPS && finite; ++k) finite = pli_body_step(body, &state, 0.01).finite;
        for (size_t i = 0; i < n && finite; ++i) finite = isfinite(x[i]) && isfinite(v[i]);
    }
    if (!finite) pli_refuse(err, PLI_DIVERGED, "it went non-finite within %d steps", STEPS);
    PLI_FREE(host, x, n);
    PLI_FREE(host, v, n);
    pli_body_destroy(body);
    return finite;
}

static void judge_set(const Subject *s, int v, const char *folder, Tally *tally)
{
    PliHost host = pli_host_default();
    PliError err = { 0 };
    PliMesh *mesh[LEVELS] = { NULL };
    bool made = true;
    host.log = count_repair, host.user = tally; // malloc does not look at it
    for (int l = 0; l < LEVELS && made; ++l) {
        char path[1200];
        snprintf(path, sizeof path, "%s/%s_%d_%d.msh", folder, s->name, v, l);
        mesh[l] = pli_mesh_read(&host, path, &err);
        // gmsh did not make it, or made the same again because its smallest size was reached: no set of levels
        made = mesh[l] && mesh[l]->tet_count && (l == 0 || mesh[l]->point_count > mesh[l - 1]->point_count);
    }
    tally->repairs = 0;
    if (made) {
        tally->sets++;
        if (runs(&host, (const PliMesh *const *)mesh, &err)) {
            tally->accepted++;
            tally->repaired += tally->repairs > 0;
        } else {
            pli_progress(0, 0, NULL);
            fprintf(stderr, "meshes.any: %s, options %d: %s\n", s->name, v, err.text);
        }
    }
    for (int l = 0; l < LEVELS; ++l) pli_mesh_destroy(mesh[l]);
}

static bool make_folder(PliBench *b, char *folder, size_t size)
{
    PliError err = { 0 };
    if (pli_scratch_folder("meshes", folder, size, &err) == PLI_OK) return true;
    pli_bench_broken(b, "%s", err.text);
    return false;
}

static void run_any(PliBench *b)
{
    const PliHost host = pli_host_default();
    PliError err = { 0 };
    Tally tally = { 0 };
    char folder[1000];
    if (!make_folder(b, folder, sizeof folder)) return;
    PliStatus status = pli_gmsh_find(&err);
    for (int s = 0; s < SUBJECTS && status == PLI_OK; ++s) {
        pli_progress(s, SUBJECTS, subjects[s].name);
        status = make_sets(&host, &subjects[s], folder, &err);
        for (int v = 0; v < VARIANTS && status == PLI_OK; ++v) judge_set(&subjects[s], v, folder, &tally);
        remove_files(folder, &subjects[s]);
    }
    rmdir(folder);
    if (status != PLI_OK)
        pli_bench_broken(b, "%s", err.text);
    else if (tally.sets < 60)
        pli_bench_broken(b, "gmsh made %u sets of levels; 60 are needed", tally.sets);
    pli_bench_report(b, "sets", tally.sets, "");
    pli_bench_report(b, "accepted", tally.sets ? (double)tally.accepted / tally.sets : NAN, "");
    pli_bench_report(b, "repaired", tally.sets ? (double)tally.repaired / tally.sets : NAN, "");
}

// ---- our own mesher -----------------------------------------------------------------------------------------------------------

enum { FREE_STEPS = 20 };
static const Subject bodies[] = {
    { .name = "seal", .asset = "frames/seal.obj" },
    { .name = "branches", .asset = "frames/branches.obj" },
    { .name = "liver", .asset = "meshes/liver_surface.obj" },
    { .name = "plate", .shape = PLI_SHAPE_PLATE, .triangles = 3000 },
    { .name = "handle", .shape = PLI_SHAPE_HANDLE, .triangles = 3000 },
    { .name = "arms", .shape = PLI_SHAPE_BRANCHED, .triangles = 6000 },
    { .name = "bumpy", .shape = PLI_SHAPE_BUMPY, .triangles = 200000 },
};
enum { BODIES = sizeof bodies / sizeof *bodies };

typedef struct Score {
    PliIndex made, lattice, scenes, ran, levels;
    double steps; ///< explicit steps that slivers cost, of the worst level
} Score;

static bool scene_runs(const char *folder, const char *scheme, PliError *err)
{
    char path[1200];
    const PliHost host = pli_host_default();
    const PliSceneDef def = pli_scene_default();
    PliStatus status;
    snprintf(path, sizeof path, "%s/%s.scn", folder, scheme);
    PliScene *scene = pli_scene_load(&host, path, &def, &status);
    if (scene && status != PLI_OK) {
        const char *why = "it cannot be read";
        for (size_t k = 0; k < scene->report.count; ++k)
            if (scene->report.finding[k].severity > PLI_WARNING) why = scene->report.finding[k].text;
        pli_refuse(err, status, "%s", why);
    }
    if (scene && status == PLI_OK) status = pli_scene_start(scene, err);
    for (int k = 0; scene && k < FREE_STEPS && status == PLI_OK; ++k) status = pli_scene_step(scene, err);
    const bool ran = scene && status == PLI_OK;
    pli_scene_destroy(scene);
    return ran;
}

static void remove_body(const char *folder, int levels)
{
    char path[1200];
    for (int l = 0; l < levels; ++l) {
        snprintf(path, sizeof path, "%s/level_%d.msh", folder, l);
        remove(path);
    }
    snprintf(path, sizeof path, "%s/surface.obj", folder);
    remove(path);
    for (int k = 0; k < pli_scheme_count(); ++k) {
        snprintf(path, sizeof path, "%s/%s.scn", folder, pli_scheme_at(k)->name);
        remove(path);
    }
}

static PliStatus judge_body(const Subject *s, const char *folder, Score *score, PliError *err)
{
    const PliHost host = pli_host_default();
    const PliMesherDef def = pli_mesher_default();
    PliSurfaceFacts facts;
    PliModelFiles files;
    PliText said = { 0 };
    PliMade made = { 0 };
    PliMesh *raw = surface_of(&host, s, err), *surface = raw ? pli_surface_clean(&host, raw, &facts, err) : NULL;
    PliStatus status = surface ? pli_mesher_make(&host, surface, &def, folder, &made, err) : err->status;
    if (status == PLI_OK) status = pli_free_scenes_write(&host, folder, surface, &made, &files, &said, err);
    score->made += status == PLI_OK;
    for (int l = 0; status == PLI_OK && l < made.levels; ++l) {
        score->levels++;
        score->lattice += made.method[l] == PLI_MADE_BY_LATTICE;
        score->steps = fmax(score->steps, pli_quality_cost(&made.quality[l]));
    }
    for (int k = 0; k < pli_scheme_count(); ++k) {
        const PliSchemeInfo *scheme = pli_scheme_at(k);
        if (!pli_model_takes_files(scheme)) continue;
        score->scenes++;
        PliError why = *err;
        const bool ran = status == PLI_OK && scene_runs(folder, scheme->name, &why);
        score->ran += ran;
        if (!ran) fprintf(stderr, "meshes.surfaces: %s, %s: %s\n", s->name, scheme->name, why.text);
    }
    remove_body(folder, made.levels);
    pli_text_free(&said);
    pli_made_free(&made);
    pli_mesh_destroy(surface);
    pli_mesh_destroy(raw);
    return status == PLI_BAD_FILE ? status : PLI_OK; // no gmsh: no sense in going on
}

static void run_surfaces(PliBench *b)
{
    PliError err = { 0 };
    Score score = { 0 };
    char folder[1000];
    if (!make_folder(b, folder, sizeof folder)) return;
    PliStatus status = PLI_OK;
    for (int s = 0; s < BODIES && status == PLI_OK; ++s) {
        pli_progress(s, BODIES, bodies[s].name);
        status = judge_body(&bodies[s], folder, &score, &err);
    }
    rmdir(folder);
    if (status != PLI_OK) pli_bench_broken(b, "%s", err.text);
    pli_bench_report(b, "surfaces", BODIES, "");
    pli_bench_report(b, "made", (double)score.made / BODIES, "");
    pli_bench_report(b, "schemes_run", score.scenes ? (double)score.ran / score.scenes : NAN, "");
    pli_bench_report(b, "from_lattice", score.levels ? (double)score.lattice / score.levels : NAN, "");
    pli_bench_report(b, "sliver_steps", score.steps, "");
}

const PliBenchCase pli_bench_meshes_cases[] = {
    { "meshes.any", "levels gmsh makes of six surfaces with its ordinary options: how many are taken (minutes)",
      run_any },
    { "meshes.surfaces",
      "our own levels of seven surfaces: how many are made, and how many schemes run on them as written",
      run_surfaces },
    { 0 },
};
