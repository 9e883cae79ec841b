/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// The clock of a servo: threads that wake at absolute times, or the thread of a driver that has its own clock.
// Of our own there are two, on different processors: whichever wakes first ticks, and the other finds it done. One alone came late,
// probably when its processor was in a long call of the kernel or was taken away by the machine below a virtual one: once in some
// 10,000 ticks on a busy virtual machine, real-time priority or not.
#define _GNU_SOURCE // affinity
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/memory.h"
#include "haptics/device.h"

enum { SENTRIES = 2 };

struct PliLoop {
    PliHost host;
    PliDevice *device;
    PliServo *servo; ///< or NULL, and fn is the law
    PliHapticTickFn *fn;
    void *user;
    double period;
    pthread_t thread[SENTRIES];
    int thread_count;
    struct timespec start;
    atomic_uint_fast64_t turn; ///< twice the number of the last period that has its tick; odd while it ticks
    atomic_bool stop;
    bool running;
    // of the tick
    struct timespec last;
    bool begun;
    PliLoopStats stats;
    PliTick *trace;
    size_t keep;
    atomic_size_t kept;
    // what others may see while it runs
    PliMailbox box;
    PliLoopStats shown[3];
    uint64_t next_shown;
};

static double between(const struct timespec *a, const struct timespec *b)
{
    return (double)(b->tv_sec - a->tv_sec) + 1e-9 * (double)(b->tv_nsec - a->tv_nsec);
}

static void count(uint32_t *bins, double value)
{
    bins[value < 0.0 ? 0 : value < PLI_LOOP_BINS - 1 ? (int)value : PLI_LOOP_BINS - 1]++;
}

static void keep_tick(PliLoop *l, const PliServoOutput *o, double gap)
{
    const size_t n = atomic_load_explicit(&l->kept, memory_order_relaxed);
    if (n == l->keep) return;
    l->trace[n] = pli_tick_of(o, l->stats.seconds, gap);
    atomic_store_explicit(&l->kept, n + 1, memory_order_release);
}

static void show(PliLoop *l)
{
    l->shown[l->box.writer] = l->stats;
    pli_mailbox_post(&l->box);
    l->next_shown = l->stats.ticks + 100;
}

/// One tick: read, servo, write, and its times. The clock is read without entering the system.
static void tick(void *user)
{
    PliLoop *l = user;
    struct timespec now, end;
    PliHapticSample sample;
    double force[3] = { 0.0, 0.0, 0.0 }, torque[3] = { 0.0, 0.0, 0.0 };
    clock_gettime(CLOCK_MONOTONIC, &now);
    const double gap = l->begun ? between(&l->last, &now) : l->period;
    l->last = now;
    pli_device_read(l->device, gap, &sample);
    const double dt = fmax(gap, 0.05 * l->period);
    if (l->servo) {
        pli_servo_tick(l->servo, &sample, dt, force);
        pli_servo_torque(l->servo, torque);
    } else {
        l->fn(&sample, dt, force, torque, l->user);
    }
    pli_device_turn(l->device, torque);
    pli_device_write(l->device, force);
    PliLoopStats *s = &l->stats;
    s->seconds += gap;
    if (l->keep) keep_tick(l, pli_servo_now(l->servo), gap);
    clock_gettime(CLOCK_MONOTONIC, &end);
    const double took = between(&now, &end);
    if (l->begun) {
        count(s->gap, 100.0 * gap / l->period);
        s->worst_gap = fmax(s->worst_gap, gap);
        if (gap > 2.0 * l->period) s->missed++;
    }
    l->begun = true;
    count(s->call, 1e6 * took);
    s->worst_call = fmax(s->worst_call, took);
    s->ticks++;
    if (s->ticks >= l->next_shown) show(l);
}

static struct timespec after(const struct timespec *start, double seconds)
{
    const int64_t ns = start->tv_nsec + (int64_t)(1e9 * seconds + 0.5);
    return (struct timespec){ .tv_sec = start->tv_sec + ns / 1000000000, .tv_nsec = ns % 1000000000 };
}

/// The tick of a period, unless it had one or has it just now. What was missed is not made up for.
static void take_turn(PliLoop *l, uint64_t period)
{
    uint_fast64_t turn = atomic_load_explicit(&l->turn, memory_order_relaxed);
    if (turn & 1 || turn / 2 >= period) return;
    if (!atomic_compare_exchange_strong_explicit(&l->turn, &turn, 2 * period + 1, memory_order_acquire,
                                                 memory_order_relaxed))
        return;
    tick(l);
    atomic_store_explicit(&l->turn, 2 * period, memory_order_release);
}

static void *run(void *arg)
{
    PliLoop *l = arg;
    uint64_t period = 1;
    while (!atomic_load_explicit(&l->stop, memory_order_acquire)) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        const double since = between(&l->start, &now) / l->period;
        if (since >= (double)period) period = (uint64_t)since;
        take_turn(l, period);
        const struct timespec at = after(&l->start, (double)++period * l->period);
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
    }
    return NULL;
}

/// The `number`-th processor this program may use. @return false: there are fewer
static bool processor(int number, cpu_set_t *one)
{
    cpu_set_t all;
    if (sched_getaffinity(0, sizeof all, &all) != 0) return false;
    for (int c = 0; c < CPU_SETSIZE; ++c)
        if (CPU_ISSET(c, &all) && number-- == 0) {
            CPU_ZERO(one);
            CPU_SET(c, one);
            return true;
        }
    return false;
}

static bool start_thread(PliLoop *l, int priority)
{
    pthread_attr_t attr;
    cpu_set_t one;
    pthread_attr_init(&attr);
    if (processor(l->thread_count, &one)) pthread_attr_setaffinity_np(&attr, sizeof one, &one);
    if (priority > 0) {
        pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
        pthread_attr_setschedpolicy(&attr, SCHED_FIFO);
        pthread_attr_setschedparam(&attr, &(struct sched_param){ .sched_priority = priority });
    }
    const bool good = pthread_create(&l->thread[l->thread_count], &attr, run, l) == 0;
    pthread_attr_destroy(&attr);
    if (good) l->thread_count++;
    return good;
}

/// With a real-time priority where the system grants it, the usual one else.
static PliStatus start_threads(PliLoop *l, PliError *err)
{
    cpu_set_t second;
    const int wanted = processor(1, &second) ? SENTRIES : 1, high = sched_get_priority_max(SCHED_FIFO) - 10;
    clock_gettime(CLOCK_MONOTONIC, &l->start);
    l->stats.priority = high; // before any thread may look
    l->stats.threads = wanted;
    if (!start_thread(l, high)) {
        l->stats.priority = 0;
        if (!start_thread(l, 0)) return pli_refuse(err, PLI_OUT_OF_MEMORY, "no thread could be started for the servo");
    }
    while (l->thread_count < wanted && start_thread(l, l->stats.priority)) {}
    return PLI_OK;
}

/// What a tick touches stays in memory, where the system allows it.
static void keep_in_memory(const PliLoop *l, bool on)
{
    const size_t trace = l->keep * sizeof *l->trace;
    int refused = on ? mlock(l, sizeof *l) : munlock(l, sizeof *l);
    if (l->trace) refused |= on ? mlock(l->trace, trace) : munlock(l->trace, trace);
    (void)refused;
}

static PliLoop *start(const PliHost *host, const PliLoop *what, PliError *err)
{
    const double rate = 1.0 / what->period;
    const size_t keep = what->keep;
    if (!(rate >= 10.0 && rate <= 20000.0)) {
        pli_refuse(err, PLI_BAD_ARGUMENT, "a servo runs at 10 .. 20000 Hz, not at %g", rate);
        return NULL;
    }
    PliLoop *l = PLI_NEW(host, 1, PliLoop);
    PliTick *trace = keep ? PLI_NEW(host, keep, PliTick) : NULL;
    if (!l || (keep && !trace)) {
        if (l) PLI_FREE(host, l, 1);
        pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory to keep %zu ticks of a servo", keep);
        return NULL;
    }
    *l = *what;
    l->host = *host;
    l->trace = trace;
    if (trace) memset(trace, 0, keep * sizeof *trace); // pages are there before the first tick
    pli_mailbox_init(&l->box);
    keep_in_memory(l, true);
    atomic_init(&l->turn, 0);
    atomic_init(&l->stop, false);
    atomic_init(&l->kept, 0);
    const PliDriver *driver = l->device->driver;
    l->running = true;
    if ((driver->start ? driver->start(l->device, rate, tick, l, err) : start_threads(l, err)) == PLI_OK) return l;
    pli_loop_destroy(l);
    return NULL;
}

PliLoop *pli_loop_start(const PliHost *host, PliDevice *device, PliServo *servo, double rate, size_t keep,
                        PliError *err)
{
    const PliLoop what = { .device = device, .servo = servo, .period = 1.0 / rate, .keep = keep };
    return start(host, &what, err);
}

PliLoop *pli_loop_start_with(const PliHost *host, PliDevice *device, PliHapticTickFn *fn, void *user, double rate,
                             PliError *err)
{
    const PliLoop what = { .device = device, .fn = fn, .user = user, .period = 1.0 / rate };
    return start(host, &what, err);
}

void pli_loop_stop(PliLoop *l)
{
    static const double nothing[3] = { 0.0, 0.0, 0.0 };
    if (!l->running) return;
    l->running = false;
    if (l->device->driver->start) {
        l->device->driver->stop(l->device);
    } else {
        atomic_store_explicit(&l->stop, true, memory_order_release);
        for (int i = 0; i < l->thread_count; ++i) pthread_join(l->thread[i], NULL);
    }
    pli_device_turn(l->device, nothing);
    pli_device_write(l->device, nothing);
}

void pli_loop_destroy(PliLoop *l)
{
    if (!l) return;
    pli_loop_stop(l);
    const PliHost host = l->host;
    keep_in_memory(l, false);
    PLI_FREE(&host, l->trace, l->keep);
    PLI_FREE(&host, l, 1);
}

/// The bin below which a share of all values is, at its upper end.
static double quantile(const uint32_t *bins, uint64_t all, double share)
{
    uint64_t sum = 0;
    for (int i = 0; i < PLI_LOOP_BINS; ++i) {
        sum += bins[i];
        if ((double)sum >= share * (double)all) return i + 1;
    }
    return PLI_LOOP_BINS;
}

PliLoopStats pli_loop_stats(const PliLoop *loop)
{
    PliLoop *l = (PliLoop *)loop; // the reader's side of the mailbox
    if (l->running) (void)pli_mailbox_take(&l->box);
    PliLoopStats s = l->running ? l->shown[l->box.reader] : l->stats;
    s.rate = s.seconds > 0.0 ? (double)s.ticks / s.seconds : 0.0;
    s.callback_p999 = s.ticks ? 1e-6 * quantile(s.call, s.ticks, 0.999) : 0.0;
    return s;
}

const PliTick *pli_loop_trace(const PliLoop *l, size_t *count_out)
{
    *count_out = atomic_load_explicit(&((PliLoop *)l)->kept, memory_order_acquire);
    return l->trace;
}
