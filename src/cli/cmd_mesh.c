/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cli/cli.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/surface_input.h"
#include "host/scaffold/model_files.h"
#include "mesher/fitted.h"
#include "mesher/make.h"
#include "output/file.h"
#include "output/table.h"

// ---- options -------------------------------------------------------------------------------------------------------------

typedef struct Job {
    PliSurfaceJob surface;
    int hexahedra; ///< along the longest side; 0: tetrahedra are wanted
} Job;

static bool read_options(int argc, char **argv, Job *all, int *code)
{
    PliSurfaceJob *job = &all->surface;
    const PliOption options[] = {
        PLI_OPTION_OUT(job),
        PLI_OPTION_LEVELS(job),
        PLI_OPTION_NODES(job),
        { "size", 0, "S", "sides of the finest level in metres, instead of --nodes", PLI_OPTION_NUMBER, &job->def.size,
          .least = 0.0 },
        { "ratio", 0, "R", "sides of a level over those of the next finer one, 1.2 to 4 (1.8)", PLI_OPTION_NUMBER,
          &job->def.ratio, .least = 1.19999, .most = 4.0 },
        { "hexahedra", 0, "N",
          "instead of levels, a lattice of hexahedra that fits the surface, N along its longest side",
          PLI_OPTION_INTEGER, &all->hexahedra, .least = 3, .most = 200 },
        PLI_OPTION_UNIT(job),
    };
    const PliCommandLine line = {
        .program = "pliant mesh",
        .synopsis = "SURFACE --out FOLDER [OPTIONS]",
        .about =
            "Makes tetrahedral levels of detail of the body inside a closed surface (OBJ, STL, PLY and what else\n"
            "pliant reads), with gmsh as an external program, and says how good they are. FOLDER gets level_0.msh\n"
            "(coarsest) and so on, surface.obj, and one scene for each scheme to start from. With --hexahedra it gets\n"
            "fitted.vtu, whose boundary lies on the surface, smooth.vtu, whose smooth limit does, and surface.obj.",
        .option = options,
        .option_count = sizeof options / sizeof *options,
    };
    return pli_surface_options(job, line, argc, argv, code);
}

// ---- what was found --------------------------------------------------------------------------------------------------------

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
    pli_made_print(made);
    return printed;
}

// ---- the command -------------------------------------------------------------------------------------------------------------

static void print_models(const PliModelFiles *files)
{
    for (int k = 0; k < pli_scheme_count(); ++k) {
        const PliSchemeInfo *scheme = pli_scheme_at(k);
        if (!pli_model_takes_files(scheme)) continue;
        PliText line = { 0 };
        pli_model_attributes_write(&line, scheme, files);
        printf("    %s.scn: <%s name=\"model\"%s/>\n", scheme->name, scheme->component, line.data ? line.data : "");
        pli_text_free(&line);
    }
}

static void print_fitted(const char *name, const PliFittedFacts *q, double volume)
{
    printf("%s: %u vertices, %u hexahedra (%u at the surface), scaled Jacobian at least %.3f, mean %.2f, %u below 0.2 "
           "(worst "
           "at %.4g %.4g %.4g), volume %.4f of the surface's, at most %.2g m off it\n",
           name, q->points, q->cells, q->outer, q->least, q->mean, q->poor, q->worst_at[0], q->worst_at[1],
           q->worst_at[2], q->volume / volume, q->off);
}

/// The lattice for a trilinear basis, and for smooth ones; `said`: a sentence where only the first was possible.
static PliStatus fit(const PliHost *host, const PliMesh *surface, PliIndex cells, const char *folder, double volume,
                     PliError *err)
{
    static const char *const name[2] = { "fitted.vtu", "smooth.vtu" };
    char path[1100];
    PliStatus status = PLI_OK;
    for (int smooth = 0; smooth < 2 && status == PLI_OK; ++smooth) {
        const PliFittedDef def = { cells, smooth == 1 };
        PliFittedFacts facts;
        PliError why = { 0 };
        PliMesh *mesh = pli_fitted_hexes(host, surface, &def, &facts, &why);
        if (!mesh && !smooth) return *err = why, why.status;
        if (!mesh) {
            printf("%s was left out: %s\n", name[smooth], why.text);
            continue;
        }
        snprintf(path, sizeof path, "%s/%s", folder, name[smooth]);
        status = pli_mesh_write_vtu(mesh, NULL, NULL, 0, NULL, path, err);
        if (status == PLI_OK) print_fitted(name[smooth], &facts, volume);
        pli_mesh_destroy(mesh);
    }
    snprintf(path, sizeof path, "%s/surface.obj", folder);
    return status == PLI_OK ? pli_mesh_write_obj(surface, path, err) : status;
}

static int work_fitted(void *self, PliFreshFolder *folder)
{
    const Job *all = self;
    PliHost host = pli_host_default();
    PliError err = { 0 };
    PliSurfaceFacts facts;
    PliMesh *surface = pli_surface_input(&host, &all->surface, &facts, &err);
    if (!surface) return pli_cli_report("mesh", &err);
    pli_surface_print(&all->surface, &facts);
    PliStatus status = pli_folder_make(folder->scratch, &err);
    if (status == PLI_OK) status = fit(&host, surface, (PliIndex)all->hexahedra, folder->scratch, facts.volume, &err);
    if (status == PLI_OK) status = pli_fresh_folder_keep(folder, &err);
    pli_mesh_destroy(surface);
    return status == PLI_OK ? PLI_EXIT_OK : pli_fresh_folder_report(folder, "mesh", &err);
}

static int work(void *self, PliFreshFolder *folder)
{
    const PliSurfaceJob *job = &((const Job *)self)->surface;
    PliHost host = pli_host_default();
    PliError err = { 0 };
    PliSurfaceFacts facts;
    PliMesh *surface = pli_surface_input(&host, job, &facts, &err);
    if (!surface) return pli_cli_report("mesh", &err);
    pli_surface_print(job, &facts);
    fflush(stdout);
    PliMade made = { 0 };
    PliModelFiles files;
    PliText said = { 0 };
    PliStatus status = pli_folder_make(folder->scratch, &err);
    if (status == PLI_OK) status = pli_mesher_make(&host, surface, &job->def, folder->scratch, &made, &err);
    if (status == PLI_OK) status = pli_free_scenes_write(&host, folder->scratch, surface, &made, &files, &said, &err);
    if (status == PLI_OK) status = pli_fresh_folder_keep(folder, &err);
    int code = status == PLI_OK ? PLI_EXIT_OK : pli_fresh_folder_report(folder, "mesh", &err);
    if (status == PLI_OK) {
        if (!print_levels(&made, facts.volume)) code = PLI_EXIT_MEMORY;
        printf("\n%s\nScenes in %s that run as they are, and their models:\n",
               made.repairs ? "The levels fit after repairs." : "The levels fit: nothing had to be repaired.",
               job->out);
        print_models(&files);
        printf("%s", said.data ? said.data : "");
    }
    pli_text_free(&said);
    pli_made_free(&made);
    pli_mesh_destroy(surface);
    return code;
}

int pli_cmd_mesh(int argc, char **argv)
{
    Job job = { .surface = pli_surface_job() };
    int code = PLI_EXIT_OK;
    if (!read_options(argc, argv, &job, &code)) return code;
    return pli_surface_run(&job.surface, "mesh", job.hexahedra ? work_fitted : work, &job);
}
