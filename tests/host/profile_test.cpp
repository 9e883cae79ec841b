/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/host_scene.h"

#include <set>

using namespace pliant_test;

namespace
{

TEST(ProfileTable, EveryRowIsWhole)
{
    std::set<std::string> names;
    const PliClass *c;
    for (int i = 0; (c = pli_profile_at(i)); ++i) {
        EXPECT_TRUE(names.insert(c->name).second) << c->name << " is there twice";
        EXPECT_EQ(pli_profile_find(c->name), c);
        EXPECT_TRUE(c->plugin && *c->plugin) << c->name;
        EXPECT_TRUE(c->help && *c->help) << c->name;
        std::set<std::string> rows;
        const PliAttribute *row;
        for (int k = 0; (row = pli_class_row(c, k)); ++k) {
            std::string where = std::string(c->name) + "." + row->name;
            EXPECT_TRUE(rows.insert(row->name).second) << where << " is there twice";
            EXPECT_NE(pli_class_attribute(c, row->name), nullptr) << where << " is an alias that leads nowhere";
            EXPECT_NE(row->help, nullptr) << where;
            if (row->support == PLI_SUPPORTED) {
                EXPECT_NE(std::string(row->help), "") << where;
            }
            if (row->support == PLI_APPROXIMATED || row->support == PLI_NOT_SUPPORTED) {
                EXPECT_TRUE(row->reason && *row->reason) << where << " needs a reason";
            }
            if (row->kind == PLI_OPTION && row->role == PLI_IN) {
                EXPECT_NE(row->options, nullptr) << where;
            }
        }
    }
    EXPECT_EQ(pli_profile_at(pli_profile_count()), nullptr);
    EXPECT_EQ(pli_profile_find("NoSuchComponent"), nullptr);
}

TEST(ProfileTable, EveryDefaultReadsAsItsType)
{
    const PliClass *c;
    for (int i = 0; (c = pli_profile_at(i)); ++i) {
        PliDefaults def = {};
        if (c->defaults) c->defaults(&def);
        const PliAttribute *row;
        for (int k = 0; (row = pli_class_row(c, k)); ++k) {
            if (row->role != PLI_IN || row->support == PLI_VISUAL_ONLY) continue;
            char text[128];
            pli_attribute_text(row, c->defaults ? &def : nullptr, text, sizeof text);
            if (!*text || row->kind == PLI_TEXT || row->kind == PLI_FILE || row->kind == PLI_FILES ||
                row->kind == PLI_NEW_FILE)
                continue;
            // the attribute alone, given as its own default, must be accepted word for word
            HostScene s(node(std::string("<") + c->name + " " + row->name + "=\"" + text + "\"/>"));
            EXPECT_EQ(s.findings().find(std::string(row->name) + "="), std::string::npos)
                << c->name << ": " << s.findings();
            EXPECT_EQ(s.findings().find("unused"), std::string::npos) << c->name << ": " << s.findings();
        }
    }
}

TEST(ProfileTable, FieldsReadBackAsTheyWereWritten)
{
    const PliSchemeInfo *info = pli_scheme_find("tetlod");
    const PliAttributeGroup *g;
    for (int k = 0; (g = pli_scheme_group(info, k)); ++k)
        for (int i = 0; i < g->count; ++i) {
            const PliAttribute *row = &g->rows[i];
            PliTetLodDef def = pli_tetlod_default(), changed = def;
            char before[128], after[128];
            pli_attribute_text(row, &def, before, sizeof before);
            PliError err = {};
            if (row->size == 0 || row->kind == PLI_NEW_FILE) continue;
            EXPECT_EQ(pli_attribute_set(row, &changed, before, &err), PLI_OK) << row->name << ": " << err.text;
            EXPECT_EQ(memcmp(&def, &changed, sizeof def), 0)
                << row->name << "=\"" << before << "\" changed another field";
            const char *other = row->kind == PLI_BOOL     ? (before[0] == '1' ? "0" : "1")
                                : row->kind == PLI_VEC3   ? "7 8 9"
                                : row->kind == PLI_OPTION ? strrchr(row->options, ' ') + 1
                                                          : "7";
            EXPECT_EQ(pli_attribute_set(row, &changed, other, &err), PLI_OK) << row->name << ": " << err.text;
            pli_attribute_text(row, &changed, after, sizeof after);
            EXPECT_STREQ(after, other) << row->name;
            EXPECT_NE(pli_attribute_set(row, &changed, "what?", &err), PLI_OK) << row->name;
        }
}

// Every component stands alone in a scene with nothing but its defaults: it is made or refused in one sentence, never worse.
TEST(ProfileTable, EveryComponentSurvivesItsDefaults)
{
    const PliClass *c;
    for (int i = 0; (c = pli_profile_at(i)); ++i) {
        HostScene alone(node(std::string("<") + c->name + "/>"));
        ASSERT_NE(alone.scene, nullptr);
        if (alone.status) {
            EXPECT_NE(alone.findings(), "") << c->name << " was refused without a word";
        }
        HostScene company(node(std::string("<RegularGridTopology n=\"3 2 2\"/><MechanicalObject/><") + c->name + "/>"));
        ASSERT_NE(company.scene, nullptr);
        if (company.status) {
            EXPECT_NE(company.findings(), "") << c->name << " was refused without a word";
        }
        PliError err = {};
        if (company.good()) {
            EXPECT_EQ(pli_scene_step(company.scene, &err), PLI_OK) << c->name << ": " << err.text;
        }
    }
}

// The same with every attribute set to nonsense, one at a time.
TEST(ProfileTable, EveryAttributeSurvivesNonsense)
{
    const char *nonsense[] = {
        "", "@", "@[", "@/", "@..", "@.", "@[-1]", "-1", "1e308 1e308 1e308", "4294967295", "x", "@g.position", "@dofs"
    };
    const PliClass *c;
    for (int i = 0; (c = pli_profile_at(i)); ++i) {
        if (c->support == PLI_VISUAL_ONLY || strcmp(c->name, "VTKExporter") == 0 || strcmp(c->name, "WriteState") == 0)
            continue;
        const PliAttribute *row;
        for (int k = 0; (row = pli_class_row(c, k)); ++k) {
            if (row->support == PLI_VISUAL_ONLY || row->role == PLI_ALIAS) continue;
            for (const char *text : nonsense) {
                HostScene s(node(
                    std::string("<RegularGridTopology name=\"g\" n=\"3 2 2\"/><MechanicalObject name=\"dofs\"/><") +
                    c->name + " totalMass=\"1\" " + row->name + "=\"" + text + "\"/>"));
                ASSERT_NE(s.scene, nullptr);
                PliError err = {};
                if (s.good()) (void)!pli_scene_step(s.scene, &err);
            }
        }
    }
}

TEST(ProfileTable, NearestNames)
{
    EXPECT_STREQ(pli_profile_nearest("MechanicalObjct"), "MechanicalObject");
    EXPECT_EQ(pli_profile_nearest("Completely"), nullptr);
    EXPECT_STREQ(pli_class_nearest(pli_profile_find("UniformMass"), "totalmass"), "totalMass");
}

} // namespace
