/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "output/machine.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

PliMachine pli_machine(void)
{
    PliMachine m = {
        .cpu = "unknown",
        .cores = sysconf(_SC_NPROCESSORS_ONLN),
        .simd = pli_simd_name(pli_simd_best()),
#if defined(__clang__)
        .compiler = "clang " __clang_version__,
#else
        .compiler = "gcc " __VERSION__,
#endif
        .flags = PLI_FLAGS_TEXT,
        .version = PLI_VERSION_TEXT,
    };
    FILE *info = fopen("/proc/cpuinfo", "r");
    char line[512];
    while (info && fgets(line, sizeof line, info)) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !colon) continue;
        colon += 1 + strspn(colon + 1, " \t");
        snprintf(m.cpu, sizeof m.cpu, "%.*s", (int)strcspn(colon, "\n"), colon);
        break;
    }
    if (info) fclose(info);
    return m;
}

void pli_machine_json(PliJson *j)
{
    const PliMachine m = pli_machine();
    pli_json_begin_object(j, "machine");
    pli_json_string(j, "cpu", m.cpu);
    pli_json_integer(j, "cores", m.cores);
    pli_json_string(j, "simd", m.simd);
    pli_json_string(j, "compiler", m.compiler);
    pli_json_string(j, "flags", m.flags);
    pli_json_string(j, "version", m.version);
    pli_json_end(j);
}
