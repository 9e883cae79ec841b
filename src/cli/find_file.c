/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/words.h"
#include "cli/cli.h"

/// The name in a folder most like `name`, within a slip of the hand; of equals the first in the alphabet.
static bool nearest_name(const char *folder, const char *name, char *near, size_t size)
{
    DIR *d = opendir(folder);
    int best = pli_word_tolerance(name) + 1;
    bool found = false;
    for (struct dirent *e; d && (e = readdir(d));) {
        if (e->d_name[0] == '.') continue;
        const int distance = pli_word_distance(name, e->d_name);
        if (distance > best || (distance == best && (!found || strcmp(e->d_name, near) >= 0))) continue;
        best = distance, found = snprintf(near, size, "%s", e->d_name) < (int)size;
    }
    if (d) closedir(d);
    return found;
}

bool pli_cli_nearest_path(const char *path, char *near, size_t size)
{
    char folder[1024] = ".", name[256];
    const char *slash = strrchr(path, '/');
    if (slash && snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path) >= (int)sizeof folder) return false;
    if (slash && !folder[0]) strcpy(folder, "/");
    if (nearest_name(folder, slash ? slash + 1 : path, name, sizeof name))
        return snprintf(near, size, "%.*s%s", slash ? (int)(slash - path) + 1 : 0, path, name) < (int)size;
    struct stat s;
    char parent[1100];
    if (!slash || stat(folder, &s) == 0 || !pli_cli_nearest_path(folder, parent, sizeof parent)) return false;
    return snprintf(near, size, "%s%s", parent, slash) < (int)size && access(near, F_OK) == 0;
}

static bool ends_with(const char *path, const char *ending)
{
    const size_t length = strlen(path), n = strlen(ending);
    return length > n && strcasecmp(path + length - n, ending) == 0;
}

static bool is_python(const char *path) { return ends_with(path, ".py") || ends_with(path, ".pyscn"); }

static const char python_hint[] =
    "is a Python scene, which SOFA runs with SofaPython3; this host reads XML scenes (.scn)";

const char *pli_cli_scene_hint(const char *path)
{
    static const char *const meshes[] = { ".obj", ".stl", ".ply", ".off", ".msh", ".vtk", ".vtu", ".vtp", ".mesh" };
    if (is_python(path)) return python_hint;
    for (size_t k = 0; k < sizeof meshes / sizeof *meshes; ++k)
        if (ends_with(path, meshes[k]))
            return "is a mesh and no scene; `pliant new FILE --out FOLDER` makes scenes from a closed surface";
    return NULL;
}

int pli_cli_find_scene(const char *command, const char *path)
{
    const int code = pli_cli_find_file(command, path);
    const char *hint = code == PLI_EXIT_OK ? pli_cli_scene_hint(path) : NULL;
    return hint ? pli_cli_refuse(command, "%s %s", path, hint) : code;
}

int pli_cli_find_file(const char *command, const char *path)
{
    struct stat s;
    const bool there = stat(path, &s) == 0;
    if (there && is_python(path)) {
        pli_cli_refuse(command, "%s %s", path, python_hint);
        return PLI_EXIT_UNSUPPORTED;
    }
    if (there && S_ISDIR(s.st_mode)) {
        pli_cli_refuse(command, "%s is a folder", path);
        return PLI_EXIT_FILE;
    }
    if (there) return PLI_EXIT_OK;
    char near[1400];
    if (pli_cli_nearest_path(path, near, sizeof near))
        pli_cli_refuse(command, "there is no file %s; did you mean %s?", path, near);
    else
        pli_cli_refuse(command, "there is no file %s", path);
    return PLI_EXIT_FILE;
}

const char *pli_cli_quote(const char *path, char *text, size_t size)
{
    if (path[strcspn(path, " \t\n'\"\\$&;|<>()*?[]#~`!{}")] == '\0') {
        snprintf(text, size, "%s", path);
        return text;
    }
    size_t used = (size_t)snprintf(text, size, "'");
    for (const char *p = path; *p && used + 6 < size; ++p) {
        const char one[2] = { *p, '\0' };
        used += (size_t)snprintf(text + used, size - used, "%s", *p == '\'' ? "'\\''" : one);
    }
    snprintf(text + used, size - used, "'");
    return text;
}
