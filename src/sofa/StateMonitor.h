/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "sofa/Linked.h"

#include <cstdio>
#include <memory>

namespace pliant
{
/// One CSV line per step about a body, for plots. The columns are those of the embedded host.
class PLIANT_API StateMonitor : public Object
{
public:
    SOFA_CLASS(StateMonitor, Object);

    ModelLink<StateMonitor> l_model;
    ::sofa::core::objectmodel::DataFileName d_filename;
    Data<int> d_exportEveryNumberOfSteps;

    void init() override;
    void reset() override;
    void cleanup() override;
    void handleEvent(::sofa::core::objectmodel::Event* event) override;

protected:
    StateMonitor();

private:
    void open();
    void line();
    struct Close
    {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    std::unique_ptr<std::FILE, Close> m_file;
    unsigned long long m_step{ 0 };
};
} // namespace pliant
