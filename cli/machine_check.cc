#include "cli/machine_check.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "runtime/host.h"
#include "support/clock.h"

namespace hone::cli {
namespace {

namespace fs = std::filesystem;

constexpr double kGiB = 1024.0 * 1024.0;  // in KiB, as the system counts
constexpr double kLittleMemory = 1 * kGiB;
constexpr double kTooLittleMemory = kGiB / 4;
// A chunk is read about once a millisecond, so a microsecond is a thousandth of it.
constexpr double kSlowClockNs = 1000;
constexpr const char* kCpus = "/sys/devices/system/cpu";

class Machine {
 public:
  explicit Machine(const MachineSeams& seams) : seams_(seams) {}

  Findings Check() {
    CheckProcessor();
    CheckCores();
    CheckLoad();
    CheckQuota();
    CheckGovernor();
    CheckTurbo();
    CheckSmt();
    CheckMemory();
    CheckHugePages();
    CheckClock();
    return std::move(findings_);
  }

 private:
  void Add(const char* check, Level level, std::string found, std::string advice = "") {
    findings_.push_back({check, level, std::move(found), std::move(advice)});
  }
  void Ok(const char* check, std::string found) { Add(check, Level::kOk, std::move(found)); }
  void Warn(const char* check, std::string found, std::string advice) {
    Add(check, Level::kWarning, std::move(found), std::move(advice));
  }

  // The whole of a small file, without the newline at its end; nullopt: it is not there, or may not
  // be read.
  std::optional<std::string> Read(const std::string& path) const {
    std::ifstream file(seams_.root + path);
    std::ostringstream text;
    if (!file || !(text << file.rdbuf())) return std::nullopt;
    std::string read = text.str();
    while (!read.empty() && read.back() == '\n') read.pop_back();
    return read;
  }
  // The value of a line "KEY : VALUE".
  std::optional<std::string> ValueIn(const std::string& path, std::string_view key) const {
    std::istringstream text(Read(path).value_or(""));
    for (std::string line; std::getline(text, line);) {
      const size_t colon = line.find(':');
      if (!line.starts_with(key) || colon == std::string::npos) continue;
      const size_t begin = line.find_first_not_of(" \t", colon + 1);
      return begin == std::string::npos ? "" : line.substr(begin);
    }
    return std::nullopt;
  }
  // The folders of the processors, cpu0 and so on.
  std::vector<std::string> Processors() const {
    std::vector<std::string> found;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(seams_.root + kCpus, none)) {
      const std::string name = entry.path().filename();
      const bool is_one = name.size() > 3 && name.starts_with("cpu") &&
                          name.find_first_not_of("0123456789", 3) == std::string::npos;
      if (is_one) found.push_back(fmt::format("{}/{}", kCpus, name));
    }
    return found;
  }

  void CheckProcessor() {
    const auto model = ValueIn("/proc/cpuinfo", "model name");
    Ok("processor", fmt::format("{}; target {}", model.value_or("of a kind that is not named"),
                                HostTargetText(seams_.usable_cores)));
  }

  void CheckCores() {
    const auto online = Read(std::string(kCpus) + "/online");
    const auto isolated = Read(std::string(kCpus) + "/isolated");
    std::string found = fmt::format("{} usable", seams_.usable_cores);
    if (online) found += ", online: " + *online;
    if (isolated && !isolated->empty()) found += ", isolated: " + *isolated;
    if (seams_.usable_cores > 1) return Ok("cores", found);
    Warn("cores", found,
         "building and measuring take turns on one core; give this process two or more");
  }

  void CheckLoad() {
    std::istringstream text(Read("/proc/loadavg").value_or(""));
    double load = 0;
    if (!(text >> load)) return;
    const std::string found = fmt::format("{:.2f} in the last minute", load);
    if (load < 0.5 || load < 0.25 * seams_.usable_cores) return Ok("load", found);
    Warn("load", found, "end what else runs here, or measure on fewer cores (--threads)");
  }

  void CheckQuota() {
    std::istringstream text(Read("/sys/fs/cgroup/cpu.max").value_or(""));
    std::string quota;
    double period = 0;
    if (!(text >> quota >> period) || period <= 0) return;
    if (quota == "max") return Ok("processor quota", "none");
    double quota_us = 0;
    std::from_chars(quota.data(), quota.data() + quota.size(), quota_us);
    Warn(
        "processor quota", fmt::format("{:.2f} cores (cgroup cpu.max)", quota_us / period),
        "a process over its quota is stopped in mid-measurement; give it cores of its own (cpuset) "
        "instead");
  }

  void CheckGovernor() {
    std::set<std::string> governors;
    for (const std::string& processor : Processors()) {
      const auto governor = Read(processor + "/cpufreq/scaling_governor");
      if (governor) governors.insert(*governor);
    }
    if (governors.empty()) return Ok("governor", "this system does not tell");
    const std::string found = fmt::format("{}", fmt::join(governors, ", "));
    if (governors == std::set<std::string>{"performance"}) return Ok("governor", found);
    Warn("governor", found,
         "cpupower frequency-set -g performance: clocks that rise while a "
         "candidate runs favour whoever runs late");
  }

  void CheckTurbo() {
    const auto no_turbo = Read(std::string(kCpus) + "/intel_pstate/no_turbo");
    const auto boost = Read(std::string(kCpus) + "/cpufreq/boost");
    if (!no_turbo && !boost) return Ok("turbo", "this system does not tell");
    if (no_turbo ? *no_turbo == "1" : *boost == "0") return Ok("turbo", "off");
    Warn("turbo", "on",
         no_turbo ? "echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo, where figures of "
                    "different hours are to be compared; ratios within a run hold without"
                  : "echo 0 > /sys/devices/system/cpu/cpufreq/boost, where figures of different "
                    "hours are to be compared; ratios within a run hold without");
  }

  void CheckSmt() {
    const auto active = Read(std::string(kCpus) + "/smt/active");
    if (!active) return Ok("SMT", "this system does not tell");
    if (*active != "1") return Ok("SMT", "off");
    Warn("SMT", "on: two threads share a core",
         "echo off > /sys/devices/system/cpu/smt/control, or keep one thread of each core free "
         "(taskset): what runs on the other disturbs a measurement");
  }

  void CheckMemory() {
    const auto kib = [&](const char* key) {
      std::istringstream text(ValueIn("/proc/meminfo", key).value_or(""));
      double value = -1;
      text >> value;
      return value;
    };
    const double available = kib("MemAvailable");
    const double total = kib("MemTotal");
    if (available < 0 || total < 0) return;
    const std::string found =
        fmt::format("{:.1f} GiB free of {:.1f} GiB", available / kGiB, total / kGiB);
    if (available >= kLittleMemory) return Ok("memory", found);
    Add("memory", available < kTooLittleMemory ? Level::kProblem : Level::kWarning, found,
        "end what else takes memory: candidates that find none fail, and builders take some "
        "hundred "
        "megabytes each");
  }

  void CheckHugePages() {
    const auto pages = Read("/sys/kernel/mm/transparent_hugepage/enabled");
    if (!pages) return Ok("huge pages", "this system does not tell");
    const size_t begin = pages->find('[');
    const size_t end = pages->find(']');
    if (begin == std::string::npos || end == std::string::npos || end < begin) return;
    const std::string chosen = pages->substr(begin + 1, end - begin - 1);
    if (chosen != "never") return Ok("huge pages", chosen);
    Warn(
        "huge pages", chosen,
        "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled: compiled models ask for them");
  }

  void CheckClock() {
    const auto source = Read("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    const std::string found = fmt::format("{}, {:.0f} ns to read",
                                          source.value_or("of an unknown source"), seams_.clock_ns);
    if (seams_.clock_ns < kSlowClockNs) return Ok("clock", found);
    Warn("clock", found,
         "boot with a faster clocksource (tsc, kvm-clock): short kernels are timed by it");
  }

  const MachineSeams& seams_;
  Findings findings_;
};

// The least of a few rounds: whatever disturbs one makes it longer.
double ClockNs() {
  constexpr int kRounds = 5;
  constexpr int kReads = 20'000;
  const Clock& clock = Clock::Real();
  double least = 0;
  for (int round = 0; round < kRounds; ++round) {
    const int64_t begin = clock.NowNs();
    int64_t end = begin;
    for (int read = 0; read < kReads; ++read) end = clock.NowNs();
    const double one = static_cast<double>(end - begin) / kReads;
    if (round == 0 || one < least) least = one;
  }
  return least;
}

}  // namespace

MachineSeams RealMachine() {
  return {.root = "", .usable_cores = HostCoreCount(), .clock_ns = ClockNs()};
}

Findings CheckMachine(const MachineSeams& seams) { return Machine(seams).Check(); }

}  // namespace hone::cli
