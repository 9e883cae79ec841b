/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#define _GNU_SOURCE
#include "output/program.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

bool pli_program_is_there(const char *name)
{
    const char *path = getenv("PATH");
    while (path && *path) {
        const size_t length = strcspn(path, ":");
        char file[1100];
        if (length && snprintf(file, sizeof file, "%.*s/%s", (int)length, path, name) < (int)sizeof file &&
            access(file, X_OK) == 0)
            return true;
        path += length + (path[length] == ':');
    }
    return false;
}

static double milliseconds(struct timeval t) { return 1e3 * (double)t.tv_sec + 1e-3 * (double)t.tv_usec; }

int pli_program_run(char *const argv[], const char *folder, const char *log, double *cpu_ms)
{
    posix_spawn_file_actions_t files;
    if (posix_spawn_file_actions_init(&files) != 0) return -1;
    pid_t child = 0;
    int status = -1;
    struct rusage used = { 0 };
    const bool ok = posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0) == 0 &&
                    posix_spawn_file_actions_addopen(&files, 1, log, O_WRONLY | O_CREAT | O_TRUNC, 0644) == 0 &&
                    posix_spawn_file_actions_adddup2(&files, 1, 2) == 0 &&
                    (!folder || posix_spawn_file_actions_addchdir_np(&files, folder) == 0) &&
                    posix_spawnp(&child, argv[0], &files, NULL, argv, environ) == 0;
    posix_spawn_file_actions_destroy(&files);
    while (ok && wait4(child, &status, 0, &used) < 0)
        if (errno != EINTR) return -1;
    if (cpu_ms) *cpu_ms = milliseconds(used.ru_utime) + milliseconds(used.ru_stime);
    return ok && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

PliStatus pli_scratch_folder(const char *name, char *folder, size_t size, PliError *err)
{
    const char *base = getenv("TMPDIR");
    if (snprintf(folder, size, "%s/pliant_%s_XXXXXX", base && *base ? base : "/tmp", name) < (int)size &&
        mkdtemp(folder)) {
        char *whole = realpath(folder, NULL); // who works in another folder finds it, too
        const bool fits = whole && strlen(whole) < size;
        if (fits) memcpy(folder, whole, strlen(whole) + 1);
        free(whole);
        if (fits) return PLI_OK;
    }
    return pli_refuse(err, PLI_BAD_ARGUMENT, "no temporary folder can be made");
}
