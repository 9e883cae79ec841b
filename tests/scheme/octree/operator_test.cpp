/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <cmath>
#include <memory>

#include "scheme/octree/rig.h"

namespace
{

// u_c = monomial m of ten, and what the Lame operator makes of it: mu Lap u + (lambda + mu) grad div u.
double monomial(int m, const double *p)
{
    const double b[10] = { 1,           p[0],        p[1],        p[2],        p[0] * p[0],
                           p[1] * p[1], p[2] * p[2], p[1] * p[2], p[0] * p[2], p[0] * p[1] };
    return b[m];
}

void lame_of(int m, int c, double mu, double lambda, double out[3])
{
    double second[3][3] = {};
    if (m >= 4 && m < 7) second[m - 4][m - 4] = 2;
    if (m == 7) second[1][2] = second[2][1] = 1;
    if (m == 8) second[0][2] = second[2][0] = 1;
    if (m == 9) second[0][1] = second[1][0] = 1;
    for (int i = 0; i < 3; ++i)
        out[i] = (lambda + mu) * second[c][i] + (i == c ? mu * (second[0][0] + second[1][1] + second[2][2]) : 0.0);
}

/// Largest error at interior points over all quadratic fields, relative to (lambda + 2 mu) V; -1: there is none. `mixed`: of those next to
/// a change of level.
double quadratic_error(OctreeRig &r, PliIndex *interior, PliIndex *mixed)
{
    double worst = -1;
    *interior = *mixed = 0;
    for (int m = 0; m < 10; ++m)
        for (int c = 0; c < 3; ++c) {
            std::vector<double> d(r.values());
            for (PliIndex i = 0; i < r.op.count + r.op.wall_count; ++i) d[3 * i + c] = monomial(m, r.op.rest + 3 * i);
            const std::vector<double> f = r.linear(d);
            double expected[3];
            lame_of(m, c, r.op.lame.mu, r.op.lame.bulk, expected);
            for (PliIndex i = 0; i < r.op.count; ++i) {
                if (!r.is_interior(i)) continue;
                const double volume = r.tree->volume[r.op.cell[i]],
                             scale = volume * (r.op.lame.bulk + 2 * r.op.lame.mu);
                for (int k = 0; k < 3; ++k) {
                    const double e = std::fabs(f[3 * i + k] - volume * expected[k]) / scale;
                    if (!(e <= worst)) worst = e;
                }
                *interior += m == 0 && c == 0;
                if (m || c) continue;
                bool other = false;
                for (PliIndex n = 0; n < r.active.length[r.op.cell[i]]; ++n)
                    other = other || r.tree->cell[pli_octree_neighbour(&r.active, r.op.cell[i], n)].level !=
                                         r.tree->cell[r.op.cell[i]].level;
                *mixed += other;
            }
        }
    return worst;
}

TEST(OctreeOperator, ExactOnQuadraticFieldsInsideALevel)
{
    OctreeRig r(1, 1, 1, 8, 2);
    r.start(1);
    PliIndex interior, mixed;
    EXPECT_LT(quadratic_error(r, &interior, &mixed), 1e-9);
    EXPECT_EQ(interior, 216u);
    EXPECT_EQ(mixed, 0u);
}

TEST(OctreeOperator, ExactOnQuadraticFieldsAcrossLevels)
{
    OctreeRig r(2, 1, 1, 16, 3);
    r.start(1);
    r.refine(0.4, 0.5, 0.5, 0.3);
    PliIndex interior, mixed;
    EXPECT_LT(quadratic_error(r, &interior, &mixed), 1e-9);
    EXPECT_GT(mixed, 20u);
    EXPECT_EQ(r.op.uncorrected, 0u);
    std::printf("%u interior, %u next to another level, %u points, %u tets, %u membranes, %u bars, %u bends, %u "
                "samples, %u corrections with %u entries\n",
                interior, mixed, r.op.count, r.op.tet_count, r.op.membrane_count, r.op.bar_count, r.op.bend_count,
                r.op.sample_count, r.op.correction_count, r.op.entry_count);
}

TEST(OctreeOperator, ForcesAreTheGradientOfTheEnergyOnOneLevel)
{
    for (int wide = 1; wide <= 3; ++wide) {
        OctreeRig r(1, wide / 4.0, wide > 1 ? 0.5 : 0.25, 4, 1);
        r.hold(0);
        for (PliLaw law : { PLI_COROT, PLI_STVK }) {
            r.material.law = law;
            pli_octree_operator_set_material(&r.op, &r.material);
            uint64_t seed = 5;
            std::vector<double> x = r.rest();
            for (PliIndex i = 0; i < 3 * r.op.count; ++i) x[i] += 0.05 * (pli_random_unit(&seed) - 0.5);
            const std::vector<double> f = r.force(x);
            double scale = 0;
            for (double k : f) scale = std::max(scale, std::fabs(k));
            for (PliIndex i = 0; i < 3 * r.op.count; ++i) {
                const double e = 1e-6, keep = x[i];
                x[i] = keep + e;
                const double up = pli_octree_energy(&r.op, x.data());
                x[i] = keep - e;
                const double down = pli_octree_energy(&r.op, x.data());
                x[i] = keep;
                EXPECT_NEAR(f[i], -(up - down) / (2 * e), 1e-6 * scale) << wide << " " << i;
            }
        }
    }
}

TEST(OctreeOperator, LinearOperatorIsTheDerivativeAtRestAndSymmetricOnOneLevel)
{
    OctreeRig r(1, 0.75, 0.5, 4, 1);
    r.hold(0);
    const size_t n = 3 * r.op.count;
    std::vector<double> k(n * n);
    double scale = 0;
    for (size_t j = 0; j < n; ++j) {
        std::vector<double> d(r.values()), x = r.rest();
        d[j] = 1;
        const std::vector<double> f = r.linear(d);
        const double e = 1e-6;
        x[j] += e;
        const std::vector<double> up = r.force(x);
        x[j] -= 2 * e;
        const std::vector<double> down = r.force(x);
        for (size_t i = 0; i < n; ++i) k[i * n + j] = f[i], scale = std::max(scale, std::fabs(f[i]));
        for (size_t i = 0; i < n; ++i) EXPECT_NEAR(f[i], (up[i] - down[i]) / (2 * e), 1e-6 * scale);
    }
    for (size_t i = 0; i < n; ++i)
        for (size_t j = 0; j < i; ++j) EXPECT_NEAR(k[i * n + j], k[j * n + i], 1e-12 * scale);
}

TEST(OctreeOperator, MomentumAndAngularMomentumHoldOnAnySet)
{
    for (int seed = 1; seed <= 12; ++seed) {
        OctreeRig r = seed % 2 ? OctreeRig(2, 1, 0.5, 16, 4) : OctreeRig("meshes/liver_surface.obj", 16, 3);
        r.random(uint64_t(seed), 10 * seed);
        uint64_t random = uint64_t(seed);
        std::vector<double> x = r.rest();
        const double h = r.tree->size[r.tree->level_count - 1];
        for (double &k : x) k += 0.1 * h * (pli_random_unit(&random) - 0.5);
        const std::vector<double> f = r.force(x);
        double sum[3] = {}, torque[3] = {}, size = 0, arm = 0;
        for (PliIndex i = 0; i < r.op.count; ++i) {
            double t[3];
            v3_cross(t, &x[3 * i], &f[3 * i]);
            v3_add(torque, torque, t);
            v3_add(sum, sum, &f[3 * i]);
            size += v3_norm(&f[3 * i]);
            arm = std::max(arm, v3_norm(&x[3 * i]));
        }
        for (int k = 0; k < 3; ++k) {
            EXPECT_NEAR(sum[k], 0, 1e-12 * size);
            EXPECT_NEAR(torque[k], 0, 1e-8 * size * arm) << seed;
        }
    }
}

TEST(OctreeOperator, RigidMotionsAreFreeOfForce)
{
    for (int seed = 1; seed <= 6; ++seed) {
        OctreeRig r = seed % 2 ? OctreeRig(2, 1, 0.5, 16, 4) : OctreeRig("meshes/liver_surface.obj", 16, 3);
        r.random(uint64_t(seed), 10 * seed);
        const double c = std::cos(1.0), s = std::sin(1.0);
        std::vector<double> x = r.rest(), stretched = x;
        for (PliIndex i = 0; i < r.op.count; ++i) {
            const double *p = r.op.rest + 3 * i;
            x[3 * i] = c * p[0] - s * p[1] + 3, x[3 * i + 1] = s * p[0] + c * p[1], x[3 * i + 2] = p[2] - 1;
            stretched[3 * i] *= 1.01;
        }
        const std::vector<double> f = r.force(x), g = r.force(stretched);
        double worst = 0, scale = 0;
        for (double k : f) worst = std::max(worst, std::fabs(k));
        for (double k : g) scale = std::max(scale, std::fabs(k));
        EXPECT_LT(worst, 1e-9 * scale) << seed;
    }
}

/// Corrections with their entries, as bytes.
std::vector<unsigned char> corrections_of(const PliOctreeOperator &o)
{
    std::vector<unsigned char> out;
    const auto add = [&](const void *from, size_t bytes) {
        const auto *p = static_cast<const unsigned char *>(from);
        out.insert(out.end(), p, p + bytes);
    };
    for (PliIndex i = 0; i < o.correction_count; ++i) {
        const PliOctreeCorrection &c = o.correction[i];
        for (PliIndex k : { c.plus, c.minus, c.first, c.count, PliIndex(c.side) }) add(&k, sizeof k);
        add(c.at_rest, sizeof c.at_rest);
    }
    add(o.entry_point, o.entry_count * sizeof *o.entry_point);
    add(o.entry_grad, PLI_OCTREE_GRAD * size_t(o.entry_count) * sizeof *o.entry_grad);
    add(o.entry_block, PLI_OCTREE_BLOCK * size_t(o.entry_count) * sizeof *o.entry_block);
    return out;
}

// Of a stretched shape, by all elements.
std::vector<double> forces_of(PliOctreeOperator &o)
{
    const PliIndex points = o.count + o.extra + o.wall_count;
    std::vector<double> x(3 * size_t(points)), f(3 * size_t(points), 0.0);
    uint64_t seed = 5;
    for (size_t k = 0; k < x.size(); ++k) x[k] = 1.1 * o.rest[k] + 0.01 * pli_random_unit(&seed);
    pli_octree_add_force(&o, x.data(), nullptr, f.data());
    f.push_back(pli_octree_energy(&o, x.data()));
    return f;
}

// Corrections whose surroundings stay are taken over from the operator before.
TEST(OctreeOperator, WhatIsTakenOverHasTheBitsOfWhatIsMadeAnew)
{
    for (int shape = 0; shape < 2; ++shape) {
        std::unique_ptr<OctreeRig> r(shape ? new OctreeRig(2, 1, 1, 16, 3) : new OctreeRig(1, 1, 1, 16, 3));
        if (shape) r->start(1);
        uint64_t seed = 7 + uint64_t(shape);
        PliIndex taken = 0, all = 0;
        for (int round = 0; round < 60; ++round) {
            for (int k = 0; k < 1 + round % 3; ++k) {
                const PliIndex c = PliIndex(pli_random(&seed) % r->tree->cell_count);
                if (r->active.is_active[c] && pli_octree_has_children(r->tree, c))
                    r->split(c);
                else if (round > 20 && pli_octree_may_merge(&r->active, c))
                    pli_octree_merge(&r->active, c);
            }
            for (PliIndex w = 0; round % 11 == 10 && w < r->tree->wall_count; ++w)
                if (r->tree->wall_side[w] == round % 6) r->held[w] ^= 1;
            if (round == 30) {
                r->material.young *= 3.0;
                pli_octree_operator_set_material(&r->op, &r->material);
                pli_octree_operator_set_material(&r->spare, &r->material);
            }
            r->remake(round % 2 ? 7.0 : INFINITY);
            const std::vector<unsigned char> as_it_is = corrections_of(r->op);
            taken += r->op.kept_count, all += r->op.correction_count;
            if (round == 30) {
                EXPECT_EQ(r->op.kept_count, 0u);
            }
            pli_octree_operator_build(&r->spare, r->held.data());
            EXPECT_EQ(r->spare.kept_count, 0u);
            ASSERT_EQ(as_it_is, corrections_of(r->spare)) << "round " << round << " of shape " << shape;
            ASSERT_EQ(forces_of(r->op), forces_of(r->spare)) << "round " << round << " of shape " << shape;
        }
        EXPECT_GT(taken, all / 4) << "shape " << shape;
        EXPECT_LT(taken, all);
    }
}

// What an event changes of the energy is in the elements that touch what comes or goes; and these alone pull at what came.
TEST(OctreeOperator, ElementsNearAnEventHoldAllThatItChanges)
{
    for (int shape = 0; shape < 2; ++shape) {
        std::unique_ptr<OctreeRig> r(shape ? new OctreeRig(2, 0.25, 0.25, 16, 3) : new OctreeRig(1, 1, 1, 12, 3));
        uint64_t seed = 3 + uint64_t(shape);
        const auto place = [&](const double *p, double out[3]) { // a smooth shape that is known everywhere
            for (int a = 0; a < 3; ++a) out[a] = 1.1 * p[a] + 0.05 * p[(a + 1) % 3] * p[(a + 2) % 3];
        };
        const auto shape_of = [&](const PliOctreeOperator &o) {
            std::vector<double> x(3 * size_t(o.count + o.extra + o.wall_count));
            for (size_t k = 0; k < x.size(); k += 3) place(o.rest + k, x.data() + k);
            return x;
        };
        int events = 0;
        for (int round = 0; round < 40; ++round) {
            const std::vector<uint8_t> before(r->active.is_active, r->active.is_active + r->tree->cell_count);
            const std::vector<double> x = shape_of(r->op);
            for (int k = 0; k < 40; ++k) {
                const PliIndex c = PliIndex(pli_random(&seed) % r->tree->level_first[2]); // those that have daughters
                if (k % 8 == 0 && r->active.is_active[c] && pli_octree_has_children(r->tree, c))
                    r->split(c), events++;
                else if (k % 8 == 4 && round > 10 && pli_octree_may_merge(&r->active, c))
                    pli_octree_merge(&r->active, c), events++;
            }
            std::vector<uint8_t> mark(r->tree->cell_count, 0);
            for (PliIndex i = 0; i < r->op.count; ++i) mark[i] = !r->active.is_active[r->op.cell[i]];
            pli_octree_find_near(&r->op, mark.data());
            const double whole_was = pli_octree_energy(&r->op, x.data()),
                         near_was = pli_octree_near_energy(&r->op, x.data());
            r->remake(50.0);
            const std::vector<double> y = shape_of(r->op);
            for (PliIndex i = 0; i < r->op.count; ++i) mark[i] = !before[r->op.cell[i]];
            pli_octree_find_near(&r->op, mark.data());
            const double whole = pli_octree_energy(&r->op, y.data()), near = pli_octree_near_energy(&r->op, y.data());
            ASSERT_NEAR(near - near_was, whole - whole_was, 1e-11 * whole) << "round " << round;
            std::vector<double> all(y.size(), 0.0), some(y.size(), 0.0);
            pli_octree_add_force(&r->op, y.data(), nullptr, all.data());
            pli_octree_add_near_force(&r->op, y.data(), some.data());
            double largest = 0.0,
                   off = 0.0; // the torque of corrections is taken out of the whole: a little on each particle
            for (PliIndex i = 0; i < r->op.count; ++i)
                for (int a = 0; a < 3; ++a) {
                    largest = std::max(largest, std::fabs(all[3 * i + a]));
                    if (mark[i]) off = std::max(off, std::fabs(all[3 * i + a] - some[3 * i + a]));
                }
            EXPECT_LT(off, 0.02 * largest) << "round " << round;
        }
        EXPECT_GT(events, 20);
    }
}

TEST(OctreeOperator, PaperOperatorsAreThePrintedOnes)
{
    OctreeRig r(1, 1, 1, 8, 3, true);
    r.start(1);
    r.random(3, 40);
    uint64_t seed = 9;
    std::vector<double> x = r.rest(), f(r.values());
    for (double &k : x) k += 0.1 * (pli_random_unit(&seed) - 0.5);
    pli_octree_add_force(&r.op, x.data(), nullptr, f.data());
    const double mu = r.op.lame.mu, lambda = r.op.lame.bulk;
    for (PliIndex i = 0; i < r.op.count; ++i) {
        double lap[3] = {}, radial[3] = {}, total = 0;
        for (PliIndex j = 0; j < r.op.count; ++j) { // neighbours by brute force
            const PliOctreeCell &p = r.tree->cell[r.op.cell[i]], &q = r.tree->cell[r.op.cell[j]];
            bool touch = i != j;
            for (int a = 0; a < 3; ++a) {
                const double hp = r.tree->size[p.level], hq = r.tree->size[q.level];
                touch = touch && p.at[a] * hp < (q.at[a] + 1) * hq + 1e-9 && q.at[a] * hq < (p.at[a] + 1) * hp + 1e-9;
            }
            if (!touch) continue;
            double l[3], d[3];
            for (int k = 0; k < 3; ++k) {
                l[k] = r.op.rest[3 * i + k] - r.op.rest[3 * j + k];
                d[k] = (x[3 * j + k] - r.op.rest[3 * j + k]) - (x[3 * i + k] - r.op.rest[3 * i + k]);
            }
            const double length = v3_norm(l);
            total += length;
            for (int k = 0; k < 3; ++k)
                lap[k] += d[k] / length, radial[k] += v3_dot(d, l) / length * l[k] / length / length;
        }
        for (int k = 0; k < 3; ++k) {
            const double a = (mu * 2 / total * lap[k] + (lambda + mu) * 2 / total * radial[k]) / r.material.density;
            EXPECT_NEAR(f[3 * i + k] / r.op.mass[i], a, 1e-11 * (std::fabs(a) + lambda));
        }
    }
}

} // namespace

namespace
{
void add_box(PliMesh *m, const double low[3], const double high[3])
{
    PliHost host = pli_host_default();
    PliBoxDef box = {};
    for (int a = 0; a < 3; ++a) box.min[a] = low[a], box.max[a] = high[a], box.cells[a] = 1;
    PliMesh *more = pli_mesh_box(&host, &box, nullptr);
    ASSERT_TRUE(more);
    const PliIndex points = m->point_count, tets = m->tet_count;
    ASSERT_EQ(pli_mesh_resize_points(m, points + more->point_count), PLI_OK);
    ASSERT_EQ(pli_mesh_resize_cells(m, PLI_TET, tets + more->tet_count), PLI_OK);
    std::copy(more->x, more->x + 3 * more->point_count, m->x + 3 * points);
    for (PliIndex k = 0; k < 4 * more->tet_count; ++k) m->tets[4 * tets + k] = points + more->tets[k];
    pli_mesh_destroy(more);
}

/// A trunk with twigs of one to three finest cells, anywhere on it.
PliMesh *branched(uint64_t seed)
{
    PliHost host = pli_host_default();
    PliMesh *m = pli_mesh_create(&host);
    const double low[3] = { 0, 0, 0 }, high[3] = { 32, 6, 6 };
    add_box(m, low, high);
    for (int k = 0; k < 12; ++k) {
        double a[3], b[3];
        const int along = 1 + k % 2, up = k / 2 % 2;
        for (int d = 0; d < 3; ++d) {
            a[d] = double(pli_random(&seed) % (d ? 4 : 29));
            b[d] = a[d] + 1 + double(pli_random(&seed) % 3);
        }
        a[along] = up ? 6 : -8, b[along] = up ? 14 : 0;
        add_box(m, a, b);
    }
    return m;
}
} // namespace

// Finer particles in one row beside a coarse one have no extent across it; rounding once gave them one, and a hinge with arms of
// 1e-17 of a cell.
TEST(OctreeOperator, NothingInABranchedBodyIsStifferThanItsCells)
{
    PliIndex hinges = 0;
    for (uint64_t seed = 45; seed <= 60; ++seed) {
        OctreeRig r(branched(seed), 32, 4);
        r.random(seed, 40);
        const double wave = std::sqrt((r.op.lame.bulk + 2 * r.op.lame.mu) / r.material.density);
        for (PliIndex i = 0; i < r.op.count; ++i) ASSERT_GT(r.op.step[i], 0.02 * r.tree->size[3] / wave) << seed;
        hinges += r.op.hinge_count;
    }
    EXPECT_GT(hinges, 0u);
}
