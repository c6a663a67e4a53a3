// The converters of TensorFlow's operators: one file a family, each adding its operators to the
// table.
#ifndef HONE_COMPILER_FRONTEND_TENSORFLOW_CONVERTERS_H_
#define HONE_COMPILER_FRONTEND_TENSORFLOW_CONVERTERS_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/frontend/tensorflow/node_reader.h"

namespace hone::frontend::tf {

// The node's outputs, in order; ones that Hone does not compute may be left out at the end.
using Results = absl::StatusOr<std::vector<Value>>;
using Converter = std::function<Results(NodeReader& node)>;
using ConverterTable = std::map<std::string, Converter>;

// The converters by operator name. The table is built once; thread-safe.
const ConverterTable& Converters();

void AddConstantConverters(ConverterTable& table);
void AddConv3DConverters(ConverterTable& table);
void AddConvConverters(ConverterTable& table);
void AddConvTransposeConverters(ConverterTable& table);
void AddElementwiseConverters(ConverterTable& table);
void AddGenerateConverters(ConverterTable& table);
void AddMatmulConverters(ConverterTable& table);
void AddNormalizationConverters(ConverterTable& table);
void AddPoolConverters(ConverterTable& table);
void AddReduceConverters(ConverterTable& table);
void AddResizeConverters(ConverterTable& table);
void AddShapeConverters(ConverterTable& table);
void AddSliceConverters(ConverterTable& table);
void AddSpaceBatchConverters(ConverterTable& table);
void AddSplitConverters(ConverterTable& table);

// One output: with its axes as TensorFlow has them unless `channels_first`; or the error of making
// it.
inline Results One(absl::StatusOr<ir::Expr> e, bool channels_first = false) {
  if (!e.ok()) return std::move(e).status();
  return std::vector<Value>{{*std::move(e), channels_first}};
}

}  // namespace hone::frontend::tf

#endif  // HONE_COMPILER_FRONTEND_TENSORFLOW_CONVERTERS_H_
