#include <nlohmann/json.hpp>

#include "support/status.h"
#include "tuning_db/sqlite/rows.h"

namespace hone::tuning_db::sqlite {
namespace {

absl::Status InsertKernel(Connection& db, int64_t final, int64_t position,
                          const ModelFinalKernel& kernel) {
  HONE_ASSIGN_OR_RETURN(const int64_t signature, Intern(db, kernel.signature));
  HONE_ASSIGN_OR_RETURN(const int64_t winner, Intern(db, kernel.winner));
  HONE_ASSIGN_OR_RETURN(const int64_t kept, Intern(db, kernel.kept));
  return db.Run(
      "INSERT INTO model_final_kernels (final, position, name, workload_digest, signature, calls, "
      "winner, kept, kept_nest_digest, default_ns, winner_ns, ratio, ratio_low, ratio_high) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      final, position, kernel.name, kernel.workload_digest, signature, kernel.calls, winner, kept,
      kernel.kept_nest_digest, kernel.default_ns, kernel.winner_ns, kernel.ratio.median,
      kernel.ratio.low, kernel.ratio.high);
}

absl::StatusOr<std::vector<ModelFinalKernel>> ReadKernels(Connection& db, int64_t final) {
  HONE_ASSIGN_OR_RETURN(
      Statement query,
      db.Prepare("SELECT k.name, k.workload_digest, s.body, k.calls, w.body, p.body, "
                 "k.kept_nest_digest, k.default_ns, k.winner_ns, k.ratio, k.ratio_low, "
                 "k.ratio_high FROM model_final_kernels k JOIN texts s ON s.id = k.signature "
                 "JOIN texts w ON w.id = k.winner JOIN texts p ON p.id = k.kept "
                 "WHERE k.final = ? ORDER BY k.position"));
  query.Bind(final);
  std::vector<ModelFinalKernel> kernels;
  for (;;) {
    HONE_ASSIGN_OR_RETURN(const bool has_row, query.Step());
    if (!has_row) return kernels;
    kernels.push_back({query.Text(0),
                       query.Text(1),
                       query.Text(2),
                       query.Integer(3),
                       query.Text(4),
                       query.Text(5),
                       query.Text(6),
                       query.Real(7),
                       query.Real(8),
                       {query.Real(9), query.Real(10), query.Real(11)}});
  }
}

}  // namespace

absl::StatusOr<int64_t> InsertModelFinal(Connection& db, const ModelFinal& final) {
  HONE_ASSIGN_OR_RETURN(const int64_t target, Intern(db, final.target));
  HONE_ASSIGN_OR_RETURN(const int64_t signatures,
                        Intern(db, nlohmann::json(final.signatures).dump()));
  HONE_RETURN_IF_ERROR(
      db.Run("INSERT INTO model_finals (skeleton, target, model, signatures, compared, rounds, "
             "default_ns, "
             "tuned_ns, ratio, ratio_low, ratio_high, wall_time_ns) "
             "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
             final.skeleton, target, final.model, signatures, final.compared, final.rounds,
             final.default_ns, final.tuned_ns, final.ratio.median, final.ratio.low,
             final.ratio.high, final.wall_time_ns));
  const int64_t id = db.LastInsertId();
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
      Statement query,
      db.Prepare("SELECT f.id, f.model, s.body, f.compared, f.rounds, f.default_ns, f.tuned_ns, "
                 "f.ratio, f.ratio_low, f.ratio_high, f.wall_time_ns FROM model_finals f "
                 "JOIN texts s ON s.id = f.signatures "
                 "WHERE f.skeleton = ? AND f.target = ? ORDER BY f.id DESC LIMIT 1"));
  query.Bind(skeleton, text);
  HONE_ASSIGN_OR_RETURN(const bool has_row, query.Step());
  if (!has_row) return std::optional<ModelFinal>();
  ModelFinal final{.id = query.Integer(0),
                   .skeleton = skeleton,
                   .target = target,
                   .model = query.Text(1),
                   .signatures = {},
                   .kernels = {},
                   .compared = query.Text(3),
                   .rounds = query.Integer(4),
                   .default_ns = query.Real(5),
                   .tuned_ns = query.Real(6),
                   .ratio = {query.Real(7), query.Real(8), query.Real(9)},
                   .wall_time_ns = query.Integer(10)};
  const auto signatures = nlohmann::json::parse(query.Text(2), nullptr, /*allow_exceptions=*/false);
  for (const nlohmann::json& signature : signatures) {
    if (signature.is_string()) final.signatures.push_back(signature.get<std::string>());
  }
  HONE_ASSIGN_OR_RETURN(final.kernels, ReadKernels(db, final.id));
  return std::optional(std::move(final));
}

}  // namespace hone::tuning_db::sqlite
