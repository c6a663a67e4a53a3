// Small ONNX models for tests.
#ifndef HONE_TESTS_COMPILER_FRONTEND_ONNX_MAKER_H_
#define HONE_TESTS_COMPILER_FRONTEND_ONNX_MAKER_H_

#include <memory>
#include <string>
#include <vector>

#include "compiler/frontend/onnx/tensor.h"

namespace onnx {
class AttributeProto;
class ModelProto;
}  // namespace onnx

namespace hone::frontend {

TensorData FloatTensor(std::vector<int64_t> shape, const std::vector<float>& values);
TensorData IntTensor(std::vector<int64_t> shape, const std::vector<int64_t>& values);
std::vector<float> Floats(const TensorData& tensor);
// Those of int64.
std::vector<int64_t> Ints(const TensorData& tensor);

// Every method returns *this, so that a model is one expression. Copies share the model.
class OnnxMaker {
 public:
  explicit OnnxMaker(int opset = 13);

  // An extent of -1 is symbolic, with the name "N".
  OnnxMaker& Input(const std::string& name, const std::vector<int64_t>& shape,
                   DataType dtype = DataType::kFloat32);
  OnnxMaker& Output(const std::string& name);
  OnnxMaker& Initializer(const std::string& name, const TensorData& tensor);
  // An operator of another domain stands behind it: "com.microsoft.QGemm". Attributes are added to
  // the node last made.
  OnnxMaker& Node(const std::string& op, const std::vector<std::string>& inputs,
                  const std::vector<std::string>& outputs);
  OnnxMaker& Int(const std::string& name, int64_t value);
  OnnxMaker& Ints(const std::string& name, const std::vector<int64_t>& values);
  OnnxMaker& Float(const std::string& name, float value);
  OnnxMaker& String(const std::string& name, const std::string& value);
  OnnxMaker& Graph(const std::string& name, const OnnxMaker& body);

  onnx::ModelProto& proto() { return *model_; }
  std::string Bytes() const;

 private:
  onnx::AttributeProto* Attribute(const std::string& name, int type);

  std::shared_ptr<onnx::ModelProto> model_;
};

}  // namespace hone::frontend

#endif  // HONE_TESTS_COMPILER_FRONTEND_ONNX_MAKER_H_
