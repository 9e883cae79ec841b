/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "viewer/session.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include <pliant/registry.h>
#include <pliant/scheme.h>
#include <pliant/stages.h>

#include "host/graph/simulation.h"

namespace viewer
{

enum { MostBodies = 6, FrameMs = 15 };

Session::Session(QString scenePath, QObject *parent) : QThread(parent), m_path(std::move(scenePath)) {}

Session::~Session()
{
    m_stop = true;
    m_wake.notify_all();
    wait();
}

// ---- what the window asks for ------------------------------------------------------------------------------------------------

void Session::post(std::function<void()> command)
{
    std::unique_lock<std::mutex> guard(m_lock);
    m_commands.push_back(std::move(command));
    m_wake.notify_all();
}

void Session::play(bool on)
{
    m_playing = on;
    m_wake.notify_all();
}

void Session::stepOnce()
{
    post([this] { ++m_pending; });
}

void Session::playUntil(uint64_t step)
{
    post([this, step] {
        m_until = step;
        m_playing = m_scene && m_scene->step < step;
    });
}

void Session::reset()
{
    post([this] {
        m_replaying = false;
        reload();
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

void Session::steer(int tool, Vec3 place)
{
    post([this, tool, place] {
        m_hand.tool = tool;
        m_hand.place = place;
    });
}

void Session::grab(Vec3 at, Vec3 target)
{
    post([this, at, target] {
        m_hand.grabbing = true;
        m_hand.at = at;
        m_hand.target = target;
    });
}

void Session::letGo()
{
    post([this] { m_hand = Hand(); });
}

void Session::turn(const std::string &attribute, double value)
{
    post([this, attribute, value] {
        m_knobs[attribute] = value;
        applyKnobs();
    });
}

void Session::leave(const std::string &attribute)
{
    post([this, attribute] {
        m_knobs.erase(attribute);
        applyKnobs();
    });
}

void Session::record(bool on)
{
    post([this, on] {
        if (on && !reload()) return;
        m_recording = on;
        m_replaying = false;
        if (on) m_record.marks.clear();
        emit message(on ? QString("recording what you do") : QString("recorded %1 steps").arg(m_record.marks.size()));
    });
}

void Session::replay()
{
    post([this] {
        m_recording = false;
        if (m_record.marks.empty()) {
            m_playing = false;
            emit message("nothing has been recorded yet");
            return;
        }
        if (!reload()) return;
        m_replaying = true;
        m_playing = true;
    });
}

void Session::saveRecording(const QString &path)
{
    post([this, path] {
        const QString wrong = m_record.save(path, m_path);
        emit message(wrong.isEmpty() ? QString("wrote %1 steps to %2").arg(m_record.marks.size()).arg(path) : wrong);
    });
}

void Session::openRecording(const QString &path)
{
    post([this, path] {
        const QString wrong = m_record.open(path);
        if (!wrong.isEmpty()) emit message(wrong);
    });
    replay();
}

void Session::showEveryStep(bool on)
{
    m_everyStep = on;
    m_wake.notify_all();
}

SnapshotPtr Session::latest()
{
    std::unique_lock<std::mutex> guard(m_lock);
    m_unseen = false;
    m_wake.notify_all();
    return m_latest;
}

SnapshotPtr Session::current() const
{
    std::unique_lock<std::mutex> guard(m_lock);
    return m_latest;
}

// ---- the scene -----------------------------------------------------------------------------------------------------------------

static QString whyNot(const PliScene *scene, const PliError &err, const QString &path)
{
    if (err.text[0]) return err.text;
    for (size_t i = 0; scene && i < scene->report.count; ++i) {
        const PliFinding &f = scene->report.finding[i];
        if (f.severity >= PLI_UNSUPPORTED_PART)
            return QString("%1:%2: %3: %4").arg(f.file).arg(f.line).arg(f.component, f.text);
    }
    return QString("%1 could not be loaded").arg(path);
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
        const QString text = whyNot(m_scene, err, m_path);
        unload();
        emit failed(text);
        return false;
    }
    m_bodies.resize(MostBodies);
    const int count = pli_scene_bodies(m_scene, m_bodies.data(), MostBodies);
    m_bodies.resize(size_t(std::min<int>(count, MostBodies)));
    if (m_bodies.empty()) {
        unload();
        emit failed(
            QString("%1 has no body to show: it needs a FemModel, TetLodModel or another of our models").arg(m_path));
        return false;
    }
    if (count > MostBodies) emit message(QString("%1 bodies, the first %2 are shown").arg(count).arg(int(MostBodies)));
    m_divergedAt.assign(m_bodies.size(), -1.0);
    m_stuck = false;
    m_hand = Hand();
    applyKnobs();
    m_feltWhyNot.clear();
    if (!m_device.isEmpty()) m_felt = Felt::open(m_scene, m_scene->dt, m_device, m_feltBody, &m_feltWhyNot);
    return true;
}

bool Session::reload()
{
    emit busy(true);
    unload();
    const bool good = load();
    if (good) publish();
    emit busy(false);
    return good;
}

/// Once: panes keep references to what is filled in here.
void Session::describe()
{
    for (const PliSceneBody &b : m_bodies) {
        BodyInfo info;
        info.name = b.name ? b.name : "body";
        info.scheme = pli_body_scheme(b.body);
        PliIndex tris = 0;
        const PliIndex *t = pli_body_skin_tris(b.body, &tris);
        info.tris.assign(t, t + 3 * size_t(tris));
        info.pointCount = pli_body_skin_count(b.body);
        m_points.resize(3 * size_t(info.pointCount));
        pli_body_skin_positions(b.body, pli_body_rest(b.body), m_points.data());
        info.rest.assign(m_points.begin(), m_points.end());
        info.dofCount = pli_body_dof_count(b.body);
        info.levels = pli_body_level_count(b.body);
        info.reference = b.is_reference;
        if (const PliSchemeInfo *scheme = pli_scheme_of(b.body)) {
            info.adaptive = scheme->adaptive;
            for (int k = 0; k < scheme->overlay_count; ++k) info.overlays.push_back(scheme->overlays[k].name);
        }
        m_infos.push_back(std::move(info));
    }
    double low[3] = { 1e300, 1e300, 1e300 }, high[3] = { -1e300, -1e300, -1e300 };
    const std::vector<float> &rest = m_infos.front().rest;
    for (size_t i = 0; i < rest.size(); ++i)
        low[i % 3] = std::min(low[i % 3], double(rest[i])), high[i % 3] = std::max(high[i % 3], double(rest[i]));
    m_size = rest.empty() ? 1.0 : std::hypot(high[0] - low[0], high[1] - low[1], high[2] - low[2]);
    pli_scene_view(m_scene, m_view.data());
}

void Session::unload()
{
    m_felt.reset();
    m_bodies.clear();
    pli_scene_destroy(m_scene);
    m_scene = nullptr;
}

void Session::applyKnobs()
{
    std::vector<PliTuning> tuning;
    for (const auto &k : m_knobs) tuning.push_back({ k.first.c_str(), k.second });
    for (size_t i = 0; i < m_bodies.size(); ++i) {
        PliError err = {};
        if (pli_scene_tune(m_scene, int(i), tuning.data(), int(tuning.size()), &err) != PLI_OK)
            emit message(QString("%1: %2").arg(m_bodies[i].name, err.text));
    }
}

/// The hand does to every body what it does to one.
void Session::act()
{
    for (int t = 0; t < m_bodies.front().tool_count; ++t)
        pli_scene_steer(m_scene, t, t == m_hand.tool ? m_hand.place.data() : nullptr);
    PliGrip grip = {};
    std::copy(m_hand.at.begin(), m_hand.at.end(), grip.at);
    std::copy(m_hand.target.begin(), m_hand.target.end(), grip.target);
    grip.radius = 0.05 * m_size;
    PliError err = {};
    if (pli_scene_grab(m_scene, m_hand.grabbing ? &grip : nullptr, &err) != PLI_OK) emit message(err.text);
}

void Session::stepScene()
{
    if (m_stuck) {
        m_playing = false;
        return;
    }
    const uint64_t step = m_scene->step;
    if (m_replaying) {
        if (step >= m_record.marks.size()) {
            m_replaying = false;
            m_playing = false;
            publish();
            emit message("replay finished");
            return;
        }
        const Recording::Mark &m = m_record.marks[step];
        m_hand = m.hand;
        if (!(m_knobs == m.knobs)) {
            m_knobs = m.knobs;
            applyKnobs();
        }
    }
    if (m_felt && !m_replaying) {
        m_hand.tool = m_felt->tool();
        m_hand.place = m_felt->place();
    }
    if (m_recording) m_record.marks.push_back({ m_hand, m_knobs });
    act();
    PliError err = {};
    const bool broken = pli_scene_step(m_scene, &err) != PLI_OK;
    if (m_felt) m_felt->stepped(broken);
    if (broken) {
        // who diverged stops, the others go on
        const int dropped = pli_scene_drop_diverged(m_scene);
        int left = 0;
        for (size_t i = 0; i < m_bodies.size(); ++i) {
            const bool gone = pli_scene_body_dropped(m_scene, int(i));
            if (gone && m_divergedAt[i] < 0) {
                m_divergedAt[i] = m_scene->time;
                emit message(
                    QString("%1 diverged at t = %2 s; the others go on").arg(m_bodies[i].name).arg(m_scene->time));
            }
            left += !gone;
        }
        if (dropped == 0 || left == 0) {
            m_stuck = true;
            m_playing = false;
            emit message(err.text);
        }
    }
    if (m_scene->step >= m_until) {
        m_playing = false;
        m_until = UINT64_MAX;
    }
    // a screen shows sixty pictures a second: what is in between costs time and is never seen
    if (m_everyStep || !m_playing || m_pending || m_shown.elapsed() >= FrameMs) publish();
}

// ---- snapshots -----------------------------------------------------------------------------------------------------------------

static void copyDofs(const PliSceneBody &b, const PliIndex *dof, PliIndex count, std::vector<float> &out)
{
    out.reserve(3 * size_t(count));
    for (PliIndex i = 0; i < count; ++i) {
        const PliIndex place = pli_body_dof_place(b.body, dof[i]);
        if (place == PLI_NONE) continue;
        for (size_t d = 0; d < 3; ++d) out.push_back(float(b.x[3 * size_t(place) + d]));
    }
}

static void copyOverlays(const PliSceneBody &b, BodyShot &s)
{
    const PliSchemeInfo *scheme = pli_scheme_of(b.body);
    PliIndex shift;
    bool acts; // what sleeps is not drawn
    const PliBody *own = pli_body_own_form(b.body, &shift, &acts);
    const double *x = b.x + 3 * size_t(shift);
    for (int k = 0; scheme && acts && k < scheme->overlay_count; ++k) {
        std::vector<PliLine> lines(scheme->overlays[k].lines(own, x, nullptr, 0));
        scheme->overlays[k].lines(own, x, lines.data(), PliIndex(lines.size()));
        std::vector<float> &out = s.overlays[scheme->overlays[k].name];
        for (const PliLine &l : lines)
            for (const double *p : { l.from, l.to })
                out.insert(out.end(), { float(p[0]), float(p[1]), float(p[2]), float(l.colour) });
    }
}

void Session::colourBody(const PliSceneBody &b, BodyShot &s)
{
    const size_t n = pli_body_skin_count(b.body);
    const PliRows rows = pli_body_skin_rows(b.body);
    if (m_colour == Colour::Level) {
        const uint8_t *level = pli_body_skin_level(b.body);
        for (size_t i = 0; i < n; ++i) s.scalar[i] = level ? float(level[i]) : 0.0f;
    } else if (m_colour == Colour::Error && m_reference.size() == m_points.size()) {
        for (size_t i = 0; i < n; ++i) {
            const double *p = &m_points[3 * i], *q = &m_reference[3 * i];
            s.scalar[i] = float(std::hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]));
        }
    } else if (m_colour == Colour::Speed) {
        m_scratch.resize(3 * n);
        pli_rows_apply(rows, b.v, m_scratch.data());
        for (size_t i = 0; i < n; ++i)
            s.scalar[i] = float(std::hypot(m_scratch[3 * i], m_scratch[3 * i + 1], m_scratch[3 * i + 2]));
    } else if (m_colour == Colour::Stress) {
        m_scratch.resize(pli_body_dof_count(b.body));
        pli_body_von_mises(b.body, b.x, m_scratch.data());
        for (size_t i = 0; i < n; ++i)
            for (PliIndex k = rows.first[i]; k < rows.first[i + 1]; ++k)
                s.scalar[i] += float(rows.weight[k] * m_scratch[rows.column[k]]);
    }
}

void Session::publishBody(size_t i, Snapshot &shot)
{
    const PliSceneBody &b = m_bodies[i];
    BodyShot s;
    const PliIndex n = pli_body_skin_count(b.body);
    m_points.resize(3 * size_t(n));
    pli_body_skin_positions(b.body, b.x, m_points.data());
    s.points.assign(m_points.begin(), m_points.end());
    s.scalar.assign(n, 0.0f);
    if (m_reference.size() == m_points.size() && !b.is_reference) {
        double sum = 0;
        for (size_t k = 0; k < m_points.size(); ++k)
            sum += (m_points[k] - m_reference[k]) * (m_points[k] - m_reference[k]);
        s.error = n ? std::sqrt(sum / n) : 0.0;
    }
    colourBody(b, s);
    const PliStats stats = pli_body_stats(b.body);
    s.active = stats.active;
    s.elements = stats.elements;
    s.stepMs = stats.step_ms;
    const PliEnergy e = pli_body_energy(b.body, b.x, b.v);
    s.energy = e.elastic + e.kinetic;
    s.divergedAt = m_divergedAt[i];
    const PliActive active = pli_body_active(b.body);
    copyDofs(b, active.dof, active.count, s.activeDofs);
    PliIndex slaves = 0;
    const PliIndex *slave = pli_body_slaves(b.body, &slaves);
    copyDofs(b, slave, slaves, s.slaves);
    copyOverlays(b, s);
    shot.bodies.push_back(std::move(s));
}

void Session::publish()
{
    auto shot = std::make_shared<Snapshot>();
    shot->time = m_scene->time;
    shot->step = m_scene->step;
    shot->colour = m_colour;
    shot->hand = m_hand;
    if (m_felt)
        m_felt->show(shot->felt);
    else
        shot->felt.wrong = m_feltWhyNot.toStdString();
    m_reference.clear();
    for (const PliSceneBody &b : m_bodies) {
        if (!b.is_reference) continue;
        m_reference.resize(3 * size_t(pli_body_skin_count(b.body)));
        pli_body_skin_positions(b.body, b.x, m_reference.data());
    }
    for (size_t i = 0; i < m_bodies.size(); ++i) publishBody(i, *shot);
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
            const double moved =
                m_scene->step ? m_scene->dt * t.velocity[d] : 0.0; // a tool stands where the last step began
            tool.position[d] = float(t.position[d] + moved);
            tool.other[d] = float(t.other[d] + (t.shape == PLI_TOOL_CAPSULE ? moved : 0.0));
        }
        tool.radius = float(t.radius);
        shot->tools.push_back(tool);
    }
    m_shown.restart();
    bool announce;
    {
        std::unique_lock<std::mutex> guard(m_lock);
        m_latest = std::move(shot);
        announce = !m_unseen.exchange(true);
    }
    // one message is enough however many steps follow: a slow window is never flooded
    if (announce) emit stepped();
    if (!m_everyStep) return;
    std::unique_lock<std::mutex> guard(m_lock);
    while (m_everyStep && m_unseen && !m_stop) m_wake.wait_for(guard, std::chrono::milliseconds(50));
}

void Session::run()
{
    m_shown.start();
    if (!load()) return;
    describe();
    publish();
    emit loaded();
    QElapsedTimer clock;
    clock.start();
    double due = 0; // ms on the clock at which the next step may begin
    while (!m_stop) {
        std::deque<std::function<void()>> commands;
        {
            std::unique_lock<std::mutex> guard(m_lock);
            if (m_commands.empty() && !m_playing && !m_pending) m_wake.wait_for(guard, std::chrono::milliseconds(100));
            commands.swap(m_commands);
        }
        for (auto &c : commands) c();
        if (!m_scene) {
            m_playing = false;
            m_pending = 0;
            continue;
        }
        if (!m_playing && !m_pending) {
            due = double(clock.elapsed());
            FeltShot felt; // goes on ticking
            if (m_felt) m_felt->show(felt);
            // a pause shows where it came to
            if (current()->step != m_scene->step || current()->felt.state != felt.state) publish();
            continue;
        }
        if (m_pending) --m_pending;
        const double now = double(clock.elapsed()),
                     speed = m_until == UINT64_MAX || m_felt ? m_speed : 0.0; // a hand has its own time
        if (m_playing && speed > 0 && now < due) {
            msleep((unsigned long)std::min(due - now, 20.0));
            if (now + 20.0 < due) continue;
        }
        stepScene();
        due = speed > 0 ? std::max(due, double(clock.elapsed()) - 100.0) + 1e3 * m_scene->dt / speed : 0.0;
    }
    unload();
}

} // namespace viewer
