/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "adapt/plan.h"

#include <math.h>

/// A mixture must promise less than this share of the uniform work before it is entered, and is left above that: a uniform level is mostly
/// better than asked for, a mixture just as good; what a sudden load does first is more local than what it does later; and
/// changing over costs, too. (Where mixtures paid, on livers, a pad and a twisted bar, they promised 0.08 to 0.24; on a bridge, a pinched
/// bar and a pinched cube they promised 0.5 to 0.8 and took several times that.)
static const double ENTER = 0.5, LEAVE = 0.7;
/// Times what is to be kept that a uniform level may be expected to be off by to be tried before a mixture.
static const double TRIED = 2.0;
/// A coarser uniform level than now must promise this share of the error allowed: otherwise it would soon be refined again.
static const double ROOM = 0.7;
/// A uniform level may be off by so many times what is to be kept, where keeping it costs more than so many times the fair price: errors of
/// uniform levels go like one over the square root of their work, at best.
static const double SPARE = 1.4, FAIR = 2.0;

double pli_plan_error(const PliPlanRegion *r, double size, double finest)
{
    const double q = size * size / (r->size * r->size), least = finest * finest / (r->size * r->size);
    return r->even * (q - least) + r->local * (q * q - least * least);
}

/// All regions at one level.
static double error_at(double size, double finest, const PliPlanRegion *region, PliIndex count)
{
    double sum = 0.0;
    for (PliIndex i = 0; i < count; ++i) sum += pli_plan_error(&region[i], size, finest);
    return sum;
}

/// The same, unless it was measured.
static double uniform_error(const PliPlanLevel *level, double finest, const PliPlanRegion *region, PliIndex count)
{
    return level->error > 0.0 ? level->error : error_at(level->size, finest, region, count);
}

static double volume_of(const PliPlanRegion *region, PliIndex count)
{
    double sum = 0.0;
    for (PliIndex i = 0; i < count; ++i) sum += region[i].volume;
    return sum;
}

double pli_plan_work(const PliPlanLevel *level, int l, int finest, bool own_rates)
{
    return level[l].density * level[own_rates ? l : finest].rate;
}

/// Every region at the level where error + price x work is least, none finer than `finest`.
static void mix(const PliPlanLevel *level, int finest, double least_size, bool own_rates, const PliPlanRegion *region,
                PliIndex count, double price, double *error, double *work)
{
    *error = *work = 0.0;
    for (PliIndex i = 0; i < count; ++i) {
        double best = INFINITY, best_error = 0.0, best_work = 0.0;
        for (int l = 0; l <= finest; ++l) {
            const double e = pli_plan_error(&region[i], level[l].size, least_size);
            const double w = region[i].volume * pli_plan_work(level, l, finest, own_rates);
            if (e + price * w < best) best = e + price * w, best_error = e, best_work = w;
        }
        *error += best_error, *work += best_work;
    }
}

/// The highest price that keeps the error: the cheapest mixture. Halving in logarithms.
static PliPlan cheapest_mixture(const PliPlanLevel *level, int finest, double least_size, bool own_rates,
                                const PliPlanRegion *region, PliIndex count, double most_error, double trouble)
{
    PliPlan plan = { .level = finest };
    const double total = error_at(level[0].size, least_size, region, count), volume = volume_of(region, count);
    const double scale = total / (volume * pli_plan_work(level, 0, 0, true));
    double low = log(scale) - 25.0, high = log(scale) + 10.0;
    for (int i = 0; i < 24; ++i) {
        const double middle = 0.5 * (low + high);
        mix(level, finest, least_size, own_rates, region, count, exp(middle), &plan.error, &plan.work);
        if (plan.error <= most_error)
            low = middle;
        else
            high = middle;
    }
    plan.price = exp(low);
    mix(level, finest, least_size, own_rates, region, count, plan.price, &plan.error, &plan.work);
    plan.work *= trouble;
    return plan;
}

/// Error allowed where level l would be the finest.
static double allowed(const PliPlan *now, int l, double most_error)
{
    return (now && now->uniform && l < now->level ? ROOM : 1.0) * most_error;
}

/// A uniform level that is good enough for its price, where `best` costs a lot more; else `best`.
static PliPlan bargain(const PliPlanLevel *level, int level_count, double volume, double least_size,
                       const PliPlanRegion *region, PliIndex count, const PliPlanAsk *ask, PliPlan best)
{
    for (int l = level_count - 1; l >= 0; --l) {
        const double error = uniform_error(&level[l], least_size, region, count),
                     most = allowed(ask->now, l, ask->most_error), work = volume * pli_plan_work(level, l, l, true);
        const bool coarser = ask->now && ask->now->uniform && l < ask->now->level;
        if (error > (coarser ? 1.0 : SPARE) * most) break;
        const double off = fmax(1.0, error / most);
        if (FAIR * off * off * work < best.work)
            best = (PliPlan){ .uniform = true, .level = l, .work = work, .error = error };
    }
    return best;
}

/// The finest uniform level beyond the present one that costs no more than the mixture and may do; else the mixture.
static PliPlan tried_first(const PliPlanLevel *level, double volume, double least_size, const PliPlanRegion *region,
                           PliIndex count, const PliPlanAsk *ask, int finest, PliPlan mixed)
{
    const PliPlan *now = ask->now;
    for (int l = finest; now && now->uniform && l > now->level; --l) {
        const double work = volume * pli_plan_work(level, l, l, true);
        const double error = uniform_error(&level[l], least_size, region, count);
        if (work > mixed.work || error > TRIED * ask->most_error) continue;
        return (PliPlan){ .uniform = true, .level = l, .work = work, .error = error };
    }
    return mixed;
}

PliPlan pli_plan_make(const PliPlanLevel *level, int level_count, const PliPlanRegion *region, PliIndex count,
                      const PliPlanAsk *ask)
{
    const double volume = volume_of(region, count), most_error = ask->most_error;
    const PliPlan *now = ask->now;
    const int finest = level_count - 1;
    const double least_size = level[finest].size;
    if (!(error_at(level[0].size, least_size, region, count) > 0.0)) // nothing is strained
        return now ? *now : (PliPlan){ .uniform = true };
    PliPlan uniform = { .uniform = true, .level = finest };
    for (int l = finest; l >= 0; --l) {
        const double error = uniform_error(&level[l], least_size, region, count);
        if (l < finest && error > allowed(now, l, most_error)) break;
        uniform.level = l, uniform.error = error, uniform.work = volume * pli_plan_work(level, l, l, true);
    }
    PliPlan mixed = { .work = INFINITY };
    for (int l = 1; ask->may_mix && l < level_count; ++l) {
        const double most = allowed(now, l, most_error);
        if (error_at(level[l].size, least_size, region, count) > most) continue;
        const PliPlan p = cheapest_mixture(level, l, least_size, ask->own_rates, region, count, most, ask->trouble);
        if (p.error <= 1.01 * most && p.work < mixed.work) mixed = p;
    }
    PliPlan best = uniform;
    if (mixed.work < (now && !now->uniform ? LEAVE : ENTER) * uniform.work)
        best = tried_first(level, volume, least_size, region, count, ask, uniform.level - 1, mixed);
    if (best.uniform && now && now->uniform && best.level > now->level + 1) best.level = now->level + 1;
    best = bargain(level, level_count, volume, least_size, region, count, ask, best);
    best.work = best.uniform ? volume * pli_plan_work(level, best.level, best.level, true) : best.work;
    best.uniform_work = uniform.work;
    best.mixed_work = mixed.work;
    return best;
}
