#include "compiler/frontend/onnx/converters.h"

namespace hone::frontend {
namespace {

ConverterTable BuildTable() {
  ConverterTable table;
  AddActivationConverters(table);
  AddConvConverters(table);
  AddDeformConvConverters(table);
  AddPoolConverters(table);
  AddMatmulConverters(table);
  AddNormalizationConverters(table);
  AddElementwiseConverters(table);
  AddEinsumConverters(table);
  AddLogicConverters(table);
  AddQuantizedConverters(table);
  AddMicrosoftQuantizedConverters(table);
  AddReduceConverters(table);
  AddRowNormalizationConverters(table);
  AddShapeConverters(table);
  AddSliceConverters(table);
  AddConstantConverters(table);
  AddDynamicConverters(table);
  AddRecurrentConverters(table);
  AddSampleConverters(table);
  AddConvTransposeConverters(table);
  AddUnpoolConverters(table);
  AddResizeConverters(table);
  AddArrangeConverters(table);
  AddGatherConverters(table);
  AddGenerateConverters(table);
  AddLossConverters(table);
  AddSequenceConverters(table);
  AddSignalConverters(table);
  AddFourierConverters(table);
  AddTfIdfConverters(table);
  AddRandomConverters(table);
  AddExperimentalConverters(table);
  AddAttentionConverters(table);
  AddCacheConverters(table);
  AddCausalConvConverters(table);
  AddChannelsLastConverters(table);
  AddCumProdConverters(table);
  AddDynamicQuantizeLstmConverters(table);
  AddGatedActivationConverters(table);
  AddGroupQueryAttentionConverters(table);
  AddIntegerProductConverters(table);
  AddLinearAttentionConverters(table);
  AddMatMulNBitsConverters(table);
  AddMicrosoftAttentionConverters(table);
  AddMicrosoftFusedConverters(table);
  AddMicrosoftGeluConverters(table);
  AddMicrosoftNameConverters(table);
  AddRotaryConverters(table);
  AddSkipNormalizationConverters(table);
  return table;
}

}  // namespace

const ConverterTable& Converters() {
  static const auto* const table = new ConverterTable(BuildTable());
  return *table;
}

}  // namespace hone::frontend
