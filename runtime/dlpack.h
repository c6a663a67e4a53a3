/* Tensors of other libraries, as the DLPack standard lays them out (version 0.8, which every
 * library with DLPack can read). The names are ours. */
#ifndef HONE_RUNTIME_DLPACK_H_
#define HONE_RUNTIME_DLPACK_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { HONE_DL_CPU = 1, HONE_DL_CUDA = 2 }; /* device_type */
enum hone_dl_code {
  HONE_DL_INT = 0,
  HONE_DL_UINT = 1,
  HONE_DL_FLOAT = 2,
  HONE_DL_BFLOAT = 4,
  HONE_DL_BOOL = 6
};

struct hone_dl_device {
  int32_t device_type;
  int32_t device_id;
};

struct hone_dl_type {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};

struct hone_dl_tensor {
  void* data;
  struct hone_dl_device device;
  int32_t ndim;
  struct hone_dl_type dtype;
  int64_t* shape;
  int64_t* strides; /* in elements; NULL: row-major */
  uint64_t byte_offset;
};

struct hone_dl_managed_tensor {
  struct hone_dl_tensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(struct hone_dl_managed_tensor* self);
};

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* HONE_RUNTIME_DLPACK_H_ */
