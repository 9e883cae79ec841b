/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Laws of the servo, tick by tick: no clock, no thread. Criteria are those of doc/haptics.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include <pliant/haptics.h>

extern "C" {
#include "base/hash.h"
#include "base/vec.h"
}

namespace
{
const double T = 1e-3;

struct Free {
    void operator()(PliServo *s) const { pli_servo_destroy(s); }
    void operator()(PliDevice *d) const { pli_device_close(d); }
};
using Servo = std::unique_ptr<PliServo, Free>;
using Device = std::unique_ptr<PliDevice, Free>;

Servo make(const PliServoDef &def)
{
    const PliHost host = pli_host_default();
    PliError err{};
    Servo s(pli_servo_create(&host, &def, &err));
    EXPECT_TRUE(s) << err.text;
    return s;
}

/// A servo that hides nothing: the whole force at once, no limits.
PliServoDef bare(double stiffness)
{
    PliServoDef d = pli_servo_default();
    d.stiffness = stiffness;
    d.damping = 0.0;
    d.slew = 1e6;
    d.ramp = 1e-3;
    d.peak_force = 1e3;
    d.continuous_force = 1e3;
    return d;
}

PliHapticSample at(double x, double y, double z)
{
    PliHapticSample s{};
    s.position[0] = x, s.position[1] = y, s.position[2] = z;
    s.orientation[3] = 1.0;
    s.connected = true;
    return s;
}

PliHapticModel floor_model(double offset, double compliance, double period = 0.02)
{
    PliHapticModel m{};
    m.period = period;
    m.plane[0] = { { 0.0, 1.0, 0.0 }, offset, compliance, true, {} };
    return m;
}

PliServoOutput look(PliServo *s)
{
    PliServoOutput o{};
    (void)pli_servo_look(s, &o);
    return o;
}

/// The criterion: how much more a force changed than the hand's motion and the coupling explain.
double excess(const double now[3], const double before[3], const double way[3], double stiffness)
{
    return v3_distance(now, before) - stiffness * v3_norm(way);
}
} // namespace

TEST(Servo, RefusesWhatIsOutOfRange)
{
    const PliHost host = pli_host_default();
    PliError err{};
    PliServoDef d = pli_servo_default();
    d.stiffness = -1.0;
    EXPECT_EQ(pli_servo_create(&host, &d, &err), nullptr);
    EXPECT_NE(std::string(err.text).find("stiffness=-1"), std::string::npos) << err.text;
    d = pli_servo_default();
    d.continuous_force = 5.0; // above the peak
    EXPECT_EQ(pli_servo_create(&host, &d, &err), nullptr);
    EXPECT_NE(std::string(err.text).find("continuous_force"), std::string::npos) << err.text;
}

TEST(Servo, NoForceWithoutAModelAndOffThePlane)
{
    const Servo s = make(bare(300.0));
    double f[3];
    PliHapticSample hand = at(0.0, -0.01, 0.0);
    pli_servo_tick(s.get(), &hand, T, f);
    EXPECT_EQ(v3_norm(f), 0.0);
    EXPECT_EQ(look(s.get()).state, PLI_SERVO_WAITING);
    const PliHapticModel m = floor_model(0.0, 0.001);
    pli_servo_publish(s.get(), &m);
    hand = at(0.0, 0.01, 0.0);
    pli_servo_tick(s.get(), &hand, T, f);
    EXPECT_EQ(v3_norm(f), 0.0);
    EXPECT_EQ(look(s.get()).state, PLI_SERVO_RUNNING);
}

// Coupling and body are springs in series: force = depth / (1 / K + compliance), and the proxy is as far in as the body gives way.
TEST(Servo, SeriesOfCouplingAndBody)
{
    for (const double compliance : { 0.0, 1e-3, 2e-2 }) {
        const Servo s = make(bare(300.0));
        const PliHapticModel m = floor_model(0.002, compliance);
        PliHapticSample hand = at(0.0, 0.003, 0.0);
        double f[3];
        pli_servo_publish(s.get(), &m);
        for (int i = 0; i < 10; ++i) pli_servo_tick(s.get(), &hand, T, f);
        hand = at(0.001, -0.006, 0.002);
        for (int i = 0; i < 5; ++i) pli_servo_tick(s.get(), &hand, T, f);
        const double expected = 0.008 / (1.0 / 300.0 + compliance);
        const PliServoOutput o = look(s.get());
        EXPECT_NEAR(f[1], expected, 1e-9 * expected);
        EXPECT_NEAR(f[0], 0.0, 1e-12);
        EXPECT_NEAR(o.proxy[1], 0.002 - compliance * expected, 1e-12);
        EXPECT_NEAR(o.proxy[0], 0.001, 1e-12);
    }
}

TEST(Servo, ProxyNeverPenetrates)
{
    uint64_t seed = 5;
    auto unit = [&] { return 2.0 * pli_random_unit(&seed) - 1.0; };
    for (int trial = 0; trial < 300; ++trial) {
        const Servo s = make(bare(50.0 + 400.0 * pli_random_unit(&seed)));
        PliHapticModel m{};
        m.period = 0.02;
        const int planes = 1 + trial % 3; // three normals of one half-space: a corner that a proxy can sit in
        for (int i = 0; i < planes; ++i) {
            double n[3] = { unit(), 1.2 + unit(), unit() };
            v3_scale(n, 1.0 / v3_norm(n));
            m.plane[i] = { { n[0], n[1], n[2] }, 0.01 * unit(), 0.0, true, {} };
        }
        PliHapticSample hand = at(0.0, 1.0, 0.0);
        double f[3];
        pli_servo_publish(s.get(), &m);
        pli_servo_tick(s.get(), &hand, T, f);
        for (int i = 0; i < 40; ++i) {
            hand = at(0.02 * unit(), 0.02 * unit(), 0.02 * unit());
            for (int k = 0; k < 4; ++k) pli_servo_tick(s.get(), &hand, T, f);
            const PliServoOutput o = look(s.get());
            for (int p = 0; p < planes; ++p)
                EXPECT_GT(v3_dot(m.plane[p].normal, o.proxy) - m.plane[p].offset, -1e-6) << trial << " " << p;
        }
    }
}

// Models jump: offset, direction, compliance and revision change wildly at random times, the hand moves. No step is felt.
TEST(Servo, ForceNeverJumpsWhenModelsDo)
{
    uint64_t seed = 11;
    auto unit = [&] { return 2.0 * pli_random_unit(&seed) - 1.0; };
    for (const double k : { 10.0, 100.0, 500.0 })
        for (const bool jitter : { false, true }) {
            PliServoDef d = pli_servo_default();
            d.stiffness = k;
            const Servo s = make(d);
            double x[3] = { 0.0, 0.01, 0.0 }, v[3] = { 0.0 }, last[3] = { 0.0 }, worst = 0.0, most = 0.0;
            uint64_t revision = 0;
            for (int i = 0; i < 20000; ++i) {
                if (i % 17 == 0) {
                    PliHapticModel m = floor_model(0.01 * unit(), 0.01 * pli_random_unit(&seed), 0.017);
                    for (int c = 0; c < 3; ++c) m.plane[0].normal[c] += 0.5 * unit();
                    m.plane[1] = { { 1.0, 0.0, 0.0 }, -0.005, 0.002, i % 3 == 0, {} };
                    m.revision = i % 5 == 0 ? ++revision : revision;
                    pli_servo_publish(s.get(), &m);
                }
                double f[3], way[3], from[3];
                v3_copy(from, x);
                const double dt = jitter ? T + 3e-4 * unit() : T;
                for (int c = 0; c < 3; ++c) {
                    v[c] = 0.995 * v[c] + 0.004 * unit() - 0.02 * x[c];
                    x[c] += T * v[c];
                }
                const PliHapticSample hand = at(x[0], x[1], x[2]);
                pli_servo_tick(s.get(), &hand, dt, f);
                v3_sub(way, x, from);
                if (i) worst = std::max(worst, excess(f, last, way, k));
                most = std::max(most, v3_norm(f));
                v3_copy(last, f);
            }
            EXPECT_LE(worst, 0.02 * (jitter ? 1.3 : 1.0)) << k; // per ms: a longer tick may do more
            EXPECT_GT(most, k > 50.0 ? 0.3 : 0.03);             // there was something to feel
        }
}

TEST(Servo, StallDecaysWithin150Ms)
{
    const Servo s = make(pli_servo_default());
    PliHapticModel m = floor_model(0.0, 1e-3);
    m.plane[0].arm[0] = 0.03;
    double f[3];
    for (int i = 0; i < 1000; ++i) {
        if (i % 20 == 0) pli_servo_publish(s.get(), &m);
        const PliHapticSample hand = at(0.0, -0.01, 0.0);
        pli_servo_tick(s.get(), &hand, T, f);
    }
    double last = v3_norm(f), last_torque = v3_norm(look(s.get()).torque);
    EXPECT_GT(last, 1.0);
    EXPECT_GT(last_torque, 0.03);
    for (int i = 1; i <= 500; ++i) { // the simulation is frozen, the hand keeps pushing deeper
        const PliHapticSample hand = at(0.0, -0.01 - 1e-5 * std::max(0, i - 100), 0.0);
        pli_servo_tick(s.get(), &hand, T, f);
        const double torque = v3_norm(look(s.get()).torque);
        if (i > 100) {
            EXPECT_LE(v3_norm(f), last + 1e-12) << i;
            EXPECT_LE(torque, last_torque + 1e-12) << i;
        }
        if (i >= 150) {
            EXPECT_EQ(v3_norm(f), 0.0) << i;
            EXPECT_EQ(torque, 0.0) << i;
        }
        last_torque = torque;
        if (i == 120) {
            EXPECT_EQ(look(s.get()).state, PLI_SERVO_STALLED);
        }
        last = v3_norm(f);
    }
    double before = 0.0; // and comes back by a ramp
    for (int i = 0; i < 600; ++i) {
        if (i % 20 == 0) pli_servo_publish(s.get(), &m);
        const PliHapticSample hand = at(0.0, -0.014, 0.0);
        pli_servo_tick(s.get(), &hand, T, f);
        EXPECT_LE(v3_norm(f) - before, 0.02);
        before = v3_norm(f);
    }
    EXPECT_GT(before, 1.0);
}

TEST(Servo, DivergedSimulationTakesForcesAway)
{
    const Servo s = make(pli_servo_default());
    PliHapticModel m = floor_model(0.0, 1e-3);
    const PliHapticSample hand = at(0.0, -0.01, 0.0);
    double f[3];
    for (int i = 0; i < 1000; ++i) {
        if (i % 20 == 0) pli_servo_publish(s.get(), &m);
        pli_servo_tick(s.get(), &hand, T, f);
    }
    EXPECT_GT(v3_norm(f), 1.0);
    m.broken = true;
    pli_servo_publish(s.get(), &m);
    for (int i = 0; i < 50; ++i) pli_servo_tick(s.get(), &hand, T, f);
    EXPECT_EQ(v3_norm(f), 0.0);
    EXPECT_EQ(look(s.get()).state, PLI_SERVO_BROKEN);
}

TEST(Servo, PlanesThatAreNoNumbersAreNotFelt)
{
    const Servo s = make(bare(300.0));
    PliHapticModel m = floor_model(0.0, 1e-3);
    m.plane[0].offset = std::nan("");
    const PliHapticSample hand = at(0.0, -0.01, 0.0);
    double f[3];
    pli_servo_publish(s.get(), &m);
    for (int i = 0; i < 100; ++i) pli_servo_tick(s.get(), &hand, T, f);
    EXPECT_EQ(v3_norm(f), 0.0);
    PliHapticSample lost = at(std::nan(""), 0.0, 0.0);
    pli_servo_tick(s.get(), &lost, T, f);
    EXPECT_EQ(v3_norm(f), 0.0);
    EXPECT_TRUE(std::isfinite(look(s.get()).proxy[0]));
    EXPECT_EQ(look(s.get()).state, PLI_SERVO_UNPLUGGED);
}

TEST(Servo, UnpluggedGivesNoForceAndComesBackByARamp)
{
    const Servo s = make(pli_servo_default());
    const PliHapticModel m = floor_model(0.0, 1e-3);
    PliHapticSample hand = at(0.0, -0.01, 0.0);
    double f[3], before = 0.0;
    for (int i = 0; i < 2000; ++i) {
        if (i % 20 == 0) pli_servo_publish(s.get(), &m);
        hand.connected = i < 1000 || i > 1100;
        pli_servo_tick(s.get(), &hand, T, f);
        if (!hand.connected) {
            EXPECT_EQ(v3_norm(f), 0.0);
        }
        if (hand.connected && i) {
            EXPECT_LE(v3_norm(f) - before, 0.02) << i;
        }
        before = v3_norm(f);
    }
    EXPECT_GT(before, 1.0);
}

TEST(Servo, ForcesStayBelowThePeakAndSinkToWhatLasts)
{
    PliServoDef d = pli_servo_default();
    d.stiffness = 500.0;
    const Servo s = make(d);
    PliHapticModel m = floor_model(0.0, 0.0);
    m.plane[0].arm[0] = 0.03;
    const PliHapticSample hand = at(0.0, -0.05, 0.0); // asks for 25 N
    double f[3], most = 0.0;
    for (int i = 0; i < 100000; ++i) {
        if (i % 20 == 0) pli_servo_publish(s.get(), &m);
        pli_servo_tick(s.get(), &hand, T, f);
        most = std::max(most, v3_norm(f));
    }
    EXPECT_LE(most, d.peak_force + 1e-9);
    EXPECT_GT(most, 0.8 * d.peak_force);
    EXPECT_NEAR(v3_norm(f), d.continuous_force, 0.1 * d.continuous_force);
    EXPECT_NEAR(look(s.get()).torque[2], 0.03 * f[1],
                1e-3 * f[1]); // the torque of the force that is given, not of what is asked for
}

TEST(Servo, NoPulseOfAButtonIsLost)
{
    const Servo s = make(pli_servo_default());
    uint64_t seed = 3;
    int pulses = 0, seen = 0, up = 0, next = 50;
    double f[3];
    for (int i = 0; i < 100000; ++i) { // pulses of 5 ms, a simulation of 20 Hz
        PliHapticSample hand = at(0.0, 0.0, 0.0);
        if (up == 0 && i % 100 == 30) up = 5, pulses++;
        hand.buttons = up > 0 ? 2u : 0u;
        if (up) --up;
        pli_servo_tick(s.get(), &hand, T, f);
        if (i < next) continue;
        next += 48 + (int)(pli_random(&seed) % 5);
        seen += pli_servo_pressed(s.get()) == 2u;
    }
    seen += pli_servo_pressed(s.get()) == 2u;
    EXPECT_EQ(seen, pulses);
}

namespace
{
/// The simplest simulation: a surface point of mass m on a spring and a damper, pushed by a tool that follows the proxy, stepped
/// implicitly. It publishes its own compliance over a step, as bodies do.
struct Pad {
    double k = 150.0, b = 0.5, m = 0.02, x = 0.0, v = 0.0, tool = 0.02;
    uint64_t revision = 0;
    PliHapticModel step(double proxy, double dt)
    {
        const double to = proxy;
        double next_v = (m * v - dt * k * x) / (m + dt * b + dt * dt * k), next = x + dt * next_v, force = 0.0;
        if (next > to) { // the tool is above: the point may not be higher; what inertia adds is left out, as bodies do
            next = to;
            next_v = (to - x) / dt;
            force = std::max(0.0, -(b * next_v + k * next));
        }
        x = next, v = next_v, tool = to;
        const double compliance = 1.0 / (k + b / dt + m / (dt * dt));
        PliHapticModel out = floor_model(0.0, compliance, dt);
        out.plane[0].offset = force > 0.0 ? tool + compliance * force : x;
        out.revision = revision;
        return out;
    }
};

struct Felt {
    double energy = 0.0, excess = 0.0, force = 0.0, model = 0.0;
    int turns = 0; ///< sign changes of the force's slope with an amplitude above 0.1 N, in the last 5 s
};

Felt feel(double stiffness, double rate, double pad, bool jitter, bool control = false)
{
    PliServoDef d = pli_servo_default();
    d.stiffness = stiffness;
    d.control = control;
    d.continuous_force = d.peak_force;
    const Servo s = make(d);
    const PliHost host = pli_host_default();
    PliError err{};
    // a hand that presses with up to 20 N/m x 60 mm = 1.2 N, wiggles, comes back, and presses again
    const double time[] = { 0.0, 0.5, 1.0, 3.0, 3.3, 3.6, 4.0, 5.0, 10.0 };
    const double path[] = { 0, 0.02, 0,     0, 0.01, 0,    0, -0.06, 0,     0, -0.06, 0,     0, -0.03,
                            0, 0,    -0.06, 0, 0,    0.03, 0, 0,     -0.05, 0, 0,     -0.05, 0 };
    const PliHandPath way = { time, path, 9 };
    const Device hand(pli_device_open(&host, "dummy:passive", &way, &err));
    Pad body;
    body.k = pad;
    Felt felt;
    uint64_t seed = 9;
    double last[3] = { 0.0 }, from[3] = { 0.0, 0.02, 0.0 }, due = 0.0, turn = 0.0, time_now = 0.0;
    int slope = 0;
    for (int i = 0; i < 10000; ++i) {
        const double dt = jitter ? T + 3e-4 * (2.0 * pli_random_unit(&seed) - 1.0) : T;
        PliHapticSample sample;
        double f[3], move[3];
        pli_device_read(hand.get(), dt, &sample);
        pli_servo_tick(s.get(), &sample, dt, f);
        pli_device_write(hand.get(), f);
        v3_sub(move, sample.position, from);
        v3_copy(from, sample.position);
        if (i) felt.excess = std::max(felt.excess, excess(f, last, move, stiffness) * T / dt);
        const double change = f[1] - turn;
        if (std::fabs(change) > 0.1) {
            const int now = change > 0.0 ? 1 : -1;
            if (now != slope && i > 5000) felt.turns++;
            slope = now, turn = f[1];
        } else if ((change > 0.0) == (slope > 0)) {
            turn = f[1];
        }
        v3_copy(last, f);
        time_now += dt;
        const PliServoOutput o = look(s.get());
        felt.energy = std::min(felt.energy, o.energy);
        if (time_now >= due) {
            due += 1.0 / rate;
            const PliHapticModel m = body.step(o.proxy[1], 1.0 / rate);
            pli_servo_publish(s.get(), &m);
        }
    }
    felt.force = last[1];
    felt.model = look(s.get()).model_force[1];
    return felt;
}
} // namespace

// The range a device is used in: no limit cycle, no energy out, no step, whatever the rate of the simulation.
TEST(Servo, StablePassiveAndSmoothOverItsRange)
{
    for (const double k : { 10.0, 100.0, 300.0, 500.0 })
        for (const double rate : { 20.0, 50.0, 100.0, 500.0 })
            for (const double pad : { 30.0, 150.0, 600.0 })
                for (const bool jitter : { false, true }) {
                    const Felt f = feel(k, rate, pad, jitter);
                    SCOPED_TRACE(testing::Message()
                                 << "K " << k << " rate " << rate << " body " << pad << " jitter " << jitter);
                    EXPECT_GE(f.energy, -1e-4);
                    EXPECT_LE(f.turns, 100) << "of 20 per second";
                    EXPECT_LE(f.excess, 0.02);
                    EXPECT_GT(f.force, 0.05);
                }
}

// At rest the hand feels coupling and body in series, whatever is between.
TEST(Servo, StaticForceIsThatOfTheBody)
{
    const double k = 300.0, pad = 150.0, hand = 20.0, reach = 0.05;
    const Felt f = feel(k, 50.0, pad, false);
    const double series = 1.0 / (1.0 / k + 1.0 / pad + 1.0 / hand);
    EXPECT_NEAR(f.force, series * reach, 0.02 * series * reach);
}

// Sliding over a ridge: the normal turns by 60 degrees between two models. It is felt as a turn, not as a step.
TEST(Servo, ShadesTheForceAcrossARidge)
{
    PliServoDef d = pli_servo_default();
    d.stiffness = 500.0;
    const Servo s = make(d);
    double last[3] = { 0.0 }, worst = 0.0, worst_angle = 0.0, x = -0.02;
    for (int i = 0; i < 2000; ++i) { // 20 mm/s, 3 mm below the roof
        x += 2e-5;
        if (i % 20 == 0) {
            PliHapticModel m = floor_model(0.0, 1e-3);
            const double side = x < 0.0 ? -1.0 : 1.0;
            m.plane[0].normal[0] = 0.5 * side;
            m.plane[0].normal[1] = std::sqrt(0.75);
            pli_servo_publish(s.get(), &m);
        }
        double f[3];
        const PliHapticSample hand = at(x, -std::fabs(x) * 0.5 / std::sqrt(0.75) - 0.003, 0.0);
        const double way[3] = { 2e-5, 2e-5 * 0.58, 0.0 };
        pli_servo_tick(s.get(), &hand, T, f);
        if (i > 400) {
            worst = std::max(worst, excess(f, last, way, d.stiffness));
            const double c = v3_dot(f, last) / (v3_norm(f) * v3_norm(last));
            worst_angle = std::max(worst_angle, std::acos(std::min(1.0, c)));
        }
        v3_copy(last, f);
    }
    EXPECT_LE(worst, 0.02);
    EXPECT_LE(worst_angle, 0.12); // of 1.05 in one step
    EXPECT_GT(last[0], 0.3);      // and it did turn
}

TEST(Servo, SameTicksSameBits)
{
    const Felt a = feel(300.0, 50.0, 150.0, true), b = feel(300.0, 50.0, 150.0, true);
    EXPECT_EQ(a.force, b.force);
    EXPECT_EQ(a.energy, b.energy);
}

// A hand that presses a floor slides into a wall, back, and in again; the simulation publishes a plane when the tool is near it. The
// proxy is in front of both planes, and no step is felt, rigid or soft, wherever the wall leans.
TEST(Servo, SlidingIntoACornerIsSmooth)
{
    for (const double lean : { 0.0, 0.5, -0.5 })
        for (const double compliance : { 0.0, 2e-3 }) {
            SCOPED_TRACE(lean + compliance);
            PliServoDef d = pli_servo_default();
            d.stiffness = 500.0;
            d.continuous_force = d.peak_force;
            const Servo s = make(d);
            const double wall[3] = { -std::cos(lean), std::sin(lean), 0.0 };
            double last[3] = { 0.0 }, from[3] = { -0.03, 0.01, 0.0 }, worst = 0.0, both = 0.0;
            for (int i = 0; i < 12000; ++i) {
                const double t = 1e-3 * i, in = std::min(1.0, t / 0.5), swing = std::fabs(std::remainder(t, 4.0)) / 2.0;
                const double x[3] = { -0.03 + 0.035 * swing, 0.01 - 0.013 * in, 0.0 };
                const PliHapticSample hand = at(x[0], x[1], x[2]);
                double f[3], way[3];
                const PliServoOutput before = look(s.get());
                if (i % 20 == 0) { // 50 Hz: it knows where the proxy was
                    PliHapticModel m{};
                    m.period = 0.02;
                    m.plane[0] = { { 0.0, 1.0, 0.0 }, 0.0, compliance, true, {} };
                    const bool near = i > 0 && v3_dot(wall, before.proxy) < 0.01;
                    m.plane[1] = { { wall[0], wall[1], wall[2] }, 0.0, compliance, near, {} };
                    pli_servo_publish(s.get(), &m);
                }
                pli_servo_tick(s.get(), &hand, T, f);
                v3_sub(way, x, from);
                v3_copy(from, x);
                if (i) worst = std::max(worst, excess(f, last, way, d.stiffness));
                v3_copy(last, f);
                const PliServoOutput o = look(s.get());
                if (compliance == 0.0) {
                    EXPECT_GT(o.proxy[1], -1e-9) << i;
                    EXPECT_GT(v3_dot(wall, o.proxy), -1e-9) << i;
                }
                if (f[1] > 0.3 && f[0] < -0.3) both = std::max(both, v3_norm(f));
            }
            EXPECT_LE(worst, 0.02);
            EXPECT_GT(both, 0.5); // there was a corner
        }
}

// A rod that is pressed off its middle: torque = arm x force, through ramp and limits; two planes at its ends balance.
TEST(Servo, TorqueIsArmTimesForce)
{
    PliServoDef d = bare(300.0);
    const Servo s = make(d);
    PliHapticModel m = floor_model(0.0, 1e-3);
    m.plane[0].arm[0] = 0.04, m.plane[0].arm[1] = -0.01, m.plane[0].arm[2] = 0.02;
    const PliHapticSample hand = at(0.0, -0.004, 0.0);
    double f[3], torque[3], expected[3];
    const auto settle = [&] {
        for (int i = 0; i < 200; ++i) {
            if (i % 20 == 0) pli_servo_publish(s.get(), &m);
            pli_servo_tick(s.get(), &hand, T, f);
        }
        pli_servo_torque(s.get(), torque);
    };
    settle();
    v3_cross(expected, m.plane[0].arm, f);
    EXPECT_NEAR(f[1], 0.004 / (1.0 / 300.0 + 1e-3), 1e-9);
    EXPECT_GT(v3_norm(expected), 0.02);
    EXPECT_LT(v3_distance(torque, expected), 1e-12);
    EXPECT_LT(v3_distance(look(s.get()).torque, expected), 1e-12);
    m.plane[1] = m.plane[0]; // the other end, as far
    for (double &c : m.plane[1].arm) c = -c;
    m.plane[1].arm[1] = m.plane[0].arm[1];
    settle();
    EXPECT_GT(f[1], 0.9);
    EXPECT_LT(v3_norm(torque), 1e-9);
    d.peak_torque = 0.01;
    const Servo weak = make(d);
    m.plane[1].present = false;
    for (int i = 0; i < 300; ++i) {
        if (i % 20 == 0) pli_servo_publish(weak.get(), &m);
        pli_servo_tick(weak.get(), &hand, T, f);
    }
    pli_servo_torque(weak.get(), torque);
    EXPECT_NEAR(v3_norm(torque), 0.01, 1e-12);
}
