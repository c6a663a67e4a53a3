// Frozen TensorFlow graphs as graph IR.
#ifndef HONE_COMPILER_FRONTEND_TENSORFLOW_IMPORT_H_
#define HONE_COMPILER_FRONTEND_TENSORFLOW_IMPORT_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "compiler/frontend/import_options.h"
#include "compiler/ir/expr.h"

namespace hone::frontend {

// Returns a module of one function "main" with types inferred, as ImportOnnx does. Its parameters
// are the Placeholders that an output is computed from, in the order of the file; they have the
// shapes of the file, completed by the options. Its outputs are the results of the nodes that no
// other node reads, or those in options.outputs, under their names. Convolutions and pools within
// it have the channels first, whatever the file has.
//
// kNotFound: the file is missing. kUnimplemented: operators, attributes or element types that Hone
// does not have; operators are listed all at once, with the names of their nodes, and so are calls
// of functions and variables, which a frozen graph has none of. kInvalidArgument: a damaged or
// inconsistent graph, or an input shape that is not known, with the flag that binds it.
absl::StatusOr<ir::Module> ImportTensorflow(const std::string& path,
                                            const ImportOptions& options = {});
absl::StatusOr<ir::Module> ImportTensorflowBytes(std::string_view bytes,
                                                 const ImportOptions& options = {});

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_TENSORFLOW_IMPORT_H_
