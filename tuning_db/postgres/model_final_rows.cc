#include <nlohmann/json.hpp>

#include "support/status.h"
#include "tuning_db/postgres/rows.h"

namespace hone::tuning_db::postgres {
namespace {

absl::Status InsertKernel(Connection& db, int64_t final, int64_t position,
                          const ModelFinalKernel& kernel) {
  HONE_ASSIGN_OR_RETURN(const int64_t signature, Intern(db, kernel.signature));
  HONE_ASSIGN_OR_RETURN(const int64_t winner, Intern(db, kernel.winner));
  HONE_ASSIGN_OR_RETURN(const int64_t kept, Intern(db, kernel.kept));
  return db.Change(
      "INSERT INTO model_final_kernels (final, position, name, workload_digest, signature, calls, "
      "winner, kept, kept_nest_digest, default_ns, winner_ns, ratio, ratio_low, ratio_high) "
      "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)",
      final, position, kernel.name, Digest{kernel.workload_digest}, signature, kernel.calls, winner,
      kept, Digest{kernel.kept_nest_digest}, kernel.default_ns, kernel.winner_ns,
      kernel.ratio.median, kernel.ratio.low, kernel.ratio.high);
}

absl::StatusOr<std::vector<ModelFinalKernel>> ReadKernels(Connection& db, int64_t final) {
  HONE_ASSIGN_OR_RETURN(
      const Rows rows,
      db.Query("SELECT k.name, k.workload_digest, s.body, k.calls, w.body, p.body, "
               "k.kept_nest_digest, k.default_ns, k.winner_ns, k.ratio, k.ratio_low, "
               "k.ratio_high FROM model_final_kernels k JOIN texts s ON s.id = k.signature "
               "JOIN texts w ON w.id = k.winner JOIN texts p ON p.id = k.kept "
               "WHERE k.final = $1 ORDER BY k.position",
               final));
  std::vector<ModelFinalKernel> kernels;
  for (int i = 0; i < rows.size(); ++i) {
    const Row row = rows[i];
    kernels.push_back({row.Text(0),
                       row.DigestText(1),
                       row.Text(2),
                       row.Integer(3),
                       row.Text(4),
                       row.Text(5),
                       row.DigestText(6),
                       row.Real(7),
                       row.Real(8),
                       {row.Real(9), row.Real(10), row.Real(11)}});
  }
  return kernels;
}

}  // namespace

absl::StatusOr<int64_t> InsertModelFinal(Connection& db, const ModelFinal& final) {
  HONE_ASSIGN_OR_RETURN(const int64_t target, Intern(db, final.target));
  HONE_ASSIGN_OR_RETURN(const int64_t signatures,
                        Intern(db, nlohmann::json(final.signatures).dump()));
  HONE_ASSIGN_OR_RETURN(
      const int64_t id,
      db.Insert(
          "INSERT INTO model_finals (id, skeleton, target, model, signatures, compared, rounds, "
          "default_ns, tuned_ns, ratio, ratio_low, ratio_high, wall_time_ns) "
          "VALUES ((SELECT COALESCE(MAX(id), 0) + 1 FROM model_finals), $1, $2, $3, $4, $5, $6, "
          "$7, $8, $9, $10, $11, $12) RETURNING id",
          Digest{final.skeleton}, target, final.model, signatures, Digest{final.compared},
          final.rounds, final.default_ns, final.tuned_ns, final.ratio.median, final.ratio.low,
          final.ratio.high, final.wall_time_ns));
  int64_t position = 0;
  for (const ModelFinalKernel& kernel : final.kernels) {
    HONE_RETURN_IF_ERROR(InsertKernel(db, id, position++, kernel));
  }
  return id;
}

absl::StatusOr<std::optional<ModelFinal>> ReadNewestModelFinal(Connection& db,
                                                               const std::string& skeleton,
                                                               const std::string& target) {
  HONE_ASSIGN_OR_RETURN(const std::optional<int64_t> text, FindText(db, target));
  HONE_ASSIGN_OR_RETURN(
      const Rows rows,
      db.Query("SELECT f.id, f.model, s.body, f.compared, f.rounds, f.default_ns, f.tuned_ns, "
               "f.ratio, f.ratio_low, f.ratio_high, f.wall_time_ns FROM model_finals f "
               "JOIN texts s ON s.id = f.signatures "
               "WHERE f.skeleton = $1 AND f.target = $2 ORDER BY f.id DESC LIMIT 1",
               Digest{skeleton}, text));
  if (rows.empty()) return std::optional<ModelFinal>();
  const Row row = rows[0];
  ModelFinal final{.id = row.Integer(0),
                   .skeleton = skeleton,
                   .target = target,
                   .model = row.Text(1),
                   .signatures = {},
                   .kernels = {},
                   .compared = row.DigestText(3),
                   .rounds = row.Integer(4),
                   .default_ns = row.Real(5),
                   .tuned_ns = row.Real(6),
                   .ratio = {row.Real(7), row.Real(8), row.Real(9)},
                   .wall_time_ns = row.Integer(10)};
  const auto signatures = nlohmann::json::parse(row.Text(2), nullptr, /*allow_exceptions=*/false);
  for (const nlohmann::json& signature : signatures) {
    if (signature.is_string()) final.signatures.push_back(signature.get<std::string>());
  }
  HONE_ASSIGN_OR_RETURN(final.kernels, ReadKernels(db, final.id));
  return std::optional(std::move(final));
}

}  // namespace hone::tuning_db::postgres
