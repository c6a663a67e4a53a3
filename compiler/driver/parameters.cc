#include "compiler/driver/parameters.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "compiler/loop/launch_access.h"
#include "fmt/format.h"
#include "runtime/memory.h"
#include "support/digest.h"

namespace hone::driver {
namespace {

bool IsParameter(const loop::BufferNode& buffer) {
  return buffer.role == loop::Role::kConstant || buffer.role == loop::Role::kPrepared;
}

// How a parameter of a kernel comes about, whatever the kernel and its constants are named.
struct Recipe {
  std::string digest;        // of the launches that make it; empty: the constant as it is
  std::vector<size_t> args;  // of the call: the constants it is made of
};

Recipe RecipeOf(const loop::Nest& nest, size_t buffer) {
  loop::BufferSet used = {nest.buffers[buffer].get()};
  loop::Nest made{.name = "prepare", .buffers = {}, .launches = {}};
  for (auto launch = nest.launches.rbegin(); launch != nest.launches.rend(); ++launch) {
    if (launch->phase != loop::Phase::kPrepare) continue;
    const loop::LaunchAccess access = loop::AccessOf(*launch);
    const bool needed = std::any_of(access.written.begin(), access.written.end(),
                                    [&](const auto* written) { return used.contains(written); });
    if (!needed) continue;
    used.insert(access.written.begin(), access.written.end());
    used.insert(access.read.begin(), access.read.end());
    made.launches.insert(made.launches.begin(), *launch);
  }
  Recipe recipe;
  size_t place = 0;
  size_t next_arg = 0;
  for (size_t b = 0; b < nest.buffers.size(); ++b) {
    const loop::Role role = nest.buffers[b]->role;
    const bool is_arg = role == loop::Role::kInput || role == loop::Role::kConstant;
    const size_t arg = is_arg ? next_arg++ : 0;
    if (!used.contains(nest.buffers[b].get())) continue;
    if (b == buffer) place = made.buffers.size();
    if (is_arg) recipe.args.push_back(arg);
    made.buffers.push_back(nest.buffers[b]);
  }
  if (!made.launches.empty())
    recipe.digest = Sha256Hex(fmt::format("{} {}", place, loop::ToCanonicalText(made)));
  return recipe;
}

// How the constant is made that run launches read from a buffer of a kernel, by buffer.
using KernelRecipes = std::map<size_t, Recipe>;

std::vector<KernelRecipes> RecipesOf(const std::vector<loop::Nest>& nests) {
  std::vector<KernelRecipes> recipes;
  for (const loop::Nest& nest : nests) {
    KernelRecipes& of_kernel = recipes.emplace_back();
    const loop::BufferSet read = loop::ReadIn(nest, loop::Phase::kRun);
    for (size_t b = 0; b < nest.buffers.size(); ++b) {
      const loop::BufferNode& buffer = *nest.buffers[b];
      if (!IsParameter(buffer) || !read.contains(&buffer) || buffer.SizeBytes() == 0) continue;
      of_kernel[b] = RecipeOf(nest, b);
    }
  }
  return recipes;
}

// Digests of constants. Bytes that specialisations share are read once.
class ConstantDigests {
 public:
  const std::string& Of(const ir::ConstantData& data) {
    const auto [it, is_new] = digests_.try_emplace({data.identity(), data.size_bytes()});
    if (is_new) {
      it->second = Sha256Hex({reinterpret_cast<const char*>(data.bytes()), data.size_bytes()});
    }
    return it->second;
  }

 private:
  std::map<std::pair<const void*, uint64_t>, std::string> digests_;
};

// All calls, those that prepare most last.
std::vector<CallPlace> OrderOf(const KernelGraph& graph, const std::vector<loop::Nest>& nests) {
  std::vector<uint64_t> prepared(nests.size(), 0);
  for (size_t k = 0; k < nests.size(); ++k) {
    for (const loop::Buffer& buffer : nests[k].buffers) {
      if (buffer->role == loop::Role::kPrepared) prepared[k] += buffer->SizeBytes();
    }
  }
  std::vector<CallPlace> order;
  for (size_t s = 0; s < graph.specialisations.size(); ++s) {
    for (size_t c = 0; c < graph.specialisations[s].calls.size(); ++c) {
      order.push_back({static_cast<int>(s), static_cast<int>(c)});
    }
  }
  const auto bytes_of = [&](CallPlace place) {
    return prepared[graph.specialisations[place.specialisation].calls[place.call].kernel];
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](CallPlace a, CallPlace b) { return bytes_of(a) < bytes_of(b); });
  return order;
}

}  // namespace

ParameterPlan PlanParameters(const KernelGraph& graph, const std::vector<loop::Nest>& nests) {
  const std::vector<KernelRecipes> recipes = RecipesOf(nests);
  ConstantDigests digests;
  std::map<std::string, uint64_t> known;
  ParameterPlan plan;
  for (const Specialisation& specialisation : graph.specialisations) {
    plan.offsets.emplace_back(specialisation.calls.size());
  }
  for (const CallPlace place : OrderOf(graph, nests)) {
    const Specialisation& specialisation = graph.specialisations[place.specialisation];
    const KernelCall& call = specialisation.calls[place.call];
    const loop::Nest& nest = nests[call.kernel];
    auto& offsets = plan.offsets[place.specialisation][place.call];
    offsets.resize(nest.buffers.size());
    for (const auto& [buffer, recipe] : recipes[call.kernel]) {
      std::string key = recipe.digest;
      for (size_t arg : recipe.args) {
        key += " " + digests.Of(specialisation.values[call.args[arg]].data);
      }
      const auto [it, is_new] = known.try_emplace(std::move(key), plan.size_bytes);
      offsets[buffer] = it->second;
      if (!is_new) continue;
      plan.entries.push_back({place, buffer, plan.size_bytes});
      plan.size_bytes += AlignedBytes(nest.buffers[buffer]->SizeBytes());
    }
  }
  return plan;
}

}  // namespace hone::driver
