// A farm in operation: it is stopped and started again under way, and watched.
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <set>
#include <sstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "support/child_process.h"
#include "tests/cli/farm_fixture.h"
#include "tests/cli/run_hone.h"
#include "tests/paths.h"
#include "tuning_db/store.h"

namespace hone::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

// A process that is told to stop has so long.
constexpr int64_t kStopNs = 30 * kSecondNs;

class Operation : public FarmAtASocket {
 protected:
  std::unique_ptr<tuning_db::Store> Open() const {
    return tuning_db::OpenSqliteStore(folder_ / "hone.db", tuning_db::OpenMode::kReadOnly).value();
  }
  size_t CountRecords() const { return Open()->Records({}).value().size(); }
};

// Told to stop by SIGTERM, it ends in time and by itself.
void ExpectStops(ChildProcess& process) {
  const int status = process.Stop(kStopNs);
  EXPECT_TRUE(WIFEXITED(status)) << "it had to be killed";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

// It was told to stop; a second signal would end it at once.
void ExpectEnds(ChildProcess& process) {
  EXPECT_TRUE(Eventually([&] { return process.HasEnded(); }));
  ExpectStops(process);
}

TEST_F(Operation, ARollingRestartUnderAJobLeavesItsBudgetExact) {
  constexpr int64_t kTrials = 24;
  StartHoned();
  StartWorker("w1");
  StartWorker("w2");
  const json job =
      Hone({"job", "submit", "mlp.onnx", "--trials", std::to_string(kTrials), "--full-budget"});
  const std::string id = std::to_string(job["job"].get<int64_t>());
  const auto await_more = [&] {
    const size_t before = CountRecords();
    ASSERT_TRUE(Eventually([&] { return CountRecords() > before; }));
  };
  await_more();
  for (const char* name : {"w1", "w2"}) {
    ExpectStops(*workers_[name]);
    StartWorker(name);
    await_more();
  }
  ExpectStops(*honed_);
  StartHoned();
  await_more();
  ASSERT_EQ(Hone({"job", "show", id})["state"], "running") << "all of that was under way";
  const auto state = [&] { return Hone({"job", "show", id})["state"].get<std::string>(); };
  ASSERT_TRUE(Eventually([&] { return state() == "done" || state() == "failed"; }));
  EXPECT_EQ(state(), "done");

  const auto store = Open();
  EXPECT_TRUE(store->OpenTrials(0).value().empty());
  int64_t spent = 0;
  std::set<int64_t> settled;
  std::set<int64_t> fences;
  const std::vector<tuning_db::Record> records = store->Records({}).value();
  for (const tuning_db::Record& record : records) {
    EXPECT_TRUE(settled.insert(record.trial).second) << "settled twice: " << record.trial;
    EXPECT_TRUE(fences.insert(record.of_trial.fence).second);
    EXPECT_NE(record.outcome, tuning_db::Outcome::kDeviceLost);
    spent += record.of_trial.purpose == tuning_db::Purpose::kSearch;
  }
  int64_t searched = 0;
  const json shown = Hone({"job", "show", id});
  for (const json& task : shown["tasks"]) {
    searched += task["trials"].get<int64_t>();
    if (task["ended"] == "space used up") {
      EXPECT_LT(task["trials"], kTrials) << task;
    } else {
      EXPECT_EQ(task["trials"], kTrials) << task;
    }
  }
  EXPECT_EQ(searched, spent);
  const std::vector<std::string> faults = store->Check().value();
  for (const std::string& fault : faults) ADD_FAILURE() << fault;
}

// What a service manager hears at a socket.
class ServiceManagerSocket {
 public:
  explicit ServiceManagerSocket(const std::string& path)
      : fd_(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.data(), path.size());
    EXPECT_EQ(bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    setenv("NOTIFY_SOCKET", path.c_str(), 1);
    setenv("WATCHDOG_USEC", "600000", 1);
  }
  ~ServiceManagerSocket() {
    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_USEC");
    close(fd_);
  }
  // Whether it hears that within a minute; what it hears before is forgotten.
  bool Hears(const std::string& state) {
    return Eventually([&] {
      std::array<char, 256> text;
      const ssize_t size = recv(fd_, text.data(), text.size(), MSG_DONTWAIT);
      return size > 0 && std::string(text.data(), static_cast<size_t>(size)).starts_with(state);
    });
  }

 private:
  const int fd_;
};

TEST_F(Operation, AServiceManagerIsToldHowDaemonAndWorkerFare) {
  {
    ServiceManagerSocket manager(folder_ / "notify");
    StartHoned();
    EXPECT_TRUE(manager.Hears("READY=1\nSTATUS=serves unix:"));
    EXPECT_TRUE(manager.Hears("WATCHDOG=1"));
    EXPECT_TRUE(manager.Hears("WATCHDOG=1")) << "again";
    kill(honed_->pid(), SIGTERM);
    EXPECT_TRUE(manager.Hears("STOPPING=1"));
    ExpectEnds(*honed_);
  }
  StartHoned();
  ServiceManagerSocket manager(folder_ / "notify2");
  StartWorker("w1");
  EXPECT_TRUE(manager.Hears("READY=1\nSTATUS=measures for unix:"));
  EXPECT_TRUE(manager.Hears("WATCHDOG=1"));
  EXPECT_TRUE(manager.Hears("WATCHDOG=1")) << "again";
  kill(workers_["w1"]->pid(), SIGTERM);
  EXPECT_TRUE(manager.Hears("STOPPING=1"));
  ExpectEnds(*workers_["w1"]);
}

// Each line of the file is an object of JSON.
std::vector<json> LinesOf(const std::string& path) {
  std::istringstream text(ReadFile(path));
  std::vector<json> lines;
  for (std::string line; std::getline(text, line);) {
    lines.push_back(json::parse(line, nullptr, false));
    EXPECT_TRUE(lines.back().is_object()) << line;
  }
  return lines;
}

TEST_F(Operation, DaemonAndWorkerLogAnObjectALine) {
  const auto start = [&](const std::string& command, const std::string& log) {
    return ChildProcess::Start({"/bin/sh", "-c",
                                "exec " HONE_BIN_DIR "/" + command + " --log-format json 2> '" +
                                    (folder_ / log) + "'"})
        .value();
  };
  ChildProcess honed = start("honed --db '" + (folder_ / "hone.db") + "'", "honed.log");
  ASSERT_TRUE(honed.ReadLine(30 * kSecondNs).ok());
  ChildProcess worker = start("hone-measure --threads 1 --name 'a \"name\"'", "worker.log");
  ASSERT_TRUE(Eventually([&] { return WorkerNames().contains("a \"name\""); }));
  ExpectStops(worker);
  ExpectStops(honed);
  const std::vector<json> of_honed = LinesOf(folder_ / "honed.log");
  const auto joined = std::ranges::find_if(of_honed, [](const json& line) {
    return line["message"].get<std::string>().ends_with("joined");
  });
  ASSERT_NE(joined, of_honed.end());
  EXPECT_EQ((*joined)["component"], "honed");
  EXPECT_EQ((*joined)["level"], "info");
  EXPECT_EQ((*joined)["worker"], "a \"name\"");
  EXPECT_FALSE(LinesOf(folder_ / "worker.log").empty());
  // What keeps it from starting is such a line, too.
  ChildProcess refused = start("honed --db '" + (folder_ / "mlp.onnx") + "'", "refused.log");
  ASSERT_TRUE(Eventually([&] { return refused.HasEnded(); }));
  EXPECT_EQ(LinesOf(folder_ / "refused.log").back()["level"], "critical");
}

TEST_F(Operation, DoctorExaminesMachineDatabaseServerAndWorkers) {
  StartHoned();
  StartWorker("w1");
  const json document = Hone({"doctor"});
  std::map<std::string, json> found;
  for (const json& finding : document["findings"]) found[finding["check"]] = finding;
  for (const char* check : {"processor", "cores", "clock", "sandbox", "steadiness", "database",
                            "disk", "server", "server's release", "clocks", "role", "workers"}) {
    ASSERT_TRUE(found.contains(check)) << check;
  }
  EXPECT_EQ(found["server"]["level"], "ok");
  EXPECT_EQ(found["server's release"]["level"], "ok");
  EXPECT_THAT(found["role"]["found"].get<std::string>(), HasSubstr("admin"));
  EXPECT_EQ(found["workers"]["found"], "1 connected, 1 of them take work");
  for (const auto& [check, finding] : found) {
    EXPECT_EQ(finding["advice"].get<std::string>().empty(), finding["level"] == "ok") << check;
  }
  const Finished nobody = RunHone({"doctor", "--server", "unix:/not/there"}, folder_.path());
  EXPECT_EQ(nobody.exit_code, 1);
  EXPECT_THAT(nobody.out, HasSubstr("problem  server"));
  EXPECT_THAT(nobody.err, HasSubstr("checks found a problem"));
}

}  // namespace
}  // namespace hone::cli
