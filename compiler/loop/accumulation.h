// Sums and their kin, as stores.
#ifndef HONE_COMPILER_LOOP_ACCUMULATION_H_
#define HONE_COMPILER_LOOP_ACCUMULATION_H_

#include "compiler/loop/stmt.h"

namespace hone::loop {

// Whether the kStore has the form c[i] = c[i] op .., for a binary op.
bool Accumulates(const StmtNode& store);

}  // namespace hone::loop

#endif  // HONE_COMPILER_LOOP_ACCUMULATION_H_
