// What a worker may say to a daemon: whatever it is, the other workers' trials are settled once and
// nothing is stored that was not measured.
#include <set>

#include "support/clock.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/text_messages.h"
#include "tests/tuner/world.h"

namespace {

using namespace hone;
using namespace hone::tuner;

// Above the grace of a stream that broke.
constexpr int64_t kGraceNs = 31 * kSecondNs;

class Stranger final : public WorkerLink {
 public:
  void Send(hone::v1::WorkResponse) override {}
  void Close(absl::Status) override { is_closed = true; }
  std::string identity() const override { return "uid:2000"; }

  bool is_closed = false;
};

void Talk(World& world, std::string_view text) {
  auto link = std::make_shared<Stranger>();
  world.dispatcher->Opened(link);
  for (const std::string_view message : fuzz::MessageTexts(text)) {
    world.dispatcher->Receive(link, fuzz::TextMessage<hone::v1::WorkRequest>(message));
    world.Drain();
    world.Wait(kSecondNs / 5);
    if (link->is_closed) break;
  }
  world.dispatcher->Closed(link);
  world.Drain();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr int64_t kTrials = 8;
  World world;
  FakeWorker& honest = world.AddWorker("honest");
  honest.Disconnect(/*dies=*/true);
  honest.identity = "uid:1000";
  honest.instance = "1";
  honest.Connect();
  const int64_t job = world.Submit({.trials = kTrials});
  world.Run(40);
  Talk(world, fuzz::Text(data, size));
  fuzz::Require(honest.connected(), "what one worker says ends no other's stream");
  for (int i = 0; i < 8 && !tuning_db::HasEnded(world.GetJob(job).state); ++i) {
    world.Run(2000);
    world.Wait(kGraceNs);
    if (!honest.connected()) honest.Connect();  // nobody heard of it for so long
  }
  fuzz::Require(tuning_db::HasEnded(world.GetJob(job).state), "a job ends whatever a worker says");
  std::set<int64_t> settled;
  int64_t searched = 0;
  const std::vector<tuning_db::Record> records = world.store->Records({}).value();
  for (const tuning_db::Record& record : records) {
    fuzz::Require(settled.insert(record.trial).second, "a trial is settled once");
    searched += record.of_trial.purpose == tuning_db::Purpose::kSearch ? 1 : 0;
    fuzz::Require(record.worker != "honest" || record.device == kFakeFingerprint,
                  "nobody answers in another's name");
  }
  fuzz::Require(searched <= kTrials, "no more is spent than the budget");
  fuzz::Require(world.GetJob(job).state != tuning_db::JobState::kDone || searched == kTrials,
                "a job that is done has spent its budget");
  return 0;
}
