/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// `pliant view` starts pliant-view, which stands beside it: the command itself does not depend on Qt.
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

int pli_cmd_view(int argc, char **argv)
{
    (void)argc;
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 16);
    if (length <= 0) return pli_cli_refuse("view", "cannot find the folder of this program: %s", strerror(errno));
    path[length] = 0;
    char *slash = strrchr(path, '/');
    strcpy(slash ? slash + 1 : path, "pliant-view");
    argv[0] = path;
    execv(path, argv);
    return pli_cli_refuse("view", "%s cannot be started (%s): the viewer is built when Qt5 is found", path,
                          strerror(errno));
}
