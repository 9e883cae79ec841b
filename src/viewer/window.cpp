/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "viewer/window.h"

#include <QAction>
#include <QApplication>
#include <QCloseEvent>
#include <QComboBox>
#include <QDockWidget>
#include <QDoubleSpinBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QGridLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QMessageBox>
#include <QPainter>
#include <QProgressBar>
#include <QSettings>
#include <QSlider>
#include <QStatusBar>
#include <QToolBar>
#include <cmath>

namespace viewer
{

Window::Window(const QString &scene)
{
    setObjectName("pliant-view");
    resize(1280, 720);
    m_centre = new QWidget(this);
    m_grid = new QGridLayout(m_centre);
    m_grid->setContentsMargins(2, 2, 2, 2);
    m_grid->setSpacing(3);
    setCentralWidget(m_centre);
    m_status = new QLabel(this);
    m_loading = new QProgressBar(this);
    m_loading->setRange(0, 0);
    m_loading->setMaximumWidth(160);
    statusBar()->addWidget(m_status, 1);
    statusBar()->addPermanentWidget(m_loading);
    buildControls();
    QSettings settings("Pliant", "pliant-view");
    restoreGeometry(settings.value("geometry").toByteArray());
    restoreState(settings.value("state").toByteArray());
    m_options.wireframe = settings.value("wireframe", false).toBool();
    m_options.dark = settings.value("dark", false).toBool();
    open(scene);
}

Window::~Window() { m_session.reset(); }

void Window::buildControls()
{
    QToolBar *bar = addToolBar("Simulation");
    bar->setObjectName("simulation");
    m_play = bar->addAction("Play", this, [this] {
        m_session->play(m_play->isChecked());
        m_play->setText(m_play->isChecked() ? "Pause" : "Play");
    });
    m_play->setCheckable(true);
    m_play->setToolTip("Play or pause (Space)");
    bar->addAction("Step", this, [this] { m_session->stepOnce(); })->setToolTip("One time step (N or .)");
    bar->addAction("Reset", this, [this] { m_session->reset(); })->setToolTip("Back to the start (R)");
    auto *speed = new QDoubleSpinBox(this);
    speed->setRange(0, 100);
    speed->setValue(1);
    speed->setPrefix("speed ");
    speed->setSuffix(" x");
    speed->setToolTip("Simulated seconds per second; 0 runs as fast as it goes");
    connect(speed, QOverload<double>::of(&QDoubleSpinBox::valueChanged), this, [this](double v) { m_session->setSpeed(v); });
    bar->addWidget(speed);
    bar->addSeparator();
    m_colours = new QComboBox(this);
    for (Colour c : { Colour::Level, Colour::Error, Colour::Stress, Colour::Speed }) m_colours->addItem(colourTitle(c), int(c));
    m_colours->setToolTip("What the surface's colour means");
    connect(m_colours, QOverload<int>::of(&QComboBox::currentIndexChanged), this, [this](int i) { setColour(Colour(m_colours->itemData(i).toInt())); });
    bar->addWidget(m_colours);
    auto toggle = [&](const QString &text, const QString &tip, bool ViewOptions::*flag) {
        QAction *a = bar->addAction(text, this, [this, flag] {
            m_options.*flag = !(m_options.*flag);
            redraw();
        });
        a->setToolTip(tip);
    };
    toggle("Wireframe", "Edges of the surface", &ViewOptions::wireframe);
    toggle("Nodes", "Active coefficients", &ViewOptions::activeNodes);
    toggle("Interface", "Passive coefficients that live elements touch", &ViewOptions::interfaceNodes);
    m_link = bar->addAction("Link cameras", this, [this] { linkCameras(m_link->isChecked()); });
    m_link->setCheckable(true);
    m_link->setChecked(true);
    m_link->setToolTip("All panes share one camera (L)");
    bar->addSeparator();
    m_record = bar->addAction("Record", this, [this] { m_session->record(m_record->isChecked()); });
    m_record->setCheckable(true);
    m_record->setToolTip("Record the tool from now on");
    bar->addAction("Replay", this, [this] {
        m_record->setChecked(false);
        m_play->setChecked(true);
        m_play->setText("Pause");
        m_session->replay();
    })->setToolTip("Reset, then play what was recorded");
    bar->addAction("Picture", this, [this] {
        const QString name = QString("pliant-%1.png").arg(m_session->latest() ? qulonglong(m_session->latest()->step) : 0, 6, 10, QChar('0'));
        m_status->setText(saveScreenshot(name) ? "wrote " + QFileInfo(name).absoluteFilePath() : "could not write " + QFileInfo(name).absoluteFilePath());
    })->setToolTip("Save the window as PNG (S)");
    m_sequence = bar->addAction("Sequence", this, [this] {
        if (!m_sequence->isChecked()) return;
        m_sequenceFolder = QFileDialog::getExistingDirectory(this, "Folder for the image sequence");
        m_frame = 0;
        if (m_sequenceFolder.isEmpty()) m_sequence->setChecked(false);
    });
    m_sequence->setCheckable(true);
    m_sequence->setToolTip("Save every shown step as PNG in a folder");

    auto *dock = new QDockWidget("Plots and parameters", this);
    dock->setObjectName("plots");
    auto *side = new QWidget(dock);
    auto *column = new QVBoxLayout(side);
    column->setContentsMargins(2, 2, 2, 2);
    m_sliderBox = new QWidget(side);
    m_sliderBox->setLayout(new QFormLayout);
    m_plotBox = new QWidget(side);
    m_plotBox->setLayout(new QVBoxLayout);
    m_plotBox->layout()->setContentsMargins(0, 0, 0, 0);
    column->addWidget(m_sliderBox);
    column->addWidget(m_plotBox, 1);
    dock->setWidget(side);
    addDockWidget(Qt::RightDockWidgetArea, dock);
}

void Window::open(const QString &scene)
{
    m_session.reset();
    for (Pane *p : m_panes) delete p;
    m_panes.clear();
    m_own.clear();
    m_ready = false;
    m_path = scene;
    setWindowTitle("Pliant - " + QFileInfo(scene).fileName());
    m_status->setText("loading " + scene);
    m_loading->show();
    m_session = std::make_unique<Session>(scene);
    connect(m_session.get(), &Session::loaded, this, &Window::onLoaded);
    connect(m_session.get(), &Session::stepped, this, &Window::onStepped);
    connect(m_session.get(), &Session::message, this, [this](const QString &text) {
        m_status->setText(text);
        m_play->setChecked(m_session->playing());
        m_play->setText(m_play->isChecked() ? "Pause" : "Play");
    });
    connect(m_session.get(), &Session::failed, this, [this](const QString &text) {
        m_loading->hide();
        m_status->setText(text);
        fprintf(stderr, "pliant-view: %s\n", qPrintable(text));
        if (!m_ready && !qEnvironmentVariableIsSet("PLIANT_VIEW_QUIET")) QMessageBox::critical(this, "Pliant", text);
    });
    m_session->start();
}

QSlider *Window::addSlider(QWidget *box, const QString &name, double start, double low, double high, const std::function<void(double)> &changed)
{
    auto *slider = new QSlider(Qt::Horizontal, box);
    auto *value = new QLabel(QString::number(start, 'g', 3), box);
    slider->setRange(0, 1000); // logarithmic: thresholds and stiffnesses span decades
    slider->setValue(int(1000 * std::log(start / low) / std::log(high / low)));
    slider->setObjectName(name);
    connect(slider, &QSlider::valueChanged, this, [=](int v) {
        const double x = low * std::pow(high / low, v / 1000.0);
        value->setText(QString::number(x, 'g', 3));
        changed(x);
    });
    auto *row = new QWidget(box);
    auto *line = new QHBoxLayout(row);
    line->setContentsMargins(0, 0, 0, 0);
    line->addWidget(slider, 1);
    line->addWidget(value);
    static_cast<QFormLayout *>(box->layout())->addRow(name, row);
    return slider;
}

void Window::onLoaded()
{
    m_loading->hide();
    const auto &infos = m_session->bodies();
    m_status->setText(QString("%1 bodies; Space plays, Shift+drag moves the tool").arg(infos.size()));
    const SnapshotPtr shot = m_session->latest();
    QVector3D lo(1e30f, 1e30f, 1e30f), hi = -lo;
    for (const BodyShot &b : shot->bodies) {
        for (size_t i = 0; i + 2 < b.points.size(); i += 3) {
            const QVector3D p(b.points[i], b.points[i + 1], b.points[i + 2]);
            for (int d = 0; d < 3; ++d) lo[d] = qMin(lo[d], p[d]), hi[d] = qMax(hi[d], p[d]);
        }
    }
    m_shared.fit(lo, hi);
    QStringList names;
    for (size_t i = 0; i < infos.size(); ++i) {
        auto *pane = new Pane(infos[i], int(i), &m_shared, &m_options, m_centre);
        pane->setObjectName(QString("pane%1").arg(i));
        connect(pane, &Pane::cameraMoved, this, &Window::redraw);
        connect(pane, &Pane::toolMoved, this, [this](double x, double y, double z) { m_session->steer(x, y, z); });
        connect(pane, &Pane::toolReleased, this, [this] { m_session->release(); });
        m_panes.push_back(pane);
        m_own.push_back(std::make_unique<Camera>(m_shared));
        names << QString::fromStdString(infos[i].name);
    }
    layoutPanes();
    for (Plot *p : m_plots) delete p;
    m_plots.clear();
    for (const char *title : { "error against the reference, mm", "active coefficients", "step, ms CPU", "elastic + kinetic energy, J" }) {
        m_plots.push_back(new Plot(title, names, m_plotBox));
        m_plotBox->layout()->addWidget(m_plots.back());
    }
    auto *form = static_cast<QFormLayout *>(m_sliderBox->layout());
    while (form->rowCount()) form->removeRow(0);
    double threshold = 0.1, young = 1e4, budget = 0;
    for (const BodyInfo &b : infos) {
        if (!b.reference) threshold = b.threshold, budget = b.budget;
        young = b.young;
    }
    addSlider(m_sliderBox, "threshold", threshold, 0.01 * threshold, 100 * threshold, [this](double v) { m_session->retune([v](PliBodyDef &d) { d.criterion.threshold = v; }); });
    addSlider(m_sliderBox, "budget, ms", budget > 0 ? budget : 100, 0.1, 100, [this](double v) {
        m_session->retune([v](PliBodyDef &d) { d.criterion.budget_ms = v > 99 ? 0.0 : v; }); // the right end is no limit
    });
    addSlider(m_sliderBox, "Young, Pa", young, 0.1 * young, 10 * young, [this](double v) { m_session->retune([v](PliBodyDef &d) { d.material.young = v; }); });
    m_ready = true;
    onStepped();
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

void Window::onStepped()
{
    const SnapshotPtr shot = m_session->latest();
    if (!m_ready || !shot || shot->bodies.size() != m_panes.size()) return;
    for (Pane *p : m_panes) p->show(shot);
    std::vector<double> error, dofs, ms, energy;
    for (const BodyShot &b : shot->bodies) {
        error.push_back(1e3 * b.error);
        dofs.push_back(b.active);
        ms.push_back(b.stepMs);
        energy.push_back(b.energy);
    }
    m_plots[0]->add(shot->time, error);
    m_plots[1]->add(shot->time, dofs);
    m_plots[2]->add(shot->time, ms);
    m_plots[3]->add(shot->time, energy);
    m_status->setText(QString("t = %1 s, step %2").arg(shot->time, 0, 'f', 3).arg(qulonglong(shot->step)));
    if (m_sequence->isChecked()) saveScreenshot(QString("%1/frame-%2.png").arg(m_sequenceFolder).arg(m_frame++, 6, 10, QChar('0')));
}

void Window::setColour(Colour colour)
{
    m_options.colour = colour;
    m_colours->setCurrentIndex(m_colours->findData(int(colour)));
    m_session->setColour(colour);
    redraw();
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

void Window::keyPressEvent(QKeyEvent *e)
{
    const bool control = e->modifiers() & Qt::ControlModifier;
    switch (e->key()) {
    case Qt::Key_Space: m_play->trigger(); break;
    case Qt::Key_N:
    case Qt::Key_Period: m_session->stepOnce(); break;
    case Qt::Key_R: control ? open(m_path) : m_session->reset(); break;
    case Qt::Key_O:
        if (control) {
            const QString scene = QFileDialog::getOpenFileName(this, "Open a scene", QFileInfo(m_path).path(), "Scenes (*.scn)");
            if (!scene.isEmpty()) open(scene);
        }
        break;
    case Qt::Key_L: m_link->trigger(); break;
    case Qt::Key_S: saveScreenshot(QString("pliant-%1.png").arg(m_session->latest() ? qulonglong(m_session->latest()->step) : 0, 6, 10, QChar('0'))); break;
    case Qt::Key_W: m_options.wireframe = !m_options.wireframe; redraw(); break;
    case Qt::Key_B:
        if (control) m_options.dark = !m_options.dark, redraw();
        break;
    case Qt::Key_F11: isFullScreen() ? showNormal() : showFullScreen(); break;
    case Qt::Key_Escape: close(); break;
    default:
        if (e->key() >= Qt::Key_1 && e->key() <= Qt::Key_9 && e->key() - Qt::Key_1 < int(m_panes.size()))
            focusPane(e->key() - Qt::Key_1);
        else
            QMainWindow::keyPressEvent(e);
    }
}

void Window::closeEvent(QCloseEvent *e)
{
    QSettings settings("Pliant", "pliant-view");
    settings.setValue("geometry", saveGeometry());
    settings.setValue("state", saveState());
    settings.setValue("wireframe", m_options.wireframe);
    settings.setValue("dark", m_options.dark);
    m_session->play(false);
    QMainWindow::closeEvent(e);
}

} // namespace viewer
