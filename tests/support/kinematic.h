/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Bodies for tests of the comparison: a box of uniform FEM that is either stepped, or moved by a formula with known errors.
#ifndef PLIANT_TEST_KINEMATIC_H
#define PLIANT_TEST_KINEMATIC_H

#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "host/compare/compare.h"
#include "support/bodies.h"

namespace pli_test
{

/// One entrant. Without `move` the body is stepped by the library.
struct Box {
    std::string name = "box", curve, parameters;
    PliIndex cells[3] = { 2, 2, 2 };
    double dt = 0.01;
    double shift = 0.0; ///< m, where the box stands
    bool fixed = false; ///< holds the points at y = 0
    double gravity[3] = { 0, -9.81, 0 };
    double spin = 0.0, damping = 0.0; ///< 1/s about z at the start; s
    int fail_at = -1;                 ///< step that diverges
    const char *unable = nullptr;     ///< why it cannot be made
    std::vector<PliTool> tools;
    std::vector<std::vector<double>> skin; ///< points, then tris when not empty
    std::function<void(const double *rest, double time, double *x)> move;
    std::function<void(int step)> each;
    std::function<void(int step, PliTool *tools)> drive;
    int opened = 0;

    PliEntrant entrant()
    {
        PliEntrant e = {};
        e.name = name.c_str();
        e.curve = curve.empty() ? nullptr : curve.c_str();
        e.parameters = parameters.empty() ? nullptr : parameters.c_str();
        e.user = this;
        e.open = [](void *user, PliRun *run, PliError *err) { return static_cast<Box *>(user)->open(run, err); };
        e.step = [](PliRun *run, PliError *err) { return static_cast<Open *>(run->self)->box->step(run, err); };
        e.close = [](PliRun *run) {
            delete static_cast<Open *>(run->self);
            run->self = nullptr;
        };
        return e;
    }

  private:
    struct Open {
        Box *box;
        Mesh mesh;
        Body body;
        std::unique_ptr<State> state;
        std::vector<PliTool> tools;
        int steps = 0;
    };

    PliStatus open(PliRun *run, PliError *err)
    {
        opened++;
        if (unable) return pli_refuse(err, PLI_UNSUPPORTED, "%s", unable);
        auto o = std::make_unique<Open>();
        o->box = this;
        o->mesh = pli_test::box(cells[0], cells[1], cells[2]);
        for (PliIndex i = 0; i < o->mesh->point_count; ++i) o->mesh->x[3 * i] += shift;
        const PliHost host = pli_host_default();
        PliFemDef def = pli_fem_default();
        def.mesh = o->mesh.get();
        def.base.material.damping = damping;
        for (int k = 0; k < 3; ++k) def.base.gravity[k] = gravity[k];
        o->body.reset(pli_fem_create(&host, &def, err));
        if (!o->body) return PLI_BAD_MESH;
        if (!skin.empty()) {
            std::vector<PliIndex> tris;
            for (double v : skin[1]) tris.push_back(static_cast<PliIndex>(v));
            const PliStatus status =
                pli_body_attach_skin(o->body.get(), skin[0].data(), static_cast<PliIndex>(skin[0].size() / 3),
                                     tris.data(), static_cast<PliIndex>(tris.size() / 3), err);
            if (status != PLI_OK) return status;
        }
        o->state = std::make_unique<State>(o->body.get());
        const double *rest = pli_body_rest(o->body.get());
        std::vector<PliIndex> held;
        for (PliIndex i = 0; i < pli_body_dof_count(o->body.get()); ++i) {
            if (rest[3 * i + 1] == 0.0) held.push_back(i);
            o->state->v[3 * i] = -spin * (rest[3 * i + 1] - 0.5);
            o->state->v[3 * i + 1] = spin * (rest[3 * i] - 0.5);
        }
        if (fixed && pli_body_set_fixed(o->body.get(), held.data(), static_cast<PliIndex>(held.size()), err) != PLI_OK)
            return PLI_BAD_MESH;
        o->tools = tools;
        if (!tools.empty() && !move &&
            pli_body_set_tools(o->body.get(), o->tools.data(), static_cast<int>(o->tools.size()), err) != PLI_OK)
            return PLI_BAD_MESH;
        *run = {};
        run->body = o->body.get();
        run->x = o->state->x.data();
        run->v = o->state->v.data();
        run->tools = o->tools.data();
        run->tool_count = static_cast<int>(o->tools.size());
        run->dt = dt;
        run->held = fixed;
        run->self = o.release();
        return PLI_OK;
    }

    PliStatus step(PliRun *run, PliError *err)
    {
        Open *o = static_cast<Open *>(run->self);
        if (o->steps == fail_at) return pli_refuse(err, PLI_DIVERGED, "element 3 turned inside out");
        if (each) each(o->steps);
        if (drive) drive(o->steps, o->tools.data());
        o->steps++;
        if (move) {
            move(pli_body_rest(o->body.get()), o->steps * dt, run->x);
            return PLI_OK;
        }
        return pli_body_step(o->body.get(), &o->state->view, dt).finite ? PLI_OK
                                                                        : pli_refuse(err, PLI_DIVERGED, "not finite");
    }
};

struct ComparisonDelete {
    void operator()(PliComparison *c) const { pli_comparison_destroy(c); }
};
using Comparison = std::unique_ptr<PliComparison, ComparisonDelete>;

/// Compares the boxes, the first being the reference, over `steps` steps.
inline Comparison compare(std::vector<Box *> boxes, PliIndex steps, PliError *err = nullptr, int repeat = 1)
{
    std::vector<PliEntrant> entrants;
    for (Box *b : boxes) entrants.push_back(b->entrant());
    PliCompareDef def = pli_compare_default();
    def.entrants = entrants.data();
    def.count = static_cast<int>(entrants.size());
    def.steps = steps;
    def.repeat = repeat;
    return Comparison(pli_compare(&def, err));
}

/// Moves every point by a vector that grows with time.
inline std::function<void(const double *, double, double *)> glide(double x, double y, double z, PliIndex points)
{
    return [=](const double *rest, double time, double *to) {
        const double d[3] = { x * time, y * time, z * time };
        for (PliIndex i = 0; i < 3 * points; ++i) to[i] = rest[i] + d[i % 3];
    };
}

} // namespace pli_test

#endif
