#include <fmt/format.h>

// Lives of daemons, the jobs that they own, and the rests of devices; by the server's clock.
#include <algorithm>

#include "support/status.h"
#include "tuning_db/conditions.h"
#include "tuning_db/postgres/rows.h"
#include "tuning_db/transitions.h"

namespace hone::tuning_db::postgres {
namespace {

// So many nanoseconds from now on; the parameter is given as a real number.
std::string FromNow(const std::string& parameter) {
  return "clock_timestamp() + (" + parameter +
         "::double precision / 1000) * interval '1 microsecond'";
}

// So many nanoseconds are left until then.
constexpr char kUntil[] = "(EXTRACT(EPOCH FROM until - clock_timestamp()) * 1000000000)::bigint";

}  // namespace

absl::StatusOr<int64_t> NextOf(Connection& db, const std::string& counter) {
  const absl::StatusOr<int64_t> value =
      db.Insert("UPDATE counters SET value = value + 1 WHERE name = $1 RETURNING value", counter);
  if (!value.ok() || *value > 0) return value;
  return absl::InternalError("the counter " + counter + " is gone from the tuning database");
}

absl::StatusOr<Ownership> InsertLife(Connection& db, const std::string& owner, int64_t lease_ns) {
  HONE_ASSIGN_OR_RETURN(const int64_t epoch, NextOf(db, "epoch"));
  HONE_RETURN_IF_ERROR(db.Change("INSERT INTO lives (epoch, owner, until) VALUES ($1, $2, " +
                                     FromNow("$3") +
                                     ") ON CONFLICT (owner) DO UPDATE SET epoch = excluded.epoch, "
                                     "until = excluded.until",
                                 epoch, owner, lease_ns));
  return Ownership{owner, epoch};
}

absl::StatusOr<int64_t> TimeLeft(Connection& db, const Ownership& ownership) {
  HONE_ASSIGN_OR_RETURN(
      const auto left_ns,
      db.Integer(fmt::format("SELECT {} FROM lives WHERE epoch = $1", kUntil), ownership.epoch));
  if (!left_ns) return NewerLife(ownership);
  return *left_ns;
}

absl::Status RenewLife(Connection& db, const Ownership& ownership, int64_t lease_ns) {
  HONE_ASSIGN_OR_RETURN(const int64_t epoch, db.Insert("UPDATE lives SET until = " + FromNow("$2") +
                                                           " WHERE epoch = $1 RETURNING epoch",
                                                       ownership.epoch, lease_ns));
  return epoch != 0 ? absl::OkStatus() : NewerLife(ownership);
}

absl::StatusOr<std::vector<int64_t>> TakeLostJobs(Connection& db, const Ownership& ownership) {
  HONE_ASSIGN_OR_RETURN(
      const Rows rows,
      db.Query(
          fmt::format("UPDATE jobs SET owner = $1, epoch = $2 WHERE {} AND epoch <> $2 AND NOT "
                      "EXISTS (SELECT FROM lives l WHERE l.epoch = jobs.epoch AND l.until >= "
                      "clock_timestamp()) RETURNING id",
                      kHasNotEnded),
          ownership.owner, ownership.epoch));
  return IdsOf(rows);
}

absl::StatusOr<std::vector<int64_t>> OwnUnfinishedJobs(Connection& db, int64_t epoch) {
  HONE_ASSIGN_OR_RETURN(
      const Rows rows,
      db.Query(fmt::format("SELECT id FROM jobs WHERE {} AND epoch = $1 ORDER BY id", kHasNotEnded),
               epoch));
  return IdsOf(rows);
}

absl::Status MayWriteJob(Connection& db, int64_t job, const Ownership& ownership, JobWrite what) {
  if (job == 0 || ownership.epoch == 0) return absl::OkStatus();
  HONE_ASSIGN_OR_RETURN(const Rows rows,
                        db.Query("SELECT state, owner, epoch FROM jobs WHERE id = $1", job));
  if (rows.empty()) return NoSuch("job", job);
  return MayWrite(job, rows[0].As<JobState>(0), {rows[0].Text(1), rows[0].Integer(2)}, ownership,
                  what);
}

absl::Status WriteDeviceRest(Connection& db, const DeviceRest& rest) {
  if (rest.losses == 0 && rest.rests == 0) {
    return db.Change("DELETE FROM device_rests WHERE worker = $1 AND device = $2", rest.worker,
                     rest.device);
  }
  return db.Change(
      "INSERT INTO device_rests (worker, device, losses, rests, until, reason) "
      "VALUES ($1, $2, $3, $4, " +
          FromNow("$5") +
          ", $6) ON CONFLICT (worker, device) DO UPDATE SET "
          "losses = excluded.losses, rests = excluded.rests, until = excluded.until, "
          "reason = excluded.reason",
      rest.worker, rest.device, rest.losses, rest.rests, rest.rest_ns, Bytes{rest.reason});
}

absl::StatusOr<std::vector<DeviceRest>> ReadDeviceRests(Connection& db) {
  HONE_ASSIGN_OR_RETURN(
      const Rows rows,
      db.Query(fmt::format("SELECT worker, device, losses, rests, {}, reason FROM device_rests "
                           "ORDER BY worker COLLATE \"C\", device COLLATE \"C\"",
                           kUntil)));
  std::vector<DeviceRest> rests;
  for (int i = 0; i < rows.size(); ++i) {
    const Row row = rows[i];
    rests.push_back({row.Text(0), row.Text(1), row.Integer(2), row.Integer(3),
                     std::max<int64_t>(0, row.Integer(4)), row.Bytes(5)});
  }
  return rests;
}

}  // namespace hone::tuning_db::postgres
