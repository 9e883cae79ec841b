/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "viewer/pane.h"

#include <QMouseEvent>
#include <QPainter>
#include <QWheelEvent>
#include <cmath>

#include <pliant/body.h>

namespace viewer
{

// GLSL 1.20: every desktop driver has it, software ones too
static const char *vertexSource = R"(
attribute vec3 position; attribute vec3 normal; attribute vec3 colour;
uniform mat4 pv; uniform mat4 view; uniform float pointSize;
varying vec3 n; varying vec3 c;
void main() { gl_Position = pv * vec4(position, 1.0); n = (view * vec4(normal, 0.0)).xyz; c = colour; gl_PointSize = pointSize; }
)";
static const char *fragmentSource = R"(
varying vec3 n; varying vec3 c; uniform float lit;
void main() {
    float d = length(n) > 0.0 ? abs(normalize(n).z) : 1.0;
    gl_FragColor = vec4(c * mix(1.0, 0.35 + 0.65 * d, lit), 1.0);
}
)";

enum { Floats = 9 }; // position, normal, colour

Pane::Pane(const BodyInfo &info, int body, Camera *camera, const ViewOptions *options, QWidget *parent)
    : QOpenGLWidget(parent), m_info(info), m_body(body), m_camera(camera), m_options(options)
{
    setMinimumSize(160, 120);
    setMouseTracking(false);
    // unit sphere as latitude bands
    const int rings = 12, sectors = 18;
    auto corner = [&](int r, int s) {
        const float a = float(M_PI) * float(r) / rings, b = 2 * float(M_PI) * float(s) / sectors;
        m_sphere.insert(m_sphere.end(), { std::sin(a) * std::cos(b), std::cos(a), std::sin(a) * std::sin(b) });
    };
    for (int r = 0; r < rings; ++r) {
        for (int s = 0; s < sectors; ++s) {
            corner(r, s), corner(r + 1, s), corner(r + 1, s + 1);
            corner(r, s), corner(r + 1, s + 1), corner(r, s + 1);
        }
    }
}

Pane::~Pane()
{
    makeCurrent();
    m_vertices.destroy();
    m_indices.destroy();
    m_scratch.destroy();
    doneCurrent();
}

void Pane::show(const SnapshotPtr &shot)
{
    m_shot = shot;
    m_dirty = true;
    update();
}

void Pane::initializeGL()
{
    initializeOpenGLFunctions();
    m_program.addShaderFromSourceCode(QOpenGLShader::Vertex, vertexSource);
    m_program.addShaderFromSourceCode(QOpenGLShader::Fragment, fragmentSource);
    m_program.bindAttributeLocation("position", 0);
    m_program.bindAttributeLocation("normal", 1);
    m_program.bindAttributeLocation("colour", 2);
    m_program.link();
    m_vertices.create();
    m_scratch.create();
    m_indices.create();
    m_indices.bind();
    m_indices.allocate(m_info.tris.data(), int(m_info.tris.size() * sizeof(uint32_t)));
    m_indices.release();
    m_dirty = true;
}

void Pane::upload()
{
    const BodyShot &b = m_shot->bodies[size_t(m_body)];
    const size_t n = b.points.size() / 3;
    m_packed.assign(n * Floats, 0.0f);
    for (size_t i = 0; i < n; ++i) {
        float *p = &m_packed[i * Floats];
        for (size_t d = 0; d < 3; ++d) p[d] = b.points[3 * i + d];
        const QColor c = colourOf(m_options->colour, i < b.scalar.size() ? b.scalar[i] : 0.0, b.scalarMax);
        p[6] = float(c.redF()), p[7] = float(c.greenF()), p[8] = float(c.blueF());
    }
    for (size_t t = 0; t + 2 < m_info.tris.size(); t += 3) {
        float *p[3];
        for (size_t k = 0; k < 3; ++k) p[k] = &m_packed[m_info.tris[t + k] * Floats];
        const float a[3] = { p[1][0] - p[0][0], p[1][1] - p[0][1], p[1][2] - p[0][2] };
        const float c[3] = { p[2][0] - p[0][0], p[2][1] - p[0][1], p[2][2] - p[0][2] };
        const float m[3] = { a[1] * c[2] - a[2] * c[1], a[2] * c[0] - a[0] * c[2], a[0] * c[1] - a[1] * c[0] };
        for (auto *q : p)
            for (size_t d = 0; d < 3; ++d) q[3 + d] += m[d];
    }
    m_vertices.bind();
    m_vertices.allocate(m_packed.data(), int(m_packed.size() * sizeof(float)));
    m_vertices.release();
    m_dirty = false;
}

void Pane::drawSurface(const QMatrix4x4 &pv, const QMatrix4x4 &v)
{
    m_program.bind();
    m_program.setUniformValue("pv", pv);
    m_program.setUniformValue("view", v);
    m_program.setUniformValue("lit", 1.0f);
    m_program.setUniformValue("pointSize", 1.0f);
    m_vertices.bind();
    m_indices.bind();
    for (int a = 0; a < 3; ++a) {
        m_program.enableAttributeArray(a);
        m_program.setAttributeBuffer(a, GL_FLOAT, a * 3 * int(sizeof(float)), 3, Floats * int(sizeof(float)));
    }
    glEnable(GL_POLYGON_OFFSET_FILL);
    glPolygonOffset(1, 1);
    glDrawElements(GL_TRIANGLES, GLsizei(m_info.tris.size()), GL_UNSIGNED_INT, nullptr);
    glDisable(GL_POLYGON_OFFSET_FILL);
    if (m_options->wireframe) {
        m_program.disableAttributeArray(2);
        m_program.setAttributeValue(2, QVector3D(0.1f, 0.1f, 0.1f));
        m_program.setUniformValue("lit", 0.0f);
        glPolygonMode(GL_FRONT_AND_BACK, GL_LINE);
        glDrawElements(GL_TRIANGLES, GLsizei(m_info.tris.size()), GL_UNSIGNED_INT, nullptr);
        glPolygonMode(GL_FRONT_AND_BACK, GL_FILL);
    }
    for (int a = 0; a < 3; ++a) m_program.disableAttributeArray(a);
    m_indices.release();
    m_vertices.release();
    m_program.release();
}

void Pane::drawPoints(const QMatrix4x4 &pv, const std::vector<float> &xyz, const QColor &colour, float size)
{
    if (xyz.empty()) return;
    glEnable(GL_PROGRAM_POINT_SIZE);
    m_program.bind();
    m_program.setUniformValue("pv", pv);
    m_program.setUniformValue("lit", 0.0f);
    m_program.setUniformValue("pointSize", size * float(devicePixelRatioF()));
    m_program.setAttributeValue(1, QVector3D(0, 0, 1));
    m_program.setAttributeValue(2, QVector3D(float(colour.redF()), float(colour.greenF()), float(colour.blueF())));
    m_scratch.bind();
    m_scratch.allocate(xyz.data(), int(xyz.size() * sizeof(float)));
    m_program.enableAttributeArray(0);
    m_program.setAttributeBuffer(0, GL_FLOAT, 0, 3, 0);
    glDisable(GL_DEPTH_TEST); // nodes lie inside the body: show them through its skin
    glDrawArrays(GL_POINTS, 0, GLsizei(xyz.size() / 3));
    glEnable(GL_DEPTH_TEST);
    m_program.disableAttributeArray(0);
    m_scratch.release();
    m_program.release();
}

void Pane::drawTools(const QMatrix4x4 &pv, const QMatrix4x4 &v)
{
    for (const ToolShot &t : m_shot->tools) {
        if (t.shape == PLI_TOOL_PLANE) continue;
        // a capsule is drawn as a row of spheres: it is a hint, not a measurement
        const int beads = t.shape == PLI_TOOL_CAPSULE ? 9 : 1;
        m_program.bind();
        m_program.setUniformValue("view", v);
        m_program.setUniformValue("lit", 1.0f);
        m_program.setAttributeValue(2, QVector3D(0.75f, 0.75f, 0.78f));
        m_scratch.bind();
        m_scratch.allocate(m_sphere.data(), int(m_sphere.size() * sizeof(float)));
        m_program.enableAttributeArray(0);
        m_program.enableAttributeArray(1);
        m_program.setAttributeBuffer(0, GL_FLOAT, 0, 3, 0);
        m_program.setAttributeBuffer(1, GL_FLOAT, 0, 3, 0);
        for (int k = 0; k < beads; ++k) {
            const float s = beads > 1 ? float(k) / float(beads - 1) : 0.0f;
            QMatrix4x4 model = pv;
            model.translate(t.position[0] + s * (t.other[0] - t.position[0]), t.position[1] + s * (t.other[1] - t.position[1]),
                            t.position[2] + s * (t.other[2] - t.position[2]));
            if (beads == 1) {
                model = pv;
                model.translate(t.position[0], t.position[1], t.position[2]);
            }
            model.scale(t.radius);
            m_program.setUniformValue("pv", model);
            glDrawArrays(GL_TRIANGLES, 0, GLsizei(m_sphere.size() / 3));
        }
        m_program.disableAttributeArray(0);
        m_program.disableAttributeArray(1);
        m_scratch.release();
        m_program.release();
    }
}

void Pane::drawText(QPainter &painter)
{
    const bool dark = m_options->dark;
    painter.setPen(dark ? Qt::white : Qt::black);
    QFont font = painter.font();
    font.setBold(true);
    painter.setFont(font);
    const int line = painter.fontMetrics().height();
    painter.drawText(8, line, QString::fromStdString(m_info.name) + (m_info.reference ? " (reference)" : ""));
    font.setBold(false);
    painter.setFont(font);
    if (!m_shot) {
        painter.drawText(8, 2 * line, "loading");
        return;
    }
    const BodyShot &b = m_shot->bodies[size_t(m_body)];
    QString text = QString("%1   %2 of %3 active   %4 ms").arg(QString::fromStdString(m_info.scheme)).arg(b.active).arg(m_info.dofCount).arg(b.stepMs, 0, 'f', 2);
    if (!m_info.reference && b.error > 0) text += QString("   error %1 mm").arg(1e3 * b.error, 0, 'f', 3);
    painter.drawText(8, 2 * line, text);
    if (b.diverged) {
        painter.setPen(QColor(200, 30, 30));
        painter.drawText(8, 3 * line, "diverged");
        painter.setPen(dark ? Qt::white : Qt::black);
    }
    // legend
    const int y = height() - line - 10;
    if (m_options->colour == Colour::Level) {
        int x = 8;
        for (int l = 0; l < m_info.levels; ++l, x += 34) {
            painter.fillRect(x, y, 14, 14, levelColour(l));
            painter.drawText(x + 17, y + 12, QString::number(l));
        }
    } else {
        const int width = 120;
        for (int i = 0; i < width; ++i) painter.fillRect(8 + i, y, 1, 10, rampColour(double(i) / (width - 1)));
        painter.drawText(8 + width + 6, y + 10, QString("0 .. %1 %2").arg(b.scalarMax, 0, 'g', 3).arg(colourTitle(m_options->colour)));
    }
    if (m_focused) {
        painter.setPen(QPen(QColor(0, 114, 178), 2));
        painter.drawRect(1, 1, width() - 2, height() - 2);
    }
}

void Pane::paintGL()
{
    QPainter painter(this);
    painter.beginNativePainting(); // Qt's own painter gets its OpenGL state back for the text
    const float g = m_options->dark ? 0.12f : 0.96f;
    glClearColor(g, g, g, 1);
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
    glEnable(GL_DEPTH_TEST);
    if (m_shot) {
        if (m_dirty) upload();
        const QMatrix4x4 v = m_camera->view(), pv = m_camera->projection(float(width()) / float(qMax(height(), 1))) * v;
        const BodyShot &b = m_shot->bodies[size_t(m_body)];
        drawSurface(pv, v);
        if (m_options->tools) drawTools(pv, v);
        if (m_options->activeNodes) drawPoints(pv, b.activeDofs, QColor(0, 0, 0), 4);
        if (m_options->interfaceNodes) drawPoints(pv, b.slaves, QColor(213, 94, 0), 5);
    }
    glDisable(GL_DEPTH_TEST);
    painter.endNativePainting();
    drawText(painter);
}

void Pane::mousePressEvent(QMouseEvent *e)
{
    m_last = e->pos();
    m_steering = e->button() == Qt::LeftButton && (e->modifiers() & Qt::ShiftModifier);
}

void Pane::mouseReleaseEvent(QMouseEvent *)
{
    if (m_steering) emit toolReleased();
    m_steering = false;
}

void Pane::mouseMoveEvent(QMouseEvent *e)
{
    const QPoint d = e->pos() - m_last;
    m_last = e->pos();
    if (m_steering) {
        if (!m_shot || m_shot->tools.empty()) return;
        // the tool follows the mouse in the plane through its centre that faces the viewer
        const ToolShot &t = m_shot->tools.front();
        const QMatrix4x4 v = m_camera->view(), p = m_camera->projection(float(width()) / float(qMax(height(), 1)));
        const QVector3D centre(t.position[0], t.position[1], t.position[2]);
        const QVector4D clip = p * v * QVector4D(centre, 1);
        const float x = 2.0f * float(e->pos().x()) / float(width()) - 1, y = 1 - 2.0f * float(e->pos().y()) / float(height());
        const QVector4D world = (p * v).inverted() * QVector4D(x * clip.w(), y * clip.w(), clip.z(), clip.w());
        const QVector3D at = world.toVector3DAffine();
        emit toolMoved(double(at.x()), double(at.y()), double(at.z()));
        return;
    }
    if (e->buttons() & Qt::LeftButton) {
        m_camera->yaw -= 0.4f * float(d.x());
        m_camera->pitch = qBound(-89.0f, m_camera->pitch + 0.4f * float(d.y()), 89.0f);
    } else if (e->buttons() & (Qt::MiddleButton | Qt::RightButton)) {
        const float s = 0.73f * m_camera->distance / float(qMax(height(), 1)); // metres per pixel: 2 tan(20 deg)
        const QMatrix4x4 inverse = m_camera->view().inverted();
        m_camera->centre -= inverse.mapVector(QVector3D(s * float(d.x()), -s * float(d.y()), 0));
    }
    emit cameraMoved();
}

void Pane::wheelEvent(QWheelEvent *e)
{
    m_camera->distance *= std::pow(0.999f, float(e->angleDelta().y()));
    emit cameraMoved();
}

} // namespace viewer
