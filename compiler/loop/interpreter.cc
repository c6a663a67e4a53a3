#include "compiler/loop/interpreter.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <limits>

#include "absl/container/flat_hash_map.h"
#include "compiler/loop/bounds.h"
#include "compiler/loop/scalar.h"
#include "compiler/loop/simplify.h"
#include "fmt/format.h"
#include "support/status.h"

namespace hone::loop {
namespace {

// ---- compiled form: expressions as trees of functions, variables as slots ----

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

// Where an access goes. `safe`: proved to stay inside; then the position is a linear form: a cell
// that the loops around move by its coefficient of their variable, and terms that are no variables.
// Otherwise the indices are evaluated and checked one by one.
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
  void (*store)(const Action&, Frame&) = nullptr;
  int memory = 0;  // kAlloc
  DataType dtype{};
  int64_t elements = 0;
  std::vector<const Action*> body;
};

// ---- memory ----

template <DataType kType>
struct Stored;
template <>
struct Stored<DataType::kFloat32> {
  using Type = float;
};
template <>
struct Stored<DataType::kFloat64> {
  using Type = double;
};
template <>
struct Stored<DataType::kInt8> {
  using Type = int8_t;
};
template <>
struct Stored<DataType::kInt16> {
  using Type = int16_t;
};
template <>
struct Stored<DataType::kInt32> {
  using Type = int32_t;
};
template <>
struct Stored<DataType::kInt64> {
  using Type = int64_t;
};
template <>
struct Stored<DataType::kUInt8> {
  using Type = uint8_t;
};
template <>
struct Stored<DataType::kBool> {
  using Type = uint8_t;
};

// What memory holds before it is written: nothing that could pass for a result.
void Poison(void* memory, DataType dtype, int64_t elements) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  if (dtype == DataType::kFloat32) {
    std::fill_n(static_cast<float*>(memory), elements, static_cast<float>(nan));
  } else if (dtype == DataType::kFloat64) {
    std::fill_n(static_cast<double*>(memory), elements, nan);
  } else if (IsFloat(dtype)) {
    const uint16_t bits = dtype == DataType::kFloat16 ? EncodeFloat16(nan) : EncodeBFloat16(nan);
    std::fill_n(static_cast<uint16_t*>(memory), elements, bits);
  } else {
    std::memset(memory, 0x5B, static_cast<size_t>(elements * SizeBytes(dtype)));
  }
}

// ---- evaluation ----

int64_t CheckedPosition(const Place& place, Frame& frame) {
  int64_t rest[16];
  const size_t rank = place.index_code.size();
  for (size_t d = 0; d < rank; ++d) {
    rest[d] = place.index_code[d]->i(*place.index_code[d], frame);
    if (rest[d] >= 0 && rest[d] < place.extents[d]) continue;
    if (!frame.failed) {
      frame.failed = true;
      frame.error =
          fmt::format("access {} lies outside: index {} is {}, expected 0 to {}",
                      ToText(Load(place.buffer, place.indices)), d, rest[d], place.extents[d] - 1);
    }
    return -1;
  }
  const std::vector<Layout::Dim>& dims = place.buffer->layout.dims();
  int64_t position = 0;
  int64_t stride = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    int64_t& index = rest[dims[i].axis];
    if (dims[i].factor == 0) {
      position += index * stride;
    } else {
      position += index % dims[i].factor * stride;
      index /= dims[i].factor;
    }
    stride *= place.physical[i];
  }
  return position;
}

// In elements; -1 where the access failed.
inline int64_t Position(const Place& place, Frame& frame) {
  if (!place.safe) return CheckedPosition(place, frame);
  int64_t position = frame.cells[place.cell];
  for (const Place::Term& term : place.terms) {
    position += term.coefficient * term.code->i(*term.code, frame);
  }
  return position;
}

template <DataType kType>
double LoadFloat(const Code& code, Frame& frame) {
  const int64_t position = Position(*code.place, frame);
  if (position < 0) return 0;
  const void* memory = frame.memory[code.place->memory];
  if constexpr (kType == DataType::kFloat16) {
    return DecodeFloat16(static_cast<const uint16_t*>(memory)[position]);
  } else if constexpr (kType == DataType::kBFloat16) {
    return DecodeBFloat16(static_cast<const uint16_t*>(memory)[position]);
  } else {
    return static_cast<double>(static_cast<const typename Stored<kType>::Type*>(memory)[position]);
  }
}

template <DataType kType>
int64_t LoadInt(const Code& code, Frame& frame) {
  const int64_t position = Position(*code.place, frame);
  if (position < 0) return 0;
  const void* memory = frame.memory[code.place->memory];
  return static_cast<const typename Stored<kType>::Type*>(memory)[position];
}

template <DataType kType>
void StoreValue(const Action& action, Frame& frame) {
  const Code& value = *action.value;
  if constexpr (kType == DataType::kFloat16 || kType == DataType::kBFloat16) {
    const double result = value.f(value, frame);
    const int64_t position = Position(*action.place, frame);
    if (position < 0) return;
    static_cast<uint16_t*>(frame.memory[action.place->memory])[position] =
        kType == DataType::kFloat16 ? EncodeFloat16(result) : EncodeBFloat16(result);
  } else {
    using Type = typename Stored<kType>::Type;
    Type result;
    if constexpr (kType == DataType::kFloat32 || kType == DataType::kFloat64) {
      result = static_cast<Type>(value.f(value, frame));
    } else {
      result = static_cast<Type>(value.i(value, frame));
    }
    const int64_t position = Position(*action.place, frame);
    if (position >= 0) static_cast<Type*>(frame.memory[action.place->memory])[position] = result;
  }
}

double Left(const Code& code, Frame& frame) { return code.a->f(*code.a, frame); }
double Right(const Code& code, Frame& frame) { return code.b->f(*code.b, frame); }
int64_t LeftInt(const Code& code, Frame& frame) { return code.a->i(*code.a, frame); }
int64_t RightInt(const Code& code, Frame& frame) { return code.b->i(*code.b, frame); }

template <BinaryOp kOp, bool kSingle>
double FastFloat(const Code& code, Frame& frame) {
  const double a = Left(code, frame);
  const double b = Right(code, frame);
  double value = 0;
  if constexpr (kOp == BinaryOp::kAdd) value = a + b;
  if constexpr (kOp == BinaryOp::kSub) value = a - b;
  if constexpr (kOp == BinaryOp::kMul) value = a * b;
  if constexpr (kOp == BinaryOp::kDiv) value = a / b;
  if constexpr (kOp == BinaryOp::kMax) value = std::isnan(a) ? a : (b > a || std::isnan(b)) ? b : a;
  if constexpr (kOp == BinaryOp::kMin) value = std::isnan(a) ? a : (b < a || std::isnan(b)) ? b : a;
  return kSingle ? static_cast<double>(static_cast<float>(value)) : value;
}

template <BinaryOp kOp>
FloatFn FastFloatOf(DataType dtype) {
  if (dtype == DataType::kFloat32) return FastFloat<kOp, true>;
  return dtype == DataType::kFloat64 ? FastFloat<kOp, false> : nullptr;
}

FloatFn FastFloatOf(BinaryOp op, DataType dtype) {
  switch (op) {
    case BinaryOp::kAdd:
      return FastFloatOf<BinaryOp::kAdd>(dtype);
    case BinaryOp::kSub:
      return FastFloatOf<BinaryOp::kSub>(dtype);
    case BinaryOp::kMul:
      return FastFloatOf<BinaryOp::kMul>(dtype);
    case BinaryOp::kDiv:
      return FastFloatOf<BinaryOp::kDiv>(dtype);
    case BinaryOp::kMax:
      return FastFloatOf<BinaryOp::kMax>(dtype);
    case BinaryOp::kMin:
      return FastFloatOf<BinaryOp::kMin>(dtype);
    default:
      return nullptr;
  }
}

double AnyFloat(const Code& code, Frame& frame) {
  const double a = Left(code, frame);
  return EvalFloat(code.binary_op, a, Right(code, frame), code.dtype);
}

template <BinaryOp kOp>
int64_t FastInt(const Code& code, Frame& frame) {
  const uint64_t a = static_cast<uint64_t>(LeftInt(code, frame));
  const uint64_t b = static_cast<uint64_t>(RightInt(code, frame));
  if constexpr (kOp == BinaryOp::kAdd) return static_cast<int64_t>(a + b);
  if constexpr (kOp == BinaryOp::kSub) return static_cast<int64_t>(a - b);
  if constexpr (kOp == BinaryOp::kMul) return static_cast<int64_t>(a * b);
  return 0;
}

template <BinaryOp kOp>
int64_t Compare(const Code& code, Frame& frame) {
  const int64_t a = LeftInt(code, frame);
  return CompareInt(kOp, a, RightInt(code, frame));
}

int64_t AnyInt(const Code& code, Frame& frame) {
  const int64_t a = LeftInt(code, frame);
  const int64_t b = RightInt(code, frame);
  const std::optional<int64_t> value = EvalInt(code.binary_op, a, b, code.dtype);
  if (value) return *value;
  if (!frame.failed) {
    frame.failed = true;
    frame.error = fmt::format("integer division by zero: {} {} 0", a, Name(code.binary_op));
  }
  return 0;
}

IntFn IntFnOf(BinaryOp op, DataType dtype) {
  switch (op) {
    case BinaryOp::kAdd:
      return dtype == DataType::kInt64 ? FastInt<BinaryOp::kAdd> : AnyInt;
    case BinaryOp::kSub:
      return dtype == DataType::kInt64 ? FastInt<BinaryOp::kSub> : AnyInt;
    case BinaryOp::kMul:
      return dtype == DataType::kInt64 ? FastInt<BinaryOp::kMul> : AnyInt;
    case BinaryOp::kLt:
      return Compare<BinaryOp::kLt>;
    case BinaryOp::kLe:
      return Compare<BinaryOp::kLe>;
    case BinaryOp::kGe:
      return Compare<BinaryOp::kGe>;
    case BinaryOp::kAnd:
      return Compare<BinaryOp::kAnd>;
    default:
      return AnyInt;
  }
}

template <DataType kType>
void SetLoad(Code& code) {
  if constexpr (kType == DataType::kFloat32 || kType == DataType::kFloat64 ||
                kType == DataType::kFloat16 || kType == DataType::kBFloat16) {
    code.f = LoadFloat<kType>;
  } else {
    code.i = LoadInt<kType>;
  }
}

// Calls `function` with the type as a template argument.
template <typename Function>
void Dispatch(DataType dtype, Function function) {
  switch (dtype) {
    case DataType::kFloat32:
      return function.template operator()<DataType::kFloat32>();
    case DataType::kFloat64:
      return function.template operator()<DataType::kFloat64>();
    case DataType::kFloat16:
      return function.template operator()<DataType::kFloat16>();
    case DataType::kBFloat16:
      return function.template operator()<DataType::kBFloat16>();
    case DataType::kInt8:
      return function.template operator()<DataType::kInt8>();
    case DataType::kInt16:
      return function.template operator()<DataType::kInt16>();
    case DataType::kInt32:
      return function.template operator()<DataType::kInt32>();
    case DataType::kInt64:
      return function.template operator()<DataType::kInt64>();
    case DataType::kUInt8:
      return function.template operator()<DataType::kUInt8>();
    case DataType::kBool:
      return function.template operator()<DataType::kBool>();
  }
}

// ---- compilation ----

class Compiler {
 public:
  int slots() const { return next_slot_; }
  const std::vector<int64_t>& cells() const { return cells_; }
  const std::vector<Buffer>& buffers() const { return buffers_; }
  const absl::Status& status() const { return status_; }

  int MemoryOf(const Buffer& buffer) {
    const auto [it, inserted] = memory_.try_emplace(buffer.get(), buffers_.size());
    if (inserted) buffers_.push_back(buffer);
    return static_cast<int>(it->second);
  }

  const Action* Compile(const Stmt& s, const Bounds& bounds) {
    Action* action = &actions_.emplace_back();
    action->kind = s->kind;
    switch (s->kind) {
      case StmtKind::kFor:
        CompileFor(*s, bounds, *action);
        break;
      case StmtKind::kStore:
        action->value = Compile(s->value, bounds);
        action->place = MakePlace(s->buffer, s->indices, bounds);
        Dispatch(s->buffer->dtype, [&]<DataType kType>() { action->store = StoreValue<kType>; });
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
      case StmtKind::kPrefetch:
        break;
    }
    return action;
  }

 private:
  void CompileFor(const StmtNode& s, const Bounds& bounds, Action& action) {
    action.min = Compile(s.min, bounds);
    action.extent = Compile(s.extent, bounds);
    action.reversible = s.loop_kind == LoopKind::kParallel;
    action.slot = slots_.try_emplace(s.var.get(), next_slot_).first->second;
    next_slot_ = std::max(next_slot_, action.slot + 1);
    Bounds inner = bounds;
    inner.erase(s.var.get());
    if (const auto range = LoopBounds(s, bounds)) inner[s.var.get()] = *range;
    Action* hidden = std::exchange(around_[s.var.get()], &action);
    action.body = {Compile(s.body[0], inner)};
    around_[s.var.get()] = hidden;
  }

  void CompileConditional(const StmtNode& s, const Bounds& bounds, Action& action) {
    action.value = Compile(s.condition, bounds);
    for (size_t i = 0; i < s.body.size(); ++i) {
      Bounds inner = bounds;
      if (s.kind == StmtKind::kIf) Assume(s.condition, i == 0, inner);
      action.body.push_back(Compile(s.body[i], inner));
    }
  }

  const Place* MakePlace(const Buffer& buffer, const std::vector<Expr>& indices,
                         const Bounds& bounds) {
    Place* place = &places_.emplace_back();
    place->memory = MemoryOf(buffer);
    place->buffer = buffer;
    place->indices = indices;
    place->physical = buffer->layout.PhysicalShape(buffer->shape);
    place->safe = true;
    if (indices.size() > 16) Fail("a buffer of more than 16 dimensions");
    for (size_t d = 0; d < indices.size(); ++d) {
      const int64_t extent = buffer->layout.PaddedExtent(static_cast<int>(d), buffer->shape[d]);
      place->extents.push_back(extent);
      const auto range = BoundsOf(indices[d], bounds);
      place->safe &= range && range->min >= 0 && range->max < extent;
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

  const Code* Compile(const Expr& e, const Bounds& bounds) {
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
        Dispatch(e->dtype, [&]<DataType kType>() { SetLoad<kType>(*code); });
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

  void CompileVar(const ExprNode& e, Code& code) {
    const auto it = slots_.find(&e);
    if (it == slots_.end()) {
      Fail(fmt::format("variable {} is not bound by a loop around it", e.name));
    } else {
      code.slot = it->second;
    }
    code.i = [](const Code& c, Frame& frame) { return frame.slots[c.slot]; };
  }

  void CompileUnary(const ExprNode& e, const Bounds& bounds, Code& code) {
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

  void CompileBinary(const ExprNode& e, const Bounds& bounds, Code& code) {
    code.a = Compile(e.operands[0], bounds);
    code.b = Compile(e.operands[1], bounds);
    code.binary_op = e.binary_op;
    if (!IsFloat(e.operands[0]->dtype)) {
      code.i = IntFnOf(e.binary_op, e.dtype);
    } else if (GivesBool(e.binary_op)) {
      code.i = [](const Code& c, Frame& frame) -> int64_t {
        const double a = Left(c, frame);
        return CompareFloat(c.binary_op, a, Right(c, frame));
      };
    } else {
      code.f = FastFloatOf(e.binary_op, e.dtype);
      if (code.f == nullptr) code.f = AnyFloat;
    }
  }

  void CompileSelect(const ExprNode& e, const Bounds& bounds, Code& code) {
    code.a = Compile(e.operands[0], bounds);
    Bounds inner = bounds;
    Assume(e.operands[0], true, inner);
    code.b = Compile(e.operands[1], inner);
    inner = bounds;
    Assume(e.operands[0], false, inner);
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

  void CompileCast(const ExprNode& e, const Bounds& bounds, Code& code) {
    code.a = Compile(e.operands[0], bounds);
    const bool from_float = IsFloat(e.operands[0]->dtype);
    if (IsFloat(e.dtype)) {
      code.f = from_float ? FloatFn([](const Code& c, Frame& frame) {
        return RoundToFloat(Left(c, frame), c.dtype);
      })
                          : FloatFn([](const Code& c, Frame& frame) {
                              return RoundToFloat(static_cast<double>(LeftInt(c, frame)), c.dtype);
                            });
    } else {
      code.i = from_float ? IntFn([](const Code& c, Frame& frame) {
        return FloatToInt(Left(c, frame), c.dtype);
      })
                          : IntFn([](const Code& c, Frame& frame) {
                              return WrapToInt(LeftInt(c, frame), c.dtype);
                            });
    }
  }

  void Fail(std::string message) {
    if (status_.ok()) status_ = absl::InternalError(message);
  }

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

// ---- execution ----

class Machine {
 public:
  Machine(Frame& frame, bool reverse) : frame_(frame), reverse_(reverse) {}

  void Run(const Action& action) {
    switch (action.kind) {
      case StmtKind::kFor:
        return RunFor(action);
      case StmtKind::kStore:
        return action.store(action, frame_);
      case StmtKind::kSeq:
        for (const Action* child : action.body) Run(*child);
        return;
      case StmtKind::kIf:
        if (action.value->i(*action.value, frame_) != 0) return Run(*action.body[0]);
        if (action.body.size() == 2) Run(*action.body[1]);
        return;
      case StmtKind::kWhile:
        while (!frame_.failed && action.value->i(*action.value, frame_) != 0) Run(*action.body[0]);
        return;
      case StmtKind::kAlloc:
        Poison(frame_.memory[action.memory], action.dtype, action.elements);
        return Run(*action.body[0]);
      case StmtKind::kBarrier:
      case StmtKind::kPrefetch:
        return;
    }
  }

 private:
  void RunFor(const Action& action) {
    const int64_t min = action.min->i(*action.min, frame_);
    const int64_t extent = action.extent->i(*action.extent, frame_);
    const Action& body = *action.body[0];
    const bool backwards = reverse_ && action.reversible;
    const int64_t first = backwards ? min + extent - 1 : min;
    const int64_t step = backwards ? -1 : 1;
    for (const Action::Move& move : action.moves) {
      frame_.cells[move.cell] += move.coefficient * first;
    }
    int64_t value = first;
    for (int64_t n = 0; n < extent && !frame_.failed; ++n, value += step) {
      frame_.slots[action.slot] = value;
      Run(body);
      for (const Action::Move& move : action.moves) {
        frame_.cells[move.cell] += move.coefficient * step;
      }
    }
    for (const Action::Move& move : action.moves) {
      frame_.cells[move.cell] -= move.coefficient * value;
    }
  }

  Frame& frame_;
  const bool reverse_;
};

}  // namespace

int64_t PhysicalBytes(const BufferNode& buffer) {
  return buffer.layout.ElementCount(buffer.shape) * SizeBytes(buffer.dtype);
}

absl::Status Interpret(const Nest& nest, const std::vector<void*>& buffers,
                       const InterpretOptions& options) {
  if (buffers.size() != nest.buffers.size()) {
    return absl::InternalError(fmt::format("nest {} has {} buffers, {} were given", nest.name,
                                           nest.buffers.size(), buffers.size()));
  }
  Compiler compiler;
  for (const Buffer& buffer : nest.buffers) compiler.MemoryOf(buffer);
  std::vector<std::pair<const Launch*, const Action*>> launches;
  for (Phase phase : {Phase::kPrepare, Phase::kRun}) {
    for (const Launch& launch : nest.launches) {
      if (launch.phase != phase) continue;
      launches.emplace_back(&launch, compiler.Compile(launch.body, Bounds()));
    }
  }
  HONE_RETURN_IF_ERROR(compiler.status());

  std::vector<int64_t> slots(static_cast<size_t>(compiler.slots()) + 1);
  std::vector<int64_t> cells = compiler.cells();
  std::vector<void*> memory;
  std::deque<std::vector<uint64_t>> owned;
  for (size_t i = 0; i < compiler.buffers().size(); ++i) {
    const BufferNode& buffer = *compiler.buffers()[i];
    if (i < buffers.size() && buffers[i] != nullptr) {
      memory.push_back(buffers[i]);
      continue;
    }
    const bool known = i < buffers.size() || buffer.scope != Scope::kGlobal;
    const bool ours = buffer.scope != Scope::kGlobal || buffer.role == Role::kWorkspace ||
                      buffer.role == Role::kPrepared;
    if (!known || !ours) {
      return absl::InternalError(
          fmt::format("nest {}: no memory for buffer %{}", nest.name, buffer.name));
    }
    owned.emplace_back(static_cast<size_t>(PhysicalBytes(buffer) / 8 + 1));
    memory.push_back(owned.back().data());
    Poison(owned.back().data(), buffer.dtype, buffer.layout.ElementCount(buffer.shape));
  }
  Frame frame{slots.data(), cells.data(), memory.data(), false, ""};
  Machine machine(frame, options.reverse_grid);
  for (const auto& [launch, action] : launches) {
    machine.Run(*action);
    if (frame.failed) {
      return absl::InternalError(
          fmt::format("nest {}, launch {}: {}", nest.name, launch->name, frame.error));
    }
  }
  return absl::OkStatus();
}

}  // namespace hone::loop
