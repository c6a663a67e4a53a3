#include "compiler/loop/interpreter_compiler.h"

#include "compiler/loop/scalar.h"
#include "compiler/loop/simplify.h"
#include "fmt/format.h"

namespace hone::loop::interpreter {

int Compiler::MemoryOf(const Buffer& buffer) {
  const auto [it, inserted] = memory_.try_emplace(buffer.get(), buffers_.size());
  if (inserted) buffers_.push_back(buffer);
  return static_cast<int>(it->second);
}

const Action* Compiler::Compile(const Stmt& s, const Bounds& bounds) {
  Action* action = &actions_.emplace_back();
  action->kind = s->kind;
  switch (s->kind) {
    case StmtKind::kFor:
      CompileFor(*s, bounds, *action);
      break;
    case StmtKind::kStore:
      action->value = Compile(s->value, bounds);
      action->place = MakePlace(s->buffer, s->indices, bounds);
      action->store = StoreFnOf(s->buffer->dtype);
      break;
    case StmtKind::kIf:
    case StmtKind::kWhile:
      CompileConditional(*s, bounds, *action);
      break;
    case StmtKind::kAlloc:
      action->memory = MemoryOf(s->buffer);
      action->dtype = s->buffer->dtype;
      action->elements = s->buffer->layout.ElementCount(s->buffer->shape);
      action->body = {Compile(s->body[0], bounds)};
      break;
    case StmtKind::kSeq:
      for (const Stmt& child : s->body) action->body.push_back(Compile(child, bounds));
      break;
    case StmtKind::kBarrier:
    case StmtKind::kCommit:
    case StmtKind::kPrefetch:
      break;
  }
  return action;
}

void Compiler::CompileFor(const StmtNode& s, const Bounds& bounds, Action& action) {
  action.min = Compile(s.min, bounds);
  action.extent = Compile(s.extent, bounds);
  action.reversible = s.loop_kind == LoopKind::kParallel || s.loop_kind == LoopKind::kThread;
  action.slot = slots_.try_emplace(s.var.get(), next_slot_).first->second;
  next_slot_ = std::max(next_slot_, action.slot + 1);
  Bounds inner = bounds;
  inner.PushLoop(s);
  Action* hidden = std::exchange(around_[s.var.get()], &action);
  action.body = {Compile(s.body[0], inner)};
  around_[s.var.get()] = hidden;
}

void Compiler::CompileConditional(const StmtNode& s, const Bounds& bounds, Action& action) {
  action.value = Compile(s.condition, bounds);
  for (size_t i = 0; i < s.body.size(); ++i) {
    Bounds inner = bounds;
    if (s.kind == StmtKind::kIf) inner.Assume(s.condition, i == 0);
    action.body.push_back(Compile(s.body[i], inner));
  }
}

const Place* Compiler::MakePlace(const Buffer& buffer, const std::vector<Expr>& indices,
                                 const Bounds& bounds) {
  Place* place = &places_.emplace_back();
  place->memory = MemoryOf(buffer);
  place->buffer = buffer;
  place->indices = indices;
  place->physical = buffer->layout.PhysicalShape(buffer->shape);
  place->safe = true;
  for (size_t d = 0; d < indices.size(); ++d) {
    const int64_t extent = buffer->layout.PaddedExtent(static_cast<int>(d), buffer->shape[d]);
    place->extents.push_back(extent);
    place->safe &= BoundsOf(indices[d], bounds).Within(0, extent - 1);
  }
  if (!place->safe) {
    for (const Expr& index : indices) place->index_code.push_back(Compile(index, bounds));
    return place;
  }
  const Linear offset = Linear::Of(PhysicalOffset(*buffer, indices, bounds));
  place->cell = static_cast<int>(cells_.size());
  cells_.push_back(offset.constant());
  for (const auto& [atom, coefficient] : offset.terms()) {
    const auto loop = around_.find(atom.get());
    if (loop != around_.end() && loop->second != nullptr) {
      loop->second->moves.push_back({place->cell, coefficient});
    } else {
      place->terms.push_back({Compile(atom, bounds), coefficient});
    }
  }
  return place;
}

const Code* Compiler::Compile(const Expr& e, const Bounds& bounds) {
  Code* code = &codes_.emplace_back();
  code->dtype = e->dtype;
  switch (e->kind) {
    case ExprKind::kInt:
      code->int_value = e->int_value;
      code->i = [](const Code& c, Frame&) { return c.int_value; };
      break;
    case ExprKind::kFloat:
      code->float_value = e->float_value;
      code->f = [](const Code& c, Frame&) { return c.float_value; };
      break;
    case ExprKind::kVar:
      CompileVar(*e, *code);
      break;
    case ExprKind::kLoad:
      code->place = MakePlace(e->buffer, e->operands, bounds);
      code->f = FloatLoadFn(e->dtype);
      code->i = IntLoadFn(e->dtype);
      break;
    case ExprKind::kUnary:
      CompileUnary(*e, bounds, *code);
      break;
    case ExprKind::kBinary:
      CompileBinary(*e, bounds, *code);
      break;
    case ExprKind::kSelect:
      CompileSelect(*e, bounds, *code);
      break;
    case ExprKind::kCast:
      CompileCast(*e, bounds, *code);
      break;
  }
  return code;
}

void Compiler::CompileVar(const ExprNode& e, Code& code) {
  const auto it = slots_.find(&e);
  if (it == slots_.end()) {
    Fail(fmt::format("variable {} is not bound by a loop around it", e.name));
  } else {
    code.slot = it->second;
  }
  code.i = [](const Code& c, Frame& frame) { return frame.slots[c.slot]; };
}

void Compiler::CompileUnary(const ExprNode& e, const Bounds& bounds, Code& code) {
  code.a = Compile(e.operands[0], bounds);
  code.unary_op = e.unary_op;
  code.operand_dtype = e.operands[0]->dtype;
  if (!IsFloat(code.operand_dtype)) {
    code.i = [](const Code& c, Frame& frame) {
      return EvalInt(c.unary_op, LeftInt(c, frame), c.dtype);
    };
  } else if (GivesBool(e.unary_op)) {
    code.i = [](const Code& c, Frame& frame) -> int64_t {
      return EvalFloat(c.unary_op, Left(c, frame), c.operand_dtype) != 0;
    };
  } else {
    code.f = [](const Code& c, Frame& frame) {
      return EvalFloat(c.unary_op, Left(c, frame), c.dtype);
    };
  }
}

void Compiler::CompileBinary(const ExprNode& e, const Bounds& bounds, Code& code) {
  code.a = Compile(e.operands[0], bounds);
  code.b = Compile(e.operands[1], bounds);
  code.binary_op = e.binary_op;
  code.operand_dtype = e.operands[0]->dtype;
  if (!IsFloat(code.operand_dtype)) {
    code.i = IntFnOf(e.binary_op, code.operand_dtype);
  } else if (GivesBool(e.binary_op)) {
    code.i = [](const Code& c, Frame& frame) -> int64_t {
      const double a = Left(c, frame);
      return CompareFloat(c.binary_op, a, Right(c, frame));
    };
  } else {
    code.f = FloatFnOf(e.binary_op, e.dtype);
  }
}

void Compiler::CompileSelect(const ExprNode& e, const Bounds& bounds, Code& code) {
  code.a = Compile(e.operands[0], bounds);
  Bounds inner = bounds;
  inner.Assume(e.operands[0], true);
  code.b = Compile(e.operands[1], inner);
  inner = bounds;
  inner.Assume(e.operands[0], false);
  code.c = Compile(e.operands[2], inner);
  code.f = [](const Code& c, Frame& frame) {
    const Code& chosen = LeftInt(c, frame) != 0 ? *c.b : *c.c;
    return chosen.f(chosen, frame);
  };
  code.i = [](const Code& c, Frame& frame) {
    const Code& chosen = LeftInt(c, frame) != 0 ? *c.b : *c.c;
    return chosen.i(chosen, frame);
  };
}

void Compiler::CompileCast(const ExprNode& e, const Bounds& bounds, Code& code) {
  code.a = Compile(e.operands[0], bounds);
  code.operand_dtype = e.operands[0]->dtype;
  const bool from_float = IsFloat(code.operand_dtype);
  if (IsFloat(e.dtype)) {
    code.f = from_float ? FloatFn([](const Code& c, Frame& frame) {
      return RoundToFloat(Left(c, frame), c.dtype);
    })
                        : FloatFn([](const Code& c, Frame& frame) {
                            return IntToFloat(LeftInt(c, frame), c.operand_dtype, c.dtype);
                          });
  } else {
    code.i =
        from_float
            ? IntFn([](const Code& c, Frame& frame) { return FloatToInt(Left(c, frame), c.dtype); })
            : IntFn([](const Code& c, Frame& frame) {
                return WrapToInt(LeftInt(c, frame), c.dtype);
              });
  }
}

void Compiler::Fail(std::string message) {
  if (status_.ok()) status_ = absl::InternalError(message);
}

}  // namespace hone::loop::interpreter
