// What pictures say of kernels: where their configs come from, and their share of the model's time.
#ifndef HONE_CLI_KERNEL_NOTES_H_
#define HONE_CLI_KERNEL_NOTES_H_

#include "absl/status/statusor.h"
#include "compiler/driver/config_source.h"
#include "compiler/ir/target.h"
#include "compiler/picture/picture.h"

namespace hone::cli {

// Null where `module` has no kernels with signatures yet. Shares are of the sum of measured times,
// and missing where a kernel of the model has none.
absl::StatusOr<picture::KernelNotes> NotesOf(const ir::Module& module, const Target& target,
                                             driver::ConfigChain& configs);

}  // namespace hone::cli

#endif  // HONE_CLI_KERNEL_NOTES_H_
