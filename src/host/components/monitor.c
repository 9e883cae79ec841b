/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/timer.h"
#include "host/components/components.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

// One CSV line per step, for plots: StateMonitor about a body, StepTimes about what steps take.

typedef struct Monitor {
    PliModel *model; ///< NULL: times
    FILE *file;
    const char *name;
    char path[1024];
    int every;
    double cpu, wall; ///< ms, when the last line was written
} Monitor;

static PliStatus monitor_init(PliObject *o, PliError *err)
{
    Monitor *m = o->self;
    m->every = pli_int(o, "exportEveryNumberOfSteps");
    m->name = pli_text(o, "filename");
    if (!*m->name) return pli_refuse(err, PLI_BAD_ARGUMENT, "needs filename");
    if (m->every < 1)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "exportEveryNumberOfSteps=%d must be at least 1", m->every);
    return PLI_OK;
}

static PliStatus state_init(PliObject *o, PliError *err)
{
    Monitor *m = o->self;
    m->model = pli_model_of(o, err);
    return m->model ? monitor_init(o, err) : err->status;
}

static void write_state(const Monitor *m, const PliScene *scene)
{
    PliStats s = pli_body_stats(m->model->body);
    PliEnergy e = pli_body_energy(m->model->body, m->model->state->x, m->model->state->v);
    fprintf(m->file, "%llu,%.9g,%u,%u,%d,%llu,%llu,%.6g,%.6g,%.6g,%.9g,%.9g,%.9g,%u,%d\n",
            (unsigned long long)scene->step, scene->time, s.active, s.elements, m->model->info.substeps,
            (unsigned long long)s.refined, (unsigned long long)s.coarsened, s.step_ms, s.adapt_ms, s.force_ms,
            e.kinetic, e.elastic, e.gravity, m->model->info.inverted, m->model->info.retries);
}

static void note_times(Monitor *m)
{
    m->cpu = pli_process_cpu_ms();
    m->wall = pli_wall_ms();
}

static void write_times(Monitor *m, const PliScene *scene)
{
    const double cpu = m->cpu, wall = m->wall;
    note_times(m);
    fprintf(m->file, "%llu,%.9g,%.6f,%.6f\n", (unsigned long long)scene->step, scene->time, m->cpu - cpu,
            m->wall - wall);
}

static PliStatus write_line(PliObject *o, PliError *err)
{
    Monitor *m = o->self;
    if (m->model)
        write_state(m, o->node->scene);
    else
        write_times(m, o->node->scene);
    if (ferror(m->file))
        return pli_refuse(err, PLI_BAD_FILE, "%s: %.300s cannot be written: the disk may be full", o->cls->name,
                          m->path);
    return PLI_OK;
}

static PliStatus monitor_start(PliObject *o, PliError *err)
{
    Monitor *m = o->self;
    m->file = fopen(pli_scene_output(o->node->scene, m->name, m->path, sizeof m->path), "wb");
    if (!m->file)
        return pli_refuse(err, PLI_BAD_FILE, "%s: %.300s cannot be written: %s", o->cls->name, m->path,
                          strerror(errno));
    if (!m->model) { // no line of step 0, which took no time
        fputs("step,time_s,cpu_ms,wall_ms\n", m->file);
        note_times(m);
        return PLI_OK;
    }
    fputs("step,time_s,active,elements,substeps,refined,coarsened,step_ms,adapt_ms,force_ms,kinetic_J,elastic_J,"
          "gravity_J,inverted,retries\n",
          m->file);
    return write_line(o, err);
}

static PliStatus monitor_end(PliObject *o, double dt, PliError *err)
{
    (void)dt;
    Monitor *m = o->self;
    if (!m->file || o->node->scene->step % (uint64_t)m->every) return PLI_OK;
    return write_line(o, err);
}

static PliStatus monitor_finish(PliObject *o, PliError *err)
{
    Monitor *m = o->self;
    FILE *file = m->file;
    m->file = NULL;
    if (file && fclose(file) != 0)
        return pli_refuse(err, PLI_BAD_FILE, "%s: %.300s cannot be written: the disk may be full", o->cls->name,
                          m->path);
    return PLI_OK;
}

static void monitor_destroy(PliObject *o)
{
    Monitor *m = o->self;
    if (m->file) fclose(m->file);
}

const PliOps pli_state_monitor_ops = { .size = sizeof(Monitor),
                                       .init = state_init,
                                       .start = monitor_start,
                                       .end = monitor_end,
                                       .finish = monitor_finish,
                                       .destroy = monitor_destroy };

const PliOps pli_step_times_ops = { .size = sizeof(Monitor),
                                    .init = monitor_init,
                                    .start = monitor_start,
                                    .end = monitor_end,
                                    .finish = monitor_finish,
                                    .destroy = monitor_destroy };
