/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Pictures are judged by what they show: which colours are where, what hides what, and whether a PNG reads back.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <zlib.h>

#include "host/report/picture.h"
#include "support/fold.h"

namespace
{

struct Destroy {
    void operator()(PliPicture *p) const { pli_picture_destroy(p); }
};
using Picture = std::unique_ptr<PliPicture, Destroy>;

const PliColour white = { 255, 255, 255 }, red = { 200, 30, 20 }, green = { 10, 160, 60 }, blue = { 20, 40, 210 };

bool same(PliColour a, PliColour b) { return a.r == b.r && a.g == b.g && a.b == b.b; }
PliColour at(const PliPicture *p, int x, int y) { return p->pixel[y * p->width + x]; }
int count(const PliPicture *p, PliColour c)
{
    int n = 0;
    for (int k = 0; k < p->width * p->height; ++k) n += same(p->pixel[k], c);
    return n;
}

/// Looks down the z axis at [-1, 1]^3 with the light behind the eye.
PliCamera front(int width, int height)
{
    const double min[3] = { -1, -1, -1 }, max[3] = { 1, 1, 1 }, from[3] = { 0, 0, 1 }, up[3] = { 0, 1, 0 };
    PliCamera c = pli_camera_fit(min, max, from, up, width, height);
    c.light[0] = c.light[1] = 0.0;
    c.light[2] = 1.0;
    return c;
}

PliPaint square(const double *x, const PliIndex *tris, PliColour colour)
{
    PliPaint paint = {};
    paint.x = x;
    paint.point_count = 4;
    paint.tris = tris;
    paint.tri_count = 2;
    paint.colour = colour;
    return paint;
}

const PliIndex two[6] = { 0, 1, 2, 0, 2, 3 };
std::vector<double> square_at(double z, double half)
{
    return { -half, -half, z, half, -half, z, half, half, z, -half, half, z };
}

TEST(Picture, SillySizesAreRefused)
{
    EXPECT_EQ(pli_picture_create(0, 10), nullptr);
    EXPECT_EQ(pli_picture_create(10, -1), nullptr);
    EXPECT_EQ(pli_picture_create(100000, 10), nullptr);
}

TEST(Picture, TheWholeBoxIsInTheFrameFromEverywhere)
{
    const double min[3] = { -0.1, 0.0, 0.3 }, max[3] = { 0.4, 0.05, 2.0 }, up[3] = { 0, 1, 0 };
    for (int k = 0; k < 50; ++k) {
        const double from[3] = { std::cos(k * 0.7), std::sin(k * 0.31), std::sin(k * 1.3) + 0.01 };
        const PliCamera c = pli_camera_fit(min, max, from, up, 320, 200);
        double widest = 0.0;
        for (int corner = 0; corner < 8; ++corner) {
            double p[3], s[3];
            for (int a = 0; a < 3; ++a) p[a] = corner >> a & 1 ? max[a] : min[a];
            ASSERT_TRUE(pli_camera_project(&c, p, s));
            EXPECT_GE(s[0], 0.0);
            EXPECT_LE(s[0], 320.0);
            EXPECT_GE(s[1], 0.0);
            EXPECT_LE(s[1], 200.0);
            widest = largest_of(widest, std::fmax(std::fabs(s[0] - 160) / 160, std::fabs(s[1] - 100) / 100));
        }
        EXPECT_GT(widest, 0.9); // and fills it
    }
    const double along[3] = { 0, 1, 0 }; // up and view parallel: still a camera
    const PliCamera c = pli_camera_fit(min, max, along, up, 100, 100);
    EXPECT_NEAR(c.right[0] * c.right[0] + c.right[1] * c.right[1] + c.right[2] * c.right[2], 1.0, 1e-12);
}

TEST(Picture, NearHidesFarWhateverTheOrder)
{
    for (int order = 0; order < 2; ++order) {
        Picture p(pli_picture_create(200, 200));
        pli_picture_fill(p.get(), white, white);
        const PliCamera c = front(200, 200);
        const auto near = square_at(0.5, 0.4), far = square_at(-0.5, 0.9);
        const PliPaint front_paint = square(near.data(), two, red), back_paint = square(far.data(), two, blue);
        ASSERT_EQ(pli_picture_draw(p.get(), &c, order ? &front_paint : &back_paint), PLI_OK);
        ASSERT_EQ(pli_picture_draw(p.get(), &c, order ? &back_paint : &front_paint), PLI_OK);
        EXPECT_TRUE(same(at(p.get(), 100, 100), red));
        EXPECT_GT(count(p.get(), blue), 1000);
        EXPECT_GT(count(p.get(), white), 1000);
        EXPECT_EQ(count(p.get(), red) + count(p.get(), blue) + count(p.get(), white), 200 * 200);
    }
}

TEST(Picture, InterpenetratingSquaresMeetWhereTheyCross)
{
    Picture p(pli_picture_create(200, 200));
    pli_picture_fill(p.get(), white, white);
    const PliCamera c = front(200, 200);
    const std::vector<double> left = { -0.8, -0.8, 0.5, 0.8, -0.8, -0.5, 0.8, 0.8, -0.5, -0.8, 0.8, 0.5 };
    const std::vector<double> right = { -0.8, -0.8, -0.5, 0.8, -0.8, 0.5, 0.8, 0.8, 0.5, -0.8, 0.8, -0.5 };
    PliPaint a = square(left.data(), two, red), b = square(right.data(), two, blue);
    a.unlit = b.unlit = true;
    pli_picture_draw(p.get(), &c, &a);
    pli_picture_draw(p.get(), &c, &b);
    for (int y = 60; y < 140; ++y) {
        EXPECT_TRUE(same(at(p.get(), 96, y), red)) << y;
        EXPECT_TRUE(same(at(p.get(), 104, y), blue)) << y;
    }
}

TEST(Picture, ShadingIsLambertOnBothSidesAndNeverAboveTheLegend)
{
    for (double tilt : { 0.0, 0.3, 0.8, 1.2 })
        for (bool flipped : { false, true }) {
            Picture p(pli_picture_create(100, 100));
            pli_picture_fill(p.get(), white, white);
            const PliCamera c = front(100, 100);
            std::vector<double> x = square_at(0.0, 0.5);
            for (int k = 0; k < 4; ++k) { // turn about the x axis
                const double y = x[3 * k + 1];
                x[3 * k + 1] = y * std::cos(tilt);
                x[3 * k + 2] = y * std::sin(tilt);
            }
            const PliIndex reversed[6] = { 0, 2, 1, 0, 3, 2 };
            PliPaint paint = square(x.data(), flipped ? reversed : two, green);
            pli_picture_draw(p.get(), &c, &paint);
            const double light = 0.32 + 0.68 * std::cos(tilt);
            EXPECT_NEAR(at(p.get(), 50, 50).g, green.g * light, 1.0);
            EXPECT_NEAR(at(p.get(), 50, 50).b, green.b * light, 1.0);
            if (tilt == 0.0) {
                EXPECT_TRUE(same(at(p.get(), 50, 50), green));
            }
        }
}

TEST(Picture, CategoriesKeepTheirColoursAndValuesMix)
{
    const std::vector<double> x = square_at(0.0, 0.8);
    const PliColour corner[4] = { pli_map_level(0), pli_map_level(1), pli_map_level(2), pli_map_level(3) };
    const PliCamera c = front(160, 160);
    PliPaint paint = square(x.data(), two, white);
    paint.colours = corner;
    paint.blocks = true;
    Picture p(pli_picture_create(160, 160));
    pli_picture_fill(p.get(), white, white);
    pli_picture_draw(p.get(), &c, &paint);
    int sum = count(p.get(), white);
    for (PliColour level : corner) {
        EXPECT_GT(count(p.get(), level), 500);
        sum += count(p.get(), level);
    }
    EXPECT_EQ(sum, 160 * 160); // nothing in between
    paint.blocks = false;
    pli_picture_fill(p.get(), white, white);
    pli_picture_draw(p.get(), &c, &paint);
    std::set<int> seen;
    for (int k = 0; k < 160 * 160; ++k) seen.insert(p->pixel[k].r << 16 | p->pixel[k].g << 8 | p->pixel[k].b);
    EXPECT_GT(seen.size(), 100u);
}

TEST(Picture, SmoothShadingOfASphereIsBrightestTowardsTheLight)
{
    Picture p(pli_picture_create(200, 200));
    pli_picture_fill(p.get(), { 0, 0, 0 }, { 0, 0, 0 });
    PliCamera c = front(200, 200);
    const double centre[3] = { 0, 0, 0 };
    c.light[0] = -0.6, c.light[1] = 0.0, c.light[2] = 0.8;
    ASSERT_EQ(pli_picture_sphere(p.get(), &c, centre, 0.8, white, 1.0), PLI_OK);
    int best_x = 0, best = -1, lit = 0;
    for (int x = 0; x < 200; ++x) {
        if (at(p.get(), x, 100).r > best) best = at(p.get(), x, 100).r, best_x = x;
    }
    for (int k = 0; k < 200 * 200; ++k) lit += p->pixel[k].r > 0;
    double s[3], side[3] = { -0.48, 0, 0.64 }, edge[3] = { 0.8, 0, 0 };
    pli_camera_project(&c, side, s);
    EXPECT_NEAR(best_x, s[0], 8.0);
    pli_camera_project(&c, edge, s);
    EXPECT_NEAR(lit, M_PI * (s[0] - 100) * (s[0] - 100), 0.08 * lit); // a disc
}

TEST(Picture, WiresShowOnlyOnTheVisibleSide)
{
    const PliCamera c = front(200, 200);
    const auto near = square_at(0.5, 0.8), far = square_at(-0.5, 0.6);
    PliPaint cover = square(near.data(), two, green), hidden = square(far.data(), two, blue);
    hidden.wire = 2.0;
    hidden.wire_colour = { 0, 0, 0 };
    Picture p(pli_picture_create(200, 200));
    pli_picture_fill(p.get(), white, white);
    pli_picture_draw(p.get(), &c, &hidden);
    const PliColour under = { 9, 18, 94 }; // blue under the wire
    EXPECT_GT(count(p.get(), under), 100);
    pli_picture_draw(p.get(), &c, &cover);
    EXPECT_EQ(count(p.get(), under), 0);
    EXPECT_EQ(count(p.get(), green) + count(p.get(), white), 200 * 200);
}

TEST(Picture, WhatIsTranslucentHidesNothingAndCountsOnce)
{
    const PliCamera c = front(100, 100);
    const double centre[3] = { 0, 0, 0 };
    const auto back = square_at(-0.9, 0.9);
    PliPaint behind = square(back.data(), two, blue);
    Picture p(pli_picture_create(100, 100));
    pli_picture_fill(p.get(), white, white);
    pli_picture_draw(p.get(), &c, &behind);
    ASSERT_EQ(pli_picture_sphere(p.get(), &c, centre, 0.5, { 100, 100, 100 }, 0.4), PLI_OK);
    const PliColour seen = at(p.get(), 50, 50); // blue with 40 % of a lit grey over it, once
    EXPECT_NEAR(seen.r, 0.6 * blue.r + 0.4 * 100, 3.0);
    EXPECT_NEAR(seen.b, 0.6 * blue.b + 0.4 * 100, 3.0);
    const auto middle = square_at(0.0, 0.3);
    PliPaint inside = square(middle.data(), two, red);
    pli_picture_draw(p.get(), &c, &inside); // behind the sphere's front, and yet drawn
    EXPECT_TRUE(same(at(p.get(), 50, 50), red));
}

TEST(Picture, PointsBehindTheEyeOrNotFiniteDrawNothing)
{
    const PliCamera c = front(64, 64);
    for (double bad : { 100.0, static_cast<double>(NAN), static_cast<double>(INFINITY) }) {
        auto x = square_at(0.0, 0.5);
        x[2] = bad;
        x[5] = bad;
        x[8] = bad;
        PliPaint paint = square(x.data(), two, red);
        paint.tri_count = 1;
        Picture p(pli_picture_create(64, 64));
        pli_picture_fill(p.get(), white, white);
        EXPECT_EQ(pli_picture_draw(p.get(), &c, &paint), PLI_OK);
        EXPECT_EQ(count(p.get(), white), 64 * 64);
    }
}

TEST(Picture, HalvingKeepsPlainColoursAndBlendsEdges)
{
    Picture p(pli_picture_create(40, 40));
    pli_picture_fill(p.get(), white, white);
    pli_picture_box(p.get(), 10, 10, 21, 20, { 0, 0, 0 });
    Picture half(pli_picture_halved(p.get()));
    ASSERT_TRUE(half);
    EXPECT_EQ(half->width, 20);
    EXPECT_TRUE(same(at(half.get(), 0, 0), white));
    EXPECT_TRUE(same(at(half.get(), 8, 8), { 0, 0, 0 }));
    EXPECT_NEAR(at(half.get(), 15, 8).r, 255 * std::sqrt(0.5), 1.0);
}

TEST(Picture, EveryGlyphIsDifferentAndInsideItsCell)
{
    std::set<std::string> seen;
    for (char c = ' '; c <= '~'; ++c) {
        Picture p(pli_picture_create(PLI_GLYPH_WIDTH, PLI_GLYPH_HEIGHT));
        pli_picture_fill(p.get(), white, white);
        const char text[2] = { c, 0 };
        pli_picture_text(p.get(), 0, 0, 1, { 0, 0, 0 }, text);
        std::string rows;
        for (int k = 0; k < p->width * p->height; ++k) rows += p->pixel[k].r ? '.' : '#';
        EXPECT_TRUE(seen.insert(rows).second) << c;
        for (int y = 0; y < PLI_GLYPH_HEIGHT; ++y) EXPECT_EQ(rows[y * PLI_GLYPH_WIDTH + 5], '.') << c;
    }
    EXPECT_EQ(pli_text_width("abc", 2), 34);
    EXPECT_EQ(pli_text_width("", 2), 0);
}

TEST(Picture, TheValueMapRisesInLightness)
{
    double last = -1.0;
    for (int k = 0; k <= 50; ++k) {
        const double l = pli_colour_lightness(pli_map_value(k / 50.0));
        EXPECT_GT(l, last) << k;
        last = l;
    }
    EXPECT_GT(last - pli_colour_lightness(pli_map_value(0.0)), 60.0);
    EXPECT_TRUE(same(pli_map_value(NAN), pli_map_value(0.0)));
    EXPECT_TRUE(same(pli_map_value(7.0), pli_map_value(1.0)));
}

/// What somebody without red or green cones sees, by the usual projection in linear RGB (rows of a 3 x 3 matrix).
void project(PliColour c, bool red_blind, double out[3])
{
    const double l[3] = { std::pow(c.r / 255.0, 2.2), std::pow(c.g / 255.0, 2.2), std::pow(c.b / 255.0, 2.2) };
    const double protan[9] = { 0.1124, 0.8876, 0, 0.1124, 0.8876, 0, 0.0040, -0.0040, 1 };
    const double deutan[9] = { 0.2928, 0.7072, 0, 0.2928, 0.7072, 0, -0.0223, 0.0223, 1 };
    const double *m = red_blind ? protan : deutan;
    for (int r = 0; r < 3; ++r)
        out[r] = std::pow(std::fmax(0.0, m[3 * r] * l[0] + m[3 * r + 1] * l[1] + m[3 * r + 2] * l[2]), 1 / 2.2);
}

TEST(Picture, LevelColoursStayApartForEveryColourVision)
{
    for (int kind = 0; kind < 3; ++kind)
        for (int a = 0; a < 6; ++a)
            for (int b = 0; b < a; ++b) {
                double u[3], v[3], d = 0.0;
                const PliColour ca = pli_map_level(a), cb = pli_map_level(b);
                if (kind == 2) {
                    u[0] = ca.r / 255.0, u[1] = ca.g / 255.0, u[2] = ca.b / 255.0;
                    v[0] = cb.r / 255.0, v[1] = cb.g / 255.0, v[2] = cb.b / 255.0;
                } else {
                    project(ca, kind == 0, u);
                    project(cb, kind == 0, v);
                }
                for (int k = 0; k < 3; ++k) d += (u[k] - v[k]) * (u[k] - v[k]);
                EXPECT_GT(std::sqrt(d), 0.2) << "levels " << a << " and " << b << ", vision " << kind;
            }
    for (int k = 1; k < 5; ++k)
        EXPECT_GT(pli_colour_lightness(pli_map_level(k)), pli_colour_lightness(pli_map_level(k - 1)) + 5.0) << k;
    EXPECT_TRUE(same(pli_map_level(-1), pli_map_level(7)));
    for (int k = 0; k < 8; ++k)
        EXPECT_LT(pli_colour_lightness(pli_map_series(k)), 70.0) << "too pale for a line on white: " << k;
}

TEST(Picture, LegendsShowTheColoursTheyExplain)
{
    Picture p(pli_picture_create(220, 160));
    pli_picture_fill(p.get(), white, white);
    pli_picture_legend_levels(p.get(), 4, 4, 1, 4, "level");
    for (int k = 0; k < 4; ++k) EXPECT_EQ(count(p.get(), pli_map_level(k)), 64) << k;
    EXPECT_EQ(count(p.get(), pli_map_level(4)), 0);
}

uint32_t u32(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/// An independent reader of the one kind of PNG we write.
std::vector<unsigned char> decode(const unsigned char *png, size_t bytes, int *width, int *height)
{
    std::vector<unsigned char> packed;
    EXPECT_EQ(std::memcmp(png, "\x89PNG\r\n\x1a\n", 8), 0);
    size_t at = 8;
    bool ended = false;
    while (at + 12 <= bytes) {
        const uint32_t length = u32(png + at);
        const std::string name(reinterpret_cast<const char *>(png + at + 4), 4);
        EXPECT_EQ(u32(png + at + 8 + length), crc32(0, png + at + 4, length + 4)) << name;
        if (name == "IHDR")
            *width = static_cast<int>(u32(png + at + 8)), *height = static_cast<int>(u32(png + at + 12));
        if (name == "IDAT") packed.insert(packed.end(), png + at + 8, png + at + 8 + length);
        ended = name == "IEND";
        at += 12 + length;
    }
    EXPECT_TRUE(ended && at == bytes);
    std::vector<unsigned char> raw((3 * static_cast<size_t>(*width) + 1) * static_cast<size_t>(*height));
    uLongf size = raw.size();
    EXPECT_EQ(uncompress(raw.data(), &size, packed.data(), packed.size()), Z_OK);
    EXPECT_EQ(size, raw.size());
    const size_t row = 3 * static_cast<size_t>(*width);
    std::vector<unsigned char> rgb(row * static_cast<size_t>(*height));
    for (int y = 0; y < *height; ++y)
        for (size_t k = 0; k < row; ++k) {
            const unsigned char filter = raw[static_cast<size_t>(y) * (row + 1)],
                                above = y ? rgb[(static_cast<size_t>(y) - 1) * row + k] : 0;
            rgb[static_cast<size_t>(y) * row + k] =
                static_cast<unsigned char>(raw[static_cast<size_t>(y) * (row + 1) + 1 + k] + (filter == 2 ? above : 0));
        }
    return rgb;
}

TEST(Picture, PngReadsBackPixelForPixelAndIsTheSameTwice)
{
    Picture p(pli_picture_create(97, 31));
    for (int k = 0; k < 97 * 31; ++k)
        p->pixel[k] = { static_cast<unsigned char>(k * 7), static_cast<unsigned char>(k / 3),
                        static_cast<unsigned char>(255 - k) };
    size_t bytes = 0, again = 0;
    std::unique_ptr<unsigned char, decltype(&std::free)> png(pli_picture_png(p.get(), &bytes), std::free);
    std::unique_ptr<unsigned char, decltype(&std::free)> twin(pli_picture_png(p.get(), &again), std::free);
    ASSERT_TRUE(png && twin);
    ASSERT_EQ(bytes, again);
    EXPECT_EQ(std::memcmp(png.get(), twin.get(), bytes), 0);
    int width = 0, height = 0;
    const auto rgb = decode(png.get(), bytes, &width, &height);
    ASSERT_EQ(width, 97);
    ASSERT_EQ(height, 31);
    EXPECT_EQ(std::memcmp(rgb.data(), p->pixel, rgb.size()), 0);
}

TEST(Picture, AFileThatCannotBeWrittenIsOneSentence)
{
    Picture p(pli_picture_create(4, 4));
    PliError err = {};
    EXPECT_EQ(pli_picture_write(p.get(), "/no-such-folder/x.png", &err), PLI_BAD_FILE);
    EXPECT_NE(std::string(err.text).find("/no-such-folder/x.png: cannot be written: No such file"), std::string::npos)
        << err.text;
}

} // namespace
