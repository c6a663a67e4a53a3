// Defines the handle of the C API. Only the files that implement the C API include this.
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

// Whether a required pointer is not null; otherwise sets an error that says which argument is
// missing.
bool Has(const void* argument, const char* what);
// Whether the memory is aligned well enough to be bound; otherwise sets the error.
bool IsAligned(const void* data);
// HONE_OK, or HONE_FAILED with the error set if the model's device has failed.
int DeviceStatus(const hone_model* model);
// Chooses a specialisation in which the input has this shape. Returns the code, with the error set
// if there is none.
int ChooseShape(hone_model* model, uint32_t input, const InputShape& shape);
inline bool HasModel(const hone_model* model) { return Has(model, "an open model"); }

}  // namespace hone

#endif  // HONE_RUNTIME_C_MODEL_H_
