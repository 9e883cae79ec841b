/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/compare/figures.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fold.h"
#include "base/vec.h"
#include "host/compare/family.h"

PliBalance pli_balance_begin(const PliRun *run)
{
    const PliBodyDef *def = pli_body_def(run->body);
    PliBalance b = { .known = !run->driven, .free = !run->held && def->mass_damping == 0.0 };
    b.conservative = def->integrator == PLI_SYMPLECTIC && def->material.damping == 0.0 && def->mass_damping == 0.0 &&
                     run->tool_count == 0;
    v3_copy(b.gravity, def->gravity);
    return b;
}

double pli_balance_energy(PliBalance *b, const PliEnergy *e, double work)
{
    const double total = e->elastic + e->kinetic + e->gravity;
    if (!b->begun) b->start_energy = total;
    const double gained = total - b->start_energy - work;
    b->most_gained = pli_max(b->most_gained, gained);
    b->most_lost = pli_max(b->most_lost, -gained);
    return gained;
}

void pli_balance_momentum(PliBalance *b, const PliEnergy *e, const double impulse[3], double time)
{
    double miss[3];
    if (!b->begun) v3_copy(b->start_momentum, e->momentum);
    b->begun = true;
    b->mass = e->mass;
    v3_sub(miss, e->momentum, b->start_momentum);
    v3_sub(miss, miss, impulse);
    v3_madd(miss, -e->mass * time, b->gravity);
    b->largest_miss = pli_max(b->largest_miss, v3_norm(miss));
    b->largest_kinetic = pli_max(b->largest_kinetic, e->kinetic);
}

void pli_balance_end(const PliBalance *b, PliOutcome *o)
{
    o->energy_loss = b->known ? b->most_lost : NAN;
    // where something dissipates, only energy out of nowhere is a fault; where nothing does, a loss is one too
    o->energy_drift = !b->known ? NAN : b->conservative ? pli_max(b->most_gained, b->most_lost) : b->most_gained;
    const double scale = sqrt(2.0 * b->mass * b->largest_kinetic);
    o->momentum_drift = !b->free || !b->known ? NAN : scale > 0.0 ? b->largest_miss / scale : 0.0;
}

bool pli_figure_times(PliOutcome *o, const double *ms, int runs, size_t steps)
{
    double *scratch = malloc((steps + (size_t)runs + 1) * sizeof *scratch),
           *total = calloc((size_t)runs + 1, sizeof *total);
    const bool good = scratch && total;
    if (good) {
        for (size_t k = 0; k < steps; ++k) {
            double each[128];
            for (int r = 0; r < runs; ++r) {
                each[r] = ms[(size_t)r * steps + k];
                total[r] += each[r];
            }
            o->ms[k] = pli_spread(each, (size_t)runs, scratch).median;
            o->total_ms += o->ms[k];
        }
        o->step_ms = pli_spread(o->ms, steps, scratch);
        const PliSpread all = pli_spread(total, (size_t)runs, scratch);
        o->run_low = all.median > 0.0 ? all.min / all.median : 1.0;
        o->run_high = all.median > 0.0 ? all.max / all.median : 1.0;
    }
    free(scratch);
    free(total);
    return good;
}

double pli_figure_displacement(const double *surface, PliIndex samples, const double *rest, PliIndex count)
{
    double largest = 0.0;
    for (size_t s = 0; s < samples; ++s)
        largest = pli_max(largest, pli_gap(surface + 3 * s * count, rest, NULL, count).max);
    return largest;
}

/// NaN when there is no tool, or the reference's feels nothing.
static double force_error(const PliOutcome *o, const PliOutcome *reference, double scale)
{
    const size_t n = 3 * (size_t)o->steps * (size_t)o->tool_count;
    if (n == 0 || scale == 0.0) return NAN;
    double sum = 0.0;
    for (size_t k = 0; k < n; ++k) sum += (o->force[k] - reference->force[k]) * (o->force[k] - reference->force[k]);
    return sqrt(sum / ((double)o->steps * o->tool_count)) / scale;
}

static double root_mean_square(const double *value, size_t count, bool skip_zeros)
{
    double sum = 0.0;
    size_t n = 0;
    for (size_t k = 0; k < count; ++k) {
        if (skip_zeros && value[k] == 0.0) continue;
        sum += value[k] * value[k];
        ++n;
    }
    return n > 0 ? sqrt(sum / (double)n) : NAN;
}

static double largest_of(const double *value, size_t count)
{
    double largest = 0.0;
    for (size_t k = 0; k < count; ++k) largest = pli_max(largest, value[k]);
    return largest;
}

static void figure_dofs(PliOutcome *o)
{
    o->dofs_min = o->steps > 0 ? INFINITY : 0.0;
    for (PliIndex k = 0; k < o->steps; ++k) {
        o->dofs_mean += o->active[k];
        o->dofs_max = pli_max(o->dofs_max, o->active[k]);
        o->dofs_min = pli_min(o->dofs_min, o->active[k]);
    }
    if (o->steps > 0) o->dofs_mean /= o->steps;
}

static void figure_errors(PliComparison *c, PliOutcome *o)
{
    const PliOutcome *reference = &c->outcome[c->reference];
    const double unit = c->largest_displacement > 0.0 ? 1.0 / c->largest_displacement : 0.0;
    double *const relative[] = { o->rms, o->max, o->hausdorff, o->near_tool };
    for (size_t k = 0; k < 4; ++k)
        for (PliIndex s = 0; s < o->samples; ++s) relative[k][s] *= unit;
    o->pop_max *= unit;
    o->hidden_max *= unit;
    if (o->verdict != PLI_FINISHED) return; // errors of a run that blew up are no figures; its series tell the story
    o->error_rms = root_mean_square(o->rms, o->samples, false);
    o->error_max = largest_of(o->max, o->samples);
    o->error_hausdorff = largest_of(o->hausdorff, o->samples);
    o->error_near_tool =
        o->tool_count > 0 ? root_mean_square(o->near_tool, o->samples, true) : NAN; // zero: no point was near
    o->force_error = force_error(o, reference, c->force_scale);
}

PliStatus pli_figures(PliComparison *c, double largest)
{
    PliOutcome *reference = &c->outcome[c->reference];
    double *cost = calloc((size_t)c->count, sizeof *cost), *error = calloc((size_t)c->count, sizeof *error);
    bool *best = calloc((size_t)c->count, sizeof *best);
    const bool good = cost && error && best;
    c->largest_displacement = largest;
    for (PliIndex s = 0; s < reference->samples; ++s)
        c->energy_scale = pli_max(c->energy_scale, reference->elastic[s] + reference->kinetic[s]);
    for (size_t k = 0; k < (size_t)reference->steps * (size_t)reference->tool_count; ++k)
        c->force_scale = pli_max(c->force_scale, v3_norm(reference->force + 3 * k));
    const double per_joule = c->energy_scale > 0.0 ? 1.0 / c->energy_scale : 0.0;
    for (int k = 0; good && k < c->count; ++k) {
        PliOutcome *o = &c->outcome[k];
        if (o->verdict == PLI_UNABLE) {
            cost[k] = error[k] = NAN;
            continue;
        }
        figure_dofs(o);
        figure_errors(c, o);
        o->energy_drift *= per_joule, o->energy_loss *= per_joule;
        o->energy_added *= per_joule, o->energy_removed *= per_joule, o->energy_forced *= per_joule;
        o->speedup = o->total_ms > 0.0 ? reference->total_ms / o->total_ms : 0.0;
        cost[k] = o->verdict == PLI_FINISHED ? o->total_ms : NAN;
        error[k] = o->verdict == PLI_FINISHED ? o->error_rms : NAN;
    }
    if (good) pli_pareto(cost, error, c->count, best);
    for (int k = 0; good && k < c->count; ++k) c->outcome[k].on_front = best[k];
    if (good) pli_family_figures(c);
    free(cost);
    free(error);
    free(best);
    return good ? PLI_OK : PLI_OUT_OF_MEMORY;
}

// ---- what is too far off -----------------------------------------------------------------------------------------------------

bool pli_comparison_is_idle(const PliComparison *c)
{
    double size = 0.0;
    for (size_t k = 0; k < 3 * (size_t)c->point_count; ++k) size = fmax(size, fabs(c->rest[k] - c->rest[k % 3]));
    return !(c->largest_displacement > 1e-6 * size);
}

const double pli_doubtful_error = 0.1, pli_doubtful_force = 0.15;

/// The closest uniform body beside the reference; infinite without one.
static double closest_uniform(const PliComparison *c)
{
    double least = INFINITY;
    for (int k = 0; k < c->count; ++k)
        if (k != c->reference && c->outcome[k].verdict == PLI_FINISHED &&
            strcmp(c->outcome[k].scheme, c->outcome[c->reference].scheme) == 0)
            least = fmin(least, c->outcome[k].error_rms);
    return least;
}

void pli_doubt_sentence(const PliComparison *c, const PliOutcome *o, char *text, size_t size)
{
    const bool error = o->error_rms > pli_doubtful_error, force = o->force_error > pli_doubtful_force;
    text[0] = '\0';
    if (o->verdict != PLI_FINISHED || o->is_reference || !(error || force) ||
        strcmp(o->scheme, c->outcome[c->reference].scheme) == 0)
        return;
    if (error && force)
        snprintf(text, size, "%s is off by %.3g %% of the largest displacement, and the tool force on it by %.3g %%",
                 o->name, 100.0 * o->error_rms, 100.0 * o->force_error);
    else if (error)
        snprintf(text, size, "%s is off by %.3g %% of the largest displacement", o->name, 100.0 * o->error_rms);
    else
        snprintf(text, size, "the tool force on %s is off by %.3g %%", o->name, 100.0 * o->force_error);
    const double uniform = closest_uniform(c);
    const size_t n = strlen(text);
    if (error && isfinite(uniform) && uniform > pli_doubtful_error)
        snprintf(text + n, size - n,
                 "; the closest uniform body is off by %.3g %%: small differences decide this load, or the levels are "
                 "coarse",
                 100.0 * uniform);
}
