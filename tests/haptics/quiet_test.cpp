/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// A tick does not allocate, lock, print or enter the system. Two proofs: the linker puts counters around the functions that could
// (tests/CMakeLists.txt), and a process that may only read, write and exit does ten thousand ticks.
#include <gtest/gtest.h>

#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <pliant/haptics.h>

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
            double force[3];
            if (i % 20 == 0) {
                m.plane[0] = { { 0.0, 1.0, 0.0 }, 1e-5 * (i % 700), 1e-3, true, {} };
                m.revision = (uint64_t)i / 200;
                pli_servo_publish(servo, &m);
            }
            pli_device_read(device, 1e-3, &sample);
            pli_servo_tick(servo, &sample, 1e-3, force);
            pli_device_write(device, force);
            sum += force[1];
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
