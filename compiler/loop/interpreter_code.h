// The compiled form of nests that the interpreter runs: expressions as trees of functions, loop
// variables as slots. Part of the interpreter.
#ifndef HONE_COMPILER_LOOP_INTERPRETER_CODE_H_
#define HONE_COMPILER_LOOP_INTERPRETER_CODE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/loop/stmt.h"

namespace hone::loop::interpreter {

struct Frame {
  int64_t* slots = nullptr;  // values of loop variables
  int64_t* cells = nullptr;  // positions of safe places, kept up to date by the loops
  void** memory = nullptr;   // of buffers
  bool failed = false;       // set once; loops stop
  std::string error;
};

struct Code;
using FloatFn = double (*)(const Code&, Frame&);
using IntFn = int64_t (*)(const Code&, Frame&);
struct Action;
using StoreFn = void (*)(const Action&, Frame&);

// Where an access goes. An access is `safe` if it was proved to stay inside its buffer. Its
// position is then a sum: a cell, which the loops around advance by the coefficient of their
// variable, plus terms that are no loop variables. Otherwise each index is evaluated and checked.
struct Place {
  struct Term {
    const Code* code;
    int64_t coefficient;
  };
  bool safe = false;
  int memory = 0;
  int cell = 0;
  std::vector<Term> terms;

  Buffer buffer;
  std::vector<Expr> indices;
  std::vector<const Code*> index_code;
  std::vector<int64_t> extents;  // padded
  std::vector<int64_t> physical;
};

// An expression. Floats are evaluated by `f`, integers and bools by `i`.
struct Code {
  FloatFn f = nullptr;
  IntFn i = nullptr;
  const Code* a = nullptr;
  const Code* b = nullptr;
  const Code* c = nullptr;
  int slot = 0;
  int64_t int_value = 0;
  double float_value = 0;
  UnaryOp unary_op{};
  BinaryOp binary_op{};
  DataType dtype{};
  DataType operand_dtype{};
  const Place* place = nullptr;
};

struct Action {
  StmtKind kind;
  int slot = 0;
  bool reversible = false;  // a parallel loop
  struct Move {
    int cell;
    int64_t coefficient;
  };
  std::vector<Move> moves;  // kFor: what one step does to the places inside
  const Code* min = nullptr;
  const Code* extent = nullptr;
  const Code* value = nullptr;  // kStore: value. kIf, kWhile: condition
  const Place* place = nullptr;
  StoreFn store = nullptr;
  int memory = 0;  // kAlloc
  DataType dtype{};
  int64_t elements = 0;
  std::vector<const Action*> body;
};

inline double Left(const Code& code, Frame& frame) { return code.a->f(*code.a, frame); }
inline double Right(const Code& code, Frame& frame) { return code.b->f(*code.b, frame); }
inline int64_t LeftInt(const Code& code, Frame& frame) { return code.a->i(*code.a, frame); }
inline int64_t RightInt(const Code& code, Frame& frame) { return code.b->i(*code.b, frame); }

// The functions that evaluate a load, store a value, or apply a binary operator. `dtype` is the
// type of the elements or of a float result, or of integer operands. A load's function is null if
// the type is an integer and the function is for floats, or the reverse.
FloatFn FloatLoadFn(DataType dtype);
IntFn IntLoadFn(DataType dtype);
StoreFn StoreFnOf(DataType dtype);
FloatFn FloatFnOf(BinaryOp op, DataType dtype);
IntFn IntFnOf(BinaryOp op, DataType dtype);

}  // namespace hone::loop::interpreter

#endif  // HONE_COMPILER_LOOP_INTERPRETER_CODE_H_
