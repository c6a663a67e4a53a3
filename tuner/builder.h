// The interface of builders, which turn configs into artifacts. The implementation in use is
// BuilderPool (tuner/builder).
#ifndef HONE_TUNER_BUILDER_H_
#define HONE_TUNER_BUILDER_H_

#include <cstdint>
#include <functional>

#include "absl/status/statusor.h"
#include "hone/v1/builder.pb.h"

namespace hone::tuner {

// `id` is that of the request. A reply whose outcome is not OK says that the candidate failed,
// which is a result. An error Status says that the builder failed (no executable, no memory); the
// request is worth another try.
using BuildCallback = std::function<void(uint64_t id, absl::StatusOr<hone::v1::BuildReply> reply)>;

// Thread-safe.
class Builder {
 public:
  virtual ~Builder() = default;
  // Returns at once. `done` is called exactly once for each request of the batch, in any order,
  // from any thread, never inside Build.
  virtual void Build(const hone::v1::BuildBatch& batch, BuildCallback done) = 0;
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_BUILDER_H_
