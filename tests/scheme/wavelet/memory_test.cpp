/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Memory that ends anywhere: bodies are refused in a sentence, steps go on with fewer details or say that there is no room.
#include "scheme/wavelet/support.h"
#include "support/fixture.h"

using namespace wavelet_test;

TEST(WaveletMemory, aBodyWithoutMemoryIsRefusedInASentence)
{
    for (const auto law : { PLI_WAVELET_QUASI_LINEAR, PLI_WAVELET_NONLINEAR }) {
        PliWaveletDef d = box(2, 1, 1);
        d.law = law;
        bool made = false;
        for (long blocks = 0; !made && blocks < 5000; ++blocks) {
            pliant_test::WatchedHost watched;
            watched.quiet = true;
            watched.fail_after = blocks;
            PliError err{};
            PliBody *body = pli_wavelet_create(&watched.host, &d, &err);
            made = body != nullptr;
            ASSERT_TRUE(made || err.text[0] != 0) << blocks;
            pli_body_destroy(body);
        }
        EXPECT_TRUE(made);
    }
}

TEST(WaveletMemory, stepsThatFindNoneRefuseOrGoOnWithFewerDetails)
{
    bool grown = false, refused = false;
    for (long blocks = 0; blocks < 60; ++blocks) {
        pliant_test::WatchedHost watched;
        watched.quiet = true;
        PliWaveletDef d = box(3, 3, 1);
        d.base.criterion.threshold = 1e-3;
        Body b(d, &watched.host);
        b.clamp(2);
        PliTool tool{};
        tool.shape = PLI_TOOL_SPHERE, tool.radius = 0.5;
        tool.position[0] = 1.6, tool.position[1] = 1.4, tool.position[2] = 1.45;
        watched.fail_after = blocks;
        PliError err{};
        const PliStatus status = pli_body_set_tools(b.body, &tool, 1, &err);
        ASSERT_TRUE(status == PLI_OK || (status == PLI_OUT_OF_MEMORY && err.text[0] != 0)) << blocks;
        refused |= status != PLI_OK;
        if (status != PLI_OK) continue;
        for (int s = 0; s < 12; ++s) (void)b.step(0.01);
        for (const double x : b.x) ASSERT_TRUE(std::isfinite(x)) << blocks;
        watched.fail_after = -1; // memory is there again
        for (int s = 0; s < 12; ++s) (void)b.step(0.01);
        ASSERT_TRUE(b.step(0.01)) << blocks;
        grown |= pli_wavelet_info(b.body).activated > 0;
    }
    EXPECT_TRUE(refused);
    EXPECT_TRUE(grown);
}
