/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "viewer/felt.h"

#include <algorithm>
#include <cmath>

extern "C" {
#include "base/timer.h"
}

namespace viewer
{

std::unique_ptr<Felt> Felt::open(PliScene *scene, double dt, const QString &device, const QString &body, QString *why)
{
    const PliHost host = pli_host_default();
    const QByteArray name = device.toLocal8Bit(), node = body.toLocal8Bit();
    PliHoldDef def{};
    def.body = body.isEmpty() ? nullptr : node.constData();
    def.device = name.constData();
    def.seconds = 600;
    def.servo = pli_servo_default();
    PliError err{};
    std::unique_ptr<Felt> felt(new Felt);
    if (pli_hold_open(&felt->m_hold, &host, scene, dt, &def, &err) == PLI_OK)
        felt->m_loop = pli_loop_start(&host, felt->m_hold.device, felt->m_hold.servo, 1000.0, 0, &err);
    if (felt->m_loop) {
        felt->m_device = pli_device_facts(felt->m_hold.device).model;
        felt->m_last = pli_wall_ms();
        return felt;
    }
    *why = err.text;
    return nullptr;
}

Felt::~Felt()
{
    pli_loop_destroy(m_loop);
    pli_hold_close(&m_hold);
}

Vec3 Felt::place()
{
    Vec3 p{};
    pli_hold_place(&m_hold, p.data());
    return p;
}

void Felt::stepped(bool broken)
{
    const double now = pli_wall_ms();
    pli_hold_model(&m_hold, broken);
    m_hold.model.period = std::clamp(1e-3 * (now - m_last), m_hold.dt, 1.0);
    m_last = now;
    pli_servo_publish(m_hold.servo, &m_hold.model);
}

static double length(const double v[3]) { return std::hypot(v[0], v[1], v[2]); }

void Felt::show(FeltShot &shot)
{
    PliServoOutput o;
    PliError err{};
    (void)pli_servo_look(m_hold.servo, &o);
    const PliLoopStats stats = pli_loop_stats(m_loop);
    shot.on = true;
    shot.device = m_device;
    shot.body = m_hold.body.name ? m_hold.body.name : "body";
    shot.state = pli_servo_state_name(o.state);
    shot.force = length(o.force);
    shot.simulated = length(m_hold.body.tools[m_hold.tool].force);
    shot.stiffness = pli_touch_stiffness(m_hold.touch);
    shot.limit = o.limit;
    shot.rate = stats.rate;
    shot.missed = stats.missed;
    shot.priority = stats.priority;
    if (pli_device_status(m_hold.device, &err) != PLI_OK) shot.wrong = err.text;
}

} // namespace viewer
