/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#define _XOPEN_SOURCE 700 // realpath
#include "evidence/assets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void pli_program_folder(char *folder, size_t size)
{
    const ssize_t n = readlink("/proc/self/exe", folder, size - 1);
    folder[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(folder, '/');
    if (slash) *slash = '\0';
}

PliStatus pli_asset_path(const char *name, char *path, size_t size, PliError *err)
{
    char folder[1024];
    pli_program_folder(folder, sizeof folder);
    const char *chosen = getenv("PLIANT_SCENES");
    const char *const root[] = { chosen, folder, folder, folder, "." };
    static const char *const below[] = { "", "/../../scenes", "/../share/pliant/scenes", "/../../../scenes",
                                         "/scenes" };
    for (int k = 0; k < 5; ++k) {
        if (!root[k] || !root[k][0]) continue;
        const int n = snprintf(path, size, "%s%s/%s", root[k], below[k], name);
        if (n <= 0 || (size_t)n >= size || access(path, R_OK) != 0) continue;
        char *whole = realpath(path, NULL); // programs that are started elsewhere get it, too
        const bool fits = whole && strlen(whole) < size;
        if (fits) memcpy(path, whole, strlen(whole) + 1);
        free(whole);
        if (fits) return PLI_OK;
    }
    return pli_refuse(err, PLI_BAD_FILE, "%s is not among the shipped scenes: set PLIANT_SCENES to their folder", name);
}

PliMesh *pli_asset_mesh(const PliHost *host, const char *name, PliError *err)
{
    char path[2048];
    return pli_asset_path(name, path, sizeof path, err) == PLI_OK ? pli_mesh_read(host, path, err) : NULL;
}
