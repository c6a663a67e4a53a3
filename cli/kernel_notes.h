// Notes on kernels for pictures of a model: where their configs come from, and their shares of the
// model's time.
#ifndef HONE_CLI_KERNEL_NOTES_H_
#define HONE_CLI_KERNEL_NOTES_H_

#include "absl/status/statusor.h"
#include "compiler/driver/config_source.h"
#include "compiler/ir/target.h"
#include "compiler/picture/picture.h"

namespace hone::cli {

// Null if `module` has no kernels with signatures yet. Shares are of the sum of the kernels'
// measured times; there are none if any kernel of the model was not measured.
absl::StatusOr<picture::KernelNotes> NotesOf(const ir::Module& module, const Target& target,
                                             driver::ConfigChain& configs);

}  // namespace hone::cli

#endif  // HONE_CLI_KERNEL_NOTES_H_
