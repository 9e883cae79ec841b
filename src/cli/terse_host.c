/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "base/hash.h"
#include "cli/cli.h"

static void say_once(PliLogLevel level, const char *text, void *user)
{
    enum { REMEMBERED = 512 }; // further ones are said whenever they come
    static uint64_t said[REMEMBERED];
    static int count;
    const uint64_t this = pli_hash(PLI_HASH_SEED, text, strlen(text));
    for (int k = 0; k < count; ++k)
        if (said[k] == this) return;
    if (count < REMEMBERED) said[count++] = this;
    pli_host_default().log(level, text, user);
}

PliHost pli_cli_terse_host(void)
{
    PliHost host = pli_host_default();
    host.log = say_once;
    return host;
}
