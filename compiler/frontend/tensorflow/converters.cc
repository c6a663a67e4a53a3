#include "compiler/frontend/tensorflow/converters.h"

namespace hone::frontend::tf {
namespace {

ConverterTable BuildTable() {
  ConverterTable table;
  AddConstantConverters(table);
  AddConv3DConverters(table);
  AddConvConverters(table);
  AddConvTransposeConverters(table);
  AddElementwiseConverters(table);
  AddGenerateConverters(table);
  AddMatmulConverters(table);
  AddNormalizationConverters(table);
  AddPoolConverters(table);
  AddReduceConverters(table);
  AddResizeConverters(table);
  AddShapeConverters(table);
  AddSliceConverters(table);
  AddSpaceBatchConverters(table);
  AddSplitConverters(table);
  return table;
}

}  // namespace

const ConverterTable& Converters() {
  static const auto* const table = new ConverterTable(BuildTable());
  return *table;
}

}  // namespace hone::frontend::tf
