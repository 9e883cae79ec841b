/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <QOpenGLBuffer>
#include <QOpenGLFunctions>
#include <QOpenGLShaderProgram>
#include <QOpenGLWidget>

#include <set>
#include <string>

#include "viewer/camera.h"
#include "viewer/colours.h"
#include "viewer/snapshot.h"

namespace viewer
{

/// What all panes show in the same way.
struct ViewOptions {
    Colour colour = Colour::Level;
    bool wireframe = false, interfaceNodes = false, activeNodes = false, tools = true, axes = false, dark = false;
    std::set<std::string> hidden; ///< overlays that are not drawn
};

/// CPU time of the window's thread, ms, since it was last asked.
struct PaneTimes {
    int frames = 0;
    double pack = 0;  ///< normals and colours of the surface: ours alone
    double paint = 0; ///< everything, with what OpenGL does in our thread
};

/// One body in its own picture. Orbit: left; pan: middle or right; zoom: wheel; Shift+left: move what lies under the mouse, the
/// tool or the body.
class Pane : public QOpenGLWidget, protected QOpenGLFunctions
{
    Q_OBJECT
  public:
    Pane(const BodyInfo &info, int body, const QColor &line, Camera *camera, const ViewOptions *options,
         QWidget *parent = nullptr);
    ~Pane() override;
    void show(const SnapshotPtr &shot);
    void setCamera(Camera *camera) { m_camera = camera; }
    Camera *camera() const { return m_camera; }
    int body() const { return m_body; }
    QPoint pixelOf(const QVector3D &p) const; ///< where a point of the scene is in the picture
    PaneTimes takeTimes();
    int painted() const { return m_times.frames; }

  signals:
    void cameraMoved();
    void toolMoved(int tool, viewer::Vec3 to);
    void skinPulled(viewer::Vec3 at, viewer::Vec3 to); ///< at: on the skin at rest
    void handOpened();

  protected:
    void initializeGL() override;
    void paintGL() override;
    void mousePressEvent(QMouseEvent *e) override;
    void mouseMoveEvent(QMouseEvent *e) override;
    void mouseReleaseEvent(QMouseEvent *e) override;
    void wheelEvent(QWheelEvent *e) override;

  private:
    QMatrix4x4 viewProjection() const;
    void upload();
    void drawSurface(const QMatrix4x4 &pv, const QMatrix4x4 &v);
    void drawPoints(const QMatrix4x4 &pv, const std::vector<float> &xyz, const QColor &colour, float size);
    void drawLines(const QMatrix4x4 &pv, const std::vector<float> &xyzrgb, float width,
                   bool through = true); ///< through: the skin hides nothing
    void drawPlane(const QMatrix4x4 &pv, const ToolShot &t);
    void drawAxes(const QMatrix4x4 &pv);
    void drawOverlays(const QMatrix4x4 &pv);
    void drawGrip(const QMatrix4x4 &pv);
    void drawTools(const QMatrix4x4 &pv, const QMatrix4x4 &v);
    void drawText(QPainter &painter);
    void pick(const QPoint &at);
    void drag(const QPoint &to);

    const BodyInfo &m_info;
    int m_body;
    QColor m_line;
    Camera *m_camera;
    QVector3D m_scene; ///< its centre
    const ViewOptions *m_options;
    SnapshotPtr m_shot;
    bool m_dirty = false;
    enum class Held { Nothing, Camera, Tool, Skin } m_held = Held::Nothing;
    int m_tool = 0;    ///< held
    Vec3 m_grip{};     ///< held skin point at rest
    QVector4D m_depth; ///< of what is held, in clip space: it moves in the plane that faces the viewer
    QPoint m_last;
    PaneTimes m_times;
    QOpenGLShaderProgram m_program;
    QOpenGLBuffer m_vertices{ QOpenGLBuffer::VertexBuffer }, m_indices{ QOpenGLBuffer::IndexBuffer },
        m_scratch{ QOpenGLBuffer::VertexBuffer };
    std::vector<float> m_packed; ///< position, normal, colour per point
    std::vector<float> m_sphere; ///< unit sphere, position per corner
};

} // namespace viewer
