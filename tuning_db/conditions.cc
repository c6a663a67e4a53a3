#include "tuning_db/conditions.h"

#include <fmt/format.h>

#include "tuning_db/types.h"

namespace hone::tuning_db {

std::string SpareSamples(std::string_view before_wall_ns, size_t one_bytes) {
  return fmt::format(
      "r.purpose = {} AND LENGTH(r.samples_ns) > {} AND r.wall_time_ns < {} "
      "AND EXISTS (SELECT 1 FROM finals f WHERE f.task = r.task AND f.signature = r.signature "
      "AND {}) "
      "AND NOT EXISTS (SELECT 1 FROM job_tasks w JOIN jobs j ON j.id = w.job "
      "WHERE w.task = r.task AND w.signature = r.signature AND j.{}) "
      "AND NOT EXISTS (SELECT 1 FROM finals f JOIN final_entries e ON e.final = f.id "
      "JOIN trials t ON t.id = r.trial "
      "WHERE f.task = r.task AND f.signature = r.signature AND e.config = t.config)",
      static_cast<int>(Purpose::kSearch), one_bytes, before_wall_ns, kFinalCounts, kHasNotEnded);
}

}  // namespace hone::tuning_db
