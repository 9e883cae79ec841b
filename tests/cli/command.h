/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_TEST_CLI_COMMAND_H
#define PLI_TEST_CLI_COMMAND_H

// The built command, run through the shell.

#include <sys/wait.h>

#include <cstdio>
#include <string>

namespace pliant_test
{

struct Output {
    int code; ///< -1: it did not end by itself
    std::string text;
};

inline const char *const command_path = PLIANT_BINARY_DIR "/bin/pliant ";

inline Output run_shell(const std::string &line)
{
    Output o{ -1, "" };
    FILE *pipe = popen(line.c_str(), "r");
    if (!pipe) return o;
    char part[4096];
    size_t n;
    while ((n = fread(part, 1, sizeof part, pipe)) > 0) o.text.append(part, n);
    const int status = pclose(pipe);
    o.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return o;
}

} // namespace pliant_test

#endif
