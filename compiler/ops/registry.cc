#include <map>

#include "compiler/ops/families.h"
#include "compiler/ops/op.h"

namespace hone::ops {
namespace {

// An explicit list, so that no operator depends on the linker keeping a static initialiser.
std::map<std::string, Op, std::less<>> BuildTable() {
  std::vector<Op> ops;
  RegisterArgReduce(ops);
  RegisterConv(ops);
  RegisterCumsum(ops);
  RegisterDense(ops);
  RegisterBiasAdd(ops);
  RegisterBatchNorm(ops);
  RegisterUnary(ops);
  RegisterBinary(ops);
  RegisterPool(ops);
  RegisterSoftmax(ops);
  RegisterReduce(ops);
  RegisterReshape(ops);
  RegisterTranspose(ops);
  RegisterConcatenate(ops);
  RegisterSlice(ops);
  RegisterPad(ops);
  RegisterTake(ops);
  RegisterCast(ops);
  RegisterDet(ops);
  RegisterEinsum(ops);
  RegisterKeepBoxes(ops);
  RegisterLayerNorm(ops);
  RegisterLrn(ops);
  RegisterRoiAlign(ops);
  RegisterRoiPool(ops);
  RegisterDeformableColumns(ops);
  RegisterGridSample(ops);
  RegisterCol2Im(ops);
  RegisterConvTranspose(ops);
  RegisterLpPool(ops);
  RegisterMaxPoolIndices(ops);
  RegisterMultiplyAdd(ops);
  RegisterRecurrent(ops);
  RegisterResample(ops);
  RegisterGather(ops);
  RegisterOneHot(ops);
  RegisterReverseSequence(ops);
  RegisterScaledDense(ops);
  RegisterScatter(ops);
  RegisterSparseDense(ops);
  RegisterTrilu(ops);
  RegisterTile(ops);
  RegisterTopK(ops);
  RegisterQnnProduct(ops);
  RegisterQnnScale(ops);

  std::map<std::string, Op, std::less<>> table;
  for (Op& op : ops) table.emplace(op.name, std::move(op));
  return table;
}

const std::map<std::string, Op, std::less<>>& Table() {
  static const auto* const table = new std::map<std::string, Op, std::less<>>(BuildTable());
  return *table;
}

}  // namespace

const Op* FindOp(std::string_view name) {
  const auto it = Table().find(name);
  return it == Table().end() ? nullptr : &it->second;
}

std::vector<std::string> OpNames() {
  std::vector<std::string> names;
  for (const auto& [name, op] : Table()) names.push_back(name);
  return names;
}

}  // namespace hone::ops
