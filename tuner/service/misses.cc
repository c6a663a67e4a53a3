#include "tuner/service/misses.h"

#include <absl/strings/numbers.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/digest.h"
#include "support/status.h"
#include "tuner/job_limits.h"
#include "tuner/miss_messages.h"
#include "tuner/service/page.h"
#include "tuning_db/open_misses.h"

namespace hone::tuner {

namespace v1 = hone::v1;

namespace {

absl::Status CheckSize(const v1::RecordMissesRequest& request) {
  if (request.misses_size() > kMostTasks) {
    return absl::InvalidArgumentError(
        fmt::format("expected at most {} misses, found {}", kMostTasks, request.misses_size()));
  }
  for (const v1::MissInfo& miss : request.misses()) {
    if (miss.workload().size() <= kMostWorkloadBytes) continue;
    return absl::InvalidArgumentError(
        fmt::format("expected a workload of at most {} bytes, found one of {}", kMostWorkloadBytes,
                    miss.workload().size()));
  }
  return absl::OkStatus();
}

// How many misses the pages before this one have looked at.
absl::StatusOr<size_t> PlaceOf(const std::string& token) {
  uint64_t place = 0;
  if (token.empty() || absl::SimpleAtoi(token, &place)) return place;
  return absl::InvalidArgumentError(
      fmt::format("expected a token that a page of misses gave, found \"{}\"", token));
}

}  // namespace

absl::Status RecordMisses(tuning_db::Store& store, const v1::RecordMissesRequest& request) {
  HONE_RETURN_IF_ERROR(CheckSize(request));
  std::vector<tuning_db::Miss> misses;
  for (const v1::MissInfo& info : request.misses()) {
    tuning_db::Miss& miss = misses.emplace_back(ToMiss(info));
    miss.workload_digest = Sha256Hex(miss.workload);
    miss.count = std::max<int64_t>(miss.count, 1);
  }
  return store.RecordMisses(misses);
}

absl::StatusOr<v1::ListMissesResponse> ListMisses(tuning_db::Store& store,
                                                  const v1::ListMissesRequest& request) {
  HONE_ASSIGN_OR_RETURN(const size_t place, PlaceOf(request.page_token()));
  HONE_ASSIGN_OR_RETURN(const std::vector<tuning_db::Miss> all, store.ListMisses(request.target()));
  const size_t begin = std::min(place, all.size());
  const size_t end =
      std::min(begin + static_cast<size_t>(PageSize(request.page_size())), all.size());
  const std::vector<tuning_db::Miss> page(all.begin() + static_cast<ptrdiff_t>(begin),
                                          all.begin() + static_cast<ptrdiff_t>(end));
  HONE_ASSIGN_OR_RETURN(const std::vector<tuning_db::Miss> still,
                        tuning_db::StillMissed(store, page));
  v1::ListMissesResponse response;
  for (const tuning_db::Miss& miss : still) *response.add_misses() = ToProto(miss);
  if (end < all.size()) response.set_next_page_token(std::to_string(end));
  return response;
}

}  // namespace hone::tuner
