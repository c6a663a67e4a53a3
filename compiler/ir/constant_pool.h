// Keeps equal constants in memory only once.
#ifndef HONE_COMPILER_IR_CONSTANT_POOL_H_
#define HONE_COMPILER_IR_CONSTANT_POOL_H_

#include <map>
#include <set>
#include <string>

#include "compiler/ir/expr.h"

namespace hone::ir {

// The pool keeps alive the first constant that it was given of each group of equal ones. Not
// thread-safe.
class ConstantPool {
 public:
  // Returns the first data that the pool was given with the same bytes. Reads the bytes, unless the
  // pool already keeps this very data.
  ConstantData Share(const ConstantData& data);
  // The module with all its constants shared.
  Module Share(const Module& module);

 private:
  std::map<std::string, ConstantData> by_digest_;
  std::set<const void*> known_;  // identities of the data in by_digest_
};

}  // namespace hone::ir

#endif  // HONE_COMPILER_IR_CONSTANT_POOL_H_
