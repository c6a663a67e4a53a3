// What the handle of the C API is. For the files of the C API only.
#ifndef HONE_RUNTIME_C_MODEL_H_
#define HONE_RUNTIME_C_MODEL_H_

#include <memory>
#include <string>

#include "runtime/c_api.h"
#include "runtime/model.h"

struct hone_model {
  std::unique_ptr<hone::Model> model;

  const hone_function& function() const { return model->function(); }
  hone::Executor& executor() const { return model->executor(); }
};

namespace hone {

// Sets hone_last_error of this thread; returns the code.
int Fail(hone_code code, const std::string& message);

// Whether a caller gave a pointer that must be there; otherwise the error says which it is.
bool Has(const void* argument, const char* what);
// Whether memory can be bound; otherwise the error is set.
bool IsAligned(const void* data);
// HONE_OK, or HONE_FAILED with the error set, where the model's device has failed.
int DeviceStatus(const hone_model* model);
// From here on the input has this shape; otherwise the error is set.
int ChooseShape(hone_model* model, uint32_t input, const InputShape& shape);
inline bool HasModel(const hone_model* model) { return Has(model, "an open model"); }

}  // namespace hone

#endif  // HONE_RUNTIME_C_MODEL_H_
