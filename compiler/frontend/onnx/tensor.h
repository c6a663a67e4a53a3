// Reads and writes TensorProto. Only for .cc files of this room: it names ONNX's own types.
#ifndef HONE_COMPILER_FRONTEND_ONNX_TENSOR_H_
#define HONE_COMPILER_FRONTEND_ONNX_TENSOR_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "compiler/frontend/tensor_file.h"

namespace onnx {
class TensorProto;
}

namespace hone::frontend {

// kUnimplemented for types Hone does not have (strings, complex numbers, 4-bit ...).
absl::StatusOr<DataType> FromOnnxType(int onnx_type);
// The same for the name of a type, in capitals or not, as the first opsets write it: "FLOAT".
absl::StatusOr<DataType> FromOnnxTypeName(const std::string& name);
int ToOnnxType(DataType dtype);

// The type whose elements hold 4-bit integers, one in a byte: int8 for int4, uint8 for uint4;
// nullopt for other types.
std::optional<DataType> FourBitIn(int onnx_type);
bool IsFourBit(const onnx::TensorProto& proto);

// The tensor of the proto. 4-bit integers, of which the proto has two in a byte, become int8 or
// uint8. External data must lie within `folder`; if that is empty, they are refused. Raw data are
// moved out of the proto, so that weights are in memory once.
absl::StatusOr<TensorData> FromProto(onnx::TensorProto* proto, const std::string& folder);
void ToProto(const TensorData& tensor, const std::string& name, onnx::TensorProto* proto);

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_ONNX_TENSOR_H_
