// What is counted for who watches a service.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "support/histogram.h"
#include "support/process_figures.h"
#include "support/scratch_folder.h"

namespace hone {
namespace {

using ::testing::ElementsAre;

TEST(Histogram, CountsAValueInTheFirstBoundThatIsNotBelowIt) {
  Histogram histogram({1, 10});
  for (const double value : {0.5, 1.0, 2.0, 10.0, 11.0}) histogram.Add(value);
  const Histogram::Totals totals = histogram.Read();
  EXPECT_THAT(totals.counts, ElementsAre(2, 2, 1));
  EXPECT_EQ(totals.count, 5u);
  EXPECT_EQ(totals.sum, 24.5);
}

TEST(ProcessFigures, AreReadFromProc) {
  const ScratchFolder folder = ScratchFolder::Make(testing::TempDir(), "figures").value();
  const std::string self = folder.path() + "/proc/self";
  std::filesystem::create_directories(self + "/fd");
  for (const char* fd : {"0", "1", "7"}) std::ofstream(self + "/fd/" + fd) << "";
  std::ofstream(folder.path() + "/proc/stat") << "cpu 1 2 3\nbtime 1000000\nprocesses 5\n";
  std::ofstream(self + "/limits")
      << "Limit                     Soft Limit           Hard Limit           Units\n"
         "Max open files            1024                 4096                 files\n";
  std::ofstream(self + "/stat") << "42 (a (strange) name) S 1 42 42 0 -1 0 10 11 12 13 250 50 0 0 "
                                   "20 0 9 0 3000 1048576 25 0\n";
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  const ProcessFigures figures = ReadProcessFigures(folder.path());
  EXPECT_DOUBLE_EQ(figures.cpu_seconds, 300 / ticks);
  EXPECT_DOUBLE_EQ(figures.start_time_seconds, 1'000'000 + 3000 / ticks);
  EXPECT_EQ(figures.threads, 9);
  EXPECT_EQ(figures.virtual_bytes, 1048576);
  EXPECT_EQ(figures.resident_bytes, 25.0 * static_cast<double>(sysconf(_SC_PAGESIZE)));
  EXPECT_EQ(figures.open_descriptors, 3);
  EXPECT_EQ(figures.most_descriptors, 1024);
}

TEST(ProcessFigures, OfASystemThatTellsNothingAreNone) {
  const ProcessFigures figures = ReadProcessFigures("/not/there");
  EXPECT_EQ(figures.cpu_seconds, 0);
  EXPECT_EQ(figures.start_time_seconds, 0);
  EXPECT_GT(ReadProcessFigures().resident_bytes, 0);
}

}  // namespace
}  // namespace hone
