#include "tuning_db/task_match.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <system_error>
#include <vector>

namespace hone::tuning_db {
namespace {

bool IsOfName(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '@' || c == '%' || c == '"';
}

// As a whole word that is called: "nn.conv2d" is no operator of "nn.conv2d_transpose(p0)".
bool HasOperator(std::string_view workload, std::string_view op) {
  const std::string called = fmt::format("{}(", op);
  for (size_t at = workload.find(called); at != std::string_view::npos;
       at = workload.find(called, at + 1)) {
    if (at == 0 || !IsOfName(workload[at - 1])) return true;
  }
  return false;
}

}  // namespace

absl::StatusOr<std::string> ShapeText(std::string_view shape) {
  std::string_view rest = shape;
  if (rest.starts_with('(') && rest.ends_with(')')) rest = rest.substr(1, rest.size() - 2);
  std::vector<int64_t> extents;
  while (true) {
    int64_t extent = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), extent);
    if (error != std::errc() || extent < 0) break;
    extents.push_back(extent);
    rest.remove_prefix(static_cast<size_t>(end - rest.data()));
    if (rest.empty()) return fmt::format("({})", fmt::join(extents, ", "));
    if (rest[0] != 'x' && rest[0] != ',') break;
    rest.remove_prefix(rest.starts_with(", ") ? 2 : 1);
  }
  return absl::InvalidArgumentError(
      fmt::format("expected a shape such as 1x64x56x56, found '{}'", shape));
}

bool IsOfTasks(const RecordFilter& filter) {
  return filter.task || !filter.target.empty() || !filter.target_part.empty() ||
         !filter.workload_substring.empty() || !filter.op.empty() || !filter.shape.empty();
}

bool HoldsFor(const RecordFilter& filter, const Task& task) {
  if (filter.task && *filter.task != task.id) return false;
  if (!filter.target.empty() && filter.target != task.target) return false;
  if (task.target.find(filter.target_part) == std::string::npos) return false;
  if (task.workload.find(filter.workload_substring) == std::string::npos) return false;
  if (!filter.op.empty() && !HasOperator(task.workload, filter.op)) return false;
  if (filter.shape.empty()) return true;
  const absl::StatusOr<std::string> shape = ShapeText(filter.shape);
  return shape.ok() && task.workload.find(fmt::format("Tensor[{},", *shape)) != std::string::npos;
}

}  // namespace hone::tuning_db
