#include "tests/compiler/loop/random_nest.h"

#include <iterator>
#include <limits>
#include <vector>

#include "compiler/loop/scalar.h"

namespace hone::loop {
namespace {

// bool is the last one, and uint64, whose values int64 need not have, before it.
const DataType kTypes[] = {DataType::kFloat32,  DataType::kFloat64, DataType::kFloat16,
                           DataType::kBFloat16, DataType::kInt8,    DataType::kInt16,
                           DataType::kInt32,    DataType::kInt64,   DataType::kUInt8,
                           DataType::kUInt16,   DataType::kUInt32,  DataType::kUInt64,
                           DataType::kBool};

class Generator {
 public:
  explicit Generator(Random& random) : random_(random) {}

  Nest Run() {
    Nest nest;
    nest.name = Pick(3) == 0 ? "a strange \"name\"" : "k";
    for (Role role : {Role::kInput, Role::kConstant, Role::kWorkspace, Role::kOutput}) {
      nest.buffers.push_back(NewBuffer(Scope::kGlobal, role));
      buffers_.push_back(nest.buffers.back());
    }
    const int launches = 1 + static_cast<int>(Pick(2));
    for (int i = 0; i < launches; ++i) {
      nest.launches.push_back({"l" + std::to_string(i), Phase::kRun, RandomStmt(4)});
    }
    return nest;
  }

 private:
  uint64_t Pick(uint64_t n) { return random_.Below(n); }

  Buffer NewBuffer(Scope scope, Role role) {
    auto buffer = std::make_shared<BufferNode>();
    buffer->name = "b" + std::to_string(next_++) + (Pick(8) == 0 ? "/x:0" : "");
    buffer->dtype = kTypes[Pick(std::size(kTypes))];
    const int rank = static_cast<int>(Pick(4));
    for (int d = 0; d < rank; ++d) buffer->shape.push_back(1 + static_cast<int64_t>(Pick(20)));
    buffer->layout = Layout::RowMajor(rank);
    if (rank == 2 && Pick(2) == 0) buffer->layout = *Layout::Parse("NC4c", 2);
    if (rank == 3 && Pick(2) == 0) buffer->layout = *Layout::Parse("NWC", 3);
    buffer->scope = scope;
    buffer->role = role;
    if (Pick(4) == 0) {
      buffer->domain_low = -1.5;
      buffer->domain_high = 7;
      buffer->ascending = Pick(2) == 0;
    }
    return buffer;
  }

  std::vector<Expr> Indices(const Buffer& buffer, int depth) {
    std::vector<Expr> indices;
    for (int64_t extent : buffer->shape) {
      indices.push_back(FloorMod(RandomExpr(DataType::kInt64, depth), Expr(extent)));
    }
    return indices;
  }

  Stmt RandomStmt(int depth) {
    if (depth == 0) return RandomStore();
    switch (Pick(8)) {
      case 0:
      case 1:
        return RandomLoop(depth);
      case 2: {
        const Stmt then = RandomStmt(depth - 1);
        return If(RandomExpr(DataType::kBool, 2), then, Pick(2) ? RandomStmt(depth - 1) : nullptr);
      }
      case 3: {
        const Buffer buffer =
            NewBuffer(Pick(2) ? Scope::kLocal : Scope::kRegister, Role::kWorkspace);
        buffers_.push_back(buffer);
        const Stmt body = RandomStmt(depth - 1);
        buffers_.pop_back();
        return Alloc(buffer, body);
      }
      case 4: {
        const Buffer& buffer = buffers_[Pick(buffers_.size())];
        return Seq({Prefetch(buffer, Indices(buffer, 1), static_cast<int>(Pick(4))), Barrier()});
      }
      case 5:
        return Seq({RandomStmt(depth - 1), RandomStmt(depth - 1)});
      default:
        return RandomStore();
    }
  }

  Stmt RandomLoop(int depth) {
    const DataType dtype = Pick(5) == 0 ? DataType::kInt32 : DataType::kInt64;
    const Expr var = Var("v." + std::to_string(next_++), dtype);
    const Expr min = Pick(3) == 0 ? RandomExpr(dtype, 1) : IntConst(0, dtype);
    vars_.push_back(var);
    const Stmt body = RandomStmt(depth - 1);
    vars_.pop_back();
    return For(var, min, IntConst(static_cast<int64_t>(Pick(4)), dtype), body,
               static_cast<LoopKind>(Pick(4)));
  }

  static bool MayBeStored(const BufferNode& buffer) {
    return buffer.role != Role::kInput && buffer.role != Role::kConstant;
  }

  Stmt RandomStore() {
    size_t place = Pick(buffers_.size());
    while (!MayBeStored(*buffers_[place])) place = (place + 1) % buffers_.size();
    const Buffer& buffer = buffers_[place];
    return Store(buffer, Indices(buffer, 2), RandomExpr(buffer->dtype, 3));
  }

  Expr Leaf(DataType dtype, bool loads = true) {
    for (int attempt = 0; attempt < 4; ++attempt) {
      if (!vars_.empty() && Pick(2) == 0) {
        const Expr& var = vars_[Pick(vars_.size())];
        if (var->dtype == dtype) return var;
      }
      const Buffer& buffer = buffers_[Pick(buffers_.size())];
      if (loads && buffer->dtype == dtype && Pick(2) == 0) {
        std::vector<Expr> indices;
        for (int64_t extent : buffer->shape) {
          indices.push_back(FloorMod(Leaf(DataType::kInt64, false), Expr(extent)));
        }
        return Load(buffer, std::move(indices));
      }
    }
    const double specials[] = {0.0, -0.0, 1e-30, std::numeric_limits<double>::infinity(),
                               std::numeric_limits<double>::quiet_NaN()};
    const double value =
        Pick(4) == 0 ? specials[Pick(IsFloat(dtype) ? 5 : 3)] : (random_.Uniform() - 0.5) * 200;
    return Const(value, dtype);
  }

  Expr RandomExpr(DataType dtype, int depth) {
    if (depth == 0) return Leaf(dtype);
    if (dtype == DataType::kBool) return RandomBool(depth);
    switch (Pick(5)) {
      case 0:
        return Leaf(dtype);
      case 1: {
        const UnaryOp floats[] = {UnaryOp::kNeg, UnaryOp::kAbs, UnaryOp::kTanh, UnaryOp::kSigmoid};
        const UnaryOp ints[] = {UnaryOp::kNeg, UnaryOp::kAbs, UnaryOp::kNot, UnaryOp::kSign};
        return Unary((IsFloat(dtype) ? floats : ints)[Pick(4)], RandomExpr(dtype, depth - 1));
      }
      case 2: {
        const BinaryOp ops[] = {BinaryOp::kAdd, BinaryOp::kSub, BinaryOp::kMul,
                                BinaryOp::kMin, BinaryOp::kMax, BinaryOp::kAdd};
        const BinaryOp op = ops[Pick(6)];
        // int64 arithmetic is taken not to overflow, and data of a loop may grow fast.
        return Binary(dtype == DataType::kInt64 && op == BinaryOp::kMul ? BinaryOp::kAdd : op,
                      RandomExpr(dtype, depth - 1), RandomExpr(dtype, depth - 1));
      }
      case 3:
        return Select(RandomBool(depth - 1), RandomExpr(dtype, depth - 1),
                      RandomExpr(dtype, depth - 1));
      default: {
        if (!IsFloat(dtype) && Pick(2) == 0) {
          return Binary(Pick(2) ? BinaryOp::kFloorDiv : BinaryOp::kFloorMod,
                        RandomExpr(dtype, depth - 1),
                        IntConst(1 + static_cast<int64_t>(Pick(16)), dtype));
        }
        const size_t count = std::size(kTypes) - (dtype == DataType::kInt64 ? 2 : 1);
        return Cast(dtype, RandomExpr(kTypes[Pick(count)], depth - 1));
      }
    }
  }

  Expr RandomBool(int depth) {
    if (depth <= 0) return Leaf(DataType::kBool);
    if (Pick(3) == 0) {
      const Expr a = RandomBool(depth - 1);
      return Pick(2) ? And(a, RandomBool(depth - 1)) : Or(a, RandomBool(depth - 1));
    }
    const BinaryOp ops[] = {BinaryOp::kLt, BinaryOp::kLe, BinaryOp::kGt,
                            BinaryOp::kGe, BinaryOp::kEq, BinaryOp::kNe};
    const DataType dtype = kTypes[Pick(std::size(kTypes) - 1)];
    return Binary(ops[Pick(6)], RandomExpr(dtype, depth - 1), RandomExpr(dtype, depth - 1));
  }

  Random& random_;
  std::vector<Buffer> buffers_;
  std::vector<Expr> vars_;
  int next_ = 0;
};

}  // namespace

// int64 values stay small.
Nest RandomNest(Random& random) { return Generator(random).Run(); }

}  // namespace hone::loop
