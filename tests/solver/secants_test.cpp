/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// What forces did beyond the matrix of a step: stiffer directions are learnt, softer ones left alone.
#include <gtest/gtest.h>

#include <cmath>

extern "C" {
#include "solver/secants.h"
}

namespace
{
/// The matrix is 1, and the truth is more by a diagonal.
void add(PliSecants &s, const double *way, const double *more)
{
    const PliIndex at = s.next;
    double size = 0.0;
    for (size_t i = 0; i < s.length; ++i) size += way[i] * way[i];
    for (size_t i = 0; i < s.length; ++i) {
        s.way[at][i] = s.inertia[at][i] = way[i];
        s.force[at][i] = more[i] * way[i];
    }
    pli_secants_add(&s, 1.0 / std::sqrt(size));
}

/// w w^T p
double learnt(const PliSecants &s, const double *p, size_t row)
{
    double sum = 0.0;
    for (PliIndex j = 0; j < s.rank; ++j) {
        double along = 0.0, own = 0.0;
        for (PliIndex i = 0; i < s.count; ++i) {
            for (size_t k = 0; k < s.length; ++k) along += s.coefficient[j][i] * s.force[i][k] * p[k];
            own += s.coefficient[j][i] * s.force[i][row];
        }
        sum += own * along;
    }
    return sum;
}
} // namespace

TEST(Secants, holdAlongAllWaysThatAreStiffer)
{
    const PliHost host = pli_host_default();
    PliSecants s{};
    pli_secants_init(&s, &host);
    ASSERT_EQ(pli_secants_resize(&s, 2), PLI_OK);
    const double more[6] = { 5, 3, 0, -0.5, 0, 0 }, way[4][6] = {
        { 1, 1, 0, 0, 0, 0 }, { 1, -2, 0, 0, 1, 0 }, { 0, 0, 0, 1, 0, 0 }, { 1, 1, 0, 0, 1e-9, 0 }
    };
    for (const double *w : way) add(s, w, more);
    EXPECT_EQ(s.rank, 2u);
    EXPECT_NEAR(s.stiffest, 5.0, 0.5);
    for (int k = 0; k < 2; ++k)
        for (size_t row = 0; row < 6; ++row) EXPECT_NEAR(learnt(s, way[k], row), more[row] * way[k][row], 1e-6);
    for (size_t row = 0; row < 6; ++row) EXPECT_NEAR(learnt(s, way[2], row), 0.0, 1e-6); // softer: as it was
    pli_secants_forget(&s);
    EXPECT_EQ(s.rank, 0u);
    pli_secants_free(&s);
}
