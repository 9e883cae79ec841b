/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "base/vec.h"
#include "host/components/metrics.h"
#include "host/components/components.h"

// ComparisonMonitor. `pliant compare` reads its attributes; in an ordinary run with several bodies it also publishes how far
// each is from the reference after every step.

static const PliAttribute monitor_rows[] = {
    { "reference", PLI_LINK, .help = "model the others are measured against" },
    { "steps", PLI_INT, .value = "200", .help = "steps of the comparison" },
    { "instants", PLI_REALS, .help = "s, when pictures are taken, up to 8; default: four, evenly" },
    { "view", PLI_VEC3, .value = "0 0 0", .help = "direction from the bodies to the eye; zero: chosen" },
    { "up", PLI_VEC3, .value = "0 0 0", .help = "what is up in pictures; zero: y" },
    { "title", PLI_TEXT, .help = "of the report" },
    { "note", PLI_TEXT, .help = "what happens in the scene, for the report" },
    { "errors", PLI_REALS, .role = PLI_OUT,
      .help = "RMS distance of every other body to the reference, over its largest displacement so far" },
};
const PliAttributeGroup pli_comparison_attributes = { monitor_rows, (int)(sizeof monitor_rows / sizeof *monitor_rows) };

enum { OTHERS_MAX = 64 };

typedef struct Monitor {
    const PliModel *reference, *other[OTHERS_MAX];
    int count; ///< of the others; 0: nothing to do
    PliIndex points;
    double *rest, *here, *there, *area;
    double errors[OTHERS_MAX], largest;
} Monitor;

static PliStatus monitor_ready(PliObject *o, PliError *err)
{
    Monitor *m = o->self;
    PliScene *scene = o->node->scene;
    PliObject *reference = pli_link(o, "reference");
    if (!reference || !(reference->cls->roles & PLI_ROLE_MODEL))
        return pli_refuse(err, PLI_BAD_ARGUMENT, "needs reference=\"@Body/model\", a link to a model");
    if (!reference->node->active) return PLI_OK; // a run without it
    m->reference = pli_model_self(reference);
    m->points = pli_body_skin_count(m->reference->body);
    for (size_t k = 0; k < scene->object_count; ++k) {
        PliObject *other = scene->object[k];
        if (!(other->cls->roles & PLI_ROLE_MODEL) || !other->node->active || other == reference ||
            m->count == OTHERS_MAX)
            continue;
        m->other[m->count] = pli_model_self(other);
        if (pli_body_skin_count(m->other[m->count]->body) == m->points) m->count++; // other surfaces cannot be compared
    }
    if (m->count == 0 || m->points == 0) return PLI_OK;
    m->rest = PLI_SCENE_NEW(scene, 3 * (size_t)m->points, double);
    m->here = PLI_SCENE_NEW(scene, 3 * (size_t)m->points, double);
    m->there = PLI_SCENE_NEW(scene, 3 * (size_t)m->points, double);
    m->area = PLI_SCENE_NEW(scene, m->points, double);
    if (!m->rest || !m->here || !m->there || !m->area)
        return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for %u surface points", m->points);
    PliIndex tri_count;
    const PliIndex *tris = pli_body_skin_tris(m->reference->body, &tri_count);
    pli_body_skin_positions(m->reference->body, pli_body_rest(m->reference->body), m->rest);
    pli_point_areas(m->rest, m->points, tris, tri_count, m->area);
    pli_lend_reals(o, "errors", m->errors, (size_t)m->count);
    return PLI_OK;
}

static PliStatus monitor_end(PliObject *o, double dt, PliError *err)
{
    (void)dt;
    (void)err;
    Monitor *m = o->self;
    if (!m->area) return PLI_OK;
    pli_body_skin_positions(m->reference->body, m->reference->state->x, m->here);
    m->largest = fmax(m->largest, pli_gap(m->here, m->rest, NULL, m->points).max);
    for (int k = 0; k < m->count; ++k) {
        pli_body_skin_positions(m->other[k]->body, m->other[k]->state->x, m->there);
        m->errors[k] = m->largest > 0.0 ? pli_gap(m->there, m->here, m->area, m->points).rms / m->largest : 0.0;
    }
    pli_touch(pli_data(o, "errors"));
    return PLI_OK;
}

const PliOps pli_comparison_monitor_ops = { .size = sizeof(Monitor), .ready = monitor_ready, .end = monitor_end };
