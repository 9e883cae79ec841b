/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <cmath>
#include <functional>
#include <string>

#include "support/bodies.h"
#include "support/fixture.h"

extern "C" {
#include "body/cut_check.h"
#include "scheme/tetlod/tetlod.h"
}

using namespace pli_test;

namespace
{

/// Six coefficients of which 0, 2, 5 are active and 3 follows; two of three elements; one sample.
struct Small {
    std::vector<PliIndex> active{ 0, 2, 5 }, slave{ 3 }, slave_first{ 0, 2 }, slave_column{ 0, 5 }, element{ 0, 2 };
    std::vector<PliIndex> sample_first{ 0, 2 }, sample_dof{ 2, 3 };
    std::vector<double> mass{ 1, 2, 3 }, slave_weight{ 0.5, 0.5 }, volume{ 0.1, 0.2 }, sample_volume{ 0.3 };
    PliSchemeStatic statics{};
    PliIndex active_count = 3;

    Small()
    {
        statics.dof_count = 6, statics.tet_count = 3;
        statics.active_capacity = 3, statics.slave_capacity = 1, statics.element_capacity = 2;
        statics.sample_capacity = 1, statics.slave_entry_capacity = 2, statics.sample_entry_capacity = 2;
    }
    bool is_valid(std::string *why) const
    {
        PliCut c{};
        c.active = active.data(), c.active_count = active_count, c.mass = mass.data();
        c.slave = slave.data(), c.slave_count = PliIndex(slave.size());
        c.slave_first = slave_first.data(), c.slave_column = slave_column.data(), c.slave_weight = slave_weight.data();
        c.element = element.data(), c.volume = volume.data(), c.element_count = PliIndex(element.size());
        c.sample_count = 1, c.sample_first = sample_first.data(), c.sample_dof = sample_dof.data();
        c.sample_volume = sample_volume.data();
        PliError err{};
        const bool valid = pli_cut_is_valid(&c, &statics, &err);
        *why = err.text;
        return valid;
    }
};

} // namespace

TEST(Cut, EveryPromiseThatIsBrokenIsFound)
{
    std::string why;
    ASSERT_TRUE(Small().is_valid(&why)) << why;
    const std::pair<std::function<void(Small &)>, const char *> broken[] = {
        { [](Small &s) { s.active_count = 0; }, "no coefficient is active" },
        { [](Small &s) { s.statics.active_capacity = 2; }, "3 coefficients are active, room is for 2" },
        { [](Small &s) { s.statics.slave_capacity = 0; }, "1 coefficients follow" },
        { [](Small &s) { s.statics.element_capacity = 1; }, "2 elements are live" },
        { [](Small &s) { s.statics.sample_capacity = 0; }, "1 samples are live" },
        { [](Small &s) { s.statics.slave_entry_capacity = 1; }, "rows of followers have 2 entries" },
        { [](Small &s) { s.statics.sample_entry_capacity = 1; }, "samples have 2 entries" },
        { [](Small &s) { s.active[2] = 6; }, "coefficient 6 is active, there are 6" },
        { [](Small &s) { s.active[1] = 0; }, "out of order" },
        { [](Small &s) { s.mass[1] = 0; }, "coefficient 2 weighs 0 kg" },
        { [](Small &s) { s.mass[1] = NAN; }, "coefficient 2 weighs" },
        { [](Small &s) { s.slave[0] = 2; }, "follower 2 is active" },
        { [](Small &s) { s.slave_column[1] = 4; }, "follows 4, which is not active" },
        { [](Small &s) { s.slave_weight[0] = NAN; }, "follower 3 follows 0" },
        { [](Small &s) { s.element[1] = 3; }, "live element 3 is not one of 3" },
        { [](Small &s) { s.element[1] = 0; }, "live element 0" },
        { [](Small &s) { s.volume[0] = -1; }, "element 0 stands for -1 m3" },
        { [](Small &s) { s.volume[0] = INFINITY; }, "element 0 stands for inf m3" },
        { [](Small &s) { s.sample_volume[0] = NAN; }, "sample 0 stands for" },
        { [](Small &s) { s.sample_dof[0] = 6; }, "sample 0 leans on coefficient 6" },
    };
    for (const auto &[damage, sentence] : broken) {
        Small s;
        damage(s);
        EXPECT_FALSE(s.is_valid(&why)) << sentence;
        EXPECT_NE(why.find(sentence), std::string::npos) << "said: " << why;
    }
}

#ifndef NDEBUG
/// In debug builds a body looks at its scheme after each change of the cut.
TEST(CutDeathTest, ADamagedSchemeIsNoticedAtTheNextCut)
{
    Mesh coarse = box(2, 2, 2), fine = box(4, 4, 4);
    const PliMesh *levels[] = { coarse.get(), fine.get() };
    PliTetLodDef def = pli_tetlod_default();
    def.levels = levels, def.level_count = 2;
    PliHost host = pli_host_default();
    PliError err{};
    Body body(pli_tetlod_create(&host, &def, &err));
    ASSERT_TRUE(body) << err.text;
    pli_body_recut(body.get());
    auto *tetlod = static_cast<PliTetLod *>(pli_body_self(body.get()));
    EXPECT_DEATH((tetlod->set->mass[tetlod->set->active[0]] *= 2, pli_body_recut(body.get())),
                 "after a change of the cut");
}
#endif
