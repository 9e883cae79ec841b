/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mesh/read.h"

#include <string.h>

#include "mesh/cells.h"

typedef bool Reader(PliSource *s, PliBuilder *b);

static bool begins(const PliSource *s, const char *text)
{
    const size_t size = strlen(text);
    return pli_source_left(s) >= size && memcmp(s->data + s->at, text, size) == 0;
}

static bool has_extension(const char *path, const char *extension)
{
    const char *dot = strrchr(path, '.');
    return dot && pli_slice_like((PliSlice){ dot, strlen(dot) }, extension);
}

/// By content where the format has a signature, else by extension.
static Reader *choose(const PliSource *s, const char *path)
{
    PliSource look = *s;
    PliSlice word;
    if (!pli_source_word(&look, &word)) return NULL;
    look.at = look.mark;
    if (begins(&look, "$MeshFormat") || begins(&look, "$NOD") || begins(&look, "$Comments")) return pli_read_msh;
    if (begins(&look, "# vtk DataFile")) return pli_read_vtk;
    if (begins(&look, "<?xml") || begins(&look, "<VTKFile") || begins(&look, "<!--")) return pli_read_vtu;
    if (begins(&look, "ply\n") || begins(&look, "ply\r")) return pli_read_ply;
    if (begins(&look, "MeshVersionFormatted")) return pli_read_medit;
    if (has_extension(path, ".stl")) return pli_read_stl;
    if (has_extension(path, ".obj")) return pli_read_obj;
    if (has_extension(path, ".ply")) return pli_read_ply;
    if (has_extension(path, ".mesh")) return pli_read_medit;
    if (has_extension(path, ".msh")) return pli_read_msh;
    if (has_extension(path, ".vtk")) return pli_read_vtk;
    if (has_extension(path, ".vtu") || has_extension(path, ".vtp")) return pli_read_vtu;
    if (begins(&look, "solid ")) return pli_read_stl;
    return NULL;
}

static PliMesh *parse(PliSource *s)
{
    if (begins(s, "\xEF\xBB\xBF")) s->at += 3;
    if (begins(s, "\xFF\xFE") || begins(s, "\xFE\xFF")) {
        pli_source_refuse(s, "the text is UTF-16, it must be ASCII or UTF-8");
        return NULL;
    }
    PliBuilder b = { .source = s };
    PliMesh *m = NULL;
    Reader *reader = choose(s, s->path);
    if (!reader) {
        s->mark = s->at;
        pli_source_refuse_as(
            s, PLI_UNSUPPORTED,
            "neither the first bytes nor the extension are those of msh, vtk, vtu, vtp, obj, stl, ply or mesh");
    } else if (reader(s, &b)) {
        m = pli_builder_finish(&b);
    }
    pli_builder_free(&b);
    return m;
}

PliMesh *pli_mesh_read(const PliHost *host, const char *path, PliError *err)
{
    PliSource s;
    if (pli_source_open(&s, host, path, err) != PLI_OK) return NULL;
    PliMesh *m = parse(&s);
    pli_source_close(&s);
    return m;
}

PliMesh *pli_mesh_parse(const PliHost *host, const char *name, const void *bytes, size_t size, PliError *err)
{
    PliSource s;
    if (pli_source_wrap(&s, host, name, bytes, size, err) != PLI_OK) return NULL;
    PliMesh *m = parse(&s);
    pli_source_close(&s);
    return m;
}
