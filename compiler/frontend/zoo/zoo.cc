#include "compiler/frontend/zoo/zoo.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/frontend/zoo/models.h"

namespace hone::frontend {
namespace {

struct Entry {
  const char* name;
  ir::Expr (*build)(NetBuilder& net, int64_t batch);
};

constexpr Entry kEntries[] = {{"mlp", BuildMlp},
                              {"mobilenet", BuildMobilenet},
                              {"resnet18", BuildResnet18},
                              {"resnet50", BuildResnet50},
                              {"squeezenet", BuildSqueezenet}};

constexpr uint64_t kSeed = 20260411;

}  // namespace

absl::StatusOr<ir::Module> ZooModel(std::string_view name, int64_t batch) {
  if (batch < 1 || batch > 65536) {
    return absl::InvalidArgumentError(
        fmt::format("a batch of 1 to 65536 was expected, found {}", batch));
  }
  for (const Entry& entry : kEntries) {
    if (name != entry.name) continue;
    NetBuilder net(kSeed);
    const ir::Expr output = entry.build(net, batch);
    return net.Finish(output);
  }
  return absl::NotFoundError(
      fmt::format("the zoo has no model \"{}\"; it has {}", name, fmt::join(ZooNames(), ", ")));
}

std::vector<std::string> ZooNames() {
  std::vector<std::string> names;
  for (const Entry& entry : kEntries) names.push_back(entry.name);
  return names;
}

}  // namespace hone::frontend
