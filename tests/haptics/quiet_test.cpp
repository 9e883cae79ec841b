/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// A tick does not allocate, lock, print or enter the system. Two proofs: the linker puts counters around the functions that could
// (tests/CMakeLists.txt), and a process that may only read, write and exit does ten thousand ticks.
#include <gtest/gtest.h>

#include <dlfcn.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <pliant/haptics.h>

#include "haptics/fakehd/fakehd.h"

namespace
{
thread_local bool armed = false;
thread_local int calls = 0;
void note()
{
    if (armed) ++calls;
}
} // namespace

extern "C" {
void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t m);
void *__real_realloc(void *p, size_t n);
void *__real_aligned_alloc(size_t a, size_t n);
void __real_free(void *p);
int __real_pthread_mutex_lock(pthread_mutex_t *m);
int __real_pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*f)(void *), void *u);
int __real_vfprintf(FILE *f, const char *s, va_list a);
int __real_fputs(const char *s, FILE *f);
size_t __real_fwrite(const void *p, size_t s, size_t n, FILE *f);
void *__wrap_malloc(size_t n) { return note(), __real_malloc(n); }
void *__wrap_calloc(size_t n, size_t m) { return note(), __real_calloc(n, m); }
void *__wrap_realloc(void *p, size_t n) { return note(), __real_realloc(p, n); }
void *__wrap_aligned_alloc(size_t a, size_t n) { return note(), __real_aligned_alloc(a, n); }
void __wrap_free(void *p) { note(), __real_free(p); }
int __wrap_pthread_mutex_lock(pthread_mutex_t *m) { return note(), __real_pthread_mutex_lock(m); }
int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*f)(void *), void *u)
{
    return note(), __real_pthread_create(t, a, f, u);
}
int __wrap_vfprintf(FILE *f, const char *s, va_list a) { return note(), __real_vfprintf(f, s, a); }
int __wrap_fprintf(FILE *f, const char *s, ...)
{
    va_list a;
    va_start(a, s);
    note();
    const int n = __real_vfprintf(f, s, a);
    va_end(a);
    return n;
}
int __wrap_fputs(const char *s, FILE *f) { return note(), __real_fputs(s, f); }
size_t __wrap_fwrite(const void *p, size_t s, size_t n, FILE *f) { return note(), __real_fwrite(p, s, n, f); }
}

namespace
{
struct Rig {
    PliHost host = pli_host_default();
    PliDevice *device;
    PliServo *servo;
    explicit Rig(const char *name)
    {
        PliError err{};
        const PliServoDef def = pli_servo_default();
        device = pli_device_open(&host, name, nullptr, &err);
        servo = pli_servo_create(&host, &def, &err);
        EXPECT_TRUE(device && servo) << err.text;
    }
    ~Rig()
    {
        pli_servo_destroy(servo);
        pli_device_close(device);
    }
    double ticks(int count)
    {
        PliHapticModel m{};
        double sum = 0.0;
        m.period = 0.02;
        for (int i = 0; i < count; ++i) {
            PliHapticSample sample;
            double force[3], torque[3];
            if (i % 20 == 0) {
                m.plane[0] = { { 0.0, 1.0, 0.0 }, 1e-5 * (i % 700), 1e-3, true, { 0.02, 0.0, 0.01 } };
                m.plane[1] = {
                    { 1.0, 0.0, 0.0 }, 1e-5 * (i % 500), 1e-3, i % 60 != 0, { 0.0, 0.03, 0.01 }
                }; // a corner
                m.revision = (uint64_t)i / 200;
                pli_servo_publish(servo, &m);
            }
            pli_device_read(device, 1e-3, &sample);
            pli_servo_tick(servo, &sample, 1e-3, force);
            pli_servo_torque(servo, torque);
            pli_device_turn(device, torque);
            pli_device_write(device, force);
            sum += force[1] + torque[2];
        }
        return sum;
    }
};

std::vector<std::string> devices()
{
    return { "dummy", "dummy:passive", "mouse", "network:" + std::to_string(41000 + getpid() % 20000) };
}
} // namespace

TEST(Quiet, TheCountersCount)
{
    armed = true, calls = 0;
    PliHost host = pli_host_default();
    void *block = host.alloc(64, 64, nullptr);
    host.release(block, 64, nullptr);
    armed = false;
    EXPECT_EQ(calls, 2);
}

TEST(Quiet, NoTickAllocatesLocksOrPrints)
{
    for (const std::string &name : devices()) {
        Rig rig(name.c_str());
        armed = true, calls = 0;
        rig.ticks(10000);
        armed = false;
        EXPECT_EQ(calls, 0) << name;
    }
}

// The callback of OpenHaptics, from its frame to its errors, with a device that takes torques.
TEST(Quiet, NoCallbackOfADriverAllocatesLocksOrPrints)
{
    void *library = dlopen(FAKEHD, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr);
    const auto reset = reinterpret_cast<void (*)()>(dlsym(library, "fakehd_reset"));
    const auto tick = reinterpret_cast<void (*)()>(dlsym(library, "fakehd_tick"));
    FakeHd *const hd = reinterpret_cast<FakeHd *(*)()>(dlsym(library, "fakehd"))();
    setenv("PLIANT_LIBHD", FAKEHD, 1);
    reset();
    hd->output_dof = 6;
    hd->position[1] = -5.0;
    hd->tick_error = 0x200; // warm motors
    hd->tick_error_at = 700;
    hd->tick_error_count = 3;
    {
        Rig rig("touch");
        PliError err{};
        PliLoop *loop = pli_loop_start(&rig.host, rig.device, rig.servo, 1000.0, 2000, &err);
        ASSERT_NE(loop, nullptr) << err.text;
        PliHapticModel m{};
        m.period = 0.02;
        m.plane[0] = { { 0.0, 1.0, 0.0 }, 0.0, 1e-3, true, { 0.02, 0.0, 0.01 } };
        armed = true, calls = 0;
        double most = 0.0;
        for (int i = 0; i < 2000; ++i) {
            if (i % 20 == 0) pli_servo_publish(rig.servo, &m);
            tick();
            most = std::max(most, std::fabs(hd->torque[2]));
        }
        armed = false;
        EXPECT_EQ(calls, 0);
        EXPECT_GT(most, 0.0); // it was given one
        EXPECT_NE(pli_device_status(rig.device, &err), PLI_OK);
        pli_loop_destroy(loop);
    }
    unsetenv("PLIANT_LIBHD");
}

TEST(Quiet, NoTickEntersTheSystem)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "sanitizers enter the system themselves";
#endif
    for (const std::string &name : devices()) {
        Rig rig(name.c_str());
        rig.ticks(100);
        const pid_t child = fork();
        if (child == 0) {
            if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0) syscall(SYS_exit, 77);
            rig.ticks(10000); // anything but read, write and exit kills it
            syscall(SYS_exit, 0);
        }
        int status = 0;
        waitpid(child, &status, 0);
        ASSERT_TRUE(WIFEXITED(status)) << name << ": a tick entered the system";
        if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "this system has no seccomp";
        EXPECT_EQ(WEXITSTATUS(status), 0);
    }
}
