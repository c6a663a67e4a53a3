// Loop nests as text.
#include "compiler/loop/parser.h"
#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hone;
  const auto nest = loop::ParseNest(fuzz::Text(data, size));
  if (!nest.ok()) return 0;
  const std::string text = loop::ToText(*nest);
  const auto again = loop::ParseNest(text);
  fuzz::Require(again.ok() && loop::ToText(*again) == text, "printed text reads as the same nest");
  return 0;
}
