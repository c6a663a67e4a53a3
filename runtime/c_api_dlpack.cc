// The C API's functions on DLPack tensors.
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "runtime/c_model.h"
#include "runtime/data_type.h"

namespace {

hone_dl_type ToDlType(hone::DataType type) {
  const auto bits = static_cast<uint8_t>(8 * hone::SizeBytes(type));
  uint8_t code = HONE_DL_INT;
  if (type == hone::DataType::kBFloat16) {
    code = HONE_DL_BFLOAT;
  } else if (hone::IsFloat(type)) {
    code = HONE_DL_FLOAT;
  } else if (hone::IsUnsigned(type)) {
    code = HONE_DL_UINT;
  } else if (type == hone::DataType::kBool) {
    code = HONE_DL_BOOL;
  }
  return {code, bits, 1};
}

// Where a tensor of the model's device lies, in DLPack's words; the CPU for devices that DLPack's
// users cannot share.
hone_dl_device DlDeviceOf(const hone_model* model) {
  const hone::Device& device = model->model->device();
  if (!device.is_shared()) return {HONE_DL_CPU, 0};
  const std::string name = device.name();  // "cuda:1"
  return {HONE_DL_CUDA, std::atoi(name.substr(name.find(':') + 1).c_str())};
}

bool IsOn(const hone_dl_tensor& tensor, const hone_dl_device& device) {
  return tensor.device.device_type == device.device_type &&
         tensor.device.device_id == device.device_id;
}

const char* DataOf(const hone_dl_tensor& tensor) {
  return static_cast<const char*>(tensor.data) + tensor.byte_offset;
}

bool IsEmpty(const hone_dl_tensor& tensor) {
  for (int32_t axis = 0; axis < tensor.ndim; ++axis) {
    if (tensor.shape[axis] == 0) return true;
  }
  return false;
}

bool IsRowMajor(const hone_dl_tensor& tensor) {
  if (tensor.strides == nullptr) return true;
  int64_t stride = 1;
  for (int32_t axis = tensor.ndim; axis-- > 0;) {
    if (tensor.shape[axis] != 1 && tensor.strides[axis] != stride) return false;
    stride *= tensor.shape[axis];
  }
  return true;
}

// Whether the tensor's memory can be bound as it is; else the error is set.
bool CanBind(const hone_dl_tensor& tensor) {
  if (!IsRowMajor(tensor)) {
    hone::Fail(HONE_BAD_INPUT,
               "expected a row-major tensor; copy it with hone_set_input_dlpack instead");
    return false;
  }
  return hone::IsAligned(DataOf(tensor));
}

// Checks that the tensor is what the input takes in one of its shapes, and chooses that as the last
// step, so that a tensor that is refused changes nothing. Returns the code, with the error set
// where it is not HONE_OK.
int Accept(hone_model* model, uint32_t index, const hone_dl_tensor& tensor, bool to_bind) {
  if (tensor.ndim > 0 && !hone::Has(tensor.shape, "the tensor's shape")) return HONE_BAD_INPUT;
  const hone_value& value = model->function().inputs[index];
  const hone_dl_type type = ToDlType(static_cast<hone::DataType>(value.dtype));
  const hone_dl_device device = DlDeviceOf(model);
  const bool is_within_reach = tensor.device.device_type == HONE_DL_CPU || IsOn(tensor, device);
  const bool is_same_type =
      tensor.ndim >= 0 && is_within_reach && std::memcmp(&type, &tensor.dtype, sizeof(type)) == 0;
  const bool has_choice = model->model->table().function_count > 1;
  hone::InputShape shape;
  if (is_same_type) shape.assign(tensor.shape, tensor.shape + tensor.ndim);
  if (!is_same_type || (!has_choice && shape != hone::ShapeOf(value))) {
    return hone::Fail(HONE_BAD_INPUT,
                      std::string("expected a tensor on the CPU") +
                          (device.device_type == HONE_DL_CPU ? "" : " or on the model's device") +
                          " with the dtype and shape of input " + value.name + ", found another");
  }
  if (!IsEmpty(tensor) && !hone::Has(tensor.data, "the tensor's data")) return HONE_BAD_INPUT;
  const bool is_on_host = tensor.device.device_type == HONE_DL_CPU;
  if (to_bind && is_on_host != model->model->device().is_host()) {
    return hone::Fail(HONE_BAD_INPUT,
                      "expected a tensor on the model's own device to bind, found one on "
                      "another; copy it with hone_set_input_dlpack instead");
  }
  if (to_bind && !CanBind(tensor)) return HONE_BAD_INPUT;
  if (!is_on_host && !IsRowMajor(tensor)) {
    return hone::Fail(HONE_BAD_INPUT,
                      "expected a row-major tensor on the device, found other strides");
  }
  return hone::ChooseShape(model, index, shape);
}

// Element by element, in row-major order.
void CopyStrided(const hone_dl_tensor& tensor, uint64_t count, size_t element_bytes, char* into) {
  std::vector<int64_t> index(static_cast<size_t>(tensor.ndim), 0);
  for (uint64_t done = 0; done < count; ++done) {
    int64_t offset = 0;
    for (size_t axis = 0; axis < index.size(); ++axis) offset += index[axis] * tensor.strides[axis];
    std::memcpy(into + done * element_bytes,
                DataOf(tensor) + offset * static_cast<int64_t>(element_bytes), element_bytes);
    for (size_t axis = index.size(); axis-- > 0;) {
      if (++index[axis] < tensor.shape[axis]) break;
      index[axis] = 0;
    }
  }
}

// An exported view keeps its shape beside it.
struct Export {
  hone_dl_managed_tensor tensor{};
  std::vector<int64_t> shape;
};

hone_dl_managed_tensor* NewView(const hone_tensor_info& info, const void* data,
                                hone_dl_device device) {
  auto* view = new Export;
  view->shape.assign(info.shape, info.shape + info.rank);
  hone_dl_tensor& dl = view->tensor.dl_tensor;
  dl.data = const_cast<void*>(data);
  dl.device = device;
  dl.ndim = static_cast<int32_t>(info.rank);
  dl.dtype = ToDlType(*hone::ParseDataType(info.dtype));
  dl.shape = view->shape.data();
  view->tensor.manager_ctx = view;
  view->tensor.deleter = [](hone_dl_managed_tensor* self) {
    delete static_cast<Export*>(self->manager_ctx);
  };
  return &view->tensor;
}

// The same where there may be no such model, tensor or input.
int AcceptInput(hone_model* model, uint32_t index, const hone_dl_tensor* tensor, bool to_bind) {
  if (!hone::HasModel(model) || !hone::Has(tensor, "a tensor")) return HONE_BAD_INPUT;
  const uint32_t count = model->function().input_count;
  if (index < count) return Accept(model, index, *tensor, to_bind);
  return hone::Fail(HONE_BAD_INPUT, "expected an input below " + std::to_string(count) +
                                        ", found " + std::to_string(index));
}

}  // namespace

int hone_set_input_dlpack(hone_model* model, uint32_t index, const hone_dl_tensor* tensor) {
  const int code = AcceptInput(model, index, tensor, /*to_bind=*/false);
  if (code != HONE_OK) return code;
  const hone_value& value = model->function().inputs[index];
  if (tensor->device.device_type != HONE_DL_CPU) {
    model->model->CopyInput(index, DataOf(*tensor));
    return hone::DeviceStatus(model);
  }
  if (IsRowMajor(*tensor)) return hone_set_input(model, index, DataOf(*tensor), value.size_bytes);
  const auto element_bytes =
      static_cast<size_t>(hone::SizeBytes(static_cast<hone::DataType>(value.dtype)));
  model->model->FillInput(index, [&](void* memory) {
    CopyStrided(*tensor, value.size_bytes / element_bytes, element_bytes,
                static_cast<char*>(memory));
  });
  return hone::DeviceStatus(model);
}

int hone_bind_input_dlpack(hone_model* model, uint32_t index, const hone_dl_tensor* tensor) {
  const int code = AcceptInput(model, index, tensor, /*to_bind=*/true);
  if (code != HONE_OK) return code;
  // An empty one may have no memory to bind.
  const bool is_empty = model->function().inputs[index].size_bytes == 0;
  if (is_empty) return hone_set_input(model, index, nullptr, 0);
  if (tensor->device.device_type != HONE_DL_CPU) {
    model->model->BindInput(index, const_cast<char*>(DataOf(*tensor)));
    return HONE_OK;
  }
  return hone_bind_input(model, index, DataOf(*tensor));
}

int hone_output_dlpack(const hone_model* model, uint32_t index, hone_dl_managed_tensor** tensor) {
  if (!hone::Has(tensor, "a place for the tensor")) return HONE_BAD_INPUT;
  hone_tensor_info info{};
  if (const int code = hone_output_info(model, index, &info); code != HONE_OK) return code;
  const void* const data = model->executor().ReadOutput(index);
  if (const int code = hone::DeviceStatus(model); code != HONE_OK) return code;
  *tensor = NewView(info, data, {HONE_DL_CPU, 0});
  return HONE_OK;
}

int hone_device_output_dlpack(const hone_model* model, uint32_t index,
                              hone_dl_managed_tensor** tensor) {
  if (!hone::Has(tensor, "a place for the tensor")) return HONE_BAD_INPUT;
  hone_tensor_info info{};
  if (const int code = hone_output_info(model, index, &info); code != HONE_OK) return code;
  const hone::Device& device = model->model->device();
  if (!device.is_host() && !device.is_shared()) {
    return hone::Fail(HONE_BAD_INPUT,
                      "expected a model on the CPU or a device of CUDA, found one on " +
                          device.name() + "; use hone_output_dlpack");
  }
  if (const int code = hone::DeviceStatus(model); code != HONE_OK) return code;
  *tensor = NewView(info, model->executor().Output(index), DlDeviceOf(model));
  return HONE_OK;
}
