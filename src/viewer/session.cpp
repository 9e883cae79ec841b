/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "viewer/session.h"

#include <algorithm>
#include <cmath>

#include "host/simulation.h"

namespace viewer
{

enum { MostBodies = 6 };

Session::Session(QString scenePath, QObject *parent) : QThread(parent), m_path(std::move(scenePath)) {}

Session::~Session()
{
    m_stop = true;
    m_wake.wakeAll();
    wait();
}

void Session::post(std::function<void()> command)
{
    QMutexLocker guard(&m_lock);
    m_commands.push_back(std::move(command));
    m_wake.wakeAll();
}

void Session::play(bool on)
{
    m_playing = on;
    m_wake.wakeAll();
}

void Session::stepOnce()
{
    post([this] { ++m_pending; });
}

void Session::playUntil(uint64_t step)
{
    post([this, step] {
        m_until = step;
        m_speed = 0;
        m_playing = m_scene && m_scene->step < step;
    });
}

void Session::reset()
{
    post([this] {
        unload();
        if (load()) publish();
    });
}

void Session::setSpeed(double factor)
{
    post([this, factor] { m_speed = factor; });
}

void Session::setColour(Colour colour)
{
    post([this, colour] {
        m_colour = colour;
        if (m_scene) publish();
    });
}

void Session::steer(double x, double y, double z)
{
    post([this, x, y, z] {
        m_steering = true;
        m_hand = { x, y, z };
    });
}

void Session::release()
{
    post([this] { m_steering = false; });
}

void Session::retune(std::function<void(PliBodyDef &)> change)
{
    post([this, change] {
        for (PliSceneBody &b : m_bodies) {
            PliBodyDef def = *pli_body_def(b.body);
            change(def);
            PliError err = {};
            if (pli_body_retune(b.body, &def, &err) != PLI_OK) emit message(QString("%1: %2").arg(b.name, err.text));
        }
    });
}

void Session::record(bool on)
{
    post([this, on] {
        m_recording = on;
        if (on) m_record.clear();
        emit message(on ? "recording the tool" : QString("recorded %1 steps").arg(m_record.size()));
    });
}

void Session::replay()
{
    post([this] {
        if (m_record.empty()) {
            emit message("nothing has been recorded yet");
            return;
        }
        unload();
        if (!load()) return;
        m_replaying = true;
        m_recording = false;
        m_playing = true;
        publish();
    });
}

SnapshotPtr Session::latest() const
{
    QMutexLocker guard(&m_lock);
    return m_latest;
}

bool Session::load()
{
    PliHost host = pli_host_default();
    PliSceneDef def = pli_scene_default();
    PliStatus status = PLI_OK;
    const QByteArray path = m_path.toLocal8Bit();
    m_scene = pli_scene_load(&host, path.constData(), &def, &status);
    PliError err = {};
    if (m_scene && status == PLI_OK) status = pli_scene_start(m_scene, &err);
    if (!m_scene || status != PLI_OK) {
        QString text = err.text[0] ? QString(err.text) : QString("%1 could not be loaded").arg(m_path);
        if (m_scene) {
            const PliReport &r = m_scene->report;
            for (size_t i = 0; i < r.count && !err.text[0]; ++i) {
                if (r.finding[i].severity < PLI_UNSUPPORTED_PART) continue;
                text = QString("%1:%2: %3: %4").arg(r.finding[i].file).arg(r.finding[i].line).arg(r.finding[i].component, r.finding[i].text);
                break;
            }
        }
        unload();
        emit failed(text);
        return false;
    }
    m_bodies.resize(MostBodies);
    const int count = pli_scene_bodies(m_scene, m_bodies.data(), MostBodies);
    m_bodies.resize(size_t(std::min<int>(count, MostBodies)));
    if (m_bodies.empty()) {
        unload();
        emit failed(QString("%1 has no body to show: it needs a FemModel, TetLodModel or another of our models").arg(m_path));
        return false;
    }
    if (count > MostBodies) emit message(QString("%1 bodies, the first %2 are shown").arg(count).arg(int(MostBodies)));
    m_infos.clear();
    for (const PliSceneBody &b : m_bodies) {
        BodyInfo info;
        info.name = b.name ? b.name : "body";
        info.scheme = pli_scheme_name(pli_body_scheme(b.body));
        PliIndex tris = 0;
        const PliIndex *t = pli_body_skin_tris(b.body, &tris);
        info.tris.assign(t, t + 3 * size_t(tris));
        info.pointCount = pli_body_skin_count(b.body);
        info.dofCount = pli_body_dof_count(b.body);
        info.levels = pli_body_level_count(b.body);
        info.reference = b.is_reference;
        const PliBodyDef *d = pli_body_def(b.body);
        info.threshold = d->criterion.threshold;
        info.budget = d->criterion.budget_ms;
        info.young = d->material.young;
        m_infos.push_back(std::move(info));
    }
    m_diverged = false;
    return true;
}

void Session::unload()
{
    m_bodies.clear();
    pli_scene_destroy(m_scene);
    m_scene = nullptr;
}

void Session::stepScene()
{
    if (m_diverged) {
        m_playing = false;
        return;
    }
    const uint64_t step = m_scene->step;
    if (m_replaying) {
        if (step >= m_record.size()) {
            m_replaying = false;
            m_playing = false;
            emit message("replay finished");
            return;
        }
        m_steering = m_record[step].steering;
        m_hand = m_record[step].at;
    }
    if (m_recording) m_record.push_back({ step, m_steering, m_hand });
    pli_scene_steer(m_scene, m_steering ? m_hand.data() : nullptr);
    PliError err = {};
    if (pli_scene_step(m_scene, &err) != PLI_OK) {
        m_diverged = true;
        m_playing = false;
        emit message(err.text);
    }
    if (m_scene->step >= m_until) {
        m_playing = false;
        m_until = UINT64_MAX;
    }
    publish();
}

static void copyDofs(const double *x, const PliIndex *dof, PliIndex count, std::vector<float> &out)
{
    out.resize(3 * size_t(count));
    for (PliIndex i = 0; i < count; ++i)
        for (size_t d = 0; d < 3; ++d) out[3 * size_t(i) + d] = float(x[3 * size_t(dof[i]) + d]);
}

void Session::publish()
{
    auto shot = std::make_shared<Snapshot>();
    shot->time = m_scene->time;
    shot->step = m_scene->step;
    m_reference.clear();
    for (const PliSceneBody &b : m_bodies) {
        if (!b.is_reference) continue;
        m_reference.resize(3 * size_t(pli_body_skin_count(b.body)));
        pli_body_skin_positions(b.body, b.x, m_reference.data());
    }
    for (const PliSceneBody &b : m_bodies) {
        BodyShot s;
        const PliIndex n = pli_body_skin_count(b.body);
        m_points.resize(3 * size_t(n));
        pli_body_skin_positions(b.body, b.x, m_points.data());
        s.points.assign(m_points.begin(), m_points.end());
        s.scalar.assign(n, 0.0f);
        const PliRows rows = pli_body_skin_rows(b.body);
        if (m_reference.size() == m_points.size() && !b.is_reference) {
            double sum = 0;
            for (size_t i = 0; i < m_points.size(); ++i) sum += (m_points[i] - m_reference[i]) * (m_points[i] - m_reference[i]);
            s.error = n ? std::sqrt(sum / n) : 0.0;
        }
        if (m_colour == Colour::Level) {
            const uint8_t *level = pli_body_skin_level(b.body);
            for (PliIndex i = 0; i < n; ++i) s.scalar[i] = level ? float(level[i]) : 0.0f;
        } else if (m_colour == Colour::Error && m_reference.size() == m_points.size()) {
            for (PliIndex i = 0; i < n; ++i) {
                const double *p = &m_points[3 * size_t(i)], *q = &m_reference[3 * size_t(i)];
                s.scalar[i] = float(std::sqrt((p[0] - q[0]) * (p[0] - q[0]) + (p[1] - q[1]) * (p[1] - q[1]) + (p[2] - q[2]) * (p[2] - q[2])));
            }
        } else if (m_colour == Colour::Speed) {
            std::vector<double> v(3 * size_t(n));
            pli_rows_apply(rows, b.v, v.data());
            for (PliIndex i = 0; i < n; ++i) s.scalar[i] = float(std::sqrt(v[3 * i] * v[3 * i] + v[3 * i + 1] * v[3 * i + 1] + v[3 * i + 2] * v[3 * i + 2]));
        } else if (m_colour == Colour::Stress) {
            m_scratch.resize(pli_body_dof_count(b.body));
            pli_body_von_mises(b.body, b.x, m_scratch.data());
            for (PliIndex i = 0; i < n; ++i)
                for (PliIndex k = rows.first[i]; k < rows.first[i + 1]; ++k) s.scalar[i] += float(rows.weight[k] * m_scratch[rows.column[k]]);
        }
        const PliStats stats = pli_body_stats(b.body);
        s.active = stats.active;
        s.elements = stats.elements;
        s.stepMs = stats.step_ms;
        const PliEnergy e = pli_body_energy(b.body, b.x, b.v);
        s.energy = e.elastic + e.kinetic;
        s.diverged = m_diverged;
        const PliActive active = pli_body_active(b.body);
        copyDofs(b.x, active.dof, active.count, s.activeDofs);
        PliIndex slaves = 0;
        const PliIndex *slave = pli_body_slaves(b.body, &slaves);
        copyDofs(b.x, slave, slaves, s.slaves);
        shot->bodies.push_back(std::move(s));
    }
    // one scale for all panes, so that colours can be compared
    float top = 0;
    for (const BodyShot &s : shot->bodies)
        for (float v : s.scalar) top = std::max(top, v);
    for (BodyShot &s : shot->bodies) s.scalarMax = top > 0 ? top : 1.0f;
    for (int i = 0; i < m_bodies.front().tool_count; ++i) {
        const PliTool &t = m_bodies.front().tools[i];
        ToolShot tool;
        tool.shape = t.shape;
        for (size_t d = 0; d < 3; ++d) {
            const double moved = m_scene->step ? m_scene->dt * t.velocity[d] : 0.0; // a tool stands where the last step began
            tool.position[d] = float(t.position[d] + moved);
            tool.other[d] = float(t.other[d] + (t.shape == PLI_TOOL_CAPSULE ? moved : 0.0));
        }
        tool.radius = float(t.radius);
        shot->tools.push_back(tool);
    }
    {
        QMutexLocker guard(&m_lock);
        m_latest = std::move(shot);
    }
    emit stepped();
}

void Session::run()
{
    if (!load()) return;
    publish();
    emit loaded();
    QElapsedTimer clock;
    clock.start();
    double due = 0; // ms on the clock at which the next step may begin
    while (!m_stop) {
        std::deque<std::function<void()>> commands;
        {
            QMutexLocker guard(&m_lock);
            if (m_commands.empty() && !m_playing && !m_pending) m_wake.wait(&m_lock, 100);
            commands.swap(m_commands);
        }
        for (auto &c : commands) c();
        if (!m_scene) continue;
        if (!m_playing && !m_pending) {
            due = double(clock.elapsed());
            continue;
        }
        if (m_pending) --m_pending;
        const double now = double(clock.elapsed());
        if (m_playing && m_speed > 0 && now < due) {
            msleep((unsigned long)std::min(due - now, 20.0));
            if (now + 20.0 < due) continue;
        }
        stepScene();
        due = m_speed > 0 ? std::max(due, double(clock.elapsed()) - 100.0) + 1e3 * m_scene->dt / m_speed : 0.0;
    }
    unload();
}

} // namespace viewer
