/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Regions of another stiffness, on every scheme with a volume: one around the whole body is another Young's modulus, and a nodule
// under a tool is felt.
#include <pliant/frames.h>
#include <pliant/octree.h>
#include <pliant/stages.h>
#include <pliant/wavelet.h>

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "support/bodies.h"

using namespace pli_test;

namespace
{
const PliHost host = pli_host_default();

struct Setup {
    double young;
    std::vector<double> regions;
    void write(PliBodyDef *d) const
    {
        d->material.young = young, d->material.poisson = 0.3, d->mass_damping = 20.0;
        d->gravity[0] = d->gravity[1] = d->gravity[2] = 0.0;
        d->stiff_regions = regions.data(), d->stiff_region_count = PliIndex(regions.size() / 5);
    }
};
using Maker = std::function<Body(const Setup &)>;

Body fem(const Setup &s, bool implicit)
{
    const Mesh mesh = box(8, 8, 4, 0.1, 0.1, 0.05);
    PliFemDef d = pli_fem_default();
    s.write(&d.base);
    d.mesh = mesh.get();
    if (implicit) d.base.integrator = PLI_IMPLICIT, d.base.linear_solver = PLI_SOLVE_LDL;
    return Body(pli_fem_create(&host, &d, nullptr));
}

Body tetlod(const Setup &s)
{
    const Mesh coarse = box(4, 4, 2, 0.1, 0.1, 0.05), fine = box(8, 8, 4, 0.1, 0.1, 0.05);
    const PliMesh *levels[] = { coarse.get(), fine.get() };
    PliTetLodDef d = pli_tetlod_default();
    s.write(&d.base);
    d.levels = levels, d.level_count = 2;
    return Body(pli_tetlod_create(&host, &d, nullptr));
}

Body frames(const Setup &s)
{
    const Mesh mesh = box(8, 8, 4, 0.1, 0.1, 0.05);
    PliFramesDef d = pli_frames_default();
    s.write(&d.base);
    d.mesh = mesh.get(), d.frame_count = 24, d.resolution = 16;
    return Body(pli_frames_create(&host, &d, nullptr));
}

Body octree(const Setup &s)
{
    const Mesh mesh = box(8, 8, 4, 0.1, 0.1, 0.05);
    PliOctreeDef d = pli_octree_default();
    s.write(&d.base);
    d.base.material.law = PLI_COROT;
    d.mesh = mesh.get(), d.resolution = 16, d.levels = 2;
    d.base.criterion.kind = PLI_BY_REGION, d.base.criterion.radius = 0.03; // two levels meet
    d.base.criterion.point[0] = d.base.criterion.point[1] = d.base.criterion.point[2] = 0.05;
    return Body(pli_octree_create(&host, &d, nullptr));
}

Body wavelet(const Setup &s, PliWaveletLaw law)
{
    PliWaveletDef d = pli_wavelet_default();
    s.write(&d.base);
    const PliIndex cells[3] = { 4, 4, 2 };
    for (int k = 0; k < 3; ++k) d.box_cells[k] = cells[k], d.box_max[k] = 0.025 * cells[k];
    d.law = law;
    return Body(pli_wavelet_create(&host, &d, nullptr));
}

const std::vector<std::pair<std::string, Maker>> makers = {
    { "fem", [](const Setup &s) { return fem(s, false); } },
    { "implicit fem", [](const Setup &s) { return fem(s, true); } },
    { "tetlod", tetlod },
    { "frames", frames },
    { "octree", octree },
    { "wavelet", [](const Setup &s) { return wavelet(s, PLI_WAVELET_QUASI_LINEAR); } },
    { "nonlinear wavelet", [](const Setup &s) { return wavelet(s, PLI_WAVELET_NONLINEAR); } },
};

/// N on a ball pressed 4 mm into the top of a block that stands on its bottom.
double felt(const Maker &make, const Setup &s, int steps, std::vector<double> *end = nullptr)
{
    Body body = make(s);
    EXPECT_TRUE(body);
    if (!body) return NAN;
    State state(body.get());
    PliTool tools[2] = {};
    tools[0].shape = PLI_TOOL_SPHERE, tools[0].radius = 0.015;
    tools[0].position[0] = tools[0].position[1] = 0.05, tools[0].position[2] = 0.0652;
    tools[1].shape = PLI_TOOL_PLANE, tools[1].other[2] = 1.0;
    // exact contact of implicit steps begins with youngModulus, without the regions, and ends within its tolerance
    if (pli_body_def(body.get())->integrator == PLI_IMPLICIT) tools[0].stiffness = tools[1].stiffness = 1e7;
    EXPECT_EQ(pli_body_set_tools(body.get(), tools, 2, nullptr), PLI_OK);
    for (int k = 0; k < steps; ++k) {
        tools[0].velocity[2] = k < 20 ? -0.02 : 0.0;
        EXPECT_TRUE(pli_body_step(body.get(), &state.view, 0.01).finite);
        tools[0].position[2] += 0.01 * tools[0].velocity[2];
    }
    if (end) *end = state.x;
    return tools[0].force[2];
}
} // namespace

TEST(Regions, oneAroundTheBodyIsAnotherModulus)
{
    for (const auto &[name, make] : makers) {
        std::vector<double> a, b;
        const double harder = felt(make, { 3e4, {} }, 12, &a),
                     region = felt(make, { 1e4, { 0.05, 0.05, 0.02, 1.0, 3.0 } }, 12, &b);
        EXPECT_NEAR(region / harder, 1.0, 1e-4) << name; // contact is solved to a thousandth of its pressure
        double off = 0.0;
        for (size_t i = 0; i < a.size(); ++i) off = std::max(off, std::fabs(a[i] - b[i]));
        EXPECT_LT(off, 1e-7) << name;
    }
}

TEST(Regions, aNoduleUnderTheToolIsFelt)
{
    for (const auto &[name, make] : makers) {
        const double plain = felt(make, { 1e4, {} }, 28),
                     nodule = felt(make, { 1e4, { 0.05, 0.05, 0.03, 0.018, 3.0 } }, 28);
        EXPECT_GT(plain, 0.01) << name;
        EXPECT_GT(nodule / plain, 1.2) << name << ": " << plain << " N, over the nodule " << nodule << " N";
        EXPECT_LT(nodule / plain, 3.0) << name << ": " << plain << " N, over the nodule " << nodule << " N";
    }
}

TEST(Regions, badOnesAreRefused)
{
    PliBodyDef d = pli_body_default();
    const double flat[5] = { 0, 0, 0, 0, 2 }, soft[5] = { 0, 0, 0, 1, 0 };
    PliError err{};
    d.stiff_regions = flat, d.stiff_region_count = 1;
    EXPECT_EQ(pli_body_def_check(&d, &err), PLI_BAD_ARGUMENT);
    EXPECT_NE(std::string(err.text).find("radius"), std::string::npos) << err.text;
    d.stiff_regions = soft;
    EXPECT_EQ(pli_body_def_check(&d, &err), PLI_BAD_ARGUMENT);
    EXPECT_NE(std::string(err.text).find("factor"), std::string::npos) << err.text;
}
