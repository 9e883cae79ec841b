/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Which frames are active. A candidate is judged by the kinetic energy of the difference between the velocity it gets as a
// passive frame and the one it would get by itself, predicted explicitly from forces and masses gathered on it:
//   d = tau M^-1 (f - M a),   mu = d^T M d / 2,   a the acceleration of the last step, tau the time until the next decision,
// so that the verdict does not depend on the time step.
// Gathered, because the forces of its own balanced descendants would look unbalanced; explicit, because a block-implicit
// prediction never activates enough.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/timer.h"
#include "base/vec.h"
#include "contact/contact.h"
#include "scheme/frames/frames.h"

static const double FORESIGHT = 0.01; ///< s, tau where decisions fall in every step
static const double MEMORY = 1.0;     ///< s, after which a blow counts for a third of its kinetic energy
/// m/s over the size of the body: motion slower than this counts as none, whatever else moved.
static const double STILLNESS = 1e-5;

// What a change of the set costs must be earned. Measured on chains and trees: a change costs about a step, judging a tenth of
// one, and a set with most frames active is integrated at the cost of all of them.
enum { FULL_PACE = 6 }; ///< steps from one decision to the next while all frames are active: none can wake
static const double NEARLY_ALL = 0.75; ///< share of active frames from which on the others wake as well
enum { BATCH = 8 };                    ///< one in so many active frames goes to sleep at once, or they wait for others
enum { RUSH = 12 };                    ///< frames that may wake at once for each that is known to
enum { NAP = 4 };                      ///< times hold: a shorter time with some frames asleep was not worth it
static const uint64_t NOT_GATHERED = UINT64_MAX; ///< in place of the revision that forces were gathered with

PliStatus pli_frames_adapt_create(PliFrames *s)
{
    const PliHost *h = &s->host;
    const size_t n = s->count, dofs = s->dof_count;
    s->fixed = PLI_NEW(h, dofs, uint8_t);
    s->force = PLI_NEW(h, 3 * dofs, double);
    s->hat = PLI_NEW(h, 3 * dofs, double);
    s->push = PLI_NEW(h, 3 * dofs, double);
    s->hat_mass = PLI_NEW(h, 16 * n, double);
    s->hat_stiffness = PLI_NEW(h, 16 * n, double);
    s->v_before = PLI_NEW(h, 3 * dofs, double);
    s->momentum = PLI_NEW(h, 3 * dofs, double);
    s->solve = PLI_NEW(h, 12 * dofs, double);
    s->score = PLI_NEW(h, n, double);
    s->age = PLI_NEW(h, n, PliIndex);
    s->wish = PLI_NEW(h, n, uint8_t);
    return s->fixed && s->force && s->hat && s->push && s->hat_mass && s->hat_stiffness && s->v_before && s->momentum &&
                   s->solve && s->score && s->age && s->wish
               ? PLI_OK
               : PLI_OUT_OF_MEMORY;
}

void pli_frames_adapt_destroy(PliFrames *s)
{
    const PliHost *h = &s->host;
    const size_t n = s->count, dofs = s->dof_count;
    PLI_FREE(h, s->fixed, dofs);
    PLI_FREE(h, s->force, 3 * dofs);
    PLI_FREE(h, s->hat, 3 * dofs);
    PLI_FREE(h, s->push, 3 * dofs);
    PLI_FREE(h, s->hat_mass, 16 * n);
    PLI_FREE(h, s->hat_stiffness, 16 * n);
    PLI_FREE(h, s->v_before, 3 * dofs);
    PLI_FREE(h, s->momentum, 3 * dofs);
    PLI_FREE(h, s->solve, 12 * dofs);
    PLI_FREE(h, s->score, n);
    PLI_FREE(h, s->age, n);
    PLI_FREE(h, s->wish, n);
}

void pli_frames_adapt_reset(PliFrames *s)
{
    memset(s->age, 0, s->count * sizeof *s->age);
    s->predicted = 0;
    s->hat_revision = 0;
    s->peak_kinetic = s->eta = s->since_decision = s->since_look = s->time = 0.0;
    s->still = 0;
    s->since_change = s->since_nap = s->nap_wait = 0;
    s->decided = false;
    pli_governor_reset(&s->governor);
    s->peak_force = 0.0;
    s->polished = true; // the rest state is an equilibrium
    s->polish_wait = s->polish_failures = 0;
    const PliFramesInfo keep = s->info;
    s->info = (PliFramesInfo){ .frames = keep.frames,
                               .regions = keep.regions,
                               .active = keep.active,
                               .candidates = keep.candidates,
                               .samples = keep.samples };
}

// ---- forces and masses on active frames and candidates -------------------------------------------------------------------

// Adds what acts on every coefficient to active frames and candidates.
static void pull(const PliFrames *s, const double *force, double *hat)
{
    const PliDagRows *rows = &s->dag->over_candidates;
    for (PliIndex i = 0; i < s->count; ++i) {
        const double *f = force + 12 * (size_t)i;
        for (PliIndex q = 0; q < rows->used[i]; ++q) {
            const double *t = rows->block + 16 * (rows->first[i] + q);
            double *h = hat + 12 * (size_t)rows->column[rows->first[i] + q];
            for (int d = 0; d < 4; ++d)
                for (int c = 0; c < 4; ++c) {
                    const double w = t[4 * c + d];
                    if (w != 0.0) v3_madd(h + 3 * d, w, f + 3 * c);
                }
        }
    }
}

// Active frames carry the candidates as well.
static void carry(const PliFrames *s, double *hat)
{
    const PliDagRows *own = &s->dag->over_active;
    for (PliIndex k = 0; k < s->dag->candidate_count; ++k) {
        const PliIndex i = s->dag->candidate_list[k];
        const double *f = hat + 12 * (size_t)i;
        for (PliIndex q = 0; q < own->used[i]; ++q) {
            const double *t = own->block + 16 * (own->first[i] + q);
            double *h = hat + 12 * (size_t)own->column[own->first[i] + q];
            for (int d = 0; d < 4; ++d)
                for (int c = 0; c < 4; ++c) v3_madd(h + 3 * d, t[4 * c + d], f + 3 * c);
        }
    }
}

// Forces on active frames and candidates at (x, v): elastic ones from the stresses of the live regions, and what gravity, the
// host and the tools do to every coefficient, pulled through the rows over candidates. `again`: frames have woken since the last time,
// and that moves nothing, so what acts on every coefficient is known.
static void gather_forces(PliFrames *s, PliBody *body, const double *x, const double *v, double dt, bool again)
{
    (void)pli_body_evaluate(body, x, v);
    memset(s->hat, 0, 3 * (size_t)s->dof_count * sizeof *s->hat);
    const double *stress = pli_body_sample_stress(body),
                 *centre = stress + 9 * (size_t)PLI_REGION_SAMPLES * s->front_count;
    for (PliIndex i = 0; i < s->front_count; ++i) {
        const PliFramePack *pack = &s->pack[s->front[i]];
        const bool fifth = s->has_antilock && pack->antilock;
        for (PliIndex m = 0; m < PLI_REGION_SAMPLES; ++m) {
            const double *at = stress + 9 * ((size_t)PLI_REGION_SAMPLES * i + m),
                         *grad = s->pack_grad + 48 * pack->first + 12 * (size_t)m * pack->used;
            double p[9];
            // the gradient at the centre is the mean of the four
            for (int k = 0; k < 9; ++k) p[k] = at[k] + (fifth ? 0.25 * centre[k] : 0.0);
            for (PliIndex k = 0; k < pack->used; ++k) {
                double *f = s->hat + 12 * (size_t)s->pack_column[pack->first + k];
                const double *g = grad + 12 * (size_t)k;
                for (int c = 0; c < 12; c += 3)
                    for (int a = 0; a < 3; ++a)
                        f[c + a] += p[3 * a] * g[c] + p[3 * a + 1] * g[c + 1] + p[3 * a + 2] * g[c + 2];
            }
        }
        if (fifth) centre += 9;
    }
    pli_frames_add_rest_forces(s, x, s->hat);

    if (!again) {
        memset(s->force, 0, 3 * (size_t)s->dof_count * sizeof *s->force);
        for (PliIndex i = 0; i < s->dof_count; ++i)
            v3_madd(s->force + 3 * (size_t)i, s->load[i], pli_body_def(body)->gravity);
        const double start = pli_cpu_ms();
        pli_body_add_external_forces(body, x, v, dt, s->force); // these too
        pli_body_stats_mutable(body)->force_ms += pli_cpu_ms() - start;
    }
    pull(s, s->force, s->hat);
    carry(s, s->hat);
}

// What the material puts up against a motion of one active frame or candidate alone, as one scalar for all directions: at least shear,
// mu |dF|^2. It does not depend on how the body is turned or strained.
static void gather_stiffness(PliFrames *s)
{
    const PliFrameRegions *r = s->regions;
    memset(s->hat_stiffness, 0, 16 * (size_t)s->count * sizeof *s->hat_stiffness);
    for (PliIndex n = 0; n < r->node_count; ++n) {
        if (r->node[n].leaf == PLI_NONE) continue;
        const PliFramePack *p = &s->pack[n];
        const double weight = s->lame.mu * p->stiffness * p->volume / PLI_REGION_SAMPLES;
        for (PliIndex m = 0; m < PLI_REGION_SAMPLES; ++m)
            for (PliIndex k = 0; k < p->used; ++k) {
                const double *g = s->pack_grad + 48 * p->first + 12 * ((size_t)m * p->used + k);
                double *out = s->hat_stiffness + 16 * (size_t)s->pack_column[p->first + k];
                for (int i = 0; i < 4; ++i)
                    for (int j = 0; j < 4; ++j) out[4 * i + j] += weight * v3_dot(g + 3 * i, g + 3 * j);
            }
    }
}

// Lumped masses gathered the same way, block by block: M_i = sum_k T_ki^T M_k T_ki. A candidate is judged with itself and the
// other candidates moving, an active frame with all candidates following.
static void gather_masses(PliFrames *s)
{
    if (s->hat_revision == s->dag->revision) return;
    memset(s->hat_mass, 0, 16 * (size_t)s->count * sizeof *s->hat_mass);
    for (int pass = 0; pass < 2; ++pass) {
        const PliDagRows *rows = pass ? &s->dag->over_active : &s->dag->over_candidates;
        for (PliIndex k = 0; k < s->count; ++k) {
            const double *m = s->mass->lumped + 16 * (size_t)k;
            for (PliIndex q = 0; q < rows->used[k]; ++q) {
                const PliIndex column = rows->column[rows->first[k] + q];
                if ((bool)pass != (bool)s->dag->active[column]) continue;
                const double *t = rows->block + 16 * (rows->first[k] + q);
                double *out = s->hat_mass + 16 * (size_t)column, mt[16];
                for (int i = 0; i < 4; ++i)
                    for (int c = 0; c < 4; ++c)
                        mt[4 * i + c] = m[4 * i] * t[c] + m[4 * i + 1] * t[4 + c] + m[4 * i + 2] * t[8 + c] +
                                        m[4 * i + 3] * t[12 + c];
                for (int i = 0; i < 4; ++i)
                    for (int c = 0; c < 4; ++c)
                        out[4 * i + c] +=
                            t[i] * mt[c] + t[4 + i] * mt[4 + c] + t[8 + i] * mt[8 + c] + t[12 + i] * mt[12 + c];
            }
        }
    }
    gather_stiffness(s);
    s->hat_revision = s->dag->revision;
}

/// Cholesky of a 4x4 block, lower, in place of r; false when it is not positive definite.
static bool cholesky4(const double m[16], double r[16])
{
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j <= i; ++j) {
            double sum = m[4 * i + j];
            for (int k = 0; k < j; ++k) sum -= r[4 * i + k] * r[4 * j + k];
            if (i == j) {
                if (!(sum > 1e-14 * m[4 * i + i])) return false;
                r[4 * i + i] = sqrt(sum);
            } else {
                r[4 * i + j] = sum / r[4 * j + j];
            }
        }
    return true;
}

static void solve4(const double r[16], double x[4])
{
    for (int i = 0; i < 4; ++i) {
        for (int k = 0; k < i; ++k) x[i] -= r[4 * i + k] * x[k];
        x[i] /= r[4 * i + i];
    }
    for (int i = 3; i >= 0; --i) {
        for (int k = i + 1; k < 4; ++k) x[i] -= r[4 * k + i] * x[k];
        x[i] /= r[4 * i + i];
    }
}

// ---- judging --------------------------------------------------------------------------------------------------------------

// Velocity frame i would have as a passive frame: the blend of its parents with the offset it has, or would get now.
static void passive_velocity(const PliFrames *s, PliIndex i, const double *v, const double *offset, double out[12])
{
    const PliDag *g = s->dag;
    memset(out, 0, 12 * sizeof *out);
    for (PliIndex e = g->parent_first[i]; e < g->parent_first[i + 1]; ++e) {
        const PliIndex k = g->parent[e];
        const double w = g->parent_weight[e], ratio = w * g->scale[i] / g->scale[k];
        const double *vk = v + 12 * (size_t)k;
        v3_madd(out + 9, w, vk + 9);
        for (int c = 0; c < 3; ++c) {
            v3_madd(out + 9,
                    w * (g->x[3 * (size_t)i + c] - g->x[3 * (size_t)k + c]) / g->scale[k] + ratio * offset[9 + c],
                    vk + 3 * c);
            for (int r = 0; r < 3; ++r) v3_madd(out + 3 * r, ratio * offset[3 * c + r], vk + 3 * c);
        }
    }
}

// mu = d^T M d / 2 for a difference of four Vec3.
static double energy_of(const double m[16], const double d[12])
{
    double sum = 0.0;
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) sum += m[4 * i + j] * v3_dot(d + 3 * i, d + 3 * j);
    return 0.5 * sum;
}

// Weight of a frame in the metric of the user, from where it is now.
static double metric_weight(const PliFrames *s, const PliCriterionDef *c, const double origin[3])
{
    if (s->def.metric == PLI_METRIC_KINETIC) return 1.0;
    const double d = v3_distance(origin, c->point), radius = c->radius > 0.0 ? c->radius : s->voxels->extent;
    const double camera = exp(-d / radius), region = d <= radius ? 1.0 : exp(-(d - radius) / radius);
    if (s->def.metric == PLI_METRIC_CAMERA) return camera;
    return s->def.metric == PLI_METRIC_REGION ? region : fmin(1.0, fmin(camera, region));
}

// Gathered forces without those that the motion from v_before to v needed (drag as well): what is left pushes frames
// against the motion they have. All masses that move with a frame count, also those it shares with others: compared with its own
// block alone, frames of a body in free fall seem to fall faster than it does.
static void take_inertia(PliFrames *s, const double *v, double drag)
{
    const size_t n = 3 * (size_t)s->dof_count;
    double *need = s->solve, *pulled = s->solve + n;
    for (PliIndex i = 0; i < s->count; ++i) {
        const double *m = s->mass->lumped + 16 * (size_t)i; // exact for affine motion, and a thirtieth of the work
        double a[12];
        for (size_t k = 0, at = 12 * (size_t)i; k < 12; ++k, ++at)
            a[k] = (v[at] - s->v_before[at]) / s->predicted_dt + drag * v[at];
        for (size_t c = 0; c < 4; ++c)
            for (size_t k = 0; k < 3; ++k)
                need[12 * (size_t)i + 3 * c + k] =
                    m[4 * c] * a[k] + m[4 * c + 1] * a[3 + k] + m[4 * c + 2] * a[6 + k] + m[4 * c + 3] * a[9 + k];
    }
    memset(pulled, 0, n * sizeof *pulled);
    pull(s, need, pulled);
    carry(s, pulled);
    for (size_t k = 0; k < n; ++k) s->push[k] = s->hat[k] - pulled[k];
}

/// M + tau^2 K of frame i alone.
static void foreseen(const PliFrames *s, PliIndex i, double a[16])
{
    const double *m = s->hat_mass + 16 * (size_t)i, *k = s->hat_stiffness + 16 * (size_t)i;
    for (int e = 0; e < 16; ++e) a[e] = m[e] + s->foresight * s->foresight * k[e];
}

// Energy of what a frame would do by itself in the time of foresight, kinetic and elastic: r^T A^-1 r / 2 of the force r that makes it
// follow, A = M + tau^2 K of the frame alone. Where the material is stiff, kinetic energy alone is that of a mass thrown by a spring
// it never leaves: tens to thousands of times too much. `slip`: how the passive change of velocity differs from the one there was;
// NULL: a passive frame, not at all.
static double predicted_energy(const PliFrames *s, PliIndex i, const double *slip)
{
    double a[16], factor[16], sum = 0.0;
    const double *m = s->hat_mass + 16 * (size_t)i, tau = s->foresight;
    foreseen(s, i, a);
    if (!cholesky4(a, factor)) return 0.0; // nothing moves with it
    for (size_t d = 0; d < 3; ++d) {
        double force[4], x[4];
        for (size_t c = 0; c < 4; ++c) {
            force[c] = s->push[12 * (size_t)i + 3 * c + d];
            for (size_t e = 0; e < 4 && slip; ++e) force[c] -= m[4 * c + e] * slip[3 * e + d] / s->predicted_dt;
            x[c] = force[c];
        }
        solve4(factor, x);
        for (size_t c = 0; c < 4; ++c) sum += force[c] * x[c];
    }
    return 0.5 * tau * tau * sum;
}

static void find_slip(const PliFrames *s, PliIndex i, const double *v, const double *offset, double slip[12])
{
    double before[12];
    passive_velocity(s, i, v, offset, slip);
    passive_velocity(s, i, s->v_before, offset, before);
    for (size_t k = 0; k < 12; ++k) slip[k] -= before[k] + v[12 * (size_t)i + k] - s->v_before[12 * (size_t)i + k];
}

// Energy of the motion that is lost when active frame i follows its parents, and of the strain that grows in its place.
static double relative_energy(const PliFrames *s, PliIndex i, const double *v, const double *offset)
{
    double d[12], a[16];
    passive_velocity(s, i, v, offset, d);
    for (int k = 0; k < 12; ++k) d[k] -= v[12 * (size_t)i + (size_t)k];
    foreseen(s, i, a);
    return energy_of(a, d);
}

// What only asks where a frame is; 1 asks for it. Its size is that of what it would split.
static double place_score(const PliFrames *s, const PliBody *body, const PliCriterionDef *c, PliIndex i,
                          const double *x)
{
    const double *p = x + 12 * (size_t)i + 9, size = 2.0 * s->dag->scale[i];
    if (c->kind == PLI_BY_CAMERA) return pli_score_camera(c, p, size);
    if (c->kind == PLI_BY_REGION) return pli_score_region(c, p);
    int count;
    const PliTool *tools = pli_body_tools(body, &count);
    return pli_score_contact(pli_tools_distance(tools, count, p), size);
}

/// The score at which a frame wakes: an energy, or 1 where places are judged.
static double wake_at(const PliFrames *s, const PliCriterionDef *c)
{
    return c->kind == PLI_BY_VELOCITY ? s->eta : 1.0;
}

/// Most active frames, by number and by the time a step may take.
static double most_frames(const PliFrames *s, const PliCriterionDef *c)
{
    return fmin(c->max_active / 4, pli_governor_limit(&s->governor, c->budget_ms));
}

/// Nothing but motion says which frames are active.
static bool is_free(const PliFrames *s, const PliCriterionDef *c)
{
    return c->kind == PLI_BY_VELOCITY && s->def.metric == PLI_METRIC_KINETIC && !(c->budget_ms > 0.0) &&
           !(c->smallest_size > 0.0) && !(s->def.growth > 0.0) && c->max_active / 4 >= s->count;
}

static bool is_collapsed(const PliFrames *s)
{
    for (PliIndex q = 0; q < s->dag->active_count; ++q)
        if (pli_dag_may_deactivate(s->dag, s->dag->active_list[q])) return false;
    return true;
}

static bool is_full(const PliFrames *s) { return s->dag->active_count == s->count; }

enum { KEEP, ACTIVATE, DEACTIVATE };

/// The offset active frame i would get if it went passive at x. False: it cannot.
static bool find_offset(PliFrames *s, PliIndex i, const double *x, double offset[12])
{
    double *own = s->dag->offset + 12 * (size_t)i, keep[12];
    const uint8_t moved = s->dag->moved[i];
    memcpy(keep, own, sizeof keep);
    if (!pli_dag_measure_offset(s->dag, i, x)) return false;
    memcpy(offset, own, sizeof keep);
    memcpy(own, keep, sizeof keep);
    s->dag->moved[i] = moved;
    return true;
}

/// What is lost when active frame i goes passive with the offset it has at x; INFINITY: it cannot.
static double sleep_score(PliFrames *s, const PliBody *body, const PliCriterionDef *c, PliIndex i, const double *x,
                          const double *v)
{
    double offset[12], slip[12];
    if (!find_offset(s, i, x, offset)) return INFINITY;
    if (c->kind != PLI_BY_VELOCITY) return place_score(s, body, c, i, x);
    const double weight = metric_weight(s, c, x + 12 * (size_t)i + 9);
    find_slip(s, i, v, offset, slip);
    return fmax(weight * relative_energy(s, i, v, offset), weight * predicted_energy(s, i, slip));
}

// More are active than may be: those that lose least go, whatever they say.
static bool force_asleep(PliFrames *s, PliBody *body, PliIndex left, double most)
{
    const PliDag *g = s->dag;
    bool any = false;
    for (; left > most; --left) {
        PliIndex least = PLI_NONE;
        for (PliIndex q = 0; q < g->active_count; ++q) {
            const PliIndex i = g->active_list[q];
            if (s->wish[i] == KEEP && s->score[i] < INFINITY && (least == PLI_NONE || s->score[i] < s->score[least]))
                least = i;
        }
        if (least == PLI_NONE) break;
        s->wish[least] = DEACTIVATE, any = true;
        pli_body_stats_mutable(body)->forced++;
    }
    return any;
}

/// What moves by itself below frame i goes to sleep as well.
static bool may_follow(const PliFrames *s, PliIndex i)
{
    const PliDag *g = s->dag;
    if (i == 0 || g->pinned[i]) return false;
    for (PliIndex e = g->child_first[i]; e < g->child_first[i + 1]; ++e)
        if (g->active[g->child[e]] && s->wish[g->child[e]] != DEACTIVATE) return false;
    return true;
}

// Few at a time are not worth a change of the set; after a nap that was too short, the next one has to wait.
static bool is_worth_it(const PliFrames *s, const PliCriterionDef *c, PliIndex sleepers)
{
    if (!is_free(s, c)) return true;
    if (is_full(s)) return 2 * sleepers >= s->count && s->since_change >= s->nap_wait;
    return BATCH * sleepers >= s->dag->active_count || s->since_change >= (PliIndex)c->hold;
}

// Active frames go passive when they move as their parents do, by the forces the last step began with: those of now, at the end of an
// implicit step, keep more awake. They have done so in every decision of the second half of `hold`: a turning point is no rest.
// Before anything wakes: what wakes keeps its parents. Fills wish; true when one should change. `passed`: decisions that this one
// stands for.
static bool may_sleep(PliFrames *s, PliBody *body, const PliCriterionDef *c, const double *x, const double *v,
                      PliIndex passed)
{
    PliDag *g = s->dag;
    const double most = most_frames(s, c), limit = c->coarsen * wake_at(s, c);
    const bool over = g->active_count > most;
    const PliIndex hold = (PliIndex)c->hold, trial = hold / 2;
    PliIndex left = g->active_count;
    bool taken = false;
    for (PliIndex i = 0; i < s->count; ++i) {
        s->wish[i] = KEEP;
        s->age[i] += passed;
    }
    for (PliIndex q = g->active_count; q-- > 0;) { // children first: with all of them a parent may go, too
        const PliIndex i = g->active_list[q];
        s->score[i] = INFINITY;
        if ((s->age[i] < trial && !over) || !may_follow(s, i)) continue;
        if (!taken) take_inertia(s, v, s->def.base.mass_damping), taken = true;
        s->score[i] = sleep_score(s, body, c, i, x, v);
        if (s->score[i] > limit) s->age[i] = s->age[i] < trial ? s->age[i] : trial;
        if (s->age[i] < hold || s->score[i] > limit) continue;
        s->wish[i] = DEACTIVATE, left--;
    }
    bool any = left < g->active_count;
    if (any && !is_worth_it(s, c, g->active_count - left)) {
        memset(s->wish, KEEP, s->count);
        any = false, left = g->active_count;
    }
    return force_asleep(s, body, left, most) || any;
}

// Of a body whose frames are all active: fewer of them move as their parents do than a change is worth. Motion alone says so, and
// the forces of a decision need not be gathered, which costs up to half a step where there is contact. Frames that move keep awake as
// after a decision.
static bool is_restless(PliFrames *s, const PliCriterionDef *c, const double *x, const double *v, PliIndex passed)
{
    const PliDag *g = s->dag;
    const double limit = c->coarsen * wake_at(s, c);
    const PliIndex trial = (PliIndex)c->hold / 2;
    PliIndex calm = 0;
    gather_masses(s);
    memset(s->wish, KEEP, s->count);
    for (PliIndex q = g->active_count; q-- > 0;) { // children first
        const PliIndex i = g->active_list[q];
        double offset[12];
        if (may_follow(s, i) && find_offset(s, i, x, offset) && relative_energy(s, i, v, offset) <= limit)
            s->wish[i] = DEACTIVATE, calm++;
    }
    if (2 * calm >= s->count) return false;
    for (PliIndex i = 0; i < s->count; ++i) {
        s->age[i] += passed;
        if (s->wish[i] == KEEP && s->age[i] > trial) s->age[i] = trial;
    }
    return true;
}

// What nearly wakes wakes with what does, and everything where little would be left asleep, or where a body at rest wakes wherever
// it can: one change instead of several.
static PliIndex wake_more(PliFrames *s, PliIndex wishes, double unit)
{
    const PliDag *g = s->dag;
    for (PliIndex q = 0; q < g->candidate_count; ++q) {
        const PliIndex i = g->candidate_list[q];
        if (s->wish[i] == KEEP && s->score[i] > unit) s->wish[i] = ACTIVATE, wishes++;
    }
    const bool blow = is_collapsed(s) && wishes == g->candidate_count && RUSH * (g->active_count + wishes) >= s->count;
    if (!blow && g->active_count + wishes < NEARLY_ALL * s->count) return wishes;
    for (PliIndex i = 0; i < s->count; ++i)
        if (!g->active[i]) s->wish[i] = ACTIVATE;
    return s->count - g->active_count;
}

// Candidates wake by the forces of this moment, those of the step to come, and those that become candidates by that at once, level by
// level: what strikes a body at rest would otherwise wake it one step late and by one level in each step, and the first steps
// decide how it moves. Fills wish; true when one should wake.
static bool must_wake(PliFrames *s, PliBody *body, const PliCriterionDef *c, const double *x, const double *v,
                      double dt, bool first)
{
    PliDag *g = s->dag;
    memset(s->wish, KEEP, s->count);
    if (first) { // nothing was before: the motion is the one that the active frames begin
        const size_t n = 3 * (size_t)s->dof_count;
        double *change = s->v_before;
        memset(change, 0, n * sizeof *change);
        pli_frames_solve_mass(s, s->hat, change);
        pli_dag_spread(g, change);
        s->predicted_dt = dt;
        for (size_t k = 0; k < n; ++k) change[k] = v[k] - dt * change[k];
    }
    take_inertia(s, v, first ? 0.0 : s->def.base.mass_damping);
    const double unit = wake_at(s, c);
    double most = most_frames(s, c);
    PliIndex wishes = 0;
    if (s->def.growth > 0.0) most = fmin(most, 1.0 + floor(s->time / s->def.growth + 1e-9));
    for (PliIndex q = 0; q < g->candidate_count; ++q) {
        const PliIndex i = g->candidate_list[q];
        if (g->scale[i] < c->smallest_size) continue;
        s->score[i] = c->kind == PLI_BY_VELOCITY
                          ? predicted_energy(s, i, NULL) * metric_weight(s, c, x + 12 * (size_t)i + 9)
                          : place_score(s, body, c, i, x);
        if (s->score[i] > unit) s->wish[i] = ACTIVATE, wishes++;
    }
    if (wishes > 0 && is_free(s, c)) wishes = wake_more(s, wishes, c->coarsen * unit);
    // where not all may, those that would add most
    for (; wishes > 0 && g->active_count + wishes > most; --wishes) {
        PliIndex least = PLI_NONE;
        for (PliIndex q = 0; q < g->candidate_count; ++q) {
            const PliIndex i = g->candidate_list[q];
            if (s->wish[i] == ACTIVATE && (least == PLI_NONE || s->score[i] < s->score[least])) least = i;
        }
        s->wish[least] = KEEP;
        pli_body_stats_mutable(body)->refused++;
    }
    return wishes > 0;
}

// ---- changing --------------------------------------------------------------------------------------------------------------

static void apply_wishes(PliFrames *s, PliBody *body, double *x, double *v)
{
    PliDag *g = s->dag;
    PliStats *stats = pli_body_stats_mutable(body);
    const double before = pli_frames_kinetic_energy(s, v);
    (void)pli_frames_refresh_offsets(s, x, PLI_OFFSETS_MOVED); // regions that split now go back to the truth
    PliIndex on = 0, off = 0;
    for (PliIndex i = 0; i < s->count; ++i)
        if (s->wish[i] == ACTIVATE) pli_dag_activate(g, i), s->age[i] = 0, on++;
    for (PliIndex i = s->count; i-- > 0;) { // children first
        if (s->wish[i] == DEACTIVATE && pli_dag_may_deactivate(g, i)) {
            // a child that wakes up in the same breath keeps its parent
            bool needed = false;
            for (PliIndex e = g->child_first[i]; e < g->child_first[i + 1]; ++e)
                needed |= s->wish[g->child[e]] == ACTIVATE;
            if (!needed && pli_dag_deactivate(g, i, x)) s->age[i] = 0, off++;
        }
    }
    if (off) pli_frames_find_momentum(s, v);
    pli_dag_refresh(g);
    s->front_v = v, s->front_dt = s->predicted_dt, s->front_strict = true;
    pli_frames_refresh_cut(s, x);
    s->front_v = NULL, s->front_strict = false;
    const uint64_t next = pli_body_revision(body) + 1;
    for (PliIndex i = 0; i < s->dof_count; ++i)
        if (g->changed[i / 4] == g->revision) s->row_revision[i] = next;
    // what every passive coefficient becomes must be what it was
    double moved = 0.0;
    memcpy(s->solve, x, 3 * (size_t)s->dof_count * sizeof *x);
    pli_dag_spread(g, x);
    for (size_t k = 0; k < 3 * (size_t)s->dof_count; ++k) moved = fmax(moved, fabs(x[k] - s->solve[k]));
    s->info.jump = fmax(s->info.jump, moved);
    if (off) pli_frames_project_velocity(s, v);
    pli_dag_spread(g, v);
    const double change = pli_frames_kinetic_energy(s, v) - before;
    s->info.kinetic_jump = fmax(s->info.kinetic_jump, fabs(change));
    s->info.activated += on, s->info.deactivated += off;
    stats->refined += on, stats->coarsened += off;
    if (change > 0.0)
        stats->energy_added += change;
    else
        stats->energy_removed -= change;
}

static void change_set(PliFrames *s, PliBody *body, double *x, double *v)
{
    const bool was_full = is_full(s);
    apply_wishes(s, body, x, v);
    pli_body_recut(body);
    if (is_full(s) && !was_full) {
        const PliIndex hold = (PliIndex)pli_body_def(body)->criterion.hold, nap = s->since_nap;
        s->nap_wait = nap < NAP * hold ? 2 * s->nap_wait + hold : 0;
        if (s->nap_wait > NAP * hold) s->nap_wait = NAP * hold;
    }
    if (was_full) s->since_nap = 0;
    s->since_change = s->still = 0;
    s->polished = false;
}

/// s, from one decision to the next.
static double pace(const PliFrames *s, const PliCriterionDef *c, double dt)
{
    return is_full(s) && is_free(s, c) ? fmax(c->interval, FULL_PACE * dt) : c->interval;
}

/// Decisions that the next one stands for.
static PliIndex decisions_since(const PliFrames *s, const PliCriterionDef *c, double dt)
{
    return pace(s, c, dt) > c->interval ? (PliIndex)(s->since_decision / fmax(c->interval, dt) + 0.5) : 1;
}

/// With all frames active, that is at their own pace: a decision follows the step to come.
static bool looks_now(const PliFrames *s, const PliCriterionDef *c, double dt)
{
    return is_full(s) && is_free(s, c) && s->since_decision + dt >= pace(s, c, dt) * (1.0 - 1e-9);
}

/// Forces of this moment, unless nothing can wake and no decision follows this step. False: not needed.
static bool gather_in_time(PliFrames *s, PliBody *body, const double *x, const double *v, double dt, bool again)
{
    const PliCriterionDef *c = &pli_body_def(body)->criterion;
    if (is_full(s) && is_free(s, c) && !looks_now(s, c, dt)) return false;
    gather_masses(s);
    gather_forces(s, body, x, v, dt, again);
    return true;
}

/// Nothing can wake and no decision is near: all frames are active and cost what they cost in the full model. The look before a decision
/// gathers forces; the front has nothing merged.
static bool is_idle(const PliFrames *s, const PliCriterionDef *c, double dt)
{
    return is_full(s) && is_free(s, c) && s->predicted == NOT_GATHERED && !s->retuned &&
           s->front_count == s->regions->count && !looks_now(s, c, dt);
}

/// What the last step took teaches the governor; what a decision takes is known when the step after it begins.
static void learn(PliFrames *s, const PliStats *stats)
{
    pli_governor_learn(&s->governor, s->dag->active_count, stats->solve_ms,
                       fmax(0.0, stats->step_ms - stats->solve_ms - stats->adapt_ms));
    if (s->decided) pli_governor_learn_decision(&s->governor, stats->adapt_ms);
}

/// A polish wakes every frame: not where some must not.
static bool may_polish(const PliFrames *s, const PliCriterionDef *c)
{
    return s->count <= s->def.polish && c->kind == PLI_BY_VELOCITY && !(c->budget_ms > 0.0) &&
           !(c->smallest_size > 0.0) && c->max_active / 4 >= s->count;
}

bool pli_frames_adapt(void *self, PliBody *body, double *x, double *v, double dt)
{
    PliFrames *s = self;
    const PliCriterionDef *c = &pli_body_def(body)->criterion;
    const PliStats *stats = pli_body_stats_mutable(body);
    if (c->budget_ms > 0.0 && stats->steps > 0) learn(s, stats);
    s->time += dt;
    s->since_decision += dt;
    s->since_look += dt;
    if (is_idle(s, c, dt)) {
        s->predicted = NOT_GATHERED;
        s->decided = false;
        return false;
    }
    pli_dag_spread(s->dag, x);
    pli_dag_spread(s->dag, v);
    // how fast the whole body goes does not count: the same vibration gets the same frames. Spin does: a step turns by an
    // angle, and what that leaves unbalanced grows with it.
    const PliRigidMotion motion = pli_frames_rigid_motion(s, x, v);
    const double slow = STILLNESS * s->voxels->extent;
    s->peak_kinetic = fmax(s->peak_kinetic * exp(-s->since_look / MEMORY), motion.inner);
    s->since_look = 0.0;
    s->eta = c->threshold * (s->def.reference_energy > 0.0 ? s->def.reference_energy
                                                           : fmax(s->peak_kinetic, 0.5 * s->mass->total * slow * slow));
    s->foresight = fmax(c->interval > 0.0 ? c->interval : FORESIGHT, dt);
    s->info.eta = s->eta;
    bool changed = false;
    if (s->retuned) { // what was balanced is so no longer, and what merged regions hold was that of the old material
        s->retuned = s->polished = false;
        s->still = 0;
        if (pli_frames_refresh_offsets(s, x, PLI_OFFSETS_ALL)) pli_body_set_sample_s0(body, s->sample_s0);
    }
    const bool first = s->predicted == 0;
    bool due = first, may_wake = true;
    if (s->predicted == s->dag->revision && s->since_decision >= pace(s, c, dt) * (1.0 - 1e-9)) {
        const PliIndex passed = decisions_since(s, c, dt);
        due = true;
        s->since_change += passed, s->since_nap += passed;
        if (may_sleep(s, body, c, x, v, passed)) {
            change_set(s, body, x, v);
            changed = true;
        }
        s->still++;
        s->since_decision = 0.0;
    } else if (s->predicted == NOT_GATHERED && looks_now(s, c, dt)) {
        const PliIndex passed = decisions_since(s, c, dt);
        if (is_restless(s, c, x, v, passed)) {
            due = true;
            s->since_change += passed, s->since_nap += passed;
            s->still++;
            s->since_decision = 0.0;
        }
    }
    if (may_polish(s, c) && !changed && !s->polished && is_collapsed(s) && motion.vibration <= s->eta &&
        s->still >= (PliIndex)c->hold + s->polish_wait) {
        s->polished = pli_frames_polish(s, body, x, v, dt);
        may_wake = false; // the velocities before are gone
        // no equilibrium nearby: all frames move again; after several attempts, less and less often
        s->polish_failures = s->polished ? 0 : s->polish_failures + 1;
        s->polish_wait = s->polish_failures < 5 ? 0 : 2 * s->polish_wait + (PliIndex)c->hold;
        s->still = 0;
        changed = true;
    }
    // regions: merge loosely where it is calm, go back where it is not
    const bool look = due && s->still > 0 && s->still % ((PliIndex)c->hold + 1) == 0;
    if (!changed && pli_frames_update_front(s, x, v, dt, look)) {
        pli_body_recut(body);
        changed = true;
    }
    if (!changed && pli_frames_refresh_offsets(s, x, PLI_OFFSETS_STALE)) pli_body_set_sample_s0(body, s->sample_s0);
    bool gathered = gather_in_time(s, body, x, v, dt, false);
    // sleep falls at decisions, waking in any step: the first steps after a blow decide how a body moves
    for (int level = 1; gathered && may_wake && level < s->layout->level_count; ++level) {
        if (!must_wake(s, body, c, x, v, dt, first)) break;
        change_set(s, body, x, v);
        changed = true;
        gathered = gather_in_time(s, body, x, v, dt, true);
    }
    s->predicted = gathered ? s->dag->revision : NOT_GATHERED;
    if (gathered) {
        memcpy(s->v_before, v, 3 * (size_t)s->dof_count * sizeof *v);
        s->predicted_dt = dt;
    }
    s->decided = due;
    return changed;
}
