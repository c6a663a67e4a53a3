// Loops, conditions, allocations and layouts compute what the interpreter does.
#include "tests/compiler/codegen/harness.h"

namespace hone::codegen {
namespace {

using loop::Buffer;
using loop::Expr;
using loop::For;
using loop::If;
using loop::Load;
using loop::LoopKind;
using loop::Role;
using loop::Seq;
using loop::Stmt;
using loop::Store;
using loop::Var;

Buffer Make(const char* name, std::vector<int64_t> shape, Role role, const char* layout = "",
            DataType dtype = kF32) {
  loop::BufferNode node = *loop::MakeBuffer(name, dtype, shape, role);
  if (*layout) node.layout = *Layout::Parse(layout, static_cast<int>(shape.size()));
  return std::make_shared<loop::BufferNode>(node);
}

Buffer Inner(const char* name, std::vector<int64_t> shape, loop::Scope scope) {
  loop::BufferNode node = *loop::MakeBuffer(name, kF32, std::move(shape));
  node.scope = scope;
  return std::make_shared<loop::BufferNode>(node);
}

loop::Nest OneLaunch(std::vector<Buffer> buffers, Stmt body) {
  loop::Nest nest;
  nest.name = "kernel";
  nest.buffers = std::move(buffers);
  nest.launches.push_back({"run", loop::Phase::kRun, std::move(body)});
  return nest;
}

Expr Zero() { return loop::FloatConst(0, kF32); }

TEST(Nests, GridOfSeveralLoopsIsCutAnywhere) {
  const Buffer x = Make("x", {3, 5, 7}, Role::kInput);
  const Buffer y = Make("y", {3, 5, 7}, Role::kOutput);
  const Expr a = Var("a"), b = Var("b"), c = Var("c");
  const Stmt body = Store(y, {a, b, c}, Load(x, {Expr(2) - a, b, c}) + Load(x, {a, b, c}));
  ExpectSameAsInterpreter(OneLaunch(
      {x, y},
      For(a, 0, 3, For(b, 0, 5, For(c, 0, 7, body), LoopKind::kParallel), LoopKind::kParallel)));
}

TEST(Nests, BlockedLayoutsKeepTheirIndexMap) {
  const Buffer x = Make("x", {2, 24, 5, 6}, Role::kInput, "NCHW");
  const Buffer y = Make("y", {2, 24, 5, 6}, Role::kOutput, "NCHW16c");
  const Buffer z = Make("z", {2, 24, 5, 6}, Role::kOutput, "NHWC2c4c");
  const Expr n = Var("n"), c = Var("c"), h = Var("h"), w = Var("w"), v = Var("v");
  const Expr channel = c * 16 + v;
  const Expr value = loop::Select(loop::Lt(channel, 24), Load(x, {n, channel, h, w}), Zero());
  const Stmt body = Seq({Store(y, {n, channel, h, w}, value),
                         If(loop::Lt(channel, 24), Store(z, {n, channel, h, w}, value))});
  ExpectSameAsInterpreter(OneLaunch(
      {x, y, z},
      For(n, 0, 2,
          For(c, 0, 2, For(h, 0, 5, For(w, 0, 6, For(v, 0, 16, body, LoopKind::kVectorize)))),
          LoopKind::kParallel)));
}

// Indices of the next iteration, the first after the last: those that follow from where it ends,
// and one that ends further on than its buffer.
TEST(Nests, WhatGoesRoundIsBoundedByItsLast) {
  for (const int64_t last : {1, 3, 4}) {
    const Buffer x = Make("x", {3, 32}, Role::kInput, "NC8c");
    const Buffer y = Make("y", {3, 32}, Role::kOutput);
    const Expr r = Var("r"), b = Var("b"), v = Var("v");
    const auto round = [](const Expr& most, const Expr& next) {
      return loop::Select(loop::Lt(most, next), Expr(0), next);
    };
    const Expr is_over = loop::Select(loop::Lt(last, b + 1), Expr(1), Expr(0));
    const Expr row = round(2, r + is_over);
    const Expr block = loop::Min(round(last, b + 1) * 8, 31);
    const Stmt body = Store(y, {r, b * 8 + v}, Load(x, {row, loop::Min(block + v, 31)}));
    ExpectSameAsInterpreter(
        OneLaunch({x, y}, For(r, 0, 3, For(b, 0, 4, For(v, 0, 8, body)), LoopKind::kParallel)));
  }
}

TEST(Nests, PaddedWindowsReadNothingOutside) {
  const Buffer x = Make("x", {20}, Role::kInput);
  const Buffer y = Make("y", {20}, Role::kOutput);
  for (const LoopKind kind : {LoopKind::kSerial, LoopKind::kVectorize, LoopKind::kUnroll}) {
    const Expr o = Var("o"), i = Var("i"), k = Var("k");
    const Expr at = o * 10 + i;
    const Expr from = at + k - 2;
    const Expr inside = loop::And(loop::Ge(from, 0), loop::Lt(from, 20));
    const Expr value = loop::Select(inside, Load(x, {from}), Zero());
    const Stmt body = Seq({Store(y, {at}, Zero()),
                           For(k, 0, 5, Store(y, {at}, Load(y, {at}) + value), LoopKind::kUnroll)});
    ExpectSameAsInterpreter(OneLaunch({x, y}, For(o, 0, 2, For(i, 0, 10, body, kind))));
  }
}

TEST(Nests, NestedSelectsGuardTheirLoadsTogether) {
  const Buffer x = Make("x", {16, 9}, Role::kInput);
  const Buffer z = Make("z", {17, 9}, Role::kInput);
  const Buffer y = Make("y", {48, 9}, Role::kOutput);
  const Expr o = Var("o"), r = Var("r"), v = Var("v");
  const Expr at = o * 16 + v;
  const Expr joined = loop::Select(loop::Lt(at, 16), Load(x, {at, r}), Load(z, {at - 16, r}));
  const Stmt body = Store(y, {at, r}, loop::Select(loop::Lt(at, 33), joined, Zero()));
  for (const LoopKind kind : {LoopKind::kSerial, LoopKind::kVectorize}) {
    ExpectSameAsInterpreter(
        OneLaunch({x, z, y}, For(o, 0, 3, For(r, 0, 9, For(v, 0, 16, body, kind)))));
  }
}

// More streams than pointers, in both directions and with bounds of data and of loops around.
TEST(Nests, InnermostLoopsStepThroughAllTheirStreams) {
  constexpr int64_t kStreams = 11;
  const Buffer x = Make("x", {kStreams, 4, 40}, Role::kInput);
  const Buffer far = Make("far", {12, 1100}, Role::kInput);
  const Buffer starts = Make("starts", {4}, Role::kInput, "", DataType::kInt32);
  const Buffer y = Make("y", {4, 12}, Role::kOutput);
  const Buffer z = Make("z", {4, 12}, Role::kOutput);
  const Expr o = Var("o"), i = Var("i"), j = Var("j");
  Expr sum = Load(far, {i, o});
  for (int64_t stream = 0; stream < kStreams; ++stream) {
    const Expr along = stream % 3 == 0 ? Expr(39) - i * 2 : i * (stream % 3) + o * (stream / 2);
    sum = sum + Load(x, {stream, o, along});
  }
  const Expr first = loop::Max(loop::Min(loop::Cast(DataType::kInt64, Load(starts, {o})), 12), 0);
  // Behind a condition a stream is met inside of a branch for the first time.
  const Stmt tail =
      If(loop::Lt(j, o * 3), Store(z, {o, j}, Load(x, {2, o, j + o}) * Load(y, {o, j})));
  ExpectSameAsInterpreter(
      OneLaunch({x, far, starts, y, z},
                For(o, 0, 4,
                    Seq({For(i, 0, 12, Seq({Store(y, {o, i}, sum), Store(z, {o, i}, Zero())})),
                         For(j, first, Expr(12) - first, tail)}))));
}

TEST(Nests, VectorisedLoopsOverStridesAndIndices) {
  const Buffer x = Make("x", {8, 33}, Role::kInput);
  Buffer index = Make("index", {40}, Role::kInput, "", DataType::kInt32);
  loop::BufferNode node = *index;
  node.domain_high = 32;
  index = std::make_shared<loop::BufferNode>(node);
  const Buffer strided = Make("strided", {8, 16}, Role::kOutput);
  const Buffer column = Make("column", {33, 8}, Role::kOutput);
  const Buffer gathered = Make("gathered", {40}, Role::kOutput);
  const Expr r = Var("r"), i = Var("i"), j = Var("j"), o = Var("o"), k = Var("k");
  const Expr at = o * 16 + k;
  const Stmt body = Seq(
      {For(r, 0, 8,
           Seq({For(i, 0, 16, Store(strided, {r, i}, Load(x, {r, i * 2})), LoopKind::kVectorize),
                For(j, 0, 33, Store(column, {j, r}, Load(x, {r, j})), LoopKind::kVectorize)})),
       For(o, 0, 3,
           For(k, 0, 16,
               If(loop::Lt(at, 40),
                  Store(gathered, {at},
                        Load(x, {3, loop::Cast(DataType::kInt64, Load(index, {at}))}))),
               LoopKind::kVectorize))});
  ExpectSameAsInterpreter(OneLaunch({x, index, strided, column, gathered}, body));
}

// Tiles that are written across their vectors go out as rows, with the residual read likewise, and
// as scattered lanes where rows would meet.
TEST(Nests, UnrolledLoopsWriteAcrossVectorisedOnes) {
  for (const int64_t lanes : {4, 8, 16}) {
    for (const int64_t rows : {2, 3, 4, 7, 13}) {
      for (const int64_t vectors : {1, 2}) {
        const Buffer x = Make("x", {3, rows, vectors, lanes}, Role::kInput);
        const Buffer residual = Make("residual", {vectors * lanes, 3 * rows + 1}, Role::kInput);
        const Buffer y = Make("y", {vectors * lanes, 3 * rows + 1}, Role::kOutput);
        const Expr o = Var("o"), r = Var("r"), v = Var("v"), l = Var("l"), c = Var("c");
        const std::vector<Expr> to = {v * lanes + l, o * rows + r};
        Stmt body = Store(y, to, Load(x, {o, r, v, l}) + Load(residual, to));
        body = For(l, 0, lanes, body, LoopKind::kVectorize);
        body = For(r, 0, rows, For(v, 0, vectors, body, LoopKind::kUnroll), LoopKind::kUnroll);
        const Stmt last = For(c, 0, vectors * lanes, Store(y, {c, Expr(3 * rows)}, Zero()));
        ExpectSameAsInterpreter(OneLaunch({x, residual, y}, Seq({For(o, 0, 3, body), last})));
      }
    }
  }
  const Buffer x = Make("x", {4, 8}, Role::kInput);
  const Buffer narrow = Make("narrow", {18}, Role::kOutput);
  const Expr r = Var("r"), l = Var("l");
  const Stmt meet =
      For(r, 0, 4, For(l, 0, 8, Store(narrow, {l * 2 + r}, Load(x, {r, l})), LoopKind::kVectorize),
          LoopKind::kUnroll);
  const Expr z = Var("z");
  ExpectSameAsInterpreter(
      OneLaunch({x, narrow}, Seq({For(z, 0, 18, Store(narrow, {z}, Zero())), meet})));
}

// Every second element of two rows of `channels`, and lanes beyond these.
TEST(Nests, LanesAtKnownPlacesReadPieces) {
  for (const int64_t channels : {1, 2, 3, 4}) {
    const Buffer x = Make("x", {channels, 6, 10}, Role::kInput);
    const Buffer y = Make("y", {3, 5, 16}, Role::kOutput);
    const Expr i = Var("i"), j = Var("j"), l = Var("l");
    const Expr value =
        Load(x, {loop::FloorDiv(l, 4), i * 2 + loop::FloorMod(loop::FloorDiv(l, 2), 2),
                 j * 2 + loop::FloorMod(l, 2)});
    const Stmt body = Store(y, {i, j, l}, loop::Select(loop::Lt(l, channels * 4), value, Zero()));
    ExpectSameAsInterpreter(
        OneLaunch({x, y}, For(i, 0, 3, For(j, 0, 5, For(l, 0, 16, body, LoopKind::kVectorize)))));
  }
}

TEST(Nests, DataDependentBoundsReadRows) {
  Buffer rows = Make("rows", {7}, Role::kInput, "", DataType::kInt32);
  loop::BufferNode node = *rows;
  node.domain_high = 9;
  rows = std::make_shared<loop::BufferNode>(node);
  const Buffer x = Make("x", {9, 16}, Role::kInput);
  const Buffer y = Make("y", {7, 16}, Role::kOutput);
  const Expr r = Var("r"), k = Var("k"), v = Var("v");
  const Expr extent = loop::Cast(DataType::kInt64, Load(rows, {r}));
  const Buffer acc = Inner("acc", {1}, loop::Scope::kRegister);
  const Stmt sum =
      loop::Alloc(acc, Seq({Store(acc, {0}, Zero()),
                            For(k, 0, extent, Store(acc, {0}, Load(acc, {0}) + Load(x, {k, v}))),
                            Store(y, {r, v}, Load(acc, {0}))}));
  ExpectSameAsInterpreter(OneLaunch(
      {rows, x, y}, For(r, 0, 7, For(v, 0, 16, sum, LoopKind::kVectorize), LoopKind::kParallel)));
}

TEST(Nests, LocalBuffersLieInTheScratchOfTheThread) {
  const Buffer x = Make("x", {6, 50}, Role::kInput);
  const Buffer y = Make("y", {6, 50}, Role::kOutput);
  const Buffer tile = Inner("tile", {50}, loop::Scope::kLocal);
  const Buffer small = Inner("small", {3}, loop::Scope::kLocal);
  const Buffer large = Inner("large", {64, 1024}, loop::Scope::kRegister);
  const Expr r = Var("r"), i = Var("i"), j = Var("j"), k = Var("k");
  const Stmt body =
      loop::Alloc(tile, Seq({For(i, 0, 50, Store(tile, {Expr(49) - i}, Load(x, {r, i}))),
                             loop::Alloc(small, For(k, 0, 3, Store(small, {k}, Load(tile, {k})))),
                             loop::Alloc(large, Seq({Store(large, {63, r}, Load(tile, {1})),
                                                     Store(tile, {2}, Load(large, {63, r}))})),
                             For(j, 0, 50, Store(y, {r, j}, Load(tile, {j}) + Load(tile, {0})))}));
  const loop::Nest nest = OneLaunch({x, y}, For(r, 0, 6, body, LoopKind::kParallel));
  ExpectSameAsInterpreter(nest);
  const auto elf = BuildModule(ArtifactOf(nest, TestTarget()));
  ASSERT_TRUE(elf.ok());
  const LoadedModule module(*elf);
  EXPECT_EQ(module->kernels[0].launches[0].scratch_bytes, 256u + 64 * 1024 * 4);
}

// What steps through it starts ahead of the loop that allocates it.
TEST(Nests, InnermostLoopsAllocateInTheScratchOfTheThread) {
  const Buffer x = Make("x", {8}, Role::kInput);
  const Buffer y = Make("y", {8}, Role::kOutput);
  for (const Buffer& t : {Inner("local", {8}, loop::Scope::kLocal),
                          Inner("large", {16, 1100}, loop::Scope::kRegister)}) {
    SCOPED_TRACE(t->name);
    const Expr i = Var("i");
    std::vector<Expr> place(t->shape.size() - 1, Expr(0));
    place.push_back(i);
    const Stmt use = loop::Alloc(
        t, Seq({Store(t, place, Load(x, {i})), Store(y, {i}, Load(t, place) + Load(y, {i}))}));
    ExpectSameAsInterpreter(
        OneLaunch({x, y}, For(i, 0, 8, Seq({Store(y, {i}, Zero()), use, use}))));
  }
}

TEST(Nests, WhileAndIfElseFollowTheirConditions) {
  const Buffer x = Make("x", {16}, Role::kInput);
  const Buffer y = Make("y", {16}, Role::kOutput);
  const Buffer n = Make("n", {16}, Role::kOutput, "", DataType::kInt64);
  const Expr i = Var("i");
  const Stmt body = Seq(
      {Store(n, {i}, Expr(0)), Store(y, {i}, Load(x, {i})),
       loop::While(loop::Lt(Load(n, {i}), i), Seq({Store(n, {i}, Load(n, {i}) + 3),
                                                   Store(y, {i}, Load(y, {i}) + Load(x, {i}))})),
       If(loop::Lt(Load(x, {i}), Zero()), Store(y, {i}, Zero() - Load(y, {i})),
          Store(n, {i}, Load(n, {i}) * 2))});
  for (const LoopKind kind : {LoopKind::kSerial, LoopKind::kVectorize}) {
    ExpectSameAsInterpreter(OneLaunch({x, y, n}, For(i, 0, 16, body, kind)), 1e-5);
  }
}

// What may not be read unless another condition holds is emitted behind it.
TEST(Nests, ManyConditionsInAStatementGuardTheirReads) {
  constexpr int kConditions = 12;
  Buffer places = Make("places", {32}, Role::kInput, "", DataType::kInt32);
  loop::BufferNode node = *places;
  node.domain_high = 15;
  places = std::make_shared<loop::BufferNode>(node);
  const Buffer x = Make("x", {32}, Role::kInput);
  const Buffer y = Make("y", {16}, Role::kOutput);
  const Expr i = Var("i");
  Expr value = Zero();
  for (int k = 0; k < kConditions; ++k) {
    const Expr place = loop::Cast(DataType::kInt64, Load(places, {i + k}));
    const Expr first = loop::Lt(Load(x, {i + k}), loop::FloatConst(0.5, kF32));
    const Expr second = loop::Lt(Load(x, {place}), Zero());
    const Expr condition = k % 3 == 2 ? loop::Or(first, second) : loop::And(first, second);
    value = value + loop::Select(condition, loop::FloatConst(1 << k, kF32), Zero());
  }
  for (const LoopKind kind : {LoopKind::kSerial, LoopKind::kVectorize}) {
    ExpectSameAsInterpreter(OneLaunch({places, x, y}, For(i, 0, 16, Store(y, {i}, value), kind)));
  }
}

TEST(Nests, VectorisedReductionsIntoOnePlaceStayInOrder) {
  const Buffer x = Make("x", {4, 16}, Role::kInput);
  const Buffer y = Make("y", {4}, Role::kOutput);
  const Expr r = Var("r"), v = Var("v");
  const Stmt body =
      Seq({Store(y, {r}, Zero()),
           For(v, 0, 16, Store(y, {r}, Load(y, {r}) + Load(x, {r, v})), LoopKind::kVectorize)});
  ExpectSameAsInterpreter(OneLaunch({x, y}, For(r, 0, 4, body, LoopKind::kParallel)));
}

TEST(Nests, VectorisedBranchesMaskWhatTheySkip) {
  const Buffer x = Make("x", {48}, Role::kInput);
  const Buffer y = Make("y", {48}, Role::kOutput);
  const Expr o = Var("o"), v = Var("v");
  const Expr at = o * 16 + v;
  const Stmt body = If(loop::Lt(Load(x, {at}), Zero()),
                       If(loop::Eq(loop::FloorMod(at, 2), 0),
                          Store(y, {at}, Load(x, {at}) * Load(x, {at})), Store(y, {at}, Zero())),
                       Seq({Store(y, {at}, Load(x, {Expr(47) - at})),
                            Store(y, {at}, Load(y, {at}) + Load(x, {at}))}));
  ExpectSameAsInterpreter(
      OneLaunch({x, y}, For(o, 0, 3, For(v, 0, 16, body, LoopKind::kVectorize))));
}

TEST(Nests, NaiveNestsOfTheBuilderRun) {
  loop::NestBuilder builder("dense_gelu");
  const Buffer data = builder.AddInput("data", kF32, {5, 19});
  const Buffer weight = builder.AddConstant("weight", kF32, {13, 19});
  const Buffer dense =
      builder.Reduce("dense", kF32, {5, 13}, {19}, loop::NestBuilder::Combiner::kAdd, Zero(),
                     [&](const std::vector<Expr>& i, const std::vector<Expr>& r) {
                       return Load(data, {i[0], r[0]}) * Load(weight, {i[1], r[0]});
                     });
  const Buffer top = builder.Reduce("top", kF32, {5}, {13}, loop::NestBuilder::Combiner::kMax,
                                    loop::FloatConst(-1e30, kF32),
                                    [&](const std::vector<Expr>& i, const std::vector<Expr>& r) {
                                      return Load(dense, {i[0], r[0]});
                                    });
  const Buffer gelu = builder.Compute("gelu", kF32, {5, 13}, [&](const std::vector<Expr>& i) {
    const Expr x = Load(dense, i) - Load(top, {i[0]});
    return x * (loop::Unary(loop::UnaryOp::kErf, x) + loop::FloatConst(1, kF32));
  });
  const loop::Nest nest = builder.Finish({gelu, dense});
  ExpectSameAsInterpreter(nest, 1e-5);
  ExpectSameAsInterpreter(nest, 1e-5, "native", "O3");
}

TEST(Nests, RefusesWhatNothingBinds) {
  const Buffer y = Make("y", {4}, Role::kOutput);
  const Buffer stray = Inner("stray", {4}, loop::Scope::kRegister);
  const Expr i = Var("i");
  const auto unbound = BuildModule(ArtifactOf(OneLaunch({y}, Store(y, {i}, Zero())), TestTarget()));
  EXPECT_EQ(unbound.status().code(), absl::StatusCode::kInvalidArgument);
  const auto unallocated =
      BuildModule(ArtifactOf(OneLaunch({y}, Store(y, {0}, Load(stray, {0}))), TestTarget()));
  EXPECT_EQ(unallocated.status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace hone::codegen
