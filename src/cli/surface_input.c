/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cli/surface_input.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/progress.h"

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

bool pli_unit_read(const PliCommandLine *line, const char *text, double *metres, int *code)
{
    if (read_unit(text, metres)) return true;
    *code = pli_options_refuse(line, "--unit needs m, dm, cm, mm, in or a number of metres, not '%s'", text);
    return false;
}

void pli_surface_print(const char *path, const PliSurfaceFacts *f)
{
    double side[3];
    for (int a = 0; a < 3; ++a) side[a] = f->max[a] - f->min[a];
    printf("%s: %u points, %u triangles, %.4g x %.4g x %.4g m, volume %.5g m3, area %.5g m2, %u handles\n", path,
           f->points, f->triangles, side[0], side[1], side[2], f->volume, f->area, f->handles);
    if (f->welded) printf("  %u points were at the place of another and are one with it now\n", f->welded);
    if (f->flat) printf("  %u triangles had no area and were left out\n", f->flat);
    if (f->turned) printf("  %u triangles faced the other way and were turned\n", f->turned);
    if (f->pinched) printf("  %u points where the surface touched itself were taken apart\n", f->pinched);
    if (f->folded) printf("  %u triangles lay folded over others and were drawn smooth\n", f->folded);
    if (f->crossings)
        printf("  warning: %u triangles cut others, the first at (%.4g %.4g %.4g); the levels are made without that\n",
               f->crossings, f->crossing_at[0], f->crossing_at[1], f->crossing_at[2]);
    const double widest = fmax(side[0], fmax(side[1], side[2]));
    if (widest > 20.0 || widest < 1e-3)
        printf("  warning: the body is %.4g m wide; if the file is not in metres, say so with --unit\n", widest);
}

PliMesh *pli_surface_input(const PliHost *host, const char *path, double unit, PliSurfaceFacts *facts, PliError *err)
{
    pli_progress(0, 1, "reading the surface");
    PliMesh *in = pli_mesh_read(host, path, err);
    pli_progress(0, 0, NULL);
    if (!in) return NULL;
    if (in->tet_count && !in->tri_count && pli_mesh_find_surface(in) != PLI_OK)
        pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for the surface of %u tetrahedra", in->tet_count);
    for (size_t i = 0; i < 3 * (size_t)in->point_count; ++i) in->x[i] *= unit;
    PliError why = { 0 };
    PliMesh *clean = pli_surface_clean(host, in, facts, &why);
    pli_mesh_destroy(in);
    if (!clean) pli_refuse(err, why.status, "%.120s: %.270s", path, why.text);
    return clean;
}
