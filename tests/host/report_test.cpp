/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// The report as a reader meets it: well formed, complete, self-contained, and never half written.
#include <gtest/gtest.h>

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <tinyxml2.h>

#include "base/timer.h"
#include "host/compare/figures.h"
#include "host/report/report.h"
#include "host/report/plot.h"
#include "support/kinematic.h"
#include "support/fold.h"

using namespace pli_test;

namespace
{

struct Text : PliText {
    Text() : PliText{} {}
    ~Text() { pli_text_free(this); }
    std::string str() const { return data ? std::string(data, bytes) : std::string(); }
};

struct Folder {
    std::string path;
    Folder()
    {
        std::string name = (std::filesystem::temp_directory_path() / "pliant-report-XXXXXX").string();
        path = mkdtemp(name.data());
    }
    ~Folder() { std::filesystem::remove_all(path); }
};

size_t count_of(const std::string &text, const std::string &part)
{
    size_t n = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
    return n;
}

std::string read(const std::string &path)
{
    std::ifstream in(path, std::ios::binary);
    std::stringstream s;
    s << in.rdbuf();
    return s.str();
}

/// Reference, two that finish (one with a hostile name), one that diverges, one that cannot.
struct Story {
    Box reference, good, sweep, wild, never;
    Comparison comparison;
    PliChapter chapter = {};
    PliReportDef def = {};
    PliFact fact = { "processor", "a <fast> one & more" };
    Story()
    {
        Box *all[] = { &reference, &good, &sweep, &wild, &never };
        const char *name[] = { "Reference", "<b>&\"good\"", "good 2", "Wild", "Never" };
        for (int k = 0; k < 5; ++k) {
            all[k]->name = name[k];
            all[k]->move = glide(1.0, 0.02 * k, 0.0, 27);
            all[k]->tools.resize(1);
            all[k]->tools[0].shape = PLI_TOOL_SPHERE;
            all[k]->tools[0].radius = 0.2;
            all[k]->drive = [](int step, PliTool *tools) { tools[0].force[1] = step; };
        }
        reference.each = [](int) { // dearer than the others, or nobody else is on the front
            for (const double end = pli_cpu_ms() + 1.0; pli_cpu_ms() < end;) {}
        };
        good.curve = sweep.curve = "threshold";
        good.parameters = "threshold=0.1";
        wild.fail_at = 14;
        never.unable = "springs need a closed surface";
        comparison = compare({ &reference, &good, &sweep, &wild, &never }, 20);
        chapter.comparison = comparison.get();
        chapter.title = "A poke, \"held\"";
        chapter.scene = "scenes/compare/poke.scn";
        def.chapter = &chapter;
        def.count = 1;
        def.command = "pliant compare 'a b.scn' --set @x.y=\"1\"";
        def.facts = &fact;
        def.fact_count = 1;
    }
};

/// Bodies that are too far off have a sentence and marked figures; one that is near, and the reference's own scheme, have none.
TEST(Report, WarnsOfBodiesThatAreTooFarOff)
{
    Story story;
    ASSERT_TRUE(story.comparison);
    PliComparison *c = story.comparison.get();
    PliOutcome *o = &c->outcome[1];
    snprintf(o->scheme, sizeof o->scheme, "other");
    const struct {
        double error, force;
        const char *sentence;
        int marks;
    } cases[] = {
        { 0.099, 0.149, "", 0 },
        { 0.25, 0.1, "<b>&\"good\" is off by 25 % of the largest displacement", 1 },
        { 0.05, 0.4, "the tool force on <b>&\"good\" is off by 40 %", 1 },
        { 0.25, 0.4, "<b>&\"good\" is off by 25 % of the largest displacement, and the tool force on it by 40 %", 2 },
        { 0.05, NAN, "", 0 },
    };
    for (int k = 0; k < c->count; ++k) c->outcome[k].error_rms = c->outcome[k].force_error = 0.0;
    for (const auto &one : cases) {
        char text[300];
        o->error_rms = one.error, o->force_error = one.force;
        pli_doubt_sentence(c, o, text, sizeof text);
        EXPECT_STREQ(text, one.sentence);
        Text t;
        ASSERT_EQ(pli_report_html(&story.def, &t), PLI_OK);
        EXPECT_EQ(count_of(t.str(), "<td class=\"doubt\">"), size_t(one.marks)) << one.sentence;
        EXPECT_EQ(count_of(t.str(), "Warning: "), size_t(one.marks > 0));
    }
    char text[300];
    // when the uniform bodies are far off as well, the load is to be doubted, and the sentence says so
    PliOutcome *uniform = &c->outcome[2];
    snprintf(uniform->scheme, sizeof uniform->scheme, "%s", c->outcome[c->reference].scheme);
    o->error_rms = 0.25, o->force_error = 0.0;
    for (const double far : { 0.0, 0.099, 0.19 }) {
        uniform->error_rms = far;
        pli_doubt_sentence(c, o, text, sizeof text);
        EXPECT_EQ(strstr(text, "the closest uniform body is off by 19 %") != nullptr, far > 0.1) << text;
    }
    o->error_rms = 0.5;
    snprintf(o->scheme, sizeof o->scheme, "%s", c->outcome[c->reference].scheme);
    pli_doubt_sentence(c, o, text, sizeof text);
    EXPECT_STREQ(text, "");
}

TEST(Report, HtmlIsWellFormedCompleteAndNeedsNoNetwork)
{
    Story story;
    ASSERT_TRUE(story.comparison);
    Text t;
    ASSERT_EQ(pli_report_html(&story.def, &t), PLI_OK);
    const std::string html = t.str();
    ASSERT_EQ(html.find("<!DOCTYPE html>"), 0u);
    tinyxml2::XMLDocument doc;
    ASSERT_EQ(doc.Parse(html.c_str() + html.find("<html")), tinyxml2::XML_SUCCESS) << doc.ErrorStr();
    std::string prose; // without the pictures, whose letters spell anything
    for (size_t at = 0, begin; at < html.size(); at = html.find('"', begin)) {
        begin = html.find("base64,", at);
        prose += html.substr(at, begin == std::string::npos ? begin : begin - at);
        if (begin == std::string::npos) break;
    }
    // nothing from outside, nothing that runs
    for (const char *bad :
         { "http:", "https:", "<script", "@import", "url(", "<link", "<iframe", "nan", "-inf", ">inf" })
        EXPECT_EQ(prose.find(bad), std::string::npos) << bad;
    EXPECT_EQ(count_of(html, "src="), count_of(html, "src=\"data:image/png;base64,"));
    // everybody is there, with their reason
    for (const char *part : { "&lt;b&gt;&amp;&quot;good&quot;", "diverged at t = 0.15 s: element 3 turned inside out",
                              "cannot do this scene: springs need a closed surface", "the reference", "Pareto front",
                              "A poke, &quot;held&quot;", "scenes/compare/poke.scn", "@x.y=&quot;1&quot;",
                              "a &lt;fast&gt; one &amp; more", "threshold=0.1", "cost of the reference" })
        EXPECT_NE(html.find(part), std::string::npos) << part;
    EXPECT_EQ(html.find("<b>&"), std::string::npos);
    // pictures: 4 instants; by level for the three that finish, by error for two of them, and Wild as far as it got (2 of 4)
    EXPECT_EQ(count_of(html, "<img "), 4u * 3 + 4 * 2 + 2 * 2);
    EXPECT_EQ(count_of(html, "diverged before"), 4u);
    // plots: cost, 7 series (one tool), 3 histograms
    EXPECT_EQ(count_of(html, "<svg "), 1u + 7 + 3);
}

TEST(Report, PlotsPutNumbersWhereTheyBelong)
{
    const double x[] = { 1, 2, 3, 4 }, y[] = { 10, 1000, NAN, 100 };
    PliCurve curve = {};
    curve.label = "a & b";
    curve.x = x;
    curve.y = y;
    curve.count = 4;
    curve.mark = PLI_LINE_AND_DOTS;
    PliPlot plot = {};
    plot.title = "title";
    plot.x_label = "x";
    plot.y_label = "y";
    plot.log_y = true;
    plot.width = 600;
    plot.height = 300;
    plot.curve = &curve;
    plot.count = 1;
    Text t;
    pli_plot_svg(&t, &plot);
    tinyxml2::XMLDocument doc;
    ASSERT_EQ(doc.Parse(t.data), tinyxml2::XML_SUCCESS) << doc.ErrorStr();
    std::vector<double> cx, cy;
    for (auto *e = doc.FirstChildElement()->FirstChildElement("circle"); e; e = e->NextSiblingElement("circle")) {
        cx.push_back(e->DoubleAttribute("cx"));
        cy.push_back(e->DoubleAttribute("cy"));
    }
    ASSERT_EQ(cx.size(), 3u);                             // the NaN has no dot
    EXPECT_NEAR(cx[1] - cx[0], (cx[2] - cx[0]) / 3, 0.2); // linear in x
    EXPECT_NEAR(cy[0] - cy[2], cy[2] - cy[1], 0.2);       // logarithmic in y, upwards
    EXPECT_EQ(count_of(t.str(), "M"),
              count_of(t.str(), "class=\"grid\"") + 2 + 1 + 1); // the line breaks at the NaN; frame; legend
    curve.count = 0;
    Text empty;
    pli_plot_svg(&empty, &plot); // nothing to show is still a plot
    EXPECT_EQ(doc.Parse(empty.data), tinyxml2::XML_SUCCESS);
    EXPECT_EQ(empty.str().find("nan"), std::string::npos);
}

TEST(Report, LongSeriesKeepTheirPeaks)
{
    std::vector<double> x(20000), y(20000, 1.0);
    for (size_t k = 0; k < x.size(); ++k) x[k] = static_cast<double>(k);
    y[12345] = 50.0;
    PliCurve curve = {};
    curve.x = x.data();
    curve.y = y.data();
    curve.count = x.size();
    PliPlot plot = {};
    plot.title = plot.x_label = plot.y_label = "";
    plot.from_zero = true;
    plot.width = 600;
    plot.height = 300;
    plot.curve = &curve;
    plot.count = 1;
    Text t;
    pli_plot_svg(&t, &plot);
    EXPECT_LT(t.bytes, 20000u);
    std::string line = t.str().substr(t.str().find("class=\"curve\""));
    double top = 1e9;
    for (size_t at = line.find_first_of("ML"); at != std::string::npos; at = line.find_first_of("ML", at + 1)) {
        double px, py;
        if (std::sscanf(line.c_str() + at + 1, "%lf %lf", &px, &py) == 2) top = smallest_of(top, py);
    }
    EXPECT_LT(top, 60.0);
}

TEST(Report, TicksAreRoundAndInside)
{
    double tick[16];
    for (double span : { 1e-7, 0.03, 1.0, 7.3, 9999.0 }) {
        const double low = -0.37 * span, high = 0.63 * span;
        const int n = pli_plot_ticks(low, high, false, tick, 16);
        EXPECT_GE(n, 3) << span;
        EXPECT_LE(n, 9) << span;
        for (int k = 0; k < n; ++k) {
            EXPECT_GE(tick[k], low - 1e-12 * span);
            EXPECT_LE(tick[k], high + 1e-12 * span);
            if (k > 1) {
                EXPECT_NEAR(tick[k] - tick[k - 1], tick[1] - tick[0], 1e-9 * span);
            }
        }
    }
    const int n = pli_plot_ticks(0.3, 2000.0, true, tick, 16);
    ASSERT_EQ(n, 4);
    EXPECT_NEAR(tick[0], 1.0, 1e-12);
    EXPECT_NEAR(tick[3], 1000.0, 1e-9);
    EXPECT_GE(pli_plot_ticks(1.5, 6.0, true, tick, 16), 2); // less than a decade
}

TEST(Report, CsvHasOneRowPerBodyAndEqualColumns)
{
    Story story;
    Text t, series;
    pli_report_bodies_csv(&story.def, &t);
    pli_report_series_csv(&story.def, &series);
    const auto columns = [](const std::string &row) {
        size_t n = 1;
        bool quoted = false;
        for (char c : row) {
            if (c == '"') quoted = !quoted;
            n += c == ',' && !quoted;
        }
        return n;
    };
    for (const std::string &text : { t.str(), series.str() }) {
        std::stringstream in(text);
        std::string head, row;
        std::getline(in, head);
        size_t rows = 0;
        for (; std::getline(in, row); ++rows) EXPECT_EQ(columns(row), columns(head)) << row;
        EXPECT_EQ(rows, text == t.str() ? 5u : 21u + 21 + 21 + 15);
        EXPECT_EQ(text.find("nan"), std::string::npos);
    }
    EXPECT_NE(t.str().find("\"<b>&\"\"good\"\"\""), std::string::npos);
    EXPECT_NE(t.str().find(",diverged,element 3 turned inside out,"), std::string::npos);
    EXPECT_NE(t.str().find(",unable,springs need a closed surface,"), std::string::npos);
}

TEST(Report, PicturesShowTheBodyAndDiffer)
{
    Story story;
    std::set<std::string> seen;
    for (int body = 0; body < 3; ++body)
        for (PliPictureKind kind : { PLI_PICTURE_BY_LEVEL, PLI_PICTURE_BY_ERROR }) {
            PliPicture *p = pli_report_picture(&story.chapter, body, 3, kind, 120, 90);
            ASSERT_TRUE(p);
            std::set<int> colours;
            for (int k = 0; k < 120 * 90; ++k) colours.insert(p->pixel[k].r << 16 | p->pixel[k].g << 8 | p->pixel[k].b);
            EXPECT_GT(colours.size(), 50u); // not blank
            seen.insert(std::string(reinterpret_cast<char *>(p->pixel), 3 * 120 * 90));
            pli_picture_destroy(p);
        }
    EXPECT_EQ(seen.size(), 6u);
    EXPECT_EQ(pli_report_picture(&story.chapter, 3, 3, PLI_PICTURE_BY_LEVEL, 120, 90), nullptr); // diverged before
    PliPicture *wide = pli_report_panorama(&story.chapter, 3, 600, 300);
    ASSERT_TRUE(wide);
    EXPECT_EQ(wide->width, 600);
    pli_picture_destroy(wide);
}

TEST(Report, TheErrorColourIsTheLegends)
{
    Box reference, other;
    reference.move = glide(1.0, 0.0, 0.0, 27);
    other.move = glide(1.0, 0.2, 0.0, 27); // 20 % at the end: the brightest colour
    Comparison c = compare({ &reference, &other }, 10);
    PliChapter chapter = {};
    chapter.comparison = c.get();
    PliPicture *p = pli_report_picture(&chapter, 1, 3, PLI_PICTURE_BY_ERROR, 100, 80);
    ASSERT_TRUE(p);
    const PliColour full = pli_map_value(1.0);
    int bright = 0;
    for (int k = 0; k < 100 * 80; ++k) { // any shade of it: the channels keep their ratios
        const PliColour s = p->pixel[k];
        bright += s.r > 60 && std::abs(s.g * full.r - s.r * full.g) < 3 * 255 &&
                  std::abs(s.b * full.r - s.r * full.b) < 3 * 255;
    }
    EXPECT_GT(bright, 500);
    pli_picture_destroy(p);
}

TEST(Report, FilesAreWholeOrNotThere)
{
    Folder folder;
    const std::string path = folder.path + "/deep/er/report.html";
    PliError err = {};
    ASSERT_EQ(pli_folder_make((folder.path + "/deep/er").c_str(), &err), PLI_OK) << err.text;
    ASSERT_EQ(pli_folder_make((folder.path + "/deep/er").c_str(), &err), PLI_OK); // twice is fine
    ASSERT_EQ(pli_file_replace(path.c_str(), "old", 3, &err), PLI_OK);
    // a full disk, as far as this process is concerned
    struct rlimit before, small = { 4096, RLIM_INFINITY };
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    small.rlim_max = before.rlim_max;
    signal(SIGXFSZ, SIG_IGN);
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    const std::string big(100000, 'x');
    const PliStatus status = pli_file_replace(path.c_str(), big.data(), big.size(), &err);
    setrlimit(RLIMIT_FSIZE, &before);
    EXPECT_EQ(status, PLI_BAD_FILE);
    EXPECT_NE(std::string(err.text).find("report.html: cannot be written: "), std::string::npos) << err.text;
    EXPECT_EQ(read(path), "old");                                                                   // nothing lost
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path + "/deep/er"), {}), 1); // nothing left over
    ASSERT_EQ(pli_file_replace(path.c_str(), big.data(), big.size(), &err), PLI_OK);
    EXPECT_EQ(read(path), big);
    // a folder that is a file, and one that cannot be
    EXPECT_EQ(pli_folder_make(path.c_str(), &err), PLI_BAD_FILE);
    EXPECT_EQ(pli_folder_make((path + "/x").c_str(), &err), PLI_BAD_FILE);
    EXPECT_NE(std::string(err.text).find("cannot be made"), std::string::npos) << err.text;
    EXPECT_EQ(pli_folder_make("", &err), PLI_BAD_FILE);
}

TEST(Report, Base64AndCsvFields)
{
    const struct {
        const char *plain, *coded;
    } pairs[] = { { "", "" },        { "f", "Zg==" },        { "fo", "Zm8=" },
                  { "foo", "Zm9v" }, { "foob", "Zm9vYg==" }, { "\xff\xfe\xfd", "//79" } };
    for (const auto &p : pairs) {
        Text t;
        pli_text_base64(&t, reinterpret_cast<const unsigned char *>(p.plain), std::strlen(p.plain));
        EXPECT_EQ(t.str(), p.coded);
    }
    Text t;
    pli_text_csv(&t, "plain");
    pli_text_csv(&t, "a,b");
    pli_text_csv(&t, "say \"hi\"\n");
    EXPECT_EQ(t.str(), "plain\"a,b\"\"say \"\"hi\"\"\n\"");
}

} // namespace
