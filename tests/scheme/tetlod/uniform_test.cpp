/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// A body of one level is plain finite elements.
#include <gtest/gtest.h>

#include <cmath>

#include "scheme/tetlod/cubes.h"
#include "support/bodies.h"
#include "support/fixture.h"
#include "support/fold.h"

extern "C" {
#include "body/body.h"
}

using namespace pli_test;

TEST(TetLodUniform, MovesLikeFem)
{
    Levels l({ 2, 4 });
    for (int level = 0; level < 2; ++level) {
        PliTetLodDef d = tetlod_def(l);
        d.start_level = level;
        d.base.adapt = false;
        d.base.material.damping = 1e-4;
        Body b = make_tetlod(d);
        PliFemDef f = pli_fem_default();
        f.base = d.base;
        f.mesh = l.list[level];
        PliHost host = pli_host_default();
        Body fem(pli_fem_create(&host, &f, nullptr));
        State s(b.get()), sf(fem.get());
        spin(s), spin(sf);
        for (int i = 0; i < 20; ++i) pli_body_step(b.get(), &s.view, 0.01), pli_body_step(fem.get(), &sf.view, 0.01);
        const PliActive active = pli_body_active(b.get());
        ASSERT_EQ(active.count, l.list[level]->point_count);
        double moved = 0;
        for (PliIndex i = 0; i < active.count; ++i)
            for (int k = 0; k < 3; ++k) {
                EXPECT_NEAR(s.x[3 * active.dof[i] + k], sf.x[3 * i + k], 1e-9);
                moved = largest_of(moved, std::fabs(sf.x[3 * i + k] - pli_body_rest(fem.get())[3 * i + k]));
            }
        EXPECT_GT(moved, 0.1);
    }
}

/// What tools touch hangs on that level directly: four coefficients a point, and a press does to it what it does to plain elements.
TEST(TetLodUniform, IsTouchedLikeFem)
{
    Levels l({ 2, 4 });
    PliTetLodDef d = tetlod_def(l);
    d.start_level = 0;
    d.base.adapt = false;
    d.base.material.damping = 1e-3;
    Body b = make_tetlod(d);
    PliFemDef f = pli_fem_default();
    f.base = d.base;
    f.mesh = l.list[0];
    PliHost host = pli_host_default();
    Body fem(pli_fem_create(&host, &f, nullptr));
    const Mesh fine = box(4, 4, 4);
    const PliMesh *m = fine.get();
    PliTool press[2] = {};
    double far = 0.0;
    Body *both[] = { &b, &fem };
    for (int k = 0; k < 2; ++k) {
        press[k].shape = PLI_TOOL_PLANE, press[k].position[1] = 1.0, press[k].other[1] = -1.0,
        press[k].velocity[1] = -0.5;
        ASSERT_EQ(pli_body_attach_skin(both[k]->get(), m->x, m->point_count, nullptr, 0, nullptr), PLI_OK);
        ASSERT_EQ(pli_body_set_tools(both[k]->get(), &press[k], 1, nullptr), PLI_OK);
    }
    State s(b.get()), sf(fem.get());
    for (int i = 0; i < 20; ++i) {
        pli_body_step(b.get(), &s.view, 0.01), pli_body_step(fem.get(), &sf.view, 0.01);
        for (PliTool &p : press) p.position[1] += 0.01 * p.velocity[1];
        EXPECT_NEAR(press[0].force[1], press[1].force[1], 1e-6 * std::fabs(press[1].force[1]));
    }
    EXPECT_GT(std::fabs(press[1].force[1]), 0.0) << "it touches";
    const PliRows rows = pli_body_skin_rows(b.get());
    std::vector<double> at(3 * (size_t)m->point_count), as(at.size());
    pli_body_skin_positions(b.get(), s.x.data(), at.data());
    pli_body_skin_positions(fem.get(), sf.x.data(), as.data());
    for (PliIndex i = 0; i < m->point_count; ++i) {
        EXPECT_LE(rows.first[i + 1] - rows.first[i], 4u);
        for (int k = 0; k < 3; ++k) {
            EXPECT_NEAR(at[3 * i + k], as[3 * i + k], 1e-9);
            far = largest_of(far, std::fabs(as[3 * i + k] - m->x[3 * i + k]));
        }
    }
    EXPECT_GT(far, 0.05);
}

/// With an accuracy a level is touched by as many points as it can give way to, corners among them. The oracle is the plain mesh of
/// that level, touched at every point of the same skin.
TEST(TetLodUniform, IsTouchedByFewerPointsWithAnAccuracy)
{
    Levels l({ 2, 4, 12 });
    PliTetLodDef d = tetlod_def(l);
    d.base.criterion.accuracy = 5.0;
    d.base.criterion.max_active = l.list[1]->point_count; // it stays there
    d.base.material.damping = 1e-3;
    d.base.gravity[1] = 0.0;
    Body b = make_tetlod(d);
    PliFemDef f = pli_fem_default();
    f.base = d.base;
    f.base.criterion = pli_criterion_default();
    f.mesh = l.list[1];
    PliHost host = pli_host_default();
    Body fem(pli_fem_create(&host, &f, nullptr));
    f.sparse_contact = true; // a uniform body may have the same
    Body sparse(pli_fem_create(&host, &f, nullptr));
    const PliSkin *fine = b->skin; // of the finest level
    for (Body *one : { &fem, &sparse })
        ASSERT_EQ(pli_body_attach_skin(one->get(), fine->rest, fine->point_count, fine->tris, fine->tri_count, nullptr),
                  PLI_OK);
    PliTool plates[3][2] = {};
    Body *both[] = { &b, &fem, &sparse };
    for (int k = 0; k < 3; ++k) {
        for (PliTool &t : plates[k]) t.shape = PLI_TOOL_PLANE, t.friction = 0.5;
        plates[k][0].other[1] = 1.0;
        plates[k][1].other[1] = -1.0, plates[k][1].position[1] = 1.0, plates[k][1].velocity[1] = -0.5;
        ASSERT_EQ(pli_body_set_tools(both[k]->get(), plates[k], 2, nullptr), PLI_OK);
    }
    State s(b.get()), sf(fem.get()), ss(sparse.get());
    for (int i = 0; i < 40; ++i) {
        ASSERT_TRUE(pli_body_step(b.get(), &s.view, 0.01).finite);
        ASSERT_TRUE(pli_body_step(fem.get(), &sf.view, 0.01).finite);
        ASSERT_TRUE(pli_body_step(sparse.get(), &ss.view, 0.01).finite);
        for (auto &p : plates) p[1].position[1] += 0.01 * p[1].velocity[1];
        if (i >= 10) {
            EXPECT_NEAR(plates[0][1].force[1], plates[1][1].force[1], 0.03 * plates[1][1].force[1]) << i;
            EXPECT_NEAR(plates[2][1].force[1], plates[1][1].force[1], 0.03 * plates[1][1].force[1]) << i;
        }
    }
    EXPECT_EQ(pli_body_stats(b.get()).uniform_level, 2);
    EXPECT_GT(b->contact->count, 2u * 25u - 1) << "as many as there are nodes";
    EXPECT_LT(b->contact->count, fem->contact->count / 3);
    EXPECT_EQ(sparse->contact->count, b->contact->count);
    std::vector<double> at(3 * (size_t)fine->point_count), as(at.size());
    pli_body_skin_positions(b.get(), s.x.data(), at.data());
    pli_body_skin_positions(fem.get(), sf.x.data(), as.data());
    double off = 0.0, area = 0.0;
    for (PliIndex i = 0; i < fine->point_count; ++i) {
        for (int k = 0; k < 3; ++k)
            off += fine->area[i] * (at[3 * i + k] - as[3 * i + k]) * (at[3 * i + k] - as[3 * i + k]);
        area += fine->area[i];
        EXPECT_GT(at[3 * i + 1], -0.005) << "no point sinks into the floor between those that touch";
        EXPECT_LT(at[3 * i + 1], plates[0][1].position[1] + 0.005);
    }
    EXPECT_LT(std::sqrt(off / area), 0.005) << "of a body of 1 m that was pressed by 0.2 m";
}

/// A tool that would go in between those points touches all there are: a needle over the middle of a large element is felt as the plain
/// mesh of that level feels it.
TEST(TetLodUniform, ANeedleIsFelt)
{
    Levels l({ 2, 3, 12 });
    PliTetLodDef d = tetlod_def(l);
    d.base.criterion.accuracy = 5.0;
    d.base.criterion.max_active = l.list[1]->point_count;
    d.base.material.damping = 1e-3;
    d.base.gravity[1] = 0.0;
    Body b = make_tetlod(d);
    PliFemDef f = pli_fem_default();
    f.base = d.base;
    f.base.criterion = pli_criterion_default();
    f.mesh = l.list[1];
    PliHost host = pli_host_default();
    Body fem(pli_fem_create(&host, &f, nullptr));
    const PliSkin *fine = b->skin;
    ASSERT_EQ(pli_body_attach_skin(fem.get(), fine->rest, fine->point_count, fine->tris, fine->tri_count, nullptr),
              PLI_OK);
    Body *both[] = { &b, &fem };
    PliTool needle[2] = {};
    State s(b.get()), sf(fem.get());
    for (int k = 0; k < 2; ++k) {
        std::vector<PliIndex> held;
        const double *rest = pli_body_rest(both[k]->get());
        for (PliIndex i = 0; i < pli_body_dof_count(both[k]->get()); ++i)
            if (rest[3 * i + 1] < 1e-9) held.push_back(i);
        ASSERT_EQ(pli_body_set_fixed(both[k]->get(), held.data(), (PliIndex)held.size(), nullptr), PLI_OK);
        needle[k].shape = PLI_TOOL_SPHERE, needle[k].radius = 0.05;
        needle[k].position[0] = needle[k].position[2] = 0.5, needle[k].position[1] = 1.05;
        needle[k].velocity[1] = -0.5;
        ASSERT_EQ(pli_body_set_tools(both[k]->get(), &needle[k], 1, nullptr), PLI_OK);
    }
    for (int i = 0; i < 30; ++i) {
        ASSERT_TRUE(pli_body_step(b.get(), &s.view, 0.01).finite);
        ASSERT_TRUE(pli_body_step(fem.get(), &sf.view, 0.01).finite);
        for (PliTool &n : needle) n.position[1] += 0.01 * n.velocity[1];
        if (i >= 10) {
            EXPECT_NEAR(needle[0].force[1], needle[1].force[1], 0.03 * needle[1].force[1]) << i;
        }
    }
    EXPECT_EQ(pli_body_stats(b.get()).uniform_level, 2);
    EXPECT_GT(needle[1].force[1], 0.0);
    needle[0].radius = needle[1].radius = 2.0; // as large as this it may touch fewer
    needle[0].position[1] = needle[1].position[1] = 2.9;
    ASSERT_TRUE(pli_body_step(b.get(), &s.view, 0.01).finite);
    ASSERT_TRUE(pli_body_step(fem.get(), &sf.view, 0.01).finite);
    EXPECT_LT(b->contact->count, fem->contact->count / 2);
    EXPECT_GT(b->contact->count, 0u);
}
