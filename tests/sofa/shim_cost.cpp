/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// What SOFA costs around a body that AdaptiveSolver steps: CPU time of a step of the same scene file in both hosts, and of an empty
// scene in SOFA. Prints JSON; exit code 1 when a step takes more than 1.1 times that of the embedded host plus the empty scene.
//   sofa_shim_cost SCENE...
#include "scene.h"

extern "C"
{
#include "host/graph/simulation.h"
}

#include <sofa/simulation/graph/init.h>

#include <algorithm>
#include <ctime>
#include <memory>

namespace
{
double seconds()
{
    timespec t{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

/// Median over blocks of the time of one step, in microseconds; the two hosts take turns, so that a busy machine slows both.
struct Times
{
    std::vector<double> block;
    double median()
    {
        std::sort(block.begin(), block.end());
        return block[block.size() / 2];
    }
};

template <class Step>
void measure(Times& times, int steps, Step step)
{
    const double begin = seconds();
    for (int i = 0; i < steps; ++i)
        step();
    times.block.push_back(1e6 * (seconds() - begin) / steps);
}
} // namespace

int main(int count, char** argument)
{
    constexpr int BLOCKS = 41, STEPS = 5;
    const std::string empty = "<?xml version=\"1.0\"?><Node name=\"root\" dt=\"0.01\"><RequiredPlugin "
                              "pluginName=\"Sofa.Component.AnimationLoop\"/><DefaultAnimationLoop/></Node>";
    sofa::simulation::graph::init();
    bool good = count > 1;
    std::printf("{ \"limit\": 1.1, \"scenes\": [");
    for (int i = 1; i < count; ++i)
    {
        scene::Scene nothing(empty);
        scene::Scene sofa(std::filesystem::path(argument[i]), 0);
        const PliHost memory = pli_host_default();
        PliSceneDef def = pli_scene_default();
        PliStatus status = PLI_OK;
        PliError error{};
        PliScene* const host = pli_scene_load(&memory, argument[i], &def, &status);
        if (!host || status != PLI_OK || pli_scene_start(host, &error) != PLI_OK)
        {
            std::fprintf(stderr, "%s: the embedded host refused it: %s\n", argument[i], error.text);
            return 2;
        }
        Times inSofa, inHost, around;
        for (int b = 0; b < BLOCKS; ++b)
        {
            measure(inHost, STEPS, [&] { pli_scene_step(host, &error); });
            measure(inSofa, STEPS, [&] { sofa.steps(1); });
            measure(around, STEPS, [&] { nothing.steps(1); });
        }
        const double s = inSofa.median(), h = inHost.median(), e = around.median(), limit = 1.1 * h + e;
        good = good && s <= limit;
        std::printf("%s\n  { \"scene\": \"%s\", \"sofa_us\": %.1f, \"embedded_us\": %.1f, \"empty_us\": %.1f, "
                    "\"limit_us\": %.1f, "
                    "\"ratio\": %.3f }",
                    i > 1 ? "," : "", std::filesystem::path(argument[i]).filename().c_str(), s, h, e, limit,
                    (s - e) / h);
        pli_scene_finish(host, &error);
        pli_scene_destroy(host);
    }
    std::printf(" ] }\n");
    sofa::simulation::graph::cleanup();
    return good ? 0 : 1;
}
