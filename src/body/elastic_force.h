/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_ELASTIC_FORCE_H
#define PLI_ELASTIC_FORCE_H

// The default forces of a body: the elastic kernel over the tetrahedra and samples of its cuts.

#include "kernel/elastic.h"

extern const PliForceOps pli_elastic_force_ops;

typedef struct PliElasticForce PliElasticForce;
PliElasticForce *pli_elastic_force_create(const PliHost *host, const PliBodyDef *def, const PliSchemeStatic *statics,
                                          PliError *err);
void pli_elastic_force_destroy(PliElasticForce *e); ///< NULL is fine
PliElastic *pli_elastic_force_kernel(const PliElasticForce *e);
PliIndex pli_elastic_force_eased(const PliElasticForce *e); ///< live elements with less than all damping
#define PLI_POINT_WORK 0.3                                  ///< a point in a substep, in evaluations of one tetrahedron
/// Tetrahedra evaluated in a substep, on average over their rates in the last step.
double pli_elastic_force_work(const PliElasticForce *e);
/// A step is a whole number of rounds of all rates: where fewer rates need fewer substeps they may be less work. `others`: evaluations that
/// a substep takes besides. @return the number of rates, and the work of a step of so many substeps or a few more
int pli_elastic_force_rates(const PliElasticForce *e, double substeps, double others, double *work);
int pli_elastic_force_use_rates(PliElasticForce *e, double substeps, double others); ///< until the next call or cut
size_t pli_elastic_force_bytes(const PliElasticForce *e);                            ///< apart from the kernel's own

#endif
