/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_TEST_HOST_SCENE_H
#define PLI_TEST_HOST_SCENE_H

// A scene from text, for tests: what was found, and the values and states of its components.

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

extern "C" {
#include "host/graph/component.h"
#include "host/components/components.h"
#include "host/graph/scene.h"
#include "host/graph/simulation.h"
}
#include "support/fixture.h"

namespace pliant_test
{

/// A directory of its own, gone at the end.
class Folder
{
  public:
    Folder()
    {
        static int number = 0;
        m_path = std::filesystem::path(testing::TempDir()) /
                 ("pliant_host_" + std::to_string(getpid()) + "_" + std::to_string(number++));
        std::filesystem::create_directories(m_path);
    }
    ~Folder() { std::filesystem::remove_all(m_path); }
    std::string write(const std::string &name, const std::string &text) const
    {
        std::filesystem::create_directories((m_path / name).parent_path());
        std::ofstream(m_path / name, std::ios::binary) << text;
        return (m_path / name).string();
    }
    std::string path(const std::string &name) const { return (m_path / name).string(); }

  private:
    std::filesystem::path m_path;
};

class HostScene
{
  public:
    explicit HostScene(const std::string &text, PliSceneDef def = pli_scene_default(),
                       const std::string &path = "test.scn")
    {
        m_host.quiet = true;
        scene = pli_scene_parse(&m_host.host, text.data(), text.size(), path.c_str(), &def, &status);
    }
    struct FromFile {
    };
    HostScene(FromFile, const std::string &path, PliSceneDef def = pli_scene_default())
    {
        m_host.quiet = true;
        scene = pli_scene_load(&m_host.host, path.c_str(), &def, &status);
    }
    ~HostScene() { pli_scene_destroy(scene); }
    HostScene(const HostScene &) = delete;

    PliScene *scene = nullptr;
    PliStatus status = PLI_OK;
    WatchedHost &host() { return m_host; }

    bool good() const { return scene && status == PLI_OK; }
    /// All findings as "file:line: Component: text", one a line.
    std::string findings(PliSeverity least = PLI_WARNING) const
    {
        std::string all;
        for (size_t i = 0; scene && i < scene->report.count; ++i) {
            const PliFinding &f = scene->report.finding[i];
            if (f.severity < least) continue;
            all += std::string(f.file ? f.file : "") + ":" + std::to_string(f.line) + ": " + f.component + ": " +
                   f.text + "\n";
        }
        return all;
    }
    PliObject *object(const std::string &path) const
    {
        PliObject *o = nullptr;
        PliNode *n = nullptr;
        pli_scene_follow(scene->root, nullptr, path.data(), path.size(), &o, &n);
        EXPECT_NE(o, nullptr) << "no component at " << path;
        return o;
    }
    PliMech *state(const std::string &path) const { return pli_state_self(object(path)); }
    std::vector<PliIndex> indices(const std::string &path, const char *name) const
    {
        size_t n;
        const PliIndex *v = pli_indices(object(path), name, &n);
        return std::vector<PliIndex>(v, v + n);
    }
    std::vector<double> reals(const std::string &path, const char *name) const
    {
        size_t n;
        const double *v = pli_reals(object(path), name, &n);
        return std::vector<double>(v, v + n);
    }
    void step(int count = 1)
    {
        PliError err = {};
        for (int i = 0; i < count; ++i) ASSERT_EQ(pli_scene_step(scene, &err), PLI_OK) << err.text;
    }

  private:
    WatchedHost m_host;
};

inline std::string node(const std::string &body, const std::string &attributes = "")
{
    return "<Node name=\"root\" " + attributes + ">\n" + body + "\n</Node>\n";
}

} // namespace pliant_test

#endif
