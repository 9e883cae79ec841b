/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "body/cut_check.h"

#include <math.h>

#include "base/sorted.h"

#define CHECK(condition, ...)                                                                                          \
    do {                                                                                                               \
        if (!(condition)) return pli_refuse(err, PLI_BAD_ARGUMENT, __VA_ARGS__), false;                                \
    } while (0)

static bool counts_are_valid(const PliCut *c, const PliSchemeStatic *st, PliError *err)
{
    CHECK(c->active_count > 0, "no coefficient is active");
    CHECK(c->active_count <= st->active_capacity, "%u coefficients are active, room is for %u", c->active_count,
          st->active_capacity);
    CHECK(c->slave_count <= st->slave_capacity, "%u coefficients follow, room is for %u", c->slave_count,
          st->slave_capacity);
    CHECK(c->element_count <= st->element_capacity, "%u elements are live, room is for %u", c->element_count,
          st->element_capacity);
    CHECK(c->sample_count <= st->sample_capacity, "%u samples are live, room is for %u", c->sample_count,
          st->sample_capacity);
    if (c->slave_count)
        CHECK(c->slave_first[0] == 0 && c->slave_first[c->slave_count] <= st->slave_entry_capacity,
              "rows of followers have %u entries, room is for %zu", c->slave_first[c->slave_count],
              st->slave_entry_capacity);
    if (c->sample_count)
        CHECK(c->sample_first[0] == 0 && c->sample_first[c->sample_count] <= st->sample_entry_capacity,
              "samples have %u entries, room is for %zu", c->sample_first[c->sample_count], st->sample_entry_capacity);
    return true;
}

static bool is_active(const PliCut *c, PliIndex dof)
{
    return pli_sorted_find(c->active, 0, c->active_count, dof) != PLI_NONE;
}

static bool active_are_valid(const PliCut *c, const PliSchemeStatic *st, PliError *err)
{
    for (PliIndex i = 0; i < c->active_count; ++i) {
        CHECK(c->active[i] < st->dof_count, "coefficient %u is active, there are %u", c->active[i], st->dof_count);
        CHECK(i == 0 || c->active[i - 1] < c->active[i], "active coefficients %u and %u are out of order",
              c->active[i - (i > 0)], c->active[i]);
        const bool moved = c->driven && c->driven[i]; // by the scheme: it needs no mass
        CHECK((c->mass[i] > 0.0 || (moved && c->mass[i] == 0.0)) && isfinite(c->mass[i]), "coefficient %u weighs %g kg",
              c->active[i], c->mass[i]);
    }
    return true;
}

static bool slaves_are_valid(const PliCut *c, const PliSchemeStatic *st, PliError *err)
{
    for (PliIndex i = 0; i < c->slave_count; ++i) {
        CHECK(c->slave[i] < st->dof_count && !is_active(c, c->slave[i]), "follower %u is active, or not one of %u",
              c->slave[i], st->dof_count);
        CHECK(c->slave_first[i] <= c->slave_first[i + 1], "the row of follower %u ends before it begins", c->slave[i]);
        for (PliIndex k = c->slave_first[i]; k < c->slave_first[i + 1]; ++k)
            CHECK(is_active(c, c->slave_column[k]) && isfinite(c->slave_weight[k]),
                  "follower %u follows %u, which is not active, or by %g", c->slave[i], c->slave_column[k],
                  c->slave_weight[k]);
    }
    return true;
}

static bool elements_are_valid(const PliCut *c, const PliSchemeStatic *st, PliError *err)
{
    for (PliIndex i = 0; i < c->element_count; ++i) {
        CHECK(c->element[i] < st->tet_count && (i == 0 || c->element[i - 1] < c->element[i]),
              "live element %u is not one of %u, or out of order", c->element[i], st->tet_count);
        CHECK(c->volume[i] > 0.0 && isfinite(c->volume[i]), "element %u stands for %g m3", c->element[i], c->volume[i]);
    }
    for (PliIndex i = 0; i < c->sample_count; ++i) {
        CHECK(c->sample_first[i] <= c->sample_first[i + 1], "sample %u ends before it begins", i);
        CHECK(c->sample_volume[i] > 0.0 && isfinite(c->sample_volume[i]), "sample %u stands for %g m3", i,
              c->sample_volume[i]);
        for (PliIndex k = c->sample_first[i]; k < c->sample_first[i + 1]; ++k)
            CHECK(c->sample_dof[k] < st->dof_count, "sample %u leans on coefficient %u of %u", i, c->sample_dof[k],
                  st->dof_count);
    }
    return true;
}

bool pli_cut_is_valid(const PliCut *c, const PliSchemeStatic *st, PliError *err)
{
    return counts_are_valid(c, st, err) && active_are_valid(c, st, err) && slaves_are_valid(c, st, err) &&
           elements_are_valid(c, st, err);
}
