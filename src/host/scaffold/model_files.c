/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/scaffold/model_files.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "host/graph/scene.h"
#include "output/interrupt.h"

enum { LARGE_SURFACE = 20000, LEAST_AROUND = 4, MOST_AROUND = 10, MOST_CELLS = 96 };

static int compare(const void *a, const void *b)
{
    const double p = *(const double *)a, q = *(const double *)b;
    return p < q ? -1 : p > q;
}

/// A tenth of the surface is thinner.
static bool find_thin(const PliHost *host, const PliMesh *mesh, double *thin)
{
    PliSurfaceFacts facts;
    PliError err;
    PliMesh *skin = pli_surface_clean(host, mesh, &facts, &err); // points of the surface only
    if (!skin) return err.status != PLI_OUT_OF_MEMORY;           // the width will do
    const PliIndex count = skin->point_count;
    double *thickness = PLI_NEW(host, count, double);
    const bool ok = thickness && pli_surface_thickness(host, skin, thickness);
    if (ok) {
        qsort(thickness, count, sizeof *thickness, compare);
        *thin = fmin(*thin, thickness[count / 10]);
    }
    PLI_FREE(host, thickness, count);
    pli_mesh_destroy(skin);
    return ok;
}

bool pli_model_files_find(const PliHost *host, const PliMesh *surface, const PliMade *made, PliModelFiles *files)
{
    const PliMesh *coarse = made->mesh[0];
    double min[3] = { INFINITY, INFINITY, INFINITY }, max[3] = { -INFINITY, -INFINITY, -INFINITY };
    *files = (PliModelFiles){ .levels = made->levels, .coarse_size = made->size[0], .thin = INFINITY };
    for (size_t i = 0; i < 3 * (size_t)surface->point_count; ++i)
        min[i % 3] = fmin(min[i % 3], surface->x[i]), max[i % 3] = fmax(max[i % 3], surface->x[i]);
    for (int a = 0; a < 3; ++a) files->width = fmax(files->width, max[a] - min[a]);
    files->thin = files->width;
    // Euler, of the outside of the coarsest level; handles make it fewer
    files->base_points = coarse->tri_count / 2 + 2;
    return find_thin(host, made->mesh[made->levels - 1], &files->thin);
}

bool pli_model_takes_files(const PliSchemeInfo *scheme) { return scheme->mesh.file != NULL; }

static int default_of(const PliSchemeInfo *scheme, const char *name)
{
    _Alignas(16) unsigned char def[PLI_DEF_BYTES];
    const PliAttribute *row = pli_attribute_find(&scheme->attributes, name);
    int value = 0;
    if (!row || row->size != sizeof value || scheme->def_size > sizeof def) return 0;
    memset(def, 0, sizeof def);
    scheme->defaults(def);
    memcpy(&value, def + row->offset, sizeof value);
    return value;
}

/// The finest levels, `most` of them.
static void write_levels(PliText *t, const PliModelFiles *files, int most)
{
    const int count = files->levels < most ? files->levels : most;
    for (int l = files->levels - count; l < files->levels; ++l)
        pli_text_print(t, "%slevel_%d.msh", l > files->levels - count ? " " : "", l);
}

void pli_wish_write(PliText *t, const PliSchemeInfo *scheme, const PliModelFiles *files, const PliWish *wish)
{
    const bool falls_back = wish->fallback && !scheme->accurate;
    if (falls_back && files->own_forms) return;
    pli_text_put(t, wish->text);
    if (!falls_back) return;
    pli_text_print(t, "%s=\"", wish->fallback);
    write_levels(t, files, PLI_MOST_MESHES);
    pli_text_put(t, "\"");
}

void pli_model_attributes_write(PliText *t, const PliSchemeInfo *scheme, const PliModelFiles *files)
{
    const PliMeshNeed *need = &scheme->mesh;
    pli_text_print(t, " %s=\"", need->file);
    if (need->kind == PLI_MESH_TETS) {
        write_levels(t, files, need->most);
    } else if (need->base && !files->base_points) {
        pli_text_put(t, "level_0.msh");
    } else {
        pli_text_put(t, "surface.obj");
    }
    pli_text_put(t, "\" skin=\"surface.obj\"");
    if (need->around) {
        const double cells = round(files->width / files->coarse_size);
        pli_text_print(t, " %s=\"%.0f\"", need->around, fmin(fmax(cells, LEAST_AROUND), MOST_AROUND));
    }
    if (need->cells) { // two across what is thin
        const int usual = default_of(scheme, need->cells);
        const double wanted = fmin(ceil(2.0 * files->width / files->thin), MOST_CELLS);
        if (wanted > usual) pli_text_print(t, " %s=\"%.0f\"", need->cells, wanted);
    }
    if (need->base && files->base_points) pli_text_print(t, " %s=\"%u\"", need->base, files->base_points);
}

// ---- files -----------------------------------------------------------------------------------------------------------------

/// The surface of tetrahedra, with its own points only.
static PliStatus write_outside(const PliHost *host, const PliMesh *tets, const char *path, PliError *err)
{
    PliSurfaceFacts facts;
    PliMesh *skin = pli_surface_clean(host, tets, &facts, err); // drops what triangles do not use
    if (!skin && err->status == PLI_BAD_MESH)
        return pli_mesh_write_obj(tets, path, err); // sheets that touch, with all points
    if (!skin) return err->status;
    const PliStatus status = pli_mesh_write_obj(skin, path, err);
    pli_mesh_destroy(skin);
    return status;
}

PliStatus pli_model_files_write(const PliHost *host, const char *folder, const PliMesh *surface, const PliMade *made,
                                const PliMesh *between, PliError *err)
{
    char path[1100];
    snprintf(path, sizeof path, "%s/" PLI_BETWEEN_FILE, folder);
    PliStatus status = between ? pli_mesh_write_msh(between, path, err) : PLI_OK;
    for (int l = 0; l < made->levels && status == PLI_OK; ++l) {
        snprintf(path, sizeof path, "%s/level_%d.msh", folder, l);
        status = pli_mesh_write_msh(made->mesh[l], path, err);
    }
    snprintf(path, sizeof path, "%s/surface.obj", folder);
    if (status != PLI_OK) return status;
    // a skin that can be drawn and touched in every step
    return surface->tri_count <= LARGE_SURFACE ? pli_mesh_write_obj(surface, path, err)
                                               : write_outside(host, made->mesh[made->levels - 1], path, err);
}

static void put_scene(PliText *t, const PliSchemeInfo *scheme, const PliModelFiles *files, const char *more)
{
    pli_text_put(t, "<?xml version=\"1.0\"?>\n<!-- The body falls freely: hold or push it. -->\n"
                    "<Node name=\"root\" dt=\"0.01\" gravity=\"0 -9.81 0\">\n"
                    "    <RequiredPlugin pluginName=\"Pliant\"/>\n"
                    "    <RequiredPlugin pluginName=\"Sofa.Component.AnimationLoop\"/>\n"
                    "    <RequiredPlugin pluginName=\"Sofa.Component.StateContainer\"/>\n"
                    "    <DefaultAnimationLoop/>\n    <Node name=\"body\">\n        ");
    pli_text_print(t, "<%s name=\"model\"", scheme->component);
    pli_model_attributes_write(t, scheme, files);
    pli_text_put(t, more);
    pli_text_put(
        t, "/>\n        <AdaptiveSolver/>\n        <MechanicalObject name=\"dofs\" position=\"@model.position\"/>\n"
           "        <Node name=\"skin\">\n            <AdaptiveSurface name=\"surface\"/>\n"
           "            <MechanicalObject name=\"points\"/>\n            <AdaptiveMapping/>\n        </Node>\n"
           "    </Node>\n</Node>\n");
}

static void be_quiet(PliLogLevel level, const char *text, void *user) { (void)level, (void)text, (void)user; }

/// The scene can be made. False: why, the first that was found.
static bool try_scene(const PliHost *host, const char *folder, const PliSchemeInfo *scheme, const PliModelFiles *files,
                      const char *more, PliError *why)
{
    PliText t = { 0 };
    char path[1100];
    PliHost quiet = *host;
    const PliSceneDef def = pli_scene_default();
    PliStatus status = PLI_OUT_OF_MEMORY;
    quiet.log = be_quiet;
    put_scene(&t, scheme, files, more);
    snprintf(path, sizeof path, "%s/%s.scn", folder, scheme->name);
    PliScene *scene = t.failed ? NULL : pli_scene_parse(&quiet, t.data, t.bytes, path, &def, &status);
    pli_refuse(why, status, "there is no memory for its body");
    for (size_t k = 0; scene && status != PLI_OK && k < scene->report.count; ++k)
        if (scene->report.finding[k].severity > PLI_WARNING) {
            pli_refuse(why, status, "%s", scene->report.finding[k].text);
            break;
        }
    pli_scene_destroy(scene);
    pli_text_free(&t);
    return status == PLI_OK;
}

static bool takes_wishes(const PliHost *host, const char *folder, const PliSchemeInfo *scheme,
                         const PliModelFiles *files, const PliWish *wish, int count)
{
    PliText t = { 0 };
    PliError why;
    for (int i = 0; i < count; ++i) pli_wish_write(&t, scheme, files, wish + i);
    const bool takes = !t.failed && try_scene(host, folder, scheme, files, t.data ? t.data : "", &why);
    pli_text_free(&t);
    return takes;
}

/// All of them, or those it takes one by one. What a scheme refuses it refuses before any work, so few bodies are made.
static unsigned find_wishes(const PliHost *host, const char *folder, const PliSchemeInfo *scheme,
                            const PliModelFiles *files, const PliWish *wish, int count)
{
    const unsigned all = (1u << count) - 1u;
    unsigned takes = 0;
    if (count && takes_wishes(host, folder, scheme, files, wish, count)) takes = all;
    for (int i = 0; takes != all && count > 1 && i < count && !pli_interrupted(); ++i)
        if (takes_wishes(host, folder, scheme, files, wish + i, 1)) takes |= 1u << i;
    return takes;
}

void pli_model_files_try(const PliHost *host, const char *folder, PliModelFiles *files, const PliWish *wish, int count,
                         PliText *said)
{
    for (int k = 0; k < pli_scheme_count() && !pli_interrupted(); ++k) {
        const PliSchemeInfo *scheme = pli_scheme_at(k);
        PliError why;
        if (!pli_model_takes_files(scheme)) continue;
        files->takes[k] = find_wishes(host, folder, scheme, files, wish, count);
        if (files->takes[k] || try_scene(host, folder, scheme, files, "", &why)) continue;
        PliModelFiles other = *files;
        other.base_points = 0;
        if (scheme->mesh.base && try_scene(host, folder, scheme, &other, "", &why)) {
            *files = other;
            files->takes[k] = find_wishes(host, folder, scheme, files, wish, count);
        } else {
            pli_text_print(said, "warning: the scheme %s refuses this body: %s\n", scheme->name, why.text);
        }
    }
}

static PliStatus write_scene(const char *folder, const PliSchemeInfo *scheme, const PliModelFiles *files, PliError *err)
{
    PliText t = { 0 };
    char path[1100];
    put_scene(&t, scheme, files, "");
    snprintf(path, sizeof path, "%s/%s.scn", folder, scheme->name);
    const PliStatus status = pli_text_write(&t, path, err);
    pli_text_free(&t);
    return status;
}

PliStatus pli_free_scenes_write(const PliHost *host, const char *folder, const PliMesh *surface, const PliMade *made,
                                PliModelFiles *files, PliText *said, PliError *err)
{
    if (!pli_model_files_find(host, surface, made, files))
        return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for the files of the body");
    PliStatus status = pli_model_files_write(host, folder, surface, made, NULL, err);
    if (status == PLI_OK) pli_model_files_try(host, folder, files, NULL, 0, said);
    for (int k = 0; k < pli_scheme_count() && status == PLI_OK; ++k)
        if (pli_model_takes_files(pli_scheme_at(k))) status = write_scene(folder, pli_scheme_at(k), files, err);
    return status;
}
