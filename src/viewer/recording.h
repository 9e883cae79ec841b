/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <QString>
#include <vector>

#include "viewer/snapshot.h"

namespace viewer
{

/// What the user did, step by step from the start of a scene. A replay gives the same states to the bit, unless a budget of
/// milliseconds decided anything.
struct Recording {
    struct Mark {
        Hand hand;
        Knobs knobs;
    };
    std::vector<Mark> marks;

    /// Text, one line per step. @return what went wrong, or nothing
    QString save(const QString &path, const QString &scene) const;
    QString open(const QString &path);
};

} // namespace viewer
