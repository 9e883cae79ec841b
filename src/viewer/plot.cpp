/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "viewer/plot.h"

#include <QPainter>
#include <QPainterPath>
#include <QTimer>
#include <cmath>
#include <limits>

namespace viewer
{

enum { Kept = 600, RepaintMs = 100 };

Plot::Plot(const QString &title, bool logarithmic, const std::vector<QColor> &colours, QWidget *parent)
    : QWidget(parent), m_title(title), m_log(logarithmic), m_colours(colours)
{
    setMinimumSize(180, 84);
    m_painted.start();
}

void Plot::add(double time, const std::vector<double> &values)
{
    if (!m_time.empty() && time < m_time.back()) clear();
    if (!m_time.empty() && time == m_time.back()) m_time.pop_back(), m_values.pop_back();
    m_time.push_back(time);
    m_values.push_back(values);
    if (m_time.size() > Kept) {
        m_time.pop_front();
        m_values.pop_front();
    }
    // a line with hundreds of corners is dear, and nobody reads a plot sixty times a second
    if (m_painted.elapsed() >= RepaintMs) {
        m_painted.restart();
        update();
        QTimer::singleShot(2 * RepaintMs, this, [this] { update(); }); // the last sample of a run is shown too
    }
}

void Plot::clear()
{
    m_time.clear();
    m_values.clear();
    update();
}

double Plot::last(size_t series) const
{
    return m_values.empty() || series >= m_values.back().size() ? std::numeric_limits<double>::quiet_NaN()
                                                                : m_values.back()[series];
}

void Plot::paintEvent(QPaintEvent *)
{
    QPainter p(this);
    p.setRenderHint(QPainter::Antialiasing);
    p.fillRect(rect(), Qt::white);
    p.setPen(Qt::black);
    const int line = p.fontMetrics().height();
    p.drawText(6, line, p.fontMetrics().elidedText(m_title, Qt::ElideRight, width() - 10));
    double top = 0, least = std::numeric_limits<double>::infinity();
    for (const auto &v : m_values)
        for (double y : v)
            if (std::isfinite(y) && y > 0) top = qMax(top, y), least = qMin(least, y);
    // at most five decades, or a value that is nearly nothing squeezes the rest
    const double low = m_log && top > 0 ? qMax(0.8 * least, 1e-5 * top) : 0.0, high = m_log ? 1.25 * top : 1.05 * top;
    const QString highText = QString::number(top, 'g', 3),
                  lowText = m_log && top > 0 ? QString::number(qMax(least, 1e-5 * top), 'g', 2) : QString("0");
    const int margin =
        10 + qMax(p.fontMetrics().horizontalAdvance(highText), p.fontMetrics().horizontalAdvance(lowText));
    const QRectF area(margin, line + 6, width() - margin - 6, height() - line - 12);
    p.setPen(QColor(200, 200, 200));
    p.drawRect(area);
    if (m_time.size() < 2 || top <= 0) return;
    p.setPen(Qt::darkGray);
    p.drawText(QRectF(0, area.top() - 2, margin - 5, line), Qt::AlignRight | Qt::AlignTop, highText);
    p.drawText(QRectF(0, area.bottom() - line + 2, margin - 5, line), Qt::AlignRight | Qt::AlignBottom, lowText);
    const double t0 = m_time.front(), t1 = m_time.back();
    for (size_t s = 0; s < m_colours.size(); ++s) {
        QPainterPath path;
        bool open = false;
        for (size_t i = 0; i < m_time.size(); ++i) {
            const double y = s < m_values[i].size() ? m_values[i][s] : 0.0;
            if (!std::isfinite(y) || (m_log && y < low)) {
                open = false;
                continue;
            }
            const double part = m_log ? std::log(y / low) / std::log(high / low) : y / high;
            const QPointF at(area.left() + area.width() * (m_time[i] - t0) / qMax(t1 - t0, 1e-12),
                             area.bottom() - area.height() * qBound(0.0, part, 1.0));
            open ? path.lineTo(at) : path.moveTo(at);
            open = true;
        }
        p.setPen(QPen(m_colours[s], 1.6));
        p.drawPath(path);
    }
}

} // namespace viewer
