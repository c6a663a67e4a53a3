// TensorFlow's GraphDef: bytes to a typed graph.
#include "compiler/frontend/tensorflow/import.h"
#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto module = hone::frontend::ImportTensorflowBytes(hone::fuzz::Text(data, size));
  if (module.ok()) hone::fuzz::Require(module->functions.contains("main"), "a model has a main");
  return 0;
}
