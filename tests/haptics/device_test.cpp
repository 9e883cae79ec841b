/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Devices: the ones without hardware, the network, and OpenHaptics with a libHD of our own that can fail in every way.
#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <dlfcn.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <pliant/haptics.h>

#include "haptics/fakehd/fakehd.h"

namespace
{
const double T = 1e-3;
struct Free {
    void operator()(PliServo *s) const { pli_servo_destroy(s); }
    void operator()(PliDevice *d) const { pli_device_close(d); }
    void operator()(PliLoop *l) const { pli_loop_destroy(l); }
};
using Servo = std::unique_ptr<PliServo, Free>;
using Device = std::unique_ptr<PliDevice, Free>;
using Loop = std::unique_ptr<PliLoop, Free>;
const PliHost host = pli_host_default();

Device open_device(const char *name, PliError *err, const PliHandPath *path = nullptr)
{
    *err = {};
    return Device(pli_device_open(&host, name, path, err));
}

Servo make_servo(const PliServoDef &def = pli_servo_default()) { return Servo(pli_servo_create(&host, &def, nullptr)); }

PliHapticModel floor_model(double offset)
{
    PliHapticModel m{};
    m.period = 0.02;
    m.plane[0] = { { 0.0, 1.0, 0.0 }, offset, 1e-3, true, {} };
    return m;
}

std::string temporary(const char *name) { return testing::TempDir() + "/" + name; }

/// The fake library, loaded once as the driver loads it, with its controls.
struct Fake {
    void *library = dlopen(FAKEHD, RTLD_NOW | RTLD_LOCAL);
    FakeHd *(*state)() = reinterpret_cast<FakeHd *(*)()>(dlsym(library, "fakehd"));
    void (*reset)() = reinterpret_cast<void (*)()>(dlsym(library, "fakehd_reset"));
    void (*tick)() = reinterpret_cast<void (*)()>(dlsym(library, "fakehd_tick"));
    void (*lock)(int) = reinterpret_cast<void (*)(int)>(dlsym(library, "fakehd_lock"));
};

struct OpenHaptics : testing::Test {
    Fake fake;
    FakeHd *hd = nullptr;
    void SetUp() override
    {
        setenv("PLIANT_LIBHD", FAKEHD, 1);
        ASSERT_NE(fake.library, nullptr);
        fake.reset();
        hd = fake.state();
    }
    void TearDown() override
    {
        EXPECT_EQ(hd->violations, 0) << hd->violation;
        EXPECT_EQ(hd->devices, 0);
        EXPECT_EQ(hd->running, 0);
        EXPECT_EQ(hd->scheduled, 0);
        unsetenv("PLIANT_LIBHD");
    }
    double force(long i) const { return std::hypot(hd->force[i][0], std::hypot(hd->force[i][1], hd->force[i][2])); }
};
} // namespace

TEST(Devices, UnknownNamesAreRefusedWithTheNearest)
{
    PliError err;
    EXPECT_FALSE(open_device("tuch", &err));
    EXPECT_NE(std::string(err.text).find("did you mean touch"), std::string::npos) << err.text;
    EXPECT_FALSE(open_device("dummy:angry", &err));
    EXPECT_NE(std::string(err.text).find("angry"), std::string::npos) << err.text;
}

TEST(Devices, TheTableIsComplete)
{
    std::set<std::string> names;
    for (int i = 0; pli_device_at(i); ++i) {
        EXPECT_GT(strlen(pli_device_at(i)->help), 10u);
        names.insert(pli_device_at(i)->name);
    }
    for (const char *name : { "dummy", "replay", "mouse", "network", "touch", "gamepad", "spacemouse" })
        EXPECT_EQ(names.count(name), 1u) << name;
}

TEST(Devices, AScriptedHandFollowsItsPath)
{
    const double time[] = { 0.0, 1.0 }, point[] = { 0.0, 0.0, 0.0, 0.1, 0.0, -0.2 };
    const PliHandPath path = { time, point, 2 };
    PliError err;
    const Device d = open_device("dummy", &err, &path);
    ASSERT_TRUE(d) << err.text;
    PliHapticSample s{};
    for (int i = 0; i < 500; ++i) pli_device_read(d.get(), T, &s);
    EXPECT_NEAR(s.position[0], 0.05, 1e-9);
    EXPECT_NEAR(s.position[2], -0.1, 1e-9);
    for (int i = 0; i < 1000; ++i) pli_device_read(d.get(), T, &s);
    EXPECT_NEAR(s.position[0], 0.1, 1e-12);
}

// With no force but its own spring a passive hand loses energy, and settles where a held force and its spring balance.
TEST(Devices, APassiveHandIsPassive)
{
    const double time[] = { 0.0 }, point[] = { 0.0, 0.0, 0.0 };
    const PliHandPath path = { time, point, 1 };
    PliError err;
    const Device d = open_device("dummy:passive", &err, &path);
    ASSERT_TRUE(d) << err.text;
    const double force[3] = { 0.0, 0.5, 0.0 };
    PliHapticSample s{};
    pli_device_write(d.get(), force);
    for (int i = 0; i < 5000; ++i) pli_device_read(d.get(), T, &s);
    EXPECT_NEAR(s.position[1], 0.5 / 20.0, 1e-4);
}

TEST(Devices, ARecordingIsReplayed)
{
    const std::string file = temporary("hand.csv");
    FILE *out = fopen(file.c_str(), "w");
    fputs("time,x,y,z,buttons\n0,0,0,0,0\n0.5,0.01,0,0,1\n1,0.02,0,0,0\n", out);
    fclose(out);
    PliError err;
    const Device d = open_device(("replay:" + file).c_str(), &err);
    ASSERT_TRUE(d) << err.text;
    PliHapticSample s{};
    for (int i = 0; i < 750; ++i) pli_device_read(d.get(), T, &s);
    EXPECT_NEAR(s.position[0], 0.015, 1e-9);
    EXPECT_EQ(s.buttons, 1u);

    out = fopen(file.c_str(), "w");
    fputs("time,x,y,z\n0,0,0,0\n0.5,nothing,0,0\n", out);
    fclose(out);
    EXPECT_FALSE(open_device(("replay:" + file).c_str(), &err));
    EXPECT_NE(std::string(err.text).find(":3:"), std::string::npos) << err.text;
    EXPECT_FALSE(open_device("replay:/nowhere/hand.csv", &err));
    EXPECT_EQ(err.status, PLI_BAD_FILE);
}

TEST(Devices, TheMouseIsPushed)
{
    PliError err;
    const Device d = open_device("mouse", &err);
    ASSERT_TRUE(d) << err.text;
    const double p[3] = { 0.1, 0.2, 0.3 };
    PliHapticSample s{};
    pli_device_push(d.get(), p, 4);
    pli_device_read(d.get(), T, &s);
    EXPECT_TRUE(s.connected);
    EXPECT_EQ(s.position[1], 0.2);
    EXPECT_EQ(s.buttons, 4u);
}

TEST(Devices, TheNetworkSpeaksDocumentedPackets)
{
    PliError err;
    const int port = 20000 + (int)(getpid() % 20000);
    const Device d = open_device(("network:" + std::to_string(port)).c_str(), &err);
    ASSERT_TRUE(d) << err.text;
    PliError again;
    EXPECT_FALSE(open_device(("network:" + std::to_string(port)).c_str(), &again)); // the port is taken
    EXPECT_NE(std::string(again.text).find(std::to_string(port)), std::string::npos);
    PliHapticSample s{};
    pli_device_read(d.get(), T, &s);
    EXPECT_FALSE(s.connected);

    const int peer = socket(AF_INET, SOCK_DGRAM, 0);
    const timeval wait = { 2, 0 };
    setsockopt(peer, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons((uint16_t)port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    // as documented, byte by byte: PLH1, sequence 5, buttons 3, connected, position 1 2 3, no turn
    unsigned char packet[72] = { 'P', 'L', 'H', '1', 5, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0 };
    const double values[7] = { 1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0 };
    memcpy(packet + 16, values, sizeof values);
    const double force[3] = { 0.25, -0.5, 0.125 };
    pli_device_write(d.get(), force);
    ASSERT_EQ(sendto(peer, packet, sizeof packet, 0, (sockaddr *)&to, sizeof to), (ssize_t)sizeof packet);
    unsigned char answer[64];
    ASSERT_EQ(recv(peer, answer, sizeof answer, 0), 32);
    EXPECT_EQ(memcmp(answer, "PLF1\5\0\0\0", 8), 0);
    EXPECT_EQ(memcmp(answer + 8, force, sizeof force), 0);
    pli_device_read(d.get(), T, &s);
    EXPECT_TRUE(s.connected);
    EXPECT_EQ(s.position[2], 3.0);
    EXPECT_EQ(s.buttons, 3u);

    for (int i = 0; i < 300 && s.connected; ++i) { // it falls silent: unplugged, with a sentence
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        pli_device_read(d.get(), T, &s);
    }
    EXPECT_FALSE(s.connected);
    EXPECT_NE(pli_device_status(d.get(), &err), PLI_OK);
    ASSERT_GT(sendto(peer, packet, sizeof packet, 0, (sockaddr *)&to, sizeof to), 0); // and it is back
    ASSERT_EQ(recv(peer, answer, sizeof answer, 0), 32);
    pli_device_read(d.get(), T, &s);
    EXPECT_TRUE(s.connected);
    EXPECT_EQ(pli_device_status(d.get(), &err), PLI_OK);
    close(peer);
}

namespace
{
/// The program on the other side of the network device.
struct Peer {
    int socket_ = socket(AF_INET, SOCK_DGRAM, 0);
    sockaddr_in to{};
    uint32_t sequence = 0;
    explicit Peer(int port)
    {
        const timeval wait = { 2, 0 };
        setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
        to.sin_family = AF_INET;
        to.sin_port = htons((uint16_t)port);
        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    }
    ~Peer() { close(socket_); }
    /// Sends a state, and what it is answered: force, and torque if asked for.
    bool speak(double y, uint32_t flags, double wrench[6])
    {
        unsigned char packet[72] = { 'P', 'L', 'H', '1' }, answer[64];
        const double values[7] = { 0.0, y, 0.0, 0.0, 0.0, 0.0, 1.0 };
        ++sequence;
        memcpy(packet + 4, &sequence, 4);
        memcpy(packet + 12, &flags, 4);
        memcpy(packet + 16, values, sizeof values);
        if (sendto(socket_, packet, sizeof packet, 0, (sockaddr *)&to, sizeof to) < 0) return false;
        const ssize_t n = recv(socket_, answer, sizeof answer, 0);
        const bool turns = (flags & 2) != 0;
        if (n != (turns ? 56 : 32) || memcmp(answer, turns ? "PLF2" : "PLF1", 4) != 0) return false;
        memcpy(wrench, answer + 8, (turns ? 6 : 3) * sizeof *wrench);
        return memcmp(answer + 4, &sequence, 4) == 0;
    }
};
} // namespace

// Unplugged in mid-run and back elsewhere, through the real loop: forces end, and come back by a ramp, torque with them.
TEST(Devices, TheNetworkComesBackByARamp)
{
    PliError err;
    const int port = 20000 + (int)((getpid() + 7000) % 20000);
    const Device d = open_device(("network:" + std::to_string(port)).c_str(), &err);
    ASSERT_TRUE(d) << err.text;
    const Servo s = make_servo();
    const Loop loop(pli_loop_start(&host, d.get(), s.get(), 1000.0, 60000, &err));
    ASSERT_TRUE(loop) << err.text;
    PliHapticModel m = floor_model(0.0);
    m.plane[0].arm[0] = 0.03;
    Peer peer(port);
    double wrench[6] = {};
    const auto play = [&](double y, double until) {
        for (int i = 0; i < 8000 && wrench[1] < until; ++i) {
            if (i % 10 == 0) pli_servo_publish(s.get(), &m);
            if (!peer.speak(y, 3, wrench)) return false;
            std::this_thread::sleep_for(std::chrono::microseconds(700));
        }
        return wrench[1] >= until;
    };
    ASSERT_TRUE(play(-0.005, 1.1));
    EXPECT_NEAR(wrench[5], 0.03 * wrench[1], 1e-3); // arm x force: x cross y is z
    PliServoOutput o{};
    for (int i = 0; i < 300 && o.state != PLI_SERVO_UNPLUGGED; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        pli_servo_publish(s.get(), &m);
        pli_servo_look(s.get(), &o);
    }
    EXPECT_EQ(o.state, PLI_SERVO_UNPLUGGED);
    EXPECT_EQ(o.force[1], 0.0);
    EXPECT_EQ(o.torque[2], 0.0);
    wrench[1] = 0.0;
    ASSERT_TRUE(play(-0.008, 1.6));
    pli_loop_stop(loop.get());
    size_t count;
    const PliTick *t = pli_loop_trace(loop.get(), &count);
    double worst = 0.0;
    int unplugged = 0;
    for (size_t i = 1; i < count; ++i) {
        unplugged += t[i].state == PLI_SERVO_UNPLUGGED;
        if (t[i].state != PLI_SERVO_RUNNING || !(t[i].gap > 0.0f)) continue;
        const double rise =
            std::fabs((double)t[i].force[1] - t[i - 1].force[1]) * 1e-3 / std::max(1e-3, (double)t[i].gap);
        worst = std::max(worst, rise - 300.0 * std::fabs((double)t[i].hand[1] - t[i - 1].hand[1]));
        if (t[i - 1].state == PLI_SERVO_UNPLUGGED) {
            EXPECT_LE(rise, 0.02); // it begins from zero, though the hand is 3 mm deeper
        }
    }
    EXPECT_GT(unplugged, 0);
    EXPECT_LE(worst, 0.021); // lengths and forces of the trace are floats
}

// ---- OpenHaptics -----------------------------------------------------------------------------------------------------------

TEST_F(OpenHaptics, TicksInsideItsOwnScheduler)
{
    PliError err{};
    const Device d = open_device("geomagic", &err);
    ASSERT_TRUE(d) << err.text;
    const PliDeviceFacts facts = pli_device_facts(d.get());
    EXPECT_STREQ(facts.model, "Fake Touch");
    EXPECT_EQ(facts.peak_force, 3.3);
    EXPECT_EQ(facts.continuous_force, 0.88);
    EXPECT_EQ(facts.most_stiffness, 500.0);
    const Servo s = make_servo();
    hd->position[1] = -10.0; // mm
    hd->buttons = 1;
    const Loop loop(pli_loop_start(&host, d.get(), s.get(), 1000.0, 0, &err));
    ASSERT_TRUE(loop) << err.text;
    const PliHapticModel m = floor_model(0.0);
    for (int i = 0; i < 1000; ++i) {
        if (i % 10 == 0) pli_servo_publish(s.get(), &m);
        fake.tick();
        std::this_thread::sleep_for(std::chrono::microseconds(700)); // its clock is the wall's
    }
    PliServoOutput o{};
    pli_servo_look(s.get(), &o);
    EXPECT_NEAR(o.hand[1], -0.01, 1e-12);
    EXPECT_EQ(pli_servo_pressed(s.get()), 1u);
    EXPECT_GT(hd->force[hd->forces - 1][1], 1.0);
    pli_loop_stop(loop.get());
    EXPECT_EQ(pli_loop_stats(loop.get()).ticks, 1000u);
}

TEST_F(OpenHaptics, EveryFailureToStartHasItsOwnSentence)
{
    PliError err{};
    std::map<std::string, std::string> said;
    auto try_one = [&](const std::string &what) {
        fake.reset();
        return what;
    };
    auto record = [&](const std::string &what) {
        const std::string text = err.text;
        EXPECT_FALSE(text.empty()) << what;
        for (const auto &other : said) EXPECT_NE(other.second, text) << what << " and " << other.first;
        said[what] = text;
    };
    const auto start = std::chrono::steady_clock::now();
    setenv("PLIANT_LIBHD", "/nowhere/libHD.so", 1);
    EXPECT_FALSE(open_device("touch", &err));
    record("wrong path");
    unsetenv("PLIANT_LIBHD");
    EXPECT_FALSE(open_device("touch", &err)); // this machine has none
    EXPECT_NE(std::string(err.text).find("OpenHaptics"), std::string::npos);
    record("no library");
    setenv("PLIANT_LIBHD", FAKEHD_INCOMPLETE, 1);
    EXPECT_FALSE(open_device("touch", &err));
    EXPECT_NE(std::string(err.text).find("hdUnschedule"), std::string::npos);
    record("missing symbol");
    setenv("PLIANT_LIBHD", FAKEHD, 1);
    for (const unsigned code :
         { 0x100u, 0x101u, 0x102u, 0x103u, 0x104u, 0x200u, 0x201u, 0x202u, 0x203u, 0x204u, 0x300u,
           0x301u, 0x302u, 0x303u, 0x304u, 0x400u, 0x401u, 0x402u, 0x500u, 0x501u, 0x600u, 0x777u }) {
        const std::string what = try_one("init " + std::to_string(code));
        hd->init_error = code;
        EXPECT_FALSE(open_device("touch", &err));
        record(what);
    }
    for (const unsigned state : { 0x5001u, 0x5002u }) {
        const std::string what = try_one("calibration " + std::to_string(state));
        hd->calibration = hd->calibration_after = state;
        EXPECT_FALSE(open_device("touch", &err));
        EXPECT_NE(std::string(err.text).find("calibrated"), std::string::npos);
        record(what);
    }
    {
        const std::string what = try_one("forces");
        hd->enable_error = 0x300;
        EXPECT_FALSE(open_device("touch", &err));
        record(what);
    }
    for (const bool rate : { true, false }) {
        const std::string what = try_one(rate ? "rate" : "scheduler");
        (rate ? hd->rate_error : hd->start_error) = rate ? 0x101 : 0x304;
        const Device d = open_device("touch", &err);
        ASSERT_TRUE(d) << err.text;
        const Servo s = make_servo();
        EXPECT_EQ(pli_loop_start(&host, d.get(), s.get(), 1000.0, 0, &err), nullptr);
        record(what);
    }
    const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    EXPECT_LT(took, 2.0 * (double)said.size()); // none hangs
    fake.reset();
}

TEST_F(OpenHaptics, ADeviceThatNeedsAMomentGetsIt)
{
    PliError err{};
    hd->init_error = 0x301;
    hd->init_errors = 1;
    EXPECT_TRUE(open_device("touch", &err)) << err.text;
}

TEST_F(OpenHaptics, ACalibrationThatCanBeDoneIsDone)
{
    PliError err{};
    hd->calibration = 0x5001;
    EXPECT_TRUE(open_device("touch", &err)) << err.text;
}

// Each error in mid-run: forces go to zero at once, ticks go on, a sentence is there; force errors come back by a ramp.
TEST_F(OpenHaptics, ErrorsInMidRun)
{
    for (const unsigned code : { 0x200u, 0x201u, 0x202u, 0x203u, 0x204u, 0x300u, 0x302u, 0x304u, 0x501u }) {
        SCOPED_TRACE(code);
        fake.reset();
        hd->tick_error = code;
        hd->tick_error_at = 400;
        hd->position[1] = -5.0;
        PliError err{};
        const Device d = open_device("touch", &err);
        ASSERT_TRUE(d) << err.text;
        PliServoDef def = pli_servo_default();
        def.ramp = 0.05;
        def.slew = 200.0;
        const Servo s = make_servo(def);
        const Loop loop(pli_loop_start(&host, d.get(), s.get(), 1000.0, 0, &err));
        ASSERT_TRUE(loop) << err.text;
        const PliHapticModel m = floor_model(0.0);
        const bool recovers = code < 0x300;
        for (int i = 0; i < 800; ++i) {
            if (i % 10 == 0) pli_servo_publish(s.get(), &m);
            fake.tick();
            std::this_thread::sleep_for(std::chrono::microseconds(200));
            if (i == 399) {
                EXPECT_GT(force(hd->forces - 1), 0.5);
                fake.lock(1);
                if (!recovers) hd->init_error = code; // it stays away
                fake.lock(0);
            }
            if (i == 405 && recovers) {
                EXPECT_EQ(force(hd->forces - 1), 0.0);
            }
            if (i == 405) {
                EXPECT_NE(pli_device_status(d.get(), &err), PLI_OK);
            }
        }
        PliServoOutput o{};
        pli_servo_look(s.get(), &o);
        EXPECT_EQ(o.tick, 800u); // the simulation still sees ticks
        EXPECT_EQ(o.state, recovers ? PLI_SERVO_RUNNING : PLI_SERVO_UNPLUGGED);
        if (recovers) {
            EXPECT_GT(force(hd->forces - 1), 0.5);
        } else {
            EXPECT_EQ(o.force[1], 0.0);
        }
    }
}

// Pulled out and put in again: forces are zero meanwhile, ticks go on, and forces come back by a ramp, wherever the hand is by then.
TEST_F(OpenHaptics, ADeviceThatComesBackIsTakenUpAgain)
{
    hd->threaded = 1;
    hd->position[1] = -5.0;
    PliError err{};
    const Device d = open_device("touch", &err);
    ASSERT_TRUE(d) << err.text;
    const Servo s = make_servo();
    const Loop loop(pli_loop_start(&host, d.get(), s.get(), 1000.0, 0, &err));
    ASSERT_TRUE(loop) << err.text;
    const PliHapticModel m = floor_model(0.0);
    PliServoOutput o{};
    const auto wait_for = [&](auto done) {
        for (int i = 0; i < 1500 && !done(); ++i) {
            pli_servo_publish(s.get(), &m);
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
            pli_servo_look(s.get(), &o);
        }
        return done();
    };
    ASSERT_TRUE(wait_for([&] { return o.force[1] > 0.9; }));
    fake.lock(1); // the cable
    hd->tick_error = 0x302;
    hd->tick_error_at = hd->ticks;
    hd->init_error = 0x303;
    fake.lock(0);
    ASSERT_TRUE(wait_for([&] { return o.state == PLI_SERVO_UNPLUGGED; }));
    EXPECT_EQ(o.force[1], 0.0);
    EXPECT_NE(pli_device_status(d.get(), &err), PLI_OK);
    const uint64_t unplugged = o.tick;
    std::this_thread::sleep_for(std::chrono::milliseconds(1200)); // attempts that fail
    pli_servo_look(s.get(), &o);
    EXPECT_GT(o.tick, unplugged + 5);
    EXPECT_EQ(o.force[1], 0.0);
    fake.lock(1); // back, and the hand is deeper
    hd->tick_error = hd->init_error = 0;
    hd->position[1] = -8.0;
    const long first = hd->forces;
    fake.lock(0);
    ASSERT_TRUE(wait_for([&] { return o.state == PLI_SERVO_RUNNING && o.force[1] > 1.5; }));
    EXPECT_EQ(pli_device_status(d.get(), &err), PLI_OK);
    pli_loop_stop(loop.get());
    EXPECT_EQ(hd->inits, 2);
    EXPECT_EQ(force(first), 0.0);
    double worst = 0.0;
    for (long i = first + 1; i < hd->forces; ++i) worst = std::max(worst, force(i) - force(i - 1));
    EXPECT_GT(worst, 0.0);
    EXPECT_LT(worst, 0.2); // ticks of a busy machine are longer than a millisecond, and a ramp is in seconds
}

// The whole wrench of the model reaches a device with six motors: torque = arm x force, in its own unit.
TEST_F(OpenHaptics, TorqueReachesADeviceThatTakesIt)
{
    hd->output_dof = 6;
    hd->position[1] = -5.0;
    PliError err{};
    const Device d = open_device("premium", &err);
    ASSERT_TRUE(d) << err.text;
    EXPECT_TRUE(pli_device_facts(d.get()).takes_torque);
    PliServoDef def = pli_servo_default();
    def.ramp = 1e-3;
    def.slew = 1e5;
    const Servo s = make_servo(def);
    const Loop loop(pli_loop_start(&host, d.get(), s.get(), 1000.0, 0, &err));
    ASSERT_TRUE(loop) << err.text;
    PliHapticModel m = floor_model(0.0);
    m.plane[0].arm[0] = 0.03, m.plane[0].arm[1] = 0.5, m.plane[0].arm[2] = -0.02;
    const double expected = 0.005 / (1.0 / 300.0 + 1e-3);
    double f = 0.0;
    for (int i = 0; i < 6000 && std::fabs(f - expected) > 1e-7; ++i) { // a blend is in seconds, ticks are not
        if (i % 10 == 0) pli_servo_publish(s.get(), &m);
        fake.tick();
        std::this_thread::sleep_for(std::chrono::microseconds(300));
        f = hd->force[hd->forces - 1][1];
    }
    EXPECT_NEAR(f, expected, 1e-6);
    EXPECT_NEAR(hd->torque[0], 1e3 * 0.02 * f, 1e-6);
    EXPECT_NEAR(hd->torque[1], 0.0, 1e-9);
    EXPECT_NEAR(hd->torque[2], 1e3 * 0.03 * f, 1e-6);
    pli_loop_stop(loop.get());
}

// The driver's own thread with jitter, a simulation beside it: what ThreadSanitizer looks at.
TEST_F(OpenHaptics, ThreadsOfDriverAndSimulation)
{
    hd->threaded = 1;
    hd->jitter = 3e-4;
    hd->position[1] = -5.0;
    PliError err{};
    const Device d = open_device("touch", &err);
    ASSERT_TRUE(d) << err.text;
    const Servo s = make_servo();
    const Loop loop(pli_loop_start(&host, d.get(), s.get(), 1000.0, 1000, &err));
    ASSERT_TRUE(loop) << err.text;
    PliServoOutput o{};
    for (int i = 0; i < 50; ++i) {
        PliHapticModel m = floor_model(1e-4 * i);
        m.revision = (uint64_t)i / 7;
        pli_servo_publish(s.get(), &m);
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        pli_servo_look(s.get(), &o);
        (void)pli_servo_pressed(s.get());
        (void)pli_device_status(d.get(), &err);
        (void)pli_loop_stats(loop.get());
    }
    pli_loop_stop(loop.get());
    EXPECT_GT(o.tick, 20u);
    EXPECT_GT(o.force[1], 0.0);
}

TEST(Loop, ThreadsThatTickInTurnNeverOverlap)
{
    struct Law {
        std::atomic<bool> inside{ false };
        int ticks = 0, overlaps = 0; // plain: ThreadSanitizer sees turns that are not handed over
        double seconds = 0.0;
    } law;
    PliError err{};
    const Device d = open_device("dummy", &err);
    const auto fn = [](const PliHapticSample *, double dt, double *, double *, void *user) {
        Law *l = static_cast<Law *>(user);
        if (l->inside.exchange(true)) l->overlaps++;
        const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(200);
        while (std::chrono::steady_clock::now() < until) {} // long enough for the other thread to wake in it
        l->ticks++;
        l->seconds += dt;
        l->inside = false;
    };
    const auto start = std::chrono::steady_clock::now();
    const Loop loop(pli_loop_start_with(&host, d.get(), fn, &law, 1000.0, &err));
    ASSERT_TRUE(loop) << err.text;
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
    pli_loop_stop(loop.get());
    const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    EXPECT_EQ(law.overlaps, 0);
    EXPECT_GT(law.ticks, 20);
    EXPECT_LE(law.ticks, 1000.0 * took + 1.0); // one a period, whoever makes it
    EXPECT_LE(law.seconds, took + 0.01);
    const PliLoopStats stats = pli_loop_stats(loop.get());
    EXPECT_EQ(stats.threads, std::thread::hardware_concurrency() > 1 ? 2 : 1);
    EXPECT_GE(stats.priority, 0);
}

TEST(Loop, ThreadsOfServoAndSimulation)
{
    PliError err{};
    const Device d = open_device("dummy", &err);
    const Servo s = make_servo();
    const Loop loop(pli_loop_start(&host, d.get(), s.get(), 1000.0, 400, &err));
    ASSERT_TRUE(loop) << err.text;
    PliServoOutput o{};
    uint64_t before = 0;
    for (int i = 0; i < 40; ++i) {
        const PliHapticModel m = floor_model(0.0);
        pli_servo_publish(s.get(), &m);
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        pli_servo_look(s.get(), &o);
        EXPECT_GE(o.tick, before);
        before = o.tick;
    }
    pli_loop_stop(loop.get());
    const PliLoopStats stats = pli_loop_stats(loop.get());
    size_t kept;
    (void)pli_loop_trace(loop.get(), &kept);
    EXPECT_GT(stats.ticks, 40u);
    EXPECT_EQ(kept, std::min<size_t>(400, stats.ticks));
    uint64_t gaps = 0, calls = 0;
    for (int i = 0; i < PLI_LOOP_BINS; ++i) gaps += stats.gap[i], calls += stats.call[i];
    EXPECT_EQ(gaps, stats.ticks - 1);
    EXPECT_EQ(calls, stats.ticks);
    EXPECT_FALSE(pli_loop_start(&host, d.get(), s.get(), 1.0, 0, &err));
}
