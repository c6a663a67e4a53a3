#include "tuning_db/log_line.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "support/digest.h"
#include "support/status.h"
#include "tuning_db/canonical_config.h"
#include "tuning_db/well_formed.h"

namespace hone::tuning_db {
namespace {

using Json = nlohmann::ordered_json;

Json ToJson(double value) {
  if (std::isnan(value)) return nullptr;
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

Json ToJson(const std::vector<double>& values) {
  Json array = Json::array();
  for (const double value : values) array.push_back(ToJson(value));
  return array;
}

void AddTask(Json& json, const Task& task) {
  json["workload"] = task.workload;
  json["workload_digest"] = task.workload_digest;
  json["anchor_digest"] = task.anchor_digest;
  json["target"] = task.target;
}

void AddRecord(Json& json, const Record& record) {
  const Trial& trial = record.of_trial;
  json["signature"] = trial.signature;
  json["config"] = trial.config;
  json["config_digest"] = trial.config_digest;
  json["nest_digest"] = trial.nest_digest;
  json["purpose"] = std::string(Name(trial.purpose));
  json["round"] = trial.round;
  json["outcome"] = std::string(Name(record.outcome));
  json["message"] = record.message;
  json["samples_ns"] = ToJson(record.samples_ns);
  json["median_ns"] = ToJson(record.median_ns);
  json["calibrator_ns"] = ToJson(record.calibrator_ns);
  json["anchor_ns"] = ToJson(record.anchor_ns);
  json["error_ratio"] = ToJson(record.error_ratio);
  json["artifact_digest"] = record.artifact_digest;
  json["toolchain"] = record.toolchain;
  json["device"] = record.device;
  json["regime"] = record.regime;
  json["worker"] = record.worker;
  json["wall_time_ns"] = record.wall_time_ns;
  if (!record.retracted.empty()) json["retracted"] = record.retracted;
}

void AddFinal(Json& json, const Final& final) {
  json["signature"] = final.signature;
  json["distinct_trials"] = final.distinct_trials;
  json["space_size"] = final.space_size;
  json["ended_share"] = ToJson(final.ended_share);
  json["winner"] = final.winner;
  json["default_entry"] = final.default_entry;
  json["toolchain"] = final.toolchain;
  json["device"] = final.device;
  json["wall_time_ns"] = final.wall_time_ns;
  Json entries = Json::array();
  for (const FinalEntry& entry : final.entries) {
    entries.push_back({{"config", entry.config},
                       {"nest_digest", entry.nest_digest},
                       {"artifact_digest", entry.artifact_digest},
                       {"round_ns", ToJson(entry.round_ns)},
                       {"median_ns", ToJson(entry.median_ns)},
                       {"ratio_to_default", ToJson(entry.ratio_to_default)}});
  }
  json["entries"] = std::move(entries);
}

// Reads the fields of an object and remembers the first that is missing or of another type.
class Fields {
 public:
  explicit Fields(const Json& json) : json_(json) {}

  std::string Text(const char* name) {
    const Json* field = Find(name);
    if (field == nullptr || !field->is_string()) return Fail(name, "a text"), "";
    return field->get<std::string>();
  }
  int64_t Integer(const char* name) {
    const Json* field = Find(name);
    if (field == nullptr || !field->is_number_integer()) return Fail(name, "an integer"), 0;
    return field->get<int64_t>();
  }
  double Real(const char* name) {
    const Json* field = Find(name);
    const std::optional<double> value = field != nullptr ? RealOf(*field) : std::nullopt;
    if (!value) return Fail(name, "a number"), 0;
    return *value;
  }
  // Reads nanoseconds; not a number where there is no time.
  double Time(const char* name) {
    const double ns = Real(name);
    if (ns < 0) Fail(name, "a time that is not negative");
    return ns;
  }
  std::vector<double> Times(const char* name) {
    const std::vector<double> all_ns = Reals(name);
    for (const double ns : all_ns) {
      if (ns < 0) Fail(name, "a list of times that are not negative");
    }
    return all_ns;
  }
  std::string TextOr(const char* name, const std::string& without) {
    return Find(name) != nullptr ? Text(name) : without;
  }
  // Reads a field that older logs do not have.
  double RealOr(const char* name, double without) {
    return Find(name) != nullptr ? Real(name) : without;
  }
  std::vector<double> Reals(const char* name) {
    std::vector<double> values;
    const Json* field = Find(name);
    if (field == nullptr || !field->is_array()) return Fail(name, "a list of numbers"), values;
    for (const Json& item : *field) {
      const std::optional<double> value = RealOf(item);
      if (!value) Fail(name, "a list of numbers");
      values.push_back(value.value_or(0));
    }
    return values;
  }
  const Json& Objects(const char* name) {
    static const Json* const none = new Json(Json::array());
    const Json* field = Find(name);
    if (field != nullptr && field->is_array()) return *field;
    Fail(name, "a list of objects");
    return *none;
  }

  void Fail(const std::string& name, const std::string& expected) {
    if (status_.ok()) {
      status_ = absl::InvalidArgumentError(fmt::format("\"{}\" has to be {}", name, expected));
    }
  }
  const absl::Status& status() const { return status_; }

 private:
  static std::optional<double> RealOf(const Json& json) {
    if (json.is_number()) return json.get<double>();
    if (json.is_null()) return std::numeric_limits<double>::quiet_NaN();
    if (json == "inf") return std::numeric_limits<double>::infinity();
    if (json == "-inf") return -std::numeric_limits<double>::infinity();
    return std::nullopt;
  }
  const Json* Find(const char* name) {
    const auto it = json_.is_object() ? json_.find(name) : json_.end();
    return it != json_.end() ? &*it : nullptr;
  }

  const Json& json_;
  absl::Status status_;
};

Task ReadTask(Fields& fields) {
  Task task;
  task.workload = fields.Text("workload");
  task.workload_digest = fields.Text("workload_digest");
  task.anchor_digest = fields.Text("anchor_digest");
  task.target = fields.Text("target");
  if (task.workload_digest != Sha256Hex(task.workload)) {
    fields.Fail("workload_digest", "the SHA-256 of the workload");
  }
  return task;
}

Record ReadRecord(Fields& fields) {
  Record record;
  Trial& trial = record.of_trial;
  trial.signature = fields.Text("signature");
  // A log of an older version has other spellings, and their digests.
  trial.config = CanonicalConfig(fields.Text("config"));
  fields.Text("config_digest");
  trial.config_digest = Sha256Hex(trial.config);
  trial.nest_digest = fields.Text("nest_digest");
  const auto purpose = ParsePurpose(fields.Text("purpose"));
  if (!purpose) fields.Fail("purpose", "search, confirm, calibrate or rerun");
  trial.purpose = purpose.value_or(Purpose::kSearch);
  trial.round = fields.Integer("round");
  const auto outcome = ParseOutcome(fields.Text("outcome"));
  if (!outcome) fields.Fail("outcome", "a known outcome, such as ok");
  record.outcome = outcome.value_or(Outcome::kOk);
  record.message = fields.Text("message");
  record.samples_ns = fields.Times("samples_ns");
  record.median_ns = fields.Time("median_ns");
  record.calibrator_ns = fields.Time("calibrator_ns");
  record.anchor_ns = fields.Time("anchor_ns");
  record.error_ratio = fields.Real("error_ratio");
  record.artifact_digest = fields.Text("artifact_digest");
  record.toolchain = fields.Text("toolchain");
  record.device = fields.Text("device");
  record.regime = fields.Text("regime");
  record.worker = fields.Text("worker");
  record.wall_time_ns = fields.Integer("wall_time_ns");
  record.retracted = fields.TextOr("retracted", "");  // not there: it counts
  return record;
}

FinalEntry ReadEntry(Fields& fields) {
  FinalEntry entry;
  entry.config = CanonicalConfig(fields.Text("config"));
  entry.nest_digest = fields.Text("nest_digest");
  entry.artifact_digest = fields.Text("artifact_digest");
  entry.round_ns = fields.Times("round_ns");
  entry.median_ns = fields.Time("median_ns");
  entry.ratio_to_default = fields.Real("ratio_to_default");
  return entry;
}

Final ReadFinal(Fields& fields) {
  Final final;
  final.signature = fields.Text("signature");
  final.distinct_trials = fields.Integer("distinct_trials");
  final.space_size = fields.Integer("space_size");
  final.ended_share = fields.RealOr("ended_share", 0);
  final.toolchain = fields.Text("toolchain");
  final.device = fields.Text("device");
  final.wall_time_ns = fields.Integer("wall_time_ns");
  for (const Json& object : fields.Objects("entries")) {
    Fields entry(object);
    final.entries.push_back(ReadEntry(entry));
    if (!entry.status().ok()) fields.Fail("entries", "a list of whole entries");
  }
  const auto index = [&](const char* name) {
    const int64_t i = fields.Integer(name);
    if (i < 0 || i >= static_cast<int64_t>(final.entries.size())) {
      fields.Fail(name, "the number of an entry");
    }
    return static_cast<int>(i);
  };
  final.winner = index("winner");
  final.default_entry = index("default_entry");
  return final;
}

}  // namespace

std::string ToJson(const LogLine& line) {
  Json json;
  json["kind"] = line.is_final ? "final" : "record";
  AddTask(json, line.task);
  if (line.is_final) {
    AddFinal(json, line.final);
  } else {
    AddRecord(json, line.record);
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

absl::StatusOr<LogLine> ParseLogLine(std::string_view text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return absl::InvalidArgumentError("not a JSON object");
  Fields fields(json);
  LogLine line;
  line.task = ReadTask(fields);
  const std::string kind = fields.Text("kind");
  line.is_final = kind == "final";
  if (line.is_final) {
    line.final = ReadFinal(fields);
  } else if (kind == "record") {
    line.record = ReadRecord(fields);
  } else {
    fields.Fail("kind", "record or final");
  }
  HONE_RETURN_IF_ERROR(fields.status());
  HONE_RETURN_IF_ERROR(IsWellFormed(line.task));
  if (line.is_final) {
    HONE_RETURN_IF_ERROR(IsWellFormed(line.final));
  } else {
    HONE_RETURN_IF_ERROR(IsWellFormed(line.record));
    HONE_RETURN_IF_ERROR(IsWellFormed(line.record.of_trial));
    HONE_RETURN_IF_ERROR(IsText("a reason", line.record.retracted));
  }
  return line;
}

}  // namespace hone::tuning_db
