/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "sofa/Linked.h"

#include <cstdio>
#include <memory>

namespace pliant
{
/// One CSV line per step, for plots. What is in it, and its columns, are those of the embedded host.
class PLIANT_API StepMonitor : public Object
{
public:
    SOFA_ABSTRACT_CLASS(StepMonitor, Object);

    ::sofa::core::objectmodel::DataFileName d_filename;
    Data<int> d_exportEveryNumberOfSteps;

    void init() override;
    void reset() override;
    void cleanup() override;
    void handleEvent(::sofa::core::objectmodel::Event* event) override;

protected:
    StepMonitor();
    virtual bool canWrite() const { return true; }
    virtual void begin(std::FILE* file) = 0; ///< before the first step
    virtual void line(std::FILE* file, unsigned long long step) = 0;

private:
    void open();
    struct Close
    {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    std::unique_ptr<std::FILE, Close> m_file;
    unsigned long long m_step{ 0 };
};

/// About a body.
class PLIANT_API StateMonitor : public StepMonitor
{
public:
    SOFA_CLASS(StateMonitor, StepMonitor);

    ModelLink<StateMonitor> l_model;

    void init() override;

protected:
    StateMonitor();
    bool canWrite() const override;
    void begin(std::FILE* file) override;
    void line(std::FILE* file, unsigned long long step) override;
};

/// What steps take, whatever is in the scene: from the end of one to the end of the next.
class PLIANT_API StepTimes : public StepMonitor
{
public:
    SOFA_CLASS(StepTimes, StepMonitor);

protected:
    void begin(std::FILE* file) override;
    void line(std::FILE* file, unsigned long long step) override;

private:
    double m_cpu{ 0. }, m_wall{ 0. }; ///< ms
};
} // namespace pliant
