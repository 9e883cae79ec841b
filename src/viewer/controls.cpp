/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Toolbar, menus, sliders and plots of the window.
#include <QAction>
#include <QComboBox>
#include <QDockWidget>
#include <QDoubleSpinBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QLabel>
#include <QMenu>
#include <QSlider>
#include <QToolBar>
#include <QToolButton>
#include <cmath>
#include <set>
#include <string>

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
    buildKeys();
    buildSide();
}

/// Keys are shortcuts of the window: they work whichever button, menu or list was used last. A field one types into keeps what it can
/// use (digits in the speed), and that is all.
void Window::buildKeys()
{
    const auto key = [this](const QList<QKeySequence> &keys, auto &&act) {
        auto *a = new QAction(this);
        a->setShortcuts(keys);
        connect(a, &QAction::triggered, this, act);
        addAction(a);
        return a;
    };
    m_play->setShortcut(Qt::Key_Space);
    m_play->setAutoRepeat(false);
    m_link->setShortcut(Qt::Key_L);
    key({ Qt::Key_N, Qt::Key_Period }, [this] { m_session->stepOnce(); });
    key({ Qt::Key_R }, [this] { m_session->reset(); });
    key({ Qt::CTRL + Qt::Key_R }, [this] { open(m_path); });
    key({ Qt::CTRL + Qt::Key_O }, [this] { askForScene(); });
    key({ Qt::Key_S }, [this] { takePicture(); });
    key({ Qt::Key_F11 }, [this] { isFullScreen() ? showNormal() : showFullScreen(); });
    key({ Qt::Key_Escape }, [this] { close(); });
    for (int k = 0; k < 9; ++k)
        key({ Qt::Key_1 + k }, [this, k] {
            if (k < int(m_panes.size())) focusPane(k);
        });
}

void Window::askForScene()
{
    const QString scene =
        QFileDialog::getOpenFileName(this, "Open a scene", QFileInfo(m_path).path(), "Scenes (*.scn)");
    if (!scene.isEmpty()) open(scene);
}

QAction *Window::addToggle(const QString &text, const QString &tip, bool ViewOptions::*flag, const QString &key)
{
    QAction *a = m_show->addAction(text);
    if (!key.isEmpty()) a->setShortcut(key);
    addAction(a); // a shortcut counts while the menu is closed, too
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

void Window::addOverlay(const PliOverlay &overlay)
{
    if (findChild<QAction *>(overlay.name)) return; // two schemes may draw the same
    QAction *a = m_show->addAction(overlay.name);
    a->setCheckable(true);
    a->setChecked(true);
    a->setObjectName(overlay.name);
    a->setStatusTip(overlay.help);
    const std::string name = overlay.name;
    connect(a, &QAction::toggled, this, [this, name](bool on) {
        if (on)
            m_options.hidden.erase(name);
        else
            m_options.hidden.insert(name);
        redraw();
    });
    m_overlays.push_back(a);
}

/// An overlay that no body of the scene has is said to be missing, not hidden.
void Window::enableOverlays()
{
    for (QAction *a : m_overlays) {
        bool there = false;
        for (const BodyInfo &b : m_session->bodies())
            for (const std::string &name : b.overlays) there = there || a->objectName() == name.c_str();
        a->setEnabled(there);
        a->setToolTip(there ? a->statusTip() : QString("No body of this scene has %1").arg(a->text().toLower()));
    }
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
    const PliSchemeInfo *scheme;
    for (int i = 0; (scheme = pli_scheme_at(i)); ++i)
        for (int k = 0; k < scheme->overlay_count; ++k) addOverlay(scheme->overlays[k]);
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
    m_feltState = new QLabel(side);
    m_feltState->setObjectName("felt");
    m_feltState->setWordWrap(true);
    m_feltState->hide();
    column->addWidget(m_feltState);
    dock->setWidget(side);
    addDockWidget(Qt::RightDockWidgetArea, dock);
}

void Window::addSlider(const PliAttribute &row, bool there)
{
    const PliSlide range = row.slide;
    const QString name = range.absolute ? QString(row.name) : QString("%1 x").arg(row.name);
    const double start = range.absolute ? range.high : 1.0;
    auto *slider = new QSlider(Qt::Horizontal, m_sliderBox);
    auto *value = new QLabel(range.absolute ? QString("as given") : QString("1"), m_sliderBox);
    value->setMinimumWidth(value->fontMetrics().horizontalAdvance("as given"));
    slider->setRange(0, 1000); // logarithmic: thresholds and stiffnesses span decades
    slider->setValue(int(std::lround(1000 * std::log(start / range.low) / std::log(range.high / range.low))));
    slider->setObjectName(row.name);
    slider->setEnabled(there);
    slider->setToolTip(!there           ? QString("No body of this scene has it")
                       : range.absolute ? QString("%1; the right end: as the scene says").arg(row.help)
                                        : QString("Multiplies %1 of every body: %2").arg(row.name, row.help));
    const std::string attribute = row.name;
    connect(slider, &QSlider::valueChanged, this, [=](int v) {
        const double x = range.low * std::pow(range.high / range.low, v / 1000.0);
        const bool given = range.absolute && v == slider->maximum();
        value->setText(given ? QString("as given") : QString::number(x, 'g', 3));
        if (given)
            m_session->leave(attribute);
        else
            m_session->turn(attribute, x);
    });
    auto *line = new QWidget(m_sliderBox);
    auto *layout = new QHBoxLayout(line);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(slider, 1);
    layout->addWidget(value);
    static_cast<QFormLayout *>(m_sliderBox->layout())->addRow(name, line);
}

/// One for every attribute with a range that some scheme has and that may change while running.
void Window::buildSliders()
{
    auto *form = static_cast<QFormLayout *>(m_sliderBox->layout());
    while (form->rowCount()) form->removeRow(0);
    std::set<std::string> done;
    const PliSchemeInfo *scheme;
    const PliAttributeGroup *group;
    for (int i = 0; (scheme = pli_scheme_at(i)); ++i)
        for (int g = 0; (group = pli_scheme_group(scheme, g)); ++g)
            for (int k = 0; k < group->count; ++k) {
                const PliAttribute &row = group->rows[k];
                if (!row.running || !(row.slide.high > row.slide.low) || !done.insert(row.name).second) continue;
                bool there = false;
                for (const BodyInfo &b : m_session->bodies()) {
                    const PliSchemeInfo *its = pli_scheme_find(b.scheme.c_str());
                    there = there || (its && pli_scheme_attribute(its, row.name));
                }
                addSlider(row, there);
            }
}

} // namespace viewer
