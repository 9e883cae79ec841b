/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/components/components.h"
#include "mesher/quality.h"

void pli_note_slivers(PliObject *o, const PliMesh *mesh, const char *which)
{
    PliQuality q;
    if (!pli_quality_find(&o->node->scene->host, mesh, &q) || q.slivers == 0) return;
    const double *p = q.worst_at[0];
    pli_finding_add(o->node->scene, PLI_NOTE, o->xml, o->cls->name,
                    "%s: %u of %u tetrahedra are slivers (altitude below a quarter of the median %.3g m); the worst, "
                    "%u at (%.4g %.4g "
                    "%.4g), is %.3g m high and forces %.1f times as many explicit steps",
                    which, q.slivers, q.tets, q.median_altitude, q.worst[0], p[0], p[1], p[2], q.worst_altitude[0],
                    pli_quality_cost(&q));
}
