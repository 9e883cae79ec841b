/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// A definition that changes while a body runs reaches everything that was made of it, or is refused: the body then moves as one
// that was made with the new values.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include <pliant/frames.h>
#include <pliant/wavelet.h>

#include "support/bodies.h"
#include "support/fixture.h"
#include "support/fold.h"

using namespace pli_test;

namespace
{

struct Maker {
    const char *name;
    std::function<Body(const PliMesh *, const PliMaterial &, bool)> make;
};

template <class Def>
Body made(Def d, const PliMaterial &m, bool adapt, PliBody *(*create)(const PliHost *, const Def *, PliError *))
{
    PliHost host = pli_host_default();
    PliError err = {};
    d.base.material = m;
    d.base.adapt = adapt;
    Body b(create(&host, &d, &err));
    EXPECT_TRUE(b) << err.text;
    return b;
}

Maker wavelet(const char *name, PliWaveletLaw law)
{
    return { name, [law](const PliMesh *mesh, const PliMaterial &m, bool adapt) {
                PliWaveletDef d = pli_wavelet_default();
                d.mesh = mesh;
                d.resolution = 4;
                d.law = law;
                return made(d, m, adapt, pli_wavelet_create);
            } };
}

std::vector<Maker> makers()
{
    return {
        { "fem",
          [](const PliMesh *mesh, const PliMaterial &m, bool adapt) {
              PliFemDef d = pli_fem_default();
              d.mesh = mesh;
              return made(d, m, adapt, pli_fem_create);
          } },
        { "tetlod",
          [](const PliMesh *mesh, const PliMaterial &m, bool adapt) {
              PliTetLodDef d = pli_tetlod_default();
              d.levels = &mesh;
              d.level_count = 1;
              return made(d, m, adapt, pli_tetlod_create);
          } },
        { "frames",
          [](const PliMesh *mesh, const PliMaterial &m, bool adapt) {
              PliFramesDef d = pli_frames_default();
              d.mesh = mesh;
              d.resolution = 16;
              d.frame_count = 6;
              return made(d, m, adapt, pli_frames_create);
          } },
        wavelet("quasi-linear wavelet", PLI_WAVELET_QUASI_LINEAR),
        wavelet("linear wavelet", PLI_WAVELET_LINEAR),
        wavelet("nonlinear wavelet", PLI_WAVELET_NONLINEAR),
    };
}

PliMaterial soft()
{
    PliMaterial m = pli_material_default();
    m.young = 2e4;
    return m;
}

// Squeezed along y and let go: how it moves is all stiffness and mass.
void squeeze(State &s, double by)
{
    for (size_t i = 1; i < s.x.size(); i += 3) s.x[i] *= 1.0 - by;
}

} // namespace

TEST(Retune, AStifferBodyMovesAsOneThatWasMadeStiffer)
{
    Mesh mesh = box(4, 2, 2, 2, 1, 1);
    for (const Maker &k : makers()) {
        SCOPED_TRACE(k.name);
        PliMaterial stiff = soft();
        stiff.young *= 4.0;
        Body tuned = k.make(mesh.get(), soft(), false), fresh = k.make(mesh.get(), stiff, false),
             old = k.make(mesh.get(), soft(), false);
        ASSERT_TRUE(tuned && fresh && old);
        State a(tuned.get()), b(fresh.get()), c(old.get());
        PliBodyDef d = *pli_body_def(tuned.get());
        // a few steps first, so that factors and patterns of the old stiffness exist
        for (int i = 0; i < 3; ++i) ASSERT_TRUE(pli_body_step(tuned.get(), &a.view, 0.01).finite);
        d.material.young = stiff.young;
        PliError err = {};
        ASSERT_EQ(pli_body_retune(tuned.get(), &d, &err), PLI_OK) << err.text;
        a = State(tuned.get());
        squeeze(a, 0.02), squeeze(b, 0.02), squeeze(c, 0.02);
        double apart = 0.0, moved = 0.0;
        for (int i = 0; i < 20; ++i) {
            ASSERT_TRUE(pli_body_step(tuned.get(), &a.view, 0.005).finite);
            ASSERT_TRUE(pli_body_step(fresh.get(), &b.view, 0.005).finite);
            ASSERT_TRUE(pli_body_step(old.get(), &c.view, 0.005).finite);
        }
        for (size_t i = 0; i < a.x.size(); ++i) {
            apart = largest_of(apart, std::fabs(a.x[i] - b.x[i]));
            moved = largest_of(moved, std::fabs(c.x[i] - b.x[i]));
        }
        EXPECT_GT(moved, 1e-4) << "stiffness does not matter here: nothing was tried";
        EXPECT_LT(apart, 1e-6 * moved);
    }
}

TEST(Retune, WhatTheMassesWereMadeWithIsRefused)
{
    Mesh mesh = box(4, 2, 2, 2, 1, 1);
    for (const Maker &k : makers()) {
        SCOPED_TRACE(k.name);
        Body b = k.make(mesh.get(), soft(), false);
        ASSERT_TRUE(b);
        PliBodyDef d = *pli_body_def(b.get());
        d.material.density *= 2.0;
        PliError err = {};
        EXPECT_EQ(pli_body_retune(b.get(), &d, &err), PLI_UNSUPPORTED);
        EXPECT_NE(std::string(err.text).find("density"), std::string::npos) << err.text;
        EXPECT_EQ(pli_body_def(b.get())->material.density, soft().density) << "a refused change must change nothing";
    }
}

TEST(Retune, PoissonsRatioIsFollowedOrRefused)
{
    Mesh mesh = box(4, 2, 2, 2, 1, 1);
    for (const Maker &k : makers()) {
        SCOPED_TRACE(k.name);
        PliMaterial other = soft();
        other.poisson = 0.45;
        Body tuned = k.make(mesh.get(), soft(), false), fresh = k.make(mesh.get(), other, false);
        ASSERT_TRUE(tuned && fresh);
        PliBodyDef d = *pli_body_def(tuned.get());
        d.material.poisson = other.poisson;
        PliError err = {};
        const PliStatus status = pli_body_retune(tuned.get(), &d, &err);
        if (status != PLI_OK) {
            EXPECT_NE(std::string(err.text).find("Poisson"), std::string::npos) << err.text;
            EXPECT_EQ(pli_body_def(tuned.get())->material.poisson, soft().poisson);
            continue;
        }
        State a(tuned.get()), b(fresh.get());
        squeeze(a, 0.02), squeeze(b, 0.02);
        for (int i = 0; i < 20; ++i) {
            ASSERT_TRUE(pli_body_step(tuned.get(), &a.view, 0.005).finite);
            ASSERT_TRUE(pli_body_step(fresh.get(), &b.view, 0.005).finite);
        }
        for (size_t i = 0; i < a.x.size(); ++i) ASSERT_NEAR(a.x[i], b.x[i], 1e-9) << i;
    }
}
