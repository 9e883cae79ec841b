/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Every attribute of every registered scheme acts, or is refused with a sentence. A row below names a value; the body must then
// end elsewhere, count other things, or not be made. An attribute without a row is a failure: `EveryOneHasARow`.
#include "host/host_scene.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>
#include <sstream>

extern "C" {
#include <pliant/registry.h>
}

using namespace pliant_test;

namespace
{

enum What {
    ACTS,     ///< with the value the body ends in another state
    RUNNING,  ///< the same, and so it does when the value comes in the middle of the run
    SAME,     ///< another way to say what the scene says already: the same end
    REFUSED,  ///< no body, and a finding with the words of `with`
    ELSEWHERE ///< it needs a scene of its own: the test of this suite called `with`
};

struct Row {
    const char *scheme; ///< "*": every scheme that has the attribute and no row of its own for it
    const char *attribute, *value;
    What what;
    const char *with; ///< attributes of both runs, which win over those of the scheme, or as `what` says
};

const char *const implicit_cg = "integrator='implicit' linearSolver='cg' tolerance='1e-6'";
const char *const region = "criterion='region' point='0 0 0' radius='0.06'";

const Row rows[] = {
    { "*", "law", "corotational", RUNNING, "law='stvk'" },
    { "*", "youngModulus", "3e4", RUNNING, "" },
    { "*", "poissonRatio", "0.1", RUNNING, "" },
    { "*", "density", "1300", ACTS, "" },
    { "*", "damping", "0.003", RUNNING, "" },
    { "*", "integrator", "implicit", ACTS, "integrator='symplectic'" },
    { "*", "integrator", "auto", ACTS, "integrator='implicit' order='1'" },
    { "*", "linearSolver", "ldl", ACTS, "integrator='implicit' linearSolver='cg' tolerance='0.01'" },
    { "*", "order", "2", RUNNING, "integrator='implicit' order='1'" },
    { "*", "newton", "3", ACTS, "integrator='implicit'" },
    { "*", "newton", "0", REFUSED, "at least 1 linearisation" },
    { "*", "iterations", "2", RUNNING, implicit_cg },
    { "*", "tolerance", "0.3", RUNNING, implicit_cg },
    { "*", "massDamping", "30", RUNNING, "" },
    { "*", "rayleighStiffness", "0.02", RUNNING, "integrator='implicit'" },
    { "*", "courant", "0.3", RUNNING, "" },
    { "*", "multirate", "1", ACTS, "multirate='0'" },
    { "*", "spread", "0", RUNNING, "" },
    { "*", "criterion", "region", RUNNING, "point='0 0 0' radius='0.06'" },
    { "*", "threshold", "1e-9", RUNNING, "threshold='1000'" },
    { "*", "coarsen", "0.9", RUNNING, "coarsen='0.01' hold='0'" },
    { "*", "hold", "200", RUNNING, "hold='0' coarsen='0.9'" },
    { "*", "interval", "0.5", RUNNING, "interval='0'" },
    { "*", "smallestSize", "1e-9", RUNNING, "smallestSize='10'" },
    { "*", "point", "1 1 1", RUNNING, region },
    { "*", "radius", "0.001", RUNNING, region },
    { "*", "maxActive", "30", RUNNING, "" },
    { "*", "budget", "1e-6", RUNNING, "" },
    { "*", "accuracy", "2", ACTS, "" },
    { "*", "fallbackFilenames", "coarse.msh", ACTS, "accuracy='2'" },
    { "*", "fallbackLevels", "@../fine", SAME, "accuracy='2'" },
    { "*", "fallbackLaw", "neohookean", ACTS, "accuracy='2'" },
    { "*", "fallbackLaw", "neohookean", REFUSED, "no accuracy that asks for it" },
    { "*", "adapt", "0", RUNNING, "" },
    { "*", "stiffRegions", "0.05 0.08 0.05 0.03 4", ACTS, "" },
    { "*", "denseRegions", "0.05 0.08 0.05 0.03 4", ACTS, "" },
    { "*", "held", "0.05 0.05 0.1", ACTS, "integrator='implicit'" },
    { "*", "heldTo", "0.05 0.05 0.11", ACTS, "integrator='implicit' held='0.05 0.05 0.1'" },
    { "*", "heldTo", "0.05 0.05 0.11", REFUSED, "one for each" },
    { "*", "heldTime", "0.1", ACTS, "integrator='implicit' held='0.05 0.05 0.1' heldTo='0.05 0.05 0.11'" },
    { "*", "heldTime", "0.1", REFUSED, "for the points of heldTo" },
    { "*", "mesh", "@../fine", SAME, "" },
    { "*", "filename", "coarse.msh", ACTS, "" },

    { "fem", "sparseContact", "", ELSEWHERE, "SparseContactActsUnderAPlane" },
    { "fem", "multirate", "1", ACTS, "multirate='0' filename='mixed.msh'" },
    { "fem", "position", "0 0 0  0.1 0 0  0 0.1 0  0 0 0.1", ACTS,
      "filename='' position='0 0 0  0.1 0 0  0 0.1 0  0 0 0.2' tetrahedra='0 1 2 3'" },
    { "fem", "tetrahedra", "0 1 2 3 0 2 1 4", ACTS,
      "filename='' position='0 0 0  0.1 0 0  0 0.1 0  0 0 0.1  0.1 0.1 0.1' tetrahedra='0 1 2 3 1 2 3 4'" },

    { "tetlod", "filenames", "coarse.msh fine.msh", ACTS, "filenames='coarse.msh'" },
    { "tetlod", "criterion", "region", RUNNING, "point='0 0 0' radius='0.06'" },
    { "tetlod", "criterion", "recovered", RUNNING, "" },
    { "tetlod", "accuracy", "0.01", RUNNING, "" },
    { "tetlod", "accuracy", "2%", ACTS, "" },
    { "tetlod", "levels", "@../coarse @../fine", SAME, "" },
    { "tetlod", "coupling", "paper", ACTS, "" },
    { "tetlod", "ramp", "1", ACTS, "" },
    { "tetlod", "fitWeights", "1", ACTS, "" },
    { "tetlod", "filter", "1", ACTS, "" },
    { "tetlod", "speedChange", "1e-4", ACTS, "" },
    { "tetlod", "startLevel", "1", ACTS, "" },
    { "tetlod", "cache", "levels.cache", SAME, "" },

    { "frames", "poissonRatio", "0.1", ACTS, "" },
    { "frames", "integrator", "symplectic", REFUSED, "explicit" },
    { "frames", "spread", "0", RUNNING, "threshold='1000'" },
    { "frames", "anchors", "0 0 0  0.1 0.1 0.1", ACTS, "" },
    { "frames", "anchorLevels", "0 2", ACTS, "anchors='0 0 0  0.1 0.1 0.1' anchorLevels='0 1'" },
    { "frames", "levelFrames", "1 3 8", ACTS, "levelFrames='1 8'" },
    { "frames", "stiffnessFactors", "1 2", REFUSED, "2 values for" },
    { "frames", "stiffnessFactors", "1 9 ...", ACTS, "" },
    { "frames", "densityFactors", "1 2", REFUSED, "2 values for" },
    { "frames", "densityFactors", "1 9 ...", ACTS, "" },
    { "frames", "frames", "6", ACTS, "" },
    { "frames", "levelCount", "2", ACTS, "levelCount='3'" },
    { "frames", "resolution", "10", ACTS, "" },
    { "frames", "voxelSize", "0.011", ACTS, "" },
    { "frames", "lloydIterations", "1", ACTS, "" },
    { "frames", "shape", "smooth", ACTS, "shape='linear'" },
    { "frames", "support", "2.5", ACTS, "shape='smooth'" },
    { "frames", "materialAware", "0", ACTS, "stiffnessFactors='1 1 1 1 1 90 90 90 90 90 ...'" },
    { "frames", "regions", "9", ACTS, "" },
    { "frames", "linearity", "0.3", ACTS, "" },
    { "frames", "antilock", "on", ACTS, "antilock='off'" },
    { "frames", "massBlend", "0.5", ACTS, "" },
    { "frames", "merge", "0", ACTS, "" },
    { "frames", "mergeLinearity", "", ELSEWHERE, "MergeLinearityActsOnABar" },
    { "frames", "metric", "camera", ACTS, "point='1 1 1' radius='0.1'" },
    { "frames", "referenceEnergy", "10", ACTS, "" },
    { "frames", "growth", "0.05", ACTS, "" },
    { "frames", "polish", "0", ACTS, "" },

    { "wavelet", "poissonRatio", "0.1", ACTS, "" },
    { "wavelet", "accuracy", "2", REFUSED, "tetrahedra to fall back on" },
    { "wavelet", "accuracy", "2", ACTS, "fallbackFilenames='fine.msh'" },
    { "wavelet", "fallbackFilenames", "coarse.msh", ACTS, "accuracy='2'" },
    { "wavelet", "fallbackLevels", "@../fine", ACTS, "accuracy='2'" },
    { "wavelet", "fallbackLaw", "neohookean", ACTS, "accuracy='2' fallbackFilenames='fine.msh'" },
    { "wavelet", "integrator", "symplectic", REFUSED, "explicit" },
    { "wavelet", "law", "corotational", ACTS, "elasticity='nonlinear' law='stvk'" },
    { "wavelet", "law", "corotational", REFUSED, "elasticity nonlinear only" },
    { "wavelet", "filename", "fine.msh", ACTS, "" },
    { "wavelet", "mesh", "@../fine", ACTS, "" },
    { "wavelet", "stiffRegions", "0.05 0.08 0.05 0.03 4", ACTS, "" },
    { "wavelet", "stiffRegions", "0.05 0.08 0.05 0.03 4", ACTS, "elasticity='nonlinear'" },
    { "wavelet", "denseRegions", "0.05 0.08 0.05 0.03 4", ACTS, "" },
    { "wavelet", "denseRegions", "0.05 0.08 0.05 0.03 0", REFUSED, "factor of 0" },
    { "wavelet", "poissonRegions", "0.05 0.08 0.05 0.03 0.1", ACTS, "" },
    { "wavelet", "poissonRegions", "0.05 0.08 0.05 0.03 0.1", ACTS, "elasticity='nonlinear'" },
    { "wavelet", "poissonRegions", "0.05 0.08 0.05 0.03 0.5", REFUSED, "ratio of 0.5" },
    { "wavelet", "quadrature", "paper", ACTS, "" },
    { "wavelet", "stiffRegions", "0.05 0.08 0.05 0.03", REFUSED, "five" },
    { "wavelet", "stiffRegions", "0.05 0.08 0.05 0.03 -4", REFUSED, "factor of -4" },
    { "wavelet", "held", "0.05 0.05 0.1", ACTS, "" },
    { "wavelet", "held", "0.05 0.05 9", REFUSED, "outside the body" },
    { "wavelet", "surface", "tetrahedron.obj", ACTS, "" },
    { "wavelet", "cells", "2 2 1", ACTS, "" },
    { "wavelet", "resolution", "3", ACTS, "filename='fine.msh' min='' max='' cells=''" },
    { "wavelet", "min", "0 0 -0.01", ACTS, "" },
    { "wavelet", "max", "0.1 0.1 0.11", ACTS, "" },
    { "wavelet", "sharpAngle", "180", ACTS, "basis='bswx'" },
    { "wavelet", "refine", "1", ACTS, "" },
    { "wavelet", "detailLevels", "0", ACTS, "" },
    { "wavelet", "basis", "trilinear", ACTS, "" },
    { "wavelet", "smooth", "1", ACTS, "basis='trilinear' held='0.07 0.06 0.1' heldTo='0.07 0.06 0.12'" },
    { "wavelet", "smooth", "1", REFUSED, "basis trilinear only" },
    { "wavelet", "elasticity", "nonlinear", ACTS, "" },
    { "wavelet", "tangent", "rest", ACTS, "elasticity='nonlinear'" },
    { "wavelet", "tangent", "rest", REFUSED, "elasticity nonlinear only" },
    { "wavelet", "transition", "plain", ACTS, "" },
    { "wavelet", "transition", "paper", ACTS, "" },
    { "wavelet", "fade", "0.2", ACTS, "" },
    { "wavelet", "memory", "0.01", ACTS, "" },

    { "octree", "integrator", "implicit", REFUSED, "explicit steps only" },
    { "octree", "held", "0.05 0.05 0.1", REFUSED, "constraints need integrator" },
    { "octree", "heldTo", "0.05 0.05 0.1", REFUSED, "one for each" },
    { "octree", "heldTime", "0.1", REFUSED, "for the points of heldTo" },
    { "octree", "resolution", "4", ACTS, "" },
    { "octree", "levels", "1", ACTS, "" },
    { "octree", "startLevel", "1", ACTS, "" },
    { "octree", "operators", "paper", ACTS, "" },
    { "octree", "speedChange", "1e-4", ACTS, "" },

    { "springs", "integrator", "implicit", ACTS, "integrator='symplectic'" },
    // solved to more than some hundredths springs throw themselves apart
    { "springs", "tolerance", "0.001", RUNNING, implicit_cg },
    { "springs", "linearSolver", "ldl", ACTS, "integrator='implicit' linearSolver='cg' tolerance='0.003'" },
    { "springs", "integrator", "auto", REFUSED, "tetrahedra only" },
    { "springs", "fallbackFilenames", "fine.msh", ACTS, "accuracy='2'" },
    { "springs", "fallbackLevels", "@../coarse", SAME, "accuracy='2'" },
    { "springs", "basePoints", "20", ACTS, "" },
    { "springs", "detailLevels", "1", ACTS, "" },
    { "springs", "filename", "sheet.obj", REFUSED, "open" },
    { "springs", "filename", "fine.msh", ACTS, "" },
    { "springs", "open", "1", ACTS, "filename='sheet.obj' thickness='0.01'" },
    { "springs", "mesh", "@../coarse", SAME, "" },
    { "springs", "volume", "0", ACTS, "" },
    { "springs", "thickness", "0.003", ACTS, "" },
};

/// The least a scene must say to have a body of this scheme that adapts; files are in the folder of the scene.
std::string model_of(const std::string &scheme)
{
    std::string own = "filename='fine.msh'";
    if (scheme == "tetlod") own = "filenames='coarse.msh fine.msh' threshold='0.02'";
    if (scheme == "frames")
        own =
            "filename='fine.msh' frames='8' resolution='12' threshold='0.01' order='1'"; // which comes to rest in time
    if (scheme == "wavelet") own = "min='0 0 0' max='0.1 0.1 0.1' cells='2 2 2'";
    if (scheme == "octree") own = "filename='fine.msh' resolution='8' levels='2' threshold='0.01'";
    if (scheme == "springs") own = "filename='coarse.msh' threshold='0.01'";
    return own + " massDamping='10'";
}

constexpr size_t fine_tets = 5 * 4 * 4 * 4;

/// name='value' pairs, later ones instead of earlier ones; "1 2 ..." goes on for every tetrahedron of fine.msh.
std::string merged(const std::vector<std::string> &parts)
{
    std::vector<std::pair<std::string, std::string>> all;
    for (const std::string &text : parts)
        for (size_t at = 0, eq; (eq = text.find("='", at)) != std::string::npos;) {
            const size_t first = text.find_first_not_of(' ', at), end = text.find('\'', eq + 2);
            const std::string name = text.substr(first, eq - first);
            std::string value = text.substr(eq + 2, end - eq - 2);
            if (const size_t dots = value.find("..."); dots != std::string::npos) {
                std::istringstream words(value.substr(0, dots));
                const std::vector<std::string> word{ std::istream_iterator<std::string>(words), {} };
                value.clear();
                for (size_t i = 0; i < fine_tets; ++i) value += word[i % word.size()] + " ";
            }
            all.erase(std::remove_if(all.begin(), all.end(), [&](const auto &p) { return p.first == name; }),
                      all.end());
            if (!value.empty()) all.emplace_back(name, value);
            at = end + 1;
        }
    std::string out;
    for (const auto &[name, value] : all) out += name + "='" + value + "' ";
    return out;
}

/// Cells of one size, or wider ones along x.
void write_box(const Folder &folder, const char *name, PliIndex n, bool mixed = false)
{
    PliHost host = pli_host_default();
    PliBoxDef def = { { 0, 0, 0 }, { 0.1, 0.1, 0.1 }, { n, n, n }, 0.1, n };
    PliError err = {};
    std::unique_ptr<PliMesh, void (*)(PliMesh *)> mesh(pli_mesh_box(&host, &def, &err), pli_mesh_destroy);
    ASSERT_TRUE(mesh) << err.text;
    for (PliIndex i = 0; mixed && i < mesh->point_count; ++i) mesh->x[3 * i] *= 1.0 + 30.0 * mesh->x[3 * i];
    ASSERT_EQ(pli_mesh_write_msh(mesh.get(), folder.path(name).c_str(), &err), PLI_OK) << err.text;
}

/// What a run left behind: the state to the bit, and what was counted. Nothing that a clock says.
struct End {
    bool made = false;
    std::string findings;
    std::vector<uint64_t> what;
};

class Attributes : public testing::Test
{
  protected:
    Attributes()
    {
        write_box(m_folder, "coarse.msh", 2);
        write_box(m_folder, "fine.msh", 4);
        write_box(m_folder, "mixed.msh", 4, true);
        m_folder.write("tetrahedron.obj",
                       "v 0 0 0\nv 0.1 0.1 0\nv 0.1 0 0.1\nv 0 0.1 0.1\nf 1 2 3\nf 1 4 2\nf 1 3 4\nf 2 4 3\n");
        m_folder.write("sheet.obj", "v 0 0.1 0\nv 0.1 0.1 0\nv 0.1 0.1 0.1\nv 0 0.1 0.1\nf 1 3 2\nf 1 4 3\n");
    }

    /// A box that falls while a ball pokes it and leaves it again, for 36 steps; `later` is given after the first eight.
    End run(const PliSchemeInfo *info, const std::string &attributes, const PliAttribute *later = nullptr,
            const char *value = nullptr)
    {
        const std::string text = node(
            "<MeshGmshLoader name='fine' filename='fine.msh'/><MeshGmshLoader name='coarse' filename='coarse.msh'/>"
            "<Node name='body'><" +
                std::string(info->component) + " name='model' " + attributes +
                "/><AdaptiveSolver/><MechanicalObject name='dofs' position='@model.position'/>"
                "<SphereTool radius='0.015' position='0.06 0.116 0.05' keyTimes='0 0.08 0.16' "
                "movements='0 0 0  0 -0.02 0  0 0.05 0'/></Node>",
            "dt='0.01' gravity='0 -1 0'");
        HostScene s(HostScene::FromFile{}, m_folder.write("s.scn", text));
        End end;
        end.made = s.good();
        end.findings = s.findings();
        if (!end.made) return end;
        s.step(8);
        PliModel *m = pli_model_self(s.object("body/model"));
        if (later) {
            PliDefaults def = m->made;
            PliError err = {};
            EXPECT_EQ(pli_attribute_set(later, def.bytes, value, &err), PLI_OK) << err.text;
            const PliStatus status = info->retune ? info->retune(m->body, &def, &err)
                                                  : pli_body_retune(m->body, (const PliBodyDef *)&def, &err);
            if (status != PLI_OK) {
                end.made = false;
                end.findings = err.text;
                return end;
            }
        }
        for (int i = 0; i < 28; ++i) {
            s.step();
            const PliStats t = pli_body_stats(m->body);
            end.what.insert(end.what.end(), { t.active, t.elements, t.slaves, t.refined, t.coarsened, t.refused });
        }
        end.what.push_back(pli_scene_hash(s.scene));
        return end;
    }

    /// The rows of a scheme for an attribute: its own, or those of every scheme.
    static std::vector<const Row *> rows_for(const char *scheme, const char *attribute)
    {
        std::vector<const Row *> own, all;
        for (const Row &r : rows) {
            if (strcmp(r.attribute, attribute) != 0) continue;
            if (strcmp(r.scheme, scheme) == 0) own.push_back(&r);
            if (strcmp(r.scheme, "*") == 0) all.push_back(&r);
        }
        return own.empty() ? all : own;
    }

    void check(const PliSchemeInfo *info, const PliAttribute *attribute, const Row &r)
    {
        const std::string given = std::string(r.attribute) + "='" + r.value + "'", base = model_of(info->name);
        SCOPED_TRACE(std::string(info->component) + " " + given);
        if (r.what == ELSEWHERE) {
            const testing::TestSuite *suite = testing::UnitTest::GetInstance()->GetTestSuite(0);
            for (int i = 1; strcmp(suite->name(), "Attributes") != 0; ++i)
                suite = testing::UnitTest::GetInstance()->GetTestSuite(i);
            bool found = false;
            for (int i = 0; i < suite->total_test_count(); ++i)
                found = found || !strcmp(suite->GetTestInfo(i)->name(), r.with);
            EXPECT_TRUE(found) << "there is no test " << r.with;
            return;
        }
        if (r.what == REFUSED) {
            const End end = run(info, merged({ base, given }));
            EXPECT_FALSE(end.made);
            EXPECT_NE(end.findings.find(r.with), std::string::npos) << end.findings;
            return;
        }
        const End before = run(info, merged({ base, r.with }));
        ASSERT_TRUE(before.made || r.what == ACTS) << before.findings; // what makes a body possible acts, too
        // a mesh is given one way only
        const bool link = info->mesh.link && !strcmp(r.attribute, info->mesh.link) && info->mesh.file;
        const std::string instead = link ? std::string(info->mesh.file) + "=''" : "";
        const End after = run(info, merged({ base, r.with, instead, given }));
        ASSERT_TRUE(after.made) << after.findings;
        if (r.what == SAME)
            EXPECT_EQ(before.what, after.what) << "it says the same in other words, and the body ended elsewhere";
        else
            EXPECT_NE(before.what, after.what) << "it does nothing";
        if (r.what == RUNNING) {
            const End later = run(info, merged({ base, r.with }), attribute, r.value);
            ASSERT_TRUE(later.made) << later.findings;
            EXPECT_NE(before.what, later.what) << "it does nothing when it is set while the body runs";
        }
    }

    /// Of every attribute a scene may set: f(row of the registry).
    template <class F> static void each_input(const PliSchemeInfo *info, F f)
    {
        const PliAttributeGroup *group;
        for (int g = 0; (group = pli_scheme_group(info, g)); ++g)
            for (int i = 0; i < group->count; ++i)
                if (group->rows[i].role != PLI_OUT && group->rows[i].role != PLI_ALIAS) f(&group->rows[i]);
    }

    static bool refused_by_name(const PliSchemeInfo *info, const char *name)
    {
        const std::string all = " " + std::string(info->refuses ? info->refuses : "") + " ";
        return all.find(" " + std::string(name) + " ") != std::string::npos;
    }

    void check_scheme(const char *name)
    {
        const PliSchemeInfo *info = pli_scheme_find(name);
        ASSERT_TRUE(info) << name;
        each_input(info, [&](const PliAttribute *a) {
            if (refused_by_name(info, a->name)) {
                PliDefaults def = {};
                char text[64];
                info->defaults(def.bytes);
                pli_attribute_text(a, def.bytes, text, sizeof text);
                const char *value = a->kind == PLI_LINKS ? "@../fine" : *text ? text : "1";
                check(info, a, { name, a->name, value, REFUSED, "means nothing" });
                return;
            }
            for (const Row *r : rows_for(name, a->name)) check(info, a, *r);
        });
    }

    Folder m_folder;
};

TEST_F(Attributes, EveryOneHasARow)
{
    for (int i = 0; i < pli_scheme_count(); ++i) {
        const PliSchemeInfo *info = pli_scheme_at(i);
        each_input(info, [&](const PliAttribute *a) {
            EXPECT_TRUE(refused_by_name(info, a->name) || !rows_for(info->name, a->name).empty())
                << info->component << ": nothing shows that " << a->name << " acts or is refused; give it a row here";
        });
    }
}

TEST_F(Attributes, EveryRowIsOfAnAttribute)
{
    for (const Row &r : rows) {
        bool found = false;
        for (int i = 0; i < pli_scheme_count(); ++i)
            if (!strcmp(r.scheme, "*") || !strcmp(r.scheme, pli_scheme_at(i)->name))
                found = found || pli_scheme_attribute(pli_scheme_at(i), r.attribute);
        EXPECT_TRUE(found) << r.scheme << " " << r.attribute;
    }
}

/// Regions of two frames merge where strains hardly change, and only in slender bodies two frames share a region.
// Regions merge loosely at rest, where two frames are active: those whose origins are held, and no other may wake.
TEST_F(Attributes, MergeLinearityActsOnABar)
{
    uint64_t hash[2];
    for (int k = 0; k < 2; ++k) {
        HostScene s(node("<FramesModel name='model' filename='" PLIANT_SOURCE_DIR
                         "/scenes/meshes/bar_0.msh' frames='6' resolution='32' anchors='0.5 0.5 0  0.5 0.5 4' "
                         "maxActive='8' youngModulus='1e5' polish='0' mergeLinearity='" +
                             std::string(k ? "0.9" : "1e-12") +
                             "'/><AdaptiveSolver/><MechanicalObject position='@model.position'/>"
                             "<FixedProjectiveConstraint indices='3 7'/>",
                         "dt='0.01' gravity='0 -1 0'"));
        ASSERT_TRUE(s.good()) << s.findings();
        s.step(36);
        hash[k] = pli_scene_hash(s.scene);
    }
    EXPECT_NE(hash[0], hash[1]);
}

/// A mesh of few points in a skin of many; the ball of the other rows is too small for it to matter.
TEST_F(Attributes, SparseContactActsUnderAPlane)
{
    uint64_t hash[2];
    for (int k = 0; k < 2; ++k) {
        HostScene s(
            node("<FemModel name='model' filename='" PLIANT_SOURCE_DIR
                 "/scenes/meshes/box_0.msh' skin='" PLIANT_SOURCE_DIR "/scenes/compare/box_skin.obj' sparseContact='" +
                     std::to_string(k) +
                     "'/><AdaptiveSolver/><MechanicalObject position='@model.position'/>"
                     "<PlaneTool normal='0 -1 0' position='0 1 0' keyTimes='0 0.2' movements='0 0 0  0 -0.3 0'/>",
                 "dt='0.01' gravity='0 -1 0'"));
        ASSERT_TRUE(s.good()) << s.findings();
        s.step(20);
        hash[k] = pli_scene_hash(s.scene);
    }
    EXPECT_NE(hash[0], hash[1]);
}

TEST_F(Attributes, OfFemActOrAreRefused) { check_scheme("fem"); }
TEST_F(Attributes, OfTetLodActOrAreRefused) { check_scheme("tetlod"); }
TEST_F(Attributes, OfFramesActOrAreRefused) { check_scheme("frames"); }
TEST_F(Attributes, OfWaveletActOrAreRefused) { check_scheme("wavelet"); }
TEST_F(Attributes, OfOctreeActOrAreRefused) { check_scheme("octree"); }
TEST_F(Attributes, OfSpringsActOrAreRefused) { check_scheme("springs"); }

} // namespace
