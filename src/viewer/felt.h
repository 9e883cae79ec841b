/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <QString>
#include <memory>

#include "host/feel/hold.h"
#include "viewer/snapshot.h"

namespace viewer
{

/// A haptic device in the window: it holds a tool of one body, and all bodies have their tool there.
/// Lives in the thread of the simulation; its servo ticks in threads of its own.
class Felt
{
  public:
    /// Null when the device cannot be opened, and `why` says what is missing.
    static std::unique_ptr<Felt> open(PliScene *scene, double dt, const QString &device, const QString &body,
                                      QString *why);
    ~Felt();
    Felt(const Felt &) = delete;
    Felt &operator=(const Felt &) = delete;

    int tool() const { return m_hold.tool; }
    Vec3 place();              ///< of the tool in the coming step
    void stepped(bool broken); ///< after a step: what the hand feels of it
    void show(FeltShot &shot); ///< device, state and forces as they are now

  private:
    Felt() = default;
    PliHold m_hold{};
    PliLoop *m_loop = nullptr;
    double m_last = 0; ///< ms, of the last step
    std::string m_device;
};

} // namespace viewer
