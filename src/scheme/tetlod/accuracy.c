/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// From an accuracy to a resolution. The error energy of a node is the energy of the strains around it less that of their mean, which is
// the strain recovered there (Zienkiewicz and Zhu 1987). Under a given load the displacement is short by about the same share as
// the energy of the error has of that of the strain, so shares of energy are shares of displacement, times a constant.
#include <math.h>
#include <string.h>

#include "base/vec.h"
#include "scheme/tetlod/tetlod.h"

/// RMS error of the surface, over the mean displacement, for a share of error energy of 1: chosen on the cantilever, the poked
/// liver and the squeezed box at three levels each, with the dented pad and the loaded bridge in view.
static const double EFFECT = 0.55, DETAIL = 1.5;
/// s, in which the largest displacement is forgotten.
static const double MEMORY = 30.0;
/// s, in which a new resolution finds its shape: just refined, strains still jump where the coarser elements met.
static const double SETTLE = 0.08;
/// Elements of a mixture could have rates of their own, but those around interfaces do not, and they are many: counted with the
/// finest rate, plans promise what they keep.
static const bool OWN_RATES = false;
/// s between looks: of a uniform body that keeps its plan, and the least of a mixed one.
static const double UNIFORM_GAP = 0.05, MIXED_GAP = 0.02;
/// s, the same of one that flies on with the error it has made: its level waits for rest only.
static const double FLYING_GAP = 0.2;
/// s, a resolution is kept before it may become coarser.
static const double STAY = 0.5;
/// Share of its size that a body is expected to move by, until so many seconds have passed: a first touch is more local than what follows.
static const double SOON = 0.1, START = 0.5;
/// Part of the error of the last moments that has to be as small as that of the whole run.
static const double PEAK = 0.5;
/// Times the accuracy that a uniform level may be off by what was measured.
static const double NEAR = 1.4;
/// What strains say against what two shadows say, where neither is believed alone: strains overrate faces that touch, shadows underrate dents.
/// Half of the way, in logarithms, and within these bounds; forgotten in so many seconds.
static const double LEAST_BIAS = 0.2, MOST_BIAS = 1.5, BIAS_MEMORY = 10.0;
/// s, in which the error that was made is forgotten.
static const double MADE = 10.0;
/// s in which it is forgotten that motion forbade implicit steps.
static const double BOUND_MEMORY = 0.2;
/// Weight of the last look in what steps cost, s in which that of mixtures is forgotten, and the most of it.
static const double COUNTED = 0.3, TROUBLE_MEMORY = 10.0, MOST_TROUBLE = 100.0;
/// Kinetic over strain energy above which a body swings: events would disturb it. Let go under a load, it is 1/3 in the mean.
/// A held one that is damped comes to rest, and mixtures pay before it has.
static const double SWING = 0.2, DAMPED_SWING = 0.5;
/// s that the accuracy of a held body which nothing damps is to last for: it lags by more and more.
static const double LAST = 2.0;
/// Times the accuracy up to which one that nothing holds keeps its level, for good when so many seconds were measured. (Where it asked for a
/// finer one above 1.4 times before that, a pressed ball took 2,952 nodes and five times the work, where 997 are 2.05 % off and 2 % was asked.)
static const double FLIES = 1.7, FLOWN = 0.5;
/// s of swinging, from which on lags are put forward: they grow from the beginning, and a change of level disturbs less while they are short.
static const double LAGGED = 0.2;
/// Times the accuracy up to which a held one that swings keeps its level when the seconds it was to last for are over.
static const double LAGS = 2.0;
/// Share of the largest strain energy below which a body is at rest.
static const double REST = 1e-4;

static double strain_energy(const double e[6], double lambda, double mu)
{
    const double trace = e[0] + e[1] + e[2];
    const double square = e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + 2.0 * (e[3] * e[3] + e[4] * e[4] + e[5] * e[5]);
    return mu * square + 0.5 * lambda * trace * trace;
}

static void green_strain(const double F[9], double e[6])
{
    static const int row[6] = { 0, 1, 2, 1, 0, 0 }, column[6] = { 0, 1, 2, 2, 2, 1 };
    for (int k = 0; k < 6; ++k) {
        const int i = row[k], j = column[k];
        e[k] = 0.5 * (F[i] * F[j] + F[3 + i] * F[3 + j] + F[6 + i] * F[6 + j] - (i == j ? 1.0 : 0.0));
    }
}

/// The active node whose region a live node belongs to.
static PliIndex region_of(const PliTetLod *t, PliIndex node)
{
    if (t->set->state[node] == PLI_BELOW) return pli_activeset_ancestor(t->set, node);
    while (t->set->state[node] == PLI_REFINED) node = t->h->child[t->h->child_first[node]];
    return node;
}

static void sum_strains(PliTetLod *t, const double *x, double lambda, double mu)
{
    const PliActiveSet *s = t->set;
    for (PliIndex i = 0; i < s->active_count; ++i)
        memset(t->strain_sum + 8 * (size_t)s->active[i], 0, 8 * sizeof(double));
    for (PliIndex i = 0; i < s->slave_count; ++i)
        memset(t->strain_sum + 8 * (size_t)s->slave[i], 0, 8 * sizeof(double));
    for (PliIndex i = 0; i < s->element_count; ++i) {
        const PliIndex tet = s->element[i], *corner = t->h->tets + 4 * (size_t)tet;
        double F[9], e[6];
        pli_tet_gradient(corner, &t->rest[tet], x, F);
        green_strain(F, e);
        const double share = 0.25 * s->volume[tet], energy = share * strain_energy(e, lambda, mu);
        for (int c = 0; c < 4; ++c) {
            double *sum = t->strain_sum + 8 * (size_t)corner[c];
            sum[0] += share;
            for (int k = 0; k < 6; ++k) sum[1 + k] += share * e[k];
            sum[7] += energy;
        }
    }
}

static void give(PliTetLod *t, PliIndex node, double lambda, double mu)
{
    const double *sum = t->strain_sum + 8 * (size_t)node;
    if (!(sum[0] > 0.0)) return;
    double mean[6];
    for (int k = 0; k < 6; ++k) mean[k] = sum[1 + k] / sum[0];
    const double error = fmax(0.0, sum[7] - sum[0] * strain_energy(mean, lambda, mu));
    const PliIndex region = region_of(t, node);
    t->node_error[region] += error;
    t->node_volume[region] += sum[0];
    t->error_energy += error;
    t->strain_energy += sum[7];
}

/// Error and strain energy of every region; x holds active and live passive nodes.
static void estimate(PliTetLod *t, const PliMaterial *m, const double *x)
{
    const PliActiveSet *s = t->set;
    const double mu = m->young / (2.0 * (1.0 + m->poisson)), lambda = pli_wave_modulus(m) - 2.0 * mu;
    sum_strains(t, x, lambda, mu);
    t->error_energy = t->strain_energy = 0.0;
    for (PliIndex i = 0; i < s->active_count; ++i) t->node_error[s->active[i]] = t->node_volume[s->active[i]] = 0.0;
    for (PliIndex i = 0; i < s->active_count; ++i) give(t, s->active[i], lambda, mu);
    for (PliIndex i = 0; i < s->slave_count; ++i) give(t, s->slave[i], lambda, mu);
}

// ---- levels as a plan sees them ------------------------------------------------------------------------------------------------

double pli_tetlod_level_size(const PliLevels *h, int l)
{
    return cbrt(h->volume / (double)(h->point_first[l + 1] - h->point_first[l]));
}

/// Levels the definition allows. @return how many
static int plan_levels(const PliTetLod *t, const PliBodyDef *def, PliPlanLevel out[PLI_MAX_LEVELS])
{
    const PliLevels *h = t->h;
    int count = 0;
    for (int l = 0; l < h->level_count; ++l) {
        out[l] = (PliPlanLevel){ pli_tetlod_level_size(h, l), 0.0, 0.0, 0.0 };
        pli_tetlod_level_work(t, def, l, &out[l].density, &out[l].rate);
        const bool too_small = def->criterion.smallest_size > 0.0 && out[l].size < def->criterion.smallest_size;
        const bool too_many = def->criterion.max_active != PLI_NONE &&
                              h->point_first[l + 1] - h->point_first[l] > def->criterion.max_active;
        if (l > 0 && (too_small || too_many)) break;
        count++;
    }
    return count;
}

/// m, displacement of the active nodes: RMS over the volume, and largest.
static void displacement(const PliTetLod *t, const double *x, double *rms, double *largest)
{
    const PliActiveSet *s = t->set;
    double sum = 0.0, volume = 0.0, most = 0.0;
    for (PliIndex i = 0; i < s->active_count; ++i) {
        const PliIndex node = s->active[i];
        double u[3];
        v3_sub(u, x + 3 * (size_t)node, t->h->x + 3 * (size_t)node);
        const double square = v3_dot(u, u);
        sum += t->node_volume[node] * square;
        volume += t->node_volume[node];
        most = fmax(most, square);
    }
    *rms = sqrt(sum / volume);
    *largest = sqrt(most);
}

/// What each region adds to the error, as a share of the largest displacement. Lack of flexibility: the share of error energy, of
/// the present displacement. Lack of detail: strain error times size, RMS; squares add up, and sqrt(q) <= (q / a + a) / 2 makes that
/// a sum as well, for an error near the accuracy a.
static void fill_regions(PliTetLod *t, const PliMaterial *m, const PliPlanLevel *level, int count, double accuracy,
                         double rms)
{
    const PliActiveSet *s = t->set;
    const double mu = m->young / (2.0 * (1.0 + m->poisson)), u = t->largest_displacement;
    const double even = EFFECT * rms / (u * t->strain_energy),
                 local = DETAIL * DETAIL / (mu * t->h->volume * u * u * accuracy);
    t->error = 0.0;
    double detail = 0.0;
    for (PliIndex i = 0; i < s->active_count; ++i) {
        const PliIndex node = s->active[i];
        const double size = level[t->h->level[node]].size, e = t->node_error[node];
        t->region[i] = (PliPlanRegion){ t->node_volume[node], size, even * e, local * size * size * e };
        const double least = level[count - 1].size / size;
        t->error += t->region[i].even * fmax(0.0, 1.0 - least * least);
        detail += t->region[i].local * fmax(0.0, 1.0 - least * least * least * least);
    }
    t->error += sqrt(detail * accuracy);
}

/// m, what errors are compared with: the largest displacement, and while nothing has moved far yet what may still come.
static double scale_of(const PliTetLod *t)
{
    return fmax(t->largest_displacement, SOON * cbrt(t->h->volume) * exp(-t->time / START));
}

/// Error of a uniform level, over the largest displacement. It is RMS over the whole run, but shall not be much more at any time.
static double measured(const PliTetLod *t, int level, int finest, bool lags)
{
    const double recent = pli_tetlod_error_of(t, level, finest, false),
                 whole = pli_tetlod_error_of(t, level, finest, true);
    const bool ahead = lags && t->swings && t->whole_time > LAGGED;
    const double more = ahead ? fmax(1.0, LAST / t->whole_time) : 1.0;
    return fmax(more * whole, PEAK * recent) / scale_of(t);
}

/// While a body goes farther than ever, what shadows say lags behind, and what strains say counts for half, in logarithms.
/// What shadows say goes before what strains say. Levels are a factor of four or so in error apart: one that is a little above is taken.
static void trust_shadows(PliTetLod *t, PliPlanLevel *level, int count, bool held, bool lags, bool grows)
{
    const double now = measured(t, t->present, count - 1, lags), strains = t->error;
    const double sooner = held && grows && now > 0.0 ? fmax(1.0, sqrt(strains / now)) : 1.0;
    // a phase that lags is not mended by what is finer from now on
    const double near = lags && t->swings && t->whole_time > LAST ? LAGS : NEAR;
    t->error = sooner * now;
    // one that nothing holds flies on without what a change takes of its motion
    const bool loose = !held && t->strain_energy > REST * t->largest_energy;
    const bool stays = loose || t->time < t->last_change + STAY;
    for (int l = 0; l < count; ++l) {
        const bool coarser = l < t->present;
        // the coarsest has no shadow to be judged by
        const double most = held || coarser ? near : FLIES;
        level[l].error = (coarser && stays) || l == 0 ? INFINITY : sooner * measured(t, l, count - 1, lags) / most;
    }
}

/// Neither shadows nor strains are believed alone. A uniform level's error is as of the present one: squares of details add up; and as
/// with what shadows say it is that of the whole run, or a part of that of now.
static void weigh_strains(PliTetLod *t, PliPlanLevel *level, int count, double accuracy)
{
    const PliIndex regions = t->set->active_count;
    double even = 0.0, local = 0.0;
    for (PliIndex i = 0; i < regions; ++i) {
        PliPlanRegion *r = &t->region[i];
        r->even *= t->bias, r->local *= t->bias * t->bias;
        even += r->even / (r->size * r->size), local += r->local / (r->size * r->size * r->size * r->size);
    }
    t->error *= t->bias;
    const double least = level[count - 1].size * level[count - 1].size;
    const double so_far = t->made_time > 0.0 ? sqrt(t->made / t->made_time) / scale_of(t) : t->error;
    const double share = t->error > 0.0 ? fmin(1.0, fmax(PEAK, so_far / t->error)) : 1.0;
    for (int l = 0; l < count; ++l) {
        const double square = level[l].size * level[l].size;
        level[l].error =
            share * (even * (square - least) + sqrt(accuracy * local * (square * square - least * least))) / NEAR;
    }
}

/// Strains over what is between them and what two shadows say; of a uniform body that has them.
static void learn_bias(PliTetLod *t, int finest, double gap)
{
    t->bias += (1.0 - exp(-gap / BIAS_MEMORY)) * (1.0 - t->bias);
    if (t->shadow[1] < 0 || !(t->error > 0.0) || !(t->recent_time > 0.0)) return;
    const double told = pli_tetlod_plain_error_of(t, t->present, finest, false) / scale_of(t);
    t->bias = fmin(MOST_BIAS, fmax(LEAST_BIAS, sqrt(told / t->error)));
}

/// What steps take, over what was counted for this plan.
static void learn_work(PliTetLod *t, const PliBodyDef *def, const PliStats *stats, double dt, double gap)
{
    const double keep = exp(-gap / TROUBLE_MEMORY);
    double took = 0.0;
    // steps that must stay explicit on this level must on others, too
    const bool is_bound = !stats->implicit && stats->choice == PLI_CHOICE_MOTION;
    t->bound += (1.0 - exp(-gap / BOUND_MEMORY)) * (is_bound - t->bound);
    if (def->integrator == PLI_INTEGRATE_AUTO)
        took = stats->implicit ? stats->implicit_work : stats->explicit_work;
    else if (def->integrator == PLI_SYMPLECTIC && stats->substep > 0.0)
        took = t->set->element_count * (dt / stats->substep);
    const bool counts = took > 0.0 && t->plan.work > 0.0 && t->time > t->last_change + SETTLE;
    if (!t->plan.uniform && counts) {
        const double now = t->trouble * took / (t->plan.work * dt * t->uniform_trouble);
        t->trouble += (t->trouble > PLI_PLAN_TROUBLE ? COUNTED : 1.0) *
                      (fmin(MOST_TROUBLE, fmax(PLI_PLAN_TROUBLE, now)) - t->trouble);
    } else {
        t->trouble += (1.0 - keep) * (PLI_PLAN_TROUBLE - t->trouble);
    }
    if (t->plan.uniform && counts) t->uniform_trouble += COUNTED * (took / (t->plan.work * dt) - t->uniform_trouble);
}

/// Events take energy away, and a body that nothing holds flies on with what it has left: a ball that changed its mixture while it hit
/// the floor lost a fifth of its energy. Such bodies stay uniform.
static bool is_held(const PliBody *body)
{
    const PliLiveView live = pli_body_live(body);
    for (PliIndex i = 0; i < live.active_count; ++i)
        if (live.fixed[i]) return true;
    return false;
}

/// Strains of 1e-7.
static bool is_undeformed(const PliTetLod *t, const PliBodyDef *def)
{
    return !(t->strain_energy > 1e-14 * def->material.young * t->h->volume);
}

bool pli_tetlod_at_rest(const PliTetLod *t, const PliBodyDef *def)
{
    return t->strain_energy < REST * t->largest_energy || is_undeformed(t, def);
}

/// It is as it began, and nothing has happened yet.
static bool is_fresh(const PliTetLod *t)
{
    return t->plan.uniform && t->last_change == 0.0 && t->largest_energy <= t->strain_energy &&
           t->plan.level != t->free_level;
}

/// Kinetic and strain energy over the last seconds.
static void weigh_motion(PliTetLod *t, const PliBody *body, const double *v, double gap)
{
    const PliLiveView live = pli_body_live(body);
    const double keep = exp(-gap);
    double kinetic = 0.0;
    for (PliIndex i = 0; i < live.active_count; ++i) {
        const double *u = v + 3 * (size_t)live.dof[i];
        kinetic += 0.5 * live.mass[i] * v3_dot(u, u);
    }
    t->swing = keep * t->swing + gap * kinetic;
    t->strain = keep * t->strain + gap * t->strain_energy;
}

bool pli_tetlod_look(PliTetLod *t, PliBody *body, const double *x, const double *v, double dt)
{
    const PliBodyDef *def = pli_body_def(body);
    const PliActiveSet *s = t->set;
    t->largest_displacement *= exp(-dt / MEMORY);
    t->largest_energy *= exp(-2.0 * dt / MEMORY);
    if (t->time < t->next_look - 1e-9 * dt) return false;
    const double mixed_gap = fmax(MIXED_GAP, def->criterion.interval);
    t->look_gap = t->plan.uniform ? fmin(fmax(dt, 2.0 * t->look_gap), UNIFORM_GAP) : mixed_gap;
    t->next_look = t->time + t->look_gap;
    pli_activeset_list(t->set);
    estimate(t, &def->material, x);
    double rms, largest;
    displacement(t, x, &rms, &largest);
    t->largest_displacement = fmax(t->largest_displacement, largest);
    t->largest_energy = fmax(t->largest_energy, t->strain_energy);
    if (is_undeformed(t, def)) {
        if (!is_fresh(t) || is_held(body)) return false;
        t->plan.level = t->free_level;
        return true;
    }

    PliPlanLevel level[PLI_MAX_LEVELS];
    const int count = plan_levels(t, def, level);
    const double accuracy = 0.01 * def->criterion.accuracy;
    fill_regions(t, &def->material, level, count, accuracy, rms);
    weigh_motion(t, body, v, t->time - t->last_look);
    // held and slow: what strains say is good, and mixtures may pay
    const bool held = is_held(body);
    const bool damped = def->material.damping > 0.0 || def->mass_damping > 0.0, lags = held && !damped;
    t->swings = t->swing > (held && damped ? DAMPED_SWING : SWING) * t->strain;
    t->present = t->plan.level;
    // it flies on with the error it has made, whatever its level is then
    const bool known = !held && t->plan.uniform && t->whole_time > FLOWN;
    const bool flies = known && measured(t, t->present, count - 1, lags) < FLIES * accuracy;
    const int least = held && !t->swings ? 2 : 1;
    t->use_shadows = t->plan.uniform && t->plan.level >= least && (!flies || pli_tetlod_extrapolates(t));
    t->strain_error = t->error * t->largest_displacement;
    // a dent hardly moves what is coarser: of a held and slow body shadows are believed where two of them agree
    const bool compared = pli_tetlod_compare_shadows(t, body, x, t->time - t->last_look);
    const bool trust = compared && (!held || t->swings || pli_tetlod_extrapolates(t));
    const double gap = t->time - t->last_look;
    t->last_look = t->time;
    learn_bias(t, count - 1, gap);
    learn_work(t, def, pli_body_stats_mutable(body), dt, gap);
    const PliPlan before = t->plan;
    if (flies) t->error = measured(t, t->present, count - 1, lags);
    const bool waits = t->use_shadows && (!held || t->swings) && !trust && !t->shadow_lost; // they have only begun
    if (flies && !pli_tetlod_extrapolates(t)) t->next_look = t->time + FLYING_GAP;
    if (flies || waits) return true;
    if (trust)
        trust_shadows(t, level, count, held, lags, largest >= t->largest_displacement);
    else if (t->bias != 1.0)
        weigh_strains(t, level, count, accuracy);
    // one level will do, and a coarser one may soon: a mixture that is cheaper than the present one is no gain
    const bool stays = trust && before.uniform && t->time < t->last_change + STAY && t->error < accuracy;
    const bool may_mix = held && !t->swings && !stays;
    const double made = t->error * scale_of(t), keep = exp(-gap / MADE);
    t->made = keep * t->made + gap * made * made, t->made_time = keep * t->made_time + gap;
    const PliPlanAsk ask = { accuracy, t->trouble, OWN_RATES, may_mix, &before };
    t->plan = pli_plan_make(level, count, t->region, s->active_count, &ask);
    if (t->plan.uniform != before.uniform || t->plan.level != before.level) {
        t->last_change = t->time;
        t->next_look = t->time + (trust ? 0.0 : SETTLE);
    }
    return true;
}

// ---- proposals of a mixed plan --------------------------------------------------------------------------------------------------

/// Error that a level more saves, over the price of its work.
static double worth(const PliPlan *plan, const PliPlanLevel *level, bool own_rates, int l, const PliPlanRegion *r)
{
    const double saved = pli_plan_error(r, level[l].size, 0.0) - pli_plan_error(r, level[l + 1].size, 0.0);
    const double more =
        pli_plan_work(level, l + 1, plan->level, own_rates) - pli_plan_work(level, l, plan->level, own_rates);
    return saved / (plan->price * r->volume * more);
}

/// Times the accuracy, which is one of the whole surface, that what is held may be off. A poked liver takes 640 nodes with 1, 521 with 1.5
/// and 475 with 2, of which a cube on four feet walks further than it may.
static const double SLIP = 1.5;

/// A node that is not held carries along what is held below it, which strains do not see: an armadillo whose feet were of the coarsest
/// level walked by a quarter of what its head was pressed in.
void pli_tetlod_find_holds(void *self, const uint8_t *fixed)
{
    const PliTetLod *t = self;
    const PliLevels *h = t->h;
    memset(t->holds, 0xff, h->point_count * sizeof *t->holds);
    for (PliIndex p = h->point_count; p-- > h->point_first[1];) {
        const PliIndex parent = h->parent[p], held = fixed[p] ? p : t->holds[p];
        if (parent != PLI_NONE && !fixed[parent] && held != PLI_NONE) t->holds[parent] = held;
    }
}

/// How far what is held would go, over what may be off, if this active node carried it across `size`: as far as that is stretched. A node
/// that does carry something held has gone as far as it is from there.
static double slip(const PliTetLod *t, const PliBody *body, const double *x, PliIndex node, double size, double most)
{
    const double *sum = t->strain_sum + 8 * (size_t)node, *held_x, *held_v;
    const PliIndex held = t->holds[node];
    double e = 0.0, u[3] = { 0.0, 0.0, 0.0 };
    for (int k = 0; k < 6; ++k) e += sum[1 + k] * sum[1 + k];
    pli_body_fixed_values(body, &held_x, &held_v);
    for (int k = 0; k < 3 && held != PLI_NONE; ++k)
        u[k] = x[3 * (size_t)node + k] - t->h->x[3 * (size_t)node + k] - held_x[3 * (size_t)held + k] +
               t->h->x[3 * (size_t)held + k];
    return fmax(sum[0] > 0.0 ? size * sqrt(e) / sum[0] : 0.0, v3_norm(u)) / most;
}

void pli_tetlod_judge_plan(PliTetLod *t, const PliBody *body, const double *x)
{
    const PliLevels *h = t->h;
    const PliActiveSet *s = t->set;
    const PliBodyDef *def = pli_body_def(body);
    PliPlanLevel level[PLI_MAX_LEVELS];
    (void)plan_levels(t, def, level);
    const double most = SLIP * 0.01 * def->criterion.accuracy * scale_of(t);
    for (PliIndex i = 0; i < s->active_count; ++i) t->number[s->active[i]] = i;
    for (PliIndex i = 0; i < s->active_count; ++i) {
        const PliIndex node = s->active[i], parent = h->parent[node];
        const int l = h->level[node];
        if (l < t->plan.level) {
            const double score = worth(&t->plan, level, OWN_RATES, l, &t->region[i]);
            const double walks = t->holds[node] != PLI_NONE ? slip(t, body, x, node, level[l].size, most) : 0.0;
            pli_criterion_offer_refine(&t->criterion, node, fmax(score, walks), t->part_size[node]);
        }
        // each refined node once, when its first child comes by
        if (parent == PLI_NONE || h->child[h->child_first[parent]] != node || !pli_activeset_may_merge(s, parent))
            continue;
        PliPlanRegion whole = { .size = level[l].size };
        double walks = 0.0;
        for (PliIndex c = h->child_first[parent]; c < h->child_first[parent + 1]; ++c) {
            const PliPlanRegion *part = &t->region[t->number[h->child[c]]];
            whole.volume += part->volume, whole.even += part->even, whole.local += part->local;
            if (t->holds[parent] != PLI_NONE)
                walks = fmax(walks, slip(t, body, x, h->child[c], level[l - 1].size, most));
        }
        const double score = l > t->plan.level ? 0.0 : worth(&t->plan, level, OWN_RATES, l - 1, &whole);
        pli_criterion_offer_coarsen(&t->criterion, parent, fmax(score, walks));
    }
    pli_criterion_rank(&t->criterion);
}
