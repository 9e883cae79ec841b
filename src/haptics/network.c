/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// A device behind a local UDP port, for hardware we have no driver for: a small program of its owner speaks to it. Packets are
// little-endian and described in doc/haptics.md. A thread waits for them; ticks see the newest.
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/timer.h"
#include "haptics/device.h"

enum { STATE_BYTES = 72, FORCE_BYTES = 32, WRENCH_BYTES = 56, PORT = 5040, SILENT = 1 };
static const double PATIENCE_MS = 100.0; ///< after which a silent device counts as unplugged

typedef struct Network {
    int socket;
    PliInbox in;
    PliMailbox forces;
    double wrench[3][6]; ///< force, torque
    double torque[3];    ///< of the tick, until its force comes
    PliPoller poller;
    // of the thread
    struct sockaddr_in peer;
    double heard; ///< ms
    uint32_t sequence;
    bool any, takes_torque;
    PliDevice *device;
} Network;

static uint32_t get_u32(const unsigned char *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}
static void put_u32(unsigned char *p, uint32_t value)
{
    for (int i = 0; i < 4; ++i) p[i] = (unsigned char)(value >> (8 * i));
}
static double get_double(const unsigned char *p)
{
    const uint64_t bits = get_u32(p) | (uint64_t)get_u32(p + 4) << 32;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
static void put_double(unsigned char *p, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_u32(p, (uint32_t)bits);
    put_u32(p + 4, (uint32_t)(bits >> 32));
}

static void answer(Network *n)
{
    unsigned char packet[WRENCH_BYTES] = "PLF1";
    const int values = n->takes_torque ? 6 : 3;
    (void)pli_mailbox_take(&n->forces);
    if (n->takes_torque) packet[3] = '2';
    put_u32(packet + 4, n->sequence);
    for (int c = 0; c < values; ++c) put_double(packet + 8 + 8 * c, n->wrench[n->forces.reader][c]);
    (void)!sendto(n->socket, packet, n->takes_torque ? WRENCH_BYTES : FORCE_BYTES, 0, (struct sockaddr *)&n->peer,
                  sizeof n->peer);
}

static void hear(Network *n, const unsigned char *packet)
{
    PliHapticSample s = pli_sample_at_rest((get_u32(packet + 12) & 1) != 0);
    n->sequence = get_u32(packet + 4);
    n->takes_torque = (get_u32(packet + 12) & 2) != 0;
    s.buttons = get_u32(packet + 8);
    for (int c = 0; c < 3; ++c) s.position[c] = get_double(packet + 16 + 8 * c);
    for (int c = 0; c < 4; ++c) s.orientation[c] = get_double(packet + 40 + 8 * c);
    n->heard = pli_wall_ms();
    n->any = true;
    atomic_store_explicit(&n->device->fault, 0, memory_order_relaxed);
    pli_inbox_post(&n->in, &s);
    answer(n);
}

static void poll_socket(void *user)
{
    Network *n = user;
    unsigned char packet[STATE_BYTES + 1];
    struct sockaddr_in from;
    socklen_t length = sizeof from;
    const ssize_t bytes = recvfrom(n->socket, packet, sizeof packet, 0, (struct sockaddr *)&from, &length);
    if (bytes == STATE_BYTES && memcmp(packet, "PLH1", 4) == 0) {
        n->peer = from;
        hear(n, packet);
    } else if (n->any && pli_wall_ms() - n->heard > PATIENCE_MS) {
        const PliHapticSample gone = pli_sample_at_rest(false);
        n->any = false;
        atomic_store_explicit(&n->device->fault, SILENT, memory_order_relaxed);
        pli_inbox_post(&n->in, &gone);
    }
}

static PliStatus network_open(PliDevice *d, const char *detail, const PliHandPath *path, PliError *err)
{
    (void)path;
    Network *n = d->self;
    n->socket = -1;
    n->device = d;
    pli_inbox_init(&n->in);
    pli_mailbox_init(&n->forces);
    char *end = NULL;
    const long port = detail && *detail ? strtol(detail, &end, 10) : PORT;
    if ((end && *end) || port < 1 || port > 65535)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "network needs a port, 1 .. 65535, as in network:%d, not '%s'", PORT,
                          detail);
    n->socket = socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in at = { .sin_family = AF_INET,
                              .sin_port = htons((uint16_t)port),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    const struct timeval wait = { .tv_usec = 20000 };
    if (n->socket < 0 || setsockopt(n->socket, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait) != 0 ||
        bind(n->socket, (struct sockaddr *)&at, sizeof at) != 0)
        return pli_refuse(err, PLI_UNSUPPORTED, "port %ld of this machine cannot be listened on: %s", port,
                          strerror(errno));
    return pli_poller_start(&n->poller, poll_socket, n, 0, err);
}

static void network_close(PliDevice *d)
{
    Network *n = d->self;
    pli_poller_stop(&n->poller);
    if (n->socket >= 0) close(n->socket);
}

static void network_read(PliDevice *d, double dt, PliHapticSample *sample)
{
    (void)dt;
    pli_inbox_read(&((Network *)d->self)->in, sample);
}

static void network_write(PliDevice *d, const double force[3])
{
    Network *n = d->self;
    double *wrench = n->wrench[n->forces.writer];
    memcpy(wrench, force, 3 * sizeof *force);
    memcpy(wrench + 3, n->torque, sizeof n->torque);
    pli_mailbox_post(&n->forces);
}

static void network_turn(PliDevice *d, const double torque[3])
{
    memcpy(((Network *)d->self)->torque, torque, 3 * sizeof *torque);
}

static PliDeviceFacts network_facts(const PliDevice *d)
{
    return (PliDeviceFacts){ .model = d->driver->info.name, .takes_torque = true };
}

static void network_explain(int fault, char *text, size_t size)
{
    (void)fault;
    snprintf(text, size, "nothing came for %g ms: the program that speaks for the device is gone, or the cable is",
             PATIENCE_MS);
}

const PliDriver pli_network_driver = {
    .info = { "network", "udp", "a device behind a local UDP port: network:PORT (5040), packets in doc/haptics.md",
              true },
    .size = sizeof(Network),
    .open = network_open,
    .close = network_close,
    .read = network_read,
    .write = network_write,
    .turn = network_turn,
    .facts = network_facts,
    .explain = network_explain,
};
