// Small TensorFlow graphs for tests.
#ifndef HONE_TESTS_COMPILER_FRONTEND_GRAPH_DEF_MAKER_H_
#define HONE_TESTS_COMPILER_FRONTEND_GRAPH_DEF_MAKER_H_

#include <string>
#include <vector>

#include "compiler/frontend/tensor_file.h"
#include "hone/tensorflow/graph_def.pb.h"

namespace hone::frontend {

// Nodes one after another; an attribute belongs to the node before it.
class GraphDefMaker {
 public:
  // float32, or int32 for `ints`; -1 is an extent that is not known.
  GraphDefMaker& Placeholder(const std::string& name, const std::vector<int64_t>& shape);
  GraphDefMaker& Floats(const std::string& name, const std::vector<int64_t>& shape,
                        const std::vector<float>& values);
  GraphDefMaker& Ints(const std::string& name, const std::vector<int32_t>& values);
  GraphDefMaker& Node(const std::string& op, const std::string& name,
                      const std::vector<std::string>& inputs);
  GraphDefMaker& Attr(const std::string& name, int64_t value);
  GraphDefMaker& Attr(const std::string& name, const std::string& value);
  GraphDefMaker& Flag(const std::string& name, bool value);
  GraphDefMaker& Float(const std::string& name, float value);
  GraphDefMaker& List(const std::string& name, const std::vector<int64_t>& values);
  // Strides and padding of a convolution, or with `taps` of a pool.
  GraphDefMaker& Window(int64_t stride, const std::string& padding, int64_t taps = 0);

  hone::tensorflow::GraphDef& graph() { return graph_; }
  std::string Bytes() const { return graph_.SerializeAsString(); }

 private:
  hone::tensorflow::AttrValue& Last(const std::string& attr);
  hone::tensorflow::TensorProto& Constant(const std::string& name, int dtype,
                                          const std::vector<int64_t>& shape);

  hone::tensorflow::GraphDef graph_;
};

}  // namespace hone::frontend

#endif  // HONE_TESTS_COMPILER_FRONTEND_GRAPH_DEF_MAKER_H_
