// Keeps equal constants in memory only once.
#ifndef HONE_COMPILER_IR_CONSTANT_POOL_H_
#define HONE_COMPILER_IR_CONSTANT_POOL_H_

#include <map>
#include <set>
#include <string>

#include "compiler/ir/expr.h"

namespace hone::ir {

// The pool keeps all bytes that it was given first alive. Not thread-safe.
class ConstantPool {
 public:
  // Returns the first data given that has equal bytes. Reads the bytes, unless this very data was
  // given before.
  ConstantData Share(const ConstantData& data);
  // The module with all its constants shared.
  Module Share(const Module& module);

 private:
  std::map<std::string, ConstantData> by_digest_;
  std::set<const void*> known_;  // identities of the data in by_digest_
};

}  // namespace hone::ir

#endif  // HONE_COMPILER_IR_CONSTANT_POOL_H_
