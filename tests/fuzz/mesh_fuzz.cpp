/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// libFuzzer target for the mesh readers, compiled once per format: FUZZ_NAME is a file name whose extension picks the
// reader when the first bytes do not.
#include <cstdio>
#include <cstdlib>

extern "C" {
#include "mesh/read.h"
}

static void fail(const char *what)
{
    std::fprintf(stderr, "broken promise: %s\n", what);
    std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    PliHost host = pli_host_default();
    host.log = nullptr;
    PliError err{};
    PliMesh *m = pli_mesh_parse(&host, FUZZ_NAME, data, size, &err);
    if (!m) {
        if (err.status == PLI_OK || !err.text[0]) fail("a refusal without a sentence");
        return 0;
    }
    if (pli_mesh_check_tets(m, 0.0, &err) != PLI_OK) fail(err.text);
    const PliIndex *cell[] = { m->edges, m->tris, m->quads, m->hexes };
    const size_t count[] = { 2 * size_t(m->edge_count), 3 * size_t(m->tri_count), 4 * size_t(m->quad_count),
                             8 * size_t(m->hex_count) };
    for (int k = 0; k < 4; ++k)
        for (size_t i = 0; i < count[k]; ++i)
            if (cell[k][i] >= m->point_count) fail("an index beyond the points");
    if (pli_mesh_find_surface(m) != PLI_OK) fail("no surface");
    PliLocator *l = pli_locator_create(&host, m->x, m->point_count, m->tets, m->tet_count);
    if (!l) fail("no locator");
    PliIndex tet;
    double weights[4];
    pli_locator_find(l, m->x, &tet, weights);
    pli_locator_destroy(l);
    pli_mesh_destroy(m);
    return 0;
}
