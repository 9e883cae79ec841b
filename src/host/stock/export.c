/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/stock/stock.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Exporters of SOFA. Their files land in the output directory of the run, or beside the scene's caller.

const char *pli_scene_output(const PliScene *scene, const char *name, char *path, size_t size)
{
    const char *base = strrchr(name, '/'); // a path inside the output directory would need its folders: keep the name
    if (name[0] == '/' || !scene->def.output)
        snprintf(path, size, "%s", name);
    else
        snprintf(path, size, "%s/%s", scene->def.output, base ? base + 1 : name);
    return path;
}

// ---- WriteState --------------------------------------------------------------------------------------------------------------------
// The text SOFA's ReadState and CompareState read: "T= time", "  X= ...". Numbers have 17 digits, so a state reads back exactly.

typedef struct Writer {
    FILE *file;
    const char *name;
    char path[1024];
    const double *time;
    size_t time_count, next;
    double last, period;
    bool periodic, started, x, x0, v, f;
} Writer;

static PliStatus writer_init(PliObject *o, PliError *err)
{
    Writer *w = o->self;
    if (!pli_state_of(o)) return pli_refuse(err, PLI_BAD_ARGUMENT, "needs a MechanicalObject in its node or above");
    w->name = pli_text(o, "filename");
    if (!*w->name) return pli_refuse(err, PLI_BAD_ARGUMENT, "needs filename");
    static const double zero = 0.0;
    w->time = pli_reals(o, "time", &w->time_count);
    w->periodic = pli_is_set(o, "period") || w->time_count == 0;
    w->period = pli_is_set(o, "period") ? pli_real(o, "period") : o->node->scene->dt;
    if (w->time_count == 0) w->time = &zero, w->time_count = 1;
    if (w->periodic) w->time_count = 1;
    w->x = pli_bool(o, "writeX");
    w->x0 = pli_bool(o, "writeX0");
    w->v = pli_bool(o, "writeV");
    w->f = pli_bool(o, "writeF");
    return PLI_OK;
}

static PliStatus writer_start(PliObject *o, PliError *err)
{
    Writer *w = o->self;
    w->file = fopen(pli_scene_output(o->node->scene, w->name, w->path, sizeof w->path), "wb");
    return w->file
               ? PLI_OK
               : pli_refuse(err, PLI_BAD_FILE, "WriteState: %.300s cannot be written: %s", w->path, strerror(errno));
}

static void write_vector(FILE *out, const char *name, const double *x, size_t n)
{
    fprintf(out, "  %s= ", name);
    for (size_t i = 0; i < n; ++i) fprintf(out, "%.17g ", x[i]);
    fputc('\n', out);
}

static PliStatus writer_begin(PliObject *o, double dt, PliError *err)
{
    Writer *w = o->self;
    double time = o->node->scene->time;
    bool now = false;
    if (!w->file) return PLI_OK;
    if (w->next < w->time_count) {
        w->last = w->time[w->next];
        if (time > w->last || fabs(time - w->last) < 0.1 * dt) now = true, w->started = true, w->next++;
    } else if (w->started && w->periodic) {
        double next = w->last + w->period;
        if (time > next || fabs(time - next) < 0.1 * dt) now = true, w->last = next;
    }
    if (!now) return PLI_OK;
    const PliMech *s = pli_state_of(o);
    size_t n = 3 * (size_t)s->count;
    fprintf(w->file, "T= %.17g\n", time);
    if (w->x) write_vector(w->file, "X", s->x, n);
    if (w->x0) write_vector(w->file, "X0", s->x0, n);
    if (w->v) write_vector(w->file, "V", s->v, n);
    if (w->f) write_vector(w->file, "F", s->f, n);
    return ferror(w->file)
               ? pli_refuse(err, PLI_BAD_FILE, "WriteState: %.300s cannot be written: the disk may be full", w->path)
               : PLI_OK;
}

static PliStatus writer_finish(PliObject *o, PliError *err)
{
    Writer *w = o->self;
    FILE *file = w->file;
    w->file = NULL;
    if (file && fclose(file) != 0)
        return pli_refuse(err, PLI_BAD_FILE, "WriteState: %.300s cannot be written: the disk may be full", w->path);
    return PLI_OK;
}

static void writer_destroy(PliObject *o)
{
    Writer *w = o->self;
    if (w->file) fclose(w->file);
}

const PliOps pli_write_state_ops = { .size = sizeof(Writer),
                                     .init = writer_init,
                                     .start = writer_start,
                                     .begin = writer_begin,
                                     .finish = writer_finish,
                                     .destroy = writer_destroy };

// ---- VTKExporter -------------------------------------------------------------------------------------------------------------------

typedef struct Exporter {
    PliMesh *mesh;
    PliObject *topology;
    PliMech *state;
    const char *name;
    uint64_t steps;
    int every;
    bool at_begin, at_end, enabled, overwrite;
} Exporter;

static PliStatus exporter_init(PliObject *o, PliError *err)
{
    Exporter *e = o->self;
    e->topology = pli_topology_of(o, PLI_NEEDS_CELLS);
    PliObject *state = pli_link(o, "mstate");
    e->state = state && (state->cls->roles & PLI_ROLE_STATE) ? pli_state_self(state) : pli_state_of(o);
    if (!e->topology || !e->state)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "needs a topology and a MechanicalObject in its node or above");
    e->every = pli_int(o, "exportEveryNumberOfSteps");
    e->at_begin = pli_bool(o, "exportAtBegin");
    e->at_end = pli_bool(o, "exportAtEnd");
    e->enabled = pli_bool(o, "enable");
    e->overwrite = pli_bool(o, "overwrite");
    e->name = pli_text(o, "filename");
    if (!*e->name) e->name = o->name;
    return PLI_OK;
}

static PliStatus exporter_mesh(PliObject *o, Exporter *e, PliError *err)
{
    static const struct {
        const char *wanted;
        PliCellKind kind;
        size_t corners;
    } kinds[] = { { "edges", PLI_EDGE, 2 },
                  { "triangles", PLI_TRI, 3 },
                  { "quads", PLI_QUAD, 4 },
                  { "tetras", PLI_TET, 4 },
                  { "hexas", PLI_HEX, 8 } };
    e->mesh = pli_mesh_create(&o->node->scene->host);
    PliStatus status = e->mesh ? pli_mesh_resize_points(e->mesh, e->state->count) : PLI_OUT_OF_MEMORY;
    for (size_t k = 0; k < 5 && !status; ++k) {
        size_t n;
        const PliIndex *cells = pli_topology_cells(e->topology, kinds[k].kind, &n);
        if (!pli_bool(o, kinds[k].wanted) || n == 0) continue;
        for (size_t i = 0; i < n * kinds[k].corners; ++i)
            if (cells[i] >= e->state->count)
                return pli_refuse(err, PLI_BAD_ARGUMENT, "the topology has more points than the state");
        status = pli_mesh_resize_cells(e->mesh, kinds[k].kind, (PliIndex)n);
        PliIndex *to[] = { e->mesh->edges, e->mesh->tris, e->mesh->quads, e->mesh->tets, e->mesh->hexes };
        if (!status) memcpy(to[k], cells, n * kinds[k].corners * sizeof *cells);
    }
    return status ? pli_refuse(err, status, "no memory for the exported mesh") : PLI_OK;
}

static PliStatus exporter_write(PliObject *o, PliError *err)
{
    Exporter *e = o->self;
    PliScene *scene = o->node->scene;
    char number[24] = "", file[512], path[1024];
    if (!e->overwrite)
        snprintf(number, sizeof number, "%05llu",
                 (unsigned long long)(e->every > 0 ? e->steps / (uint64_t)e->every : e->steps));
    size_t n = strlen(e->name);
    bool suffix = n > 4 && strcmp(e->name + n - 4, ".vtu") == 0;
    snprintf(file, sizeof file, "%.*s%s.vtu", (int)(suffix ? n - 4 : n), e->name, number);
    pli_scene_output(scene, file, path, sizeof path);
    PliField velocity = { .name = "velocity", .data = e->state->v, .components = 3 };
    return pli_mesh_write_vtu(e->mesh, e->state->x, &velocity, 1,
                              scene->degraded ? "pliant; fidelity degraded" : "pliant; fidelity full", path, err);
}

static PliStatus exporter_start(PliObject *o, PliError *err)
{
    Exporter *e = o->self;
    PliStatus status = exporter_mesh(o, e, err);
    return status || !e->enabled || !e->at_begin ? status : exporter_write(o, err);
}

static PliStatus exporter_end(PliObject *o, double dt, PliError *err)
{
    (void)dt;
    Exporter *e = o->self;
    if (!e->enabled || e->every <= 0 || !e->mesh) return PLI_OK;
    e->steps++;
    return e->steps % (uint64_t)e->every ? PLI_OK : exporter_write(o, err);
}

static PliStatus exporter_finish(PliObject *o, PliError *err)
{
    Exporter *e = o->self;
    return e->enabled && e->at_end && e->mesh ? exporter_write(o, err) : PLI_OK;
}

static void exporter_destroy(PliObject *o) { pli_mesh_destroy(((Exporter *)o->self)->mesh); }

const PliOps pli_vtk_exporter_ops = { .size = sizeof(Exporter),
                                      .init = exporter_init,
                                      .start = exporter_start,
                                      .end = exporter_end,
                                      .finish = exporter_finish,
                                      .destroy = exporter_destroy };
