// Options that several verbs share: which model, for which target, with whose configs.
#ifndef HONE_CLI_MODEL_OPTIONS_H_
#define HONE_CLI_MODEL_OPTIONS_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/shape_bindings.h"
#include "compiler/driver/config_source.h"
#include "compiler/frontend/tensor_file.h"
#include "compiler/ir/expr.h"
#include "compiler/ir/target.h"

namespace CLI {
class App;
}

namespace hone::cli {

// Adds --threads, from 1 to kMaxThreads; `threads` stays 0 if the flag is not given.
void AddThreads(CLI::App& verb, int& threads, const std::string& help);

struct TargetOptions {
  std::string target = "native";
  int threads = 0;  // 0: as the target says
  bool is_given = false;

  void AddTo(CLI::App& verb);
  // Errors have exit code 2: for an unknown target, for one that no code is generated for, and for
  // --threads with a target that is not a CPU.
  absl::StatusOr<Target> ResolveAny() const;
  // As ResolveAny, for callers that need a CPU.
  absl::StatusOr<CpuTarget> Resolve() const;
};

struct ModelOptions {
  std::string path;
  std::vector<std::string> shapes;     // "name=1,3,224,224"
  std::vector<std::string> dims;       // "batch=4"
  std::vector<std::string> constants;  // "name=FILE": values of inputs that decide shapes
  std::map<std::string, frontend::TensorData> constant_values;  // likewise, at hand
  std::vector<std::string> outputs;  // values that are the outputs instead of the model's own
  std::string numerics;              // "strict", "default" or "fast"; empty: as the model says

  void AddTo(CLI::App& verb, const std::string& name = "MODEL");
  // Adds only --shape, --dim, --constant, --cut and --numerics.
  void AddBindings(CLI::App& verb);
};

using Tensors = std::map<std::string, frontend::TensorData>;

// Options "NAME=FILE.pb" or "NAME=FILE.npy" by name; `flag` is for the message.
using Files = std::map<std::string, std::string>;
absl::StatusOr<Files> ParseFiles(const std::string& flag, const std::vector<std::string>& texts);
absl::StatusOr<Tensors> ReadTensors(const Files& files);

// Loads a model (.onnx, .pb or .relay) once for each specialisation that its --shape and --dim
// flags ask for. `values` are those of inputs of an .onnx or .pb model: the ones that decide a
// shape become constants. --numerics becomes the numerics of the whole model. Specialisations share
// equal constants, so that several take no more memory than two. kNotFound, kInvalidArgument or
// kUnimplemented in one sentence.
absl::StatusOr<std::vector<ir::Module>> LoadSpecialisations(const ModelOptions& model,
                                                            const Tensors& values = {});
// Loads the model's only specialisation; an error with exit code 2 if the flags ask for several.
// `what` names, for the message, what takes only one.
absl::StatusOr<ir::Module> LoadModel(const ModelOptions& model, const std::string& what);
// Does what LoadModel does with a model in memory, ONNX or a frozen GraphDef; `model.path` and
// `model.numerics` are not read.
absl::StatusOr<ir::Module> LoadModelBytes(std::string_view bytes, const ModelOptions& model,
                                          const std::string& what);

// "x=1,3,224,224 mask=1,128": the inputs of main, as --shape binds them.
std::string InputShapes(const ir::Module& module);

// What people call the model at this path: the file's name.
std::string ModelName(const std::string& path);

// Returns the option's path, or the default database's if it is empty.
std::string DatabasePath(const std::string& option);

// The tuned configs of the database; none if it does not exist. With `must_exist`, for a --db given
// by hand, that is an error instead.
absl::StatusOr<driver::ConfigChain> ConfigsFrom(const std::string& database, bool must_exist);

}  // namespace hone::cli

#endif  // HONE_CLI_MODEL_OPTIONS_H_
