/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Levels of detail in scenes: what is wrong with them is said in one sentence, and the hierarchy is kept between runs.
#include "host/host_scene.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>

using namespace pliant_test;

namespace
{

/// Writes a box of n cells an edge after `change` has done something to it.
void write_box(const Folder &folder, const char *name, PliIndex n, const std::function<void(PliMesh *)> &change = {})
{
    PliHost host = pli_host_default();
    PliBoxDef def = { { 0, 0, 0 }, { 0.1, 0.1, 0.1 }, { n, n, n }, 0.1, n };
    PliError err = {};
    std::unique_ptr<PliMesh, void (*)(PliMesh *)> mesh(pli_mesh_box(&host, &def, &err), pli_mesh_destroy);
    ASSERT_TRUE(mesh) << err.text;
    if (change) change(mesh.get());
    ASSERT_EQ(pli_mesh_write_msh(mesh.get(), folder.path(name).c_str(), &err), PLI_OK) << err.text;
}

std::string scene_text(const std::string &files, const std::string &attributes = "")
{
    return node(R"(<TetLodModel name="model" filenames=")" + files + "\" " + attributes +
                R"(/><AdaptiveSolver/><MechanicalObject name="dofs" position="@model.position"/>)");
}

struct Levels {
    Folder folder;
    Levels()
    {
        write_box(folder, "coarse.msh", 2);
        write_box(folder, "fine.msh", 4);
    }
    std::unique_ptr<HostScene> load(const std::string &files, const std::string &attributes = "")
    {
        return std::make_unique<HostScene>(HostScene::FromFile{}, folder.write("s.scn", scene_text(files, attributes)));
    }
    /// Not loaded, with these words in one finding.
    void refuses(const std::string &files, const std::string &words)
    {
        auto s = load(files);
        EXPECT_FALSE(s->good()) << files;
        const std::string all = s->findings();
        EXPECT_NE(all.find(words), std::string::npos) << files << ": " << all;
        EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 1) << all; // one sentence
    }
};

TEST(TetLodScenes, BadLevelsGetOneSentence)
{
    Levels l;
    auto away = [](PliMesh *m) {
        for (PliIndex i = 0; i < m->point_count; ++i) m->x[3 * i] += 1.0;
    };
    write_box(l.folder, "away.msh", 4, away);
    write_box(l.folder, "flat.msh", 4, [](PliMesh *m) { m->tets[1] = m->tets[0]; });
    l.refuses("coarse.msh away.msh", "of their volume in common");
    l.refuses("coarse.msh flat.msh", "flat");
    l.refuses("fine.msh coarse.msh", "give the levels coarse to fine");
    EXPECT_NE(l.load("coarse.msh gone.msh")->findings().find("\"gone.msh\" was not found"), std::string::npos);
    l.refuses("", "no levels");
}

TEST(TetLodScenes, WhatCanWorkDoes)
{
    Levels l;
    // points no tetrahedron has, before the others and behind them, are left out: the same body
    write_box(l.folder, "orphan.msh", 4, [](PliMesh *m) {
        const PliIndex n = m->point_count;
        ASSERT_EQ(pli_mesh_resize_points(m, n + 2), PLI_OK);
        std::copy_backward(m->x, m->x + 3 * n, m->x + 3 * (n + 1));
        for (PliIndex i = 0; i < 4 * m->tet_count; ++i) m->tets[i]++;
        for (int d = 0; d < 3; ++d) m->x[d] = m->x[3 * (n + 1) + d] = 7.0;
    });
    std::vector<double> motion[2];
    for (int k = 0; k < 2; ++k) {
        auto s = l.load(k ? "coarse.msh orphan.msh" : "coarse.msh fine.msh", R"(criterion="region" radius="0.05")");
        ASSERT_TRUE(s->good()) << s->findings();
        s->step(5);
        motion[k] = s->reals("dofs", "position");
    }
    EXPECT_FALSE(motion[0].empty());
    EXPECT_EQ(motion[0], motion[1]);
    // every second tetrahedron turned inside out: the order of corners carries no information, and is put right
    write_box(l.folder, "inverted.msh", 4, [](PliMesh *m) {
        for (PliIndex t = 0; t < m->tet_count; t += 2) std::swap(m->tets[4 * t], m->tets[4 * t + 1]);
    });
    // nodes of the fine level outside of every coarse tetrahedron follow the nearest one
    write_box(l.folder, "bulge.msh", 4, [](PliMesh *m) {
        for (PliIndex i = 0; i < 3 * m->point_count; ++i) m->x[i] = 0.05 + 1.1 * (m->x[i] - 0.05);
    });
    for (const char *files : { "fine.msh", "coarse.msh inverted.msh", "coarse.msh bulge.msh" }) {
        auto s = l.load(files, R"(criterion="region" radius="0.05" law="corotational")");
        ASSERT_TRUE(s->good()) << files << s->findings();
        s->step(5);
        const PliStats stats = pli_body_stats(pli_model_self(s->object("model"))->body);
        EXPECT_EQ(stats.refined > 0, std::string(files) != "fine.msh")
            << files; // one level: nothing to refine, and no harm
    }
}

TEST(TetLodScenes, TheHierarchyIsKeptBesideTheScene)
{
    Levels l;
    const std::string kept = l.folder.path("levels.cache");
    auto bytes = [&] {
        std::ifstream in(kept, std::ios::binary);
        return std::string(std::istreambuf_iterator<char>(in), {});
    };
    auto positions = [&] {
        auto s = l.load("coarse.msh fine.msh", R"(cache="levels.cache" criterion="region" radius="0.05")");
        EXPECT_TRUE(s->good()) << s->findings();
        if (!s->good()) return std::vector<double>();
        s->step(5);
        return s->reals("dofs", "position");
    };
    const auto first = positions();
    const std::string cache = bytes();
    ASSERT_GT(cache.size(), 1000u) << "not written beside the scene";
    EXPECT_EQ(positions(), first); // read back: the same motion
    EXPECT_EQ(bytes(), cache);
    // of other meshes: made again, and written again
    write_box(l.folder, "fine.msh", 5);
    EXPECT_NE(positions().size(), first.size());
    EXPECT_NE(bytes(), cache);
    // damaged: not believed
    std::ofstream(kept, std::ios::binary) << cache.substr(0, cache.size() / 2);
    write_box(l.folder, "fine.msh", 4);
    EXPECT_EQ(positions(), first);
    EXPECT_EQ(bytes(), cache);
}

PliBody *body_of(HostScene &s, const char *path) { return pli_model_self(s.object(path))->body; }

TEST(TetLodScenes, TheBarRefinesWhereItBends)
{
    HostScene s(HostScene::FromFile{}, std::string(PLIANT_SOURCE_DIR) + "/scenes/single/tetlod_bar.scn");
    ASSERT_TRUE(s.good()) << s.findings();
    s.step(60);
    PliBody *b = body_of(s, "bar/model");
    const PliActive active = pli_body_active(b);
    double fine = 0, coarse = 0;
    int fines = 0, coarses = 0;
    for (PliIndex i = 0; i < active.count; ++i) {
        const double z = pli_body_rest(b)[3 * active.dof[i] + 2];
        if (pli_body_dof_level(b)[active.dof[i]] >= 2) fine += z, fines++;
        if (pli_body_dof_level(b)[active.dof[i]] == 0) coarse += z, coarses++;
    }
    ASSERT_GT(fines, 20);
    ASSERT_GT(coarses, 3);
    EXPECT_LT(fine / fines, coarse / coarses); // near the clamp
}

TEST(TetLodScenes, TheSpinningBallKeepsItsMomentum)
{
    HostScene s(HostScene::FromFile{}, std::string(PLIANT_SOURCE_DIR) + "/scenes/single/tetlod_spin.scn");
    ASSERT_TRUE(s.good()) << s.findings();
    s.step(85); // the tool is gone
    PliBody *b = body_of(s, "ball/model");
    const PliMech *state = s.state("ball/dofs");
    const PliEnergy first = pli_body_energy(b, state->x, state->v);
    const PliStats before = pli_body_stats(b);
    s.step(100);
    const PliEnergy last = pli_body_energy(b, state->x, state->v);
    const PliStats after = pli_body_stats(b);
    EXPECT_GT(before.refined, 10u);
    EXPECT_GT(after.refined + after.coarsened, before.refined + before.coarsened + 5);
    double size = 0, spin = 0;
    for (int c = 0; c < 3; ++c)
        size += first.momentum[c] * first.momentum[c], spin += first.angular[c] * first.angular[c];
    EXPECT_GT(spin, 0.0);
    for (int c = 0; c < 3; ++c) {
        EXPECT_NEAR(last.momentum[c], first.momentum[c], 1e-10 * std::sqrt(size));
        EXPECT_NEAR(last.angular[c], first.angular[c], 1e-10 * std::sqrt(spin));
    }
}

} // namespace
