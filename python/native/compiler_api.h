/* The compiler as a C API of texts, for other languages: graphs come in as text
 * (docs/graph-text.md) or as model files, go through passes one by one, and leave as text,
 * pictures, generated code or modules on disk.
 *
 * Functions that can fail return an enum hone_compiler_code; hone_compiler_error says what was
 * expected, what was found and what to do, until the thread's next call. Graphs are immutable: what
 * changes one makes a new one. Graphs and texts are freed by their owner, the caller. Thread-safe,
 * but for the free functions on an object in use. */
#ifndef HONE_PYTHON_NATIVE_COMPILER_API_H_
#define HONE_PYTHON_NATIVE_COMPILER_API_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum hone_compiler_code {
  HONE_COMPILER_OK = 0,
  HONE_COMPILER_FAILED = 1,
  HONE_COMPILER_BAD_INPUT =
      3, /* a text, model, pass, target or argument that is not what was expected */
  HONE_COMPILER_NOT_TUNED = 4, /* with require_tuned */
};

typedef struct hone_graph hone_graph;
/* Bytes with a NUL behind them, which `size` does not count. */
typedef struct hone_text {
  const char* data;
  size_t size;
} hone_text;

/* The message of the calling thread's last failed call; never NULL. */
const char* hone_compiler_error(void);

int hone_graph_parse(const char* text, size_t size, hone_graph** graph);
/* A value: `size_bytes` bytes, row-major, little-endian. */
struct hone_constant {
  const char* name;
  const char* dtype; /* "float32", ... */
  uint32_t rank;
  const int64_t* shape;
  const void* data;
  uint64_t size_bytes;
};
/* What is decided of a model when it is loaded. All zero: nothing. */
struct hone_bindings {
  const char* const* shapes; /* "name=1,3,224,224" */
  size_t shape_count;
  const char* const* dims; /* "batch=4": a symbolic extent of an ONNX model */
  size_t dim_count;
  /* Inputs that become constants, as one that decides a shape must. */
  const struct hone_constant* constants;
  size_t constant_count;
  /* Values that are the outputs instead of the model's own, of which the rest is left out. */
  const char* const* cuts;
  size_t cut_count;
};
/* .onnx, .pb or .relay. */
int hone_graph_load(const char* path, const struct hone_bindings* bindings, hone_graph** graph);
/* The bytes of an ONNX model without external data, or of a frozen TensorFlow GraphDef. */
int hone_graph_load_bytes(const void* data, size_t size, const struct hone_bindings* bindings,
                          hone_graph** graph);
void hone_graph_free(hone_graph* graph);

/* `graph` with a parameter of main as a constant, whose type must be the parameter's. The bytes are
 * copied. */
int hone_graph_bind(const hone_graph* graph, const struct hone_constant* constant,
                    hone_graph** bound);
/* `graph` with `numerics` ("strict", "default" or "fast") for all of it: how its kernels may round,
 * whatever its functions said. */
int hone_graph_numerics(const hone_graph* graph, const char* numerics, hone_graph** result);
/* One pass by name: those of hone_pass_names, or "InferTypes". `target` as on the command line;
 * NULL: this machine. */
int hone_graph_pass(const hone_graph* graph, const char* pass, const char* target,
                    hone_graph** result);

/* A JSON document of main: `inputs[] {name, shape, dtype}`, and `outputs[]` likewise. */
int hone_graph_signature(const hone_graph* graph, hone_text** signature);
/* `constants` 0 leaves out the bytes of tensors: such text is for people and does not parse. */
int hone_graph_text(const hone_graph* graph, int constants, hone_text** text);
/* `format`: "tree", "dot", "svg", "pdf" or "png". */
int hone_graph_draw(const hone_graph* graph, const char* format, hone_text** picture);
/* `form`: "nests", "llvm" or "assembly", of the kernels the graph becomes on the target. */
int hone_graph_code(const hone_graph* graph, const char* target, const char* form,
                    hone_text** code);
/* Compiles to a module at `path`, with the best configs of the tuning database (NULL: the default
 * one, where it exists); the graphs, at least one, are specialisations of one model. `report` is
 * the JSON document of `hone compile --json`. threads 0: as the target says. */
int hone_graph_build(const hone_graph* const* graphs, size_t count, const char* target, int threads,
                     const char* database, int require_tuned, const char* path, hone_text** report);

/* One name a line. */
int hone_pass_names(hone_text** names);
int hone_operator_names(hone_text** names);
void hone_text_free(hone_text* text);

#ifdef __cplusplus
}
#endif

#endif /* HONE_PYTHON_NATIVE_COMPILER_API_H_ */
