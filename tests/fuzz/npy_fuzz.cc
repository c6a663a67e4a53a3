// Tensors of .npy files.
#include "compiler/frontend/tensor_file.h"
#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hone::frontend;
  const auto tensor = ParseNpy(hone::fuzz::Text(data, size));
  if (!tensor.ok()) return 0;
  const auto again = ParseNpy(SerializeNpy(*tensor));
  hone::fuzz::Require(again.ok() && *again == *tensor, "a tensor is written as it was read");
  return 0;
}
