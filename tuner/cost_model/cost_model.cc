#include "tuner/cost_model/cost_model.h"

#include <xgboost/c_api.h>

#include <limits>
#include <map>
#include <string_view>

#include "fmt/format.h"
#include "support/status.h"

namespace hone::tuner {
namespace {

absl::Status Check(int result, std::string_view what) {
  if (result == 0) return absl::OkStatus();
  return absl::InternalError(fmt::format("XGBoost: {}: {}", what, XGBGetLastError()));
}

class Matrix {
 public:
  Matrix() = default;
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;
  ~Matrix() {
    if (handle_ != nullptr) XGDMatrixFree(handle_);
  }
  DMatrixHandle get() const { return handle_; }
  DMatrixHandle* out() { return &handle_; }

 private:
  DMatrixHandle handle_ = nullptr;
};

// Row after row; nullopt-like empty where the rows differ in length.
absl::StatusOr<std::vector<float>> Flatten(const std::vector<std::vector<float>>& rows) {
  std::vector<float> flat;
  flat.reserve(rows.size() * rows[0].size());
  for (const std::vector<float>& row : rows) {
    if (row.size() != rows[0].size()) {
      return absl::InvalidArgumentError(
          fmt::format("expected rows of {} features, found {}", rows[0].size(), row.size()));
    }
    flat.insert(flat.end(), row.begin(), row.end());
  }
  return flat;
}

// The margins, each group shifted so that they have the mean of its targets.
std::vector<float> CentredMargins(const TrainingSet& data) {
  struct Sum {
    double residual = 0;
    int64_t count = 0;
  };
  std::map<int64_t, Sum> sums;
  for (size_t i = 0; i < data.rows.size(); ++i) {
    Sum& sum = sums[data.groups[i]];
    sum.residual += data.targets[i] - data.margins[i];
    sum.count += 1;
  }
  std::vector<float> centred;
  for (size_t i = 0; i < data.rows.size(); ++i) {
    const Sum& sum = sums[data.groups[i]];
    centred.push_back(data.margins[i] +
                      static_cast<float>(sum.residual / static_cast<double>(sum.count)));
  }
  return centred;
}

absl::Status SetParameters(BoosterHandle booster, const CostModelOptions& options) {
  const std::pair<const char*, std::string> parameters[] = {
      {"verbosity", "0"},
      {"nthread", "1"},
      {"objective", "reg:squarederror"},
      {"base_score", "0"},
      {"tree_method", "hist"},
      {"max_depth", std::to_string(options.depth)},
      {"max_bin", std::to_string(options.max_bin)},
      {"eta", fmt::format("{}", options.learning_rate)},
      {"seed", std::to_string(options.seed % 0x7fffffff)}};
  for (const auto& [name, value] : parameters) {
    HONE_RETURN_IF_ERROR(Check(XGBoosterSetParam(booster, name, value.c_str()), name));
  }
  return absl::OkStatus();
}

}  // namespace

struct CostModel::Booster {
  Booster() = default;
  Booster(const Booster&) = delete;
  Booster& operator=(const Booster&) = delete;
  ~Booster() {
    if (handle != nullptr) XGBoosterFree(handle);
  }
  BoosterHandle handle = nullptr;
};

CostModel::CostModel(std::unique_ptr<Booster> booster) : booster_(std::move(booster)) {}
CostModel::CostModel(CostModel&&) noexcept = default;
CostModel& CostModel::operator=(CostModel&&) noexcept = default;
CostModel::~CostModel() = default;

absl::StatusOr<CostModel> CostModel::Train(const TrainingSet& data,
                                           const CostModelOptions& options) {
  const size_t count = data.rows.size();
  if (count == 0 || data.margins.size() != count || data.targets.size() != count ||
      data.groups.size() != count) {
    return absl::InvalidArgumentError(
        fmt::format("expected a margin, target and group a row, found {} rows, {} margins, {} "
                    "targets and {} groups",
                    count, data.margins.size(), data.targets.size(), data.groups.size()));
  }
  HONE_ASSIGN_OR_RETURN(const std::vector<float> flat, Flatten(data.rows));
  Matrix matrix;
  const float missing = std::numeric_limits<float>::quiet_NaN();
  HONE_RETURN_IF_ERROR(Check(
      XGDMatrixCreateFromMat_omp(flat.data(), count, data.rows[0].size(), missing, matrix.out(), 1),
      "matrix"));
  const std::vector<float> margins = CentredMargins(data);
  HONE_RETURN_IF_ERROR(
      Check(XGDMatrixSetFloatInfo(matrix.get(), "label", data.targets.data(), count), "targets"));
  HONE_RETURN_IF_ERROR(
      Check(XGDMatrixSetFloatInfo(matrix.get(), "base_margin", margins.data(), count), "margins"));
  auto booster = std::make_unique<Booster>();
  const DMatrixHandle handles[] = {matrix.get()};
  HONE_RETURN_IF_ERROR(Check(XGBoosterCreate(handles, 1, &booster->handle), "booster"));
  HONE_RETURN_IF_ERROR(SetParameters(booster->handle, options));
  for (int round = 0; round < options.rounds; ++round) {
    HONE_RETURN_IF_ERROR(
        Check(XGBoosterUpdateOneIter(booster->handle, round, matrix.get()), "training"));
  }
  return CostModel(std::move(booster));
}

absl::StatusOr<std::vector<float>> CostModel::Predict(const std::vector<std::vector<float>>& rows,
                                                      const std::vector<float>& margins) const {
  if (rows.empty()) return std::vector<float>();
  if (rows.size() != margins.size()) {
    return absl::InvalidArgumentError(fmt::format(
        "expected a margin a row, found {} rows and {} margins", rows.size(), margins.size()));
  }
  HONE_ASSIGN_OR_RETURN(const std::vector<float> flat, Flatten(rows));
  const std::string array =
      fmt::format(R"({{"data": [{}, true], "shape": [{}, {}], "typestr": "<f4", "version": 3}})",
                  reinterpret_cast<uintptr_t>(flat.data()), rows.size(), rows[0].size());
  constexpr char kConfig[] =
      R"({"type": 0, "training": false, "iteration_begin": 0, "iteration_end": 0,
          "strict_shape": false, "missing": NaN, "cache_id": 0})";
  const bst_ulong* shape = nullptr;
  bst_ulong dimensions = 0;
  const float* result = nullptr;
  HONE_RETURN_IF_ERROR(Check(XGBoosterPredictFromDense(booster_->handle, array.c_str(), kConfig,
                                                       nullptr, &shape, &dimensions, &result),
                             "prediction"));
  // The trees give the residual; the margin is added here.
  std::vector<float> values(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) values[i] = margins[i] + result[i];
  return values;
}

}  // namespace hone::tuner
