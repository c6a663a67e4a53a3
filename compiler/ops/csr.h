// Makes sparse constants in the form that nn.sparse_dense takes.
#ifndef HONE_COMPILER_OPS_CSR_H_
#define HONE_COMPILER_OPS_CSR_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "compiler/ir/expr.h"

namespace hone::ops {

// A sparse matrix as three typed constants: the values, their columns (int32), and rows + 1 offsets
// at which the rows begin (int32).
struct Csr {
  ir::Expr data;
  ir::Expr indices;
  ir::Expr indptr;
};

// `values` holds one element of `dtype` for each of `positions`, which are row * columns + column,
// in ascending order and without duplicates. There may be at most 2^31 - 1 columns and values.
Csr MakeCsr(int64_t rows, int64_t columns, DataType dtype, const std::vector<int64_t>& positions,
            std::string_view values);

// A constant matrix in CSR; nullopt if it has more than `most` non-zero elements, or more columns
// or non-zero elements than int32 can count. Reading stops at the element that is too many, so that
// the check is cheap.
std::optional<Csr> CsrOf(const ir::ExprNode& matrix, int64_t most);

}  // namespace hone::ops

#endif  // HONE_COMPILER_OPS_CSR_H_
