/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "mesh/cells.h"
#include "mesh/output.h"

/// Text formats could hold nan, but nobody could read it back.
static PliStatus check_points(const PliMesh *m, const char *path, PliError *err)
{
    for (size_t i = 0; i < 3 * (size_t)m->point_count; ++i)
        if (!isfinite(m->x[i]))
            return pli_refuse(err, PLI_BAD_MESH, "%s: not written, coordinate %zu of point %zu is %g", path, i % 3,
                              i / 3, m->x[i]);
    return PLI_OK;
}

static void print_row(PliOutput *o, const double *x)
{
    for (int a = 0; a < 3; ++a) {
        fputc(' ', o->file);
        pli_output_real(o, x[a]);
    }
    fputc('\n', o->file);
}

PliStatus pli_mesh_write_msh(const PliMesh *mesh, const char *path, PliError *err)
{
    static const int type[] = { [PLI_EDGE] = 1, [PLI_TRI] = 2, [PLI_QUAD] = 3, [PLI_TET] = 4, [PLI_HEX] = 5 };
    PliMesh view = *mesh; // cells are asked for by kind from a mesh that may be written to; nothing is
    PliOutput o;
    PliStatus status = check_points(mesh, path, err);
    if (status == PLI_OK) status = pli_output_begin(&o, path, err);
    if (status != PLI_OK) return status;
    fprintf(o.file, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n%" PRIu32 "\n", mesh->point_count);
    for (PliIndex i = 0; i < mesh->point_count; ++i) {
        fprintf(o.file, "%" PRIu32, i + 1);
        print_row(&o, mesh->x + 3 * (size_t)i);
    }
    uint64_t count = 0, number = 0;
    for (int kind = PLI_EDGE; kind <= PLI_HEX; ++kind) count += *pli_mesh_cells(&view, (PliCellKind)kind).count;
    fprintf(o.file, "$EndNodes\n$Elements\n%" PRIu64 "\n", count);
    for (int kind = PLI_EDGE; kind <= PLI_HEX; ++kind) {
        const PliCells c = pli_mesh_cells(&view, (PliCellKind)kind);
        for (PliIndex i = 0; i < *c.count; ++i) {
            // two tags: no physical group, entity 1
            fprintf(o.file, "%" PRIu64 " %d 2 0 1", ++number, type[kind]);
            for (PliIndex k = 0; k < c.width; ++k)
                fprintf(o.file, " %" PRIu32, (*c.index)[c.width * (size_t)i + k] + 1);
            fputc('\n', o.file);
        }
    }
    fputs("$EndElements\n", o.file);
    return pli_output_end(&o, PLI_OK);
}

PliStatus pli_mesh_write_obj(const PliMesh *mesh, const char *path, PliError *err)
{
    PliOutput o;
    PliStatus status = check_points(mesh, path, err);
    if (status == PLI_OK) status = pli_output_begin(&o, path, err);
    if (status != PLI_OK) return status;
    for (PliIndex i = 0; i < mesh->point_count; ++i) {
        fputc('v', o.file);
        print_row(&o, mesh->x + 3 * (size_t)i);
    }
    for (PliIndex t = 0; t < mesh->tri_count; ++t) {
        const PliIndex *tri = mesh->tris + 3 * (size_t)t;
        fprintf(o.file, "f %" PRIu32 " %" PRIu32 " %" PRIu32 "\n", tri[0] + 1, tri[1] + 1, tri[2] + 1);
    }
    return pli_output_end(&o, PLI_OK);
}

// ---- VTU -------------------------------------------------------------------------------------------------------

/// The cells of the file: one or two arrays of the mesh, one behind the other.
typedef struct Block {
    const PliIndex *index;
    PliIndex count;
    int width;
    unsigned char type; ///< VTK
} Block;

static uint64_t count_cells(const Block block[2]) { return (uint64_t)block[0].count + block[1].count; }
static uint64_t count_corners(const Block block[2])
{
    return (uint64_t)block[0].count * (uint64_t)block[0].width + (uint64_t)block[1].count * (uint64_t)block[1].width;
}

static PliStatus check_fields(const PliField *fields, int field_count, const char *path, PliError *err)
{
    for (int i = 0; i < field_count; ++i) {
        if (!fields[i].name || !fields[i].data)
            return pli_refuse(err, PLI_BAD_ARGUMENT, "%s: not written, field %d has no name or no data", path, i);
        if (fields[i].components != 1 && fields[i].components != 3)
            return pli_refuse(err, PLI_BAD_ARGUMENT,
                              "%s: not written, field \"%s\" has %d components instead of 1 or 3", path, fields[i].name,
                              fields[i].components);
    }
    return PLI_OK;
}

/// Every appended array is its size in bytes (UInt64) and its bytes.
static void announce(PliOutput *o, const char *type, const char *name, int components, uint64_t *offset, uint64_t bytes)
{
    fprintf(o->file, "<DataArray type=\"%s\" Name=\"", type);
    pli_output_escaped(o, name);
    fputc('"', o->file);
    // left out for scalars: VTK reads both, some readers make a column of a lone component
    if (components > 1) fprintf(o->file, " NumberOfComponents=\"%d\"", components);
    fprintf(o->file, " format=\"appended\" offset=\"%" PRIu64 "\"/>\n", *offset);
    *offset += 8 + bytes;
}

static void announce_fields(PliOutput *o, const PliField *fields, int field_count, bool per_cell, uint64_t count,
                            uint64_t *offset)
{
    fputs(per_cell ? "<CellData>\n" : "<PointData>\n", o->file);
    for (int i = 0; i < field_count; ++i)
        if (fields[i].per_cell == per_cell)
            announce(o, "Float64", fields[i].name, fields[i].components, offset,
                     8 * count * (uint64_t)fields[i].components);
    fputs(per_cell ? "</CellData>\n" : "</PointData>\n", o->file);
}

static void append(PliOutput *o, const void *data, uint64_t bytes)
{
    fwrite(&bytes, sizeof bytes, 1, o->file);
    if (bytes) fwrite(data, 1, (size_t)bytes, o->file);
}

static void append_fields(PliOutput *o, const PliField *fields, int field_count, bool per_cell, uint64_t count)
{
    for (int i = 0; i < field_count; ++i)
        if (fields[i].per_cell == per_cell) append(o, fields[i].data, 8 * count * (uint64_t)fields[i].components);
}

static void append_cells(PliOutput *o, const Block block[2])
{
    uint64_t bytes = 4 * count_corners(block);
    fwrite(&bytes, sizeof bytes, 1, o->file);
    for (int b = 0; b < 2; ++b)
        if (block[b].count)
            fwrite(block[b].index, sizeof(PliIndex), (size_t)block[b].count * (size_t)block[b].width, o->file);
    bytes = 8 * count_cells(block);
    fwrite(&bytes, sizeof bytes, 1, o->file);
    int64_t offset = 0;
    for (int b = 0; b < 2; ++b)
        for (PliIndex i = 0; i < block[b].count; ++i) {
            offset += block[b].width;
            fwrite(&offset, sizeof offset, 1, o->file);
        }
    bytes = count_cells(block);
    fwrite(&bytes, sizeof bytes, 1, o->file);
    for (int b = 0; b < 2; ++b)
        for (PliIndex i = 0; i < block[b].count; ++i) fputc(block[b].type, o->file);
}

/// VTK strings in text form are the codes of their bytes and a 0.
static void print_note(PliOutput *o, const char *note)
{
    fputs("<FieldData>\n<DataArray type=\"String\" Name=\"pliant\" NumberOfTuples=\"1\" format=\"ascii\">\n", o->file);
    for (; *note; ++note) fprintf(o->file, "%d ", (unsigned char)*note);
    fputs("0\n</DataArray>\n</FieldData>\n", o->file);
}

static const char *byte_order(void)
{
    const uint16_t one = 1;
    unsigned char first;
    memcpy(&first, &one, 1);
    return first ? "LittleEndian" : "BigEndian";
}

PliStatus pli_mesh_write_vtu(const PliMesh *mesh, const double *x, const PliField *fields, int field_count,
                             const char *note, const char *path, PliError *err)
{
    PliOutput o;
    PliStatus status = check_fields(fields, field_count, path, err);
    if (status == PLI_OK) status = pli_output_begin(&o, path, err);
    if (status != PLI_OK) return status;
    const bool volume = mesh->tet_count > 0 || mesh->hex_count > 0;
    const Block solid[2] = { { mesh->tets, mesh->tet_count, 4, 10 }, { mesh->hexes, mesh->hex_count, 8, 12 } };
    const Block shell[2] = { { mesh->tris, mesh->tri_count, 3, 5 }, { mesh->quads, mesh->quad_count, 4, 9 } };
    const Block *block = volume ? solid : shell;
    const uint64_t points = mesh->point_count, cells = count_cells(block);
    uint64_t offset = 0;
    fprintf(o.file,
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"%s\" "
            "header_type=\"UInt64\">\n<UnstructuredGrid>\n",
            byte_order());
    if (note) print_note(&o, note);
    fprintf(o.file, "<Piece NumberOfPoints=\"%" PRIu64 "\" NumberOfCells=\"%" PRIu64 "\">\n<Points>\n", points, cells);
    announce(&o, "Float64", "Points", 3, &offset, 24 * points);
    fputs("</Points>\n<Cells>\n", o.file);
    announce(&o, "Int32", "connectivity", 1, &offset, 4 * count_corners(block));
    announce(&o, "Int64", "offsets", 1, &offset, 8 * cells);
    announce(&o, "UInt8", "types", 1, &offset, cells);
    fputs("</Cells>\n", o.file);
    announce_fields(&o, fields, field_count, false, points, &offset);
    announce_fields(&o, fields, field_count, true, cells, &offset);
    fputs("</Piece>\n</UnstructuredGrid>\n<AppendedData encoding=\"raw\">\n_", o.file);
    append(&o, x ? x : mesh->x, 24 * points);
    append_cells(&o, block);
    append_fields(&o, fields, field_count, false, points);
    append_fields(&o, fields, field_count, true, cells);
    fputs("\n</AppendedData>\n</VTKFile>\n", o.file);
    return pli_output_end(&o, PLI_OK);
}

PliStatus pli_mesh_write_pvd(const char *path, const double *times, const char *const *files, PliIndex count,
                             PliError *err)
{
    PliOutput o;
    const PliStatus status = pli_output_begin(&o, path, err);
    if (status != PLI_OK) return status;
    fprintf(o.file,
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\" byte_order=\"%s\">\n<Collection>\n",
            byte_order());
    for (PliIndex i = 0; i < count; ++i) {
        fputs("<DataSet timestep=\"", o.file);
        pli_output_real(&o, times[i]);
        fputs("\" part=\"0\" file=\"", o.file);
        pli_output_escaped(&o, files[i]);
        fputs("\"/>\n", o.file);
    }
    fputs("</Collection>\n</VTKFile>\n", o.file);
    return pli_output_end(&o, PLI_OK);
}
