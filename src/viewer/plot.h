/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <QColor>
#include <QElapsedTimer>
#include <QString>
#include <QWidget>
#include <deque>
#include <vector>

namespace viewer
{

/// A live plot of one quantity, one line per body, over the last steps. Drawn with QPainter: no charting library needed.
class Plot : public QWidget
{
    Q_OBJECT
  public:
    /// `logarithmic` for what differs by decades from body to body.
    Plot(const QString &title, bool logarithmic, const std::vector<QColor> &colours, QWidget *parent = nullptr);
    void add(double time, const std::vector<double> &values);
    void clear();
    size_t samples() const { return m_time.size(); }
    double last(size_t series) const; ///< NaN: none

  protected:
    void paintEvent(QPaintEvent *) override;

  private:
    QString m_title;
    bool m_log;
    std::vector<QColor> m_colours;
    std::deque<double> m_time;
    std::deque<std::vector<double>> m_values;
    QElapsedTimer m_painted;
};

} // namespace viewer
