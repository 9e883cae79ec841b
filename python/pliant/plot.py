# Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later
"""Matplotlib plots of comparisons and bodies. Each takes `ax` or makes one, and returns it."""
import numpy as np


def _axes(ax):
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("Matplotlib is not installed (Debian: python3-matplotlib)") from None
    return plt.subplots(constrained_layout=True)[1] if ax is None else ax


def _column(table, name):
    return np.asarray(table.index if name == "body" and name not in table else table[name])


def on_front(cost, error):
    """True where nobody is both cheaper and closer."""
    cost, error = np.asarray(cost, float), np.asarray(error, float)
    good = np.isfinite(cost) & np.isfinite(error)
    out = np.zeros(len(cost), bool)
    for k in np.flatnonzero(good):
        beaten = good & (cost <= cost[k]) & (error <= error[k]) & ((cost < cost[k]) | (error < error[k]))
        out[k] = not beaten.any()
    return out


def front(table, *, error="error_rms", cost="ms_median", ax=None, labels=True):
    """Error against cost, one colour per scheme, and the front of those nobody beats in both. `table`: the columns or frame of a
    comparison, of bodies.csv or of a sweep's table.csv."""
    ax = _axes(ax)
    x, y = _column(table, cost).astype(float), 100.0 * _column(table, error).astype(float)
    scheme, name = _column(table, "scheme"), _column(table, "body")
    show = np.isfinite(x) & np.isfinite(y) & (x > 0) & (y > 0)  # the reference has no error
    for k, kind in enumerate(dict.fromkeys(scheme[show])):
        these = show & (scheme == kind)
        ax.plot(x[these], y[these], "o", color=f"C{k}", label=str(kind))
    best = np.flatnonzero(show & on_front(np.where(show, x, np.nan), np.where(show, y, np.nan)))
    best = best[np.argsort(x[best])]
    ax.plot(x[best], y[best], "-", color="0.6", zorder=0, label="front")
    if labels:
        for k in np.flatnonzero(show):
            ax.annotate(str(name[k]), (x[k], y[k]), textcoords="offset points", xytext=(4, 4), fontsize="small")
    ax.set(xscale="log", yscale="log", xlabel="ms per step" if cost.startswith("ms") else cost, ylabel=f"{error}, % of the largest displacement")
    ax.legend()
    return ax


def series(table, column="error_rms", *, ax=None):
    """A column of a comparison's series over time, one line per body."""
    ax = _axes(ax)
    body, time, value = _column(table, "body"), _column(table, "time_s").astype(float), _column(table, column).astype(float)
    for name in dict.fromkeys(body):
        ax.plot(time[body == name], value[body == name], label=str(name))
    ax.set(xlabel="s", ylabel=column)
    ax.legend()
    return ax


def levels(body, *, ax=None):
    """The skin of a body as it is now, coloured by level."""
    import matplotlib.pyplot as plt
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection
    if ax is None:
        ax = plt.figure(constrained_layout=True).add_subplot(projection="3d")
    points, tris, level = body.skin_points(), body.skin_triangles, body.skin_levels
    colours = plt.get_cmap("viridis")(level[tris].max(axis=1) / max(1, body.level_count - 1))
    ax.add_collection3d(Poly3DCollection(points[tris][:, :, [0, 2, 1]], facecolors=colours, edgecolors="0.3", linewidths=0.1))
    low, high = points.min(axis=0)[[0, 2, 1]], points.max(axis=0)[[0, 2, 1]]
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), zlim=(low[2], high[2]), xlabel="x", ylabel="z", zlabel="y")
    ax.set_box_aspect(np.maximum(high - low, 1e-12))
    return ax
