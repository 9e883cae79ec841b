/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mesh/faces.h"

#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "mesh/tet.h"

static void sort3(PliIndex r[3], const PliIndex a[3])
{
    const PliIndex lo = a[0] < a[1] ? a[0] : a[1], hi = a[0] < a[1] ? a[1] : a[0];
    r[0] = a[2] < lo ? a[2] : lo;
    r[1] = a[2] < lo ? lo : a[2] < hi ? a[2] : hi;
    r[2] = a[2] < hi ? hi : a[2];
}

void pli_faces_corners(const PliIndex *tets, PliIndex face, PliIndex tri[3])
{
    const PliIndex *tet = tets + 4 * (size_t)(face / 4);
    for (int k = 0; k < 3; ++k) tri[k] = tet[pli_tet_face[face % 4][k]];
}

/// Slot of the face on these points, or the empty slot where it belongs.
static size_t find_slot(const PliFaces *f, const PliIndex tri[3])
{
    PliIndex key[4] = { 0, 0, 0, 0 }, other[3], sorted[3];
    sort3(key, tri);
    size_t s = (size_t)pli_hash(PLI_HASH_SEED, key, sizeof key) & f->mask;
    for (; f->slot[s]; s = (s + 1) & f->mask) {
        pli_faces_corners(f->tets, f->slot[s] - 1, other);
        sort3(sorted, other);
        if (memcmp(sorted, key, sizeof sorted) == 0) break;
    }
    return s;
}

PliStatus pli_faces_init(PliFaces *f, const PliHost *host, const PliIndex *tets, PliIndex tet_count)
{
    size_t size = 16;
    while (size < 6 * (size_t)tet_count) size *= 2;
    *f = (PliFaces){ .host = *host, .tets = tets, .mask = size - 1 };
    if (tet_count >= PLI_NONE / 4) return PLI_OVER_CAPACITY;
    f->slot = PLI_NEW(host, size, PliIndex);
    f->uses = PLI_NEW(host, size, unsigned char);
    if (!f->slot || !f->uses) {
        pli_faces_free(f);
        return PLI_OUT_OF_MEMORY;
    }
    for (PliIndex face = 0; face < 4 * tet_count; ++face) {
        PliIndex tri[3];
        pli_faces_corners(tets, face, tri);
        const size_t s = find_slot(f, tri);
        if (!f->slot[s]) f->slot[s] = face + 1;
        if (f->uses[s] < 255) f->uses[s]++;
    }
    return PLI_OK;
}

void pli_faces_free(PliFaces *f)
{
    PLI_FREE(&f->host, f->slot, f->mask + 1);
    PLI_FREE(&f->host, f->uses, f->mask + 1);
    f->slot = NULL, f->uses = NULL;
}

PliIndex pli_faces_find(const PliFaces *f, const PliIndex tri[3], unsigned *uses)
{
    const size_t s = find_slot(f, tri);
    if (uses) *uses = f->uses[s];
    return f->slot[s] - 1; // 0 - 1 is PLI_NONE
}

PliStatus pli_mesh_find_surface(PliMesh *m)
{
    PliFaces f;
    PliStatus status = pli_faces_init(&f, &m->host, m->tets, m->tet_count);
    if (status != PLI_OK) return status;
    size_t count = 0;
    for (size_t s = 0; s <= f.mask; ++s) count += f.uses[s] == 1;
    status = count <= PLI_NONE ? pli_mesh_resize_cells(m, PLI_TRI, (PliIndex)count) : PLI_OVER_CAPACITY;
    if (status == PLI_OK) {
        PliIndex *out = m->tris;
        for (PliIndex face = 0; face < 4 * m->tet_count; ++face) {
            PliIndex tri[3];
            unsigned uses;
            pli_faces_corners(m->tets, face, tri);
            pli_faces_find(&f, tri, &uses);
            if (uses != 1) continue;
            // an inverted tet has its faces inside out
            if (pli_tet_volume6(m->x, m->tets + 4 * (size_t)(face / 4)) < 0.0) {
                const PliIndex swap = tri[1];
                tri[1] = tri[2], tri[2] = swap;
            }
            memcpy(out, tri, sizeof tri);
            out += 3;
        }
    }
    pli_faces_free(&f);
    return status;
}
