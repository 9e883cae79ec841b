/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Scores of stars: where the surface is displaced, pushed, touched or bent more than its triangles can show.
#include <math.h>
#include <string.h>

#include "base/fold.h"
#include "base/memory.h"
#include "base/vec.h"
#include "contact/contact.h"
#include "kernel/elastic_state.h"
#include "scheme/springs/springs.h"

PliStatus pli_springs_judge_create(PliSprings *s)
{
    const PliHost *host = &s->host;
    const PliPyramid *p = s->pyramid;
    const PliSpringsCut *c = s->cut;
    s->star_size = PLI_NEW(host, c->star_count, double);
    s->star_force = PLI_NEW(host, c->star_count, double);
    s->candidate = PLI_NEW(host, c->star_count, PliIndex);
    s->pinned = PLI_NEW(host, c->star_count, uint8_t);
    s->started = PLI_NEW(host, c->star_count, PliIndex);
    s->retry = PLI_NEW(host, c->star_count, uint32_t);
    s->refusals = PLI_NEW(host, c->star_count, uint8_t);
    s->external = PLI_NEW(host, 3 * (size_t)p->vertex_count, double);
    if (pli_criterion_init(&s->criterion, host, c->star_count) != PLI_OK || !s->external) return PLI_OUT_OF_MEMORY;
    if (!s->star_size || !s->star_force || !s->candidate || !s->pinned || !s->started || !s->retry || !s->refusals)
        return PLI_OUT_OF_MEMORY;
    for (int l = 0; l + 1 < p->level_count; ++l)
        for (PliIndex v = 0; v < p->mesh[l]->vertex_count; ++v) {
            const PliIndex begin = p->mesh[l]->vertex_edge[v];
            PliIndex edge = begin;
            double sum = 0.0, count = 0.0;
            do {
                sum +=
                    v3_distance(p->rest + 3 * (size_t)v, p->rest + 3 * (size_t)pli_winged_other(p->mesh[l], v, edge));
                count += 1.0;
                edge = pli_winged_next(p->mesh[l], v, edge, NULL);
            } while (edge != PLI_NONE && edge != begin);
            s->star_size[c->star_first[l] + v] = sum / count;
        }
    return PLI_OK;
}

void pli_springs_judge_destroy(PliSprings *s)
{
    const PliHost *host = &s->host;
    const PliIndex stars = s->cut->star_count;
    PLI_FREE(host, s->star_size, stars);
    PLI_FREE(host, s->star_force, stars);
    PLI_FREE(host, s->candidate, stars);
    PLI_FREE(host, s->pinned, stars);
    PLI_FREE(host, s->started, stars);
    PLI_FREE(host, s->retry, stars);
    PLI_FREE(host, s->refusals, stars);
    PLI_FREE(host, s->external, 3 * (size_t)s->pyramid->vertex_count);
    if (s->criterion.host.alloc) pli_criterion_free(&s->criterion);
}

typedef struct Judge {
    PliSprings *s;
    const double *x; ///< complete
    const PliBodyDef *def;
    const PliTool *tools;
    int tool_count;
    const PliLiveView *live; ///< forces of the last substep, or NULL: nobody knows them any more
} Judge;

// ---- what a score is made of ---------------------------------------------------------------------------------------------------

/// The rigid motion that fits the active vertices best.
static void find_rotation(PliSprings *s, const double *x)
{
    const PliSpringsCut *c = s->cut;
    double now[3] = { 0.0 }, rest[3] = { 0.0 }, A[9] = { 0.0 }, mass = 0.0, turned[3];
    for (PliIndex i = 0; i < c->active_count; ++i) {
        const size_t v = c->active[i];
        mass += s->mass[i];
        v3_madd(now, s->mass[i], x + 3 * v);
        v3_madd(rest, s->mass[i], s->rest + 3 * (size_t)i);
    }
    v3_scale(now, 1.0 / mass);
    v3_scale(rest, 1.0 / mass);
    const double scale = 1.0 / (mass * s->size * s->size);
    for (PliIndex i = 0; i < c->active_count; ++i) {
        double p[3], q[3];
        v3_sub(p, x + 3 * (size_t)c->active[i], now);
        v3_sub(q, s->rest + 3 * (size_t)i, rest);
        v3_scale(p, scale * s->mass[i]);
        for (int k = 0; k < 9; ++k) A[k] += p[k / 3] * q[k % 3];
    }
    pli_polar_robust(A, s->rotation);
    m3_apply(turned, s->rotation, rest);
    v3_sub(s->shift, now, turned);
}

/// How far the vertex is from where a rigid body would have it. Each level asks for twice as much as the one below it, so that
/// the finest triangles are where the displacement is largest.
static double displacement_score(const Judge *j, int level, PliIndex v)
{
    const PliSprings *s = j->s;
    double u[3];
    m3_apply(u, s->rotation, s->pyramid->rest + 3 * (size_t)v);
    v3_add(u, u, s->shift);
    return v3_distance(j->x + 3 * (size_t)v, u) / (j->def->criterion.threshold * s->size * (1 << level));
}

/// Deformation gradient of a triangle of any level, its normal unstretched.
static void gradient(const Judge *j, const PliIndex *c, double F[9])
{
    double D[2][9], inverse[9];
    const double *from[2] = { j->s->pyramid->rest, j->x };
    for (int k = 0; k < 2; ++k) {
        double e[3][3];
        v3_sub(e[0], from[k] + 3 * (size_t)c[1], from[k] + 3 * (size_t)c[0]);
        v3_sub(e[1], from[k] + 3 * (size_t)c[2], from[k] + 3 * (size_t)c[0]);
        v3_cross(e[2], e[0], e[1]);
        v3_scale(e[2], 1.0 / fmax(v3_norm(e[2]), 1e-300));
        for (int r = 0; r < 9; ++r) D[k][r] = e[r % 3][r / 3];
    }
    memset(F, 0, 9 * sizeof *F);
    if (m3_inverse(inverse, D[0]) != 0.0) m3_mul(F, D[1], inverse);
}

/// Largest difference between the gradients around a vertex and their mean: how far the surface there is from bent or stretched
/// alike.
static double strain_jump(const Judge *j, int level, PliIndex v)
{
    const PliWinged *m = j->s->pyramid->mesh[level];
    double mean[9] = { 0.0 }, most = 0.0, F[9];
    int count = 0;
    for (int pass = 0; pass < 2; ++pass) {
        PliIndex edge = m->vertex_edge[v];
        do {
            PliIndex face;
            edge = pli_winged_next(m, v, edge, &face);
            if (face == PLI_NONE) break;
            gradient(j, m->corner + 3 * (size_t)face, F);
            double sum = 0.0;
            for (int k = 0; k < 9 && pass == 0; ++k) mean[k] += F[k];
            for (int k = 0; k < 9 && pass == 1; ++k) sum += (F[k] - mean[k] / count) * (F[k] - mean[k] / count);
            count += pass == 0;
            most = fmax(most, sum);
        } while (edge != PLI_NONE && edge != m->vertex_edge[v]);
    }
    return sqrt(most);
}

static double near_tools(const Judge *j, PliIndex v, double size)
{
    double score = 0.0, normal[3];
    for (int k = 0; k < j->tool_count; ++k) {
        // where the tool will be until the next decision counts as well
        const double ahead = j->def->criterion.interval * v3_norm(j->tools[k].velocity);
        const double distance = pli_tool_distance(&j->tools[k], 0.0, j->x + 3 * (size_t)v, normal);
        score = pli_max(score, pli_score_contact(distance - ahead, size));
    }
    return score;
}

/// A force from outside that would stretch a spring by a hundredth of its length asks for finer triangles where it acts: what the paper
/// calls the manipulator.
static double pushed_score(const Judge *j, PliIndex star)
{
    return j->s->pushed ? j->s->star_force[star] / (0.01 * j->s->stiffness * j->s->star_size[star]) : 0.0;
}

/// What is not in balance at the vertex, as the stretch of a spring.
static double force_score(const Judge *j, PliIndex star, PliIndex v)
{
    const PliSprings *s = j->s;
    const PliIndex at = s->cut->position[v];
    if (!j->live || at == PLI_NONE || j->live->fixed[at]) return 0.0;
    double f[3];
    v3_copy(f, j->live->f + 3 * (size_t)at);
    v3_madd(f, j->live->load[at], j->def->gravity);
    return v3_norm(f) / (j->def->criterion.threshold * s->stiffness * s->star_size[star]);
}

static double score_of(const Judge *j, PliIndex star)
{
    PliSprings *s = j->s;
    const PliCriterionDef *c = &j->def->criterion;
    const int level = pli_springs_star_level(s->cut, star);
    const PliIndex v = star - s->cut->star_first[level];
    const double size = s->star_size[star];
    double score = 0.0;
    switch (c->kind) {
    case PLI_BY_CAMERA: return pli_score_camera(c, j->x + 3 * (size_t)v, size);
    case PLI_BY_REGION: return pli_score_region(c, j->x + 3 * (size_t)v);
    case PLI_BY_DISPLACEMENT: score = displacement_score(j, level, v); break;
    case PLI_BY_STRAIN_JUMP: score = strain_jump(j, level, v) / c->threshold; break;
    case PLI_BY_FORCE: score = force_score(j, star, v); break;
    default: break;
    }
    score = pli_max(score, pushed_score(j, star));
    return j->tool_count ? pli_max(score, near_tools(j, v, size)) : score;
}

static void offer(const Judge *j, PliIndex star)
{
    PliSprings *s = j->s;
    const double part = 0.5 * s->star_size[star];
    if (part < j->def->criterion.smallest_size) return;
    pli_criterion_offer_refine(&s->criterion, star, score_of(j, star), part);
}

// ---- forces from outside -------------------------------------------------------------------------------------------------------

/// What acts on each star: the size of the force on every vertex of the finest level, shared by halves down the levels.
static void find_forces(PliSprings *s, PliBody *body, const double *x, const double *v, double dt)
{
    const PliPyramid *p = s->pyramid;
    const PliState *state = pli_body_state(body);
    s->pushed = state && (state->f_ext || state->external || state->points);
    if (!s->pushed) return; // tools are judged by their distance
    memset(s->external, 0, 3 * (size_t)p->vertex_count * sizeof *s->external);
    pli_body_add_external_forces(body, x, v, dt, s->external);
    double *size = s->external;
    for (PliIndex u = 0; u < p->vertex_count; ++u) size[u] = v3_norm(s->external + 3 * (size_t)u); // u never passes 3 u
    for (int l = p->level_count - 2; l >= 0; --l) {
        const PliWinged *m = p->mesh[l];
        for (PliIndex e = 0; e < m->edge_count; ++e) {
            const double half = 0.5 * size[m->vertex_count + e];
            if (half == 0.0) continue;
            size[m->edge[e].start] += half, size[m->edge[e].end] += half;
        }
        memcpy(s->star_force + s->cut->star_first[l], size, m->vertex_count * sizeof *size);
    }
}

// ---- proposals -----------------------------------------------------------------------------------------------------------------

/// A star can be judged when its vertex is there and a triangle of its level beside it.
static bool exists(const PliSpringsCut *c, int level, PliIndex v)
{
    const PliWinged *m = c->pyramid->mesh[level];
    if (!c->is_active[v]) return false;
    if (level == 0) return true;
    PliIndex edge = m->vertex_edge[v];
    do {
        PliIndex face;
        edge = pli_winged_next(m, v, edge, &face);
        if (face != PLI_NONE && c->is_red[level - 1][face / 4]) return true;
    } while (edge != PLI_NONE && edge != m->vertex_edge[v]);
    return false;
}

/// Stars that may be put in: once a cut.
static void list_candidates(PliSprings *s)
{
    const PliSpringsCut *c = s->cut;
    s->candidate_count = 0;
    for (int l = 0; l + 1 < s->pyramid->level_count; ++l)
        for (PliIndex i = 0; i < c->active_count && c->active[i] < s->pyramid->mesh[l]->vertex_count; ++i) {
            const PliIndex star = c->star_first[l] + c->active[i];
            if (!c->star[star] && exists(c, l, c->active[i])) s->candidate[s->candidate_count++] = star;
        }
    s->candidates_listed = true;
}

static Judge judge_of(PliSprings *s, PliBody *body, const double *x)
{
    Judge j = { .s = s, .x = x, .def = pli_body_def(body) };
    j.tools = pli_body_tools(body, &j.tool_count);
    return j;
}

void pli_springs_judge(PliSprings *s, PliBody *body, double *x, double *v, double dt)
{
    const PliSpringsCut *c = s->cut;
    Judge j = judge_of(s, body, x);
    const PliLiveView live = pli_body_live(body);
    j.live = &live;
    // stars that are judged have active vertices; passive ones are looked at by these only
    const PliState *state = pli_body_state(body);
    if (j.def->criterion.kind == PLI_BY_STRAIN_JUMP || (state && (state->external || state->points))) {
        pli_body_keep_fixed(body);
        pli_springs_follow(c, x);
        pli_springs_follow(c, v);
    }
    if (j.def->criterion.kind == PLI_BY_DISPLACEMENT) find_rotation(s, x);
    find_forces(s, body, x, v, dt);
    if (!s->candidates_listed) list_candidates(s);
    for (PliIndex i = 0; i < s->candidate_count; ++i) offer(&j, s->candidate[i]);
    for (PliIndex i = 0; i < c->chosen_count; ++i)
        if (!s->pinned[c->chosen[i]])
            pli_criterion_offer_coarsen(&s->criterion, c->chosen[i], score_of(&j, c->chosen[i]));
    pli_criterion_rank(&s->criterion);
}

/// Stars of the next level around those that were just refined.
void pli_springs_judge_new(PliSprings *s, PliBody *body, double *x)
{
    const PliSpringsCut *c = s->cut;
    const Judge j = judge_of(s, body, x);
    pli_criterion_next_round(&s->criterion);
    if (j.def->criterion.kind == PLI_BY_STRAIN_JUMP) {
        pli_body_keep_fixed(body);
        pli_springs_follow(c, x);
    }
    for (PliIndex i = 0; i < s->started_count; ++i) {
        const int level = pli_springs_star_level(c, s->started[i]) + 1;
        const PliIndex v = s->started[i] - c->star_first[level - 1];
        if (level + 1 >= s->pyramid->level_count) continue;
        const PliWinged *m = s->pyramid->mesh[level];
        PliIndex edge = m->vertex_edge[v], star = c->star_first[level] + v;
        if (!c->star[star]) offer(&j, star);
        do { // a vertex may be beside two of them
            star = c->star_first[level] + pli_winged_other(m, v, edge);
            if (!c->star[star] && exists(c, level, star - c->star_first[level])) offer(&j, star);
            edge = pli_winged_next(m, v, edge, NULL);
        } while (edge != PLI_NONE && edge != m->vertex_edge[v]);
    }
    s->started_count = 0;
    pli_criterion_rank(&s->criterion);
}
