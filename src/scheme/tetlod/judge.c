/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Scores of regions: where the resolution is too coarse, and where a coarser one would do.
#include <math.h>
#include <string.h>

#include "base/vec.h"
#include "scheme/tetlod/tetlod.h"
#include "contact/contact.h"

/// Where a node of any level is: passive ones follow, and are written to x on the way.
static const double *position(PliTetLod *t, double *x, PliIndex node) { return pli_activeset_follow(t->set, node, x); }

/// Deformation gradient of any tetrahedron, its corners following the active nodes.
static const double *gradient(PliTetLod *t, double *x, PliIndex tet)
{
    double *F = t->gradient + 9 * (size_t)tet;
    if (t->gradient_stamp[tet] == t->judgement) return F;
    t->gradient_stamp[tet] = t->judgement;
    static const PliIndex order[4] = { 0, 1, 2, 3 };
    double c[12];
    for (int k = 0; k < 4; ++k) v3_copy(c + 3 * k, position(t, x, t->h->tets[4 * (size_t)tet + k]));
    pli_tet_gradient(order, &t->rest[tet], c, F);
    return F;
}

/// How far the field is from linear around a node: the gradients there against their mean, which is the gradient recovered at the
/// node. Unlike the paper's force criterion it does not vanish at equilibrium, and a rigid motion does not change it. By the strain
/// jump the largest difference counts; otherwise all do with the volume they stand for, as a share of the whole body.
static double unevenness(PliTetLod *t, double *x, PliIndex node, bool by_jump)
{
    const PliLevels *h = t->h;
    const PliIndex first = h->star_first[node], last = h->star_first[node + 1];
    double mean[9] = { 0.0 }, weight = 0.0, most = 0.0, total = 0.0;
    for (PliIndex k = first; k < last; ++k) { // they lie far apart in memory
        __builtin_prefetch(&t->rest[h->star[k]]);
        __builtin_prefetch((const char *)&t->rest[h->star[k]] + 64);
        __builtin_prefetch(h->tets + 4 * (size_t)h->star[k]);
    }
    for (PliIndex k = first; k < last; ++k) {
        const double *F = gradient(t, x, h->star[k]);
        const double w = by_jump ? 1.0 : h->tet_volume[h->star[k]];
        for (int i = 0; i < 9; ++i) mean[i] += w * F[i];
        weight += w;
    }
    for (int i = 0; i < 9; ++i) mean[i] /= weight;
    for (PliIndex k = first; k < last; ++k) {
        const double *F = gradient(t, x, h->star[k]);
        double sum = 0.0;
        for (int i = 0; i < 9; ++i) sum += (F[i] - mean[i]) * (F[i] - mean[i]);
        most = fmax(most, sum);
        total += h->tet_volume[h->star[k]] * sum;
    }
    return sqrt(by_jump ? most : total / (4.0 * h->volume)); // an element is around four nodes
}

typedef struct Judge {
    PliTetLod *t;
    double *x;
    const PliBodyDef *def;
    const PliTool *tools;
    int tool_count;
    const uint8_t *fixed;
    const double *force; ///< per dof, N, net force on active nodes; only with PLI_BY_FORCE
    double mu;
} Judge;

static double near_tools(const Judge *j, PliIndex node)
{
    double score = 0.0;
    const double *p = position(j->t, j->x, node);
    for (int k = 0; k < j->tool_count; ++k) {
        double normal[3];
        // where the tool will be until the next decision counts as well
        const double ahead = j->def->criterion.interval * v3_norm(j->tools[k].velocity);
        score = fmax(score,
                     pli_score_contact(pli_tool_distance(&j->tools[k], 0.0, p, normal) - ahead, j->t->h->size[node]));
    }
    return score;
}

/// The paper's gamma, with the lumped volume in place of h^3: |f| h^2 / (mu V). A refined node sums what its children feel.
static double force_score(const Judge *j, PliIndex node)
{
    const PliTetLod *t = j->t;
    const PliActiveSet *s = t->set;
    double f[3] = { 0.0, 0.0, 0.0 };
    int64_t volume = 0;
    if (s->state[node] == PLI_ACTIVE) {
        if (j->fixed[node]) return 0.0; // the force on a fixed node is a reaction
        v3_copy(f, j->force + 3 * (size_t)node);
        volume = s->mass[node];
    } else {
        for (PliIndex c = t->h->child_first[node]; c < t->h->child_first[node + 1]; ++c) {
            const PliIndex child = t->h->child[c];
            if (j->fixed[child]) return 0.0;
            v3_add(f, f, j->force + 3 * (size_t)child);
            volume += s->mass[child];
        }
    }
    const double size = t->h->size[node];
    return v3_norm(f) * size * size / (j->mu * (double)volume * t->h->unit * j->def->criterion.threshold);
}

/// Decisions until a node is looked at again: what is far from both thresholds will not cross one at once.
static uint32_t rest_after(double score, bool active)
{
    if (active) return score > 0.85 ? 1 : score > 0.5 ? 2 : score > 0.25 ? 4 : 8;
    return score > 1.2 ? 8 : score > 0.7 ? 4 : 2;
}

/// The expensive score: kept for a few decisions where it does not matter now. (Contact is never kept.)
static double uneven_score(const Judge *j, PliIndex node)
{
    PliTetLod *t = j->t;
    if (t->criterion.decision >= t->look_again[node]) {
        const PliCriterionDef *c = &j->def->criterion;
        const double score = unevenness(t, j->x, node, c->kind == PLI_BY_STRAIN_JUMP) / c->threshold;
        t->last_score[node] = (float)score;
        t->look_again[node] = t->criterion.decision + rest_after(score, t->set->state[node] == PLI_ACTIVE);
    }
    return t->last_score[node];
}

static double score_of(const Judge *j, PliIndex node)
{
    const PliCriterionDef *c = &j->def->criterion;
    double score = 0.0;
    switch (c->kind) {
    case PLI_BY_STRAIN_JUMP:
    case PLI_BY_RECOVERED: score = uneven_score(j, node); break;
    case PLI_BY_FORCE: score = force_score(j, node); break;
    case PLI_BY_CAMERA: return pli_score_camera(c, position(j->t, j->x, node), j->t->h->size[node]);
    case PLI_BY_REGION: return pli_score_region(c, position(j->t, j->x, node));
    default: break;
    }
    return j->tool_count ? fmax(score, near_tools(j, node)) : score;
}

/// What cannot be refined further needs no score.
static bool may_refine(const Judge *j, PliIndex node)
{
    const PliLevels *h = j->t->h;
    return h->level[node] + 1 < h->level_count && !(j->t->part_size[node] < j->def->criterion.smallest_size);
}

/// Net forces of the last substep, on active nodes; only valid while the system still is that of the present set.
static void collect_forces(Judge *j, PliBody *body)
{
    const PliLiveView live = pli_body_live(body);
    double *force = j->t->change; // all zeros between events
    for (PliIndex i = 0; i < live.active_count; ++i) {
        v3_copy(force + 3 * (size_t)live.dof[i], live.f + 3 * (size_t)i);
        v3_madd(force + 3 * (size_t)live.dof[i], live.load[i], j->def->gravity);
    }
    j->force = force;
}

static void forget_forces(Judge *j, PliBody *body)
{
    const PliLiveView live = pli_body_live(body);
    for (PliIndex i = 0; i < live.active_count; ++i)
        memset(j->t->change + 3 * (size_t)live.dof[i], 0, 3 * sizeof(double));
}

static Judge judge_of(PliTetLod *t, PliBody *body, double *x)
{
    Judge j = { .t = t, .x = x, .def = pli_body_def(body), .fixed = pli_body_fixed(body) };
    j.tools = pli_body_tools(body, &j.tool_count);
    j.mu = j.def->material.young / (2.0 * (1.0 + j.def->material.poisson));
    pli_activeset_follow_begin(t->set);
    if (++t->judgement == 0)
        memset(t->gradient_stamp, 0, t->h->tet_count * sizeof *t->gradient_stamp), t->judgement = 1;
    return j;
}

void pli_tetlod_judge(PliTetLod *t, PliBody *body, double *x)
{
    const PliLevels *h = t->h;
    const PliActiveSet *s = t->set;
    Judge j = judge_of(t, body, x);
    const bool by_force = j.def->criterion.kind == PLI_BY_FORCE;
    if (by_force) collect_forces(&j, body);
    for (PliIndex i = 0; i < s->active_count; ++i) {
        const PliIndex node = s->active[i], parent = h->parent[node];
        if (may_refine(&j, node))
            pli_criterion_offer_refine(&t->criterion, node, score_of(&j, node), t->part_size[node]);
        // each refined node once, when its first child comes by
        if (parent != PLI_NONE && h->child[h->child_first[parent]] == node && pli_activeset_may_merge(s, parent))
            pli_criterion_offer_coarsen(&t->criterion, parent, score_of(&j, parent));
    }
    if (by_force) forget_forces(&j, body);
    pli_criterion_rank(&t->criterion);
}

void pli_tetlod_judge_new(PliTetLod *t, PliBody *body, double *x)
{
    Judge j = judge_of(t, body, x);
    pli_criterion_next_round(&t->criterion);
    if (j.def->criterion.kind != PLI_BY_FORCE) // nobody knows the force on a node that has not moved yet
        for (PliIndex i = 0; i < t->started_count; ++i) {
            const PliIndex node = t->started[i];
            if (t->set->state[node] != PLI_ACTIVE || !may_refine(&j, node)) continue;
            pli_criterion_offer_refine(&t->criterion, node, score_of(&j, node), t->part_size[node]);
        }
    t->started_count = 0;
    pli_criterion_rank(&t->criterion);
}
