#include "tuner/service/call_subject.h"

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "hone/v1/auth.pb.h"
#include "hone/v1/farm.pb.h"
#include "hone/v1/log.pb.h"
#include "hone/v1/tuning.pb.h"

namespace hone::tuner {

namespace v1 = hone::v1;

namespace {

using nlohmann::json;

// The longest that a field may be; reasons and clients' names for jobs have as much.
constexpr size_t kMostTextBytes = 1024;

std::string Beginning(const std::string& text) { return text.substr(0, kMostTextBytes); }

void AddText(json& subject, const char* field, const std::string& text) {
  if (!text.empty()) subject[field] = Beginning(text);
}

using Reader = std::function<void(const void*, json&)>;

template <typename Message>
Reader Reads(void (*add)(const Message&, json&)) {
  return [add](const void* message, json& subject) {
    add(*static_cast<const Message*>(message), subject);
  };
}

template <typename Message>
Reader ReadsJob() {
  return Reads<Message>([](const Message& m, json& subject) { subject["job"] = m.id(); });
}

template <typename Message>
Reader ReadsNewJob() {
  return Reads<Message>([](const Message& m, json& subject) { subject["job"] = m.job().id(); });
}

template <typename Message>
Reader ReadsWorker() {
  return Reads<Message>(
      [](const Message& m, json& subject) { AddText(subject, "worker", m.worker()); });
}

template <typename Message>
Reader ReadsWorkerAndDevice() {
  return Reads<Message>([](const Message& m, json& subject) {
    AddText(subject, "worker", m.worker());
    AddText(subject, "device", m.device());
  });
}

Reader ReadsGrant() {
  return Reads<v1::AddGrantRequest>([](const v1::AddGrantRequest& m, json& subject) {
    AddText(subject, "grant", m.name());
    AddText(subject, "role", m.role());
  });
}

struct Readers {
  Reader request;
  Reader response = nullptr;
};

const std::map<std::string, Readers, std::less<>>& Methods() {
  static const std::map<std::string, Readers, std::less<>> kMethods = {
      {"/hone.v1.TuningService/SubmitJob",
       {Reads<v1::SubmitJobRequest>([](const v1::SubmitJobRequest& m, json& subject) {
          AddText(subject, "client_id", m.client_id());
        }),
        ReadsNewJob<v1::SubmitJobResponse>()}},
      {"/hone.v1.TuningService/CloneJob",
       {Reads<v1::CloneJobRequest>([](const v1::CloneJobRequest& m, json& subject) {
          AddText(subject, "client_id", m.client_id());
          subject["clone_of"] = m.id();
        }),
        ReadsNewJob<v1::CloneJobResponse>()}},
      {"/hone.v1.TuningService/GetJob", {ReadsJob<v1::GetJobRequest>()}},
      {"/hone.v1.TuningService/WatchJob", {ReadsJob<v1::WatchJobRequest>()}},
      {"/hone.v1.TuningService/CancelJob", {ReadsJob<v1::CancelJobRequest>()}},
      {"/hone.v1.TuningService/PauseJob", {ReadsJob<v1::PauseJobRequest>()}},
      {"/hone.v1.TuningService/ResumeJob", {ReadsJob<v1::ResumeJobRequest>()}},
      {"/hone.v1.TuningService/AddModelFinal",
       {Reads<v1::AddModelFinalRequest>([](const v1::AddModelFinalRequest& m, json& subject) {
          AddText(subject, "model", m.final().model());
          AddText(subject, "target", m.final().target());
        }),
        Reads<v1::AddModelFinalResponse>([](const v1::AddModelFinalResponse& m, json& subject) {
          subject["model_final"] = m.id();
        })}},
      {"/hone.v1.FarmService/Work",
       {Reads<v1::WorkRequest>([](const v1::WorkRequest& m, json& subject) {
         AddText(subject, "worker", m.hello().worker());
       })}},
      {"/hone.v1.FarmService/DrainWorker", {ReadsWorker<v1::DrainWorkerRequest>()}},
      {"/hone.v1.FarmService/UndrainWorker", {ReadsWorker<v1::UndrainWorkerRequest>()}},
      {"/hone.v1.FarmService/QuarantineWorker",
       {ReadsWorkerAndDevice<v1::QuarantineWorkerRequest>()}},
      {"/hone.v1.FarmService/ReleaseWorker", {ReadsWorkerAndDevice<v1::ReleaseWorkerRequest>()}},
      {"/hone.v1.LogService/RecordMisses",
       {Reads<v1::RecordMissesRequest>([](const v1::RecordMissesRequest& m, json& subject) {
         subject["misses"] = m.misses_size();
       })}},
      {"/hone.v1.LogService/ImportLog",
       {Reads<v1::ImportLogRequest>([](const v1::ImportLogRequest& m, json& subject) {
          subject["bytes"] = m.lines().size();
        }),
        Reads<v1::ImportLogResponse>([](const v1::ImportLogResponse& m, json& subject) {
          subject["records"] = m.records();
          subject["finals"] = m.finals();
        })}},
      {"/hone.v1.LogService/RetractRecord",
       {Reads<v1::RetractRecordRequest>([](const v1::RetractRecordRequest& m, json& subject) {
         subject["record"] = m.record();
       })}},
      {"/hone.v1.LogService/Prune",
       {Reads<v1::PruneRequest>([](const v1::PruneRequest& m, json& subject) {
          subject["before_ns"] = m.before_wall_ns();
        }),
        Reads<v1::PruneResponse>([](const v1::PruneResponse& m, json& subject) {
          subject["events"] = m.events();
          subject["samples"] = m.samples();
        })}},
      {"/hone.v1.AuthService/AddGrant", {ReadsGrant()}},
      {"/hone.v1.AuthService/ListGrants",
       {Reads<v1::ListGrantsRequest>([](const v1::ListGrantsRequest&, json&) {})}},
      {"/hone.v1.AuthService/RevokeGrants",
       {Reads<v1::RevokeGrantsRequest>([](const v1::RevokeGrantsRequest& m, json& subject) {
         AddText(subject, "grant", m.name());
       })}},
  };
  return kMethods;
}

}  // namespace

bool HasSubject(std::string_view method) { return Methods().contains(method); }

void AddSubjectOfRequest(std::string_view method, const void* message, json& subject) {
  const auto found = Methods().find(method);
  if (found != Methods().end() && message != nullptr) found->second.request(message, subject);
}

void AddSubjectOfResponse(std::string_view method, const void* message, json& subject) {
  const auto found = Methods().find(method);
  if (found == Methods().end() || !found->second.response || message == nullptr) return;
  found->second.response(message, subject);
}

}  // namespace hone::tuner
