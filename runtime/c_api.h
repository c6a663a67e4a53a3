/* The runtime's C API: open a compiled model, set inputs, run, read outputs. The library links
 * libc, libm and libstdc++ only.
 *
 * A function returns a hone_code, or the value that it is named after. hone_last_error describes
 * the calling thread's last failure in one sentence. Only one thread at a time may use a handle.
 * Returned pointers stay valid until the handle is closed, unless the function says otherwise. A
 * child of fork() may go on using a handle that no thread was using at the fork: the child starts
 * threads of its own. */
#ifndef HONE_RUNTIME_C_API_H_
#define HONE_RUNTIME_C_API_H_

#include <stddef.h>
#include <stdint.h>

#include "runtime/dlpack.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HONE_API __attribute__((visibility("default")))

enum hone_code {
  HONE_OK = 0,
  HONE_BAD_INPUT = 1, /* no such file, input or output; wrong shape, dtype or alignment; NULL */
  HONE_FAILED = 2     /* no memory, no more threads, or the device has failed */
};

typedef struct hone_model hone_model;

/* Describes an input or output. shape has rank entries; the layout is row-major. */
struct hone_tensor_info {
  const char* name;
  const char* dtype; /* "float32", ... */
  uint32_t rank;
  const int64_t* shape;
  uint64_t size_bytes;
};

/* Describes the kernel of a call. */
struct hone_kernel_info {
  const char* name;
  const char* workload; /* what the kernel computes, as canonical text */
  const char* config;   /* how it was scheduled, as canonical text */
  const char* tier;     /* where the config came from: "tuned", ..., "default" */
  double flops; /* for all executions of the call in one run; 0 if the number has no meaning */
};

/* Valid until the thread's next failure; "" before its first. */
HONE_API const char* hone_last_error(void);
/* The version of this library, as "0.1.0". */
HONE_API const char* hone_version(void);

/* Opens the compiled model at `path`; hone_close frees it. `threads` is at most 1024; 0 means as
 * many as the module was compiled for, but no more than the cores that this process may use. */
HONE_API int hone_open(const char* path, int threads, hone_model** model);
/* The same with flags. */
enum hone_open_flags {
  HONE_OPEN_COPY_PARAMETERS = 1 /* into huge pages of this process, instead of mapping the file */
};
HONE_API int hone_open_with(const char* path, int threads, uint32_t flags, hone_model** model);
/* The same on a device: "cpu", "cuda:0" or "opencl:1", the second OpenCL device of this machine.
 * NULL chooses a device of the kind that the module was compiled for: the first one that matches
 * the module's target, or else the first of its kind. Only the CPU uses `threads`. On a device with
 * memory of its own, inputs are copied there, hone_output copies the output back, and host memory
 * cannot be bound. Once a device has failed, every copy, run and timing on it returns
 * HONE_FAILED. */
HONE_API int hone_open_on(const char* path, const char* device, int threads, uint32_t flags,
                          hone_model** model);
HONE_API void hone_close(hone_model* model);

HONE_API const char* hone_target(const hone_model* model);
HONE_API int hone_threads(const hone_model* model);
HONE_API uint32_t hone_input_count(const hone_model* model);
HONE_API uint32_t hone_output_count(const hone_model* model);
/* These two describe the inputs and outputs of the chosen specialisation. */
HONE_API int hone_input_info(const hone_model* model, uint32_t index,
                             struct hone_tensor_info* info);
HONE_API int hone_output_info(const hone_model* model, uint32_t index,
                              struct hone_tensor_info* info);

/* A module may have been compiled for several shapes of its inputs: several specialisations of
 * one model, with the same names and dtypes. Number 0 is chosen at first. When another is chosen,
 * an input keeps its data or binding if it has the same shape there as when it was set; otherwise
 * it is suspended until a specialisation with that shape is chosen again. The binding of an output
 * ends if the output's shape changes. Inputs may be set in any order. hone_run fails unless every
 * input is set in its chosen shape, and the error names those that are not. The timing functions
 * also accept inputs that were never set, or whose shape hone_choose_specialisation changed:
 * kernels then read whatever the model's memory holds. */
HONE_API uint32_t hone_specialisation_count(const hone_model* model);
HONE_API uint32_t hone_specialisation(const hone_model* model);
HONE_API int hone_specialisation_input_info(const hone_model* model, uint32_t specialisation,
                                            uint32_t index, struct hone_tensor_info* info);
HONE_API int hone_choose_specialisation(hone_model* model, uint32_t specialisation);
/* Chooses a specialisation in which this input has this shape: the present one if it fits,
 * otherwise the one that also fits most of the inputs set before. The caller then sets the input.
 * If there is none, the error names the shapes that exist. The functions that take DLPack tensors
 * make this choice themselves. */
HONE_API int hone_choose_shape(hone_model* model, uint32_t index, uint32_t rank,
                               const int64_t* shape);

/* Copies size_bytes, which must be the input's size, into the model's memory, and ends the input's
 * binding if it has one. */
HONE_API int hone_set_input(hone_model* model, uint32_t index, const void* data,
                            uint64_t size_bytes);
/* Binds without a copy: each run reads (writes) `data`, which must be aligned to 64 bytes and
 * outlive the binding. NULL ends the binding; an input then has the data that was copied into it
 * before. */
HONE_API int hone_bind_input(hone_model* model, uint32_t index, const void* data);
HONE_API int hone_bind_output(hone_model* model, uint32_t index, void* data);

HONE_API int hone_run(hone_model* model);
/* The pointer is valid until the next run. NULL if there is no output with this index, or if the
 * device has failed. */
HONE_API const void* hone_output(const hone_model* model, uint32_t index);

/* These two do the same with DLPack tensors. A tensor must have the input's dtype, and the input's
 * shape in one of the specialisations. hone_set_input_dlpack copies a tensor on the CPU, with any
 * strides, or a row-major tensor on the CUDA device that the model runs on. It makes the latter
 * copy on the device, after the work that is in the device's default stream.
 * hone_bind_input_dlpack needs a row-major tensor aligned to 64 bytes on the device that the model
 * runs on, either the CPU or a CUDA device. On a CUDA device, the tensor's data must be complete
 * when hone_run is called. */
HONE_API int hone_set_input_dlpack(hone_model* model, uint32_t index,
                                   const struct hone_dl_tensor* tensor);
HONE_API int hone_bind_input_dlpack(hone_model* model, uint32_t index,
                                    const struct hone_dl_tensor* tensor);
/* Makes a view of an output in host memory. On a device with memory of its own, the view shows a
 * copy of the output. The next run or read of the output may change the data, and the model must
 * outlive the view. The caller frees the view by calling its deleter. */
HONE_API int hone_output_dlpack(const hone_model* model, uint32_t index,
                                struct hone_dl_managed_tensor** tensor);

/* Makes a view of an output in the memory of the device that the model runs on, without a copy. On
 * the CPU this equals hone_output_dlpack. On a CUDA device, the data is complete when hone_run has
 * returned. HONE_BAD_INPUT if the model runs on any other device. */
HONE_API int hone_device_output_dlpack(const hone_model* model, uint32_t index,
                                       struct hone_dl_managed_tensor** tensor);

/* Seconds that `runs` (at least 1) back-to-back runs take; the loop is inside this function. */
HONE_API int hone_time(hone_model* model, int64_t runs, double* seconds);

/* The kernel calls that a run makes, in order. hone_profile writes the median nanoseconds of each
 * call over `runs` runs, with a barrier after every launch. */
HONE_API uint32_t hone_call_count(const hone_model* model);
HONE_API int hone_call_kernel(const hone_model* model, uint32_t call,
                              struct hone_kernel_info* info);
HONE_API int hone_profile(hone_model* model, int runs, double* call_ns);
/* Seconds that `runs` (at least 1) back-to-back runs of that call alone take; the loop is inside
 * this function. All calls before it run once first, untimed, on the present inputs, so that it
 * reads what a whole run would give it; the calls after it do not run. Until the next hone_run,
 * hone_output may give older or overwritten data. */
HONE_API int hone_time_call(hone_model* model, uint32_t call, int64_t runs, double* seconds);
/* Seconds that `runs` (at least 1) back-to-back runs take when no kernel does anything. This is the
 * executor's own overhead: the walk through the launches and the barriers between them, with
 * threads that are never late. Inputs and outputs are not touched. */
HONE_API int hone_time_executor(hone_model* model, int64_t runs, double* seconds);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* HONE_RUNTIME_C_API_H_ */
