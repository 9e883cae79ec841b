/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/compare/family.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fold.h"

static const double level_band = 1.1; ///< ratios this near to 1 are no victory: two runs differ by as much

static bool usable(double cost, double error) { return isfinite(cost) && isfinite(error) && cost > 0.0 && error > 0.0; }

PliFamily pli_family_curve(const double *cost, const double *error, int count)
{
    PliFamily f = { .count = 0 };
    double last_cost = 0.0, last_error = INFINITY;
    while (f.count < PLI_FAMILY_MAX) { // the cheapest of those that are closer than all before
        int next = -1;
        for (int k = 0; k < count; ++k) {
            if (!usable(cost[k], error[k]) || cost[k] < last_cost || error[k] >= last_error) continue;
            if (next < 0 || cost[k] < cost[next] || (cost[k] == cost[next] && error[k] < error[next])) next = k;
        }
        if (next < 0) break;
        last_cost = f.cost[f.count] = cost[next];
        last_error = f.error[f.count] = error[next];
        f.count++;
    }
    return f;
}

/// y at x, straight in logarithms between neighbours; x rises when `rising`. Inside the curve.
static double between(const double *xs, const double *ys, int count, double x, bool rising)
{
    for (int k = 0; k + 1 < count; ++k) {
        if (rising ? x > xs[k + 1] : x < xs[k + 1]) continue;
        const double part = log(x / xs[k]) / log(xs[k + 1] / xs[k]);
        return ys[k] * pow(ys[k + 1] / ys[k], part);
    }
    return ys[count - 1];
}

PliRival pli_family_rival(const PliFamily *f, double cost, double error)
{
    PliRival r = { .cost = NAN, .gain = NAN, .error = NAN };
    const int last = f->count - 1;
    if (f->count == 0 || !isfinite(cost) || cost <= 0.0 || !isfinite(error)) return r;
    if (error > f->error[0])
        r.cost = f->cost[0], r.cost_bound = PLI_AT_MOST;
    else if (error < f->error[last] && f->ceiling > 0.0 && f->ceiling < cost)
        r.cost = f->ceiling, r.cost_bound = PLI_AT_MOST;
    else if (error < f->error[last])
        r.cost = f->cost[last], r.cost_bound = PLI_AT_LEAST;
    else
        r.cost = between(f->error, f->cost, f->count, error, false);
    if (cost < f->cost[0])
        r.error = f->error[0], r.error_bound = PLI_AT_LEAST;
    else if (cost > f->cost[last])
        r.error = f->error[last], r.error_bound = PLI_AT_MOST;
    else
        r.error = between(f->cost, f->error, f->count, cost, true);
    r.gain = r.cost / cost;
    return r;
}

static bool in_family(const PliComparison *c, const PliOutcome *o)
{
    const bool changed = o->dofs_min != o->dofs_max || o->refined + o->coarsened > 0;
    return !o->is_reference && o->verdict == PLI_FINISHED && !changed && !o->parameters[0] &&
           strcmp(o->scheme, c->outcome[c->reference].scheme) == 0;
}

static double cost_of(const PliComparison *c, const PliOutcome *o) { return o->total_ms / c->steps; }

PliFamily pli_family_of(const PliComparison *c, bool force)
{
    double cost[PLI_FAMILY_MAX], error[PLI_FAMILY_MAX];
    int count = 0;
    for (int k = 0; k < c->count && count < PLI_FAMILY_MAX; ++k) {
        const PliOutcome *o = &c->outcome[k];
        if (!o->uniform) continue;
        cost[count] = cost_of(c, o);
        error[count++] = force ? o->force_error : o->error_rms;
    }
    PliFamily f = pli_family_curve(cost, error, count);
    f.ceiling = cost_of(c, &c->outcome[c->reference]);
    return f;
}

void pli_family_figures(PliComparison *c)
{
    for (int k = 0; k < c->count; ++k) c->outcome[k].uniform = in_family(c, &c->outcome[k]);
    const PliFamily motion = pli_family_of(c, false), force = pli_family_of(c, true);
    for (int k = 0; k < c->count; ++k) {
        PliOutcome *o = &c->outcome[k];
        const bool rates = o->verdict == PLI_FINISHED && !o->is_reference && !o->uniform;
        o->rival = pli_family_rival(&motion, rates ? cost_of(c, o) : NAN, o->error_rms);
        o->force_rival = pli_family_rival(&force, rates ? cost_of(c, o) : NAN, o->force_error);
    }
}

const char *pli_bound_name(PliBound bound)
{
    return bound == PLI_AT_LEAST ? "at least" : bound == PLI_AT_MOST ? "at most" : NULL;
}

const char *pli_rival_verdict(const PliRival *r)
{
    if (r->cost_bound != PLI_AT_MOST && r->gain >= level_band) return "wins";
    if (r->cost_bound != PLI_AT_LEAST && r->gain <= 1.0 / level_band) return "loses";
    return r->cost_bound ? "cannot be ranked" : "draws level";
}

const PliOutcome *pli_family_twin(const PliComparison *c, const PliOutcome *o)
{
    if (!o->fell_back || o->verdict != PLI_FINISHED) return NULL;
    for (const PliOutcome *p = c->outcome; p < o; ++p)
        if (p->verdict == PLI_FINISHED && !p->uniform && !p->is_reference && p->error_rms == o->error_rms &&
            p->error_max == o->error_max && pli_same(p->force_error, o->force_error) && p->dofs_mean == o->dofs_mean)
            return p;
    return NULL;
}

void pli_family_sentence(const PliComparison *c, const PliOutcome *o, char *text, size_t size)
{
    const PliRival *r = &o->rival, *force = &o->force_rival;
    text[0] = '\0';
    if (!isfinite(r->gain)) return;
    const PliOutcome *twin = pli_family_twin(c, o);
    if (twin) {
        snprintf(text, size, "%s does what %s does, to the bit: what their times differ by is chance.", o->name,
                 twin->name);
        return;
    }
    const char *bound = pli_bound_name(r->cost_bound), *other = pli_bound_name(r->error_bound);
    int n = snprintf(text, size,
                     "%s%s %s: a uniform body as close (%.3g %%) costs %s%s%.3g times as much (%.3g against %.3g ms)",
                     o->name, o->fell_back ? ", on tetrahedra," : "", pli_rival_verdict(r), 100.0 * o->error_rms,
                     bound ? bound : "", bound ? " " : "", r->gain, r->cost, cost_of(c, o));
    if (r->cost_bound && n > 0 && (size_t)n < size)
        n += snprintf(text + n, size - (size_t)n, ": %s",
                      r->cost_bound == PLI_AT_LEAST                     ? "none here is as close"
                      : o->error_rms > pli_family_of(c, false).error[0] ? "all here are closer"
                                                                        : "the reference itself");
    if (n > 0 && (size_t)n < size)
        n += snprintf(text + n, size - (size_t)n, "; one as cheap is off by %s%s%.3g %%", other ? other : "",
                      other ? " " : "", 100.0 * r->error);
    if (isfinite(force->gain) && n > 0 && (size_t)n < size) {
        const char *third = pli_bound_name(force->cost_bound);
        n += snprintf(text + n, size - (size_t)n, "; at equal tool force (%.3g %%) %s%s%.3g times",
                      100.0 * o->force_error, third ? third : "", third ? " " : "", force->gain);
    }
    if (n > 0 && (size_t)n < size) snprintf(text + n, size - (size_t)n, ".");
}

void pli_family_summary(const PliComparison *c, char *text, size_t size)
{
    const PliOutcome *best = NULL;
    text[0] = '\0';
    for (int k = 0; k < c->count; ++k) {
        const PliOutcome *o = &c->outcome[k];
        if (!isfinite(o->rival.gain) || o->rival.cost_bound == PLI_AT_MOST) continue; // at most tells of no victory
        // who fell back wins nothing for its scheme
        const bool better =
            !best || (o->fell_back == best->fell_back ? o->rival.gain > best->rival.gain : best->fell_back);
        if (better) best = o;
    }
    int uniform = 0, rivals = 0;
    for (int k = 0; k < c->count; ++k) {
        uniform += c->outcome[k].uniform;
        rivals += isfinite(c->outcome[k].rival.gain);
    }
    if (rivals == 0) return;
    if (best && best->rival.gain >= level_band)
        snprintf(text, size, "%s pays: %s%.3g times cheaper than the best of %d uniform bodies at equal error.",
                 best->name, best->rival.cost_bound ? "at least " : "", best->rival.gain, uniform);
    else if (best && best->rival.cost_bound)
        snprintf(text, size,
                 "Not decided: none of %d uniform bodies is as close as %s; the reference costs %.3g times as much.",
                 uniform, best->name, best->speedup);
    else
        snprintf(text, size,
                 "A uniform body wins: at equal error none is cheaper than the best of %d uniform bodies%s%s.", uniform,
                 best ? "; nearest is " : "", best ? best->name : "");
}
