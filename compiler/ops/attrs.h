// Reads the attributes of operator calls. A float attribute may hold an integer, and a list may
// hold a single integer (AttrKind).
#ifndef HONE_COMPILER_OPS_ATTRS_H_
#define HONE_COMPILER_OPS_ATTRS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "compiler/ir/expr.h"
#include "compiler/ops/op.h"

namespace hone::ops {

// kInvalidArgument names an attribute that `op` does not know, that is missing, or that holds
// another kind than expected.
absl::Status CheckAttrs(const Op& op, const ir::Attrs& attrs);

// The functions below read attributes that CheckAttrs has accepted, and return `fallback` for a
// missing one.
double FloatAttr(const ir::Attrs& attrs, const std::string& name, double fallback);
int64_t IntAttr(const ir::Attrs& attrs, const std::string& name, int64_t fallback);
bool BoolAttr(const ir::Attrs& attrs, const std::string& name, bool fallback);
std::string StringAttr(const ir::Attrs& attrs, const std::string& name, std::string fallback);
DataType DataTypeAttr(const ir::Attrs& attrs, const std::string& name, DataType fallback);
std::vector<int64_t> IntsAttr(const ir::Attrs& attrs, const std::string& name,
                              std::vector<int64_t> fallback = {});

// The list of strings under this name, in attributes that CheckAttrs has not seen; nullopt if the
// attribute is of another kind. An empty list of any kind, or a missing attribute, gives an empty
// list.
std::optional<std::vector<std::string>> StringsAttr(const ir::Attrs& attrs,
                                                    const std::string& name);

}  // namespace hone::ops

#endif  // HONE_COMPILER_OPS_ATTRS_H_
