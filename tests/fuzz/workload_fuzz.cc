// What a client of the daemon sends: workloads, lowered to their naive nests, with the spaces and
// defaults that the daemon makes of them; targets and configs.
#include "compiler/ir/target.h"
#include "compiler/ops/lower.h"
#include "compiler/schedule/config.h"
#include "compiler/schedule/template.h"
#include "tests/compiler/schedule/opened.h"
#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hone;
  const std::string text(fuzz::Text(data, size));
  if (const auto config = schedule::Config::Parse(text); config.ok()) {
    const auto again = schedule::Config::Parse(config->ToText());
    fuzz::Require(again.ok() && *again == *config, "a config's text reads as the same config");
  }
  if (const auto target = Target::Parse(text); target.ok()) {
    const auto again = Target::Parse(target->ToString());
    fuzz::Require(again.ok() && *again == *target, "a target's text reads as the same target");
  }
  const auto definition = ops::LowerWorkload(text);
  if (!definition.ok()) return 0;
  const auto again = ops::LowerWorkload(definition->workload.text);
  fuzz::Require(again.ok() && again->workload.text == definition->workload.text,
                "a canonical workload is its own canonical text");
  const auto target = CpuTarget::Parse("llvm -mtriple=x86_64-linux-gnu -mcpu=znver5");
  const schedule::Template& schedules = schedule::TemplateFor(*definition);
  const auto signatures = schedules.Signatures(*definition, machine::Machine::For(*target));
  const schedule::Task task{&*definition, signatures.front(), *target};
  const std::string config = schedule::DefaultOfTask(task).ToText();
  fuzz::Require(schedule::SpaceOfTask(task).Contains(*schedule::Config::Parse(config)),
                "a default is a config of its space");
  return 0;
}
