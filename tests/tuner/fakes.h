// A tuner without compiler, builder, worker or time: everything is a pure function of the config.
#ifndef HONE_TESTS_TUNER_FAKES_H_
#define HONE_TESTS_TUNER_FAKES_H_

#include <algorithm>
#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "support/clock.h"
#include "support/random.h"
#include "tuner/builder.h"
#include "tuner/executor.h"
#include "tuner/farm/dispatcher.h"
#include "tuner/farm/worker_link.h"
#include "tuner/lowerer.h"
#include "tuner/search.h"

namespace hone::tuner {

inline constexpr char kFakeTarget[] = "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v3 -threads=1";

class FakeClock : public Clock {
 public:
  int64_t NowNs() const override { return now_ns; }
  int64_t WallTimeNs() const override { return now_ns; }
  int64_t now_ns = 1;
};

// Runs work when told to.
class ManualExecutor : public Executor {
 public:
  void Post(std::function<void()> work) override { queue_.push_back(std::move(work)); }
  bool RunOne();
  void Clear() { queue_.clear(); }

 private:
  std::deque<std::function<void()>> queue_;
};

// Hands work on to another executor, or holds it back.
class Gate : public Executor {
 public:
  explicit Gate(Executor* behind) : behind_(behind) {}
  void Post(std::function<void()> work) override;
  // The oldest that is held back goes on; false: there is none.
  bool LetOneThrough();
  void Open();
  void Clear() { held_.clear(); }

  bool is_closed = false;

 private:
  Executor* const behind_;
  std::deque<std::function<void()>> held_;
};

// What a config of the fake task does. The workload's text may hold the words "default_fails" (its
// default gives a wrong output) and "tiny" (a space of two configs).
struct FakeOutcome {
  hone::v1::BuildOutcome build = hone::v1::BUILD_OUTCOME_OK;
  hone::v1::MeasureOutcome measure = hone::v1::MEASURE_OUTCOME_OK;
  double ns = 0;
};
FakeOutcome OutcomeOf(const std::string& workload, const std::string& config);

// 512 configs in nine knobs; the last knob does nothing where the first is 0 (equal nests), and is
// 0 in configs stored before it existed. A workload whose text begins with "bad" is refused; one
// with "weights" in it has 2 MiB of constants (caches: 1 MiB, 32 MiB).
class FakeLowerer : public Lowerer {
 public:
  absl::StatusOr<std::shared_ptr<const TaskContext>> Open(const std::string& workload,
                                                          const std::string& signature,
                                                          const std::string& target) override;
  // Targets that differ in their -mcpu only.
  bool IsCompatible(const std::string& target, const std::string& other) const override;

  int default_index = 0;        // among the configs of the space
  std::atomic<int> opened = 0;  // workloads, so far
};

// Random over the space; what is settled changes what it proposes, as in a guided search.
class FakeSearch : public Search {
 public:
  std::vector<schedule::Config> NextBatch(const SearchState& state, int count) override;
};

// Builds at once, or as many requests as it is told to. An artifact is the text of its config.
class FakeBuilder : public Builder {
 public:
  // With an executor, replies come from it.
  explicit FakeBuilder(Executor* executor) : executor_(executor) {}
  void Build(const hone::v1::BuildBatch& batch, BuildCallback done) override;

  bool is_broken = false;  // every request fails through the builder's fault
  int fail_every = 0;      // so does each n-th; 0: none
  int built = 0;

 private:
  Executor* const executor_;
  int asked_ = 0;
};
hone::v1::BuildReply FakeBuild(const hone::v1::BuildRequest& request);

inline constexpr char kFakeFingerprint[] =
    "fa4edec1ce000000000000000000000000000000000000000000000000000000";

// The anchor's time of any task, where an assignment asks for it.
inline constexpr double kFakeAnchorNs = 60'000;

// What a worker reports for an assignment whose artifacts are these.
hone::v1::MeasureResult FakeMeasure(const hone::v1::Assignment& assignment,
                                    const std::vector<std::string>& artifacts);

// To measure one candidate, as a task of the fake target has them.
MeasureRequest FakeRequest(const tuning_db::Trial& trial);

// A worker at the dispatcher, without a stream between them. Obeys the protocol; its owner decides
// when it works, when its stream breaks and when it dies.
class FakeWorker {
 public:
  FakeWorker(std::string name, Dispatcher* dispatcher, int credit = 2)
      : name_(std::move(name)), dispatcher_(dispatcher), credit_(credit) {}

  hone::v1::Hello HelloMessage() const;
  void Connect();
  // The stream ends. A dead worker forgets what it holds.
  void Disconnect(bool dies);
  void SetDispatcher(Dispatcher* dispatcher) { dispatcher_ = dispatcher; }
  bool connected() const { return link_ != nullptr; }
  // Fetches for the oldest assignment, or runs it and sends its result; false: there is none.
  bool RunOne();
  // Sends the result again, acknowledged or not.
  void SendResult(const hone::v1::MeasureResult& result);

  void AskFor(const std::string& digest);
  // Whether the daemon has revoked the lease of this fence.
  // Why the fence was revoked, last; empty: it was not.
  std::string RevokedFor(int64_t fence) const {
    std::string reason;
    for (const auto& message : received) {
      if (message.has_revoke() && message.revoke().fence() == fence) {
        reason = message.revoke().reason();
      }
    }
    return reason;
  }
  bool WasRevoked(int64_t fence) const { return !RevokedFor(fence).empty(); }

  // What was received, for tests to look at.
  std::vector<hone::v1::WorkResponse> received;
  std::deque<hone::v1::Assignment> assignments;     // not yet run
  std::map<int64_t, hone::v1::MeasureResult> held;  // by fence, not acknowledged
  std::vector<hone::v1::MeasureResult> sent;
  std::set<int64_t> lethal_trials;  // the worker dies of them
  std::set<int64_t> losing_trials;  // they lose the device
  absl::Status closed;
  bool device_lost = false;  // every measurement fails through the device's fault
  bool is_mute = false;      // results and heartbeats do not reach the daemon
  void Send(const hone::v1::WorkRequest& message);

  // Changes what it reports; nullptr: nothing.
  std::function<void(const hone::v1::Assignment&, hone::v1::MeasureResult&)> tamper;
  std::vector<hone::v1::Assignment> ran;  // in order
  int runs = 0;
  std::string target = kFakeTarget;
  std::string fingerprint = kFakeFingerprint;
  double calibrator_ns = 0;  // of its devices
  std::string instance;      // of its Hello; empty: as of the release before
  uint32_t protocol = 3;     // the newest that it speaks
  std::string identity;      // who dials
  uint32_t welcomed_to = 0;  // the protocol of the daemon's Welcome

  // A device beside cpu0, from the next Connect on; all of them share this resource.
  void AddDevice(const std::string& id, const std::string& resource);
  void SendUpdate(const std::string& device, bool unplugged, hone::v1::SandboxLevel sandbox = {});
  void SendWindow(const std::string& device);
  // It begins the oldest assignment, says so, and ends it at the next RunOne.
  void Begin();

 private:
  class Link;
  void GiveCredit(int count);
  hone::v1::Device DeviceMessage(const std::string& id) const;
  void SendHeartbeat();
  void OnMessage(const hone::v1::WorkResponse& message);
  // Whether every artifact is here; asks for those that are not.
  bool Fetch(const hone::v1::Assignment& assignment);

  const std::string name_;
  Dispatcher* dispatcher_;
  const int credit_;
  std::shared_ptr<Link> link_;
  int64_t running_ = 0;  // the fence that it runs
  std::vector<std::string> devices_ = {"cpu0"};
  std::string resource_;  // of all of them; empty: none
  std::map<std::string, std::string> artifacts_;
};

}  // namespace hone::tuner

#endif  // HONE_TESTS_TUNER_FAKES_H_
