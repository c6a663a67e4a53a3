// A store that hands every call on to another: what stands between a daemon and its store overrides
// what it changes.
#ifndef HONE_TESTS_FARM_SIMULATOR_FORWARDING_STORE_H_
#define HONE_TESTS_FARM_SIMULATOR_FORWARDING_STORE_H_

#include <optional>
#include <string>
#include <vector>

#include "tuning_db/store.h"

namespace hone::sim {

class ForwardingStore : public tuning_db::Store {
 public:
  explicit ForwardingStore(tuning_db::Store* next) : next_(next) {}

  absl::StatusOr<int64_t> EnsureTask(const tuning_db::Task& task) override {
    return next_->EnsureTask(task);
  }
  absl::StatusOr<tuning_db::Task> GetTask(int64_t id) override { return next_->GetTask(id); }
  absl::StatusOr<std::optional<tuning_db::Task>> FindTask(const std::string& digest,
                                                          const std::string& target) override {
    return next_->FindTask(digest, target);
  }
  absl::StatusOr<std::vector<tuning_db::Task>> TasksOfWorkload(const std::string& digest) override {
    return next_->TasksOfWorkload(digest);
  }
  absl::StatusOr<tuning_db::Job> SubmitJob(const tuning_db::Job& job) override {
    return next_->SubmitJob(job);
  }
  absl::StatusOr<tuning_db::Job> GetJob(int64_t id) override { return next_->GetJob(id); }
  absl::StatusOr<std::vector<tuning_db::Job>> ListJobs(int64_t after_id, int64_t limit) override {
    return next_->ListJobs(after_id, limit);
  }
  absl::Status SetJobState(int64_t id, tuning_db::JobState state,
                           const std::string& message) override {
    return next_->SetJobState(id, state, message);
  }
  absl::Status SetJobRan(int64_t id, int64_t ran_ns) override {
    return next_->SetJobRan(id, ran_ns);
  }
  absl::StatusOr<int64_t> AppendEvent(int64_t job, const std::string& kind,
                                      const std::string& payload) override {
    return next_->AppendEvent(job, kind, payload);
  }
  absl::StatusOr<std::vector<tuning_db::Event>> ListEvents(int64_t job, int64_t after_seq,
                                                           int64_t limit) override {
    return next_->ListEvents(job, after_seq, limit);
  }
  absl::StatusOr<std::vector<tuning_db::Trial>> Propose(
      const std::vector<tuning_db::Trial>& trials) override {
    return next_->Propose(trials);
  }
  absl::StatusOr<tuning_db::Trial> Lease(int64_t trial, const std::string& worker) override {
    return next_->Lease(trial, worker);
  }
  absl::Status Release(int64_t trial, int64_t fence) override {
    return next_->Release(trial, fence);
  }
  absl::StatusOr<tuning_db::SettleResult> Settle(int64_t fence,
                                                 const tuning_db::Record& record) override {
    return next_->Settle(fence, record);
  }
  absl::StatusOr<tuning_db::SettleResult> SettleFinal(int64_t fence,
                                                      const tuning_db::Record& record,
                                                      const tuning_db::Final& final) override {
    return next_->SettleFinal(fence, record, final);
  }
  absl::StatusOr<tuning_db::SettleResult> Import(const tuning_db::Trial& trial,
                                                 const tuning_db::Record& record) override {
    return next_->Import(trial, record);
  }
  absl::StatusOr<std::vector<tuning_db::Trial>> OpenTrials(int64_t job) override {
    return next_->OpenTrials(job);
  }
  absl::StatusOr<int64_t> CountTrials(int64_t task, const std::string& signature,
                                      tuning_db::Purpose purpose) override {
    return next_->CountTrials(task, signature, purpose);
  }
  absl::StatusOr<std::vector<tuning_db::Record>> Records(
      const tuning_db::RecordFilter& filter) override {
    return next_->Records(filter);
  }
  absl::StatusOr<int64_t> AddFinal(const tuning_db::Final& final) override {
    return next_->AddFinal(final);
  }
  absl::StatusOr<std::optional<tuning_db::Final>> NewestFinal(
      int64_t task, const std::string& signature) override {
    return next_->NewestFinal(task, signature);
  }
  absl::StatusOr<int64_t> AddModelFinal(const tuning_db::ModelFinal& final) override {
    return next_->AddModelFinal(final);
  }
  absl::StatusOr<std::optional<tuning_db::ModelFinal>> NewestModelFinal(
      const std::string& skeleton, const std::string& target) override {
    return next_->NewestModelFinal(skeleton, target);
  }
  absl::Status RecordMiss(const tuning_db::Miss& miss) override { return next_->RecordMiss(miss); }
  absl::StatusOr<std::vector<tuning_db::Miss>> ListMisses(const std::string& target) override {
    return next_->ListMisses(target);
  }
  absl::StatusOr<std::vector<std::string>> Check() override { return next_->Check(); }

 protected:
  tuning_db::Store* const next_;
};

}  // namespace hone::sim

#endif  // HONE_TESTS_FARM_SIMULATOR_FORWARDING_STORE_H_
