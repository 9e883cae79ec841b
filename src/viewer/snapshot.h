/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

// What the simulation thread hands to the window: plain copies, so that neither ever waits for the other.

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace viewer
{

using Vec3 = std::array<double, 3>;

enum class Colour { Level, Error, Stress, Speed };

/// Values of the sliders that were turned, by attribute, for every body that has it; see PliTuning.
using Knobs = std::map<std::string, double>;

/// What the user does to every body at once.
struct Hand {
    int tool = -1; ///< steered, or -1
    Vec3 place{};  ///< where it goes
    bool grabbing = false;
    Vec3 at{}, target{}; ///< skin point at rest, where it is pulled to
};

/// What does not change while a scene runs.
struct BodyInfo {
    std::string name, scheme;
    std::vector<uint32_t> tris;
    std::vector<float> rest; ///< xyz per skin point
    uint32_t pointCount = 0, dofCount = 0;
    int levels = 1;
    bool reference = false, adaptive = false;
    std::vector<std::string> overlays; ///< what else can be drawn of it
};

struct ToolShot {
    int shape = 0; ///< PliToolShape
    float position[3] = { 0, 0, 0 }, other[3] = { 0, 0, 0 }, radius = 0;
};

struct BodyShot {
    std::vector<float> points;     ///< xyz per skin point
    std::vector<float> scalar;     ///< one per skin point, in the unit of the colour mode
    std::vector<float> activeDofs; ///< xyz of active coefficients; of frames the origins
    std::vector<float> slaves;     ///< xyz of interface coefficients
    std::map<std::string, std::vector<float>>
        overlays; ///< two ends of every line, xyz and the number of a PliLineColour each
    float scalarMax = 1;
    double error = 0, stepMs = 0, energy = 0; ///< m (RMS against the reference), ms, J
    uint32_t active = 0, elements = 0;
    double divergedAt = -1; ///< s
};

/// What a haptic device does.
struct FeltShot {
    bool on = false;
    std::string device, body, state, wrong;     ///< wrong: what the device reports, or empty
    double force = 0, simulated = 0, limit = 0; ///< N: on the hand, on the tool, what the motors allow
    double stiffness = 0, rate = 0;             ///< N/m under the tool, Hz
    uint64_t missed = 0;                        ///< ticks
    int priority = 0;                           ///< real-time, 0: none
};

struct Snapshot {
    FeltShot felt;
    double time = 0;
    uint64_t step = 0;
    std::vector<BodyShot> bodies;
    std::vector<ToolShot> tools;
    Colour colour = Colour::Level; ///< what the scalars are
    Hand hand;
};

using SnapshotPtr = std::shared_ptr<const Snapshot>;

} // namespace viewer
