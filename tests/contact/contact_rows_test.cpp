/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// A point next to a clamp follows what moves by a small weight: pushing the point must not fling what it follows away.
#include <gtest/gtest.h>

#include <cmath>

extern "C" {
#include "contact/contact.h"
}
#include "base/hash.h"

namespace
{

/// Speed of the free coefficient after a tool moving at 1 m/s has met a point that follows it by `weight`, the clamp by the rest.
double flung(double weight)
{
    const PliHost host = pli_host_default();
    PliContact *c = pli_contact_create(&host, 1);
    PliTool tool{};
    tool.shape = PLI_TOOL_PLANE;
    tool.other[1] = 1.0;
    tool.velocity[1] = 1.0;
    const double inv_mass[2] = { 0.0, 10.0 }, offset[3] = { 0.0, 0.0, 0.0 }, weights[2] = { 1.0 - weight, weight };
    const PliIndex column[2] = { 0, 1 };
    double x[6] = {}, v[6] = {};
    c->tool = &tool;
    c->tool_count = 1;
    pli_contact_begin(c, inv_mass, 0.01);
    EXPECT_TRUE(pli_contact_add(c, 0, 0, column, weights, 2, offset, 1e-4, x));
    for (int k = 1; k <= 10; ++k) {
        for (int d = 0; d < 6; ++d) x[d] += 0.001 * v[d];
        pli_contact_correct(c, 0.001 * k, 0.001, x, v);
    }
    for (int d = 0; d < 3; ++d) EXPECT_EQ(0.0, x[d]);
    pli_contact_destroy(c);
    return std::fabs(v[4]);
}

} // namespace

TEST(ContactRows, WhatMovesIsPushedWithTheTool)
{
    EXPECT_NEAR(1.0, flung(1.0), 1e-9);
    EXPECT_NEAR(2.0, flung(0.5), 1e-9); // the point moves with the tool
}

TEST(ContactRows, APointAtAClampFlingsNothingAway)
{
    uint64_t random = 1;
    for (int k = 0; k < 200; ++k) {
        const double weight = std::pow(10.0, -16.0 * pli_random_unit(&random));
        EXPECT_LE(flung(weight), 20.0) << weight;
    }
}
