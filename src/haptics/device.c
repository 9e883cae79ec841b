/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// The table of devices, and what drivers share.
#include "haptics/device.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "base/words.h"

static const PliDriver *const drivers[] = { &pli_dummy_driver,     &pli_replay_driver,      &pli_mouse_driver,
                                            &pli_network_driver,   &pli_openhaptics_driver, &pli_gamepad_driver,
                                            &pli_spacemouse_driver };
enum { COUNT = sizeof drivers / sizeof *drivers };

const PliDeviceInfo *pli_device_at(int i) { return i >= 0 && i < COUNT ? &drivers[i]->info : NULL; }

static bool is_called(const PliDeviceInfo *info, const char *name, size_t length)
{
    if (strlen(info->name) == length && strncmp(info->name, name, length) == 0) return true;
    for (const char *word = info->also; *word;) {
        const size_t n = strcspn(word, " ");
        if (n == length && strncmp(word, name, length) == 0) return true;
        word += n + (word[n] == ' ');
    }
    return false;
}

static const PliDriver *find_driver(const char *name, size_t length, PliError *err)
{
    for (int i = 0; i < COUNT; ++i)
        if (is_called(&drivers[i]->info, name, length)) return drivers[i];
    char word[64], list[200] = "";
    snprintf(word, sizeof word, "%.*s", (int)length, name);
    int best = pli_word_tolerance(word) + 1;
    const char *near = NULL;
    for (int i = 0; i < COUNT; ++i) {
        const int d = pli_word_distance(word, drivers[i]->info.name);
        if (d < best) best = d, near = drivers[i]->info.name;
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? ", " : "", drivers[i]->info.name);
    }
    pli_refuse(err, PLI_BAD_ARGUMENT, "there is no device '%s'%s%s; devices are %s", word,
               near ? ", did you mean " : "", near ? near : "", list);
    return NULL;
}

PliDevice *pli_device_open(const PliHost *host, const char *name, const PliHandPath *path, PliError *err)
{
    const char *colon = strchr(name, ':');
    const PliDriver *driver = find_driver(name, colon ? (size_t)(colon - name) : strlen(name), err);
    if (!driver) return NULL;
    PliDevice *d = PLI_NEW(host, 1, PliDevice);
    if (d) {
        d->host = *host;
        d->driver = driver;
        atomic_init(&d->fault, 0);
        d->self = pli_alloc(host, 1, driver->size);
    }
    if (!d || !d->self) {
        pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for the device %s", name);
        if (d) PLI_FREE(host, d, 1);
        return NULL;
    }
    if (driver->open(d, colon ? colon + 1 : NULL, path, err) == PLI_OK) return d;
    pli_device_close(d);
    return NULL;
}

void pli_device_close(PliDevice *d)
{
    if (!d) return;
    const PliHost host = d->host;
    d->driver->close(d);
    pli_free(&host, d->self, 1, d->driver->size);
    PLI_FREE(&host, d, 1);
}

const PliDeviceInfo *pli_device_info(const PliDevice *d) { return &d->driver->info; }

PliDeviceFacts pli_device_facts(const PliDevice *d)
{
    return d->driver->facts ? d->driver->facts(d) : (PliDeviceFacts){ .model = d->driver->info.name };
}

PliStatus pli_device_status(const PliDevice *d, PliError *err)
{
    const int fault = atomic_load_explicit(&d->fault, memory_order_relaxed);
    if (!fault) return PLI_OK;
    char text[300] = "";
    if (d->driver->explain) d->driver->explain(fault, text, sizeof text);
    return pli_refuse(err, PLI_UNSUPPORTED, "%s: %s", d->driver->info.name, text);
}

void pli_device_read(PliDevice *d, double dt, PliHapticSample *sample) { d->driver->read(d, dt, sample); }

void pli_device_write(PliDevice *d, const double force[3])
{
    if (d->driver->write) d->driver->write(d, force);
}

void pli_device_turn(PliDevice *d, const double torque[3])
{
    if (d->driver->turn) d->driver->turn(d, torque);
}

void pli_device_push(PliDevice *d, const double position[3], uint32_t buttons)
{
    if (d->driver->push) d->driver->push(d, position, buttons);
}

// ---- what drivers share ------------------------------------------------------------------------------------------------------

PliHapticSample pli_sample_at_rest(bool connected)
{
    return (PliHapticSample){ .orientation = { 0.0, 0.0, 0.0, 1.0 }, .connected = connected };
}

void pli_inbox_init(PliInbox *in)
{
    pli_mailbox_init(&in->box);
    for (int i = 0; i < 3; ++i) in->sample[i] = pli_sample_at_rest(false);
}

void pli_inbox_post(PliInbox *in, const PliHapticSample *sample)
{
    in->sample[in->box.writer] = *sample;
    pli_mailbox_post(&in->box);
}

void pli_inbox_read(PliInbox *in, PliHapticSample *sample)
{
    (void)pli_mailbox_take(&in->box);
    *sample = in->sample[in->box.reader];
}

static void *poll_all(void *arg)
{
    PliPoller *p = arg;
    while (!atomic_load_explicit(&p->stop, memory_order_acquire)) {
        p->poll(p->user);
        if (p->wait_ns) nanosleep(&(struct timespec){ .tv_nsec = p->wait_ns }, NULL);
    }
    return NULL;
}

PliStatus pli_poller_start(PliPoller *p, void (*poll)(void *user), void *user, long wait_ns, PliError *err)
{
    p->poll = poll;
    p->user = user;
    p->wait_ns = wait_ns;
    atomic_init(&p->stop, false);
    p->running = pthread_create(&p->thread, NULL, poll_all, p) == 0;
    return p->running ? PLI_OK : pli_refuse(err, PLI_OUT_OF_MEMORY, "no thread could be started for a device");
}

void pli_poller_stop(PliPoller *p)
{
    if (!p->running) return;
    atomic_store_explicit(&p->stop, true, memory_order_release);
    pthread_join(p->thread, NULL);
    p->running = false;
}

void *pli_driver_library(const char *variable, const char *const *names, const char *package, PliError *err)
{
    const char *wish = getenv(variable);
    if (wish && *wish) {
        void *library = dlopen(wish, RTLD_NOW | RTLD_LOCAL);
        if (!library) pli_refuse(err, PLI_UNSUPPORTED, "%s=%s cannot be loaded: %s", variable, wish, dlerror());
        return library;
    }
    for (int i = 0; names[i]; ++i) {
        void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        if (library) return library;
    }
    pli_refuse(err, PLI_UNSUPPORTED, "%s was not found: install %s, or set %s to the path of the library", names[0],
               package, variable);
    return NULL;
}

PliStatus pli_driver_symbols(void *library, const char *const *names, void **to, int count, const char *what,
                             PliError *err)
{
    for (int i = 0; i < count; ++i) {
        to[i] = dlsym(library, names[i]);
        if (!to[i])
            return pli_refuse(err, PLI_UNSUPPORTED, "%s has no function %s: it is another version, or another library",
                              what, names[i]);
    }
    return PLI_OK;
}

// ---- the mouse of a host -------------------------------------------------------------------------------------------------------

typedef struct Mouse {
    PliInbox in;
} Mouse;

static PliStatus mouse_open(PliDevice *d, const char *detail, const PliHandPath *path, PliError *err)
{
    (void)path;
    if (detail && *detail)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "mouse takes nothing behind a colon, not '%s'", detail);
    Mouse *m = d->self;
    pli_inbox_init(&m->in);
    const PliHapticSample still = pli_sample_at_rest(true);
    pli_inbox_post(&m->in, &still);
    return PLI_OK;
}

static void mouse_close(PliDevice *d) { (void)d; }

static void mouse_read(PliDevice *d, double dt, PliHapticSample *sample)
{
    (void)dt;
    pli_inbox_read(&((Mouse *)d->self)->in, sample);
}

static void mouse_push(PliDevice *d, const double position[3], uint32_t buttons)
{
    PliHapticSample s = pli_sample_at_rest(true);
    memcpy(s.position, position, sizeof s.position);
    s.buttons = buttons;
    pli_inbox_post(&((Mouse *)d->self)->in, &s);
}

const PliDriver pli_mouse_driver = {
    .info = { "mouse", "pointer", "the mouse of a window that lends it; input only", false },
    .size = sizeof(Mouse),
    .open = mouse_open,
    .close = mouse_close,
    .read = mouse_read,
    .push = mouse_push,
};
