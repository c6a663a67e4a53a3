// Takes job requests in: checks them, makes their tasks, and hands them to the tuning loop.
#ifndef HONE_TUNER_SERVICE_JOB_DESK_H_
#define HONE_TUNER_SERVICE_JOB_DESK_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "hone/v1/tuning.pb.h"
#include "tuner/lowerer.h"
#include "tuner/search.h"
#include "tuning_db/store.h"

namespace hone::tuner {

// Thread-safe. Everything it is given outlives it.
class JobDesk {
 public:
  struct Parts {
    tuning_db::Store* store = nullptr;
    Lowerer* lowerer = nullptr;
    std::function<Search*(const std::string& name)> search;
    // The targets of the devices that are connected, each once.
    std::function<std::vector<std::string>()> targets;
    std::function<void(int64_t job)> submitted;
    std::string owner;        // of the jobs: the daemon's address
    bool is_private = false;  // whether they end with the daemon's client
  };
  explicit JobDesk(Parts parts) : parts_(std::move(parts)) {}

  // kInvalidArgument names what is wrong with the request; nothing is written then.
  absl::StatusOr<tuning_db::Job> Submit(const std::string& client_id,
                                        const hone::v1::JobSpec& spec);

 private:
  absl::StatusOr<std::string> ChooseTarget(const std::string& wanted);
  absl::StatusOr<std::vector<tuning_db::JobTask>> MakeTasks(const hone::v1::JobSpec& spec,
                                                            const std::string& target);

  const Parts parts_;
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_SERVICE_JOB_DESK_H_
