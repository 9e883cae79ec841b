/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "support/fixture.h"

extern "C" {
#include "base/assert.h"
}

#ifdef NDEBUG
TEST(Assert, IsNotEvaluatedInReleaseBuilds)
{
    int looked = 0;
    PLI_ASSERT(++looked == 5, "looked %d times", looked);
    EXPECT_EQ(looked, 0);
}
#else
TEST(AssertDeathTest, SaysWhereAndWhatAndStops)
{
    int looked = 0;
    PLI_ASSERT(++looked == 1, "looked %d times", looked);
    EXPECT_EQ(looked, 1);
    EXPECT_DEATH(PLI_ASSERT(looked == 5, "looked %d times", looked),
                 "assert_test.cpp:[0-9]+: a defect of pliant itself: looked 1 times");
}
#endif
