#include "cli/pass_trace.h"

#include "compiler/ir/printer.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace hone::cli {
namespace {

double Ms(int64_t ns) { return static_cast<double>(ns) * 1e-6; }

size_t NodesOf(const ir::Module& module) {
  const auto main = module.functions.find("main");
  return main == module.functions.end() ? 0 : ir::PostOrderOutside(main->second).size();
}

}  // namespace

void PassTrace::Add(const std::string& pass, const ir::Module& module, int64_t ns) {
  steps_.push_back({.name = pass, .ns = ns, .nodes = NodesOf(module), .text = ""});
  if (keep_texts_) steps_.back().text = ir::ToText(module, {.constants = false});
}

std::string PassTrace::Graphs() const {
  std::string text;
  for (const PassStep& step : steps_) {
    text += fmt::format("{}// {}: {:.2f} ms, {} nodes\n{}", text.empty() ? "" : "\n", step.name,
                        Ms(step.ns), step.nodes, step.text);
  }
  return text + fmt::format("\n// in all: {:.2f} ms\n", Ms(TotalNs()));
}

std::string PassTrace::Table() const {
  std::string text = fmt::format("{:<24} {:>9} {:>7}\n", "pass", "ms", "nodes");
  for (const PassStep& step : steps_) {
    text += fmt::format("{:<24} {:>9.2f} {:>7}\n", step.name, Ms(step.ns), step.nodes);
  }
  return text + fmt::format("{:<24} {:>9.2f}\n", "in all", Ms(TotalNs()));
}

std::string PassTrace::Json() const {
  nlohmann::json passes = nlohmann::json::array();
  for (const PassStep& step : steps_) {
    passes.push_back({{"name", step.name}, {"ms", Ms(step.ns)}, {"nodes", step.nodes}});
  }
  const nlohmann::json document = {{"schema", 1}, {"total_ms", Ms(TotalNs())}, {"passes", passes}};
  return document.dump(2) + "\n";
}

int64_t PassTrace::TotalNs() const {
  int64_t total = 0;
  for (const PassStep& step : steps_) total += step.ns;
  return total;
}

}  // namespace hone::cli
