/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <pliant/octree.h>
#include <pliant/scheme.h>

extern "C" {
#include "base/hash.h"
#include "base/vec.h"
#include "scheme/octree/octree.h"
}

namespace
{

struct Body {
    PliHost host = pli_host_default();
    PliMesh *mesh = nullptr;
    PliOctreeDef def = pli_octree_default();
    PliBody *body = nullptr;
    std::vector<double> x, v;
    PliState state = {};

    Body(double w, double h, double d)
    {
        PliBoxDef box = {};
        const double max[3] = { w, h, d };
        for (int a = 0; a < 3; ++a) box.max[a] = max[a], box.cells[a] = 3;
        PliError err = {};
        mesh = pli_mesh_box(&host, &box, &err);
        def.mesh = mesh;
        for (double &g : def.base.gravity) g = 0;
    }
    explicit Body(const char *file)
    {
        PliError err = {};
        mesh = pli_mesh_read(&host, (std::string(PLIANT_SOURCE_DIR) + "/scenes/" + file).c_str(), &err);
        EXPECT_TRUE(mesh) << err.text;
        def.mesh = mesh;
        for (double &g : def.base.gravity) g = 0;
    }
    void make()
    {
        PliError err = {};
        body = pli_octree_create(&host, &def, &err);
        ASSERT_TRUE(body) << err.text;
        x.resize(3 * pli_body_dof_count(body));
        v.resize(x.size());
        state.x = x.data(), state.v = v.data();
        pli_body_reset(body, &state);
    }
    ~Body()
    {
        pli_body_destroy(body);
        pli_mesh_destroy(mesh);
    }
    /// Fixes wall points with a rest coordinate in a range.
    void hold(int axis, double low, double high)
    {
        const PliOctreeInfo info = pli_octree_info(body);
        const double *rest = pli_body_rest(body);
        std::vector<PliIndex> fixed;
        for (PliIndex i = info.cell_count; i < info.cell_count + info.walls; ++i)
            if (rest[3 * i + axis] > low && rest[3 * i + axis] < high) fixed.push_back(i);
        PliError err = {};
        ASSERT_EQ(pli_body_set_fixed(body, fixed.data(), PliIndex(fixed.size()), &err), PLI_OK) << err.text;
    }
    PliEnergy energy() const { return pli_body_energy(body, x.data(), v.data()); }
    void stir(double amount, uint64_t seed)
    {
        const PliActive a = pli_body_active(body);
        for (PliIndex i = 0; i < a.count; ++i)
            for (int k = 0; k < 3; ++k)
                v[3 * a.dof[i] + k] +=
                    pli_body_dof_place(body, a.dof[i]) == PLI_NONE ? 0.0 : amount * (pli_random_unit(&seed) - 0.5);
    }
};

void expect_momentum(const PliEnergy &a, const PliEnergy &b, double scale)
{
    for (int k = 0; k < 3; ++k) {
        EXPECT_NEAR(a.momentum[k], b.momentum[k], 1e-11 * scale);
        EXPECT_NEAR(a.angular[k], b.angular[k], 1e-9 * scale);
    }
    EXPECT_NEAR(a.mass, b.mass, 1e-12 * a.mass);
}

TEST(OctreeBody, RandomEventsKeepMassCentreMomentumAndAngularMomentum)
{
    Body b("meshes/liver_surface.obj");
    b.def.resolution = 14;
    b.make();
    b.stir(0.1, 3);
    const PliEnergy first = b.energy();
    uint64_t seed = 1;
    int splits = 0, merges = 0;
    const PliIndex cells = pli_octree_info(b.body).cell_count;
    for (int i = 0; i < 4000; ++i) {
        const bool split = pli_random_unit(&seed) < 0.5;
        const PliIndex cell = PliIndex(pli_random(&seed) % cells);
        if (!pli_octree_event(b.body, &b.state, cell, split)) continue;
        (split ? splits : merges)++;
        const PliEnergy e = b.energy();
        ASSERT_NO_FATAL_FAILURE(expect_momentum(e, first, first.mass * 0.1));
        for (int k = 0; k < 3; ++k) EXPECT_NEAR(e.centre[k], first.centre[k], 1e-11);
    }
    EXPECT_GT(splits, 100);
    EXPECT_GT(merges, 50);
}

TEST(OctreeBody, DaughtersComeBackToWhereTheyMerged)
{
    Body b(2, 1, 1);
    b.def.resolution = 8;
    b.def.start_level = 2;
    b.make();
    std::vector<double> saved = b.x;
    uint64_t seed = 4;
    const PliActive a = pli_body_active(b.body);
    for (PliIndex i = 0; i < a.count; ++i)
        for (int k = 0; k < 3; ++k)
            b.x[3 * a.dof[i] + k] += 0.02 * (pli_random_unit(&seed) - 0.5) + 0.1 * saved[3 * a.dof[i] + (k + 1) % 3];
    const PliOctree *s = static_cast<PliOctree *>(pli_body_self(b.body));
    const PliIndex mother = s->tree->level_first[1] + 5;
    std::vector<double> before;
    for (int k = 0; k < 8; ++k)
        before.insert(before.end(), &b.x[3 * s->tree->cell[mother].child[k]],
                      &b.x[3 * s->tree->cell[mother].child[k]] + 3);
    ASSERT_TRUE(pli_octree_event(b.body, &b.state, mother, false));
    pli_body_spread(b.body, b.x.data());
    for (int k = 0; k < 8; ++k)
        for (int c = 0; c < 3; ++c) EXPECT_NEAR(b.x[3 * s->tree->cell[mother].child[k] + c], before[3 * k + c], 1e-12);
    ASSERT_TRUE(pli_octree_event(b.body, &b.state, mother, true));
    for (int k = 0; k < 8; ++k)
        for (int c = 0; c < 3; ++c) EXPECT_NEAR(b.x[3 * s->tree->cell[mother].child[k] + c], before[3 * k + c], 1e-12);
}

TEST(OctreeBody, RowsAgreeWithSpreadAndReproduceAffineShapes)
{
    for (int thin = 0; thin < 2; ++thin) {
        Body b = thin ? Body(4, 1, 1) : Body("meshes/liver_surface.obj");
        b.def.resolution = 16;
        b.make();
        uint64_t seed = 2;
        const PliIndex cells = pli_octree_info(b.body).cell_count;
        for (int i = 0; i < 60; ++i)
            (void)pli_octree_event(b.body, &b.state, PliIndex(pli_random(&seed) % cells), true);
        const double *rest = pli_body_rest(b.body);
        const double A[9] = { 1.1, 0.2, 0, -0.1, 0.9, 0.3, 0.05, 0, 1.2 }, t[3] = { 1, 2, 3 };
        for (PliIndex i = 0; i < pli_body_dof_count(b.body); ++i) {
            m3_apply(&b.x[3 * i], A, rest + 3 * i);
            if (pli_body_dof_place(b.body, i) != PLI_NONE) v3_add(&b.x[3 * i], &b.x[3 * i], t); // axes are directions
        }
        std::vector<double> affine = b.x, applied(b.x.size());
        pli_rows_apply(pli_body_transfer(b.body), b.x.data(), applied.data());
        pli_body_spread(b.body, b.x.data());
        double worst = 0, apart = 0;
        for (size_t i = 0; i < affine.size(); ++i)
            worst = std::max(worst, std::fabs(b.x[i] - affine[i])),
            apart = std::max(apart, std::fabs(b.x[i] - applied[i]));
        EXPECT_LT(worst, 1e-11) << thin;
        EXPECT_LT(apart, 1e-11) << thin;
    }
}

TEST(OctreeBody, FreeFlightThroughEventsKeepsMomentumAndABoostChangesNothing)
{
    double shape[2][3];
    PliIndex most[2] = { 0, 0 };
    for (int boosted = 0; boosted < 2; ++boosted) {
        Body b(2, 1, 0.5);
        b.def.resolution = 16;
        b.def.base.criterion.threshold = 0.02;
        b.make();
        const PliActive a = pli_body_active(b.body);
        for (PliIndex i = 0; i < a.count; ++i) {
            const double *p = &b.x[3 * a.dof[i]];
            b.v[3 * a.dof[i]] = -0.5 * p[1] + (boosted ? 3.0 : 0.0),
                    b.v[3 * a.dof[i] + 1] = 0.5 * p[0] + 0.6 * p[0] * p[0];
        }
        const PliEnergy first = b.energy();
        for (int i = 0; i < 150; ++i) {
            const PliStepInfo info = pli_body_step(b.body, &b.state, 0.005);
            ASSERT_TRUE(info.finite);
            most[boosted] = std::max(most[boosted], pli_body_active(b.body).count);
            const PliEnergy e = b.energy();
            for (int k = 0; k < 3; ++k) ASSERT_NEAR(e.momentum[k], first.momentum[k], 1e-10 * first.mass) << i;
            if (boosted) continue;
            for (int k = 0; k < 3; ++k) ASSERT_NEAR(e.angular[k], first.angular[k], 1e-7 * first.mass) << i;
        }
        const PliStats stats = pli_body_stats(b.body);
        EXPECT_GT(stats.refined, 5u);
        const PliEnergy e = b.energy();
        for (int k = 0; k < 3; ++k) shape[boosted][k] = b.x[3 * pli_body_active(b.body).dof[0] + k] - e.centre[k];
    }
    EXPECT_EQ(most[0], most[1]);
    for (int k = 0; k < 3; ++k) EXPECT_NEAR(shape[0][k], shape[1][k], 1e-6);
}

TEST(OctreeBody, AxialBarSwingsWithItsFrequencyOnEveryLevel)
{
    for (int level = 0; level < 3; ++level) {
        Body b(4, 1, 1);
        b.def.resolution = 16;
        b.def.start_level = level;
        b.def.base.adapt = false;
        b.def.base.material.poisson = 0;
        b.make();
        b.hold(0, -0.01, 0.01);
        const PliActive a = pli_body_active(b.body);
        for (PliIndex i = 0; i < a.count; ++i)
            if (pli_body_dof_place(b.body, a.dof[i]) != PLI_NONE)
                b.x[3 * a.dof[i]] += 0.01 * std::sin(M_PI / 8 * b.x[3 * a.dof[i]]);
        const PliIndex tip =
            a.dof[a.count - 1] < pli_octree_info(b.body).cell_count ? a.dof[a.count - 1] : a.dof[a.count - 4];
        const double rest = pli_body_rest(b.body)[3 * tip],
                     expected = std::sqrt(b.def.base.material.young / b.def.base.material.density) / 16;
        double last = 1, time = 0, first = -1, period = 0;
        const double dt = 1 / expected / 400;
        for (int i = 0; i < 1400 && period == 0; ++i, time += dt) {
            ASSERT_TRUE(pli_body_step(b.body, &b.state, dt).finite);
            const double u = b.x[3 * tip] - rest;
            if (last < 0 && u >= 0) {
                const double at = time - dt * u / (u - last);
                if (first < 0)
                    first = at;
                else
                    period = at - first;
            }
            last = u;
        }
        ASSERT_GT(period, 0);
        EXPECT_NEAR(1 / period / expected, 1.0, 0.03) << level;
        std::printf("level %d: axial frequency %+.2f %%\n", level, 100 * (1 / period / expected - 1));
    }
}

TEST(OctreeBody, SurvivesRandomPulls)
{
    for (const char *file : { "meshes/liver_surface.obj", "frames/seal.obj", "compare/sphere_skin.obj" }) {
        Body b(file);
        b.def.base.criterion.max_active = 600;
        b.make();
        std::vector<double> pull(b.x.size());
        b.state.f_ext = pull.data();
        uint64_t seed = 8;
        // as large as Young's modulus on the face of a cell of level 1
        const double h = static_cast<PliOctree *>(pli_body_self(b.body))->tree->size[1],
                     most = b.def.base.material.young * h * h;
        for (int i = 0; i < 60; ++i) {
            if (i % 20 == 0) {
                std::fill(pull.begin(), pull.end(), 0.0);
                for (int n = 0; n < 3; ++n) {
                    const PliIndex cell = PliIndex(pli_random(&seed) % pli_octree_info(b.body).cell_count);
                    for (int k = 0; k < 3; ++k) pull[3 * cell + k] = 2 * most * (pli_random_unit(&seed) - 0.5);
                }
            }
            ASSERT_TRUE(pli_body_step(b.body, &b.state, 0.01).finite) << file << " step " << i;
        }
        PliError err = {};
        EXPECT_TRUE(pli_octree_active_is_valid(&static_cast<PliOctree *>(pli_body_self(b.body))->active, &err))
            << err.text;
    }
}

// A crumb of one cell that touches nothing has no stiffness, so no step is too long for it: events around it once made it NaN.
TEST(OctreeBody, ACrumbThatTouchesNothingSplitsAndStaysFinite)
{
    Body b(0.4, 0.4, 0.4);
    PliBoxDef crumb = {};
    crumb.min[0] = 0.6, crumb.max[0] = 0.7, crumb.max[1] = crumb.max[2] = 0.1;
    for (PliIndex &n : crumb.cells) n = 1;
    PliMesh *more = pli_mesh_box(&b.host, &crumb, nullptr);
    ASSERT_TRUE(more);
    const PliIndex points = b.mesh->point_count, tets = b.mesh->tet_count;
    ASSERT_EQ(pli_mesh_resize_points(b.mesh, points + more->point_count), PLI_OK);
    ASSERT_EQ(pli_mesh_resize_cells(b.mesh, PLI_TET, tets + more->tet_count), PLI_OK);
    std::copy(more->x, more->x + 3 * more->point_count, b.mesh->x + 3 * points);
    for (PliIndex k = 0; k < 4 * more->tet_count; ++k) b.mesh->tets[4 * tets + k] = points + more->tets[k];
    pli_mesh_destroy(more);
    b.def.resolution = 7;
    b.def.base.criterion.kind = PLI_BY_REGION;
    b.def.base.criterion.radius = 10.0;
    for (uint64_t seed = 1; seed <= 10; ++seed) {
        b.make();
        b.stir(0.02, seed);
        for (int k = 0; k < 15; ++k) ASSERT_TRUE(pli_body_step(b.body, &b.state, 0.005).finite) << seed << " " << k;
        EXPECT_GT(pli_body_stats(b.body).refined, 0u);
        for (double x : b.x) ASSERT_TRUE(std::isfinite(x));
        pli_body_destroy(b.body);
        b.body = nullptr;
    }
}

// What is decided is carried out some steps later: in between the body is as before, and what changes it makes the plan be forgotten.
TEST(OctreeBody, APlanChangesNothingUntilItIsCarriedOut)
{
    Body b(1, 1, 0.5);
    b.def.resolution = 16;
    b.def.levels = 3;
    b.def.base.criterion.kind = PLI_BY_REGION;
    b.def.base.criterion.radius = 0.3;
    b.make();
    const PliOctree *s = static_cast<const PliOctree *>(pli_body_self(b.body));
    const PliIndex cells = s->tree->cell_count;
    int planned = 0, carried_out = 0, forgotten = 0, longest = 0, waited = 0;
    for (int i = 0; i < 300; ++i) {
        const double at = 0.5 + 0.5 * std::sin(0.02 * i);
        PliBodyDef def = *pli_body_def(b.body);
        def.criterion.point[0] = at, def.criterion.point[1] = 0.5, def.criterion.point[2] = 0.25;
        ASSERT_EQ(pli_body_retune(b.body, &def, nullptr), PLI_OK);
        const bool pins = i % 37 == 36, had = s->planned_count > 0;
        if (pins) {
            b.hold(i % 2 ? 0 : 1, -0.01, 0.01);
            forgotten += had;
            EXPECT_EQ(s->planned_count, 0u);
        }
        const std::vector<uint8_t> before(s->active.is_active, s->active.is_active + cells);
        const PliStepInfo info = pli_body_step(b.body, &b.state, 0.002);
        ASSERT_TRUE(info.finite) << i;
        const bool changed = std::memcmp(before.data(), s->active.is_active, cells) != 0;
        EXPECT_EQ(changed, info.refined + info.coarsened > 0) << i;
        carried_out += changed, planned += s->planned_count > 0;
        waited = s->planned_count > 0 ? waited + 1 : 0;
        longest = std::max(longest, waited);
        // one set is as good as the other when nothing is planned, and what the operator is made for is always the body's
        if (!s->planned_count) {
            ASSERT_EQ(std::memcmp(s->next_active.is_active, s->active.is_active, cells), 0) << i;
        }
        ASSERT_EQ(s->op.count, s->active.count) << i;
        PliError err = {};
        if (i % 10 == 0) {
            ASSERT_TRUE(pli_octree_active_is_valid(&s->active, &err)) << err.text;
            ASSERT_TRUE(pli_octree_active_is_valid(&s->next_active, &err)) << err.text;
        }
    }
    EXPECT_GT(carried_out, 5);
    EXPECT_GT(planned, carried_out); // they take more than one step each
    EXPECT_GT(forgotten, 0);
    EXPECT_LE(longest, 16); // about eight are meant
}

TEST(OctreeBody, BadInputGetsOneSentence)
{
    PliHost host = pli_host_default();
    PliError err = {};
    Body b(1, 1, 1);
    PliOctreeDef d = b.def;
    d.levels = 9;
    EXPECT_FALSE(pli_octree_create(&host, &d, &err));
    EXPECT_NE(std::string(err.text).find("9"), std::string::npos) << err.text;
    d = b.def, d.base.integrator = PLI_IMPLICIT;
    EXPECT_FALSE(pli_octree_create(&host, &d, &err));
    d = b.def, d.base.material.law = PLI_NEOHOOKEAN;
    EXPECT_FALSE(pli_octree_create(&host, &d, &err));
    d = b.def, d.resolution = 1000;
    EXPECT_FALSE(pli_octree_create(&host, &d, &err));
    EXPECT_NE(std::string(err.text).find("too large"), std::string::npos) << err.text;
    d = b.def, d.mesh = nullptr;
    EXPECT_FALSE(pli_octree_create(&host, &d, &err));
    PliMesh *open = pli_mesh_create(&host);
    ASSERT_EQ(pli_mesh_resize_points(open, 3), PLI_OK);
    ASSERT_EQ(pli_mesh_resize_cells(open, PLI_TRI, 1), PLI_OK);
    open->x[3] = open->x[7] = 1;
    open->tris[1] = 1, open->tris[2] = 2;
    d = b.def, d.mesh = open;
    EXPECT_FALSE(pli_octree_create(&host, &d, &err));
    EXPECT_NE(std::string(err.text).find("open"), std::string::npos) << err.text;
    pli_mesh_destroy(open);
}

TEST(OctreeBody, BadSurfacesGetOneSentence)
{
    PliHost host = pli_host_default();
    PliError err = {};
    PliMesh *surface =
        pli_mesh_read(&host, (std::string(PLIANT_SOURCE_DIR) + "/scenes/compare/box_skin.obj").c_str(), &err);
    ASSERT_TRUE(surface) << err.text;
    PliOctreeDef d = pli_octree_default();
    d.mesh = surface, d.resolution = 8;
    PliBody *body = pli_octree_create(&host, &d, &err);
    EXPECT_TRUE(body) << err.text;
    pli_body_destroy(body);
    // one more point that nothing uses
    const PliIndex points = surface->point_count, tris = surface->tri_count;
    ASSERT_EQ(pli_mesh_resize_points(surface, points + 1), PLI_OK);
    for (int k = 0; k < 3; ++k) surface->x[3 * points + k] = 5;
    EXPECT_FALSE(pli_octree_create(&host, &d, &err));
    EXPECT_NE(std::string(err.text).find("no triangle"), std::string::npos) << err.text;
    // a third triangle at an edge, and a fourth: even, so that lines would go in and out, and still no surface
    ASSERT_EQ(pli_mesh_resize_points(surface, points + 2), PLI_OK);
    for (int k = 0; k < 3; ++k) surface->x[3 * (points + 1) + k] = 6;
    ASSERT_EQ(pli_mesh_resize_cells(surface, PLI_TRI, tris + 4), PLI_OK);
    const PliIndex e[2] = { surface->tris[0], surface->tris[1] };
    const PliIndex fin[12] = { e[0], e[1],   points,     e[1], e[0],       points + 1,
                               e[0], points, points + 1, e[1], points + 1, points };
    std::copy(fin, fin + 12, surface->tris + 3 * tris);
    surface->tri_count = tris + 4;
    EXPECT_FALSE(pli_octree_create(&host, &d, &err));
    EXPECT_NE(std::string(err.text).find("belongs to 4 triangles"), std::string::npos) << err.text;
    EXPECT_NE(std::string(err.text).find("not manifold"), std::string::npos) << err.text;
    surface->tri_count = tris + 1, surface->point_count = points + 1;
    EXPECT_FALSE(pli_octree_create(&host, &d, &err));
    EXPECT_NE(std::string(err.text).find("belongs to 3 triangles"), std::string::npos) << err.text;
    surface->tri_count = tris + 4, surface->point_count = points + 2;
    ASSERT_EQ(pli_mesh_resize_cells(surface, PLI_TRI, tris), PLI_OK);
    ASSERT_EQ(pli_mesh_resize_points(surface, points), PLI_OK);
    d.resolution = 110;
    EXPECT_FALSE(pli_octree_create(&host, &d, &err));
    EXPECT_NE(std::string(err.text).find("1331000 particles"), std::string::npos) << err.text;
    pli_mesh_destroy(surface);
}

/// A free bar that bends, undamped, through splits and merges.
TEST(OctreeBody, SplitsNeverAddEnergy)
{
    Body b(4, 1, 1);
    b.def.base.criterion.threshold = 0.02;
    b.def.base.gravity[1] = 0;
    b.make();
    const PliActive a = pli_body_active(b.body);
    for (PliIndex i = 0; i < a.count; ++i) {
        const double x = b.x[3 * a.dof[i]];
        b.v[3 * a.dof[i] + 1] = 0.5 * (x - 2) * (x - 2);
    }
    const PliEnergy first = pli_body_energy(b.body, b.x.data(), b.v.data());
    double most = 0;
    for (int i = 0; i < 200; ++i) {
        ASSERT_TRUE(pli_body_step(b.body, &b.state, 0.005).finite);
        const PliEnergy e = pli_body_energy(b.body, b.x.data(), b.v.data());
        most = std::max(most, (e.elastic + e.kinetic) / (first.elastic + first.kinetic));
    }
    EXPECT_LT(most, 1.05);
    EXPECT_GT(pli_body_stats(b.body).refined, 10u);
}

} // namespace
