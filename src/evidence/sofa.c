/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#define _POSIX_C_SOURCE 200809L
#include "evidence/sofa.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fold.h"
#include "evidence/assets.h"
#include "output/program.h"
#include "output/progress.h"

static void skip(const PliBench *b, const char *why)
{
    pli_progress(0, 0, NULL);
    fprintf(stderr, "%s: left out, %s\n", b->running, why);
}

bool pli_sofa_open(PliSofa *s, PliBench *b)
{
    char folder[1024], plugin[1100];
    PliError err = { 0 };
    if (!pli_program_is_there("runSofa")) {
        skip(b, "the program runSofa is not on the PATH: install SOFA");
        return false;
    }
    pli_program_folder(folder, sizeof folder);
    snprintf(plugin, sizeof plugin, "%s/../lib/libPliant.so", folder);
    if (access(plugin, R_OK) == 0) {
        snprintf(plugin, sizeof plugin, "%s/../lib", folder);
        setenv("SOFA_PLUGIN_PATH", plugin, 1);
    } else if (!getenv("SOFA_PLUGIN_PATH")) {
        skip(b, "our SOFA plugin is not beside the program (../lib/libPliant.so): build it, or set SOFA_PLUGIN_PATH");
        return false;
    }
    if (pli_scratch_folder("sofa", s->folder, sizeof s->folder, &err) == PLI_OK) return true;
    pli_bench_broken(b, "%s", err.text);
    return false;
}

void pli_sofa_close(PliSofa *s)
{
    static const char *const file[] = { "scene.scn", "scene.log", "places.txt", "times.csv", "mesh.msh" };
    char path[1100];
    for (size_t k = 0; k < sizeof file / sizeof *file; ++k) {
        snprintf(path, sizeof path, "%s/%s", s->folder, file[k]);
        remove(path);
    }
    rmdir(s->folder);
}

void pli_sofa_begin(PliText *t, double dt, double gravity)
{
    static const char *const plugin[] = { "AnimationLoop",
                                          "Collision.Detection.Algorithm",
                                          "Collision.Detection.Intersection",
                                          "Collision.Geometry",
                                          "Collision.Response.Contact",
                                          "Constraint.Lagrangian.Correction",
                                          "Constraint.Lagrangian.Solver",
                                          "Constraint.Projective",
                                          "IO.Mesh",
                                          "LinearSolver.Direct",
                                          "LinearSolver.Iterative",
                                          "LinearSolver.Preconditioner",
                                          "LinearSystem",
                                          "Mapping.Linear",
                                          "Mass",
                                          "ODESolver.Backward",
                                          "Playback",
                                          "SolidMechanics.FEM.Elastic",
                                          "SolidMechanics.FEM.HyperElastic",
                                          "StateContainer",
                                          "Topology.Container.Constant",
                                          "Topology.Container.Dynamic" };
    pli_text_print(t, "<Node name=\"root\" dt=\"%.17g\" gravity=\"0 %.17g 0\">\n", dt, -gravity);
    for (size_t k = 0; k < sizeof plugin / sizeof *plugin; ++k)
        pli_text_print(t, "<RequiredPlugin pluginName=\"Sofa.Component.%s\"/>\n", plugin[k]);
    // runSofa works in the folder of scratch files
    pli_text_put(t, "<RequiredPlugin pluginName=\"Pliant\"/>\n<StepTimes filename=\"times.csv\"/>\n");
}

/// What the program said: whether it took all steps, and its first error.
static PliStatus judge_log(const char *path, int code, int steps, PliError *err)
{
    char line[2000], wrong[300] = "";
    int done = -1;
    FILE *log = fopen(path, "r");
    while (log && fgets(line, sizeof line, log)) {
        const char *count = strstr(line, " iterations done in"), *error = strstr(line, "[ERROR]");
        if (!error) error = strstr(line, "[FATAL]");
        if (error && !wrong[0]) snprintf(wrong, sizeof wrong, "%.*s", (int)strcspn(error, "\r\n"), error);
        if (!count) continue;
        while (count > line && count[-1] >= '0' && count[-1] <= '9') --count;
        done = atoi(count);
    }
    if (log) fclose(log);
    if (code != 0) return pli_refuse(err, PLI_BAD_FILE, "runSofa ended with code %d: %s", code, wrong);
    if (wrong[0]) return pli_refuse(err, PLI_BAD_FILE, "runSofa said: %s", wrong);
    if (done != steps) return pli_refuse(err, PLI_BAD_FILE, "runSofa took %d steps of %d", done < 0 ? 0 : done, steps);
    return PLI_OK;
}

PliStatus pli_sofa_run(const PliSofa *s, const PliText *scene, int steps, double *cpu_ms, PliError *err)
{
    char path[1100], log[1100], count[16];
    snprintf(path, sizeof path, "%s/times.csv", s->folder);
    remove(path); // of another run
    snprintf(path, sizeof path, "%s/scene.scn", s->folder);
    snprintf(log, sizeof log, "%s/scene.log", s->folder);
    snprintf(count, sizeof count, "%d", steps);
    const PliStatus status = pli_text_write(scene, path, err);
    if (status != PLI_OK) return status;
    char program[] = "runSofa", gui[] = "-g", batch[] = "batch", n[] = "-n", load[] = "-l", plugin[] = "Pliant",
         bar[] = "--hideProgressBar";
    char *const argv[] = { program, gui, batch, n, count, load, plugin, bar, path, NULL };
    return judge_log(log, pli_program_run(argv, s->folder, log, cpu_ms), steps, err);
}

/// Takes what each step took into `least` where it is less. @return how many steps there are times of
static int take_times(const PliSofa *s, double *least, int steps)
{
    char path[1100], line[200];
    snprintf(path, sizeof path, "%s/times.csv", s->folder);
    FILE *file = fopen(path, "r");
    int found = 0, step;
    double ms;
    while (file && found < steps && fgets(line, sizeof line, file)) {
        if (sscanf(line, "%d,%*f,%lf", &step, &ms) != 2) continue; // names of columns
        if (step != found + 1 || !(ms > 0.0) || !isfinite(ms)) break;
        least[found] = pli_min(least[found], ms), ++found;
    }
    if (file) fclose(file);
    remove(path);
    return found;
}

PliStatus pli_sofa_time(const PliSofa *s, const PliText *scene, int before, int steps, double *ms, PliError *err)
{
    enum { RUNS = 2 };
    const int all = before + steps + 1;
    double *least = malloc((size_t)all * sizeof *least);
    if (!least) return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for the times of %d steps", all);
    for (int k = 0; k < all; ++k) least[k] = INFINITY;
    PliStatus status = PLI_OK;
    for (int r = 0; r < RUNS && status == PLI_OK; ++r) {
        status = pli_sofa_run(s, scene, all, NULL, err);
        const int found = status == PLI_OK ? take_times(s, least, all) : all;
        if (found < all)
            status = pli_refuse(err, PLI_BAD_FILE, "runSofa wrote the times of %d of %d steps", found, all);
    }
    double sum = 0.0;
    for (int k = before; k < before + steps; ++k) sum += least[k];
    *ms = sum / steps;
    free(least);
    return status;
}

void pli_sofa_write_places(const PliSofa *s, PliText *t, const int *steps, int count, double dt)
{
    pli_text_print(t, "<WriteState filename=\"%s/places.txt\" writeX=\"1\" writeX0=\"0\" writeV=\"0\" time=\"",
                   s->folder);
    for (int k = 0; k < count; ++k) pli_text_print(t, "%.17g ", (steps[k] - 0.5) * dt);
    pli_text_put(t, "\"/>\n");
}

PliStatus pli_sofa_read_places(const PliSofa *s, size_t count, double *x, PliError *err)
{
    char path[1100], word[64];
    snprintf(path, sizeof path, "%s/places.txt", s->folder);
    FILE *file = fopen(path, "r");
    size_t found = 0;
    while (file && found < 3 * count) {
        while (fscanf(file, "%63s", word) == 1 && strcmp(word, "X=") != 0) continue;
        const size_t before = found;
        while (found < 3 * count && fscanf(file, "%lf", &x[found]) == 1) ++found;
        if (found == before) break;
    }
    if (file) fclose(file);
    remove(path);
    if (found == 3 * count) return PLI_OK;
    return pli_refuse(err, PLI_BAD_FILE, "runSofa wrote %zu of %zu coordinates", found, 3 * count);
}
