/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// What is refused and why: definitions before any work, steps with their cause, undone.
#include "body/body.h"
#include "support/bodies.h"

#include <gtest/gtest.h>

#include <pliant/frames.h>
#include <pliant/wavelet.h>

#include <cmath>
#include <cstring>
#include <cstdlib>
#include <functional>
#include <string>

using namespace pli_test;

namespace
{

/// Counts what it is asked for, and has no memory when told so.
struct Lender {
    int asked = 0;
    bool empty = false;
    PliHost host = pli_host_default();
    Lender()
    {
        host.user = this;
        host.alloc = [](size_t bytes, size_t align, void *user) -> void * {
            auto *self = static_cast<Lender *>(user);
            ++self->asked;
            return self->empty ? nullptr : std::aligned_alloc(align, (bytes + align - 1) / align * align);
        };
        host.release = [](void *block, size_t, void *) { std::free(block); };
        host.log = nullptr;
    }
};

Body fem(const PliMesh *mesh, const PliBodyDef &base, const PliHost *host = nullptr)
{
    PliHost plain = pli_host_default();
    PliFemDef def = pli_fem_default();
    def.base = base;
    def.mesh = mesh;
    return Body(pli_fem_create(host ? host : &plain, &def, nullptr));
}

/// The step is not done for this cause, says so with these words, and leaves the state alone.
void expect_undone(PliBody *b, State &s, double dt, PliStatus status, PliStepCause cause, const std::string &words)
{
    const std::vector<double> x = s.x, v = s.v;
    const PliStepInfo info = pli_body_step(b, &s.view, dt);
    EXPECT_EQ(info.status, status);
    EXPECT_EQ(info.cause, cause);
    EXPECT_FALSE(info.finite);
    PliError err;
    EXPECT_EQ(pli_step_check(&info, &err), status);
    EXPECT_EQ(err.status, status);
    EXPECT_NE(std::string(err.text).find(words), std::string::npos) << err.text;
    EXPECT_EQ(pli_step_check(&info, nullptr), status);
    // bitwise, as NaN differs from itself
    EXPECT_EQ(memcmp(s.x.data(), x.data(), x.size() * sizeof(double)), 0);
    EXPECT_EQ(memcmp(s.v.data(), v.data(), v.size() * sizeof(double)), 0);
}

PliBodyDef implicit(PliLinearSolver solver)
{
    PliBodyDef d = pli_body_default();
    d.integrator = PLI_IMPLICIT;
    d.linear_solver = solver;
    return d;
}

} // namespace

TEST(StepStatus, ADoneStepSaysSo)
{
    Mesh mesh = box(2, 2, 2);
    for (const PliBodyDef &d : { pli_body_default(), implicit(PLI_SOLVE_LDL) }) {
        Body b = fem(mesh.get(), d);
        State s(b.get());
        const PliStepInfo info = pli_body_step(b.get(), &s.view, 0.01);
        EXPECT_EQ(info.status, PLI_OK);
        EXPECT_EQ(info.cause, PLI_STEP_DONE);
        EXPECT_TRUE(info.finite);
        EXPECT_EQ(info.bad_dof, PLI_NONE);
        PliError err = { PLI_OK, "untouched" };
        EXPECT_EQ(pli_step_check(&info, &err), PLI_OK);
        EXPECT_STREQ(err.text, "untouched");
        if (d.integrator != PLI_IMPLICIT) {
            EXPECT_GE(info.substeps, info.needed_substeps);
            EXPECT_GT(info.needed_substeps, 0.0);
        }
    }
}

TEST(StepStatus, NotFinite)
{
    Mesh mesh = box(2, 2, 2);
    for (const PliBodyDef &d : { pli_body_default(), implicit(PLI_SOLVE_CG), implicit(PLI_SOLVE_LDL) }) {
        Body b = fem(mesh.get(), d);
        State s(b.get());
        s.v[3 * 7 + 1] = NAN;
        expect_undone(b.get(), s, 0.01, PLI_DIVERGED, PLI_STEP_NOT_FINITE, "no longer finite");
        s.v[3 * 7 + 1] = 0.0;
        EXPECT_EQ(pli_body_step(b.get(), &s.view, 0.01).status, PLI_OK); // the body is whole
    }
}

TEST(StepStatus, NotFiniteNamesTheCoefficient)
{
    Mesh mesh = box(2, 2, 2);
    Body b = fem(mesh.get(), pli_body_default());
    State s(b.get());
    const PliIndex held[] = { 7 };
    ASSERT_EQ(pli_body_set_fixed(b.get(), held, 1, nullptr),
              PLI_OK); // it moves with the velocity given, and stays a NaN
    s.v[3 * 7] = NAN;
    const PliStepInfo info = pli_body_step(b.get(), &s.view, 1e-9);
    ASSERT_EQ(info.cause, PLI_STEP_NOT_FINITE);
    EXPECT_LE(info.bad_dof, 7u); // neighbours before it took over the NaN, or it is the first
    PliError err;
    pli_step_check(&info, &err);
    EXPECT_NE(std::string(err.text).find("coefficient " + std::to_string(info.bad_dof)), std::string::npos) << err.text;
}

TEST(StepStatus, Runaway)
{
    Mesh mesh = box(2, 2, 2);
    PliBodyDef d = pli_body_default();
    Body b = fem(mesh.get(), d);
    State s(b.get());
    for (size_t i = 0; i < s.v.size(); i += 3) s.v[i] = 1e10;
    expect_undone(b.get(), s, 0.01, PLI_DIVERGED, PLI_STEP_RUNAWAY, "ran away at coefficient 0");
}

TEST(StepStatus, TooManySubsteps)
{
    Mesh mesh = box(2, 2, 2);
    Body b = fem(mesh.get(), pli_body_default());
    State s(b.get());
    expect_undone(b.get(), s, 1e9, PLI_BAD_ARGUMENT, PLI_STEP_TOO_MANY_SUBSTEPS, "explicit substeps");
    expect_undone(b.get(), s, NAN, PLI_BAD_ARGUMENT, PLI_STEP_TOO_MANY_SUBSTEPS, "dt needs nan");
    EXPECT_EQ(pli_body_step(b.get(), &s.view, 0.01).status, PLI_OK);
}

TEST(StepStatus, NoRoomForTheActiveSet)
{
    Mesh mesh = box(2, 2, 2);
    Body b = fem(mesh.get(), pli_body_default());
    State s(b.get());
    b->live.refused = PLI_OVER_CAPACITY; // what the kernel says of a cut larger than a scheme announced
    expect_undone(b.get(), s, 0.01, PLI_OVER_CAPACITY, PLI_STEP_NO_ROOM, "exceeds what was reserved");
}

TEST(StepStatus, NoMemoryForTheMatrixAndThenThereIs)
{
    Lender lender;
    Mesh mesh = box(2, 2, 2);
    Body b = fem(mesh.get(), implicit(PLI_SOLVE_LDL), &lender.host);
    ASSERT_TRUE(b);
    State s(b.get());
    lender.empty = true; // the pattern is made in the first step
    expect_undone(b.get(), s, 0.01, PLI_OUT_OF_MEMORY, PLI_STEP_NO_ROOM, "no memory for the matrix");
    lender.empty = false;
    EXPECT_EQ(pli_body_step(b.get(), &s.view, 0.01).status, PLI_OK);
}

TEST(StepStatus, SolverFailed)
{
    Mesh mesh = box(2, 2, 2);
    Body b = fem(mesh.get(), implicit(PLI_SOLVE_LDL));
    State s(b.get());
    expect_undone(b.get(), s, 1e200, PLI_DIVERGED, PLI_STEP_SOLVER_FAILED, "found no solution"); // dt^2 is infinite
    EXPECT_EQ(pli_body_step(b.get(), &s.view, 0.01).status, PLI_OK);
}

// Every create function refuses a definition that no default function made, or whose values are wrong, before it asks for any memory.
TEST(DefinitionCheck, ComesBeforeAnyWork)
{
    Mesh mesh = box(4, 4, 4), coarse = box(2, 2, 2);
    const PliMesh *levels[] = { coarse.get(), mesh.get() };
    using Make = std::function<PliBody *(const PliHost *, PliBodyDef, PliError *)>;
    auto with = [](auto plain, auto create) -> Make {
        return [plain, create](const PliHost *host, PliBodyDef change, PliError *err) {
            auto def = plain;
            if (change.cookie != PLI_DEF_COOKIE) def.base.cookie = change.cookie;
            if (std::isnan(change.gravity[0])) def.base.gravity[0] = NAN;
            if (change.courant != 0.8) def.base.courant = change.courant;
            return create(host, &def, err);
        };
    };
    PliFemDef fem_def = pli_fem_default();
    fem_def.mesh = mesh.get();
    PliTetLodDef tetlod_def = pli_tetlod_default();
    tetlod_def.levels = levels;
    tetlod_def.level_count = 2;
    PliFramesDef frames_def = pli_frames_default();
    frames_def.mesh = mesh.get();
    frames_def.resolution = 8;
    frames_def.frame_count = 4;
    PliWaveletDef wavelet_def = pli_wavelet_default();
    wavelet_def.mesh = mesh.get();
    wavelet_def.resolution = 2;
    const std::pair<const char *, Make> schemes[] = { { "fem", with(fem_def, pli_fem_create) },
                                                      { "tetlod", with(tetlod_def, pli_tetlod_create) },
                                                      { "frames", with(frames_def, pli_frames_create) },
                                                      { "wavelet", with(wavelet_def, pli_wavelet_create) } };
    for (const auto &[name, make] : schemes) {
        SCOPED_TRACE(name);
        Lender lender;
        PliError err;
        { // as it is, it is made: the refusals below are for the change
            Body b(make(&lender.host, pli_body_default(), &err));
            ASSERT_TRUE(b) << err.text;
        }
        PliBodyDef no_cookie = pli_body_default(), no_number = no_cookie, no_range = no_cookie;
        no_cookie.cookie = 0;
        no_number.gravity[0] = NAN;
        no_range.courant = 3.0;
        const std::pair<PliBodyDef, const char *> wrong[] = { { no_cookie, "not made by a pli_*_default function" },
                                                              { no_number, "gravity is not finite" },
                                                              { no_range, "courant must be in (0, 1], not 3" } };
        for (const auto &[def, words] : wrong) {
            lender.asked = 0;
            EXPECT_EQ(make(&lender.host, def, &err), nullptr);
            EXPECT_EQ(err.status, PLI_BAD_ARGUMENT);
            EXPECT_NE(std::string(err.text).find(words), std::string::npos) << err.text;
            EXPECT_EQ(lender.asked, 0) << words;
        }
    }
}
