/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLIANT_TESTS_MESH_SAMPLES_H
#define PLIANT_TESTS_MESH_SAMPLES_H

#include <zlib.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

// One small solid in every format that is read: two tetrahedra on a common face, and where the format has them its six
// boundary triangles or a quad. Points: 0 (0,0,0), 1 (1,0,0), 2 (0,1,0), 3 (0,0,1), 4 (1,1,1); tets 0 1 2 3 and 1 2 3 4
// (the second is inverted on purpose).

struct Sample {
    std::string name; ///< file name, gives the extension
    std::string bytes;
    unsigned points, tris, tets;
};

namespace samples
{

inline const double x[5][3] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 }, { 1, 1, 1 } };
inline const int tets[2][4] = { { 0, 1, 2, 3 }, { 1, 2, 4, 3 } };
inline const int tris[6][3] = { { 0, 2, 1 }, { 0, 1, 3 }, { 0, 3, 2 }, { 1, 2, 4 }, { 1, 4, 3 }, { 2, 3, 4 } };

/// Raw bytes of a number, in the other byte order when asked.
template <class T> std::string raw(T v, bool swap = false)
{
    std::string s(sizeof v, 0);
    std::memcpy(s.data(), &v, sizeof v);
    return swap ? std::string(s.rbegin(), s.rend()) : s;
}

template <class... A> std::string text(const char *format, A... args)
{
    char line[200];
    std::snprintf(line, sizeof line, format, args...);
    return line;
}

inline std::string msh1()
{
    std::string s = "$NOD\n5\n";
    for (int i = 0; i < 5; ++i) s += text("%d %g %g %g\n", 10 * i + 7, x[i][0], x[i][1], x[i][2]);
    s += "$ENDNOD\n$ELM\n2\n";
    for (int t = 0; t < 2; ++t)
        s += text("%d 4 1 1 4 %d %d %d %d\n", t + 1, 10 * tets[t][0] + 7, 10 * tets[t][1] + 7, 10 * tets[t][2] + 7,
                  10 * tets[t][3] + 7);
    return s + "$ENDELM\n";
}

inline std::string msh2()
{
    std::string s =
        "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n3 1 \"solid\"\n$EndPhysicalNames\n$Nodes\n5\n";
    for (int i = 0; i < 5; ++i) s += text("%d %.17g %.17g %.17g\n", i + 1, x[i][0], x[i][1], x[i][2]);
    s += "$EndNodes\n$Elements\n9\n1 15 2 0 1 3\n";
    for (int t = 0; t < 6; ++t)
        s += text("%d 2 2 0 1 %d %d %d\n", t + 2, tris[t][0] + 1, tris[t][1] + 1, tris[t][2] + 1);
    for (int t = 0; t < 2; ++t)
        s += text("%d 4 3 0 1 7 %d %d %d %d\n", t + 8, tets[t][0] + 1, tets[t][1] + 1, tets[t][2] + 1, tets[t][3] + 1);
    return s + "$EndElements\n";
}

inline std::string msh2_binary(bool swap)
{
    auto i32 = [&](int v) { return raw<int32_t>(v, swap); };
    std::string s = "$MeshFormat\n2.2 1 8\n" + i32(1) + "\n$EndMeshFormat\n$Nodes\n5\n";
    for (int i = 0; i < 5; ++i) {
        s += i32(i + 1);
        for (double v : x[i]) s += raw(v, swap);
    }
    s += "\n$EndNodes\n$Elements\n8\n" + i32(2) + i32(6) + i32(2);
    for (int t = 0; t < 6; ++t)
        s += i32(t + 1) + i32(0) + i32(1) + i32(tris[t][0] + 1) + i32(tris[t][1] + 1) + i32(tris[t][2] + 1);
    for (int t = 0; t < 2; ++t) { // a block of its own for each
        s += i32(4) + i32(1) + i32(2) + i32(t + 7) + i32(0) + i32(1);
        for (int v : tets[t]) s += i32(v + 1);
    }
    return s + "\n$EndElements\n";
}

/// Text and binary have the same numbers in the same order.
inline std::string msh4(bool binary)
{
    auto size = [&](int v) { return binary ? raw<uint64_t>(uint64_t(v)) : text("%d ", v); };
    auto i32 = [&](int v) { return binary ? raw<int32_t>(v) : text("%d ", v); };
    auto real = [&](double v) { return binary ? raw(v) : text("%.17g ", v); };
    const std::string end = binary ? "" : "\n";
    std::string s =
        text("$MeshFormat\n4.1 %d 8\n", binary ? 1 : 0) + (binary ? raw<int32_t>(1) + "\n" : "") + "$EndMeshFormat\n";
    s += "$Entities\n" + size(0) + size(0) + size(0) + size(0) + "\n$EndEntities\n";
    s += "$Nodes\n" + size(2) + size(5) + size(1) + size(5) + end;
    s += i32(2) + i32(1) + i32(1) + size(2) + end; // parametric: two more numbers each
    s += size(1) + end + size(2) + end;
    for (int i = 0; i < 2; ++i) s += real(x[i][0]) + real(x[i][1]) + real(x[i][2]) + real(0.5) + real(0.25) + end;
    s += i32(3) + i32(1) + i32(0) + size(3) + end;
    s += size(3) + end + size(4) + end + size(5) + end;
    for (int i = 2; i < 5; ++i) s += real(x[i][0]) + real(x[i][1]) + real(x[i][2]) + end;
    s += "\n$EndNodes\n$Elements\n" + size(2) + size(8) + size(1) + size(8) + end;
    s += i32(2) + i32(1) + i32(2) + size(6) + end;
    for (int t = 0; t < 6; ++t)
        s += size(t + 1) + size(tris[t][0] + 1) + size(tris[t][1] + 1) + size(tris[t][2] + 1) + end;
    s += i32(3) + i32(1) + i32(4) + size(2) + end;
    for (int t = 0; t < 2; ++t)
        s += size(t + 7) + size(tets[t][0] + 1) + size(tets[t][1] + 1) + size(tets[t][2] + 1) + size(tets[t][3] + 1) +
             end;
    return s + "\n$EndElements\n";
}

/// Legacy VTK; binary is big-endian. Version 5.1 stores offsets and corners apart.
inline std::string vtk(bool binary, bool newer)
{
    auto i32 = [&](int v) { return binary ? raw<int32_t>(v, true) : text("%d ", v); };
    auto i64 = [&](int v) { return binary ? raw<int64_t>(v, true) : text("%d ", v); };
    auto f32 = [&](double v) { return binary ? raw(float(v), true) : text("%g ", v); };
    std::string s = text("# vtk DataFile Version %s\ntitle\n%s\nDATASET UNSTRUCTURED_GRID\n", newer ? "5.1" : "2.0",
                         binary ? "BINARY" : "ASCII");
    // arrays to pass over; the second string is empty
    if (newer) s += "FIELD FieldData 2\nn 1 1 int\n" + i32(7) + "\nwords 1 2 string\n";
    if (newer)
        s += binary ? "\xC3"
                      "abc" +
                          std::string("\x80\x00", 2) + "\n"
                    : "a%20b\n\n";
    s += "POINTS 5 float\n";
    for (auto &p : x) s += f32(p[0]) + f32(p[1]) + f32(p[2]);
    if (newer) {
        s += "\nMETADATA\nINFORMATION 0\n\nCELLS 3 8\nOFFSETS vtktypeint64\n" + i64(0) + i64(4) + i64(8) +
             "\nCONNECTIVITY vtktypeint64\n";
        for (auto &t : tets) s += i64(t[0]) + i64(t[1]) + i64(t[2]) + i64(t[3]);
    } else {
        s += "\nCELLS 2 10\n";
        for (auto &t : tets) s += i32(4) + i32(t[0]) + i32(t[1]) + i32(t[2]) + i32(t[3]);
    }
    return s + "\nCELL_TYPES 2\n" + i32(10) + i32(10) + "\nPOINT_DATA 5\n";
}

inline std::string vtk_polydata()
{
    std::string s = "# vtk DataFile Version 3.0\ntitle\nASCII\nDATASET POLYDATA\n"
                    "FIELD FieldData 2\nnote 1 2 int\n4 5\nwords 1 2 string\na%20b\n\nPOINTS 5 double\n";
    for (auto &p : x) s += text("%g %g %g\n", p[0], p[1], p[2]);
    s += "TRIANGLE_STRIPS 1 5\n4 0 1 2 4\nPOLYGONS 4 16\n"; // two triangles of the strip, four others
    for (int t = 2; t < 6; ++t) s += text("3 %d %d %d\n", tris[t][0], tris[t][1], tris[t][2]);
    return s;
}

inline std::string base64(const std::string &in)
{
    static const char *code = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    for (size_t i = 0; i < in.size(); i += 3) {
        uint32_t v = 0;
        for (size_t k = 0; k < 3; ++k) v = v << 8 | (i + k < in.size() ? uint8_t(in[i + k]) : 0);
        for (size_t k = 0; k < 4; ++k) out += i + k <= in.size() ? code[v >> (18 - 6 * k) & 63] : '=';
    }
    return out;
}

/// Header and zlib blocks of 50 bytes, as VTK packs them.
inline std::string packed(const std::string &in, bool base64_parts)
{
    const size_t block = 50, blocks = (in.size() + block - 1) / block;
    std::string header = raw<uint32_t>(uint32_t(blocks)) + raw<uint32_t>(uint32_t(block)) +
                         raw<uint32_t>(uint32_t(in.size() % block)),
                data;
    for (size_t i = 0; i < in.size(); i += block) {
        const std::string part = in.substr(i, block);
        std::string out(compressBound(part.size()), 0);
        uLongf size = out.size();
        compress(reinterpret_cast<Bytef *>(out.data()), &size, reinterpret_cast<const Bytef *>(part.data()),
                 part.size());
        header += raw<uint32_t>(uint32_t(size));
        data += out.substr(0, size);
    }
    return base64_parts ? base64(header) + base64(data) : header + data;
}

enum class Vtu { ascii, base64, base64_zlib, raw, raw_zlib, appended_base64, big_endian };

inline std::string vtu(Vtu kind)
{
    const bool swap = kind == Vtu::big_endian, zlib = kind == Vtu::base64_zlib || kind == Vtu::raw_zlib;
    const bool appended = kind == Vtu::raw || kind == Vtu::raw_zlib || kind == Vtu::appended_base64;
    std::string tail;
    auto array = [&](const char *attributes, const std::string &ascii, const std::string &bytes) {
        std::string head = text("<DataArray %s format=\"%s\"", attributes,
                                appended             ? "appended"
                                : kind == Vtu::ascii ? "ascii"
                                                     : "binary");
        const std::string plain = raw<uint32_t>(uint32_t(bytes.size()), swap) + bytes;
        if (kind == Vtu::ascii) return head + ">\n" + ascii + "\n</DataArray>\n";
        if (!appended) return head + ">\n" + (zlib ? packed(bytes, true) : base64(plain)) + "\n</DataArray>\n";
        head += text(" offset=\"%zu\"/>\n", tail.size());
        tail += kind == Vtu::raw ? plain : zlib ? packed(bytes, false) : base64(plain);
        return head;
    };
    std::string s =
        "<?xml version=\"1.0\"?>\n<!-- two tetrahedra -->\n<VTKFile type=\"UnstructuredGrid\" version=\"0.1\" ";
    s += swap ? "byte_order=\"BigEndian\"" : "byte_order=\"LittleEndian\"";
    s += zlib ? " compressor=\"vtkZLibDataCompressor\">\n" : ">\n";
    s += "<UnstructuredGrid>\n<Piece NumberOfPoints=\"5\" NumberOfCells=\"2\">\n<PointData>\n";
    std::string ascii, bytes;
    for (int i = 0; i < 5; ++i) ascii += text("%d ", i), bytes += raw<double>(i, swap);
    s += array("type=\"Float64\" Name=\"connectivity\"", ascii, bytes) +
         "</PointData>\n<Points>\n"; // a trap: not the cells'
    ascii = bytes = "";
    for (auto &p : x)
        for (double v : p) ascii += text("%.17g ", v), bytes += raw(float(v), swap);
    s += array("type=\"Float32\" Name=\"Points\" NumberOfComponents=\"3\"", ascii, bytes) + "</Points>\n<Cells>\n";
    ascii = bytes = "";
    for (auto &t : tets)
        for (int v : t) ascii += text("%d ", v), bytes += raw<int64_t>(v, swap);
    s += array("type=\"Int64\" Name=\"connectivity\"", ascii, bytes);
    s += array("type=\"Int32\" Name=\"offsets\"", "4 8", raw<int32_t>(4, swap) + raw<int32_t>(8, swap));
    s += array("type=\"UInt8\" Name=\"types\"", "10 10", "\n\n");
    s += "</Cells>\n</Piece>\n</UnstructuredGrid>\n";
    if (appended)
        s += text("<AppendedData encoding=\"%s\">\n_", kind == Vtu::appended_base64 ? "base64" : "raw") + tail +
             "\n</AppendedData>\n";
    return s + "</VTKFile>\n";
}

inline std::string vtp()
{
    std::string s = "<VTKFile type='PolyData'><PolyData><Piece NumberOfPoints='5' NumberOfPolys='5'><Points>"
                    "<DataArray type='Float32' NumberOfComponents='3' format='ascii'>";
    for (auto &p : x) s += text("%g %g %g ", p[0], p[1], p[2]);
    return s + "</DataArray></Points><Polys><DataArray type='Int32' Name='connectivity' format='ascii'>"
               "0 2 1 0 1 3 0 3 2 1 2 4 3 2 3 4</DataArray><DataArray type='Int32' Name='offsets' format='ascii'>"
               "3 6 9 13 16</DataArray></Polys></Piece></PolyData></VTKFile>"; // the quad becomes two triangles
}

inline std::string obj()
{
    return "# five points, a quad among the faces\nmtllib none.mtl\no thing\nv 0 0 0\nv 1 0 0 1.0\nv 0 1 0 0.5 0.5 "
           "0.5\n"
           "v 0 0 1\nv 1 1 1\nvt 0 0\nvn 0 0 1\n"
           "f 1 3 2\nf 1/1 2/1 4/1\nf 1//1 4//1 3//1\nf -4/1/1 -3/1/1 \\\n -1/1/1 -2/1/1\nf 3 4 5\n";
}

inline std::string stl_text()
{
    std::string s = "solid thing one\n";
    for (auto &t : tris) {
        s += "  facet normal nan 0 0\n    outer loop\n";
        for (int v : t) s += text("      vertex %g %g %g\n", x[v][0], x[v][1], x[v][2]);
        s += "    endloop\n  endfacet\n";
    }
    return s + "endsolid thing one\n";
}

inline std::string stl_binary()
{
    std::string s = "solid but binary";
    s.resize(80, ' ');
    s += raw<uint32_t>(7);
    for (int t = 0; t < 7; ++t) { // the last one is flat: a corner twice
        s += std::string(12, 0);
        for (int k = 0; k < 3; ++k)
            for (double v : x[t < 6 ? tris[t][k] : k / 2]) s += raw(float(v));
        s += std::string(2, 0);
    }
    return s;
}

inline std::string ply(bool binary, bool big)
{
    std::string s = "ply\nformat ";
    s += !binary ? "ascii" : big ? "binary_big_endian" : "binary_little_endian";
    s += " 1.0\ncomment five points\nelement vertex 5\nproperty float x\nproperty double y\nproperty float z\n"
         "property uchar red\nelement face 6\nproperty list uchar int vertex_indices\nproperty short flags\n"
         "element other 1\nproperty list ushort float values\nend_header\n";
    auto put = [&](auto value) {
        if (!binary) {
            s += text("%.9g ", double(value));
            return;
        }
        std::string bytes = raw(value);
        if (big) bytes.assign(bytes.rbegin(), bytes.rend());
        s += bytes;
    };
    for (auto &p : x) put(float(p[0])), put(double(p[1])), put(float(p[2])), put(uint8_t(200));
    for (auto &t : tris) {
        put(uint8_t(3));
        for (int v : t) put(int32_t(v));
        put(int16_t(-1));
    }
    put(uint16_t(2)), put(1.5f), put(2.5f);
    return s + (binary ? "" : "\n");
}

/// As a strip of triangles, a -1, another strip, and a corner twice, which makes no triangle.
inline std::string ply_strip(bool binary)
{
    const int corner[] = { 0, 2, 1, 4, 3, 2, 0, -1, 0, 1, 3, 3 };
    std::string s = std::string("ply\nformat ") + (binary ? "binary_little_endian" : "ascii") +
                    " 1.0\nelement vertex 5\nproperty float x\nproperty float y\nproperty float z\n"
                    "element tristrips 1\nproperty list int int vertex_indices\nend_header\n";
    auto put = [&](auto value) { s += binary ? raw(value) : text("%g ", double(value)); };
    for (auto &p : x)
        for (double v : p) put(float(v));
    put(int32_t(12));
    for (int v : corner) put(int32_t(v));
    return s + (binary ? "" : "\n");
}

inline std::string medit()
{
    std::string s = "MeshVersionFormatted 2\n# comment here\nDimension\n3\nVertices\n5\n";
    for (auto &p : x) s += text("%g %g %g 0\n", p[0], p[1], p[2]);
    s += "Corners 1\n3\nTriangles\n6\n";
    for (auto &t : tris) s += text("%d %d %d 1\n", t[0] + 1, t[1] + 1, t[2] + 1);
    s += "Tetrahedra\n2\n";
    for (auto &t : tets) s += text("%d %d %d %d 1\n", t[0] + 1, t[1] + 1, t[2] + 1, t[3] + 1);
    return s + "End\n";
}

inline std::vector<Sample> all()
{
    return {
        { "one.msh", msh1(), 5, 0, 2 },
        { "two.msh", msh2(), 5, 6, 2 },
        { "two_binary.msh", msh2_binary(false), 5, 6, 2 },
        { "two_swapped.msh", msh2_binary(true), 5, 6, 2 },
        { "four.msh", msh4(false), 5, 6, 2 },
        { "four_binary.msh", msh4(true), 5, 6, 2 },
        { "text.vtk", vtk(false, false), 5, 0, 2 },
        { "binary.vtk", vtk(true, false), 5, 0, 2 },
        { "text51.vtk", vtk(false, true), 5, 0, 2 },
        { "binary51.vtk", vtk(true, true), 5, 0, 2 },
        { "poly.vtk", vtk_polydata(), 5, 6, 0 },
        { "ascii.vtu", vtu(Vtu::ascii), 5, 0, 2 },
        { "base64.vtu", vtu(Vtu::base64), 5, 0, 2 },
        { "base64_zlib.vtu", vtu(Vtu::base64_zlib), 5, 0, 2 },
        { "raw.vtu", vtu(Vtu::raw), 5, 0, 2 },
        { "raw_zlib.vtu", vtu(Vtu::raw_zlib), 5, 0, 2 },
        { "appended_base64.vtu", vtu(Vtu::appended_base64), 5, 0, 2 },
        { "big_endian.vtu", vtu(Vtu::big_endian), 5, 0, 2 },
        { "poly.vtp", vtp(), 5, 6, 0 },
        { "faces.obj", obj(), 5, 6, 0 },
        { "text.stl", stl_text(), 5, 6, 0 },
        { "binary.stl", stl_binary(), 5, 6, 0 },
        { "text.ply", ply(false, false), 5, 6, 0 },
        { "little.ply", ply(true, false), 5, 6, 0 },
        { "big.ply", ply(true, true), 5, 6, 0 },
        { "strip.ply", ply_strip(false), 5, 6, 0 },
        { "strip_binary.ply", ply_strip(true), 5, 6, 0 },
        { "medit.mesh", medit(), 5, 6, 2 },
    };
}

} // namespace samples
#endif
