/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Laws of the elastic kernel: energy, force and derivative agree; motions without strain cost nothing; closed forms.
#include "kernel/fixture.h"
#include "support/fold.h"

namespace
{

class Law : public testing::TestWithParam<int>
{
  protected:
    PliLaw law() const { return PliLaw(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(All, Law, testing::Range(0, int(PLI_LAW_COUNT)), [](const testing::TestParamInfo<int> &i) {
    return std::string(i.param == PLI_STVK ? "stvk" : i.param == PLI_COROT ? "corotational" : "neohookean");
});

/// -dE along d by central differences with one Richardson step: error O(h^4).
double energy_slope(PliElastic *e, const Vec &x, const Vec &d, double h)
{
    auto at = [&](double s) {
        Vec y = x;
        for (size_t i = 0; i < y.size(); ++i) y[i] += s * d[i];
        return pli_elastic_energy(e, y.data());
    };
    double one = (at(h) - at(-h)) / (2 * h), two = (at(2 * h) - at(-2 * h)) / (4 * h);
    return -(4 * one - two) / 3;
}

Vec force_slope(PliElastic *e, const Vec &x, const Vec &d, double h)
{
    auto at = [&](double s) {
        Vec y = x;
        for (size_t i = 0; i < y.size(); ++i) y[i] += s * d[i];
        return force(e, y);
    };
    Vec a = at(h), b = at(-h), c = at(2 * h), f = at(-2 * h);
    for (size_t i = 0; i < a.size(); ++i) a[i] = (4 * (a[i] - b[i]) / (2 * h) - (c[i] - f[i]) / (4 * h)) / 3;
    return a;
}

// 0.06 of the unit box over cells of 1/3: strains of some 20 %; 0.3 turns a few elements inside out.
TEST_P(Law, ForceIsMinusTheGradientOfEnergy)
{
    Box box(3);
    Elastic e = make_elastic(box, material(law()));
    for (double amount : { 0.06, 0.15 }) {
        Vec x = box.deformed(amount), f = force(e.get(), x);
        for (uint64_t seed : { 11, 12, 13, 14 }) {
            Vec d = random_vec(x.size(), seed);
            double expected = dot(f, d);
            EXPECT_NEAR(energy_slope(e.get(), x, d, 1e-4), expected, 1e-6 * norm(f) * norm(d)) << "amount " << amount;
        }
    }
}

TEST_P(Law, DerivativeOfForce)
{
    Box box(3);
    Elastic e = make_elastic(box, material(law()));
    for (double amount : { 0.0, 0.06, 0.15 }) {
        Vec x = box.deformed(amount);
        pli_elastic_linearize(e.get(), x.data());
        for (uint64_t seed : { 21, 22 }) {
            Vec d = random_vec(x.size(), seed), exact = dforce(e.get(), d);
            EXPECT_LT(distance(force_slope(e.get(), x, d, 2e-5), exact), 1e-6 * norm(exact)) << "amount " << amount;
        }
    }
}

TEST_P(Law, DerivativeIsSymmetricAndScales)
{
    Box box(3);
    Elastic e = make_elastic(box, material(law()));
    Vec x = box.deformed(0.1);
    pli_elastic_linearize(e.get(), x.data());
    Vec a = random_vec(x.size(), 31), b = random_vec(x.size(), 32), ka = dforce(e.get(), a), kb = dforce(e.get(), b);
    EXPECT_NEAR(dot(ka, b), dot(kb, a), 1e-12 * norm(ka) * norm(b));
    Vec twice = dforce(e.get(), a, -2.0);
    for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(twice[i], -2.0 * ka[i], 1e-9);
}

TEST_P(Law, RigidMotionCostsNothing)
{
    Box box(3);
    Elastic e = make_elastic(box, material(law()));
    Vec deformed = box.deformed(0.05);
    double scale = norm(force(e.get(), deformed)), energy = pli_elastic_energy(e.get(), deformed.data());
    for (double angle : { 0.0, 0.5, 2.0, 3.14159 }) {
        Vec x = rigid(box.rest_points, angle);
        EXPECT_LT(norm(force(e.get(), x)), 1e-11 * scale) << angle;
        EXPECT_NEAR(pli_elastic_energy(e.get(), x.data()), 0.0, 1e-12 * energy) << angle;
        // and a rotated deformed body has the energy of the deformed one
        EXPECT_NEAR(pli_elastic_energy(e.get(), rigid(deformed, angle).data()), energy, 1e-12 * energy) << angle;
    }
}

TEST_P(Law, ForcesAndTorquesSumToZero)
{
    Box box(3);
    Elastic e = make_elastic(box, material(law(), 0.01));
    for (double amount : { 0.1, 0.6 }) {
        Vec x = box.deformed(amount), v = random_vec(x.size(), 41), f = force(e.get(), x, v.data());
        double sum[3] = {}, torque[3] = {};
        for (size_t p = 0; p < x.size(); p += 3)
            for (int i = 0; i < 3; ++i) {
                int j = (i + 1) % 3, k = (i + 2) % 3;
                sum[i] += f[p + i];
                torque[i] += x[p + j] * f[p + k] - x[p + k] * f[p + j];
            }
        for (int i = 0; i < 3; ++i) {
            EXPECT_NEAR(sum[i], 0.0, 1e-12 * norm(f));
            EXPECT_NEAR(torque[i], 0.0, 1e-12 * norm(f));
        }
    }
}

// All laws are Hooke's law with the same constants for small strains: F = I + d gives P = lambda tr(d) I + 2 mu sym(d).
TEST_P(Law, SmallStrainIsHooke)
{
    Box box(1);
    PliMaterial m = material(law());
    Elastic e = make_elastic(box, m, PLI_SIMD_AVX512, nullptr, false);
    double mu = m.young / (2 * (1 + m.poisson)), lambda = m.young * m.poisson / ((1 + m.poisson) * (1 - 2 * m.poisson));
    const double h = 1e-6, d[9] = { 0.3, -0.2, 0.5, 0.7, -0.4, 0.1, 0.2, 0.6, 0.9 };
    Vec x = box.rest_points, expected(x.size(), 0.0);
    for (size_t p = 0; p < x.size(); p += 3)
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) x[p + i] += h * d[3 * i + j] * box.rest_points[p + j];
    for (PliIndex t = 0; t < box.count; ++t)
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) {
                double stress =
                    mu * h * (d[3 * i + j] + d[3 * j + i]) + (i == j ? lambda * h * (d[0] + d[4] + d[8]) : 0.0);
                const double *g = box.rest[t].grad;
                for (int a = 0; a < 4; ++a) {
                    double ga = a ? g[3 * a - 3 + j] : -(g[j] + g[3 + j] + g[6 + j]);
                    expected[3 * box.tets[4 * t + a] + i] -= box.volume[t] * stress * ga;
                }
            }
    EXPECT_LT(distance(force(e.get(), x), expected), 1e-5 * norm(expected)); // quadratic terms are of order h
}

// Uniaxial stress of St. Venant-Kirchhoff: P = E s (s^2 - 1)/2 along the axis, lateral stretch sqrt(1 - nu (s^2 - 1)).
TEST(Elastic, UniaxialStretchClosedForm)
{
    Box box(2);
    PliMaterial m = material(PLI_STVK);
    Elastic e = make_elastic(box, m, PLI_SIMD_AVX512, nullptr, false);
    double volume = 0.0;
    for (double v : box.volume) volume += v;
    const double stretch[] = { 0.8, 0.9, 1.1, 1.2, 1.5 }, expected[] = { -0.144, -0.0855, 0.1155, 0.264, 0.9375 };
    for (int n = 0; n < 5; ++n) {
        double s = stretch[n], lateral = std::sqrt(1 - m.poisson * (s * s - 1));
        Vec x = box.rest_points;
        for (size_t p = 0; p < x.size(); p += 3) x[p] *= s, x[p + 1] *= lateral, x[p + 2] *= lateral;
        Vec f = force(e.get(), x);
        // virtual work of the rest positions is volume x P, component by component
        double P[9] = {};
        for (size_t p = 0; p < x.size(); p += 3)
            for (int i = 0; i < 3; ++i)
                for (int j = 0; j < 3; ++j) P[3 * i + j] -= f[p + i] * box.rest_points[p + j] / volume;
        EXPECT_NEAR(P[0] / m.young, expected[n], 1e-12);
        for (int k = 1; k < 9; ++k) EXPECT_NEAR(P[k] / m.young, 0.0, 1e-12);
        // true stress: force over deformed area
        EXPECT_NEAR(pli_elastic_tet_von_mises(e.get(), 3, x.data()), std::abs(P[0]) / (lateral * lateral),
                    1e-8 * m.young);
    }
}

TEST_P(Law, DampingDissipatesAndSparesRigidMotion)
{
    Box box(3);
    PliMaterial m = material(law(), 0.02);
    Elastic damped = make_elastic(box, m), dry = make_elastic(box, material(law()));
    Vec x = box.deformed(0.1), base = force(dry.get(), x);
    EXPECT_TRUE(same_bits(base, force(damped.get(), x))) << "no velocity given: no viscous force";
    for (uint64_t seed : { 51, 52, 53 }) {
        Vec v = random_vec(x.size(), seed), f = force(damped.get(), x, v.data());
        for (size_t i = 0; i < f.size(); ++i) f[i] -= base[i];
        EXPECT_LT(dot(f, v), -0.01 * norm(f) * norm(v));
        // linear in the velocity
        Vec w = v;
        for (double &c : w) c *= -3.0;
        Vec g = force(damped.get(), x, w.data());
        for (size_t i = 0; i < f.size(); ++i) EXPECT_NEAR(g[i] - base[i], -3.0 * f[i], 1e-10 * norm(f));
    }
    // v = w x p + t is a rigid velocity of any shape
    Vec v(x.size());
    for (size_t p = 0; p < x.size(); p += 3)
        for (int i = 0; i < 3; ++i) {
            const double w[3] = { 1.0, -2.0, 0.5 };
            v[p + i] = w[(i + 1) % 3] * x[p + (i + 2) % 3] - w[(i + 2) % 3] * x[p + (i + 1) % 3] + 0.7;
        }
    EXPECT_LT(distance(force(damped.get(), x, v.data()), base), 1e-12 * norm(base));
}

// At rest, viscous forces are `damping` times the elastic forces of the same field: the viscosities are scaled Lame constants.
TEST_P(Law, DampingIsProportionalToStiffness)
{
    Box box(2);
    Elastic e = make_elastic(box, material(law(), 0.02));
    Vec v = random_vec(box.rest_points.size(), 55);
    Vec viscous = force(e.get(), box.rest_points, v.data());
    pli_elastic_linearize(e.get(), box.rest_points.data());
    EXPECT_LT(distance(viscous, dforce(e.get(), v, 0.02)), 1e-10 * norm(viscous));
}

TEST_P(Law, RestResponseIsTheDerivativeAtRest)
{
    Box box(3);
    Elastic e = make_elastic(box, material(law(), 0.0));
    const Vec u = random_vec(box.rest_points.size(), 5);
    Vec response(u.size(), 0.0);
    pli_elastic_linearize(e.get(), box.rest_points.data());
    const Vec tangent = dforce(e.get(), u, -1.0);
    pli_elastic_add_rest_response(e.get(), u.data(), response.data());
    for (size_t i = 0; i < u.size(); ++i) EXPECT_NEAR(response[i], tangent[i], 1e-9 * std::sqrt(dot(tangent, tangent)));
}

/// Four corners: no motion meets more than four times the stiffness lumped at them.
TEST_P(Law, LumpedStiffnessBoundsTheDerivative)
{
    Box box(2);
    Elastic e = make_elastic(box, material(law(), 0.01));
    for (double amount : { 0.0, 0.05, 0.2, 0.4 }) {
        const Vec x = box.deformed(amount);
        Vec lumped(box.points, 0.0), most(3 * box.points);
        pli_elastic_add_lumped(e.get(), x.data(), lumped.data(), nullptr);
        for (size_t i = 0; i < most.size(); ++i) most[i] = lumped[i / 3];
        pli_elastic_linearize(e.get(), x.data());
        Vec u = random_vec(most.size(), 11);
        double theta = 0.0; // of the scaled tangent, by a power iteration
        for (int k = 0; k < 200; ++k) {
            const double size = std::sqrt(dot(u, u));
            for (size_t i = 0; i < u.size(); ++i) u[i] /= size * std::sqrt(most[i]);
            const Vec f = dforce(e.get(), u, -1.0);
            for (size_t i = 0; i < u.size(); ++i) u[i] = f[i] / std::sqrt(most[i]);
            theta = std::sqrt(dot(u, u));
        }
        EXPECT_LT(theta, 4.0) << amount;
        EXPECT_GT(theta, 0.5) << amount << ": and is not far above it";
    }
}

TEST_P(Law, ProjectionMakesTheTangentNegative)
{
    Box box(3);
    Elastic e = make_elastic(box, material(law()));
    Vec x = box.deformed(0.25);
    bool indefinite = false;
    for (bool project : { false, true }) {
        pli_elastic_set_project(e.get(), project);
        pli_elastic_linearize(e.get(), x.data());
        // element by element: the quadratic form along the most positive direction, by power iteration on K + c I
        struct Worst {
            double value;
        } worst = { -1e300 };
        pli_elastic_element_matrices(
            e.get(),
            [](const PliIndex *, PliIndex n, const double *k, void *user) {
                double c = 0.0, q = 0.0;
                for (PliIndex i = 0; i < 3 * n; ++i) {
                    double row = 0.0;
                    for (PliIndex j = 0; j < 3 * n; ++j) row += std::abs(k[i * 3 * n + j]);
                    c = largest_of(c, row);
                }
                Vec a = random_vec(3 * n, 61), b(3 * n);
                for (int iteration = 0; iteration < 400; ++iteration) {
                    for (PliIndex i = 0; i < 3 * n; ++i) {
                        b[i] = c * a[i];
                        for (PliIndex j = 0; j < 3 * n; ++j) b[i] += k[i * 3 * n + j] * a[j];
                    }
                    q = norm(b);
                    for (PliIndex i = 0; i < 3 * n; ++i) a[i] = b[i] / q;
                }
                auto *w = static_cast<Worst *>(user);
                w->value = largest_of(w->value, (q - c) / c);
            },
            &worst);
        if (project)
            EXPECT_LT(worst.value, 1e-9);
        else
            indefinite = worst.value > 1e-3;
    }
    EXPECT_TRUE(indefinite) << "the state must need the projection, or the test shows nothing";
}

struct Assembly {
    const Vec *d;
    Vec f;
    PliIndex seen;
};
void assemble(const PliIndex *point, PliIndex n, const double *k, void *user)
{
    auto *a = static_cast<Assembly *>(user);
    for (PliIndex r = 0; r < 3 * n; ++r)
        for (PliIndex c = 0; c < 3 * n; ++c)
            a->f[3 * point[r / 3] + r % 3] += k[r * 3 * n + c] * (*a->d)[3 * point[c / 3] + c % 3];
    a->seen++;
}

TEST_P(Law, ElementMatricesAreTheDerivative)
{
    Box box(2);
    Vec x = box.deformed(0.1), d = random_vec(x.size(), 71);
    Vec s0 = random_vec(6 * box.count, 72, 100.0), f0 = random_vec(9 * box.count, 73, 0.05);
    for (bool samples : { false, true }) {
        Elastic e =
            samples ? make_samples(box, material(law()), f0.data(), s0.data()) : make_elastic(box, material(law()));
        pli_elastic_linearize(e.get(), x.data());
        Vec expected = dforce(e.get(), d);
        Assembly a = { &d, Vec(x.size(), 0.0), 0 };
        pli_elastic_element_matrices(e.get(), assemble, &a);
        EXPECT_EQ(a.seen, box.count);
        EXPECT_LT(distance(a.f, expected), 1e-12 * norm(expected)) << (samples ? "samples" : "tets");
    }
}

/// K d by the blocks of pairs of corners, every block in a place of its own, some of them transposed.
Vec placed_product(const PliElastic *e, const Box &box, const Vec &d, double factor)
{
    static const int row[] = { 1, 2, 3, 2, 3, 3 }, column[] = { 0, 0, 0, 1, 1, 2 };
    std::vector<PliIndex> place(PLI_CORNER_PAIRS * size_t(box.count));
    for (size_t k = 0; k < place.size(); ++k) place[k] = PliIndex(k) | (k % 7 == 3 ? PLI_PLACE_MIRRORED : 0u);
    Vec value(9 * place.size(), 0.0), f(d.size(), 0.0);
    pli_elastic_add_tet_blocks(e, factor, place.data(), value.data());
    for (size_t k = 0; k < place.size(); ++k) {
        const size_t t = k / PLI_CORNER_PAIRS, q = k % PLI_CORNER_PAIRS;
        const size_t r = 3 * size_t(box.tets[4 * t + row[q]]), c = 3 * size_t(box.tets[4 * t + column[q]]);
        for (size_t i = 0; i < 3; ++i)
            for (size_t j = 0; j < 3; ++j) {
                const double v = value[9 * k + (k % 7 == 3 ? 3 * j + i : 3 * i + j)];
                f[r + i] += v * (d[c + j] - d[r + j]); // rows sum to zero
                f[c + j] += v * (d[r + i] - d[c + i]);
            }
    }
    return f;
}

TEST_P(Law, PlacedBlocksAreTheDerivative)
{
    Box box(3);
    const Vec x = box.deformed(0.1), d = random_vec(x.size(), 71);
    Elastic e = make_elastic(box, material(law()));
    pli_elastic_linearize(e.get(), x.data());
    const Vec f = placed_product(e.get(), box, d, -0.3);
    Vec expected = dforce(e.get(), d);
    for (double &c : expected) c *= -0.3;
    EXPECT_LT(distance(f, expected), 1e-12 * norm(expected));
}

// Without negative eigenvalues. Stretched bodies have none: nothing may change, with stretches that are all different, two alike or all.
TEST_P(Law, DefiniteBlocksAreTheDerivativeWhereThatIsDefinite)
{
    Box box(3);
    Elastic e = make_elastic(box, material(law()));
    const Vec stretches[] = { { 1.0, 1.0, 1.0 }, { 1.2, 1.2, 1.2 }, { 1.3, 1.3, 1.1 }, { 1.1, 1.25, 1.4 } };
    for (const Vec &stretch : stretches) {
        Vec x = box.rest_points;
        const double share = law() == PLI_NEOHOOKEAN ? 0.05 : 1.0; // its volume resists, which makes shear unstable
        for (size_t i = 0; i < x.size(); ++i) x[i] *= 1.0 + share * (stretch[i % 3] - 1.0);
        const Vec d = random_vec(x.size(), 72);
        pli_elastic_set_project(e.get(), true);
        pli_elastic_linearize(e.get(), x.data());
        const Vec f = placed_product(e.get(), box, d, 1.0);
        pli_elastic_set_project(e.get(), false);
        pli_elastic_linearize(e.get(), x.data());
        const Vec expected = dforce(e.get(), d);
        EXPECT_LT(distance(f, expected), 1e-7 * norm(expected)) << stretch[0] << " " << stretch[1] << " " << stretch[2];
    }
}

// Compressed and turned about: no direction has negative stiffness, and the blocks are those of the tangents that products are made with.
TEST_P(Law, DefiniteBlocksHaveNoNegativeDirection)
{
    Box box(3);
    Elastic e = make_elastic(box, material(law()));
    pli_elastic_set_project(e.get(), true);
    for (double amount : { 0.1, 0.3, 0.9 }) {
        const Vec x = box.deformed(amount);
        pli_elastic_linearize(e.get(), x.data());
        const Vec d = random_vec(x.size(), 73), f = placed_product(e.get(), box, d, -1.0);
        Vec expected = dforce(e.get(), d);
        for (double &c : expected) c *= -1.0;
        EXPECT_LT(distance(f, expected), (law() == PLI_COROT ? 1e-6 : 1e-3) * norm(expected)) << amount;
        for (uint64_t seed = 100; seed < 120; ++seed) {
            const Vec way = random_vec(x.size(), seed);
            EXPECT_GT(dot(way, placed_product(e.get(), box, way, -1.0)), 0.0);
        }
        PliIndex found, first, count, where;
        force(e.get(), x);
        found = pli_elastic_inverted(e.get(), x.data(), &first);
        if (law() == PLI_STVK) continue;
        ASSERT_TRUE(pli_elastic_noted_inverted(e.get(), &count, &where)); // forces tell on the way
        EXPECT_EQ(count, found);
        EXPECT_EQ(where, first);
    }
}

TEST_P(Law, SamplesEqualTetrahedra)
{
    Box box(3);
    PliMaterial m = material(law(), 0.01);
    Elastic tets = make_elastic(box, m), samples = make_samples(box, m);
    for (double amount : { 0.1, 0.8 }) {
        Vec x = box.deformed(amount), v = random_vec(x.size(), 81);
        Vec a = force(tets.get(), x, v.data()), b = force(samples.get(), x, v.data());
        EXPECT_LT(distance(a, b), 1e-11 * norm(a));
        double energy = pli_elastic_energy(tets.get(), x.data());
        EXPECT_NEAR(energy, pli_elastic_energy(samples.get(), x.data()), 1e-11 * energy);
        PliIndex first_a, first_b;
        EXPECT_EQ(pli_elastic_inverted(tets.get(), x.data(), &first_a),
                  pli_elastic_inverted(samples.get(), x.data(), &first_b));
        EXPECT_EQ(first_a, first_b);
        pli_elastic_linearize(tets.get(), x.data());
        pli_elastic_linearize(samples.get(), x.data());
        Vec c = dforce(tets.get(), v), d = dforce(samples.get(), v);
        EXPECT_LT(distance(c, d), 1e-8 * norm(c)); // rotations of nearly flat elements amplify rounding
    }
}

TEST_P(Law, OffsetsOfSamplesBelongToTheEnergy)
{
    Box box(2);
    Vec s0 = random_vec(6 * box.count, 91, 100.0), f0 = random_vec(9 * box.count, 92, 0.05);
    Elastic e = make_samples(box, material(law()), f0.data(), s0.data()), plain = make_samples(box, material(law()));
    Vec x = box.deformed(0.05), f = force(e.get(), x);
    EXPECT_GT(distance(f, force(plain.get(), x)), 0.1 * norm(f));
    for (uint64_t seed : { 93, 94 }) {
        Vec d = random_vec(x.size(), seed);
        EXPECT_NEAR(energy_slope(e.get(), x, d, 1e-4), dot(f, d), 1e-6 * norm(f) * norm(d));
        pli_elastic_linearize(e.get(), x.data());
        Vec exact = dforce(e.get(), d);
        EXPECT_LT(distance(force_slope(e.get(), x, d, 2e-5), exact), 1e-6 * norm(exact));
    }
}

// Samples of several ratios are the sum of bodies of one ratio each, in which the others weigh nothing.
TEST_P(Law, SamplesHaveRatiosOfTheirOwn)
{
    const double ratios[] = { 0.1, 0.25, 0.45 };
    Box box(2);
    PliMaterial m = material(law(), 0.01);
    Vec poisson(box.count), x = box.deformed(0.1), v = random_vec(x.size(), 101), d = random_vec(x.size(), 102);
    for (PliIndex i = 0; i < box.count; ++i) poisson[i] = ratios[(5 * i) % 7 % 3];
    for (const double factor : { 1.0, 2.0 }) { // Young's modulus may change
        Vec f(x.size(), 0.0), df(x.size(), 0.0);
        double energy = 0;
        for (const double ratio : ratios) {
            Box some = box;
            for (PliIndex i = 0; i < box.count; ++i)
                if (poisson[i] != ratio) some.stiffness[i] = 0;
            PliMaterial one = m;
            one.poisson = ratio, one.young *= factor;
            Elastic part = make_samples(some, one);
            Vec g = force(part.get(), x, v.data());
            energy += pli_elastic_energy(part.get(), x.data());
            pli_elastic_linearize(part.get(), x.data());
            Vec dg = dforce(part.get(), d);
            for (size_t k = 0; k < f.size(); ++k) f[k] += g[k], df[k] += dg[k];
        }
        for (const PliSimd simd : { PLI_SIMD_NONE, PLI_SIMD_AVX2, PLI_SIMD_AVX512 }) {
            Elastic e = make_samples(box, m, nullptr, nullptr, simd);
            pli_elastic_set_sample_poisson(e.get(), poisson.data());
            PliMaterial now = m;
            now.young *= factor;
            pli_elastic_set_material(e.get(), &now);
            EXPECT_LT(distance(force(e.get(), x, v.data()), f), 1e-12 * norm(f));
            EXPECT_NEAR(pli_elastic_energy(e.get(), x.data()) / energy, 1, 1e-12);
            pli_elastic_linearize(e.get(), x.data());
            EXPECT_LT(distance(dforce(e.get(), d), df), 1e-10 * norm(df));
        }
    }
}

TEST_P(Law, ExtraBulkBelongsToTheEnergyAndToTheMatrices)
{
    Box box(2);
    Vec bulk = random_vec(box.count, 95, 0.5);
    Elastic e = make_samples(box, material(law(), 0.01)), plain = make_samples(box, material(law(), 0.01));
    pli_elastic_set_sample_bulk(e.get(), bulk.data());
    Vec x = box.deformed(0.05), f = force(e.get(), x);
    EXPECT_GT(distance(f, force(plain.get(), x)), 0.01 * norm(f));
    // bulk 1 doubles lambda of a StVK body, in forces and in viscous ones
    if (law() == PLI_STVK) {
        PliMaterial twice = material(law(), 0.01);
        const double nu = twice.poisson, mu = twice.young / (2 * (1 + nu)),
                     lambda = 2 * twice.young * nu / ((1 + nu) * (1 - 2 * nu));
        twice.poisson = lambda / (2 * (lambda + mu));
        twice.young = 2 * mu * (1 + twice.poisson);
        Elastic stiff = make_samples(box, twice), same = make_samples(box, material(law(), 0.01));
        pli_elastic_set_sample_bulk(same.get(), box.stiffness.data()); // lambda x stiffness again
        Vec v = random_vec(x.size(), 98), a = force(stiff.get(), x, v.data()), b = force(same.get(), x, v.data());
        EXPECT_LT(distance(a, b), 1e-10 * norm(a));
    }
    for (uint64_t seed : { 96, 97 }) {
        Vec d = random_vec(x.size(), seed);
        EXPECT_NEAR(energy_slope(e.get(), x, d, 1e-4), dot(f, d), 1e-6 * norm(f) * norm(d));
        pli_elastic_linearize(e.get(), x.data());
        Vec exact = dforce(e.get(), d), assembled(d.size(), 0.0);
        EXPECT_LT(distance(force_slope(e.get(), x, d, 2e-5), exact), 1e-6 * norm(exact));
        struct Arg {
            const Vec *d;
            Vec *out;
        } arg{ &d, &assembled };
        pli_elastic_element_matrices(
            e.get(),
            [](const PliIndex *p, PliIndex n, const double *k, void *user) {
                auto *a = static_cast<Arg *>(user);
                for (PliIndex r = 0; r < 3 * n; ++r)
                    for (PliIndex c = 0; c < 3 * n; ++c)
                        (*a->out)[3 * p[r / 3] + r % 3] += k[r * 3 * n + c] * (*a->d)[3 * p[c / 3] + c % 3];
            },
            &arg);
        EXPECT_LT(distance(assembled, exact), 1e-10 * norm(exact));
    }
}

TEST(Elastic, CountsInvertedElements)
{
    Box box(3);
    Elastic e = make_elastic(box, material(PLI_COROT));
    PliIndex first = 5;
    EXPECT_EQ(0u, pli_elastic_inverted(e.get(), box.rest_points.data(), &first));
    EXPECT_EQ(PLI_NONE, first);
    Vec x = box.deformed(0.7);
    PliIndex expected = 0, expected_first = PLI_NONE;
    for (PliIndex t = 0; t < box.count; ++t) {
        double F[9];
        pli_tet_gradient(&box.tets[4 * t], &box.rest[t], x.data(), F);
        double det = F[0] * (F[4] * F[8] - F[5] * F[7]) - F[1] * (F[3] * F[8] - F[5] * F[6]) +
                     F[2] * (F[3] * F[7] - F[4] * F[6]);
        if (det > 0.0) continue;
        if (expected++ == 0) expected_first = t;
    }
    ASSERT_GT(expected, 3u);
    EXPECT_EQ(expected, pli_elastic_inverted(e.get(), x.data(), &first));
    EXPECT_EQ(expected_first, first);
    x[3 * box.tets[4 * 100]] = NAN;
    EXPECT_GT(pli_elastic_inverted(e.get(), x.data(), &first), 0u);
}

TEST(Elastic, RestDataRefusesFlatAndInvertedTets)
{
    const double x[] = { 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 0 };
    const PliIndex good[] = { 0, 1, 2, 3 }, flat[] = { 0, 1, 2, 3, 0, 1, 2, 4 }, inverted[] = { 0, 2, 1, 3 };
    PliTetRest rest[2];
    PliIndex bad = PLI_NONE;
    ASSERT_EQ(PLI_OK, pli_tet_rest(good, 1, x, rest, &bad));
    EXPECT_DOUBLE_EQ(1.0 / 6.0, rest[0].volume);
    const double expected[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
    for (int k = 0; k < 9; ++k) EXPECT_DOUBLE_EQ(expected[k], rest[0].grad[k]);
    EXPECT_EQ(PLI_BAD_MESH, pli_tet_rest(flat, 2, x, rest, &bad));
    EXPECT_EQ(1u, bad);
    EXPECT_EQ(PLI_BAD_MESH, pli_tet_rest(inverted, 1, x, rest, &bad));
    EXPECT_EQ(0u, bad);
    // smallest altitude of the corner tetrahedron is 1/sqrt(3)
    PliMaterial m = { PLI_STVK, 1e5, 0.45, 1000.0, 0.0 };
    double c = std::sqrt(1e5 * 0.55 / (1.45 * 0.1) / 1000.0);
    EXPECT_NEAR(pli_tet_critical_step(&rest[0], &m), 1.0 / std::sqrt(3.0) / c, 1e-12);
}

TEST(Elastic, RefusesWhatDoesNotFit)
{
    Box box(2);
    Elastic e = make_elastic(box, material(PLI_STVK));
    Vec x = box.deformed(0.1), before = force(e.get(), x);
    auto set = [&](PliIndex points, PliIndex count, const std::vector<PliIndex> &corner) {
        return pli_elastic_set_tets(e.get(), points, count, corner.data(), box.which.data(), box.rest.data(),
                                    box.volume.data(), nullptr);
    };
    EXPECT_EQ(PLI_OVER_CAPACITY, set(box.points, box.count + 1, box.tets));
    EXPECT_EQ(PLI_OVER_CAPACITY, set(box.points + 1, box.count, box.tets));
    std::vector<PliIndex> wrong = box.tets;
    wrong[7] = box.points;
    EXPECT_EQ(PLI_BAD_ARGUMENT, set(box.points, box.count, wrong));
    EXPECT_TRUE(same_bits(before, force(e.get(), x))) << "a refusal changes nothing";
    EXPECT_EQ(PLI_OK, set(box.points, 5, box.tets));
    EXPECT_LT(norm(force(e.get(), x)), norm(before));
}

} // namespace
