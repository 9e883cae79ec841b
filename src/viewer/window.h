/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <QElapsedTimer>
#include <QMainWindow>
#include <QTimer>
#include <memory>
#include <vector>

#include <pliant/registry.h>

#include "viewer/camera.h"
#include "viewer/pane.h"
#include "viewer/plot.h"
#include "viewer/session.h"

class QComboBox;
class QDoubleSpinBox;
class QGridLayout;
class QLabel;
class QMenu;
class QProgressBar;
class QSlider;
class QToolBar;

namespace viewer
{

/// What a picture of the whole window costs. All per picture, ms.
struct BenchResult {
    int frames = 0, panes = 0;
    size_t triangles = 0; ///< of all panes
    double wall = 0;      ///< everything, the rasteriser of software OpenGL included
    double paint =
        0;           ///< CPU of the window's thread while panes paint: ours, Qt's text and OpenGL's part in this thread
    double pack = 0; ///< CPU of what is ours alone: normals, colours, vertices
};

class Window : public QMainWindow
{
    Q_OBJECT
  public:
    /// `device`: a haptic device that holds the first tool and feels `body`, the first one if empty; empty: none.
    explicit Window(const QString &scene, const QString &device = {}, const QString &body = {});
    ~Window() override;
    Session *session() { return m_session.get(); }
    void setColour(Colour colour);
    bool ready() const { return m_ready; }
    bool saveScreenshot(const QString &path);
    /// From now on every step is saved; an empty name ends it.
    void saveSequence(const QString &folder);
    BenchResult bench(int frames); ///< every picture with new positions in every pane
    const std::vector<Plot *> &plots() const { return m_plots; }

  signals:
    void loaded(); ///< the scene of now, also after a reload; whoever listens before the event loop runs misses none
    void failed(QString text); ///< it cannot be loaded, or not go on

  protected:
    void closeEvent(QCloseEvent *e) override;

  private:
    void open(const QString &scene);
    void buildControls();
    void buildShowMenu(QToolBar *bar);
    void buildRecordMenu(QToolBar *bar);
    void buildKeys();
    void buildSide();
    void buildSliders();
    void readSettings();
    void onLoaded();
    void onStepped();
    void onBusy(bool busy);
    void showPlaying();
    void focusPane(int index);
    void askForScene();
    void linkCameras(bool linked);
    void layoutPanes();
    void showFelt(double time, const FeltShot &felt);
    void redraw();
    void takePicture();
    QAction *addToggle(const QString &text, const QString &tip, bool ViewOptions::*flag, const QString &key = {});
    void addSlider(const PliAttribute &row, bool there);
    void addOverlay(const PliOverlay &overlay);
    void enableOverlays();

    QString m_path, m_device, m_feltBody;
    std::unique_ptr<Session> m_session;
    ViewOptions m_options;
    Camera m_shared;
    std::vector<std::unique_ptr<Camera>> m_own;
    std::vector<Pane *> m_panes;
    std::vector<Plot *> m_plots; ///< error, DOFs, step time, energy, and with a device the force
    QWidget *m_centre = nullptr, *m_plotBox = nullptr, *m_sliderBox = nullptr;
    QGridLayout *m_grid = nullptr;
    QComboBox *m_colours = nullptr;
    QDoubleSpinBox *m_speed = nullptr;
    QLabel *m_status = nullptr, *m_where = nullptr, *m_feltState = nullptr;
    QProgressBar *m_loading = nullptr;
    QMenu *m_show = nullptr;
    QAction *m_play = nullptr, *m_link = nullptr, *m_record = nullptr, *m_sequence = nullptr;
    std::vector<QAction *> m_overlays; ///< what schemes can draw besides surface and coefficients
    std::vector<std::pair<QAction *, bool ViewOptions::*>> m_toggles;
    QTimer m_loadClock;
    QElapsedTimer m_loadTime;
    bool m_ready = false;
    int m_focus = -1, m_frame = 0;
    QString m_sequenceFolder;
};

} // namespace viewer
