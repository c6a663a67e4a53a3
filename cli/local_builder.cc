#include "cli/local_builder.h"

#include <cstddef>
#include <future>
#include <utility>

#include "support/status.h"
#include "tuner/builder/client/builder_pool.h"

namespace hone::cli {
absl::StatusOr<std::vector<v1::BuildReply>> BuildHere(std::vector<v1::BuildRequest> requests) {
  v1::BuildBatch batch;
  for (v1::BuildRequest& request : requests) {
    request.set_id(static_cast<uint64_t>(batch.requests_size()));
    *batch.add_requests() = std::move(request);
  }
  std::vector<std::promise<absl::StatusOr<v1::BuildReply>>> built(requests.size());
  std::vector<v1::BuildReply> replies;
  tuner::BuilderPool pool({});
  pool.Build(batch, [&built](uint64_t id, absl::StatusOr<v1::BuildReply> reply) {
    built[static_cast<size_t>(id)].set_value(std::move(reply));
  });
  for (auto& promise : built) {
    HONE_ASSIGN_OR_RETURN(replies.emplace_back(), promise.get_future().get());
  }
  return replies;
}

}  // namespace hone::cli
