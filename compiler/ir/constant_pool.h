// Constants that are equal, in memory once.
#ifndef HONE_COMPILER_IR_CONSTANT_POOL_H_
#define HONE_COMPILER_IR_CONSTANT_POOL_H_

#include <map>
#include <set>
#include <string>

#include "compiler/ir/expr.h"

namespace hone::ir {

// Bytes it has seen stay alive as long as it does.
class ConstantPool {
 public:
  // The first bytes that came and were equal. Reads them, unless these very ones came before.
  ConstantData Share(const ConstantData& data);
  // The module with all its constants so.
  Module Share(const Module& module);

 private:
  std::map<std::string, ConstantData> by_digest_;
  std::set<const void*> known_;  // identities of those
};

}  // namespace hone::ir

#endif  // HONE_COMPILER_IR_CONSTANT_POOL_H_
