/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <QElapsedTimer>
#include <QMutex>
#include <QThread>
#include <QWaitCondition>
#include <array>
#include <atomic>
#include <deque>
#include <functional>

#include "host/bodies.h"
#include "viewer/snapshot.h"

namespace viewer
{

/// Runs a scene in its own thread. The window asks and looks at snapshots; it never touches the scene.
class Session : public QThread
{
    Q_OBJECT
public:
    explicit Session(QString scenePath, QObject *parent = nullptr);
    ~Session() override;

    void play(bool on);
    void stepOnce();
    void playUntil(uint64_t step); ///< plays as fast as it goes, then pauses
    void reset();
    void setSpeed(double factor); ///< simulated seconds per second; 0: as fast as it goes
    void setColour(Colour colour);
    void steer(double x, double y, double z);
    void release();
    /// Changes a body's definition between two steps.
    void retune(std::function<void(PliBodyDef &)> change);
    void record(bool on);
    void replay(); ///< plays what was recorded: tool positions step by step, from a reset

    SnapshotPtr latest() const;
    const std::vector<BodyInfo> &bodies() const { return m_infos; }
    bool playing() const { return m_playing; }

signals:
    void loaded();
    void failed(QString text);
    void stepped();
    void message(QString text);

protected:
    void run() override;

private:
    bool load();
    void unload();
    void post(std::function<void()> command);
    void stepScene();
    void publish();

    QString m_path;
    std::vector<BodyInfo> m_infos;
    mutable QMutex m_lock;
    QWaitCondition m_wake;
    std::deque<std::function<void()>> m_commands;
    SnapshotPtr m_latest;
    std::atomic<bool> m_playing{ false }, m_stop{ false };
    double m_speed = 1;
    Colour m_colour = Colour::Level;
    uint64_t m_until = UINT64_MAX;
    bool m_diverged = false;
    int m_pending = 0; ///< single steps still to do

    PliScene *m_scene = nullptr;
    std::vector<PliSceneBody> m_bodies;
    std::vector<double> m_points, m_reference, m_scratch;
    struct Mark {
        uint64_t step;
        bool steering;
        std::array<double, 3> at;
    };
    std::vector<Mark> m_record;
    bool m_recording = false, m_replaying = false, m_steering = false;
    std::array<double, 3> m_hand{};
};

} // namespace viewer
