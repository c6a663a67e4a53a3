// What a worker was told to measure: the parts that its result must repeat, and the artifacts that
// the worker may still ask for.
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

// It is stored with a lease and removed with it, so that a restarted daemon can compare a result
// with what was assigned before the restart.
struct Assigned {
  std::vector<AssignedCandidate> candidates;  // in the order of the assignment; empty: not known
  std::string regime;
  int64_t rounds = 0;  // of a final; 0: the trial is a search's
  // Artifacts that are not candidates; empty: none.
  std::string reference_digest;
  std::string anchor_digest;

  bool operator==(const Assigned&) const = default;
};

// The form in which stores keep it: one line of JSON, or "" if there are no candidates.
std::string ToText(const Assigned& assigned);
// The reverse of ToText. Any other text gives an empty Assigned.
Assigned ParseAssigned(std::string_view text);

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_ASSIGNED_H_
