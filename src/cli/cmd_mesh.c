/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#define _POSIX_C_SOURCE 200809L
#include "cli/cli.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mesher/make.h"
#include "output/file.h"
#include "output/options.h"
#include "output/progress.h"
#include "output/table.h"

enum { LARGE_SURFACE = 20000 };

typedef struct Job {
    const char *surface, *out;
    double unit;
    PliMesherDef def;
} Job;

// ---- options -------------------------------------------------------------------------------------------------------------

static bool read_number(const char *text, double *value)
{
    char *end;
    if (!text || !*text) return false;
    *value = strtod(text, &end);
    return *end == '\0' && isfinite(*value);
}

static bool read_unit(const char *text, double *unit)
{
    static const struct {
        const char *name;
        double metres;
    } units[] = { { "m", 1.0 }, { "dm", 0.1 }, { "cm", 0.01 }, { "mm", 0.001 }, { "in", 0.0254 } };
    for (size_t k = 0; text && k < sizeof units / sizeof *units; ++k)
        if (strcmp(text, units[k].name) == 0) {
            *unit = units[k].metres;
            return true;
        }
    return read_number(text, unit) && *unit > 0.0;
}

static bool read_options(int argc, char **argv, Job *job, int *code)
{
    int levels = job->def.levels, nodes = (int)job->def.nodes;
    const char *unit = NULL;
    PliWords surface = { &job->surface, 0, 1 };
    const PliOption options[] = {
        { "out", 'o', "FOLDER", "gets the levels and scenes; it appears when all is done", PLI_OPTION_TEXT, &job->out,
          .needs = "a folder" },
        { "levels", 0, "N", "levels (3)", PLI_OPTION_INTEGER, &levels, .least = 1, .most = PLI_MESHER_LEVELS },
        { "nodes", 0, "N", "about as many nodes in the finest level (3000)", PLI_OPTION_INTEGER, &nodes, .least = 20,
          .most = 5e6 },
        { "size", 0, "S", "sides of the finest level in metres, instead of --nodes", PLI_OPTION_NUMBER, &job->def.size,
          .least = 0.0 },
        { "ratio", 0, "R", "sides of a level over those of the next finer one, 1.2 to 4 (1.8)", PLI_OPTION_NUMBER,
          &job->def.ratio, .least = 1.19999, .most = 4.0 },
        { "unit", 0, "U", "unit of the file: m, dm, cm, mm, in, or a number of metres (m)", PLI_OPTION_TEXT, &unit,
          .needs = "m, dm, cm, mm, in or a number of metres" },
    };
    const PliCommandLine line = {
        .program = "pliant mesh",
        .synopsis = "SURFACE --out FOLDER [OPTIONS]",
        .about =
            "Makes tetrahedral levels of detail of the body inside a closed surface (OBJ, STL, PLY and what else\n"
            "pliant reads), with gmsh as an external program, and says how good they are. FOLDER gets level_0.msh\n"
            "(coarsest) and so on, surface.obj, and one scene for each scheme to start from.",
        .ending = "Exit codes: 0 done, 2 bad command line or a surface that is not one closed body, 4 a file, a folder "
                  "or gmsh is\nmissing, 6 no memory.",
        .option = options,
        .option_count = sizeof options / sizeof *options,
        .words = &surface,
        .least_words = 1,
        .word_name = "surface",
    };
    if (!pli_options_read(&line, argc, argv, code)) return false;
    if (!job->out) return *code = pli_options_refuse(&line, "needs --out FOLDER; see pliant mesh --help"), false;
    if (unit && !read_unit(unit, &job->unit))
        return *code =
                   pli_options_refuse(&line, "--unit needs m, dm, cm, mm, in or a number of metres, not '%s'", unit),
               false;
    job->def.levels = levels;
    job->def.nodes = (PliIndex)nodes;
    return true;
}

// ---- what was found --------------------------------------------------------------------------------------------------------

static void print_surface(const Job *job, const PliSurfaceFacts *f)
{
    double side[3];
    for (int a = 0; a < 3; ++a) side[a] = f->max[a] - f->min[a];
    printf("%s: %u points, %u triangles, %.4g x %.4g x %.4g m, volume %.5g m3, area %.5g m2, %u handles\n",
           job->surface, f->points, f->triangles, side[0], side[1], side[2], f->volume, f->area, f->handles);
    if (f->welded) printf("  %u points were at the place of another and are one with it now\n", f->welded);
    if (f->flat) printf("  %u triangles had no area and were left out\n", f->flat);
    if (f->turned) printf("  %u triangles faced the other way and were turned\n", f->turned);
    if (f->pinched) printf("  %u points where the surface touched itself were taken apart\n", f->pinched);
    if (f->crossings)
        printf("  warning: %u triangles cut others, the first at (%.4g %.4g %.4g); the levels are made without that\n",
               f->crossings, f->crossing_at[0], f->crossing_at[1], f->crossing_at[2]);
    const double widest = fmax(side[0], fmax(side[1], side[2]));
    if (widest > 20.0 || widest < 1e-3)
        printf("  warning: the body is %.4g m wide; if the file is not in metres, say so with --unit\n", widest);
}

static bool print_levels(const PliMade *made, double volume)
{
    PliTable t;
    pli_table_begin(&t, "lrrrrrrrrrr",
                    (const char *[]){ "file", "nodes", "tets", "side", "volume", "least q", "mean q", "least altitude",
                                      "median", "slivers", "steps" });
    for (int l = 0; l < made->levels; ++l) {
        const PliQuality *q = &made->quality[l];
        pli_table_cell(&t, "level_%d.msh", l);
        pli_table_cell(&t, "%u", q->points);
        pli_table_cell(&t, "%u", q->tets);
        pli_table_cell(&t, "%.3g", made->size[l]);
        pli_table_cell(&t, "%.4f", q->volume / volume);
        pli_table_cell(&t, "%.3f", q->least_quality);
        pli_table_cell(&t, "%.2f", q->mean_quality);
        pli_table_cell(&t, "%.3g", q->least_altitude);
        pli_table_cell(&t, "%.3g", q->median_altitude);
        pli_table_cell(&t, "%u", q->slivers);
        pli_table_cell(&t, "x %.2f", pli_quality_cost(q));
    }
    putchar('\n');
    const bool printed = pli_table_print(&t, stdout);
    pli_table_end(&t);
    puts("\nvolume: over that of the surface; q: 1 for the regular tetrahedron; slivers: altitude below a quarter of "
         "the median;\n"
         "steps: explicit steps they force, over a mesh without them. Tetrahedra by tenths of q, from 0 to 1:");
    for (int l = 0; l < made->levels; ++l) {
        printf("  level_%d.msh ", l);
        for (int b = 0; b < PLI_QUALITY_BINS; ++b) printf(" %6u", made->quality[l].bins[b]);
        putchar('\n');
    }
    return printed;
}

// ---- files -----------------------------------------------------------------------------------------------------------------

static void level_names(PliText *t, int levels)
{
    for (int l = 0; l < levels; ++l) pli_text_print(t, "%slevel_%d.msh", l ? " " : "", l);
}

static const char *const schemes[] = { "fem", "tetlod", "frames", "wavelet" };

static void model_line(PliText *t, int scheme, int levels)
{
    switch (scheme) {
    case 0:
        pli_text_print(t, "<FemModel name=\"model\" filename=\"level_%d.msh\" skin=\"surface.obj\"/>", levels - 1);
        break;
    case 1:
        pli_text_put(t, "<TetLodModel name=\"model\" filenames=\"");
        level_names(t, levels);
        pli_text_put(t, "\" skin=\"surface.obj\"/>");
        break;
    case 2: pli_text_put(t, "<FramesModel name=\"model\" filename=\"surface.obj\"/>"); break;
    default:
        pli_text_put(t,
                     "<WaveletModel name=\"model\" filename=\"surface.obj\" resolution=\"4\" skin=\"surface.obj\"/>");
        break;
    }
}

static PliStatus write_scene(const char *folder, int scheme, int levels, PliError *err)
{
    PliText t = { 0 };
    char path[1100];
    pli_text_put(&t, "<?xml version=\"1.0\"?>\n<!-- The body falls freely: hold or push it. -->\n"
                     "<Node name=\"root\" dt=\"0.01\" gravity=\"0 -9.81 0\">\n"
                     "    <RequiredPlugin pluginName=\"Pliant\"/>\n"
                     "    <RequiredPlugin pluginName=\"Sofa.Component.AnimationLoop\"/>\n"
                     "    <RequiredPlugin pluginName=\"Sofa.Component.StateContainer\"/>\n"
                     "    <DefaultAnimationLoop/>\n    <Node name=\"body\">\n        ");
    model_line(&t, scheme, levels);
    pli_text_put(&t,
                 "\n        <AdaptiveSolver/>\n        <MechanicalObject name=\"dofs\" position=\"@model.position\"/>\n"
                 "        <Node name=\"skin\">\n            <AdaptiveSurface name=\"surface\"/>\n"
                 "            <MechanicalObject name=\"points\"/>\n            <AdaptiveMapping/>\n        </Node>\n"
                 "    </Node>\n</Node>\n");
    snprintf(path, sizeof path, "%s/%s.scn", folder, schemes[scheme]);
    const PliStatus status = pli_text_write(&t, path, err);
    pli_text_free(&t);
    return status;
}

/// The surface of tetrahedra, with its own points only.
static PliStatus write_outside(const PliHost *host, const PliMesh *tets, const char *path, PliError *err)
{
    PliSurfaceFacts facts;
    PliMesh *skin = pli_surface_clean(host, tets, &facts, err); // drops what triangles do not use
    if (!skin) return err->status;
    const PliStatus status = pli_mesh_write_obj(skin, path, err);
    pli_mesh_destroy(skin);
    return status;
}

static PliStatus write_all(const PliHost *host, const char *folder, const PliMesh *surface, const PliMade *made,
                           PliError *err)
{
    char path[1100];
    PliStatus status = PLI_OK;
    for (int l = 0; l < made->levels && status == PLI_OK; ++l) {
        snprintf(path, sizeof path, "%s/level_%d.msh", folder, l);
        status = pli_mesh_write_msh(made->mesh[l], path, err);
    }
    snprintf(path, sizeof path, "%s/surface.obj", folder);
    if (status == PLI_OK && surface->tri_count <= LARGE_SURFACE) status = pli_mesh_write_obj(surface, path, err);
    if (status == PLI_OK && surface->tri_count > LARGE_SURFACE) // a skin that can be drawn and touched in every step
        status = write_outside(host, made->mesh[made->levels - 1], path, err);
    for (int s = 0; s < 4 && status == PLI_OK; ++s) status = write_scene(folder, s, made->levels, err);
    return status;
}

static void remove_folder(const char *folder)
{
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));) {
        char path[1400];
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
            snprintf(path, sizeof path, "%s/%s", folder, e->d_name) < (int)sizeof path)
            remove(path);
    }
    if (d) closedir(d);
    rmdir(folder);
}

static bool is_taken(const char *folder)
{
    struct stat s;
    if (lstat(folder, &s) != 0) return false;
    DIR *d = opendir(folder);
    bool taken = d == NULL;
    for (struct dirent *e; d && (e = readdir(d));)
        taken = taken || (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0);
    if (d) closedir(d);
    return taken;
}

// ---- the command -------------------------------------------------------------------------------------------------------------

static PliMesh *read_surface(const PliHost *host, const Job *job, PliSurfaceFacts *facts, PliError *err)
{
    PliMesh *in = pli_mesh_read(host, job->surface, err);
    if (!in) return NULL;
    if (in->tet_count && !in->tri_count && pli_mesh_find_surface(in) != PLI_OK)
        pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for the surface of %u tetrahedra", in->tet_count);
    for (size_t i = 0; i < 3 * (size_t)in->point_count; ++i) in->x[i] *= job->unit;
    PliError why = { 0 };
    PliMesh *clean = pli_surface_clean(host, in, facts, &why);
    pli_mesh_destroy(in);
    if (!clean) pli_refuse(err, why.status, "%.120s: %.270s", job->surface, why.text);
    return clean;
}

static int work(const Job *job, const char *folder)
{
    PliHost host = pli_host_default();
    PliError err = { 0 };
    PliSurfaceFacts facts;
    pli_progress(0, job->def.levels + 1, "reading the surface");
    PliMesh *surface = read_surface(&host, job, &facts, &err);
    pli_progress(0, 0, NULL);
    if (!surface) return pli_cli_report("mesh", &err);
    print_surface(job, &facts);
    fflush(stdout);
    PliMade made = { 0 };
    PliStatus status = pli_folder_make(folder, &err);
    if (status == PLI_OK) status = pli_mesher_make(&host, surface, &job->def, folder, &made, &err);
    if (status == PLI_OK) status = write_all(&host, folder, surface, &made, &err);
    if (status == PLI_OK && rename(folder, job->out) != 0)
        status = pli_refuse(&err, PLI_BAD_FILE, "the folder %.300s cannot be made", job->out);
    int code = status == PLI_OK ? PLI_EXIT_OK : pli_cli_report("mesh", &err);
    if (status == PLI_OK) {
        if (!print_levels(&made, facts.volume)) code = PLI_EXIT_MEMORY;
        PliText line = { 0 };
        model_line(&line, 1, made.levels);
        printf("\n%s\nIn a scene in %s (fem.scn, tetlod.scn, frames.scn and wavelet.scn there are ready to run):\n    "
               "%s\n",
               made.repairs ? "The levels fit after repairs; pliant run says which."
                            : "The levels fit: nothing had to be repaired.",
               job->out, line.data ? line.data : "");
        pli_text_free(&line);
    }
    pli_made_free(&made);
    pli_mesh_destroy(surface);
    return code;
}

int pli_cmd_mesh(int argc, char **argv)
{
    Job job = { .unit = 1.0, .def = pli_mesher_default() };
    job.def.progress = pli_progress;
    int bad = PLI_EXIT_OK;
    if (!read_options(argc, argv, &job, &bad)) return bad;
    char folder[1000], out[900];
    if (snprintf(out, sizeof out, "%s", job.out) >= (int)sizeof out)
        return pli_cli_refuse("mesh", "the name of the folder is too long");
    for (size_t n = strlen(out); n > 1 && out[n - 1] == '/'; --n) out[n - 1] = '\0';
    job.out = out;
    snprintf(folder, sizeof folder, "%s.tmp%ld", out, (long)getpid());
    if (is_taken(out)) {
        pli_cli_refuse("mesh", "%s exists and is not an empty folder; give another --out, or remove it", out);
        return PLI_EXIT_FILE;
    }
    const int code = work(&job, folder);
    remove_folder(folder); // gone after a rename
    return code;
}
