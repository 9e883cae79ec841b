/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "sofa/Linked.h"

#include <sofa/core/behavior/MultiVec.h>
#include <sofa/core/behavior/OdeSolver.h>

namespace pliant
{
/// Route A: the core owns the time of one body. Explicit substeps (each element at its own rate) or implicit steps run
/// inside the core on the active coefficients only; forces of other components are gathered through SOFA's visitors,
/// again in every substep, because a contact force held over the outer step either lets a body through or throws it.
class PLIANT_API AdaptiveSolver : public ::sofa::core::behavior::OdeSolver
{
public:
    SOFA_CLASS(AdaptiveSolver, ::sofa::core::behavior::OdeSolver);

    ModelLink<AdaptiveSolver> l_model;
    Data<int> d_substeps;
    Data<int> d_forceUpdates;

    void init() override;
    void bwdInit() override;
    void reset() override;
    using ::sofa::core::behavior::OdeSolver::solve;
    void solve(const ::sofa::core::ExecParams* params, SReal dt, ::sofa::core::MultiVecCoordId xResult,
               ::sofa::core::MultiVecDerivId vResult) override;

    /// The solution is a velocity, as in SOFA's own implicit Euler.
    SReal getIntegrationFactor(int inputDerivative, int outputDerivative) const override;
    SReal getSolutionIntegrationFactor(int outputDerivative) const override;

    BodyModel* model() { return l_model.get(); }
    bool isImplicit() const { return m_implicit; }

    /// Velocity at the end of the last free motion. The animation loop keeps only (x_end - x_begin)/dt of it.
    const VecDeriv& endVelocity() const { return m_endVelocity; }

    /// The force of contact on all coefficients in this step: the next adaptation judges by it.
    void press(const VecDeriv& force);

    /// Takes the last free motion again, with contact rows kept in every explicit substep. x and v receive its end.
    bool retake(PliContactRows& rows, VecCoord& x, VecDeriv& v);

protected:
    AdaptiveSolver();

private:
    static void gather(const double* x, const double* v, double time, double* f, void* self);
    static void gatherPoints(const double* x, const double* v, PliPointForces* out, void* self);
    void gatherForces(const double* x, const double* v, double* f);
    static bool hasForces(::sofa::simulation::Node* node);
    void lendForces(PliState& s);
    void stop(const PliStepInfo& info);

    bool m_implicit{ false };
    VecDeriv m_endVelocity;
    VecDeriv m_pressing; ///< N, by contact in the last step
    bool m_isPressed{ false };
    // of the step being computed
    const ::sofa::core::ExecParams* m_params{ nullptr };
    double m_dt{ 0. };
    ::sofa::core::MultiVecCoordId m_xId;
    ::sofa::core::MultiVecDerivId m_vId;
    int m_updates{ 0 };
};
} // namespace pliant
