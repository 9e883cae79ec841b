/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Springs on points, any direction and stiffness, taken in on top of a factor that was made without them: the same as conjugate
// gradients on the whole matrix, with few of them and with more than there is room for, while they come and go.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include <pliant/stages.h>
#include <pliant/wavelet.h>

extern "C" {
#include "base/hash.h"
#include "scheme/wavelet/rest_tethers.h"
}

namespace
{
const PliHost host = pli_host_default();
constexpr PliIndex most = 120;

struct Springs {
    PliBody *body = nullptr;
    std::vector<double> x, v, weight, force, stiffness, target;
    std::vector<PliIndex> first{ 0 }, dof;
    PliIndex count = 0;
    PliState state{};

    explicit Springs(const PliWaveletDef &d)
    {
        body = pli_wavelet_create(&host, &d, nullptr);
        x.assign(pli_body_rest(body), pli_body_rest(body) + 3 * pli_body_dof_count(body));
        v.assign(x.size(), 0.0);
        for (size_t i = 0; i < x.size(); i += 3) v[i] = -2 * x[i + 1], v[i + 1] = 2 * x[i]; // it turns
        EXPECT_EQ(pli_body_reserve_points(body, most, nullptr), PLI_OK);
        uint64_t seed = 11;
        const auto random = [&] { return double(pli_random(&seed) >> 11) / 9007199254740992.0; };
        for (PliIndex j = 0; j < most; ++j) {
            PliIndex column[PLI_LOCATE_MAX];
            double w[PLI_LOCATE_MAX], p[3];
            for (int k = 0; k < 3; ++k) p[k] = d.box_max[k] * random();
            const PliIndex n = pli_body_locate(body, p, column, w, PLI_LOCATE_MAX);
            dof.insert(dof.end(), column, column + n), weight.insert(weight.end(), w, w + n);
            first.push_back(PliIndex(dof.size()));
            double a[3], b[3]; // stiffness of rank one or two, in no direction of the axes
            for (int k = 0; k < 3; ++k) a[k] = random() - 0.5, b[k] = j % 2 ? random() - 0.5 : 0.0;
            const double hard = j % 3 ? 1e4 : 3e7;
            for (const auto &[r, c] : { std::pair{ 0, 0 }, { 1, 1 }, { 2, 2 }, { 1, 2 }, { 0, 2 }, { 0, 1 } })
                stiffness.push_back(hard * (a[r] * a[c] + b[r] * b[c]));
            for (int k = 0; k < 3; ++k) target.push_back(p[k] + 0.1 * (random() - 0.5));
        }
        force.resize(3 * most);
        state.x = x.data(), state.v = v.data(), state.points = give, state.points_user = this;
    }
    Springs(const Springs &) = delete;
    ~Springs() { pli_body_destroy(body); }

    static void give(const double *x, const double *, PliPointForces *out, void *user)
    {
        Springs *s = static_cast<Springs *>(user);
        for (PliIndex j = 0; j < s->count; ++j) {
            double u[3];
            for (int k = 0; k < 3; ++k) u[k] = s->target[3 * j + k];
            for (PliIndex e = s->first[j]; e < s->first[j + 1]; ++e)
                for (int k = 0; k < 3; ++k) u[k] -= s->weight[e] * x[3 * s->dof[e] + k];
            const double *q = &s->stiffness[6 * j];
            double *f = &s->force[3 * j];
            f[0] = q[0] * u[0] + q[5] * u[1] + q[4] * u[2];
            f[1] = q[5] * u[0] + q[1] * u[1] + q[3] * u[2];
            f[2] = q[4] * u[0] + q[3] * u[1] + q[2] * u[2];
        }
        *out = PliPointForces{};
        out->count = s->count, out->first = s->first.data(), out->dof = s->dof.data(), out->weight = s->weight.data();
        out->force = s->force.data(), out->stiffness = s->stiffness.data();
    }
};
} // namespace

TEST(WaveletTethers, areTakenInExactly)
{
    PliWaveletDef d = pli_wavelet_default();
    d.box_cells[0] = 3;
    d.box_max[0] = 1.5;
    d.levels = 0;
    d.base.material.young = 1e5;
    d.base.cg_tolerance = 1e-13, d.base.cg_iterations = 5000;
    PliWaveletDef other = d;
    other.base.linear_solver = PLI_SOLVE_CG;
    for (const PliIndex fewer : { PliIndex(40), most }) {
        ASSERT_TRUE(fewer <= PLI_REST_TETHERS || fewer == most);
        ASSERT_GT(most, PliIndex(PLI_REST_TETHERS));
        Springs a(d), b(other);
        for (int k = 0; k < 30; ++k) {
            // they come, go, and come back
            a.count = b.count = k % 10 < 3 ? fewer / 4 : k % 10 < 6 ? fewer : 0;
            ASSERT_TRUE(pli_body_step(a.body, &a.state, 0.01).finite);
            ASSERT_TRUE(pli_body_step(b.body, &b.state, 0.01).finite);
            double speed = 0.0, off = 0.0;
            for (size_t i = 0; i < a.v.size(); ++i) {
                speed = std::max(speed, std::fabs(b.v[i]));
                off = std::max(off, std::fabs(a.v[i] - b.v[i]));
            }
            ASSERT_GT(speed, 0.1);
            ASSERT_LT(off, 1e-7 * speed) << "step " << k << " with " << a.count << " springs";
        }
    }
}

// A ball rubs along a body that springs hold and whose top it presses: rounds of contact push at tethers on top of a known motion. Against
// conjugate gradients, which have all of it in the right-hand side.
TEST(WaveletTethers, arePushedByToolsAsTheWholeRightHandSideWouldBe)
{
    PliWaveletDef d = pli_wavelet_default();
    d.box_cells[0] = 3;
    d.box_max[0] = 1.5;
    d.levels = 0;
    d.base.material.young = 1e5;
    d.base.cg_tolerance = 1e-13, d.base.cg_iterations = 5000;
    PliWaveletDef other = d;
    other.base.linear_solver = PLI_SOLVE_CG;
    Springs a(d), b(other);
    PliTool tool[2] = {};
    double most_force = 0.0, most_rub = 0.0;
    for (int body = 0; body < 2; ++body) {
        Springs &s = body ? b : a;
        s.count = 10;
        std::fill(s.v.begin(), s.v.end(), 0.0);
        PliTool &t = tool[body];
        t.shape = PLI_TOOL_SPHERE, t.radius = 0.4, t.friction = 0.4;
        t.position[0] = 0.5, t.position[1] = 0.5, t.position[2] = d.box_max[2] + 0.35;
        ASSERT_EQ(pli_body_set_tools(s.body, &t, 1, nullptr), PLI_OK);
    }
    for (int k = 0; k < 25; ++k) {
        for (int body = 0; body < 2; ++body) {
            Springs &s = body ? b : a;
            PliTool &t = tool[body];
            t.velocity[0] = k < 10 ? 0.0 : 1.0, t.velocity[2] = k < 10 ? -0.5 : 0.0;
            ASSERT_TRUE(pli_body_step(s.body, &s.state, 0.01).finite);
            for (int c = 0; c < 3; ++c) t.position[c] += 0.01 * t.velocity[c];
        }
        double off = 0.0, size = 0.0;
        for (size_t i = 0; i < a.x.size(); ++i) off = std::max(off, std::fabs(a.x[i] - b.x[i]));
        for (int c = 0; c < 3; ++c) size = std::max(size, std::fabs(tool[1].force[c]));
        ASSERT_LT(off, 1e-6 * d.box_max[0]) << "step " << k;
        for (int c = 0; c < 3; ++c) ASSERT_NEAR(tool[0].force[c], tool[1].force[c], 1e-4 * size + 1e-9) << "step " << k;
        most_force = std::max(most_force, std::fabs(tool[0].force[2]));
        most_rub = std::max(most_rub, std::fabs(tool[0].force[0]));
    }
    EXPECT_GT(most_force, 10.0);
    EXPECT_GT(most_rub, 1.0);
}
