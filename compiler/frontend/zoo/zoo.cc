#include "compiler/frontend/zoo/zoo.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "compiler/frontend/zoo/models.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

constexpr int64_t kSyntheticNodes = 100;

struct ZooEntry {
  const char* name;
  ir::Expr (*build)(NetBuilder& net);
};

constexpr ZooEntry kEntries[] = {
    {"bert", BuildBert},
    {"dcgan", BuildDcgan},
    {"densenet121", BuildDensenet121},
    {"dqn", BuildDqn},
    {"gcn", BuildGcn},
    {"inception_v3", BuildInceptionV3},
    {"lstm", BuildLstm},
    {"mlp", BuildMlp},
    {"mobilenet", BuildMobilenet},
    {"mobilenet_v2", BuildMobilenetV2},
    {"resnet101", BuildResnet101},
    {"resnet152", BuildResnet152},
    {"resnet18", BuildResnet18},
    {"resnet34", BuildResnet34},
    {"resnet50", BuildResnet50},
    {"resnet_3d", BuildResnet3d},
    {"squeezenet", BuildSqueezenet},
    {"synthetic", [](NetBuilder& net) { return BuildSynthetic(net, kSyntheticNodes); }},
    {"vgg16", BuildVgg16}};

constexpr uint64_t kSeed = 20260411;
constexpr std::string_view kSyntheticStem = "synthetic_";

absl::StatusOr<int64_t> SyntheticNodes(std::string_view name) {
  const std::string_view text = name.substr(kSyntheticStem.size());
  int64_t nodes = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), nodes);
  constexpr int64_t kLeast = 10;
  constexpr int64_t kMost = 100'000;
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (whole && nodes >= kLeast && nodes <= kMost) return nodes;
  return absl::InvalidArgumentError(fmt::format(
      "{}N with N from {} to {} was expected, found \"{}\"", kSyntheticStem, kLeast, kMost, name));
}

absl::Status CheckSize(const ZooSize& size) {
  if (size.batch < 1 || size.batch > 65536) {
    return absl::InvalidArgumentError(
        fmt::format("a batch of 1 to 65536 was expected, found {}", size.batch));
  }
  if (size.width_divisor < 1 || size.extent_divisor < 1) {
    return absl::InvalidArgumentError("divisors of 1 or more were expected");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ir::Module> ZooModel(std::string_view name, const ZooSize& size) {
  HONE_RETURN_IF_ERROR(CheckSize(size));
  NetBuilder net(kSeed, size);
  const auto* const entry =
      std::find_if(std::begin(kEntries), std::end(kEntries),
                   [&](const ZooEntry& candidate) { return name == candidate.name; });
  if (entry != std::end(kEntries)) {
    const ir::Expr output = entry->build(net);
    return net.Finish(output);
  }
  if (name.starts_with(kSyntheticStem)) {
    HONE_ASSIGN_OR_RETURN(const int64_t nodes, SyntheticNodes(name));
    const ir::Expr output = BuildSynthetic(net, nodes);
    return net.Finish(output);
  }
  return absl::NotFoundError(
      fmt::format("the zoo has no model \"{}\"; it has {}", name, fmt::join(ZooNames(), ", ")));
}

absl::StatusOr<ir::Module> ZooModel(std::string_view name, int64_t batch) {
  return ZooModel(name, ZooSize{.batch = batch});
}

std::vector<std::string> ZooNames() {
  std::vector<std::string> names;
  for (const ZooEntry& entry : kEntries) names.push_back(entry.name);
  return names;
}

}  // namespace hone::frontend
