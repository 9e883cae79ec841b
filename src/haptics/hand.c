/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Hands without hardware: one that follows a path, one that is a mass drawn along a path, and one that does what was recorded.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec.h"
#include "haptics/device.h"

/// A passive hand holding a stylus: 0.15 kg, drawn by 20 N/m and 3 N s/m; it gives back no energy it did not get.
static const double MASS = 0.15, SPRING = 20.0, DAMPER = 3.0;

typedef struct Hand {
    double *time, *point; ///< the path
    uint32_t *buttons;    ///< of a recording, per point; NULL: none
    size_t count, capacity, at;
    bool passive;
    double now, x[3], v[3], force[3];
} Hand;

static PliStatus reserve(PliDevice *d, Hand *h, size_t count, PliError *err)
{
    h->capacity = count;
    h->time = PLI_NEW(&d->host, count, double);
    h->point = PLI_NEW(&d->host, 3 * count, double);
    h->buttons = PLI_NEW(&d->host, count, uint32_t);
    return h->time && h->point && h->buttons ? PLI_OK
                                             : pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for the path of a hand");
}

static void hand_close(PliDevice *d)
{
    Hand *h = d->self;
    PLI_FREE(&d->host, h->time, h->capacity);
    PLI_FREE(&d->host, h->point, 3 * h->capacity);
    PLI_FREE(&d->host, h->buttons, h->capacity);
}

static PliStatus check_path(const Hand *h, PliError *err)
{
    for (size_t i = 0; i < h->count; ++i) {
        const double *p = h->point + 3 * i;
        if (!isfinite(h->time[i] + p[0] + p[1] + p[2]))
            return pli_refuse(err, PLI_BAD_ARGUMENT, "point %zu of the path of a hand is not finite", i);
        if (i && !(h->time[i] > h->time[i - 1]))
            return pli_refuse(err, PLI_BAD_ARGUMENT, "times of the path of a hand must ascend, and %g follows %g",
                              h->time[i], h->time[i - 1]);
    }
    return PLI_OK;
}

/// Where the path is at a time not before the last one asked for, and how fast it goes.
static void follow(Hand *h, double time, double p[3], double u[3])
{
    u[0] = u[1] = u[2] = 0.0;
    while (h->at + 1 < h->count && h->time[h->at + 1] <= time) ++h->at;
    const double *a = h->point + 3 * h->at;
    v3_copy(p, a);
    if (time <= h->time[h->at] || h->at + 1 == h->count) return;
    const double span = h->time[h->at + 1] - h->time[h->at], s = (time - h->time[h->at]) / span;
    for (int c = 0; c < 3; ++c) {
        p[c] = a[c] + s * (a[3 + c] - a[c]);
        u[c] = (a[3 + c] - a[c]) / span;
    }
}

// ---- dummy ---------------------------------------------------------------------------------------------------------------------

static PliStatus dummy_open(PliDevice *d, const char *detail, const PliHandPath *path, PliError *err)
{
    // presses 10 mm, drags 20 mm, comes back
    static const double time[] = { 0.0, 0.5, 1.5, 2.5, 3.5, 4.0 };
    static const double point[] = { 0, 0, 0, 0, 0, 0, 0, -0.01, 0, 0.02, -0.01, 0, 0.02, 0, 0, 0, 0, 0 };
    const PliHandPath usual = { time, point, sizeof time / sizeof *time };
    if (!path || path->count == 0) path = &usual;
    Hand *h = d->self;
    if (detail && strcmp(detail, "passive") != 0 && strcmp(detail, "scripted") != 0)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "a dummy hand is 'scripted' or 'passive', not '%s'", detail);
    h->passive = detail && strcmp(detail, "passive") == 0;
    PliStatus status = reserve(d, h, path->count, err);
    if (status) return status;
    h->count = path->count;
    memcpy(h->time, path->time, path->count * sizeof *h->time);
    memcpy(h->point, path->position, 3 * path->count * sizeof *h->point);
    v3_copy(h->x, h->point);
    return check_path(h, err);
}

/// The force is held during the tick; ten substeps, the damper implicit.
static void move_passive(Hand *h, double dt)
{
    enum { SUBSTEPS = 10 };
    const double step = dt / SUBSTEPS;
    for (int k = 0; k < SUBSTEPS; ++k) {
        double to[3], u[3];
        follow(h, h->now + (k + 1) * step, to, u);
        for (int c = 0; c < 3; ++c) {
            const double pull = SPRING * (to[c] - h->x[c]) + DAMPER * u[c] + h->force[c];
            h->v[c] = (h->v[c] + step / MASS * pull) / (1.0 + step / MASS * DAMPER);
            h->x[c] += step * h->v[c];
        }
    }
}

static void hand_read(PliDevice *d, double dt, PliHapticSample *sample)
{
    Hand *h = d->self;
    double u[3];
    *sample = pli_sample_at_rest(true);
    if (h->passive)
        move_passive(h, dt);
    else
        follow(h, h->now + dt, h->x, u);
    h->now += dt;
    v3_copy(sample->position, h->x);
    sample->buttons = h->buttons[h->at];
}

static void hand_write(PliDevice *d, const double force[3]) { v3_copy(((Hand *)d->self)->force, force); }

const PliDriver pli_dummy_driver = {
    .info = { "dummy", "emulator none", "a hand without hardware: dummy:scripted goes its way, dummy:passive gives way",
              true },
    .size = sizeof(Hand),
    .open = dummy_open,
    .close = hand_close,
    .read = hand_read,
    .write = hand_write,
};

// ---- replay --------------------------------------------------------------------------------------------------------------------

static PliStatus read_line(Hand *h, const char *line, size_t number, const char *path, PliError *err)
{
    double value[5] = { 0.0 };
    const char *at = line;
    for (int k = 0; k < 5; ++k) {
        char *end;
        value[k] = strtod(at, &end);
        if (end == at || (k < 3 && *end != ','))
            return pli_refuse(err, PLI_BAD_FILE, "%s:%zu: a line of a hand's recording is time,x,y,z,buttons", path,
                              number);
        if (k == 3 && *end != ',') break; // no buttons
        at = end + 1;
    }
    h->time[h->count] = value[0];
    memcpy(h->point + 3 * h->count, value + 1, 3 * sizeof *value);
    h->buttons[h->count++] = (uint32_t)value[4];
    return PLI_OK;
}

static PliStatus replay_open(PliDevice *d, const char *detail, const PliHandPath *path, PliError *err)
{
    (void)path;
    Hand *h = d->self;
    char line[256];
    size_t lines = 0, number = 0;
    if (!detail || !*detail)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "replay needs a recording, as in replay:hand.csv");
    FILE *file = fopen(detail, "r");
    if (!file) return pli_refuse(err, PLI_BAD_FILE, "%s cannot be read: %s", detail, strerror(errno));
    while (fgets(line, sizeof line, file)) ++lines;
    rewind(file);
    PliStatus status = reserve(d, h, lines ? lines : 1, err);
    while (!status && fgets(line, sizeof line, file) && h->count < lines) {
        ++number;
        if (number == 1 && strncmp(line, "time", 4) == 0) continue;
        if (line[0] != '\n' && line[0] != '#') status = read_line(h, line, number, detail, err);
    }
    fclose(file);
    if (!status && h->count == 0)
        status = pli_refuse(err, PLI_BAD_FILE, "%s records no hand: there is no line in it", detail);
    if (!status) status = check_path(h, err);
    if (!status) v3_copy(h->x, h->point);
    return status;
}

const PliDriver pli_replay_driver = {
    .info = { "replay", "recording", "a recorded hand: replay:FILE with lines time,x,y,z,buttons", false },
    .size = sizeof(Hand),
    .open = replay_open,
    .close = hand_close,
    .read = hand_read,
};
