#include "tuning_db/postgres/trial_rows.h"

#include "support/digest.h"
#include "support/status.h"
#include "tuning_db/postgres/rows.h"
#include "tuning_db/transitions.h"

namespace hone::tuning_db::postgres {
namespace {

template <typename... Values>
absl::StatusOr<std::vector<Trial>> SelectTrials(Connection& db, const std::string& where,
                                                const Values&... values) {
  HONE_ASSIGN_OR_RETURN(const Rows rows, db.Query(std::string("SELECT") + kTrialColumns +
                                                      "FROM trials t" + kTrialTexts + where,
                                                  values...));
  std::vector<Trial> trials;
  for (int i = 0; i < rows.size(); ++i) trials.push_back(TrialOf(rows[i], 0));
  return trials;
}

}  // namespace

Trial TrialOf(const Row& row, int first) {
  Trial trial;
  trial.id = row.Integer(first);
  trial.task = row.Integer(first + 1);
  trial.signature = row.Text(first + 2);
  trial.config = row.Text(first + 3);
  trial.config_digest = Sha256Hex(trial.config);
  trial.nest_digest = row.DigestText(first + 4);
  trial.purpose = row.As<Purpose>(first + 5);
  trial.round = row.Integer(first + 6);
  trial.job = row.Integer(first + 7);  // NULL is 0: of no job
  trial.state = row.As<TrialState>(first + 8);
  trial.attempt = row.Integer(first + 9);
  trial.fence = row.Integer(first + 10);
  trial.worker = row.Text(first + 11);
  trial.strikes = row.Integer(first + 12);
  trial.device = row.Text(first + 13);  // NULL is empty: it is not leased
  trial.limit_ns = row.Integer(first + 14);
  trial.assigned = ParseAssigned(row.Text(first + 15));
  return trial;
}

absl::StatusOr<Trial> ReadTrial(Connection& db, int64_t id) {
  HONE_ASSIGN_OR_RETURN(std::vector<Trial> trials, SelectTrials(db, "WHERE t.id = $1", id));
  if (trials.empty()) return NoSuch("trial", id);
  return std::move(trials[0]);
}

absl::StatusOr<std::vector<Trial>> ReadOpenTrials(Connection& db, int64_t job) {
  if (job == 0) return SelectTrials(db, "WHERE t.state < 2 ORDER BY t.id");
  return SelectTrials(db, "WHERE t.state < 2 AND t.job = $1 ORDER BY t.id", job);
}

absl::StatusOr<std::optional<int64_t>> FindTrial(Connection& db, const Trial& trial) {
  HONE_ASSIGN_OR_RETURN(const std::optional<int64_t> signature, FindText(db, trial.signature));
  HONE_ASSIGN_OR_RETURN(const std::optional<int64_t> config, FindText(db, trial.config));
  if (!signature || !config) return std::optional<int64_t>();
  return db.Integer(
      "SELECT id FROM trials WHERE task = $1 AND signature = $2 AND purpose = $3 AND config = $4 "
      "AND round = $5",
      trial.task, *signature, trial.purpose, *config, trial.round);
}

absl::StatusOr<int64_t> AddTrial(Connection& db, const Trial& trial) {
  HONE_ASSIGN_OR_RETURN(const int64_t signature, Intern(db, trial.signature));
  HONE_ASSIGN_OR_RETURN(const int64_t config, Intern(db, trial.config));
  HONE_ASSIGN_OR_RETURN(const std::optional<int64_t> worker, InternSome(db, trial.worker));
  return db.Insert(
      "INSERT INTO trials (id, task, signature, config, nest_digest, purpose, round, job, state, "
      "attempt, fence, worker, strikes) VALUES ((SELECT COALESCE(MAX(id), 0) + 1 FROM trials), $1, "
      "$2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) "
      "RETURNING id",
      trial.task, signature, config, Digest{trial.nest_digest}, trial.purpose, trial.round,
      trial.job != 0 ? std::optional(trial.job) : std::nullopt, trial.state, trial.attempt,
      trial.fence, worker, trial.strikes);
}

absl::StatusOr<Trial> EnsureTrial(Connection& db, const Trial& trial) {
  HONE_RETURN_IF_ERROR(RequireOwners(db, trial.task, trial.job));
  HONE_ASSIGN_OR_RETURN(std::optional<int64_t> id, FindTrial(db, trial));
  if (!id) {
    HONE_ASSIGN_OR_RETURN(id, AddTrial(db, Proposed(trial)));
  }
  return ReadTrial(db, *id);
}

absl::Status UpdateTrial(Connection& db, const Trial& trial) {
  HONE_ASSIGN_OR_RETURN(const std::optional<int64_t> worker, InternSome(db, trial.worker));
  const std::string update =
      "UPDATE trials SET state = $2, attempt = $3, fence = $4, worker = $5, strikes = $6 "
      "WHERE id = $1";
  if (trial.state != TrialState::kLeased) {
    return db.Change("WITH gone AS (DELETE FROM leases WHERE trial = $1) " + update, trial.id,
                     trial.state, trial.attempt, trial.fence, worker, trial.strikes);
  }
  return db.Change(
      "WITH lease AS (INSERT INTO leases (trial, fence, device, limit_ns, assigned) "
      "VALUES ($1, $4, $7, $8, $9) ON CONFLICT (trial) DO UPDATE SET fence = excluded.fence, "
      "device = excluded.device, limit_ns = excluded.limit_ns, assigned = excluded.assigned) " +
          update,
      trial.id, trial.state, trial.attempt, trial.fence, worker, trial.strikes, trial.device,
      trial.limit_ns, ToText(trial.assigned));
}

}  // namespace hone::tuning_db::postgres
