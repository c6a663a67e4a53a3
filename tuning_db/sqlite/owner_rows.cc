// Lives of daemons, the jobs that they own, and the rests of devices.
#include <fmt/format.h>

#include <algorithm>

#include "support/status.h"
#include "tuning_db/conditions.h"
#include "tuning_db/sqlite/rows.h"
#include "tuning_db/transitions.h"

namespace hone::tuning_db::sqlite {

absl::StatusOr<int64_t> NextOf(Connection& db, const std::string& counter) {
  HONE_ASSIGN_OR_RETURN(
      const auto value,
      db.Integer("UPDATE counters SET value = value + 1 WHERE name = ? RETURNING value", counter));
  if (value) return *value;
  return absl::InternalError("the counter " + counter + " is gone from the tuning database");
}

absl::StatusOr<Ownership> InsertLife(Connection& db, const std::string& owner, int64_t until_ns) {
  HONE_ASSIGN_OR_RETURN(const int64_t epoch, NextOf(db, "epoch"));
  HONE_RETURN_IF_ERROR(db.Run("DELETE FROM lives WHERE owner = ?", owner));
  HONE_RETURN_IF_ERROR(db.Run("INSERT INTO lives (epoch, owner, until_ns) VALUES (?, ?, ?)", epoch,
                              owner, until_ns));
  return Ownership{owner, epoch};
}

absl::StatusOr<int64_t> ReadLife(Connection& db, const Ownership& ownership) {
  HONE_ASSIGN_OR_RETURN(const auto until_ns,
                        db.Integer("SELECT until_ns FROM lives WHERE epoch = ?", ownership.epoch));
  if (!until_ns) return NewerLife(ownership);
  return *until_ns;
}

absl::Status RenewLife(Connection& db, const Ownership& ownership, int64_t until_ns) {
  HONE_ASSIGN_OR_RETURN(const auto epoch,
                        db.Integer("UPDATE lives SET until_ns = ? WHERE epoch = ? RETURNING epoch",
                                   until_ns, ownership.epoch));
  return epoch ? absl::OkStatus() : NewerLife(ownership);
}

absl::StatusOr<std::vector<int64_t>> OwnUnfinishedJobs(Connection& db, int64_t epoch, bool is_own) {
  HONE_ASSIGN_OR_RETURN(Statement query,
                        db.Prepare(fmt::format("SELECT id FROM jobs WHERE {} AND (epoch = ?) = ? "
                                               "ORDER BY id",
                                               kHasNotEnded)));
  query.Bind(epoch, is_own);
  std::vector<int64_t> ids;
  for (;;) {
    HONE_ASSIGN_OR_RETURN(const bool has_row, query.Step());
    if (!has_row) return ids;
    ids.push_back(query.Integer(0));
  }
}

absl::Status MayWriteJob(Connection& db, int64_t job, const Ownership& ownership, JobWrite what) {
  if (job == 0 || ownership.epoch == 0) return absl::OkStatus();
  HONE_ASSIGN_OR_RETURN(Statement query,
                        db.Prepare("SELECT state, owner, epoch FROM jobs WHERE id = ?"));
  query.Bind(job);
  HONE_ASSIGN_OR_RETURN(const bool has_row, query.Step());
  if (!has_row) return NoSuch("job", job);
  return MayWrite(job, query.As<JobState>(0), {query.Text(1), query.Integer(2)}, ownership, what);
}

absl::Status WriteDeviceRest(Connection& db, const DeviceRest& rest, int64_t now_ns) {
  if (rest.losses == 0 && rest.rests == 0) {
    return db.Run("DELETE FROM device_rests WHERE worker = ? AND device = ?", rest.worker,
                  rest.device);
  }
  return db.Run(
      "INSERT INTO device_rests (worker, device, losses, rests, until_ns, reason) "
      "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (worker, device) DO UPDATE SET "
      "losses = excluded.losses, rests = excluded.rests, until_ns = excluded.until_ns, "
      "reason = excluded.reason",
      rest.worker, rest.device, rest.losses, rest.rests, now_ns + rest.rest_ns, rest.reason);
}

absl::StatusOr<std::vector<DeviceRest>> ReadDeviceRests(Connection& db, int64_t now_ns) {
  HONE_ASSIGN_OR_RETURN(Statement query,
                        db.Prepare("SELECT worker, device, losses, rests, until_ns, reason FROM "
                                   "device_rests ORDER BY worker, device"));
  std::vector<DeviceRest> rests;
  for (;;) {
    HONE_ASSIGN_OR_RETURN(const bool has_row, query.Step());
    if (!has_row) return rests;
    rests.push_back({query.Text(0), query.Text(1), query.Integer(2), query.Integer(3),
                     std::max<int64_t>(0, query.Integer(4) - now_ns), query.Text(5)});
  }
}

}  // namespace hone::tuning_db::sqlite
