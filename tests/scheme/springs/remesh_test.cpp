/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Closed surfaces of any connectivity as a base with details, judged by the distance from the surface that was given.
#include <pliant/mesh.h>

#include "scheme/springs/surfaces.h"
#include "support/bodies.h"
#include "support/fixture.h"

using namespace pliant_test;
using namespace pli_test;

namespace
{

double diagonal(const Surface &s)
{
    double lo[3] = { 1e300, 1e300, 1e300 }, hi[3] = { -1e300, -1e300, -1e300 };
    for (size_t k = 0; k < s.x.size(); ++k)
        lo[k % 3] = std::min(lo[k % 3], s.x[k]), hi[k % 3] = std::max(hi[k % 3], s.x[k]);
    return std::sqrt(std::pow(hi[0] - lo[0], 2) + std::pow(hi[1] - lo[1], 2) + std::pow(hi[2] - lo[2], 2));
}

Surface read(const char *name)
{
    PliHost host = pli_host_default();
    Mesh m(pli_mesh_read(&host, (std::string(PLIANT_SOURCE_DIR "/scenes/") + name).c_str(), nullptr));
    Surface s;
    if (!m) return s;
    if (m->tri_count == 0) pli_mesh_find_surface(m.get());
    std::vector<PliIndex> number(m->point_count, PLI_NONE);
    for (size_t k = 0; k < 3 * size_t(m->tri_count); ++k) {
        PliIndex &n = number[m->tris[k]];
        if (n == PLI_NONE) {
            n = s.points();
            s.x.insert(s.x.end(), m->x + 3 * size_t(m->tris[k]), m->x + 3 * size_t(m->tris[k]) + 3);
        }
        s.tris.push_back(n);
    }
    return s;
}

/// Least quality 2 sqrt(3) A / l_rms^2 of the triangles of a level: 1 for a regular one.
double worst(const PliPyramid *p, int level)
{
    double least = 1;
    for (PliIndex f = 0; f < p->mesh[level]->face_count; ++f) {
        const PliIndex *c = p->mesh[level]->corner + 3 * size_t(f);
        double u[3], v[3], l2 = 0;
        for (int d = 0; d < 3; ++d) {
            u[d] = p->rest[3 * c[1] + d] - p->rest[3 * c[0] + d], v[d] = p->rest[3 * c[2] + d] - p->rest[3 * c[0] + d];
            l2 += u[d] * u[d] + v[d] * v[d] + (u[d] - v[d]) * (u[d] - v[d]);
        }
        const double n[3] = { u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0] };
        least = std::min(least, 2 * std::sqrt(3.0) * std::sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]) / l2);
    }
    return least;
}

struct Result {
    double distance[4] = { -1, -1, -1, -1 }, worst[4] = { 0, 0, 0, 0 };
    PliIndex base = 0;
};

Result analyse(const PliHost *host, const Surface &s, PliIndex target, int levels)
{
    Result r;
    PliError err{};
    const PliSurface given = s.view();
    PliSurface base{};
    EXPECT_EQ(pli_remesh_base(host, &given, target, &base, &err), PLI_OK) << err.text;
    PliWinged *m = pli_winged_create(host, base.point_count, base.tris, base.tri_count, &err);
    EXPECT_NE(m, nullptr) << err.text;
    r.base = base.point_count;
    PliPyramid *p = m ? pli_pyramid_create(host, m, base.x, levels, &err) : nullptr;
    pli_surface_free(host, &base);
    if (!p) return r;
    EXPECT_EQ(pli_remesh_fit(p, &given, &err), PLI_OK) << err.text;
    for (int l = 0; l <= levels; ++l) {
        const PliSurface level = { p->rest, p->mesh[l]->corner, p->mesh[l]->vertex_count, p->mesh[l]->face_count };
        r.distance[l] = pli_surface_distance(host, &given, &level) / diagonal(s);
        r.worst[l] = worst(p, l);
    }
    pli_pyramid_destroy(p);
    return r;
}

} // namespace

TEST(Remesh, levels_come_closer_to_the_surface)
{
    WatchedHost w;
    const struct {
        const char *name;
        Surface s;
        PliIndex base;
        double bound[4];
    } cases[] = {
        { "sphere", icosphere(4), 60, { 0.04, 0.02, 0.008, 0.004 } },
        { "torus", torus(60, 40), 100, { 0.04, 0.02, 0.008, 0.004 } },
        { "liver", read("meshes/liver_surface.obj"), 139, { 0.04, 0.02, 0.008, 0.004 } },
        { "box", read("compare/box_skin.obj"), 60, { 1e-9, 1e-9, 1e-9, 1e-9 } },
        { "bar", read("compare/bar_skin.obj"), 80, { 1e-9, 1e-9, 1e-9, 1e-9 } },
        { "cuboid", read("meshes/bar_3.msh"), 80, { 1e-9, 1e-9, 1e-9, 1e-9 } },
    };
    for (const auto &c : cases) {
        ASSERT_GT(c.s.points(), 0u) << c.name;
        const Result r = analyse(&w.host, c.s, c.base, 3);
        EXPECT_EQ(r.base, c.base) << c.name;
        for (int l = 0; l < 4; ++l) EXPECT_LT(r.distance[l], c.bound[l]) << c.name << " level " << l;
        for (int l = 0; l < 4; ++l) EXPECT_GT(r.worst[l], 0.1) << c.name << " level " << l;
    }
}
