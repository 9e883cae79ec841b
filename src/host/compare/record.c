/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/compare/record.h"
#include "base/memory.h"
#include "base/vec.h"
#include "host/components/metrics.h"
#include "host/components/components.h"
#include "host/graph/simulation.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct Body {
    PliObject *object; ///< state
    PliModel *model;   ///< body behind the state, or NULL
    bool skin;         ///< the skin of the model is written, because its coefficients are no mesh
    PliMesh *mesh;     ///< rest points and cells
    PliIndex count;    ///< points written
    double *x, *v;     ///< skin only
    double *displacement, *von_mises, *level;
    double *stress; ///< skin only: of the coefficients
    char name[96];
    char pvd[600];
    char **file;
    double *time;
    size_t count_files, file_capacity, time_capacity;
} Body;

struct PliRecord {
    PliScene *scene;
    PliRecordDef def;
    Body *body;
    size_t body_count, body_capacity;
    FILE *csv;
    char csv_path[600];
    double *ms; ///< every step
    size_t step_count, ms_capacity;
};

// ---- bodies ----------------------------------------------------------------------------------------------------------------------

// "/beam/dofs" -> "beam": a file name from the node, made unique.
static void body_name(PliRecord *r, const PliObject *o, char *name, size_t size)
{
    char path[256];
    pli_object_path(o, path, sizeof path);
    char *slash = strrchr(path, '/');
    if (slash) *slash = '\0';
    const char *from = path[0] == '/' ? path + 1 : path;
    snprintf(name, size, "%.60s", *from ? from : "body");
    for (char *p = name; *p; ++p)
        if (!((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') || *p == '-' ||
              *p == '_'))
            *p = '-';
    size_t length = strlen(name);
    for (int number = 2;; ++number) {
        bool taken = false;
        for (size_t i = 0; i < r->body_count; ++i) taken = taken || strcmp(r->body[i].name, name) == 0;
        if (!taken) return;
        snprintf(name + (length < size - 8 ? length : size - 8), 8, "-%d", number % 100000);
    }
}

static PliStatus copy_cells(PliMesh *mesh, PliCellKind kind, const PliIndex *cells, size_t count, int corners)
{
    PliStatus status = pli_mesh_resize_cells(mesh, kind, (PliIndex)count);
    if (status || count == 0) return status;
    PliIndex *to = kind == PLI_TET    ? mesh->tets
                   : kind == PLI_HEX  ? mesh->hexes
                   : kind == PLI_TRI  ? mesh->tris
                   : kind == PLI_QUAD ? mesh->quads
                                      : mesh->edges;
    memcpy(to, cells, count * (size_t)corners * sizeof *cells);
    return PLI_OK;
}

static PliStatus fill_mesh(PliMesh *mesh, PliObject *topology, const PliMech *s)
{
    static const int corners[] = { 2, 3, 4, 4, 8 };
    PliStatus status = pli_mesh_resize_points(mesh, s->count);
    if (status) return status;
    if (s->count) memcpy(mesh->x, s->x0, 3 * (size_t)s->count * sizeof(double));
    for (int kind = PLI_EDGE; kind <= PLI_HEX && topology && !status; ++kind) {
        size_t n;
        const PliIndex *cells = pli_topology_cells(topology, (PliCellKind)kind, &n);
        bool good = n < PLI_NONE;
        for (size_t i = 0; i < n * (size_t)corners[kind] && good; ++i) good = cells[i] < s->count;
        if (good) status = copy_cells(mesh, (PliCellKind)kind, cells, n, corners[kind]);
    }
    return status;
}

static PliModel *model_of_state(const PliObject *o)
{
    PliObject *model = pli_node_find(o->node, PLI_ROLE_MODEL);
    PliModel *m = model ? pli_model_self(model) : NULL;
    return m && m->state == pli_state_self((PliObject *)(uintptr_t)o) ? m : NULL;
}

static PliStatus skin_mesh(Body *b)
{
    PliIndex tris;
    const PliIndex *triangles = pli_body_skin_tris(b->model->body, &tris);
    PliStatus status = pli_mesh_resize_points(b->mesh, b->count);
    if (!status) pli_body_skin_positions(b->model->body, pli_body_rest(b->model->body), b->mesh->x);
    return status ? status : copy_cells(b->mesh, PLI_TRI, triangles, tris, 3);
}

static PliStatus add_body(PliRecord *r, PliObject *o)
{
    const PliHost *host = &r->scene->host;
    const PliMech *s = pli_state_self(o);
    if (s->count == 0 || s->mapping) return PLI_OK;
    if (!PLI_GROW(host, r->body, r->body_count, r->body_capacity)) return PLI_OUT_OF_MEMORY;
    Body *b = &r->body[r->body_count];
    *b = (Body){ .object = o, .mesh = pli_mesh_create(host), .model = model_of_state(o), .count = s->count };
    body_name(r, o, b->name, sizeof b->name);
    r->body_count++;
    size_t tets = 0;
    if (b->model && pli_data(b->model->object, "tetrahedra")) pli_topology_cells(b->model->object, PLI_TET, &tets);
    b->skin = b->model && tets == 0;
    if (b->skin) b->count = pli_body_skin_count(b->model->body);
    b->displacement = PLI_NEW(host, 3 * (size_t)b->count, double);
    b->von_mises = PLI_NEW(host, b->count, double);
    b->level = PLI_NEW(host, b->count, double);
    b->x = PLI_NEW(host, 3 * (size_t)b->count, double);
    b->v = PLI_NEW(host, 3 * (size_t)b->count, double);
    b->stress = PLI_NEW(host, s->count, double);
    if (!b->mesh || !b->displacement || !b->von_mises || !b->level || !b->x || !b->v || !b->stress)
        return PLI_OUT_OF_MEMORY;
    if (b->skin) return skin_mesh(b);
    return fill_mesh(b->mesh,
                     b->model ? b->model->object
                              : pli_topology_near(o->node, PLI_NEEDS_TETS | PLI_NEEDS_HEXES | PLI_NEEDS_TRIS, true),
                     s);
}

// What is written about a body now; x and v point to what is current.
static void look_at(Body *b, const double **x, const double **v)
{
    const PliMech *s = pli_state_self(b->object);
    *x = s->x;
    *v = s->v;
    memset(b->von_mises, 0, b->count * sizeof(double));
    memset(b->level, 0, b->count * sizeof(double));
    if (b->skin) {
        const PliBody *body = b->model->body;
        PliRows rows = pli_body_skin_rows(body);
        const uint8_t *level = pli_body_skin_level(body);
        pli_body_skin_positions(body, s->x, b->x);
        pli_rows_apply(rows, s->v, b->v);
        pli_body_von_mises(body, s->x, b->stress);
        for (PliIndex i = 0; i < b->count; ++i) {
            b->level[i] = level ? level[i] : 0;
            for (PliIndex k = rows.first[i]; k < rows.first[i + 1]; ++k)
                b->von_mises[i] += rows.weight[k] * b->stress[rows.column[k]];
        }
        *x = b->x;
        *v = b->v;
    } else {
        for (PliObject *o = b->object->node->first_object; o; o = o->next)
            if (o->cls->ops && o->cls->ops->von_mises) o->cls->ops->von_mises(o, s->x, b->von_mises);
    }
    for (size_t i = 0; i < 3 * (size_t)b->count; ++i) b->displacement[i] = (*x)[i] - b->mesh->x[i];
}

static PliStatus write_body(PliRecord *r, Body *b, PliError *err)
{
    const PliHost *host = &r->scene->host;
    const double *x, *v;
    look_at(b, &x, &v);
    const PliField fields[] = {
        { .name = "displacement", .data = b->displacement, .components = 3 },
        { .name = "velocity", .data = v, .components = 3 },
        { .name = "level", .data = b->level, .components = 1 },
        { .name = "von_mises", .data = b->von_mises, .components = 1 },
    };
    size_t files = b->count_files;
    if (!PLI_GROW(host, b->file, files, b->file_capacity) || !PLI_GROW(host, b->time, files, b->time_capacity))
        return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for the list of exported files");
    char path[600], note[160];
    size_t length = strlen(b->name) + 32;
    b->file[files] = PLI_NEW(host, length, char);
    if (!b->file[files]) return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for the list of exported files");
    snprintf(b->file[files], length, "%s_%06llu.vtu", b->name, (unsigned long long)r->scene->step);
    b->time[files] = r->scene->time;
    b->count_files++;
    snprintf(path, sizeof path, "%s/%s", r->def.directory, b->file[files]);
    snprintf(note, sizeof note,
             "pliant %s; fidelity %s; time %.17g s; units of the scene (SI unless it says otherwise)", PLI_VERSION_TEXT,
             r->scene->degraded ? "degraded" : "full", r->scene->time);
    PliStatus status = pli_mesh_write_vtu(b->mesh, x, fields, 4, note, path, err);
    return status ? status
                  : pli_mesh_write_pvd(b->pvd, b->time, (const char *const *)b->file, (PliIndex)b->count_files, err);
}

// ---- life ------------------------------------------------------------------------------------------------------------------------

static PliStatus open_files(PliRecord *r, PliError *err)
{
    if (mkdir(r->def.directory, 0777) != 0 && errno != EEXIST)
        return pli_refuse(err, PLI_BAD_FILE, "%s: the directory cannot be made: %s", r->def.directory, strerror(errno));
    if (strlen(r->def.directory) > 400)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "the name of the output directory is too long");
    snprintf(r->csv_path, sizeof r->csv_path, "%s/stats.csv", r->def.directory);
    r->csv = fopen(r->csv_path, "wb");
    if (!r->csv) return pli_refuse(err, PLI_BAD_FILE, "%s: cannot be written: %s", r->csv_path, strerror(errno));
    fputs("step,time_s,step_ms,kinetic_J,potential_J,active,elements,substeps,refined,coarsened", r->csv);
    for (size_t i = 0; i < r->body_count; ++i)
        for (int k = 0; r->body[i].model && k < r->body[i].model->skin_force_count; ++k)
            fprintf(r->csv, ",%s_%s_m", r->body[i].name, pli_skin_force_measure_name(r->body[i].model->skin_force[k]));
    fputc('\n', r->csv);
    for (size_t i = 0; i < r->body_count; ++i)
        snprintf(r->body[i].pvd, sizeof r->body[i].pvd, "%s/%s.pvd", r->def.directory, r->body[i].name);
    return PLI_OK;
}

PliRecord *pli_record_create(PliScene *scene, const PliRecordDef *def, PliError *err)
{
    PliRecord *r = PLI_NEW(&scene->host, 1, PliRecord);
    if (!r) {
        pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for the record");
        return NULL;
    }
    r->scene = scene;
    r->def = *def;
    PliStatus status = PLI_OK;
    for (size_t i = 0; i < scene->object_count && !status && def->directory; ++i) {
        PliObject *o = scene->object[i];
        if ((o->cls->roles & PLI_ROLE_STATE) && o->node->active) status = add_body(r, o);
    }
    if (status) pli_refuse(err, status, "no memory for the record");
    if (!status && def->directory) status = open_files(r, err);
    if (!status) return r;
    pli_record_close(r, NULL);
    return NULL;
}

PliStatus pli_record_state(PliRecord *r, double step_ms, PliError *err)
{
    PliScene *scene = r->scene;
    if (scene->step > 0) {
        if (!PLI_GROW(&scene->host, r->ms, r->step_count, r->ms_capacity))
            return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for the step times");
        r->ms[r->step_count++] = step_ms;
    }
    if (r->csv) {
        double kinetic, potential;
        pli_scene_energy(scene, &kinetic, &potential);
        uint64_t active = 0, elements = 0, substeps = 0, refined = 0, coarsened = 0;
        for (size_t i = 0; i < r->body_count; ++i) {
            if (!r->body[i].model) continue;
            PliStats s = pli_body_stats(r->body[i].model->body);
            active += s.active, elements += s.elements, refined += s.refined, coarsened += s.coarsened;
            substeps += (uint64_t)r->body[i].model->info.substeps;
        }
        fprintf(r->csv, "%llu,%.9g,%.6g,%.9g,%.9g,%llu,%llu,%llu,%llu,%llu", (unsigned long long)scene->step,
                scene->time, step_ms, kinetic, potential, (unsigned long long)active, (unsigned long long)elements,
                (unsigned long long)substeps, (unsigned long long)refined, (unsigned long long)coarsened);
        for (size_t i = 0; i < r->body_count; ++i)
            for (int k = 0; r->body[i].model && k < r->body[i].model->skin_force_count; ++k)
                fprintf(r->csv, ",%.9g", pli_skin_force_measure(r->body[i].model->skin_force[k]));
        fputc('\n', r->csv);
        if (ferror(r->csv))
            return pli_refuse(err, PLI_BAD_FILE, "%s: cannot be written: the disk may be full", r->csv_path);
    }
    if (!r->def.directory || r->def.every <= 0 || scene->step % (uint64_t)r->def.every != 0) return PLI_OK;
    for (size_t i = 0; i < r->body_count; ++i) {
        PliStatus status = write_body(r, &r->body[i], err);
        if (status) return status;
    }
    return PLI_OK;
}

PliStatus pli_record_close(PliRecord *r, PliError *err)
{
    if (!r) return PLI_OK;
    PliStatus status = PLI_OK;
    const PliHost host = r->scene->host;
    if (r->csv && fclose(r->csv) != 0)
        status = pli_refuse(err, PLI_BAD_FILE, "%s: cannot be written: the disk may be full", r->csv_path);
    for (size_t i = 0; i < r->body_count; ++i) {
        Body *b = &r->body[i];
        PLI_FREE(&host, b->displacement, 3 * (size_t)b->count);
        PLI_FREE(&host, b->von_mises, b->count);
        PLI_FREE(&host, b->level, b->count);
        PLI_FREE(&host, b->x, 3 * (size_t)b->count);
        PLI_FREE(&host, b->v, 3 * (size_t)b->count);
        PLI_FREE(&host, b->stress, pli_state_self(b->object)->count);
        for (size_t k = 0; k < b->count_files; ++k) PLI_FREE(&host, b->file[k], strlen(b->name) + 32);
        PLI_FREE(&host, b->file, b->file_capacity);
        PLI_FREE(&host, b->time, b->time_capacity);
        pli_mesh_destroy(b->mesh);
    }
    PLI_FREE(&host, r->body, r->body_capacity);
    PLI_FREE(&host, r->ms, r->ms_capacity);
    PLI_FREE(&host, r, 1);
    return status;
}

// ---- figures ---------------------------------------------------------------------------------------------------------------------

PliRecordTimes pli_record_times(const PliRecord *r)
{
    PliRecordTimes t = { .steps = r->step_count };
    double *scratch = PLI_NEW(&r->scene->host, r->step_count, double);
    if (!scratch || r->step_count == 0) {
        PLI_FREE(&r->scene->host, scratch, r->step_count);
        return t;
    }
    PliSpread spread = pli_spread(r->ms, r->step_count, scratch);
    t.total = spread.mean * (double)r->step_count;
    t.median = spread.median;
    t.p99 = spread.p99;
    t.max = spread.max;
    PLI_FREE(&r->scene->host, scratch, r->step_count);
    return t;
}

int pli_record_body_count(const PliRecord *r) { return (int)r->body_count; }
const char *pli_record_body_file(const PliRecord *r, int i) { return r->body[i].count_files ? r->body[i].pvd : ""; }
const char *pli_record_csv(const PliRecord *r) { return r->csv_path; }
