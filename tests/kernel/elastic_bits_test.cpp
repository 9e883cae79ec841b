/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// The same bits at every vector unit and worker count, and rotations no input can break.
#include "kernel/fixture.h"

#include "support/fold.h"

extern "C" {
#include "kernel/elastic_state.h"
}

namespace
{

/// Blocks of all pairs of corners, several pairs to a place, some of them mirrored.
Vec placed(PliElastic *e)
{
    const PliIndex room = e->tet_count / 2 + 7;
    std::vector<PliIndex> place(PLI_CORNER_PAIRS * size_t(e->tet_count));
    for (size_t k = 0; k < place.size(); ++k)
        place[k] = PliIndex(k / 5 + k % 3) % room | (k % 7 == 3 ? PLI_PLACE_MIRRORED : 0u);
    Vec value(9 * size_t(room), 0.0);
    pli_elastic_add_tet_blocks(e, -0.3, place.data(), value.data());
    return value;
}

/// Everything the kernel computes, as one list of numbers.
Vec everything(PliElastic *e, const Vec &x, const Vec &v)
{
    Vec all = force(e, x, v.data()), more = force(e, x);
    all.insert(all.end(), more.begin(), more.end());
    all.push_back(pli_elastic_energy(e, x.data()));
    PliIndex first = PLI_NONE;
    all.push_back(pli_elastic_inverted(e, x.data(), &first));
    all.push_back(first);
    const PliIndex cuts[] = { 0, 5, 2 * e->tet_count / 3, e->tet_count };
    more.assign(x.size(), 0.0);
    for (int i = 0; i < 3; ++i) pli_elastic_add_force_range(e, cuts[i], cuts[i + 1], x.data(), v.data(), more.data());
    all.insert(all.end(), more.begin(), more.end());
    const double *places[] = { nullptr, x.data() };
    for (const double *at : places) {
        Vec lumped(x.size() / 3, 0.0), viscous(x.size() / 3, 0.0);
        pli_elastic_add_lumped(e, at, lumped.data(), viscous.data());
        all.insert(all.end(), lumped.begin(), lumped.end());
        all.insert(all.end(), viscous.begin(), viscous.end());
    }
    more.assign(x.size(), 0.0);
    pli_elastic_add_rest_response(e, v.data(), more.data());
    all.insert(all.end(), more.begin(), more.end());
    for (bool project : { true, false }) {
        pli_elastic_set_project(e, project);
        pli_elastic_linearize(e, x.data());
        const Vec on_the_way = placed(e);
        more = dforce(e, v, 0.7);
        all.insert(all.end(), more.begin(), more.end());
        all.insert(all.end(), on_the_way.begin(), on_the_way.end());
        EXPECT_TRUE(same_bits(on_the_way, placed(e))) << "blocks depend on whether tangents were kept";
    }
    return all;
}

struct State {
    PliLaw law;
    double amount;
    bool samples;
};
std::vector<State> states()
{
    std::vector<State> r;
    for (int law = 0; law < PLI_LAW_COUNT; ++law)
        for (double amount : { 0.0, 0.02, 0.5 }) // rest, moderate, many elements inside out
            for (bool samples : { false, true }) r.push_back({ PliLaw(law), amount, samples });
    return r;
}

TEST(ElasticBits, VectorUnitsAgree)
{
    if (simd_levels().size() < 2) GTEST_SKIP() << "this processor has no AVX2, or PLIANT_SIMD forbids it";
    Box box(4);
    box.count -= 3; // an uneven last pack
    for (const State &s : states()) {
        Vec x = box.deformed(s.amount), v = random_vec(x.size(), 3);
        PliMaterial m = material(s.law, 0.01);
        Vec reference;
        for (PliSimd simd : simd_levels()) {
            Elastic e = s.samples ? make_samples(box, m, nullptr, nullptr, simd) : make_elastic(box, m, simd);
            Vec all = everything(e.get(), x, v);
            if (reference.empty()) reference = all;
            EXPECT_TRUE(same_bits(reference, all)) << pli_simd_name(simd) << " law " << s.law << " amount " << s.amount;
        }
    }
}

TEST(ElasticBits, APackOfGradientsHasTheStressOfEachAlone)
{
    Box box(2);
    alignas(64) double F[9][PACK], P[9][PACK];
    for (int law = 0; law < PLI_LAW_COUNT; ++law)
        for (double amount : { 0.0, 0.2, 2.0 }) // rest, strained, inside out
            for (PliSimd simd : simd_levels()) {
                PliMaterial m = material(PliLaw(law), 0.0);
                const PliLame lame = pli_lame(&m);
                Elastic e = make_elastic(box, m, simd);
                const Vec noise = random_vec(9 * PACK, 5);
                for (int k = 0; k < 9 * PACK; ++k) F[k / PACK][k % PACK] = amount * noise[k] + (k / PACK % 4 == 0);
                e->kernel->law_stress(PliLaw(law), &lame, F, P);
                for (int lane = 0; lane < PACK; ++lane) {
                    Vec one(9), alone(9), pack(9);
                    for (int k = 0; k < 9; ++k) one[k] = F[k][lane], pack[k] = P[k][lane];
                    pli_law_stress(PliLaw(law), &lame, one.data(), alone.data());
                    EXPECT_TRUE(same_bits(alone, pack)) << pli_simd_name(simd) << " law " << law << " lane " << lane;
                }
            }
}

TEST(ElasticBits, WorkersAgree)
{
    Box box(8); // 3,072 tetrahedra: 384 packs, six blocks
    for (const State &s : states()) {
        if (s.amount == 0.0) continue;
        Vec x = box.deformed(s.amount / 2), v = random_vec(x.size(), 3);
        PliMaterial m = material(s.law, 0.01);
        Vec reference;
        for (int workers = 1; workers <= 8; ++workers) {
            PliHost host = pli_host_default();
            PliPool *pool = pli_pool_create(workers);
            ASSERT_TRUE(pool);
            pli_pool_lend(pool, &host);
            {
                Elastic e = s.samples ? make_samples(box, m, nullptr, nullptr, PLI_SIMD_AVX512, &host)
                                      : make_elastic(box, m, PLI_SIMD_AVX512, &host);
                for (int repeat = 0; repeat < 2; ++repeat) {
                    Vec all = everything(e.get(), x, v);
                    if (reference.empty()) reference = all;
                    EXPECT_TRUE(same_bits(reference, all)) << workers << " workers, law " << s.law;
                }
            }
            pli_pool_destroy(pool);
        }
    }
}

TEST(ElasticBits, NewListsLeaveNothingBehind)
{
    Box box(8);
    PliHost host = pli_host_default();
    PliPool *pool = pli_pool_create(3);
    ASSERT_TRUE(pool);
    pli_pool_lend(pool, &host);
    {
        PliMaterial m = material(PLI_STVK, 0.01);
        Elastic many = make_elastic(box, m, PLI_SIMD_AVX512, &host), one = make_elastic(box, m);
        Vec x = box.deformed(0.05), v = random_vec(x.size(), 3);
        for (PliIndex count : { box.count, PliIndex(1001), box.count - 5, PliIndex(0), PliIndex(700), box.count }) {
            for (PliElastic *e : { many.get(), one.get() })
                ASSERT_EQ(PLI_OK, pli_elastic_set_tets(e, box.points, count, box.tets.data(), box.which.data(),
                                                       box.rest.data(), box.volume.data(), nullptr));
            Vec a(x.size(), -0.0), b(x.size(), -0.0);
            pli_elastic_add_force(many.get(), x.data(), v.data(), a.data());
            pli_elastic_add_force(one.get(), x.data(), v.data(), b.data());
            EXPECT_TRUE(same_bits(a, b)) << count;
            EXPECT_TRUE(same_bits(everything(many.get(), x, v), everything(one.get(), x, v))) << count;
        }
    }
    pli_pool_destroy(pool);
}

TEST(ElasticBits, RangesSumToTheWhole)
{
    Box box(3);
    for (PliSimd simd : simd_levels()) {
        Elastic e = make_elastic(box, material(PLI_COROT, 0.01), simd);
        Vec x = box.deformed(0.1), v = random_vec(x.size(), 5), whole = force(e.get(), x, v.data()),
            parts(x.size(), 0.0);
        PliIndex cuts[] = { 0, 1, 3, 3, 12, 29, 64, 77, 140, box.count };
        for (int i = 0; i + 1 < 10; ++i)
            pli_elastic_add_force_range(e.get(), cuts[i], cuts[i + 1], x.data(), v.data(), parts.data());
        EXPECT_TRUE(same_bits(whole, parts)) << "ascending ranges are the same sequence of additions";
        // a single element in the middle touches its four points only
        Vec one(x.size(), 0.0);
        pli_elastic_add_force_range(e.get(), 30, 31, x.data(), v.data(), one.data());
        for (PliIndex p = 0; p < box.points; ++p) {
            bool corner = std::count(&box.tets[120], &box.tets[124], p) > 0;
            EXPECT_EQ(corner, one[3 * p] != 0.0);
        }
    }
}

TEST(ElasticBits, AddsToWhatIsThere)
{
    Box box(2);
    Elastic e = make_elastic(box, material(PLI_STVK));
    Vec x = box.deformed(0.1), alone = force(e.get(), x), f = random_vec(x.size(), 9), start = f;
    pli_elastic_add_force(e.get(), x.data(), nullptr, f.data());
    for (size_t i = 0; i < f.size(); ++i) EXPECT_NEAR(f[i], start[i] + alone[i], 1e-12 * norm(alone));
}

double det(const double a[9])
{
    return a[0] * (a[4] * a[8] - a[5] * a[7]) - a[1] * (a[3] * a[8] - a[5] * a[6]) + a[2] * (a[3] * a[7] - a[4] * a[6]);
}

/// R must be a rotation, R^T F symmetric, and no other rotation may have a larger trace: s2 + s3 >= 0.
void expect_rotation(const Vec &matrix, const double R[9])
{
    double size = 1e-300, F[9];
    for (double c : matrix) size = largest_of(size, std::abs(c));
    for (int i = 0; i < 9; ++i) F[i] = matrix[i] / size;
    EXPECT_NEAR(det(R), 1.0, 1e-13);
    double S[9];
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
            double unit = 0.0;
            S[3 * i + j] = 0.0;
            for (int k = 0; k < 3; ++k)
                unit += R[3 * k + i] * R[3 * k + j], S[3 * i + j] += R[3 * k + i] * F[3 * k + j];
            EXPECT_NEAR(unit, i == j, 1e-13);
        }
    EXPECT_NEAR(S[1], S[3], 1e-13);
    EXPECT_NEAR(S[2], S[6], 1e-13);
    EXPECT_NEAR(S[5], S[7], 1e-13);
    // G = tr(S) I - S has the eigenvalues s_i + s_j; it must be positive semi-definite: all principal minors >= 0
    double t = S[0] + S[4] + S[8], G[9];
    for (int i = 0; i < 9; ++i) G[i] = (i % 4 == 0 ? t : 0.0) - S[i];
    for (int i = 0; i < 3; ++i) EXPECT_GE(G[4 * i], -1e-12);
    EXPECT_GE(G[0] * G[4] - G[1] * G[3], -1e-12);
    EXPECT_GE(G[0] * G[8] - G[2] * G[6], -1e-12);
    EXPECT_GE(G[4] * G[8] - G[5] * G[7], -1e-12);
    EXPECT_GE(det(G), -1e-12);
}

TEST(Polar, RobustRoutineTakesAnyMatrix)
{
    double R[9];
    std::vector<Vec> cases = { Vec(9, 0.0),
                               { 1, 0, 0, 0, 1, 0, 0, 0, 1 },
                               { -1, 0, 0, 0, -1, 0, 0, 0, -1 },
                               { 1, 0, 0, 0, 0, 0, 0, 0, 0 },
                               { 1, 0, 0, 0, 1, 0, 0, 0, -1 },
                               { 1, 2, 3, 2, 4, 6, 3, 6, 9 },
                               { 1e200, 0, 0, 0, 2e200, 0, 0, 1e200, 1e200 },
                               { 1e-200, 0, 0, 0, 2e-200, 0, 0, 0, 1e-200 },
                               { 0, -1, 0, 1, 0, 0, 0, 0, 1 } };
    for (uint64_t seed = 1; seed < 500; ++seed) cases.push_back(random_vec(9, seed));
    for (const Vec &F : cases) {
        pli_polar_robust(F.data(), R);
        expect_rotation(F, R);
    }
}

// The stress of a corotational material with lambda = 0 is 2 mu (F - R): R can be read off, lane routine included.
TEST(Polar, LaneRoutineEqualsRobustRoutine)
{
    PliMaterial m = { PLI_COROT, 1.0, 0.0, 1.0, 0.0 };
    PliLame lame = pli_lame(&m);
    int far = 0;
    for (uint64_t seed = 1; seed < 4000; ++seed) {
        Vec F = random_vec(9, seed, seed % 3 == 0 ? 1.0 : 0.4);
        if (seed % 3)
            for (int i = 0; i < 9; i += 4) F[i] += 1.0;
        double P[9], R[9];
        pli_law_stress(PLI_COROT, &lame, F.data(), P);
        pli_polar_robust(F.data(), R);
        // rotation error grows like 1/(s2 + s3); skip the undefined ones, which both routines may answer differently
        double S[9], t = 0.0, G[9];
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) {
                S[3 * i + j] = 0.0;
                for (int k = 0; k < 3; ++k) S[3 * i + j] += R[3 * k + i] * F[3 * k + j];
            }
        t = S[0] + S[4] + S[8];
        for (int i = 0; i < 9; ++i) G[i] = (i % 4 == 0 ? t : 0.0) - S[i];
        if (det(G) < 1e-3) {
            far++;
            continue;
        }
        for (int i = 0; i < 9; ++i) EXPECT_NEAR(P[i], 2 * lame.mu * (F[i] - R[i]), 1e-11) << "seed " << seed;
    }
    EXPECT_LT(far, 400);
}

} // namespace
