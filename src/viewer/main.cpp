/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <QApplication>
#include <QCommandLineParser>
#include <QFileInfo>
#include <QSurfaceFormat>
#include <QTimer>
#include <cstdio>

#include "viewer/window.h"

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
    parser.setApplicationDescription("Shows the bodies of a scene side by side.\n\n"
                                     "Space play/pause   N or . step   R reset   Ctrl+R reload   Ctrl+O open   1..6 one pane   L link cameras\n"
                                     "S picture   W wireframe   Ctrl+B background   F11 full screen   Esc quit   Shift+drag moves the tool");
    parser.addHelpOption();
    parser.addPositionalArgument("scene", "the .scn file");
    const QCommandLineOption play("play", "start playing at once");
    const QCommandLineOption steps("steps", "with --screenshot: steps to run first", "N", "0");
    const QCommandLineOption picture("screenshot", "run --steps, write the window to FILE, and quit", "FILE");
    const QCommandLineOption colour("colour", "level, error, stress or speed", "NAME", "level");
    const QCommandLineOption size("size", "window size", "WxH", "1280x720");
    parser.addOptions({ play, steps, picture, colour, size });
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
        fprintf(stderr, "pliant-view: --colour %s: it is one of level, error, stress, speed\n", qPrintable(parser.value(colour)));
        return 2;
    }
    if (parser.isSet(picture)) qputenv("PLIANT_VIEW_QUIET", "1");

    viewer::Window window(scene);
    const QStringList wh = parser.value(size).split('x');
    if (wh.size() == 2) window.resize(wh[0].toInt(), wh[1].toInt());
    window.show();
    viewer::Session *session = window.session();
    QObject::connect(session, &viewer::Session::loaded, &window, [&] {
        window.setColour(viewer::Colour(colours.indexOf(parser.value(colour))));
        if (parser.isSet(picture))
            session->playUntil(parser.value(steps).toULongLong());
        else if (parser.isSet(play))
            session->play(true);
    });
    int code = 0;
    if (parser.isSet(picture)) {
        const qulonglong wanted = parser.value(steps).toULongLong();
        QObject::connect(session, &viewer::Session::failed, &app, [&] { app.exit(code = 3); });
        auto *timer = new QTimer(&app);
        QObject::connect(timer, &QTimer::timeout, &app, [&, timer, wanted] {
            const auto shot = session->latest();
            if (!window.ready() || !shot || shot->step < wanted) return;
            timer->stop();
            QTimer::singleShot(300, &app, [&] {
                code = window.saveScreenshot(parser.value(picture)) ? 0 : 4;
                if (code) fprintf(stderr, "pliant-view: could not write %s\n", qPrintable(parser.value(picture)));
                app.exit(code);
            });
        });
        timer->start(30);
    }
    return app.exec();
}
