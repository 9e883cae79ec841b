/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "viewer/pane.h"

#include <QMouseEvent>
#include <QPainter>
#include <QWheelEvent>
#include <cmath>

#include <pliant/registry.h>

#include "base/timer.h"

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

Pane::Pane(const BodyInfo &info, int body, const QColor &line, Camera *camera, const ViewOptions *options,
           QWidget *parent)
    : QOpenGLWidget(parent), m_info(info), m_body(body), m_line(line), m_camera(camera), m_scene(camera->centre),
      m_options(options)
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

QMatrix4x4 Pane::viewProjection() const
{
    return m_camera->projection(float(width()) / float(qMax(height(), 1))) * m_camera->view();
}

QPoint Pane::pixelOf(const QVector3D &p) const
{
    const QVector3D at = (viewProjection() * QVector4D(p, 1)).toVector3DAffine();
    return { qRound(0.5f * (at.x() + 1) * float(width())), qRound(0.5f * (1 - at.y()) * float(height())) };
}

PaneTimes Pane::takeTimes()
{
    const PaneTimes t = m_times;
    m_times = PaneTimes();
    return t;
}

void Pane::upload()
{
    const double begin = pli_cpu_ms();
    const BodyShot &b = m_shot->bodies[size_t(m_body)];
    const size_t n = b.points.size() / 3;
    const auto table = colourTable(m_shot->colour, m_info.levels);
    const float scale = m_shot->colour == Colour::Level ? 1.0f : 255.0f / b.scalarMax;
    m_packed.assign(n * Floats, 0.0f);
    for (size_t i = 0; i < n; ++i) {
        float *p = &m_packed[i * Floats];
        for (size_t d = 0; d < 3; ++d) p[d] = b.points[3 * i + d];
        const float value = scale * b.scalar[i];
        const auto &c = table[value > 0 ? size_t(qMin(value, 255.0f)) : 0];
        p[6] = c[0], p[7] = c[1], p[8] = c[2];
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
    m_times.pack += pli_cpu_ms() - begin;
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

void Pane::drawLines(const QMatrix4x4 &pv, const std::vector<float> &xyzrgb, float width, bool through)
{
    if (xyzrgb.empty()) return;
    m_program.bind();
    m_program.setUniformValue("pv", pv);
    m_program.setUniformValue("lit", 0.0f);
    m_program.setAttributeValue(1, QVector3D(0, 0, 1));
    m_scratch.bind();
    m_scratch.allocate(xyzrgb.data(), int(xyzrgb.size() * sizeof(float)));
    for (int a : { 0, 2 }) {
        m_program.enableAttributeArray(a);
        m_program.setAttributeBuffer(a, GL_FLOAT, a / 2 * 3 * int(sizeof(float)), 3, 6 * int(sizeof(float)));
    }
    glLineWidth(width * float(devicePixelRatioF()));
    if (through) glDisable(GL_DEPTH_TEST);
    glDrawArrays(GL_LINES, 0, GLsizei(xyzrgb.size() / 6));
    glEnable(GL_DEPTH_TEST);
    for (int a : { 0, 2 }) m_program.disableAttributeArray(a);
    m_scratch.release();
    m_program.release();
}

// vermilion, green, blue: three that colour-blind people tell apart
static const float axisColour[3][3] = { { 0.84f, 0.37f, 0.0f }, { 0.0f, 0.62f, 0.45f }, { 0.0f, 0.45f, 0.70f } };

static void addLine(std::vector<float> &lines, const QVector3D &a, const QVector3D &b, const float colour[3])
{
    for (const QVector3D &p : { a, b })
        lines.insert(lines.end(), { p.x(), p.y(), p.z(), colour[0], colour[1], colour[2] });
}

void Pane::drawAxes(const QMatrix4x4 &pv)
{
    std::vector<float> lines;
    for (int k = 0; k < 3; ++k) {
        QVector3D tip;
        tip[k] = 0.3f * m_camera->size;
        addLine(lines, {}, tip, axisColour[k]);
    }
    drawLines(pv, lines, 2);
}

void Pane::drawOverlays(const QMatrix4x4 &pv)
{
    static const float plain[3] = { 0.35f, 0.38f, 0.42f };
    std::vector<float> lines;
    for (const auto &overlay : m_shot->bodies[size_t(m_body)].overlays) {
        if (m_options->hidden.count(overlay.first)) continue;
        const std::vector<float> &f = overlay.second;
        for (size_t i = 0; i + 7 < f.size(); i += 8) {
            const int colour = int(f[i + 3]);
            addLine(lines, { f[i], f[i + 1], f[i + 2] }, { f[i + 4], f[i + 5], f[i + 6] },
                    colour >= PLI_LINE_X && colour <= PLI_LINE_Z ? axisColour[colour - PLI_LINE_X] : plain);
        }
    }
    drawLines(pv, lines, 2);
}

/// A grid around the scene's centre.
void Pane::drawPlane(const QMatrix4x4 &pv, const ToolShot &t)
{
    const QVector3D normal = QVector3D(t.other[0], t.other[1], t.other[2]).normalized(),
                    point(t.position[0], t.position[1], t.position[2]);
    const QVector3D side =
        QVector3D::crossProduct(normal, std::fabs(normal.y()) > 0.9f ? QVector3D(1, 0, 0) : QVector3D(0, 1, 0))
            .normalized();
    const QVector3D ahead = QVector3D::crossProduct(side, normal);
    const QVector3D middle = m_scene - QVector3D::dotProduct(m_scene - point, normal) * normal;
    const float half = 0.6f * m_camera->size, grey[3] = { 0.6f, 0.62f, 0.66f };
    std::vector<float> lines;
    for (int k = -4; k <= 4; ++k) {
        const float s = float(k) / 4 * half;
        addLine(lines, middle + s * side - half * ahead, middle + s * side + half * ahead, grey);
        addLine(lines, middle + s * ahead - half * side, middle + s * ahead + half * side, grey);
    }
    drawLines(pv, lines, 1, false);
}

void Pane::drawGrip(const QMatrix4x4 &pv)
{
    const Hand &h = m_shot->hand;
    if (!h.grabbing) return;
    const BodyShot &b = m_shot->bodies[size_t(m_body)];
    const QVector3D at(float(h.at[0]), float(h.at[1]), float(h.at[2])),
        to(float(h.target[0]), float(h.target[1]), float(h.target[2]));
    float nearest = INFINITY;
    QVector3D held = to;
    for (size_t i = 0; i + 2 < b.points.size(); i += 3) {
        const float d = (QVector3D(m_info.rest[i], m_info.rest[i + 1], m_info.rest[i + 2]) - at).lengthSquared();
        if (d < nearest) nearest = d, held = { b.points[i], b.points[i + 1], b.points[i + 2] };
    }
    const float black[3] = { m_options->dark ? 1.0f : 0.0f, m_options->dark ? 1.0f : 0.0f,
                             m_options->dark ? 1.0f : 0.0f };
    std::vector<float> lines;
    addLine(lines, held, to, black);
    drawLines(pv, lines, 2);
    drawPoints(pv, { held.x(), held.y(), held.z(), to.x(), to.y(), to.z() }, QColor(213, 94, 0), 8);
}

void Pane::drawTools(const QMatrix4x4 &pv, const QMatrix4x4 &v)
{
    for (const ToolShot &t : m_shot->tools) {
        if (t.shape == PLI_TOOL_PLANE) {
            drawPlane(pv, t);
            continue;
        }
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
            model.translate(t.position[0] + s * (t.other[0] - t.position[0]),
                            t.position[1] + s * (t.other[1] - t.position[1]),
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
    const QColor ink = dark ? Qt::white : Qt::black;
    painter.setPen(ink);
    QFont font = painter.font();
    font.setBold(true);
    painter.setFont(font);
    const int line = painter.fontMetrics().height();
    painter.fillRect(8, line - 11, 12, 12,
                     dark && m_info.reference ? QColor(200, 200, 200) : m_line); // its line in the plots
    painter.drawText(26, line, QString::fromStdString(m_info.name) + (m_info.reference ? " (reference)" : ""));
    font.setBold(false);
    painter.setFont(font);
    if (!m_shot) {
        painter.drawText(8, 2 * line, "loading");
        return;
    }
    const BodyShot &b = m_shot->bodies[size_t(m_body)];
    const auto put = [&](int row, const QString &text) {
        painter.drawText(8, row * line, painter.fontMetrics().elidedText(text, Qt::ElideRight, width() - 12));
    };
    put(2,
        QString("%1, %2 of %3 active").arg(QString::fromStdString(m_info.scheme)).arg(b.active).arg(m_info.dofCount));
    QString text = QString("%1 ms").arg(b.stepMs, 0, 'f', 2);
    if (!m_info.reference && b.error > 0) text += QString(", error %1 mm").arg(1e3 * b.error, 0, 'f', 3);
    if (b.divergedAt >= 0) {
        painter.setPen(dark ? QColor(255, 140, 120) : QColor(180, 30, 30));
        text = QString("diverged at t = %1 s").arg(b.divergedAt, 0, 'g', 4);
    }
    put(3, text);
    painter.setPen(ink);
    // legend
    const int y = height() - line - 6;
    if (m_shot->colour == Colour::Level && m_info.levels > 1) {
        int x = 8;
        for (int l = 0; l < m_info.levels; ++l, x += 34) {
            painter.fillRect(x, y, 14, 14, levelColour(l, m_info.levels));
            painter.drawText(x + 17, y + 12, QString::number(l));
        }
        painter.drawText(x, y + 12, "level");
    } else if (m_shot->colour == Colour::Level) {
        painter.fillRect(8, y, 14, 14, levelColour(0, 1));
        painter.drawText(26, y + 12, "one resolution");
    } else {
        const int width = 120;
        for (int i = 0; i < width; ++i) painter.fillRect(8 + i, y, 1, 10, rampColour(double(i) / (width - 1)));
        painter.drawText(8 + width + 6, y + 10,
                         QString("0 .. %1 %2").arg(double(b.scalarMax), 0, 'g', 3).arg(colourTitle(m_shot->colour)));
    }
}

void Pane::paintGL()
{
    const double begin = pli_cpu_ms();
    QPainter painter(this);
    painter.beginNativePainting(); // Qt's own painter gets its OpenGL state back for the text
    const float g = m_options->dark ? 0.12f : 0.96f;
    glClearColor(g, g, g, 1);
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
    glEnable(GL_DEPTH_TEST);
    if (m_shot) {
        if (m_dirty) upload();
        const QMatrix4x4 v = m_camera->view(), pv = viewProjection();
        const BodyShot &b = m_shot->bodies[size_t(m_body)];
        drawSurface(pv, v);
        if (m_options->tools) drawTools(pv, v);
        if (m_options->activeNodes) drawPoints(pv, b.activeDofs, QColor(0, 0, 0), 4);
        if (m_options->interfaceNodes) drawPoints(pv, b.slaves, QColor(213, 94, 0), 5);
        drawOverlays(pv);
        if (m_options->axes) drawAxes(pv);
        drawGrip(pv);
    }
    glDisable(GL_DEPTH_TEST);
    painter.endNativePainting();
    drawText(painter);
    painter.end();
    m_times.paint += pli_cpu_ms() - begin;
    m_times.frames++;
}

// ---- the mouse ---------------------------------------------------------------------------------------------------------------

static float across(const QPoint &p, int width) { return 2.0f * float(p.x()) / float(qMax(width, 1)) - 1; }
static float upward(const QPoint &p, int height) { return 1 - 2.0f * float(p.y()) / float(qMax(height, 1)); }

/// What lies under the mouse: the nearest of tools and skin; else the first tool that can be moved.
void Pane::pick(const QPoint &pixel)
{
    const QMatrix4x4 pv = viewProjection();
    const Ray ray = Ray::through(pv, across(pixel, width()), upward(pixel, height()));
    const BodyShot &b = m_shot->bodies[size_t(m_body)];
    float nearest = INFINITY;
    m_held = Held::Nothing;
    const auto vertex = [](const std::vector<float> &p, uint32_t i) {
        return QVector3D(p[3 * size_t(i)], p[3 * size_t(i) + 1], p[3 * size_t(i) + 2]);
    };
    for (size_t t = 0; t + 2 < m_info.tris.size(); t += 3) {
        const uint32_t *c = &m_info.tris[t];
        float u, w;
        const float d = ray.meetTriangle(vertex(b.points, c[0]), vertex(b.points, c[1]), vertex(b.points, c[2]), u, w);
        if (d < 0 || d >= nearest) continue;
        nearest = d;
        m_held = Held::Skin;
        const QVector3D at =
            (1 - u - w) * vertex(m_info.rest, c[0]) + u * vertex(m_info.rest, c[1]) + w * vertex(m_info.rest, c[2]);
        m_grip = { double(at.x()), double(at.y()), double(at.z()) };
    }
    QVector3D held = ray.from + nearest * ray.along;
    int first = -1;
    for (size_t i = 0; i < m_shot->tools.size(); ++i) {
        const ToolShot &t = m_shot->tools[i];
        if (t.shape == PLI_TOOL_PLANE) continue;
        if (first < 0) first = int(i);
        const QVector3D centre(t.position[0], t.position[1], t.position[2]);
        const float d = ray.meetSphere(centre, t.radius);
        if (d < 0 || d >= nearest) continue;
        nearest = d;
        m_held = Held::Tool;
        m_tool = int(i);
        held = centre;
    }
    if (m_held == Held::Nothing && first >= 0) {
        const ToolShot &t = m_shot->tools[size_t(first)];
        m_held = Held::Tool;
        m_tool = first;
        held = { t.position[0], t.position[1], t.position[2] };
    }
    if (m_held != Held::Nothing) m_depth = pv * QVector4D(held, 1);
}

void Pane::drag(const QPoint &to)
{
    const float w = m_depth.w();
    const QVector4D clip(across(to, width()) * w, upward(to, height()) * w, m_depth.z(), w);
    const QVector3D at = (viewProjection().inverted() * clip).toVector3DAffine();
    const Vec3 place = { double(at.x()), double(at.y()), double(at.z()) };
    if (m_held == Held::Tool)
        emit toolMoved(m_tool, place);
    else
        emit skinPulled(m_grip, place);
}

void Pane::mousePressEvent(QMouseEvent *e)
{
    m_last = e->pos();
    m_held = Held::Camera;
    if (e->button() != Qt::LeftButton || !(e->modifiers() & Qt::ShiftModifier)) return;
    m_held = Held::Nothing;
    if (m_shot) pick(e->pos());
    if (m_held == Held::Skin) drag(e->pos()); // held at once, so that a body that is falling stays where it is taken
}

void Pane::mouseReleaseEvent(QMouseEvent *)
{
    if (m_held == Held::Tool || m_held == Held::Skin) emit handOpened();
    m_held = Held::Nothing;
}

void Pane::mouseMoveEvent(QMouseEvent *e)
{
    const QPoint d = e->pos() - m_last;
    m_last = e->pos();
    if (m_held == Held::Tool || m_held == Held::Skin) drag(e->pos());
    if (m_held != Held::Camera) return;
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
