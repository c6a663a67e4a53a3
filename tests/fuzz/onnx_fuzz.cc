// ONNX: bytes to a typed graph.
#include "compiler/frontend/onnx/import.h"
#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // No folder: what an importer reads of the disk is not of these bytes.
  const auto module = hone::frontend::ImportOnnxBytes(hone::fuzz::Text(data, size));
  if (module.ok()) hone::fuzz::Require(module->functions.contains("main"), "a model has a main");
  return 0;
}
