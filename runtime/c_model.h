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

// Whether a caller gave a pointer that must be there; otherwise the error says which it is.
bool Has(const void* argument, const char* what);
inline bool HasModel(const hone_model* model) { return Has(model, "an open model"); }

}  // namespace hone

#endif  // HONE_RUNTIME_C_MODEL_H_
