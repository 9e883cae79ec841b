/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "support/fixture.h"

extern "C" {
#include "base/vec.h"
}

TEST(Refuse, KeepsStatusAndSentenceAndTakesNull)
{
    PliError err = { PLI_OK, "" };
    EXPECT_EQ(pli_refuse(&err, PLI_BAD_MESH, "tet %d is flat", 7), PLI_BAD_MESH);
    EXPECT_EQ(err.status, PLI_BAD_MESH);
    EXPECT_STREQ(err.text, "tet 7 is flat");
    EXPECT_EQ(pli_refuse(nullptr, PLI_DIVERGED, "%s", "nobody reads this"), PLI_DIVERGED);
}

TEST(Refuse, CutsLongSentences)
{
    PliError err = { PLI_OK, "" };
    const std::string text(5000, 'x');
    pli_refuse(&err, PLI_BAD_FILE, "%s", text.c_str());
    EXPECT_EQ(std::string(err.text), std::string(sizeof err.text - 1, 'x'));
}

TEST(Version, LibraryAndHeaderAgree)
{
    EXPECT_EQ(pli_version(), PLI_VERSION_MAJOR * 10000 + PLI_VERSION_MINOR * 100 + PLI_VERSION_PATCH);
    char text[32];
    snprintf(text, sizeof text, "%d.%d.%d", PLI_VERSION_MAJOR, PLI_VERSION_MINOR, PLI_VERSION_PATCH);
    EXPECT_STREQ(text, PLI_VERSION_TEXT) << "CMakeLists.txt and pliant/base.h must say the same";
}

TEST(Simd, TheEnvironmentCanOnlyNarrow)
{
    unsetenv("PLIANT_SIMD");
    const PliSimd best = pli_simd_best();
    setenv("PLIANT_SIMD", "none", 1);
    EXPECT_EQ(pli_simd_best(), PLI_SIMD_NONE);
    setenv("PLIANT_SIMD", "avx2", 1);
    EXPECT_EQ(pli_simd_best(), best >= PLI_SIMD_AVX2 ? PLI_SIMD_AVX2 : PLI_SIMD_NONE);
    setenv("PLIANT_SIMD", "avx512", 1);
    EXPECT_EQ(pli_simd_best(), best);
    unsetenv("PLIANT_SIMD");
    EXPECT_STREQ(pli_simd_name(PLI_SIMD_NONE), "none");
    EXPECT_STREQ(pli_simd_name(PLI_SIMD_AVX2), "avx2");
    EXPECT_STREQ(pli_simd_name(PLI_SIMD_AVX512), "avx512");
}

TEST(Vec, InverseTimesMatrixIsOne)
{
    uint64_t seed = 5;
    for (int round = 0; round < 200; ++round) {
        const auto a = pliant_test::random_vector(&seed, 9);
        double r[9] = { 0 }, product[9];
        const double det = m3_inverse(r, a.data());
        EXPECT_EQ(det, m3_det(a.data()));
        if (fabs(det) < 1e-2) continue; // the bound below is for well-conditioned ones
        m3_mul(product, a.data(), r);
        for (int k = 0; k < 9; ++k) EXPECT_NEAR(product[k], k % 4 == 0 ? 1.0 : 0.0, 1e-12);
    }
}

TEST(Vec, SingularMatricesLeaveTheResultAlone)
{
    const double a[9] = { 1, 2, 3, 2, 4, 6, 0, 0, 1 };
    double r[9] = { 9, 9, 9, 9, 9, 9, 9, 9, 9 };
    EXPECT_EQ(m3_inverse(r, a), 0.0);
    for (double x : r) EXPECT_EQ(x, 9.0);
}

TEST(Vec, CrossIsOrthogonalAndRightHanded)
{
    uint64_t seed = 6;
    const auto a = pliant_test::random_vector(&seed, 3), b = pliant_test::random_vector(&seed, 3);
    double c[3];
    v3_cross(c, a.data(), b.data());
    EXPECT_NEAR(v3_dot(c, a.data()), 0.0, 1e-15);
    EXPECT_NEAR(v3_dot(c, b.data()), 0.0, 1e-15);
    const double m[9] = { a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2] };
    EXPECT_NEAR(m3_det(m), v3_dot(c, c), 1e-15);
}
