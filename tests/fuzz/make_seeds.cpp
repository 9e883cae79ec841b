/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Writes the samples of the reader tests as the seed corpus: make_seeds tests/fuzz/corpus
#include <filesystem>
#include <fstream>

#include "mesh/samples.h"

int main(int argc, char **argv)
{
    if (argc != 2) return 1;
    for (const Sample &s : samples::all()) {
        std::string format = s.name.substr(s.name.rfind('.') + 1);
        if (format == "vtp") format = "vtu";
        const std::filesystem::path folder = std::filesystem::path(argv[1]) / format;
        std::filesystem::create_directories(folder);
        std::ofstream(folder / s.name, std::ios::binary) << s.bytes;
    }
}
