#include "compiler/driver/repeat_values.h"

#include <set>
#include <utility>

#include "compiler/passes/memory_plan.h"
#include "fmt/format.h"
#include "support/status.h"

namespace hone::driver {
namespace {

Layout RowMajor(const ir::TensorType& type) {
  return Layout::RowMajor(static_cast<int>(type.shape.size()));
}

int64_t RowBytes(const ir::TensorType& type) {
  return ops::RowElements(type) * SizeBytes(type.dtype);
}

}  // namespace

int AddIntermediate(Specialisation& graph, const ir::TensorType& type, const Layout& layout) {
  Value value{.kind = Value::Kind::kIntermediate,
              .name = fmt::format("view.{}", graph.values.size()),
              .type = type,
              .layout = layout,
              .data = {}};
  graph.values.push_back(std::move(value));
  return static_cast<int>(graph.values.size()) - 1;
}

int RepeatValues::AddParam(size_t i, int arg, const ir::TensorType& type) {
  const int64_t slice = static_cast<int64_t>(i) - repeat_.states;
  if (slice >= repeat_.slices) return arg;
  const int id = AddIntermediate(graph_, type, RowMajor(type));
  graph_.values[id].within = arg;
  if (slice < 0) {
    states_.push_back(id);
  } else {
    MoveByRows(repeat_.IsBackwards(static_cast<size_t>(slice)), &graph_.values[id]);
  }
  return id;
}

absl::StatusOr<std::vector<int>> RepeatValues::AddResults(const std::vector<int>& results,
                                                          const ir::Type& type) {
  std::vector<int> fields(results.size(), -1);
  std::set<int> stacked;
  for (size_t i = states_.size(); i < results.size(); ++i) {
    HONE_RETURN_IF_ERROR(CheckIsFree(results[i]));
    const ir::TensorType& stack = type.fields[i].tensor;
    fields[i] = AddIntermediate(graph_, stack, RowMajor(stack));
    graph_.values[results[i]].within = fields[i];
    const size_t number = static_cast<size_t>(repeat_.slices) + i - states_.size();
    MoveByRows(repeat_.IsBackwards(number), &graph_.values[results[i]]);
    stacked.insert(results[i]);
  }
  for (size_t i = 0; i < states_.size(); ++i) {
    const int result = results[i];
    if (!stacked.contains(result)) {
      HONE_RETURN_IF_ERROR(CheckIsFree(result));
      PutInTwoPlaces(result);
    }
    graph_.values[states_[i]].follows = result;
    const passes::Place end = passes::PlaceInTrip(graph_.values, result, repeat_.trips - 1);
    fields[i] = AddIntermediate(graph_, type.fields[i].tensor, RowMajor(type.fields[i].tensor));
    graph_.values[fields[i]].within = end.value;
    graph_.values[fields[i]].offset_bytes = end.offset_bytes;
  }
  return fields;
}

// From a row of what the value lies in to the next; the first trip has the first one.
void RepeatValues::MoveByRows(bool backwards, Value* value) const {
  const int64_t row = RowBytes(value->type);
  value->offset_bytes = backwards ? static_cast<uint64_t>((repeat_.trips - 1) * row) : 0;
  value->stride_bytes = backwards ? -row : row;
}

absl::Status RepeatValues::CheckIsFree(int result) const {
  const Value& value = graph_.values[result];
  const bool is_of_body = result >= first_of_body_;
  if (is_of_body && value.kind == Value::Kind::kIntermediate && value.within < 0) {
    return absl::OkStatus();
  }
  return absl::InternalError(
      "expected results of a repeated function that kernels of its own write");
}

void RepeatValues::PutInTwoPlaces(int result) {
  const ir::TensorType& row = graph_.values[result].type;
  const ir::TensorType two = {{2, ops::RowElements(row)}, row.dtype};
  const int holder = AddIntermediate(graph_, two, RowMajor(two));
  Value& value = graph_.values[result];
  value.within = holder;
  value.stride_bytes = RowBytes(value.type);
  value.alternates = true;
}

}  // namespace hone::driver
