/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <QApplication>
#include <QFileInfo>
#include <QSurfaceFormat>
#include <QTimer>
#include <cstdio>
#include <cstdlib>

#include <pliant/registry.h>

#include "viewer/window.h"

extern "C" {
#include "output/options.h"
}

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

namespace
{

struct Options {
    const char *scene = nullptr, *picture = nullptr, *sequence = nullptr, *colour = nullptr, *size = "1280x720",
               *device = nullptr, *body = nullptr;
    int steps = 0, bench = 0, width = 0, height = 0;
    bool play = false;
    bool batch() const { return picture || sequence || bench > 0; }
};

PliOption row(const char *name, const char *argument, const char *help, PliOptionKind kind, void *value)
{
    PliOption o{};
    o.name = name, o.argument = argument, o.help = help, o.kind = kind, o.value = value;
    return o;
}

/// Before Qt is asked for anything: --help and mistakes need no display. @return false: the program ends with *code
bool readOptions(Options *o, int argc, char **argv, int *code)
{
    PliOption steps =
        row("steps", "N", "with --screenshot or --sequence: steps to run (0)", PLI_OPTION_INTEGER, &o->steps);
    PliOption bench =
        row("bench", "N", "draw N pictures with new positions in every pane, print what they cost, and quit",
            PLI_OPTION_INTEGER, &o->bench);
    PliOption colour = row("colour", "NAME", "level, error, stress or speed", PLI_OPTION_TEXT, &o->colour);
    PliOption picture =
        row("screenshot", "FILE", "run --steps, write the window to FILE, and quit", PLI_OPTION_TEXT, &o->picture);
    PliOption sequence = row("sequence", "DIR", "run --steps, write every step as PNG into DIR, and quit",
                             PLI_OPTION_TEXT, &o->sequence);
    PliOption size = row("size", "WxH", "window size (1280x720)", PLI_OPTION_TEXT, &o->size);
    PliOption device = row("device", "NAME", "a haptic device holds the first tool; pliant haptic --list has the names",
                           PLI_OPTION_TEXT, &o->device);
    PliOption body =
        row("body", "NAME", "with --device: the body that is felt (the first with a tool)", PLI_OPTION_TEXT, &o->body);
    steps.most = 2e9;
    bench.least = 1, bench.most = 100000;
    colour.choices = "level error stress speed";
    picture.needs = "a file", sequence.needs = "a folder", size.needs = "a width and a height, as 1280x720";
    const PliOption options[] = { row("play", nullptr, "start playing at once", PLI_OPTION_FLAG, &o->play),
                                  steps,
                                  picture,
                                  sequence,
                                  bench,
                                  colour,
                                  device,
                                  body,
                                  size };
    PliWords words = { &o->scene, 0, 1 };
    PliCommandLine line{};
    line.program = "pliant view";
    line.synopsis = "SCENE [OPTIONS]";
    line.about =
        "Shows the bodies of a scene side by side.\n\n"
        "Space play/pause   N or . step   R reset   Ctrl+R reload   Ctrl+O open   1..6 one pane   L link cameras\n"
        "S picture   W wireframe   Ctrl+A axes   Ctrl+B background   F11 full screen   Esc quit\n"
        "Drag turns, right drag pans, the wheel zooms; Shift+drag moves a tool or pulls the body, in every pane";
    line.ending =
        "Exit codes: 0 done, 2 bad command line, 3 the scene cannot be shown or there is no display, 4 a file is "
        "missing or cannot\nbe written.";
    line.option = options, line.option_count = int(sizeof options / sizeof *options);
    line.words = &words, line.least_words = 1, line.word_name = "scene";
    if (!pli_options_read(&line, argc, argv, code)) return false;
    char rest;
    if (sscanf(o->size, "%dx%d%c", &o->width, &o->height, &rest) != 2 || o->width < 100 || o->height < 100 ||
        o->width > 16384 || o->height > 16384) {
        *code = pli_options_refuse(&line, "--size needs %s, each from 100 to 16384, not '%s'", size.needs, o->size);
        return false;
    }
    if (!QFileInfo(o->scene).isReadable()) {
        pli_options_refuse(&line, "%s: there is no such file, or it cannot be read", o->scene);
        return *code = 4, false;
    }
    if (o->sequence && !QFileInfo(o->sequence).isWritable()) {
        pli_options_refuse(&line, "--sequence %s: there is no such folder, or it cannot be written", o->sequence);
        return *code = 4, false;
    }
    // Qt would abort
    if (!getenv("DISPLAY") && !getenv("WAYLAND_DISPLAY") && !getenv("QT_QPA_PLATFORM")) {
        pli_options_refuse(&line, "there is no display: DISPLAY, WAYLAND_DISPLAY and QT_QPA_PLATFORM are not set; "
                                  "xvfb-run makes one");
        return *code = 3, false;
    }
    return true;
}

/// Runs the steps, then writes what was asked for and ends the program.
void runBatch(QApplication &app, viewer::Window &window, const Options &o)
{
    QObject::connect(&window, &viewer::Window::failed, &app, [&app] { app.exit(3); });
    auto *timer = new QTimer(&app);
    QObject::connect(timer, &QTimer::timeout, &app, [&, timer] {
        const auto shot = window.session()->current();
        const bool arrived = shot && shot->step >= qulonglong(o.steps);
        // a scene that cannot go on stops by itself, maybe before its first step
        const bool stuck = window.session()->stuck();
        if (!window.ready() || !shot || !(arrived || stuck)) return;
        timer->stop();
        QTimer::singleShot(300, &app, [&] {
            int code = 0;
            if (o.picture && !window.saveScreenshot(o.picture)) {
                fprintf(stderr, "pliant view: %s cannot be written\n", o.picture);
                code = 4;
            }
            if (o.bench > 0) printBench(window.bench(o.bench));
            app.exit(code);
        });
    });
    timer->start(30);
}

} // namespace

int main(int argc, char **argv)
{
    Options o;
    int code = 0;
    if (!readOptions(&o, argc, argv, &code)) return code;
    PliError err = {};
    if (pli_scheme_load_list(getenv("PLIANT_SCHEMES"), &err) != PLI_OK) {
        fprintf(stderr, "pliant-view: %s\n", err.text);
        return 2;
    }
    QCoreApplication::setAttribute(Qt::AA_EnableHighDpiScaling);
    QCoreApplication::setAttribute(Qt::AA_ShareOpenGLContexts);
    QSurfaceFormat format;
    format.setDepthBufferSize(24);
    format.setSamples(4);
    QSurfaceFormat::setDefaultFormat(format);
    int one = 1;
    QApplication app(one, argv);
    QCoreApplication::setApplicationName("pliant-view");
    setlocale(LC_NUMERIC, "C"); // scenes are written with points, whatever the desktop says
    if (o.batch()) qputenv("PLIANT_VIEW_QUIET", "1");

    viewer::Window window(QString::fromLocal8Bit(o.scene), QString::fromLocal8Bit(o.device),
                          QString::fromLocal8Bit(o.body));
    window.resize(o.width, o.height);
    QObject::connect(&window, &viewer::Window::loaded, &app, [&] {
        const QStringList colours = { "level", "error", "stress", "speed" };
        if (o.batch() || o.colour) window.setColour(viewer::Colour(colours.indexOf(o.colour ? o.colour : "level")));
        if (o.sequence) window.saveSequence(QString::fromLocal8Bit(o.sequence));
        if (o.batch())
            window.session()->playUntil(qulonglong(o.steps));
        else if (o.play)
            window.session()->play(true);
    });
    if (o.batch()) runBatch(app, window, o);
    window.show();
    return app.exec();
}
