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
        distance = 1.35f * size;
    }
    /// From the direction to the eye; y is up.
    void look(const QVector3D &to)
    {
        yaw = std::atan2(to.x(), to.z()) * 180 / float(M_PI);
        pitch = qBound(-89.0f, std::atan2(to.y(), std::hypot(to.x(), to.z())) * 180 / float(M_PI), 89.0f);
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
        const float half = std::tan(float(M_PI) / 9),
                    angle = aspect >= 1 ? 40.0f : 2 * std::atan(half / aspect) * 180 / float(M_PI);
        m.perspective(angle, aspect, qMax(0.01f * distance, 1e-6f), distance + 4 * size);
        return m;
    }
};

/// What lies under a place of the picture.
struct Ray {
    QVector3D from, along; ///< along: unit length
    /// x and y in [-1, 1], y up.
    static Ray through(const QMatrix4x4 &pv, float x, float y)
    {
        const QMatrix4x4 back = pv.inverted();
        const QVector3D from = (back * QVector4D(x, y, -1, 1)).toVector3DAffine(),
                        to = (back * QVector4D(x, y, 1, 1)).toVector3DAffine();
        return { from, (to - from).normalized() };
    }
    /// Distance along the ray, or a negative number.
    float meetSphere(const QVector3D &centre, float radius) const
    {
        const QVector3D d = from - centre;
        const float b = QVector3D::dotProduct(along, d), c = d.lengthSquared() - radius * radius, disc = b * b - c;
        return disc < 0 ? -1.0f : -b - std::sqrt(disc);
    }
    float meetTriangle(const QVector3D &a, const QVector3D &b, const QVector3D &c, float &u, float &v) const
    {
        const QVector3D e = b - a, f = c - a, p = QVector3D::crossProduct(along, f);
        const float det = QVector3D::dotProduct(e, p);
        if (det == 0) return -1.0f;
        const QVector3D s = from - a, q = QVector3D::crossProduct(s, e);
        u = QVector3D::dotProduct(s, p) / det;
        v = QVector3D::dotProduct(along, q) / det;
        return u < 0 || v < 0 || u + v > 1 ? -1.0f : QVector3D::dotProduct(f, q) / det;
    }
};

} // namespace viewer
