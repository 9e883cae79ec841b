/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <QApplication>
#include <QCommandLineParser>
#include <QFileInfo>
#include <QSurfaceFormat>
#include <QTimer>
#include <cstdio>

#include "viewer/window.h"

static void printBench(const viewer::BenchResult &r)
{
    const int each = int(r.triangles) / qMax(r.panes, 1);
    printf("%d pictures of %d panes, %d triangles each, all positions new in every picture; ms per picture:\n",
           r.frames, r.panes, each);
    printf("  %8.2f  our own work (normals, colours, vertices), CPU of the window's thread\n", r.pack);
    printf("  %8.2f  painting, CPU of the window's thread: the above, Qt's text, and OpenGL's part in this thread\n",
           r.paint);
    printf("  %8.2f  by the wall, %.1f pictures a second; software OpenGL's rasteriser is in it, when that is what "
           "draws\n",
           r.wall, 1e3 / qMax(r.wall, 1e-9));
}

int main(int argc, char **argv)
{
    QCoreApplication::setAttribute(Qt::AA_EnableHighDpiScaling);
    QCoreApplication::setAttribute(Qt::AA_ShareOpenGLContexts);
    QSurfaceFormat format;
    format.setDepthBufferSize(24);
    format.setSamples(4);
    QSurfaceFormat::setDefaultFormat(format);
    QApplication app(argc, argv);
    QCoreApplication::setApplicationName("pliant-view");
    setlocale(LC_NUMERIC, "C"); // scenes are written with points, whatever the desktop says

    QCommandLineParser parser;
    parser.setApplicationDescription(
        "Shows the bodies of a scene side by side.\n\n"
        "Space play/pause   N or . step   R reset   Ctrl+R reload   Ctrl+O open   1..6 one pane   L link cameras\n"
        "S picture   W wireframe   Ctrl+A axes   Ctrl+B background   F11 full screen   Esc quit\n"
        "Drag turns, right drag pans, the wheel zooms; Shift+drag moves a tool or pulls the body, in every pane");
    parser.addHelpOption();
    parser.addPositionalArgument("scene", "the .scn file");
    const QCommandLineOption play("play", "start playing at once");
    const QCommandLineOption steps("steps", "with --screenshot: steps to run first", "N", "0");
    const QCommandLineOption picture("screenshot", "run --steps, write the window to FILE, and quit", "FILE");
    const QCommandLineOption colour("colour", "level, error, stress or speed", "NAME", "level");
    const QCommandLineOption sequence("sequence", "with --steps: write every step as PNG into DIR, and quit", "DIR");
    const QCommandLineOption bench(
        "bench", "draw N pictures of the window with new positions in every pane, print what they cost, and quit", "N");
    const QCommandLineOption size("size", "window size", "WxH", "1280x720");
    parser.addOptions({ play, steps, picture, sequence, bench, colour, size });
    parser.process(app);
    if (parser.positionalArguments().size() != 1) {
        fprintf(stderr, "pliant-view: give one scene; --help says more\n");
        return 2;
    }
    const QString scene = parser.positionalArguments().first();
    if (!QFileInfo(scene).isReadable()) {
        fprintf(stderr, "pliant-view: %s: there is no such file, or it cannot be read\n", qPrintable(scene));
        return 4;
    }
    const QStringList colours = { "level", "error", "stress", "speed" };
    if (!colours.contains(parser.value(colour))) {
        fprintf(stderr, "pliant-view: --colour %s: it is one of level, error, stress, speed\n",
                qPrintable(parser.value(colour)));
        return 2;
    }
    const bool batch = parser.isSet(picture) || parser.isSet(sequence) || parser.isSet(bench);
    const int benchFrames = parser.value(bench).toInt();
    if (parser.isSet(bench) && (benchFrames < 1 || benchFrames > 100000)) {
        fprintf(stderr, "pliant-view: --bench %s: it is a number of pictures from 1 to 100000\n",
                qPrintable(parser.value(bench)));
        return 2;
    }
    if (parser.isSet(sequence) && !QFileInfo(parser.value(sequence)).isWritable()) {
        fprintf(stderr, "pliant-view: --sequence %s: there is no such folder, or it cannot be written\n",
                qPrintable(parser.value(sequence)));
        return 4;
    }
    if (batch) qputenv("PLIANT_VIEW_QUIET", "1");

    viewer::Window window(scene);
    const QStringList wh = parser.value(size).split('x');
    if (wh.size() == 2) window.resize(wh[0].toInt(), wh[1].toInt());
    window.show();
    viewer::Session *session = window.session();
    QObject::connect(session, &viewer::Session::loaded, &window, [&] {
        if (batch || parser.isSet(colour)) window.setColour(viewer::Colour(colours.indexOf(parser.value(colour))));
        if (parser.isSet(sequence)) window.saveSequence(parser.value(sequence));
        if (batch)
            session->playUntil(parser.value(steps).toULongLong());
        else if (parser.isSet(play))
            session->play(true);
    });
    int code = 0;
    if (batch) {
        const qulonglong wanted = parser.value(steps).toULongLong();
        QObject::connect(session, &viewer::Session::failed, &app, [&] { app.exit(code = 3); });
        auto *timer = new QTimer(&app);
        QObject::connect(timer, &QTimer::timeout, &app, [&, timer, wanted] {
            const auto shot = session->current();
            if (!window.ready() || !shot || (shot->step < wanted && session->playing()) ||
                (wanted > 0 && shot->step == 0))
                return;
            timer->stop();
            QTimer::singleShot(300, &app, [&] {
                if (parser.isSet(picture) && !window.saveScreenshot(parser.value(picture))) {
                    fprintf(stderr, "pliant-view: could not write %s\n", qPrintable(parser.value(picture)));
                    code = 4;
                }
                if (parser.isSet(bench)) printBench(window.bench(benchFrames));
                app.exit(code);
            });
        });
        timer->start(30);
    }
    return app.exec();
}
