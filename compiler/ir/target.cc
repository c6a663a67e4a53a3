#include "compiler/ir/target.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "runtime/host.h"
#include "runtime/target_text.h"
#include "support/status.h"

namespace hone {
namespace {

template <class Kind>
absl::StatusOr<Target> Make(std::span<const ir::TargetFlag> flags) {
  HONE_ASSIGN_OR_RETURN(Kind kind, Kind::FromFlags(flags));
  return Target(std::move(kind));
}

}  // namespace

absl::StatusOr<Target> Target::Parse(std::string_view text) {
  std::vector<std::string_view> words = ir::SplitText(text, ' ');
  if (words.empty()) {
    return absl::InvalidArgumentError("the target is empty; try 'native' or 'llvm -mcpu=...'");
  }
  std::string host;
  if (words[0] == "native") {
    host = HostTargetText(HostCoreCount());
    std::vector<std::string_view> native = ir::SplitText(host, ' ');
    native.insert(native.end(), words.begin() + 1, words.end());
    words = std::move(native);
  }
  std::vector<ir::TargetFlag> flags;
  for (size_t i = 1; i < words.size(); ++i) flags.push_back(ir::FlagIn(words[i]));
  if (words[0] == "llvm") return Make<CpuTarget>(flags);
  if (words[0] == "cuda") return Make<CudaTarget>(flags);
  if (words[0] == "opencl") return Make<OpenClTarget>(flags);
  return absl::InvalidArgumentError(
      fmt::format("unknown target kind '{}'; known: native llvm cuda opencl", words[0]));
}

std::string Target::ToString() const {
  return std::visit([](const auto& of_kind) { return of_kind.ToString(); }, kind);
}

absl::StatusOr<CpuTarget> CpuTarget::Parse(std::string_view text) {
  HONE_ASSIGN_OR_RETURN(Target target, Target::Parse(text));
  if (auto* cpu = std::get_if<CpuTarget>(&target.kind)) return std::move(*cpu);
  const std::string found = target.ToString();
  return absl::UnimplementedError(fmt::format(
      "expected a target of kind llvm, such as 'native', found '{}': {}", found,
      std::holds_alternative<OpenClTarget>(target.kind) ? "only a CPU will do here"
                                                        : "code for cuda is not generated yet"));
}

}  // namespace hone
