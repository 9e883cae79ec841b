/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

// What the simulation thread hands to the window: plain copies, so that neither ever waits for the other.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace viewer
{

enum class Colour { Level, Error, Stress, Speed };

/// What does not change while a scene runs.
struct BodyInfo {
    std::string name, scheme;
    std::vector<uint32_t> tris;
    uint32_t pointCount = 0, dofCount = 0;
    int levels = 1;
    bool reference = false;
    double threshold = 0, budget = 0, young = 0; ///< slider starts
};

struct ToolShot {
    int shape = 0; ///< PliToolShape
    float position[3] = { 0, 0, 0 }, other[3] = { 0, 0, 0 }, radius = 0;
};

struct BodyShot {
    std::vector<float> points;     ///< xyz per skin point
    std::vector<float> scalar;     ///< one per skin point, in the unit of the colour mode
    std::vector<float> activeDofs; ///< xyz of active coefficients
    std::vector<float> slaves;     ///< xyz of interface coefficients
    float scalarMax = 1;
    double error = 0, stepMs = 0, energy = 0; ///< m (RMS against the reference), ms, J
    uint32_t active = 0, elements = 0;
    bool diverged = false;
};

struct Snapshot {
    double time = 0;
    uint64_t step = 0;
    std::vector<BodyShot> bodies;
    std::vector<ToolShot> tools;
};

using SnapshotPtr = std::shared_ptr<const Snapshot>;

} // namespace viewer
