/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Which preconditioner a body ends up with, when steps take given iterations with either.
extern "C" {
#include "solver/pick.h"
}

#include <gtest/gtest.h>

namespace
{

/// 200 steps. @return how often it changed its mind
int play(PliPick *p, PliIndex count, int with_factor, int with_cycles)
{
    int changes = 0;
    for (int step = 0; step < 200; ++step) {
        pli_pick_note(p, count, p->cycles ? with_cycles : with_factor);
        const bool cycles = pli_pick_cycles(p);
        changes += cycles != p->cycles;
        p->cycles = cycles;
    }
    return changes;
}

} // namespace

TEST(Pick, EndsWithWhatIsCheaper)
{
    for (int factor = 2; factor < 400; factor = factor * 5 / 4 + 1)
        for (int cycles : { 6, 9, 12, 20, 60 }) {
            PliPick p = {};
            const int changes = play(&p, 1000, factor, cycles);
            EXPECT_LE(changes, 2) << factor << " " << cycles;
            if (factor > 60 && factor > 4 * cycles) {
                EXPECT_TRUE(p.cycles) << factor << " " << cycles;
            }
            if (factor < cycles) {
                EXPECT_FALSE(p.cycles) << factor << " " << cycles;
            }
        }
}

TEST(Pick, AnotherSizeIsAnotherQuestion)
{
    PliPick p = {};
    play(&p, 1000, 100, 9);
    EXPECT_TRUE(p.cycles);
    pli_pick_note(&p, 300, 40); // what cycles take here says nothing of what a factor took there
    EXPECT_EQ(p.spent[0], 0.0);
    EXPECT_EQ(p.spent[1], 40.0);
}
