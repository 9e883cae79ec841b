/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Toolbar, menus, sliders and plots of the window.
#include <QAction>
#include <QComboBox>
#include <QDockWidget>
#include <QDoubleSpinBox>
#include <QFileDialog>
#include <QFormLayout>
#include <QLabel>
#include <QMenu>
#include <QSlider>
#include <QToolBar>
#include <QToolButton>
#include <cmath>

#include "viewer/window.h"

namespace viewer
{

void Window::buildControls()
{
    QToolBar *bar = addToolBar("Simulation");
    bar->setObjectName("simulation");
    m_play = bar->addAction("Play", this, [this] {
        m_session->play(m_play->isChecked());
        showPlaying();
    });
    m_play->setCheckable(true);
    m_play->setToolTip("Play or pause (Space)");
    bar->addAction("Step", this, [this] { m_session->stepOnce(); })->setToolTip("One time step (N or .)");
    bar->addAction("Reset", this, [this] { m_session->reset(); })->setToolTip("Back to the start (R)");
    m_speed = new QDoubleSpinBox(this);
    m_speed->setRange(0, 100);
    m_speed->setValue(1);
    m_speed->setPrefix("speed ");
    m_speed->setSuffix(" x");
    m_speed->setToolTip("Simulated seconds per second; 0 runs as fast as it goes");
    m_speed->setFocusPolicy(Qt::ClickFocus);
    connect(m_speed, QOverload<double>::of(&QDoubleSpinBox::valueChanged), this,
            [this](double v) { m_session->setSpeed(v); });
    bar->addWidget(m_speed);
    bar->addSeparator();
    m_colours = new QComboBox(this);
    for (Colour c : { Colour::Level, Colour::Error, Colour::Stress, Colour::Speed })
        m_colours->addItem(colourTitle(c), int(c));
    m_colours->setToolTip("What the surface's colour means");
    m_colours->setFocusPolicy(Qt::ClickFocus);
    connect(m_colours, QOverload<int>::of(&QComboBox::currentIndexChanged), this,
            [this](int i) { setColour(Colour(m_colours->itemData(i).toInt())); });
    bar->addWidget(m_colours);
    buildShowMenu(bar);
    m_link = bar->addAction("Link cameras", this, [this] { linkCameras(m_link->isChecked()); });
    m_link->setCheckable(true);
    m_link->setChecked(true);
    m_link->setToolTip("All panes share one camera (L)");
    bar->addSeparator();
    buildRecordMenu(bar);
    bar->addAction("Picture", this, [this] { takePicture(); })->setToolTip("Save the window as PNG (S)");
    m_sequence = bar->addAction("Sequence", this, [this] {
        saveSequence(m_sequence->isChecked() ? QFileDialog::getExistingDirectory(this, "Folder for the image sequence")
                                             : QString());
    });
    m_sequence->setCheckable(true);
    m_sequence->setToolTip("Save every step as PNG in a folder");
    buildSide();
}

QAction *Window::addToggle(const QString &text, const QString &tip, bool ViewOptions::*flag, const QString &key)
{
    QAction *a = m_show->addAction(key.isEmpty() ? text : text + '\t' + key); // keyPressEvent knows the keys
    a->setCheckable(true);
    a->setToolTip(tip);
    a->setObjectName(text);
    connect(a, &QAction::toggled, this, [this, flag](bool on) {
        m_options.*flag = on;
        redraw();
    });
    m_toggles.emplace_back(a, flag);
    return a;
}

void Window::buildShowMenu(QToolBar *bar)
{
    auto *button = new QToolButton(this);
    button->setText("Show");
    button->setPopupMode(QToolButton::InstantPopup);
    button->setToolTip("What is drawn besides the surface");
    m_show = new QMenu(button);
    m_show->setToolTipsVisible(true);
    addToggle("Wireframe", "Edges of the surface", &ViewOptions::wireframe, "W");
    addToggle("Active nodes", "Coefficients that move by themselves; the origins of frames", &ViewOptions::activeNodes);
    addToggle("Interface nodes", "Passive coefficients that live elements touch, where two levels meet",
              &ViewOptions::interfaceNodes);
    m_frames =
        addToggle("Frames", "Axes of the active frames, stretched and sheared as they are", &ViewOptions::frames);
    // schemes that have these are not in this version: said, not hidden
    for (const char *name : { "Octree cells", "Lattice" }) {
        QAction *a = m_show->addAction(name);
        a->setObjectName(name);
        a->setCheckable(true);
        a->setEnabled(false);
        a->setToolTip(QString("No scheme of this version has %1").arg(QString(name).toLower()));
    }
    m_show->addSeparator();
    addToggle("Tools", "What touches the bodies", &ViewOptions::tools);
    addToggle("Axes", "x, y and z of the scene", &ViewOptions::axes, "Ctrl+A");
    addToggle("Dark background", "", &ViewOptions::dark, "Ctrl+B");
    button->setMenu(m_show);
    bar->addWidget(button);
}

void Window::buildRecordMenu(QToolBar *bar)
{
    m_record = bar->addAction("Record", this, [this] { m_session->record(m_record->isChecked()); });
    m_record->setCheckable(true);
    m_record->setToolTip("Back to the start; from there on what you do with tools, skin and sliders is kept");
    const auto replaying = [this] {
        m_record->setChecked(false);
        m_play->setChecked(true);
        showPlaying();
    };
    auto *button = new QToolButton(this);
    button->setText("Replay");
    button->setToolTip("Back to the start, then what was recorded, to the bit");
    button->setPopupMode(QToolButton::MenuButtonPopup);
    auto *menu = new QMenu(button);
    QAction *replay = menu->addAction("Replay", this, [this, replaying] {
        replaying();
        m_session->replay();
    });
    menu->addAction("Save recording...", this, [this] {
        const QString path = QFileDialog::getSaveFileName(this, "Save what was recorded", "recording.txt");
        if (!path.isEmpty()) m_session->saveRecording(path);
    });
    menu->addAction("Open and replay...", this, [this, replaying] {
        const QString path = QFileDialog::getOpenFileName(this, "Open a recording");
        if (path.isEmpty()) return;
        replaying();
        m_session->openRecording(path);
    });
    button->setMenu(menu);
    button->setDefaultAction(replay);
    bar->addWidget(button);
}

void Window::buildSide()
{
    auto *dock = new QDockWidget("Parameters and plots", this);
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

QSlider *Window::addSlider(const QString &name, const QString &tip, double start, double low, double high,
                           const std::function<void(double)> &changed)
{
    auto *slider = new QSlider(Qt::Horizontal, m_sliderBox);
    auto *value = new QLabel(QString::number(start, 'g', 3), m_sliderBox);
    value->setMinimumWidth(value->fontMetrics().horizontalAdvance("no limit"));
    slider->setRange(0, 1000); // logarithmic: thresholds and stiffnesses span decades
    slider->setValue(int(std::lround(1000 * std::log(start / low) / std::log(high / low))));
    slider->setObjectName(name);
    slider->setToolTip(tip);
    connect(slider, &QSlider::valueChanged, this, [=](int v) {
        const double x = low * std::pow(high / low, v / 1000.0);
        value->setText(QString::number(x, 'g', 3));
        changed(x);
    });
    auto *row = new QWidget(m_sliderBox);
    auto *line = new QHBoxLayout(row);
    line->setContentsMargins(0, 0, 0, 0);
    line->addWidget(slider, 1);
    line->addWidget(value);
    static_cast<QFormLayout *>(m_sliderBox->layout())->addRow(name, row);
    return slider;
}

void Window::buildSliders()
{
    auto *form = static_cast<QFormLayout *>(m_sliderBox->layout());
    while (form->rowCount()) form->removeRow(0);
    double young = 1e4;
    bool adaptive = false;
    for (const BodyInfo &b : m_session->bodies()) {
        young = b.young;
        adaptive = adaptive || b.levels > 1 || b.frames;
    }
    QSlider *threshold =
        addSlider("threshold x", "Multiplies the threshold of every adaptive body: smaller refines more", 1, 0.01, 100,
                  [this](double v) { m_session->turn(Knob::Threshold, v); });
    QSlider *budget = addSlider("budget, ms", "What a step of an adaptive body may take; the right end is no limit",
                                100, 0.1, 100, [this](double v) { m_session->turn(Knob::Budget, v > 99 ? 0.0 : v); });
    for (QSlider *s : { threshold, budget }) {
        s->setEnabled(adaptive);
        if (!adaptive) s->setToolTip("No body of this scene is adaptive");
    }
    addSlider("Young, Pa", "Stiffness of every body", young, 0.1 * young, 10 * young,
              [this](double v) { m_session->turn(Knob::Young, v); });
}

} // namespace viewer
