/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "viewer/recording.h"

#include <QFileInfo>
#include <QSaveFile>
#include <QTextStream>
#include <cmath>

namespace viewer
{

static const char *const heading = "# pliant recording 2: tool x y z, grabbing, at x y z, target x y z, "
                                   "attribute=value of every slider that was turned";
enum { Fields = 11, MostSteps = 10000000 };

static void put(QTextStream &out, const Vec3 &v)
{
    for (double x : v) out << ' ' << QString::number(x, 'g', 17);
}

QString Recording::save(const QString &path, const QString &scene) const
{
    QSaveFile file(path); // the old file stays until the new one is whole
    if (!file.open(QIODevice::WriteOnly)) return QString("%1 cannot be written: %2").arg(path, file.errorString());
    QTextStream out(&file);
    out << heading << "\n# scene " << QFileInfo(scene).fileName() << '\n';
    for (const Mark &m : marks) {
        out << m.hand.tool;
        put(out, m.hand.place);
        out << ' ' << int(m.hand.grabbing);
        put(out, m.hand.at);
        put(out, m.hand.target);
        for (const auto &k : m.knobs)
            out << ' ' << QString::fromStdString(k.first) << '=' << QString::number(k.second, 'g', 17);
        out << '\n';
    }
    out.flush();
    if (!file.commit()) return QString("%1 cannot be written: %2").arg(path, file.errorString());
    return {};
}

QString Recording::open(const QString &path)
{
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly)) return QString("%1 cannot be read: %2").arg(path, file.errorString());
    if (file.readLine(4096).trimmed() != heading) return QString("%1 is no recording of this program").arg(path);
    std::vector<Mark> read;
    for (int line = 2; !file.atEnd(); ++line) {
        const QByteArray text = file.readLine(4096).trimmed();
        if (text.isEmpty() || text[0] == '#') continue;
        const QList<QByteArray> word = text.split(' ');
        double v[Fields];
        bool good = word.size() >= Fields && read.size() < MostSteps;
        for (int i = 0; good && i < Fields; ++i) {
            v[i] = word[i].toDouble(&good);
            good = good && std::isfinite(v[i]);
        }
        Mark m;
        for (int i = Fields; good && i < word.size(); ++i) {
            const int equals = word[i].indexOf('=');
            double value = equals > 0 ? word[i].mid(equals + 1).toDouble(&good) : NAN;
            good = good && std::isfinite(value);
            m.knobs[word[i].left(equals).toStdString()] = value;
        }
        if (!good)
            return QString("%1:%2: a step has %3 numbers, and attribute=value of sliders")
                .arg(path)
                .arg(line)
                .arg(int(Fields));
        m.hand.tool = v[0] >= 0 && v[0] < 1000 ? int(v[0]) : -1;
        m.hand.place = { v[1], v[2], v[3] };
        m.hand.grabbing = v[4] != 0;
        m.hand.at = { v[5], v[6], v[7] };
        m.hand.target = { v[8], v[9], v[10] };
        read.push_back(m);
    }
    marks = std::move(read);
    return {};
}

} // namespace viewer
