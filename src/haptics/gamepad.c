/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Gamepads, by SDL 2, and six-axis mice, by libspnav: libraries that are opened when somebody asks for such a device. Prototypes and
// numbers are those of their documentation. Both give where they are pushed to; neither takes a force.
#include <stdio.h>
#include <stdlib.h>

#include "haptics/device.h"

enum { GONE = 1 };
static const double REACH = 0.05;  ///< m, of the hand when a stick or cap is at its end
static const long EVERY = 4000000; ///< ns between two polls

static void explain_gone(int fault, char *text, size_t size)
{
    (void)fault;
    snprintf(text, size, "it was unplugged; it is used again when it comes back");
}

// ---- SDL 2 -----------------------------------------------------------------------------------------------------------------------

static const char *const SDL[] = { "SDL_Init",
                                   "SDL_SetHint",
                                   "SDL_NumJoysticks",
                                   "SDL_GameControllerOpen",
                                   "SDL_GameControllerClose",
                                   "SDL_GameControllerUpdate",
                                   "SDL_GameControllerGetAxis",
                                   "SDL_GameControllerGetButton",
                                   "SDL_GameControllerGetAttached",
                                   "SDL_GameControllerName",
                                   "SDL_GetError" };
enum { SDL_COUNT = sizeof SDL / sizeof *SDL };

typedef struct Gamepad {
    union {
        void *symbol[SDL_COUNT];
        struct { // in the order of the names
            int (*init)(uint32_t flags);
            int (*set_hint)(const char *name, const char *value);
            int (*count)(void);
            void *(*open)(int index);
            void (*close)(void *pad);
            void (*update)(void);
            int16_t (*axis)(void *pad, int axis);
            uint8_t (*button)(void *pad, int button);
            int (*attached)(void *pad);
            const char *(*name)(void *pad);
            const char *(*error)(void);
        } sdl;
    };
    void *library, *pad;
    int index;
    PliInbox in;
    PliPoller poller;
    PliDevice *device;
} Gamepad;

static double stick(const Gamepad *g, int axis)
{
    const double value = g->sdl.axis(g->pad, axis) / 32767.0;
    return value > -0.05 && value < 0.05 ? 0.0 : value; // sticks do not come back to the middle exactly
}

static void poll_gamepad(void *user)
{
    Gamepad *g = user;
    g->sdl.update();
    if (g->pad && !g->sdl.attached(g->pad)) {
        const PliHapticSample gone = pli_sample_at_rest(false);
        g->sdl.close(g->pad);
        g->pad = NULL;
        pli_inbox_post(&g->in, &gone);
        atomic_store_explicit(&g->device->fault, GONE, memory_order_relaxed);
    }
    if (!g->pad && g->sdl.count() > g->index) g->pad = g->sdl.open(g->index);
    if (!g->pad) return;
    PliHapticSample s = pli_sample_at_rest(true);
    s.position[0] = REACH * stick(g, 0);
    s.position[1] = -REACH * stick(g, 3);
    s.position[2] = REACH * stick(g, 1);
    for (int b = 0; b < 15; ++b)
        if (g->sdl.button(g->pad, b)) s.buttons |= 1u << b;
    atomic_store_explicit(&g->device->fault, 0, memory_order_relaxed);
    pli_inbox_post(&g->in, &s);
}

static PliStatus gamepad_open(PliDevice *d, const char *detail, const PliHandPath *path, PliError *err)
{
    static const char *const names[] = { "libSDL2-2.0.so.0", "libSDL2.so", NULL };
    (void)path;
    Gamepad *g = d->self;
    char *end = NULL;
    g->device = d;
    g->index = detail && *detail ? (int)strtol(detail, &end, 10) : 0;
    if ((end && *end) || g->index < 0)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "gamepad needs a number, as in gamepad:1, not '%s'", detail);
    pli_inbox_init(&g->in);
    g->library = pli_driver_library("PLIANT_LIBSDL2", names, "SDL 2 (Debian: libsdl2-2.0-0)", err);
    if (!g->library) return PLI_UNSUPPORTED;
    const PliStatus status = pli_driver_symbols(g->library, SDL, g->symbol, SDL_COUNT, "SDL 2", err);
    if (status) return status;
    g->sdl.set_hint("SDL_NO_SIGNAL_HANDLERS", "1");
    g->sdl.set_hint("SDL_JOYSTICK_ALLOW_BACKGROUND_EVENTS", "1");
    if (g->sdl.init(0x2000) != 0) // game controllers
        return pli_refuse(err, PLI_UNSUPPORTED, "SDL 2 cannot be started: %s", g->sdl.error());
    g->sdl.update();
    if (g->sdl.count() <= g->index || !(g->pad = g->sdl.open(g->index)))
        return pli_refuse(err, PLI_UNSUPPORTED, "there is no gamepad number %d: %d are plugged in; is it switched on?",
                          g->index, g->sdl.count());
    return pli_poller_start(&g->poller, poll_gamepad, g, EVERY, err);
}

static void gamepad_close(PliDevice *d)
{
    Gamepad *g = d->self;
    pli_poller_stop(&g->poller);
    if (g->pad) g->sdl.close(g->pad);
}

static void gamepad_read(PliDevice *d, double dt, PliHapticSample *sample)
{
    (void)dt;
    pli_inbox_read(&((Gamepad *)d->self)->in, sample);
}

static PliDeviceFacts gamepad_facts(const PliDevice *d)
{
    const Gamepad *g = d->self;
    const char *name = g->pad ? g->sdl.name(g->pad) : NULL;
    return (PliDeviceFacts){ .model = name ? name : "gamepad", .rate = 1e9 / (double)EVERY };
}

const PliDriver pli_gamepad_driver = {
    .info = { "gamepad", "joystick controller xbox", "a gamepad, by SDL 2: gamepad:NUMBER (0); input only", false },
    .size = sizeof(Gamepad),
    .open = gamepad_open,
    .close = gamepad_close,
    .read = gamepad_read,
    .explain = explain_gone,
    .facts = gamepad_facts,
};

// ---- libspnav --------------------------------------------------------------------------------------------------------------------

static const char *const SPNAV[] = { "spnav_open", "spnav_close", "spnav_poll_event" };

typedef union SpaceEvent {
    int type; ///< 1: motion, 2: button
    struct {
        int type, x, y, z, rx, ry, rz;
    } motion;
    struct {
        int type, press, number;
    } button;
    char room[256]; ///< newer versions have more kinds
} SpaceEvent;

typedef struct SpaceMouse {
    union {
        void *symbol[3];
        struct {
            int (*open)(void);
            int (*close)(void);
            int (*poll)(SpaceEvent *event);
        } nav;
    };
    void *library;
    bool connected;
    PliHapticSample now;
    PliInbox in;
    PliPoller poller;
} SpaceMouse;

static void poll_spacemouse(void *user)
{
    SpaceMouse *m = user;
    SpaceEvent e;
    while (m->nav.poll(&e)) {
        if (e.type == 1) { // counts, 350 at the end; its z points away from the user
            m->now.position[0] = REACH / 350.0 * e.motion.x;
            m->now.position[1] = REACH / 350.0 * e.motion.y;
            m->now.position[2] = -REACH / 350.0 * e.motion.z;
        } else if (e.type == 2 && e.button.number >= 0 && e.button.number < 32) {
            const uint32_t bit = 1u << e.button.number;
            m->now.buttons = e.button.press ? m->now.buttons | bit : m->now.buttons & ~bit;
        }
        pli_inbox_post(&m->in, &m->now);
    }
}

static PliStatus spacemouse_open(PliDevice *d, const char *detail, const PliHandPath *path, PliError *err)
{
    static const char *const names[] = { "libspnav.so.0", "libspnav.so", NULL };
    (void)path;
    SpaceMouse *m = d->self;
    if (detail && *detail)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "spacemouse takes nothing behind a colon, not '%s'", detail);
    pli_inbox_init(&m->in);
    m->now = pli_sample_at_rest(true);
    m->library = pli_driver_library("PLIANT_LIBSPNAV", names, "libspnav (Debian: libspnav0) and spacenavd", err);
    if (!m->library) return PLI_UNSUPPORTED;
    const PliStatus status = pli_driver_symbols(m->library, SPNAV, m->symbol, 3, "libspnav", err);
    if (status) return status;
    if (m->nav.open() == -1)
        return pli_refuse(err, PLI_UNSUPPORTED, "no daemon answers for the SpaceMouse: start spacenavd");
    m->connected = true;
    pli_inbox_post(&m->in, &m->now);
    return pli_poller_start(&m->poller, poll_spacemouse, m, EVERY, err);
}

static void spacemouse_close(PliDevice *d)
{
    SpaceMouse *m = d->self;
    pli_poller_stop(&m->poller);
    if (m->connected) m->nav.close();
}

static void spacemouse_read(PliDevice *d, double dt, PliHapticSample *sample)
{
    (void)dt;
    pli_inbox_read(&((SpaceMouse *)d->self)->in, sample);
}

const PliDriver pli_spacemouse_driver = {
    .info = { "spacemouse", "spacenav spacenavigator 3dmouse", "a SpaceMouse, by libspnav; input only", false },
    .size = sizeof(SpaceMouse),
    .open = spacemouse_open,
    .close = spacemouse_close,
    .read = spacemouse_read,
};
