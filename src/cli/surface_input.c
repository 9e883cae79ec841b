/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cli/surface_input.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "output/interrupt.h"
#include "output/progress.h"

/// Tools, thickness and remeshing need points: a side is at most this part of the body, unless that takes too many triangles.
enum { SIDES = 16, MOST_TRIANGLES = 400000 };
static const double SMALLEST = 1e-6, LARGEST = 1e6; ///< m, of a body

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

PliSurfaceJob pli_surface_job(void)
{
    PliSurfaceJob job = { .unit = 1.0, .def = pli_mesher_default() };
    job.def.progress = pli_progress;
    job.def.stopped = pli_interrupted;
    job.levels = job.def.levels, job.nodes = (int)job.def.nodes;
    return job;
}

bool pli_surface_options(PliSurfaceJob *job, PliCommandLine line, int argc, char **argv, int *code)
{
    static const char codes[] = "Exit codes: 0 done, 2 bad command line or a surface that is not one closed body, 4 a "
                                "file, a folder or gmsh is\nmissing, 6 no memory, 130 ended by Ctrl-C.";
    PliWords surface = { &job->surface, 0, 1 };
    char ending[600];
    snprintf(ending, sizeof ending, "%s%s", line.ending ? line.ending : "", codes);
    line.ending = ending;
    line.words = &surface, line.least_words = 1, line.word_name = "surface";
    if (!pli_options_read(&line, argc, argv, code)) return false;
    if (!job->out) return *code = pli_options_refuse(&line, "needs --out FOLDER; see %s --help", line.program), false;
    if (job->unit_text && !read_unit(job->unit_text, &job->unit)) {
        *code =
            pli_options_refuse(&line, "--unit needs m, dm, cm, mm, in or a number of metres, not '%s'", job->unit_text);
        return false;
    }
    job->def.levels = job->levels, job->def.nodes = (PliIndex)job->nodes;
    return true;
}

int pli_surface_run(PliSurfaceJob *job, const char *command, int (*work)(void *self, PliFreshFolder *folder),
                    void *self)
{
    PliFreshFolder folder;
    int code = pli_cli_find_file(command, job->surface);
    if (code == PLI_EXIT_OK) code = pli_fresh_folder_begin(&folder, command, job->out);
    if (code != PLI_EXIT_OK) return code;
    job->out = folder.name;
    code = work(self, &folder);
    pli_fresh_folder_end(&folder);
    return code;
}

static double widest_of(const PliSurfaceFacts *f)
{
    double widest = 0.0;
    for (int a = 0; a < 3; ++a) widest = fmax(widest, f->max[a] - f->min[a]);
    return widest;
}

void pli_surface_print(const PliSurfaceJob *job, const PliSurfaceFacts *f)
{
    double side[3];
    for (int a = 0; a < 3; ++a) side[a] = f->max[a] - f->min[a];
    printf("%s: %u points, %u triangles, %.4g x %.4g x %.4g m, volume %.5g m3, area %.5g m2, %u handles\n",
           job->surface, f->points, f->triangles, side[0], side[1], side[2], f->volume, f->area, f->handles);
    if (f->welded) printf("  %u points were at the place of another and are one with it now\n", f->welded);
    if (f->flat) printf("  %u triangles had no area and were left out\n", f->flat);
    if (f->turned) printf("  %u triangles faced the other way and were turned\n", f->turned);
    if (f->pinched) printf("  %u points where the surface touched itself were taken apart\n", f->pinched);
    if (f->folded) printf("  %u triangles lay folded over others and were drawn smooth\n", f->folded);
    if (f->crossings)
        printf("  warning: %u triangles cut others, the first at (%.4g %.4g %.4g); the levels are made without that\n",
               f->crossings, f->crossing_at[0], f->crossing_at[1], f->crossing_at[2]);
    const double widest = widest_of(f);
    if (widest > 20.0 || widest < 1e-3)
        printf("  warning: the body is %.4g m wide; if the file is not in metres, say so with --unit\n", widest);
}

void pli_made_print(const PliMade *made)
{
    for (int l = 0; l < made->levels; ++l) {
        if (made->method[l] == PLI_MADE_BY_LATTICE)
            printf("  level_%d.msh was cut out of a lattice, which rounds edges: %s\n", l, made->why[l].text);
        if (made->lost[l] > 0.0)
            printf("  warning: level_%d.msh has no tetrahedra in %.2g %% of the surface, tips thinner than its sides, "
                   "which follow from up to %.3g m away; more --nodes keep them\n",
                   l, 100.0 * made->lost[l], made->lost_by[l]);
    }
    if (made->left_out)
        printf("  %d of the levels asked for did not fit and were left out: %s\n", made->left_out,
               made->left_out_why.text);
}

PliMesh *pli_surface_input(const PliHost *host, const PliSurfaceJob *job, PliSurfaceFacts *facts, PliError *err)
{
    pli_progress(0, 1, "reading the surface");
    PliMesh *in = pli_mesh_read(host, job->surface, err);
    pli_progress(0, 0, NULL);
    if (!in) return NULL;
    if (in->tet_count && !in->tri_count && pli_mesh_find_surface(in) != PLI_OK)
        pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for the surface of %u tetrahedra", in->tet_count);
    for (size_t i = 0; i < 3 * (size_t)in->point_count; ++i) in->x[i] *= job->unit;
    PliError why = { 0 };
    PliMesh *clean = pli_surface_clean(host, in, facts, &why);
    pli_mesh_destroy(in);
    const double widest = clean ? widest_of(facts) : 0.0;
    if (clean && (widest < SMALLEST || widest > LARGEST))
        pli_refuse(&why, PLI_BAD_MESH,
                   "the body is %.4g m wide; bodies of %g to %g m can be made: say with --unit what the file is in",
                   widest, SMALLEST, LARGEST);
    else if (clean && pli_surface_cut_long(clean, widest / SIDES, MOST_TRIANGLES) != PLI_OK)
        pli_refuse(&why, PLI_OUT_OF_MEMORY, "no memory for a surface of %u triangles", clean->tri_count);
    if (why.status == PLI_OK) return clean;
    pli_mesh_destroy(clean);
    pli_refuse(err, why.status, "%.120s: %.270s", job->surface, why.text);
    return NULL;
}
