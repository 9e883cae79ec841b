/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <QMatrix4x4>
#include <QVector3D>
#include <cmath>

namespace viewer
{

/// Orbit camera around a centre. Panes share one or keep their own.
struct Camera {
    QVector3D centre;
    float distance = 1, yaw = 30, pitch = 20; ///< m, degrees
    float size = 1;                           ///< m, of the scene: near and far planes

    void fit(const QVector3D &min, const QVector3D &max)
    {
        centre = 0.5f * (min + max);
        size = qMax((max - min).length(), 1e-6f);
        distance = 1.6f * size;
    }
    QMatrix4x4 view() const
    {
        QMatrix4x4 m;
        m.translate(0, 0, -distance);
        m.rotate(pitch, 1, 0, 0);
        m.rotate(-yaw, 0, 1, 0);
        m.translate(-centre);
        return m;
    }
    QMatrix4x4 projection(float aspect) const
    {
        QMatrix4x4 m;
        // the narrower side of a pane sees 40 degrees
        const float half = std::tan(float(M_PI) / 9), angle = aspect >= 1 ? 40.0f : 2 * std::atan(half / aspect) * 180 / float(M_PI);
        m.perspective(angle, aspect, qMax(0.01f * distance, 1e-6f), distance + 4 * size);
        return m;
    }
};

} // namespace viewer
