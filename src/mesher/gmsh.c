/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mesher/gmsh.h"

#include <stdio.h>
#include <string.h>

#include "mesh/output.h"
#include "output/file.h"
#include "output/program.h"

enum { MAX_NAME = 1100 };

PliStatus pli_gmsh_find(PliError *err)
{
    if (pli_program_is_there("gmsh")) return PLI_OK;
    return pli_refuse(err, PLI_BAD_FILE,
                      "the program gmsh is not on the PATH: install it (Debian: apt-get install gmsh)");
}

/// Runs gmsh on files of a folder, all it says into a log. @return its exit code, -1: it could not be run
static int spawn_gmsh(const char *folder, const char *name, const char *task)
{
    char geo[MAX_NAME], msh[MAX_NAME], log[MAX_NAME];
    snprintf(geo, sizeof geo, "%s/%s.geo", folder, name);
    snprintf(msh, sizeof msh, "%s/%s.msh", folder, name);
    snprintf(log, sizeof log, "%s/%s.log", folder, name);
    char program[] = "gmsh", what[8], threads[] = "-nt", one[] = "1", format[] = "-format", kind[] = "msh22",
         out[] = "-o";
    char *const argv[] = { program, what, threads, one, format, kind, out, msh, geo, NULL };
    snprintf(what, sizeof what, "%s", task);
    return pli_program_run(argv, NULL, log, NULL);
}

/// The first line of the log that names an error.
static void first_error(const char *folder, const char *name, char *out, size_t size)
{
    char path[MAX_NAME], line[400];
    snprintf(path, sizeof path, "%s/%s.log", folder, name);
    snprintf(out, size, "it said nothing");
    FILE *log = fopen(path, "r");
    while (log && fgets(line, sizeof line, log)) {
        if (strncmp(line, "Error", 5) != 0) continue;
        const char *text = strchr(line, ':');
        text = text ? text + 1 + strspn(text + 1, " ") : line;
        snprintf(out, size, "%.*s", (int)strcspn(text, "\r\n"), text);
        break;
    }
    if (log) fclose(log);
}

PliMesh *pli_gmsh_run(const PliHost *host, const char *folder, const char *name, const char *script, PliError *err)
{
    char path[MAX_NAME], why[200];
    if (snprintf(path, sizeof path, "%s/%s.geo", folder, name) >= (int)sizeof path) {
        pli_refuse(err, PLI_BAD_FILE, "the name of the folder %s is too long", folder);
        return NULL;
    }
    if (pli_file_replace(path, script, strlen(script), err) != PLI_OK) return NULL;
    const int code = spawn_gmsh(folder, name, "-3");
    snprintf(path, sizeof path, "%s/%s.msh", folder, name);
    PliMesh *m = code == 0 ? pli_mesh_read(host, path, err) : NULL;
    if (m && m->tet_count > 0) return m;
    pli_mesh_destroy(m);
    if (code == -1) {
        pli_refuse(err, PLI_BAD_FILE, "gmsh could not be run, or was stopped");
        return NULL;
    }
    first_error(folder, name, why, sizeof why);
    pli_refuse(err, PLI_BAD_MESH, "gmsh made no tetrahedra: %s", why);
    return NULL;
}

PliStatus pli_gmsh_batch(const char *folder, const char *name, const char *script, PliError *err)
{
    char path[MAX_NAME];
    snprintf(path, sizeof path, "%s/%s.geo", folder, name);
    const PliStatus status = pli_file_replace(path, script, strlen(script), err);
    if (status != PLI_OK) return status;
    return spawn_gmsh(folder, name, "-") == -1 ? pli_refuse(err, PLI_BAD_FILE, "gmsh could not be run, or was stopped")
                                               : PLI_OK;
}

PliStatus pli_gmsh_write_stl(const PliMesh *m, const char *folder, const char *name, PliError *err)
{
    char path[MAX_NAME];
    snprintf(path, sizeof path, "%s/%s.stl", folder, name);
    PliOutput out;
    const PliStatus status = pli_output_begin(&out, path, err);
    if (status != PLI_OK) return status;
    fputs("solid s\n", out.file);
    for (PliIndex t = 0; t < m->tri_count; ++t) {
        fputs("facet normal 0 0 0\nouter loop\n", out.file);
        for (size_t k = 0; k < 3; ++k) {
            const double *p = m->x + 3 * (size_t)m->tris[3 * (size_t)t + k];
            fprintf(out.file, "vertex %.17g %.17g %.17g\n", p[0], p[1], p[2]);
        }
        fputs("endloop\nendfacet\n", out.file);
    }
    fputs("endsolid s\n", out.file);
    return pli_output_end(&out, PLI_OK);
}

PliMesh *pli_gmsh_fill(const PliHost *host, const PliMesh *surface, int algorithm, const char *folder, const char *name,
                       PliError *err)
{
    if (pli_gmsh_write_stl(surface, folder, name, err) != PLI_OK) return NULL;
    char script[600];
    // files are merged from the script's folder; then swaps until nothing below the threshold can be helped
    snprintf(
        script, sizeof script,
        "Merge \"%s.stl\";\nSurface Loop(1) = {1};\nVolume(1) = {1};\nMesh.Algorithm3D = %d;\nMesh.Optimize = 1;\n"
        "Mesh.OptimizeThreshold = 0.5;\nMesh.MeshSizeExtendFromBoundary = 1;\nMesh.SaveAll = 1;\nMesh.Binary = 0;\n",
        name, algorithm);
    return pli_gmsh_run(host, folder, name, script, err);
}

void pli_gmsh_remove_scratch(const char *folder, const char *name)
{
    static const char *const kinds[] = { "stl", "geo", "msh", "log" };
    char path[MAX_NAME];
    for (int k = 0; k < 4; ++k)
        if (snprintf(path, sizeof path, "%s/%s.%s", folder, name, kinds[k]) < (int)sizeof path) remove(path);
}

PliStatus pli_gmsh_probe(const PliHost *host, const char *folder, PliError *err)
{
    static const double corner[12] = { 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0 };
    static const PliIndex face[12] = { 0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3 };
    PliStatus status = pli_gmsh_find(err);
    if (status != PLI_OK) return status;
    PliMesh *one = pli_mesh_create(host), *filled = NULL;
    if (!one || pli_mesh_resize_points(one, 4) != PLI_OK || pli_mesh_resize_cells(one, PLI_TRI, 4) != PLI_OK) {
        status = pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for a tetrahedron");
    } else {
        memcpy(one->x, corner, sizeof corner);
        memcpy(one->tris, face, sizeof face);
        filled = pli_gmsh_fill(host, one, 1, folder, "gmsh_probe", err);
        pli_gmsh_remove_scratch(folder, "gmsh_probe");
        const PliError why = *err;
        if (!filled && err->status == PLI_BAD_MESH)
            pli_refuse(err, PLI_BAD_FILE, "gmsh does not work here, it cannot fill one tetrahedron: %.300s", why.text);
        status = filled ? PLI_OK : err->status;
    }
    pli_mesh_destroy(filled);
    pli_mesh_destroy(one);
    return status;
}
