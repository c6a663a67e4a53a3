// The converters of ONNX operators: one file a family, each adding its operators to the table.
#ifndef HONE_COMPILER_FRONTEND_ONNX_CONVERTERS_H_
#define HONE_COMPILER_FRONTEND_ONNX_CONVERTERS_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/frontend/onnx/graph_builder.h"

namespace hone::frontend {

// The node's outputs, in order; trailing ones that the node does not name may be left out.
using Converter = std::function<absl::StatusOr<std::vector<ir::Expr>>(NodeReader& node)>;
using ConverterTable = std::map<std::string, Converter>;

// The converters by operator name, which stands behind its domain if that is not ONNX's own:
// "com.microsoft.QGemm". The table is built once; thread-safe.
const ConverterTable& Converters();

void AddActivationConverters(ConverterTable& table);
void AddConvConverters(ConverterTable& table);
void AddDeformConvConverters(ConverterTable& table);
void AddPoolConverters(ConverterTable& table);
void AddMatmulConverters(ConverterTable& table);
void AddMicrosoftQuantizedConverters(ConverterTable& table);  // after the quantised ones
void AddNormalizationConverters(ConverterTable& table);
void AddElementwiseConverters(ConverterTable& table);
void AddEinsumConverters(ConverterTable& table);
void AddLogicConverters(ConverterTable& table);
void AddQuantizedConverters(ConverterTable& table);
void AddReduceConverters(ConverterTable& table);
void AddRowNormalizationConverters(ConverterTable& table);
void AddShapeConverters(ConverterTable& table);
void AddSliceConverters(ConverterTable& table);
void AddConstantConverters(ConverterTable& table);
void AddDynamicConverters(ConverterTable& table);
void AddRecurrentConverters(ConverterTable& table);
void AddSampleConverters(ConverterTable& table);
void AddConvTransposeConverters(ConverterTable& table);
void AddUnpoolConverters(ConverterTable& table);
void AddResizeConverters(ConverterTable& table);
void AddArrangeConverters(ConverterTable& table);
void AddGatherConverters(ConverterTable& table);
void AddGenerateConverters(ConverterTable& table);
void AddLossConverters(ConverterTable& table);
void AddSequenceConverters(ConverterTable& table);
void AddSignalConverters(ConverterTable& table);
void AddFourierConverters(ConverterTable& table);
void AddTfIdfConverters(ConverterTable& table);
void AddRandomConverters(ConverterTable& table);
void AddExperimentalConverters(ConverterTable& table);
void AddAttentionConverters(ConverterTable& table);
void AddCacheConverters(ConverterTable& table);
void AddCausalConvConverters(ConverterTable& table);
void AddChannelsLastConverters(ConverterTable& table);
void AddCumProdConverters(ConverterTable& table);
void AddDynamicQuantizeLstmConverters(ConverterTable& table);
void AddGatedActivationConverters(ConverterTable& table);
void AddGroupQueryAttentionConverters(ConverterTable& table);
void AddIntegerProductConverters(ConverterTable& table);
void AddLinearAttentionConverters(ConverterTable& table);
void AddMatMulNBitsConverters(ConverterTable& table);
void AddMicrosoftAttentionConverters(ConverterTable& table);
void AddMicrosoftFusedConverters(ConverterTable& table);
void AddMicrosoftGeluConverters(ConverterTable& table);
void AddMicrosoftNameConverters(ConverterTable& table);  // after those of ONNX
void AddRotaryConverters(ConverterTable& table);
void AddSkipNormalizationConverters(ConverterTable& table);

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_ONNX_CONVERTERS_H_
