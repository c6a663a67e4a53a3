#include "tuner/service/tuning_service.h"

#include <fmt/format.h>

#include "hone/v1/tuning.grpc.pb.h"
#include "support/clock.h"
#include "support/status.h"
#include "tuner/model_final/model_final_message.h"
#include "tuner/service/grpc_status.h"
#include "tuner/service/page.h"
#include "tuner/service/watch_stream.h"
#include "tuning_db/resolve.h"

namespace hone::tuner {

namespace v1 = hone::v1;

namespace {

grpc::ServerUnaryReactor* Answer(grpc::CallbackServerContext* context, const absl::Status& status) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(ToGrpc(status));
  return reactor;
}

class TuningServiceImpl final : public v1::TuningService::CallbackService {
 public:
  explicit TuningServiceImpl(TuningServiceParts parts) : parts_(parts) {}

  grpc::ServerUnaryReactor* SubmitJob(grpc::CallbackServerContext* context,
                                      const v1::SubmitJobRequest* request,
                                      v1::SubmitJobResponse* response) override {
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    parts_.desk->Submit(*request, SubmitterOf(context),
                        AnswerWithJob(reactor, response->mutable_job()));
    return reactor;
  }

  grpc::ServerUnaryReactor* CloneJob(grpc::CallbackServerContext* context,
                                     const v1::CloneJobRequest* request,
                                     v1::CloneJobResponse* response) override {
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    parts_.desk->Clone(*request, SubmitterOf(context),
                       AnswerWithJob(reactor, response->mutable_job()));
    return reactor;
  }

  grpc::ServerUnaryReactor* GetJob(grpc::CallbackServerContext* context,
                                   const v1::GetJobRequest* request,
                                   v1::GetJobResponse* response) override {
    for (const auto& [phase, seconds] : parts_.phase_seconds->OfJob(request->id())) {
      (*response->mutable_phase_seconds())[phase] = seconds;
    }
    return Answer(context, Fill(request->id(), JobReporter::Spec::kWhole, response->mutable_job()));
  }

  grpc::ServerUnaryReactor* ListJobs(grpc::CallbackServerContext* context,
                                     const v1::ListJobsRequest* request,
                                     v1::ListJobsResponse* response) override {
    return Answer(context, List(*request, *response));
  }

  grpc::ServerWriteReactor<v1::WatchJobResponse>* WatchJob(
      grpc::CallbackServerContext* context, const v1::WatchJobRequest* request) override {
    return WatchStream::Start(parts_, *context, *request);
  }

  grpc::ServerUnaryReactor* CancelJob(grpc::CallbackServerContext* context,
                                      const v1::CancelJobRequest* request,
                                      v1::CancelJobResponse* response) override {
    return Steer(&TuningLoop::CancelJob, context, request->id(), response->mutable_job());
  }

  grpc::ServerUnaryReactor* PauseJob(grpc::CallbackServerContext* context,
                                     const v1::PauseJobRequest* request,
                                     v1::PauseJobResponse* response) override {
    return Steer(&TuningLoop::PauseJob, context, request->id(), response->mutable_job());
  }

  grpc::ServerUnaryReactor* ResumeJob(grpc::CallbackServerContext* context,
                                      const v1::ResumeJobRequest* request,
                                      v1::ResumeJobResponse* response) override {
    return Steer(&TuningLoop::ResumeJob, context, request->id(), response->mutable_job());
  }

  grpc::ServerUnaryReactor* GetConfigs(grpc::CallbackServerContext* context,
                                       const v1::GetConfigsRequest* request,
                                       v1::GetConfigsResponse* response) override {
    return Answer(context, Resolve(*request, *response));
  }

  grpc::ServerUnaryReactor* AddModelFinal(grpc::CallbackServerContext* context,
                                          const v1::AddModelFinalRequest* request,
                                          v1::AddModelFinalResponse* response) override {
    tuning_db::ModelFinal final = FromProto(request->final());
    final.wall_time_ns = Clock::Real().WallTimeNs();
    const absl::StatusOr<int64_t> id = parts_.store->AddModelFinal(final);
    if (id.ok()) response->set_id(*id);
    return Answer(context, id.status());
  }

  grpc::ServerUnaryReactor* GetModelFinal(grpc::CallbackServerContext* context,
                                          const v1::GetModelFinalRequest* request,
                                          v1::GetModelFinalResponse* response) override {
    const auto final = parts_.store->NewestModelFinal(request->skeleton(), request->target());
    if (final.ok() && *final) *response->mutable_final() = ToProto(**final);
    return Answer(context, final.status());
  }

 private:
  Caller CallerOf(grpc::CallbackServerContext* context) const {
    return parts_.callers->Of(*context);
  }

  Submitter SubmitterOf(grpc::CallbackServerContext* context) const {
    const Caller caller = CallerOf(context);
    return {.name = caller.name, .has_quota = caller.role != Role::kAdmin};
  }

  absl::Status Fill(int64_t id, JobReporter::Spec spec, v1::JobInfo* info) {
    HONE_ASSIGN_OR_RETURN(*info, parts_.reporter->Report(id, spec));
    return absl::OkStatus();
  }

  JobDesk::Done AnswerWithJob(grpc::ServerUnaryReactor* reactor, v1::JobInfo* info) {
    return [this, reactor, info](const absl::StatusOr<tuning_db::Job>& job) {
      const absl::Status status =
          job.ok() ? Fill(job->id, JobReporter::Spec::kWithoutTasks, info) : job.status();
      reactor->Finish(ToGrpc(status));
    };
  }

  absl::Status MaySteer(const Caller& caller, int64_t id) const {
    HONE_ASSIGN_OR_RETURN(const tuning_db::Job job, parts_.store->GetJob(id));
    if (caller.MaySteer(job.submitter)) return absl::OkStatus();
    return absl::PermissionDeniedError(fmt::format(
        "job {} is {}'s; \"{}\" may steer its own jobs only, and an admin all", id,
        job.submitter.empty() ? "of an older version, and nobody" : job.submitter, caller.name));
  }

  // Has the loop do it. Its thread answers nobody: a report reads the store.
  grpc::ServerUnaryReactor* Steer(void (TuningLoop::*what)(int64_t job,
                                                           std::function<void(absl::Status)> done),
                                  grpc::CallbackServerContext* context, int64_t job,
                                  v1::JobInfo* info) {
    const absl::Status may = MaySteer(CallerOf(context), job);
    if (!may.ok()) return Answer(context, may);
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    (parts_.loop->*what)(job, [this, reactor, job, info](const absl::Status& done) {
      parts_.watchers->Post([this, reactor, job, info, done] {
        const absl::Status status =
            done.ok() ? Fill(job, JobReporter::Spec::kWithoutTasks, info) : done;
        reactor->Finish(ToGrpc(status));
      });
    });
    return reactor;
  }

  absl::Status List(const v1::ListJobsRequest& request, v1::ListJobsResponse& response) {
    tuning_db::JobFilter filter{.states = {},
                                .submitter = request.submitter(),
                                .target = request.target(),
                                .model = request.model(),
                                .submitted_since_ns = request.submitted_since_ns()};
    for (const int state : request.states()) {
      HONE_ASSIGN_OR_RETURN(filter.states.emplace_back(),
                            JobReporter::FromProto(static_cast<v1::JobState>(state)));
    }
    const auto order =
        request.newest_first() ? tuning_db::Order::kNewestFirst : tuning_db::Order::kOldestFirst;
    HONE_ASSIGN_OR_RETURN(
        const tuning_db::JobPage page,
        parts_.store->ListJobs(filter, order, request.page_token(), PageSize(request.page_size())));
    HONE_ASSIGN_OR_RETURN(const auto infos, parts_.reporter->Report(page.jobs));
    response.mutable_jobs()->Assign(infos.begin(), infos.end());
    if (!page.is_last) response.set_next_page_token(page.next);
    return absl::OkStatus();
  }

  absl::Status Resolve(const v1::GetConfigsRequest& request, v1::GetConfigsResponse& response) {
    std::vector<tuning_db::ResolveKey> keys;
    for (const v1::ConfigKey& key : request.keys()) {
      keys.push_back({key.workload_digest(), key.signature()});
    }
    const auto is_compatible = [&](const std::string& other) {
      return parts_.lowerer->IsCompatible(request.target(), other);
    };
    HONE_ASSIGN_OR_RETURN(const auto bests,
                          tuning_db::Resolve(*parts_.store, request.target(), keys, is_compatible));
    for (const tuning_db::Best& best : bests) {
      v1::BestConfig& config = *response.add_configs();
      config.set_tier(std::string(tuning_db::Name(best.tier)));
      config.set_config(best.config);
      config.set_nest_digest(best.nest_digest);
      config.set_best_ns(best.best_ns);
      config.set_default_ns(best.default_ns);
      config.set_ratio_to_default(best.ratio);
    }
    const std::string& calibrated =
        request.calibration_target().empty() ? request.target() : request.calibration_target();
    for (const v1::ConfigKey& key : request.calibrations()) {
      HONE_ASSIGN_OR_RETURN(const auto costs,
                            tuning_db::CalibrationOf(*parts_.store, key.workload_digest(),
                                                     key.signature(), calibrated));
      v1::Calibration& calibration = *response.add_calibrations();
      for (const tuning_db::ConfigCost& cost : costs) {
        v1::ConfigCost& added = *calibration.add_costs();
        added.set_config(cost.config);
        added.set_cost(cost.cost);
        added.set_toolchain(cost.toolchain);
      }
    }
    response.set_is_of_model(true);
    if (request.skeleton().empty()) return absl::OkStatus();
    HONE_ASSIGN_OR_RETURN(const auto final,
                          parts_.store->NewestModelFinal(request.skeleton(), request.target()));
    if (final) *response.mutable_final() = ToProto(*final);
    return absl::OkStatus();
  }

  const TuningServiceParts parts_;
};

}  // namespace

std::unique_ptr<grpc::Service> MakeTuningService(TuningServiceParts parts) {
  return std::make_unique<TuningServiceImpl>(parts);
}

}  // namespace hone::tuner
