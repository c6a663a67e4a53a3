#include "tuner/service/watch_stream.h"

#include <utility>

#include "tuner/service/grpc_status.h"

namespace hone::tuner {

namespace v1 = hone::v1;

namespace {
constexpr int64_t kEventsAtOnce = 64;
}

grpc::ServerWriteReactor<v1::WatchJobResponse>* WatchStream::Start(
    const TuningServiceParts& parts, grpc::CallbackServerContext& context,
    const v1::WatchJobRequest& request) {
  std::shared_ptr<WatchStream> stream(new WatchStream(parts, request));
  stream->self_ = stream;
  stream->live_ = parts.callers->Hold(context);
  const std::weak_ptr<WatchStream> weak = stream;
  stream->subscription_ = parts.hub->Subscribe(stream->job_, [weak, executor = parts.watchers] {
    executor->Post([weak] {
      if (const auto alive = weak.lock()) alive->Read();
    });
  });
  stream->Wake();
  return stream.get();
}

void WatchStream::Wake() {
  parts_.watchers->Post([weak = weak_from_this()] {
    if (const auto alive = weak.lock()) alive->Read();
  });
}

void WatchStream::Read() {
  {
    const std::lock_guard lock(mutex_);
    if (ended_ || writing_) return;  // the end of the write wakes it again
  }
  // The state first: an ended job has no events after those that are listed then.
  const auto job = parts_.store->GetJob(job_);
  if (!job.ok()) return End(ToGrpc(job.status()));
  const auto events = parts_.store->ListEvents(job_, last_seq_, kEventsAtOnce);
  if (!events.ok()) return End(ToGrpc(events.status()));
  if (events->empty()) {
    if (tuning_db::HasEnded(job->state)) End(grpc::Status::OK);
    return;
  }
  auto info = parts_.reporter->Report(job_, JobReporter::Spec::kWithoutTasks);
  if (!info.ok()) return End(ToGrpc(info.status()));
  if (changes_only_) KeepChanges(*info);
  const v1::WatchJobResponse* first = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return;
    for (const tuning_db::Event& event : *events) {
      v1::WatchJobResponse& message = queue_.emplace_back();
      message.set_seq(event.seq);
      message.set_kind(event.kind);
      message.set_payload(event.payload);
      *message.mutable_job() = *info;
      if (changes_only_) info->clear_tasks();  // the batch's first event has told
      last_seq_ = event.seq;
    }
    writing_ = true;
    first = &queue_.front();
  }
  StartWrite(first);
}

void WatchStream::KeepChanges(v1::JobInfo& job) {
  google::protobuf::RepeatedPtrField<v1::TaskProgress> changed;
  for (v1::TaskProgress& task : *job.mutable_tasks()) {
    std::string& last = sent_[{task.workload_digest(), task.signature()}];
    std::string now = task.SerializeAsString();
    if (now == last) continue;
    last = std::move(now);
    changed.Add(std::move(task));
  }
  job.mutable_tasks()->Swap(&changed);
}

void WatchStream::OnWriteDone(bool ok) {
  const v1::WatchJobResponse* next = nullptr;
  bool has_ended = false;
  {
    const std::lock_guard lock(mutex_);
    queue_.pop_front();
    if (!ok || ended_) queue_.clear();
    if (queue_.empty()) {
      writing_ = false;
      has_ended = ended_;
    } else {
      next = &queue_.front();
    }
  }
  if (next != nullptr) {
    StartWrite(next);
  } else if (has_ended) {
    Finish(status_);
  } else if (ok) {
    Wake();
  } else {
    End(grpc::Status::CANCELLED);
  }
}

void WatchStream::OnCancel() { End(grpc::Status::CANCELLED); }

void WatchStream::End(const grpc::Status& status) {
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return;
    ended_ = true;
    status_ = status;
    // Once gRPC has finished with the stream, nothing may be written: the write comes first.
    if (writing_) return;
  }
  Finish(status_);
}

void WatchStream::OnDone() {
  parts_.hub->Unsubscribe(subscription_);
  live_.reset();  // the context goes, also while a read is under way
  // The last owner, unless a read is under way.
  const std::shared_ptr<WatchStream> self = std::move(self_);
}

}  // namespace hone::tuner
