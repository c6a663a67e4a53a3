// What the handle of the C API is. For the files of the C API only.
#ifndef HONE_RUNTIME_C_MODEL_H_
#define HONE_RUNTIME_C_MODEL_H_

#include <memory>
#include <string>

#include "runtime/c_api.h"
#include "runtime/executor.h"
#include "runtime/module.h"

struct hone_model {
  std::unique_ptr<hone::Module> module;
  std::unique_ptr<hone::Executor> executor;
};

namespace hone {

// Sets hone_last_error of this thread; returns the code.
int Fail(hone_code code, const std::string& message);

}  // namespace hone

#endif  // HONE_RUNTIME_C_MODEL_H_
