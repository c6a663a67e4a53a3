// What goes over a stream, as its daemon's end sees it, written into the history.
#include <utility>

#include "tests/farm_simulator/network.h"

namespace hone::sim {

namespace v1 = hone::v1;

namespace {

// How long a lease may run that carries no limit of its own: as the dispatcher of protocol 2 has
// it.
int64_t LimitOf(const v1::Assignment& assignment) {
  if (assignment.lease_ns() > 0) return assignment.lease_ns();
  const int64_t runs =
      assignment.candidates_size() + assignment.has_reference() + assignment.has_anchor();
  return kLeaseSlackNs + runs * assignment.run_limit_ns();
}

Echo EchoOf(const v1::MeasureResult& result) {
  Echo echo;
  for (const v1::CandidateResult& candidate : result.candidates()) {
    echo.artifacts.push_back(candidate.artifact_digest());
  }
  echo.fingerprint = result.device_fingerprint();
  if (result.candidates_size() == 0) return echo;
  const v1::CandidateResult& first = result.candidates(0);
  echo.toolchain = first.toolchain();
  echo.regime = first.regime();
  if (first.samples_ns_size() > 0) echo.sample_ns = first.samples_ns(0);
  return echo;
}

}  // namespace

void Stream::Write(Event event) {
  event.at_ns = network_->queue_->now_ns();
  event.stream = id_;
  event.worker = worker_;
  network_->history_->push_back(std::move(event));
}

void Stream::WriteRequest(const v1::WorkRequest& message) {
  switch (message.message_case()) {
    case v1::WorkRequest::kHello: {
      const v1::Hello& hello = message.hello();
      Write({.what = What::kHello,
             .text = hello.instance(),
             .fences = {hello.held_fences().begin(), hello.held_fences().end()}});
      for (const v1::Device& device : hello.devices()) {
        Write({.what = What::kDevice,
               .device = device.id(),
               .resources = {device.resources().begin(), device.resources().end()}});
      }
      break;
    }
    case v1::WorkRequest::kCredit:
      Write({.what = What::kCredit,
             .device = message.credit().device(),
             .number = message.credit().count()});
      break;
    case v1::WorkRequest::kWindow:
      Write({.what = What::kWindow,
             .device = message.window().device(),
             .number = message.window().size()});
      break;
    case v1::WorkRequest::kResult: {
      const v1::MeasureResult& result = message.result();
      Write({.what = What::kResult,
             .trial = result.trial(),
             .fence = result.fence(),
             .device = result.device(),
             .echo = EchoOf(result)});
      break;
    }
    case v1::WorkRequest::kHeartbeat:
      for (const v1::Running& running : message.heartbeat().running()) {
        Write({.what = What::kRunning,
               .fence = running.fence(),
               .device = running.device(),
               .number = running.running_ns()});
      }
      break;
    default:
      break;
  }
}

void Stream::WriteResponse(const v1::WorkResponse& message) {
  switch (message.message_case()) {
    case v1::WorkResponse::kWelcome:
      Write({.what = What::kWelcome, .number = message.welcome().protocol()});
      break;
    case v1::WorkResponse::kAssignment: {
      const v1::Assignment& assignment = message.assignment();
      Event event{.what = What::kOffer,
                  .trial = assignment.trial(),
                  .fence = assignment.fence(),
                  .device = assignment.device(),
                  .number = LimitOf(assignment)};
      for (const v1::Candidate& candidate : assignment.candidates()) {
        event.echo.artifacts.push_back(candidate.artifact_digest());
      }
      if (assignment.candidates_size() > 0) {
        event.echo.toolchain = assignment.candidates(0).toolchain();
      }
      event.echo.regime = assignment.timing().regime();
      event.echo.fingerprint = fingerprints_[assignment.device()];
      Write(std::move(event));
      break;
    }
    case v1::WorkResponse::kAcknowledge:
      Write({.what = What::kAcknowledge, .fence = message.acknowledge().fence()});
      break;
    case v1::WorkResponse::kRevoke:
      Write({.what = What::kRevoke, .fence = message.revoke().fence()});
      break;
    default:
      break;
  }
}

}  // namespace hone::sim
