/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cli/cli.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/words.h"
#include "cli/surface_input.h"
#include "host/scaffold/new_scene.h"

typedef struct Job {
    PliSurfaceJob base;
    const char *fix, *load[PLI_LOADS], *schemes, *up;
    double young, density;
    bool own_forms;
} Job;

// ---- options -------------------------------------------------------------------------------------------------------------

static bool read_options(int argc, char **argv, Job *job, int *code)
{
    static const char region[] = "top, bottom, left, right, front, back, sphere:X,Y,Z,R, box:X,Y,Z,X,Y,Z or a group";
    const PliOption options[] = {
        PLI_OPTION_OUT(&job->base),
        { "fix", 0, "REGION", "what is held (bottom); `bottom:0.2` holds a fifth of the height", PLI_OPTION_TEXT,
          &job->fix, .needs = region },
        { "poke", 0, "REGION", "a ball presses there, holds and leaves: poke.scn (top, when no load is given)",
          PLI_OPTION_TEXT, &job->load[PLI_POKE], .needs = region },
        { "drag", 0, "REGION", "a rough ball presses there and drags the surface along: drag.scn", PLI_OPTION_TEXT,
          &job->load[PLI_DRAG], .needs = region },
        { "squeeze", 0, "REGION", "a plate on this side and one across press the body: squeeze.scn", PLI_OPTION_TEXT,
          &job->load[PLI_SQUEEZE], .needs = region },
        { "schemes", 0, "LIST", "schemes separated by commas (all), besides the reference", PLI_OPTION_TEXT,
          &job->schemes, .needs = "names of schemes separated by commas" },
        { "own-forms", 0, NULL, "no accuracy for schemes that fall back on tetrahedra to keep it: they run as they are",
          PLI_OPTION_FLAG, .value = &job->own_forms },
        { "up", 0, "AXIS", "what is up in the file: x, y or z (y)", PLI_OPTION_TEXT, &job->up, .choices = "x y z" },
        PLI_OPTION_UNIT(&job->base),
        { "young", 0, "E", "Young's modulus in Pa (4000 for an organ of 0.2 m, more for larger bodies)",
          PLI_OPTION_NUMBER, &job->young, .least = 0.0 },
        { "density", 0, "D", "in kg/m3 (1050)", PLI_OPTION_NUMBER, &job->density, .least = 0.0 },
        PLI_OPTION_LEVELS(&job->base),
        PLI_OPTION_NODES(&job->base),
    };
    const PliCommandLine line = {
        .program = "pliant new",
        .synopsis = "SURFACE --out FOLDER [--fix REGION] [--poke REGION] [OPTIONS]",
        .about =
            "Makes a comparison of all schemes from one closed surface (OBJ, STL, PLY): levels of detail with gmsh, a\n"
            "fine reference, coarser uniform bodies, the same hold, tool and material for every scheme, and a camera.\n"
            "A REGION is top, bottom, left, right, front, back, sphere:X,Y,Z,R or box:X,Y,Z,X,Y,Z in metres, or the\n"
            "name of a group, object or material of the OBJ file.",
        .ending = "Then: pliant compare FOLDER/poke.scn, pliant view FOLDER/poke.scn, runSofa FOLDER/poke.scn.\n",
        .option = options,
        .option_count = sizeof options / sizeof *options,
    };
    if (!pli_surface_options(&job->base, line, argc, argv, code)) return false;
    if (!job->load[PLI_POKE] && !job->load[PLI_DRAG] && !job->load[PLI_SQUEEZE]) job->load[PLI_POKE] = "top";
    return true;
}

// ---- schemes -------------------------------------------------------------------------------------------------------------

static const PliSchemeInfo *nearest_scheme(const char *word)
{
    const PliSchemeInfo *near = NULL;
    int best = pli_word_tolerance(word) + 1;
    for (int k = 0; k < pli_scheme_count(); ++k) {
        const int d = pli_word_distance(word, pli_scheme_at(k)->name);
        if (d < best) best = d, near = pli_scheme_at(k);
    }
    return near;
}

static PliStatus choose_schemes(const char *list, PliNewScene *scene, PliError *err)
{
    scene->scheme_count = 0;
    for (int k = 0; !list && k < pli_scheme_count(); ++k)
        if (pli_model_takes_files(pli_scheme_at(k))) scene->scheme[scene->scheme_count++] = pli_scheme_at(k);
    for (const char *p = list; p && *p;) {
        char word[64];
        const size_t length = strcspn(p, ", ");
        snprintf(word, sizeof word, "%.*s", (int)(length < 63 ? length : 63), p);
        p += length;
        p += strspn(p, ", ");
        if (!*word) continue;
        const PliSchemeInfo *scheme = pli_scheme_find(word);
        if (!scheme) {
            const PliSchemeInfo *near = nearest_scheme(word);
            return pli_refuse(err, PLI_BAD_ARGUMENT, "there is no scheme '%s'%s%s%s", word,
                              near ? ", did you mean " : "", near ? near->name : "",
                              near ? "?" : "; pliant list names them");
        }
        if (!pli_model_takes_files(scheme))
            return pli_refuse(err, PLI_BAD_ARGUMENT, "the scheme %s is not made from meshes of a body", word);
        if (scene->scheme_count < PLI_MOST_SCHEMES) scene->scheme[scene->scheme_count++] = scheme;
    }
    return PLI_OK;
}

// ---- the work ------------------------------------------------------------------------------------------------------------

/// A side is made deeper until the coarsest body has enough to be held by.
static void deepen_fix(PliNewScene *scene)
{
    enum { ENOUGH = 5 };
    const PliMesh *coarse = scene->made->mesh[0];
    for (double part = scene->fix.part; scene->fix.axis >= 0 && part < 0.4; part *= 1.25) {
        PliIndex held = 0;
        pli_region_deepen(&scene->frame, &scene->fix, part);
        for (PliIndex p = 0; p < coarse->point_count; ++p)
            held += pli_region_has(&scene->fix, coarse->x + 3 * (size_t)p);
        if (held >= ENOUGH) return;
    }
}

static PliStatus write_scenes(const PliHost *host, const Job *job, PliNewScene *scene, const PliRegion *where,
                              const char *folder, PliText *said, PliError *err)
{
    PliStatus status = pli_model_files_write(host, folder, scene->surface, scene->made, scene->between, err);
    if (status == PLI_OK)
        pli_model_files_try(host, folder, scene->files, pli_new_scene_wish, PLI_NEW_SCENE_WISHES, said);
    deepen_fix(scene);
    const char *name = strrchr(job->base.surface, '/');
    name = name ? name + 1 : job->base.surface;
    for (int k = 0; k < PLI_LOADS && status == PLI_OK; ++k) {
        if (!job->load[k]) continue;
        snprintf(scene->title, sizeof scene->title, "%.60s: %s %.40s, hold %.16s", name, pli_load_name((PliLoad)k),
                 job->load[k], job->fix);
        pli_text_print(said, "  %s.scn: ", pli_load_name((PliLoad)k));
        status = pli_new_scene_write(host, scene, (PliLoad)k, &where[k], folder, said, err);
        pli_text_put(said, "\n");
    }
    return status;
}

/// Something of what a tool touches is not held, or: which load that is.
static PliStatus check_free(const Job *job, const PliNewScene *scene, const PliRegion *where, PliLoad load,
                            PliError *err)
{
    for (PliIndex p = 0; p < scene->surface->point_count; ++p) {
        const double *x = scene->surface->x + 3 * (size_t)p;
        if (pli_region_has(where, x) && !pli_region_has(&scene->fix, x)) return PLI_OK;
    }
    return pli_refuse(err, PLI_BAD_ARGUMENT,
                      "all of '%s' (--%s) is held by --fix %s: nothing would move there; choose another region",
                      job->load[load], pli_load_name(load), job->fix);
}

static void print_done(const Job *job, const PliNewScene *scene, const PliText *said)
{
    const PliMade *made = scene->made;
    printf("%d levels of", made->levels);
    for (int l = 0; l < made->levels; ++l) printf("%s %u", l ? "," : "", made->quality[l].points);
    printf(" nodes; Young's modulus %g Pa, density %g kg/m3, Poisson's ratio 0.4\n", scene->young, scene->density);
    pli_made_print(made);
    printf("%s", said->data ? said->data : "");
    for (int k = 0; k < PLI_LOADS; ++k)
        if (job->load[k]) {
            char path[1100], text[1200];
            snprintf(path, sizeof path, "%.1024s/%s.scn", job->base.out, pli_load_name((PliLoad)k));
            printf("Next: pliant compare %s\n", pli_cli_quote(path, text, sizeof text));
        }
}

/// A mesh between the two finest levels: without it no uniform body would be about as close as an adaptive one. Its failure is no reason
/// to have nothing.
static PliStatus make_between(const PliHost *host, const Job *job, PliNewScene *scene, const char *folder,
                              PliMade *between, PliText *said, PliError *err)
{
    const PliMade *made = scene->made;
    PliMesherDef def = job->base.def;
    PliError why = { 0 };
    if (made->levels < 2) return PLI_OK;
    def.levels = 1;
    def.size = sqrt(made->size[made->levels - 2] * made->size[made->levels - 1]);
    const PliStatus status = pli_mesher_make(host, scene->surface, &def, folder, between, &why);
    if (status == PLI_OK) {
        scene->between = between->mesh[0];
        pli_text_print(said, "One more uniform body of %u nodes, between the two finest levels.\n",
                       between->quality[0].points);
        return PLI_OK;
    }
    if (status != PLI_BAD_MESH && status != PLI_BAD_ARGUMENT) {
        *err = why;
        return status;
    }
    pli_text_print(said, "No uniform body between the two finest levels: %s.\n", why.text);
    return PLI_OK;
}

static int work(void *self, PliFreshFolder *folder)
{
    const Job *job = self;
    PliHost host = pli_host_default();
    PliError err = { 0 };
    PliSurfaceFacts facts;
    PliMade made = { 0 }, between = { 0 };
    PliModelFiles files = { 0 };
    PliText said = { 0 };
    static PliNewScene scene; // regions are large
    static PliRegion where[PLI_LOADS];
    PliStatus status = choose_schemes(job->schemes, &scene, &err);
    PliMesh *surface = status == PLI_OK ? pli_surface_input(&host, &job->base, &facts, &err) : NULL;
    if (!surface) return pli_cli_report("new", &err);
    pli_surface_print(&job->base, &facts);
    fflush(stdout);
    scene.surface = surface, scene.made = &made, scene.files = &files;
    scene.frame = (PliRegionFrame){ surface, job->base.surface, job->base.unit, job->up ? job->up[0] - 'x' : 1 };
    scene.young = job->young > 0.0 ? job->young : pli_usual_young(surface);
    scene.density = job->density;
    status = pli_region_read(&scene.frame, job->fix, &scene.fix, &err);
    for (int k = 0; k < PLI_LOADS && status == PLI_OK; ++k)
        if (job->load[k]) status = pli_region_read(&scene.frame, job->load[k], &where[k], &err);
    for (int k = 0; k < PLI_LOADS && status == PLI_OK; ++k)
        if (job->load[k]) status = check_free(job, &scene, &where[k], (PliLoad)k, &err);
    if (status == PLI_OK) status = pli_folder_make(folder->scratch, &err);
    if (status == PLI_OK) status = pli_mesher_make(&host, surface, &job->base.def, folder->scratch, &made, &err);
    if (status == PLI_OK) status = make_between(&host, job, &scene, folder->scratch, &between, &said, &err);
    if (status == PLI_OK && !pli_model_files_find(&host, surface, &made, &files))
        status = pli_refuse(&err, PLI_OUT_OF_MEMORY, "no memory for the files of the body");
    files.own_forms = job->own_forms;
    if (status == PLI_OK) status = write_scenes(&host, job, &scene, where, folder->scratch, &said, &err);
    if (status == PLI_OK) status = pli_fresh_folder_keep(folder, &err);
    if (status == PLI_OK) print_done(job, &scene, &said);
    pli_text_free(&said);
    pli_made_free(&made);
    pli_made_free(&between);
    pli_mesh_destroy(surface);
    return status == PLI_OK ? PLI_EXIT_OK : pli_fresh_folder_report(folder, "new", &err);
}

int pli_cmd_new(int argc, char **argv)
{
    Job job = { .base = pli_surface_job(), .fix = "bottom", .density = 1050.0 };
    int code = PLI_EXIT_OK;
    return read_options(argc, argv, &job, &code) ? pli_surface_run(&job.base, "new", work, &job) : code;
}
