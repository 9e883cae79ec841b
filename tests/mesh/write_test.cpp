/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <numeric>
#include <sstream>
#include <vector>

#include "mesh/support.h"

namespace
{

const std::string folder = std::string(PLIANT_BINARY_DIR) + "/mesh_test_";

MeshPtr read(const std::string &path)
{
    PliHost host = pli_host_default();
    PliError err{};
    MeshPtr m(pli_mesh_read(&host, path.c_str(), &err));
    EXPECT_TRUE(m) << err.text;
    return m;
}

std::string slurp(const std::string &path)
{
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
}

template <class T> void expect_same(const T *a, const T *b, size_t count)
{
    for (size_t i = 0; i < count; ++i) ASSERT_EQ(a[i], b[i]) << i;
}

/// A mesh with one of everything and coordinates that need all their digits.
MeshPtr make_mixed()
{
    MeshPtr m = make_box({ 3, 2, 2 }, { 0.1, -1.0 / 3, 1e-7 }, { 2, 1, 4 }, 0.3, 4);
    EXPECT_EQ(pli_mesh_find_surface(m.get()), PLI_OK);
    EXPECT_EQ(pli_mesh_resize_cells(m.get(), PLI_HEX, 1), PLI_OK);
    EXPECT_EQ(pli_mesh_resize_cells(m.get(), PLI_QUAD, 1), PLI_OK);
    EXPECT_EQ(pli_mesh_resize_cells(m.get(), PLI_EDGE, 2), PLI_OK);
    const PliIndex hex[8] = { 0, 1, 5, 4, 12, 13, 17, 16 }, edges[4] = { 3, 4, 4, 5 };
    std::copy(hex, hex + 8, m->hexes);
    std::copy(hex, hex + 4, m->quads);
    std::copy(edges, edges + 4, m->edges);
    return m;
}

TEST(MeshWrite, MshReadsBackToTheSameBits)
{
    MeshPtr m = make_mixed();
    PliError err{};
    const std::string path = folder + "mixed.msh";
    ASSERT_EQ(pli_mesh_write_msh(m.get(), path.c_str(), &err), PLI_OK) << err.text;
    MeshPtr r = read(path);
    ASSERT_TRUE(r);
    ASSERT_EQ(r->point_count, m->point_count);
    ASSERT_EQ(r->tet_count, m->tet_count);
    ASSERT_EQ(r->tri_count, m->tri_count);
    ASSERT_EQ(r->quad_count, 1u);
    ASSERT_EQ(r->hex_count, 1u);
    ASSERT_EQ(r->edge_count, 2u);
    expect_same(r->x, m->x, 3 * size_t(m->point_count));
    expect_same(r->tets, m->tets, 4 * size_t(m->tet_count));
    expect_same(r->tris, m->tris, 3 * size_t(m->tri_count));
    expect_same(r->hexes, m->hexes, 8);
    expect_same(r->quads, m->quads, 4);
    expect_same(r->edges, m->edges, 4);
    EXPECT_EQ(r->flipped, 0u);
}

TEST(MeshWrite, ObjReadsBackToTheSameBits)
{
    MeshPtr m = make_mixed();
    const std::string path = folder + "mixed.obj";
    ASSERT_EQ(pli_mesh_write_obj(m.get(), path.c_str(), nullptr), PLI_OK);
    MeshPtr r = read(path);
    ASSERT_TRUE(r);
    ASSERT_EQ(r->tri_count, m->tri_count);
    expect_same(r->x, m->x, 3 * size_t(m->point_count));
    expect_same(r->tris, m->tris, 3 * size_t(m->tri_count));
    EXPECT_EQ(r->tet_count, 0u);
}

TEST(MeshWrite, VtuReadsBackDeformedPointsAndVolumeCells)
{
    MeshPtr m = make_mixed();
    std::vector<double> x(3 * m->point_count), level(m->point_count, 2.0), stress(m->tet_count + 1, -1.0);
    for (size_t i = 0; i < x.size(); ++i) x[i] = 2.0 * m->x[i] + 0.1;
    const PliField fields[] = { { "displacement <&\">", x.data(), 3, false },
                                { "von_mises", stress.data(), 1, true },
                                { "level", level.data(), 1, false } };
    const std::string path = folder + "mixed.vtu";
    PliError err{};
    ASSERT_EQ(pli_mesh_write_vtu(m.get(), x.data(), fields, 3, "units m-kg-s", path.c_str(), &err), PLI_OK) << err.text;
    MeshPtr r = read(path);
    ASSERT_TRUE(r);
    ASSERT_EQ(r->point_count, m->point_count);
    ASSERT_EQ(r->tet_count, m->tet_count);
    EXPECT_EQ(r->hex_count, 1u);
    EXPECT_EQ(r->tri_count, 0u);
    expect_same(r->x, x.data(), x.size());
    expect_same(r->tets, m->tets, 4 * size_t(m->tet_count));
    const std::string text = slurp(path);
    EXPECT_NE(text.find("117 110 105 116 115"), std::string::npos); // "units" as codes
    EXPECT_NE(text.find("displacement &lt;&amp;&quot;&gt;"), std::string::npos);
    EXPECT_EQ(slurp(path + ".tmp"), ""); // renamed away
    // triangles and quads when there is no volume
    pli_mesh_resize_cells(m.get(), PLI_TET, 0);
    pli_mesh_resize_cells(m.get(), PLI_HEX, 0);
    ASSERT_EQ(pli_mesh_write_vtu(m.get(), nullptr, nullptr, 0, nullptr, path.c_str(), &err), PLI_OK);
    r = read(path);
    ASSERT_TRUE(r);
    EXPECT_EQ(r->tri_count, m->tri_count);
    EXPECT_EQ(r->quad_count, 1u);
}

TEST(MeshWrite, PvdListsFilesAndIsWhole)
{
    const double times[] = { 0.0, 0.1, 1.0 / 3 };
    const char *files[] = { "a_0.vtu", "a_1.vtu", "b&c.vtu" };
    const std::string path = folder + "run.pvd";
    ASSERT_EQ(pli_mesh_write_pvd(path.c_str(), times, files, 3, nullptr), PLI_OK);
    const std::string text = slurp(path);
    EXPECT_NE(text.find("<DataSet timestep=\"0.1\" part=\"0\" file=\"a_1.vtu\"/>"), std::string::npos) << text;
    EXPECT_NE(text.find("b&amp;c.vtu"), std::string::npos) << text;
    EXPECT_NE(text.find("0.3333333333333333\""), std::string::npos) << text;
    EXPECT_NE(text.find("</VTKFile>"), std::string::npos);
}

TEST(MeshWrite, RefusalsLeaveNoFile)
{
    MeshPtr m = make_box({ 1, 1, 1 }, { 0, 0, 0 }, { 1, 1, 1 });
    PliError err{};
    EXPECT_EQ(pli_mesh_write_msh(m.get(), "no/such/folder/a.msh", &err), PLI_BAD_FILE);
    EXPECT_NE(std::string(err.text).find("no/such/folder/a.msh"), std::string::npos) << err.text;
    EXPECT_EQ(pli_mesh_write_msh(m.get(), std::string(2000, 'a').c_str(), &err), PLI_BAD_FILE);
    const std::string path = folder + "refused.vtu";
    std::remove(path.c_str());
    double data[8] = {};
    const PliField two{ "two", data, 2, false }, none{ "none", nullptr, 1, false };
    EXPECT_EQ(pli_mesh_write_vtu(m.get(), nullptr, &two, 1, nullptr, path.c_str(), &err), PLI_BAD_ARGUMENT);
    EXPECT_NE(std::string(err.text).find("\"two\" has 2"), std::string::npos) << err.text;
    EXPECT_EQ(pli_mesh_write_vtu(m.get(), nullptr, &none, 1, nullptr, path.c_str(), &err), PLI_BAD_ARGUMENT);
    m->x[4] = INFINITY;
    EXPECT_EQ(pli_mesh_write_obj(m.get(), path.c_str(), &err), PLI_BAD_MESH);
    EXPECT_NE(std::string(err.text).find("point 1 is inf"), std::string::npos) << err.text;
    EXPECT_FALSE(std::ifstream(path).good());
    EXPECT_FALSE(std::ifstream(path + ".tmp").good());
}

TEST(MeshWrite, FullDiskIsReported)
{
    std::ifstream full("/dev/full");
    if (!full.good()) GTEST_SKIP() << "this system has no /dev/full";
    // the temporary name is a link to a device that is always full
    const std::string path = folder + "full.obj";
    std::remove((path + ".tmp").c_str());
    ASSERT_EQ(std::system(("ln -s /dev/full '" + path + ".tmp'").c_str()), 0);
    MeshPtr m = make_box({ 1, 1, 1 }, { 0, 0, 0 }, { 1, 1, 1 });
    PliError err{};
    EXPECT_EQ(pli_mesh_write_obj(m.get(), path.c_str(), &err), PLI_BAD_FILE);
    EXPECT_NE(std::string(err.text).find("in full"), std::string::npos) << err.text;
    EXPECT_FALSE(std::ifstream(path).good());
}

// ---- an independent reader ------------------------------------------------------------------------------------------

std::string run(const std::string &command)
{
    std::string out;
    FILE *pipe = popen((command + " 2>&1").c_str(), "r");
    if (!pipe) return out;
    char line[512];
    while (std::fgets(line, sizeof line, pipe)) out += line;
    return pclose(pipe) == 0 ? out : "failed: " + out;
}

TEST(MeshWrite, MeshioReadsTheSame)
{
    std::string python;
    for (const char *candidate : { "python3", "/usr/bin/python3" })
        if (python.empty() && run(std::string(candidate) + " -c 'import meshio; print(1)'") == "1\n")
            python = candidate;
    if (python.empty()) GTEST_SKIP() << "meshio is not installed: apt-get install python3-meshio";
    MeshPtr m = make_box({ 4, 3, 2 }, { 0, 0, 0 }, { 4, 3, 2 }, 0.2, 8);
    ASSERT_EQ(pli_mesh_find_surface(m.get()), PLI_OK);
    std::vector<double> move(3 * m->point_count), energy(m->tet_count);
    std::iota(move.begin(), move.end(), 0.5);
    std::iota(energy.begin(), energy.end(), 1.0);
    const double move_sum = std::accumulate(move.begin(), move.end(), 0.0),
                 energy_sum = std::accumulate(energy.begin(), energy.end(), 0.0);
    const PliField fields[] = { { "displacement", move.data(), 3, false }, { "energy", energy.data(), 1, true } };
    const std::string msh = folder + "meshio.msh", vtu = folder + "meshio.vtu", obj = folder + "meshio.obj";
    ASSERT_EQ(pli_mesh_write_msh(m.get(), msh.c_str(), nullptr), PLI_OK);
    ASSERT_EQ(pli_mesh_write_obj(m.get(), obj.c_str(), nullptr), PLI_OK);
    // no note: meshio refuses every file with a string in its FieldData, those of VTK itself too
    ASSERT_EQ(pli_mesh_write_vtu(m.get(), nullptr, fields, 2, nullptr, vtu.c_str(), nullptr), PLI_OK);
    const std::string script = python + " '" + PLIANT_SOURCE_DIR + "/tests/mesh/read_back.py' ";
    for (const std::string &path : { msh, vtu, obj }) {
        const std::string out = run(script + "'" + path + "'");
        std::istringstream words(out);
        size_t points = 0, lines = 9, tris = 0, quads = 9, tets = 0, hexes = 9;
        double volume = 0;
        words >> points >> lines >> tris >> quads >> tets >> hexes >> volume;
        EXPECT_EQ(points, m->point_count) << out;
        EXPECT_EQ(tris, path == vtu ? 0 : m->tri_count) << out;
        EXPECT_EQ(tets, path == obj ? 0 : m->tet_count) << out;
        EXPECT_EQ(lines + quads + hexes, 0u) << out;
        if (path == obj) continue;
        EXPECT_NEAR(volume, 24.0, 1e-10) << out;
        if (path == msh) continue;
        std::string where, name;
        size_t rows = 0, columns = 0;
        double sum = 0;
        words >> where >> name >> rows >> columns >> sum;
        EXPECT_EQ(where + name, "pointdisplacement") << out;
        EXPECT_EQ(rows, m->point_count);
        EXPECT_EQ(columns, 3u);
        EXPECT_NEAR(sum, move_sum, 1e-9 * move_sum);
        words >> where >> name >> rows >> sum;
        EXPECT_EQ(where + name, "cellenergy") << out;
        EXPECT_EQ(rows, m->tet_count);
        EXPECT_NEAR(sum, energy_sum, 1e-9 * energy_sum);
    }
}

} // namespace
