// Who measures has its cores for itself.
#include "support/spare_cores.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <thread>
#include <vector>

namespace hone {
namespace {

std::vector<int> Cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof(set), &set);
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  }
  return cores;
}

TEST(SpareCores, LeavesTheLastOnesWithAllItStartsFromThenOn) {
  std::vector<int> expected = Cores();
  if (expected.size() < 2) GTEST_SKIP() << "one core only";
  expected.pop_back();
  std::vector<int> found;
  std::thread([&] {
    EXPECT_TRUE(LeaveLastCores(1));
    std::thread([&] { found = Cores(); }).join();
  }).join();
  EXPECT_EQ(found, expected);
}

TEST(SpareCores, ChangesNothingWhereNoneWouldBeLeft) {
  const std::vector<int> all = Cores();
  std::vector<int> found;
  std::thread([&] {
    EXPECT_FALSE(LeaveLastCores(static_cast<int>(all.size())));
    found = Cores();
  }).join();
  EXPECT_EQ(found, all);
}

}  // namespace
}  // namespace hone
