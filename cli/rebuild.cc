#include "cli/rebuild.h"

#include <signal.h>

#include <future>

#include "cli/printable.h"
#include "fmt/format.h"
#include "tuner/builder/client/builder_pool.h"

namespace hone::cli {
namespace {

// What a daemon gives a build.
constexpr int64_t kBuildLimitNs = int64_t{60} * 1000 * 1000 * 1000;

// A builder that ends while it is written to must not end this program.
class IgnoredSigpipe {
 public:
  IgnoredSigpipe() : before_(signal(SIGPIPE, SIG_IGN)) {}
  ~IgnoredSigpipe() { signal(SIGPIPE, before_); }
  IgnoredSigpipe(const IgnoredSigpipe&) = delete;
  IgnoredSigpipe& operator=(const IgnoredSigpipe&) = delete;

 private:
  sighandler_t before_;
};

}  // namespace

absl::StatusOr<v1::BuildReply> Rebuild(const v1::RecordInfo& record) {
  v1::BuildBatch batch;
  v1::BuildRequest& request = *batch.add_requests();
  request.set_id(1);
  request.set_target(record.target());
  request.set_limit_ns(kBuildLimitNs);
  v1::BuildCandidate& candidate = *request.mutable_candidate();
  candidate.set_workload(record.workload());
  candidate.set_signature(record.signature());
  candidate.set_config(record.config());
  candidate.set_nest_digest(record.nest_digest());
  const IgnoredSigpipe ignored;
  std::promise<absl::StatusOr<v1::BuildReply>> built;
  tuner::BuilderPool pool({});
  pool.Build(batch, [&built](uint64_t, absl::StatusOr<v1::BuildReply> reply) {
    built.set_value(std::move(reply));
  });
  return built.get_future().get();
}

absl::Status CompareBuilds(const v1::RecordInfo& record, const v1::BuildReply& rebuilt) {
  if (rebuilt.outcome() != v1::BUILD_OUTCOME_OK) {
    return absl::AbortedError(fmt::format("expected that the config of record {} builds, found: {}",
                                          record.id(), Printable(rebuilt.message())));
  }
  if (record.artifact_digest().empty()) {
    return absl::AbortedError(
        fmt::format("expected an artifact of record {} to compare with, found none: it was {}",
                    record.id(), record.outcome()));
  }
  if (rebuilt.artifact_digest() == record.artifact_digest()) return absl::OkStatus();
  const std::string toolchains =
      rebuilt.toolchain() == record.toolchain()
          ? fmt::format("of the same toolchain, {}", Printable(record.toolchain()))
          : fmt::format("the toolchain here is another, {} instead of {}",
                        Printable(rebuilt.toolchain()), Printable(record.toolchain()));
  return absl::AbortedError(fmt::format("expected the artifact {} of record {}, found {}; {}",
                                        record.artifact_digest(), record.id(),
                                        rebuilt.artifact_digest(), toolchains));
}

}  // namespace hone::cli
