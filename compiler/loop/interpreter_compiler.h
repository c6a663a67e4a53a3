// Compiles statements for the interpreter. Part of the interpreter.
#ifndef HONE_COMPILER_LOOP_INTERPRETER_COMPILER_H_
#define HONE_COMPILER_LOOP_INTERPRETER_COMPILER_H_

#include <algorithm>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "compiler/loop/bounds.h"
#include "compiler/loop/interpreter_code.h"

namespace hone::loop::interpreter {

// Owns what it compiled.
class Compiler {
 public:
  int slots() const { return next_slot_; }
  const std::vector<int64_t>& cells() const { return cells_; }
  const std::vector<Buffer>& buffers() const { return buffers_; }
  const absl::Status& status() const { return status_; }

  // Its place in Frame::memory.
  int MemoryOf(const Buffer& buffer);
  // `bounds`: of the variables of the loops around.
  const Action* Compile(const Stmt& s, const Bounds& bounds);

 private:
  void CompileFor(const StmtNode& s, const Bounds& bounds, Action& action);
  void CompileConditional(const StmtNode& s, const Bounds& bounds, Action& action);
  const Place* MakePlace(const Buffer& buffer, const std::vector<Expr>& indices,
                         const Bounds& bounds);
  const Code* Compile(const Expr& e, const Bounds& bounds);
  void CompileVar(const ExprNode& e, Code& code);
  void CompileUnary(const ExprNode& e, const Bounds& bounds, Code& code);
  void CompileBinary(const ExprNode& e, const Bounds& bounds, Code& code);
  void CompileSelect(const ExprNode& e, const Bounds& bounds, Code& code);
  void CompileCast(const ExprNode& e, const Bounds& bounds, Code& code);
  // The first message stays.
  void Fail(std::string message);

  std::deque<Code> codes_;
  std::deque<Place> places_;
  std::deque<Action> actions_;
  absl::flat_hash_map<const ExprNode*, int> slots_;
  absl::flat_hash_map<const ExprNode*, Action*> around_;  // loops being compiled, by variable
  std::vector<int64_t> cells_;                            // their first values
  absl::flat_hash_map<const BufferNode*, size_t> memory_;
  std::vector<Buffer> buffers_;
  int next_slot_ = 0;
  absl::Status status_;
};

}  // namespace hone::loop::interpreter

#endif  // HONE_COMPILER_LOOP_INTERPRETER_COMPILER_H_
