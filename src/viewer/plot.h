/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <QColor>
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
    Plot(const QString &title, const QStringList &series, QWidget *parent = nullptr);
    void add(double time, const std::vector<double> &values);
    void clear();

protected:
    void paintEvent(QPaintEvent *) override;

private:
    QString m_title;
    QStringList m_series;
    std::deque<double> m_time;
    std::deque<std::vector<double>> m_values;
};

} // namespace viewer
