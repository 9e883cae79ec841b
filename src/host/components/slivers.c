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
                    "%.4g), is %.3g m high: with all elements together that would be %.1f times as many explicit steps",
                    which, q.slivers, q.tets, q.median_altitude, q.worst[0], p[0], p[1], p[2], q.worst_altitude[0],
                    pli_quality_cost(&q));
}

void pli_note_rates(PliObject *o, const PliBody *body)
{
    const PliStats s = pli_body_stats(body);
    if (pli_body_def(body)->multirate == PLI_RATES_AUTO && s.rates > 1)
        pli_finding_add(o->node->scene, PLI_NOTE, o->xml, o->cls->name,
                        "its elements tick at %d rates, which costs less than half of all together", s.rates);
    if (s.eased)
        pli_finding_add(o->node->scene, PLI_NOTE, o->xml, o->cls->name,
                        "%u of %u tetrahedra are so flat that their viscosity would set the substep of the body: they "
                        "have less than all of the damping",
                        s.eased, s.elements);
}
