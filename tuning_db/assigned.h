// What a worker was told to measure, as far as its result has to say the same, or the worker may
// still ask for it.
#ifndef HONE_TUNING_DB_ASSIGNED_H_
#define HONE_TUNING_DB_ASSIGNED_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hone::tuning_db {

struct AssignedCandidate {
  std::string artifact_digest;
  std::string toolchain;

  bool operator==(const AssignedCandidate&) const = default;
};

// It is kept with a lease and goes with it, so that a daemon that comes back compares a result with
// all that the daemon before it assigned.
struct Assigned {
  std::vector<AssignedCandidate> candidates;  // in the order of the assignment; none: not known
  std::string regime;
  int64_t rounds = 0;  // 0: of a search
  // Artifacts that are no candidates; empty: none.
  std::string reference_digest;
  std::string anchor_digest;

  bool operator==(const Assigned&) const = default;
};

// As stores keep it: one line of JSON, empty where nothing is known.
std::string ToText(const Assigned& assigned);
// Nothing is known where the text is not one of ToText's.
Assigned ParseAssigned(std::string_view text);

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_ASSIGNED_H_
