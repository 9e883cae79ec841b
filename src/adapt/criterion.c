/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "adapt/criterion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/memory.h"
#include "base/vec.h"

PliStatus pli_criterion_init(PliCriterion *c, const PliHost *host, PliIndex region_count)
{
    *c = (PliCriterion){ .host = *host, .region_count = region_count };
    c->refined = PLI_NEW(host, region_count, uint32_t);
    c->coarsened = PLI_NEW(host, region_count, uint32_t);
    c->offered = PLI_NEW(host, region_count, uint32_t);
    c->refine = PLI_NEW(host, region_count, PliProposal);
    c->coarsen = PLI_NEW(host, region_count, PliProposal);
    return c->refined && c->coarsened && c->offered && c->refine && c->coarsen ? PLI_OK : PLI_OUT_OF_MEMORY;
}

void pli_criterion_free(PliCriterion *c)
{
    PLI_FREE(&c->host, c->refined, c->region_count);
    PLI_FREE(&c->host, c->coarsened, c->region_count);
    PLI_FREE(&c->host, c->offered, c->region_count);
    PLI_FREE(&c->host, c->refine, c->region_count);
    PLI_FREE(&c->host, c->coarsen, c->region_count);
}

void pli_criterion_reset(PliCriterion *c)
{
    memset(c->refined, 0, c->region_count * sizeof *c->refined);
    memset(c->coarsened, 0, c->region_count * sizeof *c->coarsened);
    memset(c->offered, 0, c->region_count * sizeof *c->offered);
    c->waited = INFINITY; // the first step decides
    c->decision = c->round = 0;
    c->refine_count = c->coarsen_count = 0;
}

bool pli_criterion_due(PliCriterion *c, const PliCriterionDef *def, double dt)
{
    const bool first = isinf(c->waited);
    if (!first) c->waited += dt;
    // a step that ends within rounding of the interval counts as there
    if (!first && c->waited < def->interval * (1.0 - 1e-9)) return false;
    c->waited = 0.0;
    return true;
}

void pli_criterion_hurry(PliCriterion *c) { c->waited = INFINITY; }

void pli_criterion_next_round(PliCriterion *c)
{
    c->round++;
    c->refine_count = 0;
}

void pli_criterion_begin(PliCriterion *c, const PliCriterionDef *def)
{
    c->def = *def;
    c->decision++;
    pli_criterion_next_round(c);
    c->coarsen_count = 0;
}

static bool is_held(const PliCriterion *c, uint32_t at)
{
    return at != 0 && c->decision - (at - 1) <= (uint32_t)c->def.hold;
}

void pli_criterion_note_refined(PliCriterion *c, PliIndex region) { c->refined[region] = c->decision + 1; }
void pli_criterion_note_coarsened(PliCriterion *c, PliIndex region) { c->coarsened[region] = c->decision + 1; }

void pli_criterion_offer_refine(PliCriterion *c, PliIndex region, double score, double part_size)
{
    if (!(score > 1.0)) return;
    if (c->def.smallest_size > 0.0 && part_size < c->def.smallest_size) return;
    if (is_held(c, c->coarsened[region]) || c->offered[region] == c->round) return;
    c->offered[region] = c->round;
    c->refine[c->refine_count++] = (PliProposal){ region, score };
}

void pli_criterion_offer_coarsen(PliCriterion *c, PliIndex region, double would_be_score)
{
    PLI_ASSERT(c->coarsen_count < c->region_count, "more than %u regions offered to coarsen", c->region_count);
    c->coarsen[c->coarsen_count++] = (PliProposal){ region, would_be_score };
}

bool pli_criterion_volunteers(const PliCriterion *c, const PliProposal *p)
{
    return p->score < c->def.coarsen && !is_held(c, c->refined[p->region]);
}

// ties by number: one order on every machine
static int by_score(const void *a, const void *b)
{
    const PliProposal *p = a, *q = b;
    if (p->score != q->score) return p->score < q->score ? -1 : 1;
    return p->region < q->region ? -1 : p->region > q->region;
}

static int by_score_down(const void *a, const void *b)
{
    const PliProposal *p = a, *q = b;
    if (p->score != q->score) return p->score > q->score ? -1 : 1;
    return p->region < q->region ? -1 : p->region > q->region;
}

// Heap sort: qsort of some C libraries allocates, and a step must not.
static void sort(PliProposal *p, PliIndex n, int (*compare)(const void *, const void *))
{
    for (PliIndex start = n / 2, end = n; end > 1;) {
        if (start > 0) {
            --start;
        } else {
            --end;
            const PliProposal t = p[0];
            p[0] = p[end], p[end] = t;
        }
        for (PliIndex root = start;;) {
            PliIndex child = 2 * root + 1;
            if (child >= end) break;
            if (child + 1 < end && compare(&p[child], &p[child + 1]) < 0) ++child;
            if (compare(&p[root], &p[child]) >= 0) break;
            const PliProposal t = p[root];
            p[root] = p[child], p[child] = t;
            root = child;
        }
    }
}

void pli_criterion_rank(PliCriterion *c)
{
    sort(c->refine, c->refine_count, by_score_down);
    sort(c->coarsen, c->coarsen_count, by_score);
}

double pli_score_contact(double distance, double size)
{
    const double d = fmax(distance, 0.1 * size); // inside or touching: ten
    return size / d;
}

double pli_score_camera(const PliCriterionDef *def, const double p[3], double size)
{
    const double d = v3_distance(p, def->point);
    return size / (def->threshold * fmax(d, 1e-3 * size));
}

double pli_score_region(const PliCriterionDef *def, const double p[3])
{
    const double d = v3_distance(p, def->point);
    return def->radius / fmax(d, 0.1 * def->radius);
}
