/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_TESTS_WAVELET_SUPPORT_H
#define PLI_TESTS_WAVELET_SUPPORT_H

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include <pliant/stages.h>
#include <pliant/wavelet.h>

namespace wavelet_test
{
inline const PliHost host = pli_host_default();

/// Unit cells from the origin, 1e5 Pa, no gravity.
inline PliWaveletDef box(PliIndex nx, PliIndex ny, PliIndex nz, int levels = 1)
{
    PliWaveletDef d = pli_wavelet_default();
    const PliIndex cells[3] = { nx, ny, nz };
    for (int k = 0; k < 3; ++k) d.box_cells[k] = cells[k], d.box_max[k] = cells[k];
    d.base.material.young = 1e5;
    d.base.material.density = 1000;
    std::memset(d.base.gravity, 0, sizeof d.base.gravity);
    d.levels = levels;
    return d;
}

struct Body {
    PliBody *body = nullptr;
    std::vector<double> x, v;
    PliState state{};

    explicit Body(const PliWaveletDef &d, const PliHost *h = &host)
    {
        PliError err{};
        body = pli_wavelet_create(h, &d, &err);
        EXPECT_TRUE(body) << err.text;
        if (!body) return;
        x.assign(pli_body_rest(body), pli_body_rest(body) + 3 * pli_body_dof_count(body));
        v.assign(x.size(), 0.0);
        state.x = x.data(), state.v = v.data();
    }
    Body(const Body &) = delete;
    ~Body() { pli_body_destroy(body); }

    void clamp(int axis)
    {
        std::vector<PliIndex> held;
        const double *place = pli_wavelet_places(body);
        for (PliIndex i = 0; i < pli_body_dof_count(body); ++i)
            if (std::fabs(place[3 * i + axis]) < 1e-9) held.push_back(i);
        ASSERT_EQ(pli_body_set_fixed(body, held.data(), PliIndex(held.size()), nullptr), PLI_OK);
    }
    bool step(double dt) { return pli_body_step(body, &state, dt).finite; }
};

/// Where the point that is at p at rest is in the state x.
inline void point_at(const Body &b, const double p[3], const std::vector<double> &x, double out[3])
{
    PliIndex column[PLI_LOCATE_MAX];
    double weight[PLI_LOCATE_MAX];
    const PliIndex n = pli_body_locate(b.body, p, column, weight, PLI_LOCATE_MAX);
    out[0] = out[1] = out[2] = 0;
    for (PliIndex k = 0; k < n; ++k)
        for (int d = 0; d < 3; ++d) out[d] += weight[k] * x[3 * column[k] + d];
}
} // namespace wavelet_test

#endif
