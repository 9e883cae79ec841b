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
/// Tetrahedra evaluated in a substep, on average over their rates.
double pli_elastic_force_work(const PliElasticForce *e);
size_t pli_elastic_force_bytes(const PliElasticForce *e); ///< apart from the kernel's own

#endif
