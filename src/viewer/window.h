/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <QMainWindow>
#include <memory>
#include <vector>

#include "viewer/camera.h"
#include "viewer/pane.h"
#include "viewer/plot.h"
#include "viewer/session.h"

class QComboBox;
class QDoubleSpinBox;
class QGridLayout;
class QLabel;
class QProgressBar;
class QSlider;

namespace viewer
{

class Window : public QMainWindow
{
    Q_OBJECT
public:
    explicit Window(const QString &scene);
    ~Window() override;
    Session *session() { return m_session.get(); }
    void setColour(Colour colour);
    bool ready() const { return m_ready; }
    bool saveScreenshot(const QString &path);

protected:
    void keyPressEvent(QKeyEvent *e) override;
    void closeEvent(QCloseEvent *e) override;

private:
    void open(const QString &scene);
    void buildControls();
    void onLoaded();
    void onStepped();
    void focusPane(int index);
    void linkCameras(bool linked);
    void layoutPanes();
    void redraw();
    QSlider *addSlider(QWidget *box, const QString &name, double start, double low, double high, const std::function<void(double)> &changed);

    QString m_path;
    std::unique_ptr<Session> m_session;
    ViewOptions m_options;
    Camera m_shared;
    std::vector<std::unique_ptr<Camera>> m_own;
    std::vector<Pane *> m_panes;
    std::vector<Plot *> m_plots; ///< error, DOFs, step time, energy
    QWidget *m_centre = nullptr, *m_plotBox = nullptr, *m_sliderBox = nullptr;
    QGridLayout *m_grid = nullptr;
    QComboBox *m_colours = nullptr;
    QLabel *m_status = nullptr;
    QProgressBar *m_loading = nullptr;
    QAction *m_play = nullptr, *m_link = nullptr, *m_record = nullptr, *m_sequence = nullptr;
    bool m_ready = false;
    int m_focus = -1, m_frame = 0;
    QString m_sequenceFolder;
};

} // namespace viewer
