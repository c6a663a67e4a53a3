// Graph text: characters to a typed graph; and what was read prints to text that reads as the same.
#include "compiler/ir/parser.h"
#include "compiler/ir/printer.h"
#include "compiler/passes/infer_type.h"
#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hone;
  const auto module = ir::ParseModule(fuzz::Text(data, size));
  if (!module.ok()) return 0;
  const std::string text = ir::ToText(*module);
  const auto again = ir::ParseModule(text);
  fuzz::Require(again.ok() && ir::ToText(*again) == text, "printed text reads as the same module");
  (void)passes::InferTypes(*module);
  return 0;
}
