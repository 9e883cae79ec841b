/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sofa/StateMonitor.h"

#include <sofa/core/ObjectFactory.h>
#include <sofa/simulation/AnimateBeginEvent.h>
#include <sofa/simulation/AnimateEndEvent.h>

#include <cerrno>
#include <cstring>

namespace pliant
{
namespace vec_id = ::sofa::core::vec_id;

StateMonitor::StateMonitor()
    : l_model(initLink("model", "the body to watch; default: the model of this node or above"))
    , d_filename(initData(&d_filename, "filename", "CSV file, written again after a reset"))
    , d_exportEveryNumberOfSteps(
          initData(&d_exportEveryNumberOfSteps, 1, "exportEveryNumberOfSteps", "steps between lines"))
{
    f_listening.setValue(true);
}

void StateMonitor::init()
{
    if (!findModel(this, l_model))
        return;
    if (d_filename.getValue().empty() || d_exportEveryNumberOfSteps.getValue() < 1)
    {
        msg_error() << "needs filename, and exportEveryNumberOfSteps=\"" << d_exportEveryNumberOfSteps.getValue()
                    << "\" must be at least 1";
        d_componentState.setValue(ComponentState::Invalid);
        return;
    }
    d_componentState.setValue(ComponentState::Valid);
}

void StateMonitor::reset()
{
    m_file.reset();
    m_step = 0;
}

void StateMonitor::cleanup()
{
    m_file.reset();
}

void StateMonitor::open()
{
    const std::string& path = d_filename.getValue(); // an output: not looked for in the data path
    m_file.reset(std::fopen(path.c_str(), "wb"));
    if (!m_file)
    {
        msg_error() << path << " cannot be written: " << std::strerror(errno);
        d_componentState.setValue(ComponentState::Invalid);
        return;
    }
    std::fputs("step,time_s,active,elements,substeps,refined,coarsened,step_ms,adapt_ms,force_ms,kinetic_J,elastic_J,"
               "gravity_J,inverted,retries\n",
               m_file.get());
    line();
}

void StateMonitor::line()
{
    PliBody* const body = l_model->body();
    State* const state = l_model->state();
    const PliStats s = pli_body_stats(body);
    const PliEnergy e = pli_body_energy(body, flat(state->read(vec_id::read_access::position)->getValue()),
                                        flat(state->read(vec_id::read_access::velocity)->getValue()));
    const PliStepInfo& info = l_model->lastStep();
    std::fprintf(m_file.get(), "%llu,%.9g,%u,%u,%d,%llu,%llu,%.6g,%.6g,%.6g,%.9g,%.9g,%.9g,%u,%d\n", m_step,
                 double(getContext()->getTime()), s.active, s.elements, info.substeps, (unsigned long long)s.refined,
                 (unsigned long long)s.coarsened, s.step_ms, s.adapt_ms, s.force_ms, e.kinetic, e.elastic, e.gravity,
                 info.inverted, info.retries);
}

void StateMonitor::handleEvent(::sofa::core::objectmodel::Event* event)
{
    if (!isComponentStateValid() || !l_model->state())
        return;
    if (!m_file && ::sofa::simulation::AnimateBeginEvent::checkEventType(event))
        open();
    else if (m_file && ::sofa::simulation::AnimateEndEvent::checkEventType(event))
    {
        ++m_step;
        if (m_step % (unsigned long long)d_exportEveryNumberOfSteps.getValue() == 0)
            line();
    }
}

void registerStateMonitor(::sofa::core::ObjectFactory* factory)
{
    factory->registerObjects(::sofa::core::ObjectRegistrationData(
                                 "Writes one CSV line per step about a Pliant body: counts, times, energies.")
                                 .add<StateMonitor>());
}
} // namespace pliant
