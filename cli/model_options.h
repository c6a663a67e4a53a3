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

// --threads, from 1 to kMaxThreads; 0 stays where it is not given.
void AddThreads(CLI::App& verb, int& threads, const std::string& help);

struct TargetOptions {
  std::string target = "native";
  int threads = 0;  // 0: as the target says
  bool is_given = false;

  void AddTo(CLI::App& verb);
  // Exit code 2 for an unknown target, one that no code is made for, and for --threads of another
  // kind than a CPU.
  absl::StatusOr<Target> ResolveAny() const;
  // The same, for what only CPUs are good for.
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
  // --shape, --dim, --constant, --cut and --numerics alone.
  void AddBindings(CLI::App& verb);
};

using Tensors = std::map<std::string, frontend::TensorData>;

// Options "NAME=FILE.pb" or "NAME=FILE.npy" by name; `flag` is for the message.
using Files = std::map<std::string, std::string>;
absl::StatusOr<Files> ParseFiles(const std::string& flag, const std::vector<std::string>& texts);
absl::StatusOr<Tensors> ReadTensors(const Files& files);

// .onnx, .pb or .relay, once for each specialisation that its --shape and --dim flags ask for.
// `values` of an .onnx or .pb model's inputs: those that decide a shape become constants.
// --numerics becomes the word of the whole model. Specialisations share constants that are equal,
// so that several take no more memory than two. kNotFound, kInvalidArgument or kUnimplemented in
// one sentence.
absl::StatusOr<std::vector<ir::Module>> LoadSpecialisations(const ModelOptions& model,
                                                            const Tensors& values = {});
// Its only specialisation; exit code 2 where the flags ask for several. `what` takes one only.
absl::StatusOr<ir::Module> LoadModel(const ModelOptions& model, const std::string& what);
// Does what LoadModel does with a model in memory, ONNX or a frozen GraphDef; `model.path` is not
// read.
absl::StatusOr<ir::Module> LoadModelBytes(std::string_view bytes, const ModelOptions& model,
                                          const std::string& what);

// "x=1,3,224,224 mask=1,128": the inputs of main, as --shape binds them.
std::string InputShapes(const ir::Module& module);

// What people call the model at this path: the file's name.
std::string ModelName(const std::string& path);

// The path itself, or the default database's.
std::string DatabasePath(const std::string& option);

// Tuned configs of the database, where it exists; without one, none. `must_exist` is for --db given
// by hand.
absl::StatusOr<driver::ConfigChain> ConfigsFrom(const std::string& database, bool must_exist);

}  // namespace hone::cli

#endif  // HONE_CLI_MODEL_OPTIONS_H_
