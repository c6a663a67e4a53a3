// The operator families. Each has a file with one function that adds its operators to the table.
#ifndef HONE_COMPILER_OPS_FAMILIES_H_
#define HONE_COMPILER_OPS_FAMILIES_H_

#include <vector>

#include "compiler/ops/op.h"

namespace hone::ops {

void RegisterArgReduce(std::vector<Op>& table);
void RegisterConv(std::vector<Op>& table);
void RegisterCumsum(std::vector<Op>& table);
void RegisterDense(std::vector<Op>& table);
void RegisterBiasAdd(std::vector<Op>& table);
void RegisterBatchNorm(std::vector<Op>& table);
void RegisterUnary(std::vector<Op>& table);
void RegisterBinary(std::vector<Op>& table);
void RegisterPool(std::vector<Op>& table);
void RegisterSoftmax(std::vector<Op>& table);
void RegisterReduce(std::vector<Op>& table);
void RegisterReshape(std::vector<Op>& table);
void RegisterTranspose(std::vector<Op>& table);
void RegisterConcatenate(std::vector<Op>& table);
void RegisterSlice(std::vector<Op>& table);
void RegisterPad(std::vector<Op>& table);
void RegisterTake(std::vector<Op>& table);
void RegisterCast(std::vector<Op>& table);
void RegisterDet(std::vector<Op>& table);
void RegisterEinsum(std::vector<Op>& table);
void RegisterKeepBoxes(std::vector<Op>& table);
void RegisterLayerNorm(std::vector<Op>& table);
void RegisterLrn(std::vector<Op>& table);
void RegisterCol2Im(std::vector<Op>& table);
void RegisterConvTranspose(std::vector<Op>& table);
void RegisterGather(std::vector<Op>& table);
void RegisterGridSample(std::vector<Op>& table);
void RegisterLpPool(std::vector<Op>& table);
void RegisterMaxPoolIndices(std::vector<Op>& table);
void RegisterMultiplyAdd(std::vector<Op>& table);
void RegisterOneHot(std::vector<Op>& table);
void RegisterRecurrent(std::vector<Op>& table);
void RegisterResample(std::vector<Op>& table);
void RegisterReverseSequence(std::vector<Op>& table);
void RegisterRoiAlign(std::vector<Op>& table);
void RegisterRoiPool(std::vector<Op>& table);
void RegisterDeformableColumns(std::vector<Op>& table);
void RegisterScaledDense(std::vector<Op>& table);
void RegisterScatter(std::vector<Op>& table);
void RegisterSparseDense(std::vector<Op>& table);
void RegisterTile(std::vector<Op>& table);
void RegisterTopK(std::vector<Op>& table);
void RegisterTrilu(std::vector<Op>& table);
void RegisterQnnProduct(std::vector<Op>& table);
void RegisterQnnScale(std::vector<Op>& table);

}  // namespace hone::ops

#endif  // HONE_COMPILER_OPS_FAMILIES_H_
