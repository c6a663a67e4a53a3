// What a daemon may say to a worker: whatever it is, the worker answers what it was assigned and
// nothing else, and ends when it is told to.
#include <mutex>
#include <set>
#include <thread>

#include "measure_server/router.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/text_messages.h"

namespace {

using namespace hone;
using namespace hone::measure;

constexpr uint64_t kMostArtifactBytes = uint64_t{1} << 20;

RouterOptions Options() {
  RouterOptions options;
  options.hello.set_worker("w");
  for (const char* id : {"cpu0", "cpu1"}) {
    hone::v1::Device& device = *options.hello.add_devices();
    device.set_id(id);
    device.add_resources("cores 0-1");
  }
  options.artifact_cache_bytes = 2 * kMostArtifactBytes;
  options.max_artifact_bytes = kMostArtifactBytes;
  options.cancel = [](const std::string&, int64_t) {};
  return options;
}

void MeasureAll(Router& router, const std::string& device) {
  while (const std::optional<Job> job = router.Next(device)) {
    router.Finish(device, FailedResult(job->assignment, hone::v1::MEASURE_OUTCOME_OK, ""));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::mutex mutex;
  std::set<int64_t> assigned;
  Router router(Options(), &Clock::Real());
  std::thread first([&router] { MeasureAll(router, "cpu0"); });
  std::thread second([&router] { MeasureAll(router, "cpu1"); });
  router.Connected([&](const hone::v1::WorkRequest& message) {
    if (!message.has_result()) return;
    const std::lock_guard lock(mutex);
    fuzz::Require(assigned.contains(message.result().fence()),
                  "results are sent of what was assigned");
  });
  for (const std::string_view text : fuzz::MessageTexts(fuzz::Text(data, size))) {
    const auto message = fuzz::TextMessage<hone::v1::WorkResponse>(text);
    if (message.has_assignment()) {
      const std::lock_guard lock(mutex);
      assigned.insert(message.assignment().fence());
    }
    router.Receive(message);
    fuzz::Require(!router.HeartbeatMessage().has_result(), "a heartbeat is one");
  }
  router.Disconnected();
  router.Stop();
  first.join();
  second.join();
  fuzz::Require(router.is_finished(), "a worker that is stopped is finished");
  return 0;
}
