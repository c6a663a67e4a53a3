// The zoo's models with few channels and on small images: all of their layers, for the interpreter.
#ifndef HONE_TESTS_COMPILER_FRONTEND_SMALL_ZOO_H_
#define HONE_TESTS_COMPILER_FRONTEND_SMALL_ZOO_H_

#include <vector>

#include "compiler/frontend/tensor_file.h"
#include "compiler/frontend/zoo/zoo.h"

namespace hone::frontend {

struct SmallModel {
  const char* name;
  ZooSize size;
  ir::Module Build() const;
};

const std::vector<SmallModel>& SmallZoo();

// Inputs for main: seeded floats; token ids and masks.
std::vector<TensorData> InputsOf(const ir::Module& module);

}  // namespace hone::frontend

#endif  // HONE_TESTS_COMPILER_FRONTEND_SMALL_ZOO_H_
