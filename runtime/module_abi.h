/* The binary contract between compiled code and the runtime: what a compiled model (a module) and a
 * candidate kernel (an artifact) export. Both are one ELF shared object with one exported symbol,
 * `hone_module_v1` (a const struct hone_module), and no undefined symbols. An artifact is a module
 * with one kernel and no graph (call_count 0), so candidate and deployed kernel share this ABI.
 *
 * Everything a module points to is constant data inside it. This header is C, so that any runtime
 * can use it. */
#ifndef HONE_RUNTIME_MODULE_ABI_H_
#define HONE_RUNTIME_MODULE_ABI_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HONE_MODULE_ABI_VERSION 1
/* The version of modules with repeats. A runtime that does not know repeats must refuse such
 * modules. */
#define HONE_MODULE_ABI_VERSION_REPEATS 2
/* The version of modules for devices other than the host, with or without repeats. */
#define HONE_MODULE_ABI_VERSION_DEVICES 3
#define HONE_MODULE_SYMBOL "hone_module_v1"
/* Every buffer starts at a multiple of this, in bytes, and is readable up to the next multiple. */
#define HONE_BUFFER_ALIGNMENT 64

/* One launch: computes the grid indices begin..end-1 (0 <= begin <= end <= grid_extent). `buffers`
 * has one pointer for each entry of the launch's kernel's buffer table, in its order (NULL where
 * the launch does not use it). `scratch` is private to the calling thread: scratch_bytes, aligned
 * as buffers are, contents undefined. Any split of the grid over calls and threads computes the
 * same bits. */
typedef void (*hone_launch_function)(void* const* buffers, int64_t begin, int64_t end,
                                     void* scratch);

enum hone_role {
  HONE_ROLE_INPUT = 0,     /* changes from run to run */
  HONE_ROLE_CONSTANT = 1,  /* a parameter of the model, read by prepare launches or directly */
  HONE_ROLE_PREPARED = 2,  /* written by prepare launches from constants, read by run launches */
  HONE_ROLE_WORKSPACE = 3, /* lives during one call of the kernel */
  HONE_ROLE_OUTPUT = 4
};

/* The launch uses tile registers (AMX), which the system lends to a process that asks for them. */
#define HONE_LAUNCH_TILES 1u
/* The launch is run with subnormal operands and results flushed to zero. Without this flag (strict
 * numerics, and modules older than the flag) the mode of the calling thread holds. */
#define HONE_LAUNCH_FLUSH_SUBNORMALS 2u
/* The launch's entry itself waits until the launches that it depends on in a CUDA graph have ended,
 * before it touches global memory, so that it may be started while they still run. */
#define HONE_LAUNCH_WAITS 4u

enum hone_phase { HONE_PHASE_PREPARE = 0, HONE_PHASE_RUN = 1 };

/* No run launch reads this buffer: it is an output, or a constant that only prepare launches read.
 */
#define HONE_BUFFER_NOT_READ_BY_RUN 1u
/* Seeded inputs for this buffer ascend from domain_low to domain_high, like the offsets at which
 * the rows of a sparse matrix begin. */
#define HONE_BUFFER_ASCENDING 2u
/* The buffer is an output of an algorithm that transforms its data (Winograd) and so spreads
 * rounding errors over neighbouring results. The error bound is then relative to the magnitudes
 * around an element, not to that of the element alone. */
#define HONE_BUFFER_TRANSFORMED 4u

struct hone_buffer {
  const char* name;
  uint8_t role;  /* enum hone_role */
  uint8_t dtype; /* hone::DataType */
  uint16_t rank;
  uint32_t flags;       /* HONE_BUFFER_*; 0 where nothing is known */
  const int64_t* shape; /* logical, rank entries */
  const char* layout;   /* as hone::Layout prints it */
  uint64_t size_bytes;  /* pad lanes included */
  /* Seeded inputs are drawn from [domain_low, domain_high], because indices must stay in range and
   * a variance must be positive. If both are 0 there is no restriction. */
  double domain_low;
  double domain_high;
};

struct hone_launch {
  const char* name;
  hone_launch_function function; /* NULL if a device runs it (struct hone_device_launch) */
  int64_t grid_extent;           /* at least 1 */
  uint64_t scratch_bytes;
  uint32_t phase; /* enum hone_phase */
  /* 1: one thread runs the whole grid, because the work is too small to be split. */
  uint32_t serial;
  /* 1: this launch and one before it in the same call use the same memory, and at least one of
   * them writes it. */
  uint32_t barrier_before;
  uint32_t flags; /* HONE_LAUNCH_*; 0 in modules older than these */
};

struct hone_kernel {
  const char* name;
  const char* workload;        /* canonical text */
  const char* workload_digest; /* SHA-256, hex */
  const char* config;          /* canonical text */
  const char* tier;            /* "tuned", ..., "default"; "" in an artifact */
  double flops;                /* of the workload, padding taps included; 0 if it has no meaning */
  double error_bound;          /* c in |err| <= c * 2^-24 * magnitude; c depends on the strategy */
  uint32_t buffer_count;
  uint32_t launch_count;
  const struct hone_buffer* buffers;
  const struct hone_launch* launches; /* prepare launches first */
};

/* Where a buffer of a call is: a base and an offset into it. */
enum hone_space {
  HONE_SPACE_NONE = 0,  /* no memory, the pointer is NULL: in a deployed module, constants that only
                           prepare launches read */
  HONE_SPACE_ARENA = 1, /* activations and workspaces, arena_bytes */
  HONE_SPACE_PARAMETERS = 2,
  HONE_SPACE_INPUT = 3, /* index says which; bound by the caller */
  HONE_SPACE_OUTPUT = 4
};

struct hone_location {
  uint32_t space; /* enum hone_space */
  uint32_t index; /* of the input or output */
  uint64_t offset_bytes;
};

struct hone_call {
  uint32_t kernel;
  /* 1: this call and one before it use the same memory, and at least one of them writes it. */
  uint32_t barrier_before;
  const struct hone_location* locations; /* one for each buffer of the kernel */
};

/* An input or output of the model. Layouts are row-major. */
struct hone_value {
  const char* name;
  uint8_t dtype;
  uint8_t reserved[3];
  uint32_t rank;
  const int64_t* shape;
  uint64_t size_bytes;
};

/* One specialisation of main, by input shape. */
struct hone_function {
  const char* name;
  uint32_t input_count;
  uint32_t output_count;
  uint32_t call_count;
  uint32_t reserved;
  const struct hone_value* inputs;
  const struct hone_value* outputs;
  const struct hone_call* calls; /* in execution order */
  uint64_t arena_bytes;
};

/* How a buffer of a call in a repeat moves. In trip 0 it is where the call says, in trip 1 at
 * `next`, and after that `stride_bytes` further each trip. If it alternates, it is at `next` in odd
 * trips, and at `next` + `stride_bytes` in even trips after trip 0. */
struct hone_move {
  struct hone_location next;
  int64_t stride_bytes;
  uint32_t alternates;
  uint32_t reserved;
};

/* Consecutive calls of a function that are made `trips` times before the call after them. The
 * repeats of one function are in ascending order and share no call. */
struct hone_repeat {
  uint32_t function;
  uint32_t first_call;
  uint32_t call_count; /* at least 1 */
  uint32_t reserved;
  uint64_t trips;                /* at least 1 */
  const struct hone_move* moves; /* one for each buffer of each of its calls */
};

/* The language of the code that a device's driver compiles. */
enum hone_code_kind {
  HONE_CODE_OPENCL_C = 1,
  HONE_CODE_PTX = 2 /* for NVIDIA GPUs */
};

struct hone_device_code {
  uint32_t kind; /* enum hone_code_kind */
  uint32_t reserved;
  const char* bytes; /* size_bytes of them, then a zero byte */
  uint64_t size_bytes;
  const char* options; /* for the driver's compiler: "-cl-std=CL1.2" */
};

/* How a device runs a launch: as blocks (work groups) of threads (work items). Both have three
 * dimensions, and the first varies fastest. */
struct hone_device_launch {
  const char* entry; /* the name of a function in the code */
  uint32_t code;     /* in the module's table of codes */
  uint32_t argument_count;
  uint32_t blocks[3];    /* each at least 1 */
  uint32_t threads[3];   /* of a block; each at least 1 */
  uint64_t shared_bytes; /* of a block */
  /* The entry's arguments in order, each as an index into the kernel's buffer table. For each of
   * them, PTX code has one parameter, a pointer; OpenCL C has two, a buffer and then an offset in
   * bytes (ulong). */
  const uint32_t* arguments;
};

struct hone_module {
  uint32_t abi_version;
  uint32_t kernel_count;
  uint32_t function_count; /* 0 in an artifact */
  uint32_t repeat_count;   /* 0 in version 1 */
  const char* target;
  const char* toolchain; /* what compiled it: "hone 0.1.0 LLVM 19.1.7 code 5" */
  const struct hone_kernel* kernels;
  const struct hone_function* functions;
  uint64_t parameters_bytes;
  const struct hone_repeat* repeats; /* exists from version 2 on */
  /* The members below exist from version 3 on. */
  uint32_t code_count;
  uint32_t device_launch_count; /* 0, or the number of launches of all kernels together */
  const struct hone_device_code* codes;
  const struct hone_device_launch* device_launches; /* in the order of kernels and their launches */
};

/* Parameters never pass through LLVM or the linker: they are appended to the shared object,
 * page-aligned, and found by this trailer, the last bytes of the file. The runtime maps them
 * read-only. A module without parameters has no trailer. */
#define HONE_TRAILER_MAGIC "HONEPRM1"
struct hone_trailer {
  uint64_t parameters_offset; /* in the file; a multiple of 4096 */
  uint64_t parameters_bytes;
  uint8_t sha256[32]; /* of the parameter bytes */
  char magic[8];
};

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* HONE_RUNTIME_MODULE_ABI_H_ */
