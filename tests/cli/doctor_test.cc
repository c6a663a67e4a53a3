// What `hone doctor` finds: on machines that a folder plays, in answers of servers, in databases.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "cli/database_check.h"
#include "cli/machine_check.h"
#include "cli/server_check.h"
#include "cli/worker_check.h"
#include "support/clock.h"
#include "support/version.h"
#include "tests/cli/run_hone.h"
#include "tuning_db/store.h"

namespace hone::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// The finding of a check; one that is not there is told as that.
Finding Of(const Findings& findings, const std::string& check) {
  const auto found = std::find_if(findings.begin(), findings.end(),
                                  [&](const Finding& finding) { return finding.check == check; });
  return found == findings.end() ? Finding{"", Level::kProblem, "no such finding", ""} : *found;
}

// What is not well says what to do, and what is well does not.
void ExpectAdviceWhereItIsNeeded(const Findings& findings) {
  for (const Finding& finding : findings) {
    EXPECT_EQ(finding.advice.empty(), finding.level == Level::kOk) << finding.check;
  }
}

class Machine : public testing::Test {
 protected:
  void Put(const std::string& path, const std::string& text) {
    const std::string file = folder_ / path.substr(1);
    std::filesystem::create_directories(std::filesystem::path(file).parent_path());
    WriteFile(file, text + "\n");
  }
  void PutProcessors(int count, const std::string& governor) {
    for (int i = 0; i < count; ++i) {
      Put("/sys/devices/system/cpu/cpu" + std::to_string(i) + "/cpufreq/scaling_governor",
          governor);
    }
  }
  Findings Check() {
    Findings findings = CheckMachine(seams_);
    ExpectAdviceWhereItIsNeeded(findings);
    return findings;
  }

  TestFolder folder_;
  MachineSeams seams_ = {.root = folder_.path(), .usable_cores = 8, .clock_ns = 25};
};

TEST_F(Machine, ThatIsQuietIsFine) {
  Put("/proc/cpuinfo", "processor\t: 0\nmodel name\t: A Fast One\nflags\t\t: fpu");
  Put("/proc/loadavg", "0.05 0.10 0.20 1/200 4242");
  Put("/proc/meminfo", "MemTotal:       16777216 kB\nMemAvailable:   12582912 kB");
  Put("/sys/devices/system/cpu/online", "0-7");
  PutProcessors(8, "performance");
  Put("/sys/devices/system/cpu/intel_pstate/no_turbo", "1");
  Put("/sys/devices/system/cpu/smt/active", "0");
  Put("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never");
  Put("/sys/fs/cgroup/cpu.max", "max 100000");
  Put("/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc");
  const Findings findings = Check();
  for (const Finding& finding : findings) {
    EXPECT_EQ(finding.level, Level::kOk) << finding.check << ": " << finding.found;
  }
  EXPECT_THAT(Of(findings, "processor").found, HasSubstr("A Fast One"));
  EXPECT_THAT(Of(findings, "cores").found, HasSubstr("online: 0-7"));
  EXPECT_EQ(Of(findings, "governor").found, "performance");
  EXPECT_EQ(Of(findings, "memory").found, "12.0 GiB free of 16.0 GiB");
  EXPECT_THAT(Of(findings, "clock").found, HasSubstr("tsc, 25 ns"));
}

TEST_F(Machine, ThatIsNotQuietIsWarnedOf) {
  Put("/proc/loadavg", "6.50 6.10 5.20 9/200 4242");
  Put("/proc/meminfo", "MemTotal: 2097152 kB\nMemAvailable: 524288 kB");
  PutProcessors(2, "powersave");
  Put("/sys/devices/system/cpu/cpu9/cpufreq/scaling_governor", "performance");
  Put("/sys/devices/system/cpu/cpuidle/current_driver", "not a processor");
  Put("/sys/devices/system/cpu/cpufreq/boost", "1");
  Put("/sys/devices/system/cpu/smt/active", "1");
  Put("/sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]");
  Put("/sys/fs/cgroup/cpu.max", "150000 100000");
  Put("/sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet");
  seams_.clock_ns = 2500;
  seams_.usable_cores = 1;
  const Findings findings = Check();
  for (const char* check : {"cores", "load", "memory", "governor", "turbo", "SMT", "huge pages",
                            "processor quota", "clock"}) {
    EXPECT_EQ(Of(findings, check).level, Level::kWarning) << check;
  }
  EXPECT_EQ(Of(findings, "governor").found, "performance, powersave");
  EXPECT_THAT(Of(findings, "processor quota").found, HasSubstr("1.50 cores"));
  EXPECT_THAT(Of(findings, "clock").found, HasSubstr("hpet"));
  Put("/proc/meminfo", "MemTotal: 2097152 kB\nMemAvailable: 65536 kB");
  EXPECT_EQ(Of(Check(), "memory").level, Level::kProblem);
}

TEST_F(Machine, ThatTellsNothingIsNoFault) {
  const Findings findings = Check();
  EXPECT_THAT(findings, Not(IsEmpty()));
  for (const Finding& finding : findings) {
    EXPECT_EQ(finding.level, Level::kOk) << finding.check << ": " << finding.found;
  }
}

TEST_F(Machine, ThatTellsNonsenseIsNoFault) {
  for (const char* path : {"/proc/loadavg", "/proc/meminfo", "/sys/fs/cgroup/cpu.max",
                           "/sys/kernel/mm/transparent_hugepage/enabled", "/proc/cpuinfo"}) {
    Put(path, "]nonsense[ : 0 0");
  }
  Check();
}

TEST(DoctorOfWorkers, ReadsWhatAWorkerSaysOfItself) {
  const Findings fine =
      ReadDescription(R"({"build":"hone 1","threads":2,"sandbox":"strict","why_not_stricter":"",)"
                      R"("isolation":"parted","calibrator_us":3.5,"spread":0.004})");
  ExpectAdviceWhereItIsNeeded(fine);
  EXPECT_EQ(Of(fine, "sandbox").level, Level::kOk);
  EXPECT_EQ(Of(fine, "devices").found, "none behind a driver");
  EXPECT_THAT(Of(fine, "steadiness").found, HasSubstr("3.50 us, spread 0.4 %"));
  const Findings lesser = ReadDescription(
      R"({"build":"hone 1","threads":2,"sandbox":"limits","why_not_stricter":"no seccomp",)"
      R"("isolation":"","calibrator_us":3.5,"spread":0.4})");
  ExpectAdviceWhereItIsNeeded(lesser);
  EXPECT_EQ(Of(lesser, "sandbox").level, Level::kWarning);
  EXPECT_THAT(Of(lesser, "sandbox").found, HasSubstr("no seccomp"));
  EXPECT_EQ(Of(lesser, "steadiness").level, Level::kWarning);
  EXPECT_EQ(Of(ReadDescription(R"({"sandbox":"none"})"), "sandbox").level, Level::kProblem);
  for (const char* line : {"", "[]", "usage: ...", R"({"sandbox":7})"}) {
    EXPECT_EQ(Of(ReadDescription(line), "worker").level, Level::kProblem) << line;
  }
  EXPECT_EQ(Of(CheckWorkerProgram("/not/there", kSecondNs), "worker").level, Level::kProblem);
  // One that says nothing is not waited for.
  EXPECT_EQ(Of(CheckWorkerProgram("/bin/false", kSecondNs), "worker").level, Level::kProblem);
}

TEST(DoctorOfWorkers, SaysWhichDevicesThereAreAndWhatIsMissing) {
  constexpr char kHead[] = R"({"build":"hone 1","threads":2,"sandbox":"strict","spread":0.004,)";
  const Findings some = ReadDescription(
      std::string(kHead) +
      R"("devices":[{"device":"cuda:0","target":"cuda -arch=sm_90a","driver":"H100, driver 12040",)"
      R"("problem":""},{"device":"opencl:0","target":"opencl -device=amd","driver":"AMD",)"
      R"("problem":"who may not open /dev/kfd"}],"missing":["expected a third"]})");
  ExpectAdviceWhereItIsNeeded(some);
  EXPECT_EQ(Of(some, "cuda:0").level, Level::kOk);
  EXPECT_EQ(Of(some, "cuda:0").found, "cuda -arch=sm_90a (H100, driver 12040)");
  EXPECT_EQ(Of(some, "opencl:0").level, Level::kWarning);
  EXPECT_THAT(Of(some, "opencl:0").found, HasSubstr("who may not open /dev/kfd"));
  EXPECT_EQ(Of(some, "devices").found, "no others behind a driver; expected a third");
  const Findings none = ReadDescription(
      std::string(kHead) + R"("devices":[],"missing":["expected CUDA","expected OpenCL"]})");
  ExpectAdviceWhereItIsNeeded(none);
  EXPECT_EQ(Of(none, "devices").found, "none behind a driver; expected CUDA; expected OpenCL");
}

v1::WhoAmIResponse WhoAmI() {
  v1::WhoAmIResponse answer;
  answer.set_name("ann");
  answer.set_role("submit");
  answer.set_daemon(std::string("hone ") + Version());
  answer.set_wall_time_ns(1000 * kDayNs);
  answer.set_certificate_ends_at_ns(1300 * kDayNs);
  return answer;
}

TEST(DoctorOfServers, ReadsWhoTheServerSaysWeAre) {
  v1::WhoAmIResponse answer = WhoAmI();
  const Findings fine = ReadWhoAmI(answer, answer.wall_time_ns() + kSecondNs);
  ExpectAdviceWhereItIsNeeded(fine);
  EXPECT_EQ(Of(fine, "role").found, "submit as ann");
  EXPECT_EQ(Of(fine, "clocks").level, Level::kOk);
  EXPECT_EQ(Of(fine, "certificate").found, "ends in 300 days");
  EXPECT_EQ(Of(fine, "token").found, "does not end");
  answer.set_daemon("hone 9.9");
  answer.set_ends_at_ns(1003 * kDayNs);
  answer.set_certificate_ends_at_ns(999 * kDayNs);
  const Findings poor = ReadWhoAmI(answer, answer.wall_time_ns() - 90 * kSecondNs);
  ExpectAdviceWhereItIsNeeded(poor);
  EXPECT_EQ(Of(poor, "server's release").level, Level::kWarning);
  EXPECT_EQ(Of(poor, "token").level, Level::kWarning);
  EXPECT_EQ(Of(poor, "certificate").level, Level::kProblem);
  EXPECT_EQ(Of(poor, "clocks").level, Level::kWarning);
  EXPECT_THAT(Of(poor, "clocks").found, HasSubstr("90.0 s before ours"));
}

TEST(DoctorOfServers, ReadsWhichDevicesTakeNoWork) {
  v1::ListWorkersResponse answer;
  EXPECT_EQ(Of(ReadWorkers(answer), "workers").level, Level::kWarning);
  v1::WorkerInfo& worker = *answer.add_workers();
  worker.set_worker("w1");
  worker.add_devices()->set_id("cpu0");
  worker.add_devices()->set_id("cpu1");
  worker.add_device_states();
  worker.add_device_states();
  EXPECT_EQ(ReadWorkers(answer).size(), 1u);
  worker.mutable_device_states(0)->set_is_away(true);
  worker.mutable_device_states(0)->set_away_reason("its cores went");
  (*worker.mutable_quarantined())["cpu1"] = "lost two";
  const Findings findings = ReadWorkers(answer);
  ExpectAdviceWhereItIsNeeded(findings);
  ASSERT_EQ(findings.size(), 3u);
  EXPECT_EQ(findings[0].found, "1 connected, 0 of them take work");
  EXPECT_THAT(findings[1].found, HasSubstr("its cores went"));
  EXPECT_THAT(findings[2].found, HasSubstr("lost two"));
  v1::Quarantine& put = *worker.add_quarantines();
  put.set_by("ann");
  put.set_reason("a new fan");
  EXPECT_THAT(ReadWorkers(answer)[1].found, HasSubstr("put aside by ann: a new fan"));
}

TEST(DoctorOfServers, OneThatIsNotThereIsAProblem) {
  const Findings findings = CheckServer("unix:/not/there");
  ExpectAdviceWhereItIsNeeded(findings);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].level, Level::kProblem);
}

TEST(DoctorOfDatabases, ReadsALittleAndLooksAtTheRoom) {
  const TestFolder folder;
  const std::string path = folder / "hone.db";
  EXPECT_EQ(Of(CheckDatabase(path), "database").level, Level::kOk) << "there is none yet";
  ASSERT_TRUE(tuning_db::OpenSqliteStore(path, tuning_db::OpenMode::kCreate).ok());
  const Findings fine = CheckDatabase(path, int64_t{1} << 40);
  ExpectAdviceWhereItIsNeeded(fine);
  EXPECT_EQ(Of(fine, "database").level, Level::kOk);
  EXPECT_EQ(Of(fine, "disk").found, "1024.0 GiB free");
  EXPECT_EQ(Of(CheckDatabase(path, int64_t{500} << 20), "disk").level, Level::kWarning);
  EXPECT_EQ(Of(CheckDatabase(path, 1000), "disk").level, Level::kProblem);
  WriteFile(path, "this is no database, whatever its name says");
  const Findings damaged = CheckDatabase(path);
  ExpectAdviceWhereItIsNeeded(damaged);
  EXPECT_EQ(Of(damaged, "database").level, Level::kProblem);
}

}  // namespace
}  // namespace hone::cli
