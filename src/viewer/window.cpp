/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "viewer/window.h"

#include <QAction>
#include <QApplication>
#include <QCloseEvent>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QGridLayout>
#include <QLabel>
#include <QMessageBox>
#include <QPainter>
#include <QProgressBar>
#include <QSettings>
#include <QStatusBar>
#include <cmath>

namespace viewer
{

Window::Window(const QString &scene, const QString &device, const QString &body) : m_device(device), m_feltBody(body)
{
    setObjectName("pliant-view");
    resize(1280, 720);
    m_centre = new QWidget(this);
    m_grid = new QGridLayout(m_centre);
    m_grid->setContentsMargins(2, 2, 2, 2);
    m_grid->setSpacing(3);
    setCentralWidget(m_centre);
    m_status = new QLabel(this);
    m_where = new QLabel(this);
    m_loading = new QProgressBar(this);
    m_loading->setRange(0, 0); // how long a scene takes is not known before
    m_loading->setMaximumWidth(160);
    statusBar()->addWidget(m_status, 1);
    statusBar()->addPermanentWidget(m_loading);
    statusBar()->addPermanentWidget(m_where);
    connect(&m_loadClock, &QTimer::timeout, this,
            [this] { m_status->setText(QString("loading %1, %2 s").arg(m_path).arg(m_loadTime.elapsed() / 1000)); });
    buildControls();
    readSettings();
    open(scene);
}

Window::~Window() { m_session.reset(); }

// ---- what it remembers ---------------------------------------------------------------------------------------------------------

void Window::readSettings()
{
    QSettings settings("Pliant", "pliant-view");
    restoreGeometry(settings.value("geometry").toByteArray());
    restoreState(settings.value("state").toByteArray());
    for (const auto &t : m_toggles)
        t.first->setChecked(settings.value("show/" + t.first->objectName(), m_options.*t.second).toBool());
    for (QAction *a : m_overlays) a->setChecked(settings.value("show/" + a->objectName(), true).toBool());
    m_options.colour = Colour(qBound(0, settings.value("colour", 0).toInt(), int(Colour::Speed)));
    m_colours->blockSignals(true);
    m_colours->setCurrentIndex(m_colours->findData(int(m_options.colour)));
    m_colours->blockSignals(false);
    m_link->setChecked(settings.value("link", true).toBool());
}

void Window::closeEvent(QCloseEvent *e)
{
    QSettings settings("Pliant", "pliant-view");
    settings.setValue("geometry", saveGeometry());
    settings.setValue("state", saveState());
    for (const auto &t : m_toggles) settings.setValue("show/" + t.first->objectName(), t.first->isChecked());
    for (QAction *a : m_overlays) settings.setValue("show/" + a->objectName(), a->isChecked());
    settings.setValue("colour", int(m_options.colour));
    settings.setValue("link", m_link->isChecked());
    m_session->showEveryStep(false);
    m_session->play(false);
    QMainWindow::closeEvent(e);
}

// ---- a scene -------------------------------------------------------------------------------------------------------------------

void Window::open(const QString &scene)
{
    m_session.reset();
    for (Pane *p : m_panes) delete p;
    m_panes.clear();
    m_own.clear();
    m_ready = false;
    m_focus = -1;
    m_path = scene;
    setWindowTitle("Pliant - " + QFileInfo(scene).fileName());
    m_session = std::make_unique<Session>(scene);
    connect(m_session.get(), &Session::loaded, this, &Window::onLoaded);
    connect(m_session.get(), &Session::stepped, this, &Window::onStepped);
    connect(m_session.get(), &Session::busy, this, &Window::onBusy);
    connect(m_session.get(), &Session::message, this, [this](const QString &text) {
        m_status->setText(text);
        m_play->setChecked(m_session->playing());
        showPlaying();
    });
    connect(m_session.get(), &Session::failed, this, [this](const QString &text) {
        onBusy(false);
        m_status->setText(text);
        fprintf(stderr, "pliant-view: %s\n", qPrintable(text));
        emit failed(text);
        if (!m_ready && !qEnvironmentVariableIsSet("PLIANT_VIEW_QUIET")) QMessageBox::critical(this, "Pliant", text);
    });
    m_play->setChecked(false);
    m_record->setChecked(false);
    showPlaying();
    onBusy(true);
    m_session->setSpeed(m_speed->value());
    m_session->setColour(m_options.colour);
    m_session->feel(m_device, m_feltBody);
    m_session->start();
}

void Window::onBusy(bool busy)
{
    m_loading->setVisible(busy);
    if (busy) {
        m_loadTime.start();
        m_loadClock.start(250);
        m_status->setText("loading " + m_path);
    } else if (m_loadClock.isActive()) {
        m_loadClock.stop();
        m_status->clear();
    }
}

void Window::showPlaying() { m_play->setText(m_play->isChecked() ? "Pause" : "Play"); }

void Window::onLoaded()
{
    onBusy(false);
    const auto &infos = m_session->bodies();
    m_status->setText("Space plays; Shift+drag moves a tool or pulls the body; the wheel zooms");
    QVector3D lo(1e30f, 1e30f, 1e30f), hi = -lo;
    for (const BodyInfo &b : infos)
        for (size_t i = 0; i < b.rest.size(); ++i)
            lo[int(i % 3)] = qMin(lo[int(i % 3)], b.rest[i]), hi[int(i % 3)] = qMax(hi[int(i % 3)], b.rest[i]);
    m_shared = Camera();
    m_shared.fit(lo, hi);
    const Vec3 view = m_session->view();
    if (view != Vec3{}) m_shared.look(QVector3D(float(view[0]), float(view[1]), float(view[2])));
    enableOverlays();
    std::vector<QColor> lines;
    for (size_t i = 0; i < infos.size(); ++i) {
        lines.push_back(bodyColour(infos, i));
        auto *pane = new Pane(infos[i], int(i), lines.back(), &m_shared, &m_options, m_centre);
        pane->setObjectName(QString("pane%1").arg(i));
        connect(pane, &Pane::cameraMoved, this, &Window::redraw);
        connect(pane, &Pane::toolMoved, this, [this](int tool, Vec3 to) { m_session->steer(tool, to); });
        connect(pane, &Pane::skinPulled, this, [this](Vec3 at, Vec3 to) { m_session->grab(at, to); });
        connect(pane, &Pane::handOpened, this, [this] { m_session->letGo(); });
        m_panes.push_back(pane);
        m_own.push_back(std::make_unique<Camera>(m_shared));
    }
    linkCameras(m_link->isChecked());
    layoutPanes();
    for (Plot *p : m_plots) delete p;
    m_plots.clear();
    const struct {
        const char *title;
        bool log;
    } plots[] = { { "error against the reference, mm", false },
                  { "active coefficients", true },
                  { "step, ms CPU", true },
                  { "elastic + kinetic energy, J", false } };
    for (const auto &p : plots) {
        m_plots.push_back(new Plot(p.title, p.log, lines, m_plotBox));
        m_plotBox->layout()->addWidget(m_plots.back());
    }
    if (!m_device.isEmpty()) {
        m_plots.push_back(new Plot("force, N: hand (blue), tool (red)", false,
                                   { QColor(31, 119, 180), QColor(214, 39, 40) }, m_plotBox));
        m_plotBox->layout()->addWidget(m_plots.back());
    }
    m_feltState->setVisible(!m_device.isEmpty());
    buildSliders();
    m_ready = true;
    onStepped();
    emit loaded();
}

void Window::layoutPanes()
{
    const int n = int(m_panes.size());
    for (Pane *p : m_panes) m_grid->removeWidget(p), p->setVisible(false);
    if (m_focus >= 0 && m_focus < n) {
        m_grid->addWidget(m_panes[size_t(m_focus)], 0, 0);
        m_panes[size_t(m_focus)]->setVisible(true);
        return;
    }
    const int columns = n <= 1 ? 1 : n <= 4 ? 2 : 3;
    for (int i = 0; i < n; ++i) {
        m_grid->addWidget(m_panes[size_t(i)], i / columns, i % columns);
        m_panes[size_t(i)]->setVisible(true);
    }
}

void Window::showFelt(double time, const FeltShot &f)
{
    if (!f.on) {
        m_feltState->setText(f.wrong.c_str());
        return;
    }
    m_plots.back()->add(time, { f.force, f.simulated });
    m_feltState->setText(
        QString("%1 on %2: %3%4\n%5 N of %6 N, %7 N/m under it\n%8 Hz, %9 missed, %10")
            .arg(f.device.c_str(), f.body.c_str(), f.state.c_str(), f.wrong.empty() ? "" : ("\n" + f.wrong).c_str())
            .arg(f.force, 0, 'f', 2)
            .arg(f.limit, 0, 'f', 2)
            .arg(f.stiffness, 0, 'f', 0)
            .arg(f.rate, 0, 'f', 0)
            .arg(qulonglong(f.missed))
            .arg(f.priority ? QString("priority %1").arg(f.priority) : QString("no real-time priority")));
    m_feltState->setStyleSheet(f.state == "running" && f.wrong.empty() ? "" : "color: #b00020");
}

void Window::onStepped()
{
    const SnapshotPtr shot = m_session->latest();
    if (!m_ready || !shot || shot->bodies.size() != m_panes.size()) return;
    for (Pane *p : m_panes) p->show(shot);
    std::vector<double> error, dofs, ms, energy;
    for (const BodyShot &b : shot->bodies) {
        const bool gone = b.divergedAt >= 0;
        error.push_back(gone ? NAN : 1e3 * b.error);
        dofs.push_back(gone ? NAN : b.active);
        ms.push_back(gone ? NAN : b.stepMs);
        energy.push_back(gone ? NAN : b.energy);
    }
    m_plots[0]->add(shot->time, error);
    m_plots[1]->add(shot->time, dofs);
    if (shot->step > 0) m_plots[2]->add(shot->time, ms);
    m_plots[3]->add(shot->time, energy);
    if (!m_device.isEmpty()) showFelt(shot->time, shot->felt);
    m_where->setText(QString("t = %1 s, step %2").arg(shot->time, 0, 'f', 3).arg(qulonglong(shot->step)));
    m_play->setChecked(m_session->playing());
    showPlaying();
    if (m_sequenceFolder.isEmpty()) return;
    const QString name = QString("%1/frame-%2.png").arg(m_sequenceFolder).arg(m_frame++, 6, 10, QChar('0'));
    if (saveScreenshot(name)) return;
    saveSequence({});
    m_session->play(false);
    m_status->setText("could not write " + name + ": is the disk full, or the folder read-only?");
}

// ---- pictures ------------------------------------------------------------------------------------------------------------------

void Window::setColour(Colour colour)
{
    m_options.colour = colour;
    m_colours->setCurrentIndex(m_colours->findData(int(colour)));
    m_session->setColour(colour);
}

void Window::redraw()
{
    for (Pane *p : m_panes) p->update();
}

void Window::linkCameras(bool linked)
{
    for (size_t i = 0; i < m_panes.size(); ++i) {
        if (!linked) *m_own[i] = m_shared;
        m_panes[i]->setCamera(linked ? &m_shared : m_own[i].get());
    }
    redraw();
}

void Window::focusPane(int index)
{
    m_focus = m_focus == index ? -1 : index;
    layoutPanes();
}

bool Window::saveScreenshot(const QString &path)
{
    // a grabbed window shows OpenGL panes without the text painted over them: paste their own pictures
    QPixmap picture = grab();
    QPainter painter(&picture);
    for (Pane *p : m_panes)
        if (p->isVisible()) painter.drawImage(QRect(p->mapTo(this, QPoint(0, 0)), p->size()), p->grabFramebuffer());
    painter.end();
    return picture.save(path, "PNG");
}

void Window::takePicture()
{
    const SnapshotPtr shot = m_session->current();
    const QString path = QFileInfo(QString("pliant-%1.png").arg(shot ? qulonglong(shot->step) : 0, 6, 10, QChar('0')))
                             .absoluteFilePath();
    m_status->setText((saveScreenshot(path) ? "wrote " : "could not write ") + path);
}

void Window::saveSequence(const QString &folder)
{
    m_sequenceFolder = folder;
    m_frame = 0;
    m_sequence->setChecked(!folder.isEmpty());
    m_session->showEveryStep(!folder.isEmpty());
}

BenchResult Window::bench(int frames)
{
    BenchResult r;
    r.panes = int(m_panes.size());
    for (const BodyInfo &b : m_session->bodies()) r.triangles += b.tris.size() / 3;
    const SnapshotPtr shot = m_session->latest();
    const auto picture = [&] {
        for (Pane *p : m_panes) p->show(shot); // as after a step: everything is made anew
        const int before = m_panes.front()->painted();
        while (m_panes.front()->painted() == before) QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
    };
    for (int i = 0; i < 3; ++i) picture();
    for (Pane *p : m_panes) p->takeTimes();
    QElapsedTimer clock;
    clock.start();
    for (int i = 0; i < frames; ++i) picture();
    r.wall = double(clock.nsecsElapsed()) * 1e-6 / frames;
    int drawn = 0;
    for (Pane *p : m_panes) {
        const PaneTimes t = p->takeTimes();
        r.paint += t.paint;
        r.pack += t.pack;
        drawn += t.frames;
    }
    r.frames = r.panes ? drawn / r.panes : 0;
    if (r.frames > 0) r.paint /= r.frames, r.pack /= r.frames;
    return r;
}

} // namespace viewer
