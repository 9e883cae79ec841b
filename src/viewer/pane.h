/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <QOpenGLBuffer>
#include <QOpenGLFunctions>
#include <QOpenGLShaderProgram>
#include <QOpenGLWidget>

#include "viewer/camera.h"
#include "viewer/colours.h"
#include "viewer/snapshot.h"

namespace viewer
{

/// What all panes show in the same way.
struct ViewOptions {
    Colour colour = Colour::Level;
    bool wireframe = false, interfaceNodes = false, activeNodes = false, tools = true, axes = false, dark = false;
};

/// One body in its own picture. Orbit: left; pan: middle or right; zoom: wheel; Shift+left: move the tool.
class Pane : public QOpenGLWidget, protected QOpenGLFunctions
{
    Q_OBJECT
public:
    Pane(const BodyInfo &info, int body, Camera *camera, const ViewOptions *options, QWidget *parent = nullptr);
    ~Pane() override;
    void show(const SnapshotPtr &shot);
    void setCamera(Camera *camera) { m_camera = camera; }
    Camera *camera() const { return m_camera; }
    int body() const { return m_body; }
    void setFocused(bool on)
    {
        m_focused = on;
        update();
    }

signals:
    void cameraMoved();
    void toolMoved(double x, double y, double z);
    void toolReleased();

protected:
    void initializeGL() override;
    void paintGL() override;
    void mousePressEvent(QMouseEvent *e) override;
    void mouseMoveEvent(QMouseEvent *e) override;
    void mouseReleaseEvent(QMouseEvent *e) override;
    void wheelEvent(QWheelEvent *e) override;

private:
    void upload();
    void drawSurface(const QMatrix4x4 &pv, const QMatrix4x4 &v);
    void drawPoints(const QMatrix4x4 &pv, const std::vector<float> &xyz, const QColor &colour, float size);
    void drawTools(const QMatrix4x4 &pv, const QMatrix4x4 &v);
    void drawText(QPainter &painter);

    const BodyInfo &m_info;
    int m_body;
    Camera *m_camera;
    const ViewOptions *m_options;
    SnapshotPtr m_shot;
    bool m_dirty = false, m_focused = false, m_steering = false;
    QPoint m_last;
    QOpenGLShaderProgram m_program;
    QOpenGLBuffer m_vertices{ QOpenGLBuffer::VertexBuffer }, m_indices{ QOpenGLBuffer::IndexBuffer }, m_scratch{ QOpenGLBuffer::VertexBuffer };
    std::vector<float> m_packed; ///< position, normal, colour per point
    std::vector<float> m_sphere; ///< unit sphere, position per corner
};

} // namespace viewer
