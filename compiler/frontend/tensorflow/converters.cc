#include "compiler/frontend/tensorflow/converters.h"

namespace hone::frontend::tf {
namespace {

ConverterTable BuildTable() {
  ConverterTable table;
  AddConstantConverters(table);
  AddConvConverters(table);
  AddElementwiseConverters(table);
  AddMatmulConverters(table);
  AddNormalizationConverters(table);
  AddPoolConverters(table);
  AddReduceConverters(table);
  AddShapeConverters(table);
  AddSliceConverters(table);
  return table;
}

}  // namespace

const ConverterTable& Converters() {
  static const auto* const table = new ConverterTable(BuildTable());
  return *table;
}

}  // namespace hone::frontend::tf
