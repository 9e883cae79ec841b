/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// The clock of a servo: a thread that wakes at absolute times, or the thread of a driver that has its own clock.
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "haptics/device.h"

struct PliLoop {
    PliHost host;
    PliDevice *device;
    PliServo *servo; ///< or NULL, and fn is the law
    PliHapticTickFn *fn;
    void *user;
    double period;
    pthread_t thread;
    atomic_bool stop;
    bool threaded, running;
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
    double force[3];
    clock_gettime(CLOCK_MONOTONIC, &now);
    const double gap = l->begun ? between(&l->last, &now) : l->period;
    l->last = now;
    pli_device_read(l->device, gap, &sample);
    const double dt = fmax(gap, 0.05 * l->period);
    if (l->servo)
        pli_servo_tick(l->servo, &sample, dt, force);
    else
        l->fn(&sample, dt, force, l->user);
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

static void *run(void *arg)
{
    PliLoop *l = arg;
    struct timespec at;
    const long period = (long)(1e9 * l->period + 0.5);
    clock_gettime(CLOCK_MONOTONIC, &at);
    while (!atomic_load_explicit(&l->stop, memory_order_acquire)) {
        tick(l);
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        at.tv_nsec += period;
        if (at.tv_nsec >= 1000000000) at.tv_nsec -= 1000000000, at.tv_sec++;
        if (between(&at, &now) > l->period) at = now; // what was missed is not made up for
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
    }
    return NULL;
}

/// A real-time priority where the system grants it, the usual one else.
static PliStatus start_thread(PliLoop *l, PliError *err)
{
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    const struct sched_param high = { .sched_priority = sched_get_priority_max(SCHED_FIFO) - 10 };
    pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
    pthread_attr_setschedpolicy(&attr, SCHED_FIFO);
    pthread_attr_setschedparam(&attr, &high);
    l->stats.realtime = true;
    bool good = pthread_create(&l->thread, &attr, run, l) == 0;
    pthread_attr_destroy(&attr);
    if (!good) {
        l->stats.realtime = false;
        good = pthread_create(&l->thread, NULL, run, l) == 0;
    }
    l->threaded = good;
    return good ? PLI_OK : pli_refuse(err, PLI_OUT_OF_MEMORY, "no thread could be started for the servo");
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
    atomic_init(&l->stop, false);
    atomic_init(&l->kept, 0);
    const PliDriver *driver = l->device->driver;
    l->running = true;
    if ((driver->start ? driver->start(l->device, rate, tick, l, err) : start_thread(l, err)) == PLI_OK) return l;
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
    } else if (l->threaded) {
        atomic_store_explicit(&l->stop, true, memory_order_release);
        pthread_join(l->thread, NULL);
    }
    pli_device_write(l->device, nothing);
}

void pli_loop_destroy(PliLoop *l)
{
    if (!l) return;
    pli_loop_stop(l);
    const PliHost host = l->host;
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
