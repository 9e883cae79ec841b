/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sofa/SceneRules.h"
#include "sofa/AdaptiveConstraintCorrection.h"

#include <sofa/core/CollisionModel.h>
#include <sofa/core/behavior/BaseAnimationLoop.h>
#include <sofa/core/behavior/BaseConstraintCorrection.h>
#include <sofa/core/behavior/BaseMass.h>
#include <sofa/core/behavior/ConstraintSolver.h>
#include <sofa/core/behavior/LinearSolver.h>
#include <sofa/core/behavior/OdeSolver.h>
#include <sofa/core/collision/ContactManager.h>

#include <cstdlib>
#include <vector>

namespace pliant
{
using ::sofa::core::behavior::BaseConstraintCorrection;
using ::sofa::simulation::Node;

namespace
{
std::vector<BaseConstraintCorrection*> corrections(Node* node)
{
    std::vector<BaseConstraintCorrection*> found;
    for (const auto& object : node->object)
        if (auto* const correction = dynamic_cast<BaseConstraintCorrection*>(object.get()))
            found.push_back(correction);
    return found;
}

bool isMatrixFree(::sofa::core::behavior::LinearSolver* solver)
{
    return solver->getTemplateName() == "GraphScattered";
}

::sofa::core::behavior::LinearSolver* linearSolver(Node* node)
{
    return node->get<::sofa::core::behavior::LinearSolver>(BaseContext::SearchUp);
}
} // namespace

bool isFreeMotion(Node* node)
{
    auto* const root = dynamic_cast<Node*>(node->getRootContext());
    auto* const loop = root ? root->getAnimationLoop() : nullptr;
    const Object* const object = loop ? dynamic_cast<const Object*>(loop) : nullptr;
    return object && object->getClassName() == "FreeMotionAnimationLoop";
}

bool hasPenaltyContact(Node* node)
{
    if (!node->get<::sofa::core::CollisionModel>(BaseContext::SearchDown))
        return false;
    auto* const manager = node->getRootContext()->get<::sofa::core::collision::ContactManager>(BaseContext::SearchDown);
    const auto* const response = manager ? manager->findData("response") : nullptr;
    return response && response->getValueString().find("Penality") != std::string::npos;
}

std::size_t correctionCount(BaseContext* context)
{
    std::vector<BaseConstraintCorrection*> found;
    context->getRootContext()->get<BaseConstraintCorrection>(&found, BaseContext::SearchDown);
    return found.size();
}

double contactFriction(Node* node)
{
    // LCPConstraintSolver has one coefficient for all; the others take it from the response of each pair
    auto* const root = node->getRootContext();
    if (auto* const solver = root->get<::sofa::core::behavior::ConstraintSolver>(BaseContext::SearchDown))
        if (const auto* const mu = dynamic_cast<::sofa::core::objectmodel::Data<SReal>*>(solver->findData("mu")))
            return mu->getValue();
    auto* const manager = root->get<::sofa::core::collision::ContactManager>(BaseContext::SearchDown);
    const auto* const params = manager ? manager->findData("responseParams") : nullptr;
    const std::string text = params ? params->getValueString() : std::string();
    const std::size_t at = text.find("mu=");
    return at == std::string::npos ? 0. : std::strtod(text.c_str() + at + 3, nullptr);
}

std::string refuseOwned(Node* node, bool implicit)
{
    if (node->solver.size() > 1)
        return "two solvers in node " + node->getPathName() + ": AdaptiveSolver steps the body alone, remove the other";
    if (node->mass && node->mass->getContext() == node)
        return "the body has its own mass and gravity: remove " + node->mass->getClassName() + " "
               + node->mass->getName() + ", or its weight counts twice";
    for (BaseConstraintCorrection* const any : corrections(node))
        if (!dynamic_cast<AdaptiveConstraintCorrection*>(any))
            return any->getClassName()
                   + " does not know the matrix or the substeps of AdaptiveSolver: use AdaptiveConstraintCorrection";
    const bool corrected = node->get<AdaptiveConstraintCorrection>(BaseContext::Local) != nullptr;
    if (isFreeMotion(node) && !corrected)
        return "FreeMotionAnimationLoop moves a body only through a correction: add an AdaptiveConstraintCorrection to "
               "this node";
    if (!isFreeMotion(node) && corrected)
        return "AdaptiveConstraintCorrection needs a FreeMotionAnimationLoop and a constraint solver at the root";
    if (implicit && hasPenaltyContact(node))
        return "penalty contact with integrator=\"implicit\" holds its forces over the whole step, which throws the "
               "body or lets it "
               "through: use integrator=\"symplectic\", Lagrangian contact, or a stock EulerImplicitSolver with "
               "CGLinearSolver";
    return {};
}

std::string refuseStages(Node* node)
{
    auto* const linear = linearSolver(node);
    const bool assembled = linear && !isMatrixFree(linear);
    if (assembled && hasPenaltyContact(node))
        return "penalty contact on a mapped surface enters an assembled matrix (" + linear->getClassName()
               + ") with the wrong sign in SOFA: use CGLinearSolver without template, or Lagrangian contact";
    for (BaseConstraintCorrection* const any : corrections(node))
    {
        if (dynamic_cast<AdaptiveConstraintCorrection*>(any))
            return "AdaptiveConstraintCorrection belongs to AdaptiveSolver: use LinearSolverConstraintCorrection with "
                   "a stock solver";
        if (any->getClassName() == "LinearSolverConstraintCorrection" && linear && !assembled)
            return "LinearSolverConstraintCorrection needs an assembled matrix: give " + linear->getClassName()
                   + " template=\"CompressedRowSparseMatrixMat3x3d\", or use SparseLDLSolver";
    }
    return {};
}

void removeUnusableCorrections(Node* node)
{
    auto* const linear = linearSolver(node);
    for (BaseConstraintCorrection* const any : corrections(node))
    {
        if (any->getClassName() != "LinearSolverConstraintCorrection" || !linear || !isMatrixFree(linear))
            continue;
        any->cleanup(); // unregisters from the constraint solver
        node->removeObject(any);
    }
}
} // namespace pliant
