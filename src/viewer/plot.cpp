/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "viewer/plot.h"

#include <QPainter>
#include <QPainterPath>
#include <cmath>

#include "viewer/colours.h"

namespace viewer
{

enum { Kept = 600 };

Plot::Plot(const QString &title, const QStringList &series, QWidget *parent) : QWidget(parent), m_title(title), m_series(series)
{
    setMinimumSize(180, 90);
}

void Plot::add(double time, const std::vector<double> &values)
{
    if (!m_time.empty() && time < m_time.back()) clear();
    m_time.push_back(time);
    m_values.push_back(values);
    if (m_time.size() > Kept) {
        m_time.pop_front();
        m_values.pop_front();
    }
    update();
}

void Plot::clear()
{
    m_time.clear();
    m_values.clear();
    update();
}

void Plot::paintEvent(QPaintEvent *)
{
    QPainter p(this);
    p.setRenderHint(QPainter::Antialiasing);
    p.fillRect(rect(), Qt::white);
    p.setPen(Qt::black);
    const int line = p.fontMetrics().height();
    p.drawText(6, line, m_title);
    const QRectF area(6, line + 6, width() - 12, height() - line - 12);
    p.setPen(QColor(200, 200, 200));
    p.drawRect(area);
    double top = 0;
    for (const auto &v : m_values)
        for (double y : v)
            if (std::isfinite(y)) top = qMax(top, y);
    if (m_time.size() < 2 || top <= 0) return;
    const double t0 = m_time.front(), t1 = m_time.back();
    for (int s = 0; s < m_series.size(); ++s) {
        QPainterPath path;
        bool open = false;
        for (size_t i = 0; i < m_time.size(); ++i) {
            const double y = size_t(s) < m_values[i].size() ? m_values[i][size_t(s)] : 0.0;
            if (!std::isfinite(y)) {
                open = false;
                continue;
            }
            const QPointF at(area.left() + area.width() * (m_time[i] - t0) / qMax(t1 - t0, 1e-12), area.bottom() - area.height() * y / (1.05 * top));
            open ? path.lineTo(at) : path.moveTo(at);
            open = true;
        }
        p.setPen(QPen(levelColour(s), 1.6));
        p.drawPath(path);
    }
    p.setPen(Qt::darkGray);
    p.drawText(area.adjusted(4, 2, -4, 0), Qt::AlignTop | Qt::AlignRight, QString::number(top, 'g', 3));
}

} // namespace viewer
