#include "tests/tuner/grpc_worker.h"

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <deque>
#include <thread>
#include <utility>
#include <vector>

#include "hone/v1/farm.grpc.pb.h"
#include "runtime/module_abi.h"
#include "tests/tuner/fakes.h"

namespace hone::tuner {

namespace v1 = hone::v1;

void GrpcWorker::Run() {
  while (!stopping_) {
    ServeOneStream();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));  // before it dials again
  }
}

void GrpcWorker::ServeOneStream() {
  const auto channel = grpc::CreateChannel(address_, grpc::InsecureChannelCredentials());
  const auto soon = std::chrono::system_clock::now() + std::chrono::milliseconds(200);
  if (!channel->WaitForConnected(soon)) return;
  const auto stub = v1::FarmService::NewStub(channel);
  grpc::ClientContext context;
  const auto stream = stub->Work(&context);
  // Ends the stream when told to.
  std::atomic<bool> ended = false;
  std::thread watchdog([&] {
    while (!ended && !stopping_) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    context.TryCancel();
  });

  v1::WorkRequest message;
  v1::Hello& hello = *message.mutable_hello();
  hello = FakeWorker(name_, nullptr).HelloMessage();
  for (const auto& [fence, result] : held_) hello.add_held_fences(fence);
  bool is_up = stream->Write(message);
  for (const auto& [fence, result] : held_) {
    *message.mutable_result() = result;
    is_up = is_up && stream->Write(message);
  }
  message.mutable_window()->set_device("cpu0");
  message.mutable_window()->set_size(2);
  is_up = is_up && stream->Write(message);

  std::deque<v1::Assignment> queue;
  v1::WorkResponse answer;
  while (is_up && stream->Read(&answer)) {
    if (answer.has_acknowledge()) held_.erase(answer.acknowledge().fence());
    if (answer.has_revoke()) held_.erase(answer.revoke().fence());
    if (answer.has_heartbeat()) {
      message.mutable_heartbeat();
      is_up = stream->Write(message);
    }
    if (answer.has_chunk()) artifacts_[answer.chunk().digest()] += answer.chunk().data();
    if (answer.has_assignment()) {
      queue.push_back(answer.assignment());
      for (const v1::Candidate& candidate : answer.assignment().candidates()) {
        if (artifacts_.count(candidate.artifact_digest()) > 0) continue;
        message.mutable_fetch()->set_digest(candidate.artifact_digest());
        is_up = is_up && stream->Write(message);
      }
    }
    while (is_up && !queue.empty()) {
      std::vector<std::string> artifacts;
      for (const v1::Candidate& candidate : queue.front().candidates()) {
        const auto it = artifacts_.find(candidate.artifact_digest());
        if (it == artifacts_.end() || it->second.size() < candidate.artifact_bytes()) break;
        artifacts.push_back(it->second);
      }
      if (static_cast<int>(artifacts.size()) < queue.front().candidates_size()) break;
      v1::Running& running = *message.mutable_heartbeat()->add_running();
      running.set_device("cpu0");
      running.set_fence(queue.front().fence());
      is_up = stream->Write(message);
      message.Clear();
      std::this_thread::sleep_for(std::chrono::microseconds(delay_us_));
      const v1::MeasureResult result = FakeMeasure(queue.front(), artifacts);
      queue.pop_front();
      held_[result.fence()] = result;
      *message.mutable_result() = result;
      is_up = is_up && stream->Write(message);
    }
  }
  ended = true;
  watchdog.join();
  (void)stream->Finish();
}

}  // namespace hone::tuner
