// Sums and their kin, as stores.
#ifndef HONE_COMPILER_LOOP_ACCUMULATION_H_
#define HONE_COMPILER_LOOP_ACCUMULATION_H_

#include <vector>

#include "compiler/loop/stmt.h"

namespace hone::loop {

// Whether the kStore has the form c[i] = c[i] op .., for a binary op.
bool Accumulates(const StmtNode& store);

// The loads a and b of c[i] = c[i] + int32(a) * int32(b), where c is of int32, a and b are of bytes
// and no index of c depends on `var`; empty where the statement has another form.
std::vector<Expr> SummedByteProduct(const Stmt& s, const Expr& var);

}  // namespace hone::loop

#endif  // HONE_COMPILER_LOOP_ACCUMULATION_H_
