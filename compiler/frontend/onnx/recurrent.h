// The converter of ONNX's recurrent operators, for those that are made of one.
#ifndef HONE_COMPILER_FRONTEND_ONNX_RECURRENT_H_
#define HONE_COMPILER_FRONTEND_ONNX_RECURRENT_H_

#include "compiler/frontend/onnx/results.h"

namespace hone::frontend {

// An LSTM with the operands and attributes of `node`, whose hidden state is rounded to
// bytes, each sequence's by its own range, before each product.
Results ConvertLstmOfBytes(NodeReader& node);

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_ONNX_RECURRENT_H_
