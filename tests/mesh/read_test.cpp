/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <gtest/gtest.h>

#include <clocale>
#include <cmath>
#include <fstream>
#include <set>

#include "base/hash.h"
#include "mesh/samples.h"
#include "mesh/support.h"

extern "C" {
#include "mesh/read.h"
}

namespace
{

PliHost quiet_host()
{
    PliHost host = pli_host_default();
    host.log = nullptr;
    return host;
}

MeshPtr parse(const std::string &name, const std::string &bytes, PliError *err = nullptr)
{
    PliHost host = quiet_host();
    return MeshPtr(pli_mesh_parse(&host, name.c_str(), bytes.data(), bytes.size(), err));
}

/// Refused, and the sentence holds all of `words`.
void expect_refused(const std::string &name, const std::string &bytes, std::initializer_list<const char *> words)
{
    PliError err{};
    EXPECT_FALSE(parse(name, bytes, &err)) << name;
    for (const char *word : words)
        EXPECT_NE(std::string(err.text).find(word), std::string::npos) << err.text << " lacks " << word;
}

std::string replace(std::string s, const std::string &from, const std::string &to)
{
    const size_t at = s.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return at == std::string::npos ? s : s.replace(at, from.size(), to);
}

/// The corners of a cell as points, so that formats with other numbering compare.
std::set<std::set<std::array<double, 3>>> places(const PliMesh &m, const PliIndex *cell, PliIndex count, int width)
{
    std::set<std::set<std::array<double, 3>>> all;
    for (PliIndex i = 0; i < count; ++i) {
        std::set<std::array<double, 3>> one;
        for (int k = 0; k < width; ++k) {
            const double *p = m.x + 3 * cell[width * i + k];
            one.insert({ p[0], p[1], p[2] });
        }
        all.insert(one);
    }
    return all;
}

void expect_sample(const Sample &s, const PliMesh &m)
{
    EXPECT_EQ(m.point_count, s.points) << s.name;
    EXPECT_EQ(m.tri_count, s.tris) << s.name;
    EXPECT_EQ(m.tet_count, s.tets) << s.name;
    EXPECT_EQ(m.edge_count + m.quad_count + m.hex_count, 0u) << s.name;
    static MeshPtr reference = parse("two.msh", samples::msh2());
    if (s.tets) {
        EXPECT_EQ(m.flipped, 1u) << s.name;
        EXPECT_NEAR(pli_mesh_volume(&m), 0.5, 1e-15) << s.name;
        EXPECT_EQ(places(m, m.tets, m.tet_count, 4), places(*reference, reference->tets, 2, 4)) << s.name;
    }
    double six_volumes = 0; // of the closed surface, positive when every triangle is outward
    for (PliIndex t = 0; t < m.tri_count; ++t) {
        const double *p = m.x + 3 * m.tris[3 * t], *q = m.x + 3 * m.tris[3 * t + 1], *r = m.x + 3 * m.tris[3 * t + 2];
        six_volumes += p[0] * (q[1] * r[2] - q[2] * r[1]) - p[1] * (q[0] * r[2] - q[2] * r[0]) +
                       p[2] * (q[0] * r[1] - q[1] * r[0]);
    }
    // without tets the file's own turn is kept, and that of the strip is inward
    if (s.tris && s.name != "poly.vtk") {
        EXPECT_NEAR(six_volumes, 3.0, 1e-15) << s.name;
    }
}

TEST(MeshRead, EveryFormatGivesTheSameSolid)
{
    for (const Sample &s : samples::all()) {
        PliError err{};
        MeshPtr m = parse(s.name, s.bytes, &err);
        ASSERT_TRUE(m) << err.text;
        expect_sample(s, *m);
    }
}

TEST(MeshRead, LineEndsAndByteOrderMarkDoNotMatter)
{
    for (const Sample &s : samples::all()) {
        if (s.name.find("binary") != std::string::npos || s.name.find("swapped") != std::string::npos ||
            s.name.find("raw") != std::string::npos)
            continue;
        std::string crlf = "\xEF\xBB\xBF", cr;
        for (char c : s.bytes) crlf += c == '\n' ? std::string("\r\n") : std::string(1, c), cr += c == '\n' ? '\r' : c;
        for (const std::string &bytes : { crlf, cr }) {
            PliError err{};
            MeshPtr m = parse(s.name, bytes, &err);
            ASSERT_TRUE(m) << s.name << ": " << err.text;
            expect_sample(s, *m);
        }
    }
}

TEST(MeshRead, ContentDecidesBeforeTheExtension)
{
    MeshPtr m = parse("wrong.obj", samples::msh2());
    ASSERT_TRUE(m);
    EXPECT_EQ(m->tet_count, 2u);
    expect_refused("thing.xyz", "hello there", { "thing.xyz:1:", "msh, vtk" });
    expect_refused("thing.msh", "\xFF\xFE$", { "UTF-16" });
}

TEST(MeshRead, DecimalCommaLocaleChangesNothing)
{
    std::string old = std::setlocale(LC_ALL, nullptr);
    const bool set = std::setlocale(LC_ALL, "de_DE.UTF-8") || std::setlocale(LC_ALL, "fr_FR.UTF-8");
    // 20 digits take the slow path through the C library
    MeshPtr m = parse("a.obj", "v 0.12345678901234567891 1.5 2e-3\n");
    std::setlocale(LC_ALL, old.c_str());
    ASSERT_TRUE(m);
    EXPECT_EQ(m->x[0], 0.12345678901234567891);
    EXPECT_EQ(m->x[1], 1.5);
    EXPECT_EQ(m->x[2], 2e-3);
    if (!set) GTEST_SKIP() << "no locale with a decimal comma is installed: checked in the C locale only";
}

TEST(MeshRead, NumbersHaveTheBitsOfStrtod)
{
    uint64_t random = 3;
    for (int n = 0; n < 20000; ++n) {
        const int digits = 1 + int(pli_random(&random) % 18), power = int(pli_random(&random) % 60) - 30;
        std::string word = pli_random(&random) & 1 ? "-" : "";
        const int point = int(pli_random(&random) % (digits + 1));
        for (int d = 0; d < digits; ++d)
            word += (d == point ? "." : "") + std::string(1, char('0' + pli_random(&random) % 10));
        if (pli_random(&random) & 1) word += (pli_random(&random) & 1 ? "e" : "E") + std::to_string(power);
        const double want = std::strtod(word.c_str(), nullptr);
        if (std::fabs(want) > 1e30) continue;
        MeshPtr m = parse("a.obj", "v 0 0 " + word);
        ASSERT_TRUE(m) << word;
        ASSERT_EQ(m->x[2], want) << word;
    }
}

TEST(MeshRead, RefusesNumbersThatAreNone)
{
    for (const char *word : { "nan", "inf", "-inf", "0x10", "1e", "1e+", ".", "-", "+.", "1.2.3", "1,5", "1e999", "1_0",
                              "--1", "e5", "1e400" })
        expect_refused("a.obj", std::string("v 0 0 0\nv 0 0 ") + word + "\n", { "a.obj:2:", word });
    expect_refused("a.obj", "v 0 0 1e31", { "1e+31", "beyond" });
    expect_refused("a.obj", "v 0 0 " + std::string(100000, '1') + "\n", { "a.obj:1:", "1111..." });
    expect_refused("a.obj", "v 0 0\n", { "a.obj:1:", "2 coordinates" });
}

TEST(MeshRead, RefusalsNameLineOrOffsetAndValue)
{
    const std::string m2 = samples::msh2();
    expect_refused("a.msh", replace(m2, "2.2 0 8", "3.0 0 8"), { "a.msh:2:", "3.0" });
    expect_refused("a.msh", replace(m2, "2.2 0 8", "4.0 0 8"), { "a.msh:2:", "4.0", "4.1" });
    expect_refused("a.msh", replace(m2, "$Nodes\n5", "$Nodes\n999999999"),
                   { "a.msh:9:", "999999999", "bytes are left" });
    expect_refused("a.msh", replace(m2, "$Nodes\n5", "$Nodes\n-1"), { "a.msh:9:", "-1" });
    expect_refused("a.msh", replace(m2, "$Nodes\n5", "$Nodes\n99999999999999999999"),
                   { "a.msh:9:", "99999999999999999999" });
    expect_refused("a.msh", replace(m2, "2 1 0 0", "1 1 0 0"), { "a.msh:11:", "node 1 appears twice" });
    expect_refused("a.msh", replace(m2, "2 1 0 0", "2 nan 0 0"), { "a.msh:11:", "nan" });
    expect_refused("a.msh", replace(m2, "8 4 3 0 1 7 1 2 3 4", "8 4 3 0 1 7 1 2 3 6"), { "a.msh:25:", "node 6" });
    expect_refused("a.msh", replace(m2, "8 4 3 0 1 7 1 2 3 4", "8 11 3 0 1 7 1 2 3 4"),
                   { "a.msh:25:", "second order tetrahedron" });
    expect_refused("a.msh", replace(m2, "8 4 3 0 1 7 1 2 3 4", "8 4 3 0 1 7 1 2 3 3"), { "flat" });
    expect_refused("a.msh", m2.substr(0, m2.size() - 14), { "a.msh:26:", "$EndElements" });
    const std::string m2b = samples::msh2_binary(false);
    expect_refused("a.msh", m2b.substr(0, 100), { "offset", "the number of nodes is 5" });
    expect_refused("a.vtk", replace(samples::vtk(false, false), "UNSTRUCTURED_GRID", "STRUCTURED_POINTS"),
                   { "a.vtk:4:", "STRUCTURED_POINTS" });
    expect_refused("a.vtk", replace(samples::vtk(false, false), "CELLS 2 10", "CELLS 2 11"),
                   { "a.vtk:8:", "1 numbers" });
    expect_refused("a.vtu", replace(samples::vtu(samples::Vtu::ascii), "4 8", "4 3"), { "a.vtu:", "offset 3" });
    expect_refused("a.vtu", replace(samples::vtu(samples::Vtu::ascii), "10 10", "10 14"), { "a.vtu:", "pyramid" });
    expect_refused("a.vtu", replace(samples::vtu(samples::Vtu::ascii), "10 10", "10 13"), { "a.vtu:", "instead of 6" });
    expect_refused("a.vtu",
                   replace(samples::vtu(samples::Vtu::ascii), "NumberOfPoints=\"5\"", "NumberOfPoints=\"500000\""),
                   { "500000" });
    expect_refused("a.vtu", replace(samples::vtu(samples::Vtu::raw_zlib), "vtkZLib", "vtkLZ4"), { "a.vtu:", "vtkLZ4" });
    expect_refused(
        "a.vtu",
        replace(samples::vtu(samples::Vtu::ascii), "<!-- two tetrahedra -->", "<!DOCTYPE a [<!ENTITY b \"c\">]>"),
        { "a.vtu:2:" });
    expect_refused("a.obj", "v 0 0 0\nv 1 0 0\nf 1 2 3\n", { "a.obj:3:", "point 3" });
    expect_refused("a.obj", "v 0 0 0\nf -1 -1 -2\n", { "a.obj:2:", "-2" });
    expect_refused("a.obj", "v 0 0 0\nf 0 1 1\n", { "a.obj:2:", "0" });
    expect_refused("a.obj", "# nothing\n", { "holds no points" });
    expect_refused("a.stl", "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 x\n", { "a.stl:4:", "\"x\"" });
    expect_refused("a.stl", "x" + samples::stl_binary().substr(1, 199), { "offset 80", "7 triangles" });
    expect_refused("a.mesh", replace(samples::medit(), "Tetrahedra\n2", "Tetrahedra\n2000"), { "a.mesh:", "2000" });
    expect_refused("a.mesh", replace(samples::medit(), "Corners", "Colours"), { "a.mesh:12:", "Colours" });
    expect_refused(std::string(1000, 'p') + "/end.obj", "v x\n", { "...", "/end.obj:1:", "\"x\"" });
}

TEST(MeshRead, FilesThatAreNotThere)
{
    PliHost host = quiet_host();
    PliError err{};
    EXPECT_EQ(pli_mesh_read(&host, "no/such/file.msh", &err), nullptr);
    EXPECT_NE(std::string(err.text).find("no/such/file.msh: cannot be opened"), std::string::npos) << err.text;
    EXPECT_EQ(pli_mesh_read(&host, PLIANT_BINARY_DIR, &err), nullptr);
    EXPECT_NE(std::string(err.text).find("regular file"), std::string::npos) << err.text;
    EXPECT_EQ(pli_mesh_read(&host, PLIANT_BINARY_DIR, nullptr), nullptr);
    const std::string path = std::string(PLIANT_BINARY_DIR) + "/mesh_empty.msh";
    std::ofstream(path).close();
    EXPECT_EQ(pli_mesh_read(&host, path.c_str(), &err), nullptr);
    EXPECT_NE(std::string(err.text).find("empty"), std::string::npos) << err.text;
}

TEST(MeshRead, RepeatedTetsAreDroppedWithAWarning)
{
    // what Gmsh writes for a cell in two physical groups
    std::string s = replace(samples::msh2(), "$Elements\n9", "$Elements\n10");
    s = replace(s, "$EndElements", "10 4 2 5 1 4 3 2 1\n$EndElements");
    static std::string said;
    PliHost host = pli_host_default();
    host.log = [](PliLogLevel, const char *text, void *) { said = text; };
    MeshPtr m(pli_mesh_parse(&host, "a.msh", s.data(), s.size(), nullptr));
    ASSERT_TRUE(m);
    EXPECT_EQ(m->tet_count, 2u);
    EXPECT_NE(said.find("1 of 3"), std::string::npos) << said;
}

TEST(MeshRead, QuadsHexesEdgesPixelsAndVoxels)
{
    MeshPtr m = parse("a.vtk", "# vtk DataFile Version 2.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 8 float\n"
                               "0 0 0 1 0 0 0 1 0 1 1 0 0 0 1 1 0 1 0 1 1 1 1 1\nCELLS 5 27\n8 0 1 2 3 4 5 6 7\n4 0 1 "
                               "2 3\n4 0 1 3 2\n3 0 1 3\n"
                               "3 5 6 7\nCELL_TYPES 5\n11\n8\n9\n4\n7\n");
    ASSERT_TRUE(m);
    ASSERT_EQ(m->hex_count, 1u);
    ASSERT_EQ(m->quad_count, 2u);
    ASSERT_EQ(m->edge_count, 2u);
    ASSERT_EQ(m->tri_count, 1u);
    const PliIndex hex[8] = { 0, 1, 3, 2, 4, 5, 7, 6 }, edges[4] = { 0, 1, 1, 3 };
    for (int k = 0; k < 8; ++k) EXPECT_EQ(m->hexes[k], hex[k]);
    for (int k = 0; k < 4; ++k) EXPECT_EQ(m->quads[k], m->quads[4 + k]); // pixel and quad of the same corners
    for (int k = 0; k < 4; ++k) EXPECT_EQ(m->edges[k], edges[k]);
}

TEST(MeshRead, PrismsAreHexahedraWithRepeatedCorners)
{
    const std::string points = "0 0 0\n1 0 0\n0 1 0\n0 0 1\n1 0 1\n0 1 1\n";
    const MeshPtr vtk =
        parse("a.vtk", "# vtk DataFile Version 3.0\nwedge\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 6 double\n" +
                           points + "CELLS 1 7\n6 0 1 2 3 4 5\nCELL_TYPES 1\n13\n");
    const MeshPtr msh =
        parse("a.msh", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n6\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 1 0 1\n"
                       "6 0 1 1\n$EndNodes\n$Elements\n1\n1 6 2 0 0 1 2 3 4 5 6\n$EndElements\n");
    const MeshPtr medit =
        parse("a.mesh", "MeshVersionFormatted 2\nDimension 3\nVertices\n6\n0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 0\n"
                        "1 0 1 0\n0 1 1 0\nPrisms\n1\n1 2 3 4 5 6 0\nEnd\n");
    const MeshPtr four =
        parse("a.msh", "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 6 1 6\n3 1 0 6\n1\n2\n3\n4\n5\n6\n" + points +
                           "$EndNodes\n$Elements\n1 1 1 1\n3 1 6 1\n1 1 2 3 4 5 6\n$EndElements\n");
    const PliIndex expected[8] = { 0, 1, 2, 2, 3, 4, 5, 5 };
    for (const MeshPtr *m : { &vtk, &msh, &medit, &four }) {
        ASSERT_TRUE(*m);
        ASSERT_EQ((*m)->hex_count, 1u);
        EXPECT_EQ(std::memcmp((*m)->hexes, expected, sizeof expected), 0);
        PliError err{};
        EXPECT_EQ(pli_mesh_split_hexes(m->get(), &err), PLI_UNSUPPORTED);
        EXPECT_STREQ(err.text, "cell 0 is a prism, which is not split into tetrahedra: give tetrahedra instead");
    }
}

TEST(MeshRead, PiecesOfAVtuFollowEachOther)
{
    const std::string one = samples::vtu(samples::Vtu::ascii);
    const size_t first = one.find("<Piece"), last = one.find("</UnstructuredGrid>");
    MeshPtr m = parse("a.vtu", std::string(one).insert(last, one.substr(first, last - first)));
    ASSERT_TRUE(m);
    EXPECT_EQ(m->point_count, 10u);
    ASSERT_EQ(m->tet_count, 4u);
    for (int k = 0; k < 8; ++k) EXPECT_EQ(m->tets[8 + k], m->tets[k] + 5);
}

TEST(MeshRead, PackedBombIsRefused)
{
    // a block that claims a gigabyte
    std::string s = samples::vtu(samples::Vtu::raw_zlib);
    const size_t at = s.find('_', s.find("AppendedData")) + 1;
    s.replace(at + 4, 4, samples::raw<uint32_t>(1u << 30));
    MeshPtr m = parse("a.vtu", s); // the first array is not needed: still fine
    EXPECT_TRUE(m);
    const size_t points = at + std::stoul(s.substr(s.find("offset=\"", s.find("\"Points\"")) + 8));
    s.replace(points + 4, 4, samples::raw<uint32_t>(1u << 30));
    expect_refused("a.vtu", s, { "1073741824", "unpack" });
}

TEST(MeshRead, TetsFlatButForRoundingAreRefusedOrPositive)
{
    // corners in the plane x + y + z = 1: the sign of the computed volume is noise, and turning the tet may not turn it
    uint64_t random = 5;
    int refused = 0, read = 0;
    for (int n = 0; n < 3000; ++n) {
        std::string s = "MeshVersionFormatted 2 Dimension 3 Vertices 4\n";
        for (int i = 0; i < 4; ++i) {
            const double a = pli_random_unit(&random), b = pli_random_unit(&random);
            s += samples::text("%.17g %.17g %.17g 0\n", a, b, 1 - a - b);
        }
        PliError err{};
        MeshPtr m = parse("a.mesh", s + "Tetrahedra 1 1 2 3 4 0 End", &err);
        (m ? read : refused)++;
        if (m) {
            EXPECT_EQ(pli_mesh_check_tets(m.get(), 0.0, &err), PLI_OK) << err.text;
        } else {
            EXPECT_NE(std::string(err.text).find("flat"), std::string::npos) << err.text;
        }
    }
    EXPECT_GT(refused, 0);
    EXPECT_GT(read, 0);
}

TEST(MeshRead, OutOfMemoryIsARefusalAndLeaksNothing)
{
    struct Memory {
        int left, held;
    };
    for (const Sample &s : samples::all())
        for (int limit = 0;; ++limit) {
            Memory memory{ limit, 0 };
            PliHost host = quiet_host();
            host.user = &memory;
            host.alloc = [](size_t bytes, size_t align, void *user) -> void * {
                Memory *m = static_cast<Memory *>(user);
                if (m->left-- <= 0) return nullptr;
                m->held++;
                return std::aligned_alloc(align, (bytes + align - 1) / align * align);
            };
            host.release = [](void *block, size_t, void *user) {
                static_cast<Memory *>(user)->held--;
                std::free(block);
            };
            PliError err{};
            PliMesh *m = pli_mesh_parse(&host, s.name.c_str(), s.bytes.data(), s.bytes.size(), &err);
            const bool read = m != nullptr;
            pli_mesh_destroy(m);
            EXPECT_EQ(memory.held, 0) << s.name << " with " << limit;
            if (read) break;
            ASSERT_EQ(err.status, PLI_OUT_OF_MEMORY) << s.name << ": " << err.text;
            ASSERT_LT(limit, 100) << s.name;
        }
}

// ---- damage: truncation at every byte, and seeded byte flips -------------------------------------------------------

/// NULL comes with a sentence that begins with the name; a mesh is sound.
void expect_sane(const std::string &name, const std::string &bytes)
{
    PliError err{};
    MeshPtr m = parse(name, bytes, &err);
    if (!m) {
        EXPECT_NE(err.status, PLI_OK);
        EXPECT_EQ(std::string(err.text).rfind(name + ":", 0), 0u) << err.text;
        EXPECT_GT(std::string(err.text).size(), name.size() + 5);
        return;
    }
    auto in_range = [&](const PliIndex *index, size_t count) {
        for (size_t i = 0; i < count; ++i) ASSERT_LT(index[i], m->point_count);
    };
    in_range(m->edges, 2 * size_t(m->edge_count));
    in_range(m->tris, 3 * size_t(m->tri_count));
    in_range(m->quads, 4 * size_t(m->quad_count));
    in_range(m->hexes, 8 * size_t(m->hex_count));
    EXPECT_EQ(pli_mesh_check_tets(m.get(), 0.0, &err), PLI_OK) << err.text;
}

TEST(MeshDamage, TruncatedAnywhere)
{
    for (const Sample &s : samples::all())
        for (size_t n = 0; n < s.bytes.size(); ++n) {
            // a copy of exactly this size, so that a sanitizer sees a read past the end
            const std::vector<char> exact(s.bytes.begin(), s.bytes.begin() + long(n));
            expect_sane(s.name, std::string(exact.begin(), exact.end()));
        }
}

TEST(MeshDamage, FlippedBytes)
{
    uint64_t random = 42;
    for (const Sample &s : samples::all())
        for (int n = 0; n < 1500; ++n) {
            std::string bytes = s.bytes;
            const int flips = 1 + int(pli_random(&random) % 3);
            for (int k = 0; k < flips; ++k) {
                const uint64_t r = pli_random(&random);
                char &c = bytes[(r >> 16) % bytes.size()];
                c = r & 1 ? char(c ^ (1 << (r >> 1 & 7))) : char("0123456789-.e <>\"\n\0\xff"[(r >> 4) % 20]);
            }
            expect_sane(s.name, bytes);
        }
}

TEST(MeshDamage, SplicedParts)
{
    // the head of one file with the tail of another
    uint64_t random = 7;
    const std::vector<Sample> all = samples::all();
    for (int n = 0; n < 4000; ++n) {
        const Sample &a = all[pli_random(&random) % all.size()], &b = all[pli_random(&random) % all.size()];
        expect_sane(a.name, a.bytes.substr(0, pli_random(&random) % a.bytes.size()) +
                                b.bytes.substr(pli_random(&random) % b.bytes.size()));
    }
}

} // namespace
