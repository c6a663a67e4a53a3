#include "compiler/frontend/pb_model.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include "compiler/frontend/file.h"
#include "compiler/frontend/tensorflow/import.h"
#include "support/status.h"

namespace hone::frontend {

bool LooksLikeOnnx(std::string_view bytes) {
  using google::protobuf::internal::WireFormatLite;
  constexpr int kGraphField = 7;
  google::protobuf::io::CodedInputStream stream(reinterpret_cast<const uint8_t*>(bytes.data()),
                                                static_cast<int>(bytes.size()));
  while (const uint32_t tag = stream.ReadTag()) {
    const bool is_graph =
        WireFormatLite::GetTagFieldNumber(tag) == kGraphField &&
        WireFormatLite::GetTagWireType(tag) == WireFormatLite::WIRETYPE_LENGTH_DELIMITED;
    if (is_graph) return true;
    if (!WireFormatLite::SkipField(&stream, tag)) return false;
  }
  return false;
}

absl::StatusOr<ir::Module> ImportPb(const std::string& path, const ImportOptions& options) {
  bool onnx = false;
  {
    HONE_ASSIGN_OR_RETURN(const std::string bytes, ReadWholeFile(path));
    onnx = LooksLikeOnnx(bytes);
  }
  return onnx ? ImportOnnx(path, options) : ImportTensorflow(path, options);
}

absl::StatusOr<ir::Module> ImportPbBytes(std::string_view bytes, const ImportOptions& options) {
  return LooksLikeOnnx(bytes) ? ImportOnnxBytes(bytes, options)
                              : ImportTensorflowBytes(bytes, options);
}

}  // namespace hone::frontend
