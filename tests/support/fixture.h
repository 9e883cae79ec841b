/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_TEST_FIXTURE_H
#define PLI_TEST_FIXTURE_H

// What tests of every layer share: a host that watches its memory, and random numbers that are the same everywhere.

#include <gtest/gtest.h>
#include <pliant/base.h>

#include <cstdlib>
#include <map>
#include <string>
#include <vector>

extern "C" {
#include "base/hash.h"
}

namespace pliant_test
{

/// A host that knows every block: leaks, wrong sizes on release and foreign pointers are test failures, and it can run
/// out of memory on demand. `calls` counts allocations and releases: the same before and after a step proves it made none.
class WatchedHost
{
  public:
    WatchedHost()
    {
        host = pli_host_default();
        host.alloc = alloc;
        host.release = release;
        host.log = log;
        host.user = this;
    }
    ~WatchedHost() { EXPECT_TRUE(m_live.empty()) << m_live.size() << " blocks were never released"; }
    WatchedHost(const WatchedHost &) = delete;
    WatchedHost &operator=(const WatchedHost &) = delete;

    PliHost host;
    long calls = 0;       ///< allocations and releases so far, failed ones included
    long fail_after = -1; ///< >= 0: that many more allocations succeed, then none
    bool quiet = false;   ///< false: a warning or error of the library is a test failure
    std::string last_log;
    size_t live_blocks() const { return m_live.size(); }

  private:
    static void *alloc(size_t bytes, size_t align, void *user)
    {
        auto *self = static_cast<WatchedHost *>(user);
        self->calls++;
        if (self->fail_after == 0) return nullptr;
        if (self->fail_after > 0) self->fail_after--;
        if (bytes > SIZE_MAX - align) return nullptr;
        void *block = std::aligned_alloc(align, (bytes + align - 1) / align * align);
        if (block) self->m_live[block] = bytes;
        return block;
    }
    static void release(void *block, size_t bytes, void *user)
    {
        auto *self = static_cast<WatchedHost *>(user);
        self->calls++;
        if (!block) return;
        auto found = self->m_live.find(block);
        if (found == self->m_live.end()) {
            ADD_FAILURE() << "released a block that is not live";
            return;
        }
        EXPECT_EQ(found->second, bytes) << "released with another size than allocated";
        self->m_live.erase(found);
        std::free(block);
    }
    static void log(PliLogLevel level, const char *text, void *user)
    {
        auto *self = static_cast<WatchedHost *>(user);
        self->last_log = text;
        if (level != PLI_LOG_INFO && !self->quiet) ADD_FAILURE() << "the library warned: " << text;
    }
    std::map<void *, size_t> m_live;
};

/// Uniform in [low, high).
inline double random_in(uint64_t *state, double low, double high)
{
    return low + (high - low) * pli_random_unit(state);
}

inline std::vector<double> random_vector(uint64_t *state, size_t count, double low = -1.0, double high = 1.0)
{
    std::vector<double> v(count);
    for (double &x : v) x = random_in(state, low, high);
    return v;
}

} // namespace pliant_test

#endif
