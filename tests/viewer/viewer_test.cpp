/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Drives the real window as a person would: load, play, drag, change a slider, take a picture, replay, close.
#include <gtest/gtest.h>

#include <QApplication>
#include <QFile>
#include <QSlider>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QtTest/QtTest>

#include <pliant/mesh.h>

#include "viewer/window.h"

using namespace viewer;

namespace
{

/// Two boxes with one skin, so that there is a reference and an error.
QString writeScene(const QTemporaryDir &dir)
{
    PliHost host = pli_host_default();
    PliIndex cells[2] = { 3, 2 };
    for (int i = 0; i < 2; ++i) {
        PliBoxDef def = { { 0, 0, 0 }, { 0.2, 0.1, 0.1 }, { 2 * cells[i], cells[i], cells[i] }, 0, 1 };
        PliMesh *m = pli_mesh_box(&host, &def, nullptr);
        EXPECT_EQ(pli_mesh_find_surface(m), PLI_OK);
        EXPECT_EQ(pli_mesh_write_msh(m, qPrintable(dir.filePath(QString("box%1.msh").arg(i))), nullptr), PLI_OK);
        if (i == 0) {
            EXPECT_EQ(pli_mesh_write_obj(m, qPrintable(dir.filePath("skin.obj")), nullptr), PLI_OK);
        }
        pli_mesh_destroy(m);
    }
    QString text = "<Node name=\"root\" dt=\"0.01\" gravity=\"0 -9.81 0\">\n  <DefaultAnimationLoop/>\n";
    for (int i = 0; i < 2; ++i)
        text += QString("  <Node name=\"Body%1\"><FemModel name=\"model\" filename=\"box%1.msh\" skin=\"skin.obj\" youngModulus=\"40000\" damping=\"0.002\"/>\n"
                        "    <AdaptiveSolver/><MechanicalObject position=\"@model.position\"/>\n"
                        "    <BoxROI name=\"roi\" box=\"-0.01 -1 -1 0.001 1 1\"/><FixedProjectiveConstraint indices=\"@roi.indices\"/>\n"
                        "    <SphereTool model=\"@model\" radius=\"0.03\" position=\"0.16 0.2 0.05\"/></Node>\n")
                    .arg(i);
    text += "</Node>\n";
    const QString path = dir.filePath("scene.scn");
    QFile file(path);
    EXPECT_TRUE(file.open(QIODevice::WriteOnly));
    file.write(text.toUtf8());
    return path;
}

int colours(const QImage &image)
{
    QSet<QRgb> seen;
    for (int y = 0; y < image.height(); y += 2)
        for (int x = 0; x < image.width(); x += 2) seen.insert(image.pixel(x, y));
    return seen.size();
}

struct ViewerTest : testing::Test {
    QTemporaryDir dir;
    std::unique_ptr<Window> window;
    void SetUp() override
    {
        qputenv("PLIANT_VIEW_QUIET", "1");
        window = std::make_unique<Window>(writeScene(dir));
        window->resize(1280, 720);
        window->show();
        ASSERT_TRUE(QTest::qWaitFor([&] { return window->ready(); }, 20000));
        QTest::qWait(200);
    }
    std::vector<Pane *> panes() const
    {
        std::vector<Pane *> out;
        for (Pane *p : window->findChildren<Pane *>()) out.push_back(p);
        return out;
    }
    uint64_t step() const { return window->session()->latest()->step; }
};

} // namespace

TEST_F(ViewerTest, ShowsBothBodiesAndTheyDiffer)
{
    window->setColour(Colour::Stress);
    window->session()->playUntil(30);
    ASSERT_TRUE(QTest::qWaitFor([&] { return step() >= 30; }, 20000));
    QTest::qWait(200);
    const auto p = panes();
    ASSERT_EQ(p.size(), 2u);
    const QImage a = p[0]->grabFramebuffer(), b = p[1]->grabFramebuffer();
    EXPECT_GT(colours(a), 50); // not blank
    EXPECT_GT(colours(b), 50);
    EXPECT_NE(a, b);
    EXPECT_EQ(step(), 30u); // and it stopped where it was told to
}

TEST_F(ViewerTest, ColoursAreThoseOfTheLegend)
{
    // one level: the surface is level 0's hue, darkened by the light at most to a third
    const QColor expected = levelColour(0);
    const QImage a = panes()[0]->grabFramebuffer();
    long close = 0, body = 0;
    for (int y = 80; y < a.height() - 60; y += 2) {
        for (int x = 0; x < a.width(); x += 2) {
            const QColor c = a.pixelColor(x, y);
            if (c.saturation() < 60) continue; // background, tool, text
            ++body;
            close += qAbs(c.hsvHue() - expected.hsvHue()) <= 6;
        }
    }
    EXPECT_GT(body, 500);
    EXPECT_GT(close, body * 9 / 10);
}

TEST_F(ViewerTest, KeysPlayStepAndReset)
{
    QTest::keyClick(window.get(), Qt::Key_N);
    ASSERT_TRUE(QTest::qWaitFor([&] { return step() == 1; }, 5000));
    QTest::keyClick(window.get(), Qt::Key_Space);
    ASSERT_TRUE(QTest::qWaitFor([&] { return step() > 5; }, 10000));
    QTest::keyClick(window.get(), Qt::Key_Space);
    EXPECT_FALSE(window->session()->playing());
    QTest::keyClick(window.get(), Qt::Key_R);
    EXPECT_TRUE(QTest::qWaitFor([&] { return step() == 0; }, 10000));
    // one pane, then all again
    QTest::keyClick(window.get(), Qt::Key_2);
    EXPECT_FALSE(panes()[0]->isVisible());
    EXPECT_TRUE(panes()[1]->isVisible());
    QTest::keyClick(window.get(), Qt::Key_2);
    EXPECT_TRUE(panes()[0]->isVisible());
}

TEST_F(ViewerTest, DragMovesTheCameraAndShiftDragTheToolOfEveryBody)
{
    Pane *pane = panes()[0];
    const QPoint from(pane->width() / 2, pane->height() / 2);
    const float yaw = pane->camera()->yaw;
    QTest::mousePress(pane, Qt::LeftButton, Qt::NoModifier, from);
    QTest::mouseMove(pane, from + QPoint(40, 0));
    QMouseEvent move(QEvent::MouseMove, from + QPoint(40, 0), Qt::LeftButton, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(pane, &move);
    QTest::mouseRelease(pane, Qt::LeftButton, Qt::NoModifier, from + QPoint(40, 0));
    EXPECT_NE(pane->camera()->yaw, yaw);

    const float before = window->session()->latest()->tools.at(0).position[1];
    QTest::mousePress(pane, Qt::LeftButton, Qt::ShiftModifier, from);
    QMouseEvent down(QEvent::MouseMove, from + QPoint(0, 60), Qt::LeftButton, Qt::LeftButton, Qt::ShiftModifier);
    QApplication::sendEvent(pane, &down);
    QTest::keyClick(window.get(), Qt::Key_N);
    QTest::keyClick(window.get(), Qt::Key_N);
    ASSERT_TRUE(QTest::qWaitFor([&] { return step() >= 2; }, 5000));
    EXPECT_LT(window->session()->latest()->tools.at(0).position[1], before - 0.005f);
}

TEST_F(ViewerTest, SliderChangesTheBodyWhileItRuns)
{
    auto *young = window->findChild<QSlider *>("Young, Pa");
    ASSERT_TRUE(young);
    auto lowest = [&] {
        const auto shot = window->session()->latest();
        float y = 1;
        for (size_t i = 1; i < shot->bodies[0].points.size(); i += 3) y = std::min(y, shot->bodies[0].points[i]);
        return y;
    };
    window->session()->playUntil(60);
    ASSERT_TRUE(QTest::qWaitFor([&] { return step() >= 60; }, 20000));
    const float stiff = lowest();
    young->setValue(young->value() - 300); // four times softer
    window->session()->playUntil(120);
    ASSERT_TRUE(QTest::qWaitFor([&] { return step() >= 120; }, 20000));
    EXPECT_LT(lowest(), stiff - 0.005f);
}

TEST_F(ViewerTest, RecordReplayAndPicture)
{
    window->session()->record(true);
    window->session()->steer(0.16, 0.1, 0.05);
    window->session()->playUntil(10);
    ASSERT_TRUE(QTest::qWaitFor([&] { return step() >= 10; }, 10000));
    const auto first = window->session()->latest();
    window->session()->record(false);
    window->session()->replay();
    ASSERT_TRUE(QTest::qWaitFor([&] { return window->session()->latest() != first && step() == 10 && !window->session()->playing(); }, 20000));
    EXPECT_EQ(window->session()->latest()->bodies[1].points, first->bodies[1].points); // to the bit
    const QString path = dir.filePath("a.png");
    ASSERT_TRUE(window->saveScreenshot(path));
    EXPECT_GT(colours(QImage(path)), 100);
    EXPECT_FALSE(window->saveScreenshot(dir.filePath("no/such/folder/a.png")));
    EXPECT_TRUE(window->close());
}

TEST(Viewer, BadSceneIsSaidNotShown)
{
    QTemporaryDir dir;
    qputenv("PLIANT_VIEW_QUIET", "1");
    QFile file(dir.filePath("bad.scn"));
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
    file.write("<Node name=\"root\"><NoSuchThing/></Node>");
    file.close();
    Window window(dir.filePath("bad.scn"));
    QString text;
    QObject::connect(window.session(), &Session::failed, [&](const QString &t) { text = t; });
    EXPECT_TRUE(QTest::qWaitFor([&] { return !text.isEmpty(); }, 5000));
    EXPECT_TRUE(text.contains("NoSuchThing")) << qPrintable(text);
    EXPECT_FALSE(window.ready());
}

int main(int argc, char **argv)
{
    testing::InitGoogleTest(&argc, argv);
    QTemporaryDir home; // settings of a test stay with the test
    qputenv("XDG_CONFIG_HOME", home.path().toLocal8Bit());
    QApplication app(argc, argv);
    setlocale(LC_NUMERIC, "C");
    return RUN_ALL_TESTS();
}
