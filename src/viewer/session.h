/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <QElapsedTimer>
#include <QThread>
#include <array>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include "host/components/bodies.h"
#include "viewer/felt.h"
#include "viewer/recording.h"
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

    /// Before start: a device (see pli_device_open) that holds the first tool; body: whose force it feels, or empty.
    void feel(const QString &device, const QString &body) { m_device = device, m_feltBody = body; }
    void play(bool on);
    void stepOnce();
    void playUntil(uint64_t step); ///< plays as fast as it goes, then pauses
    void reset();
    void setSpeed(double factor); ///< simulated seconds per second; 0: as fast as it goes
    void setColour(Colour colour);
    void steer(int tool, Vec3 place);
    void grab(Vec3 at, Vec3 target);                       ///< pulls every body by the same patch of skin
    void letGo();                                          ///< of tool and skin
    void leave(const std::string &attribute);              ///< as the scene says
    void turn(const std::string &attribute, double value); ///< see PliTuning
    void record(bool on); ///< resets first, so that a replay starts where the recording did
    void replay();        ///< from a reset, step by step what was recorded
    void saveRecording(const QString &path);
    void openRecording(const QString &path); ///< and replays it
    /// Every step is shown before the next begins, for image sequences; else steps the screen cannot follow are skipped.
    void showEveryStep(bool on);

    SnapshotPtr latest();        ///< to show it; the next one is announced after this
    SnapshotPtr current() const; ///< to look at it
    const std::vector<BodyInfo> &bodies() const { return m_infos; }
    bool playing() const { return m_playing; }
    bool stuck() const { return m_stuck; } ///< nothing is left that can go on
    Vec3 view() const { return m_view; }   ///< direction to the eye, or zero

  signals:
    void loaded();
    void busy(bool on); ///< the scene is being loaded again
    void failed(QString text);
    void stepped();
    void message(QString text);

  protected:
    void run() override;

  private:
    bool load();
    bool reload();
    void describe();
    void unload();
    void post(std::function<void()> command);
    void stepScene();
    void act();
    void applyKnobs();
    void publish();
    void publishBody(size_t i, Snapshot &shot);
    void colourBody(const PliSceneBody &b, BodyShot &s);

    QString m_path;
    std::vector<BodyInfo> m_infos;
    Vec3 m_view{};
    mutable std::mutex m_lock; // not QMutex, which ThreadSanitizer cannot see into
    std::condition_variable m_wake;
    std::deque<std::function<void()>> m_commands;
    SnapshotPtr m_latest;
    std::atomic<bool> m_playing{ false }, m_stop{ false }, m_unseen{ false }, m_everyStep{ false },
        m_stuck{ false }; // m_stuck: nothing is left that can go on
    double m_speed = 1;
    Colour m_colour = Colour::Level;
    uint64_t m_until = UINT64_MAX;
    int m_pending = 0;     ///< single steps still to do
    QElapsedTimer m_shown; ///< since the last snapshot

    QString m_device, m_feltBody, m_feltWhyNot;
    std::unique_ptr<Felt> m_felt;
    PliScene *m_scene = nullptr;
    std::vector<PliSceneBody> m_bodies;
    std::vector<double> m_divergedAt;
    std::vector<double> m_points, m_reference, m_scratch;
    double m_size = 1; ///< m, of the first body
    Recording m_record;
    bool m_recording = false, m_replaying = false;
    Hand m_hand;
    Knobs m_knobs;
};

} // namespace viewer
