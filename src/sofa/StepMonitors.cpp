/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sofa/StepMonitors.h"

#include <sofa/core/ObjectFactory.h>
#include <sofa/simulation/AnimateBeginEvent.h>
#include <sofa/simulation/AnimateEndEvent.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>

namespace pliant
{
namespace vec_id = ::sofa::core::vec_id;

StepMonitor::StepMonitor()
    : d_filename(initData(&d_filename, "filename", "CSV file, written again after a reset"))
    , d_exportEveryNumberOfSteps(
          initData(&d_exportEveryNumberOfSteps, 1, "exportEveryNumberOfSteps", "steps between lines"))
{
    f_listening.setValue(true);
}

void StepMonitor::init()
{
    if (d_filename.getValue().empty() || d_exportEveryNumberOfSteps.getValue() < 1)
    {
        msg_error() << "needs filename, and exportEveryNumberOfSteps=\"" << d_exportEveryNumberOfSteps.getValue()
                    << "\" must be at least 1";
        d_componentState.setValue(ComponentState::Invalid);
        return;
    }
    d_componentState.setValue(ComponentState::Valid);
}

void StepMonitor::reset()
{
    m_file.reset();
    m_step = 0;
}

void StepMonitor::cleanup()
{
    m_file.reset();
}

void StepMonitor::open()
{
    const std::string& path = d_filename.getValue(); // an output: not looked for in the data path
    m_file.reset(std::fopen(path.c_str(), "wb"));
    if (m_file)
    {
        begin(m_file.get());
        return;
    }
    msg_error() << path << " cannot be written: " << std::strerror(errno);
    d_componentState.setValue(ComponentState::Invalid);
}

void StepMonitor::handleEvent(::sofa::core::objectmodel::Event* event)
{
    if (!isComponentStateValid() || !canWrite())
        return;
    if (!m_file && ::sofa::simulation::AnimateBeginEvent::checkEventType(event))
        open();
    else if (m_file && ::sofa::simulation::AnimateEndEvent::checkEventType(event))
    {
        ++m_step;
        if (m_step % (unsigned long long)d_exportEveryNumberOfSteps.getValue() == 0)
            line(m_file.get(), m_step);
    }
}

StateMonitor::StateMonitor()
    : l_model(initLink("model", "the body to watch; default: the model of this node or above"))
{
}

void StateMonitor::init()
{
    if (findModel(this, l_model))
        StepMonitor::init();
}

bool StateMonitor::canWrite() const
{
    return l_model->state();
}

void StateMonitor::begin(std::FILE* file)
{
    std::fputs("step,time_s,active,elements,substeps,refined,coarsened,step_ms,adapt_ms,force_ms,kinetic_J,elastic_J,"
               "gravity_J,inverted,retries\n",
               file);
    line(file, 0);
}

void StateMonitor::line(std::FILE* file, unsigned long long step)
{
    PliBody* const body = l_model->body();
    State* const state = l_model->state();
    const PliStats s = pli_body_stats(body);
    const PliEnergy e = pli_body_energy(body, flat(state->read(vec_id::read_access::position)->getValue()),
                                        flat(state->read(vec_id::read_access::velocity)->getValue()));
    const PliStepInfo& info = l_model->lastStep();
    std::fprintf(file, "%llu,%.9g,%u,%u,%d,%llu,%llu,%.6g,%.6g,%.6g,%.9g,%.9g,%.9g,%u,%d\n", step,
                 double(getContext()->getTime()), s.active, s.elements, info.substeps, (unsigned long long)s.refined,
                 (unsigned long long)s.coarsened, s.step_ms, s.adapt_ms, s.force_ms, e.kinetic, e.elastic, e.gravity,
                 info.inverted, info.retries);
}

namespace
{
/// CPU time of all threads of this process, ms.
double cpuMs()
{
    std::timespec t{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return double(t.tv_sec) * 1e3 + double(t.tv_nsec) * 1e-6;
}

double wallMs()
{
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
} // namespace

void StepTimes::begin(std::FILE* file)
{
    std::fputs("step,time_s,cpu_ms,wall_ms\n", file); // no line of step 0, which took no time
    m_wall = wallMs();
    m_cpu = cpuMs();
}

void StepTimes::line(std::FILE* file, unsigned long long step)
{
    const double cpu = m_cpu, wall = m_wall;
    m_wall = wallMs();
    m_cpu = cpuMs();
    std::fprintf(file, "%llu,%.9g,%.6f,%.6f\n", step, double(getContext()->getTime()), m_cpu - cpu, m_wall - wall);
}

void registerStepMonitors(::sofa::core::ObjectFactory* factory)
{
    factory->registerObjects(::sofa::core::ObjectRegistrationData(
                                 "Writes one CSV line per step about a Pliant body: counts, times, energies.")
                                 .add<StateMonitor>());
    factory->registerObjects(
        ::sofa::core::ObjectRegistrationData("Writes one CSV line per step of any scene: CPU time of the whole process "
                                             "and wall time since the line before.")
            .add<StepTimes>());
}
} // namespace pliant
