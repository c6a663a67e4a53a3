// The converter of LSTM, for operators that are defined by it.
#ifndef HONE_COMPILER_FRONTEND_ONNX_RECURRENT_H_
#define HONE_COMPILER_FRONTEND_ONNX_RECURRENT_H_

#include "compiler/frontend/onnx/results.h"

namespace hone::frontend {

// An LSTM with the operands and attributes of `node`. Before each product the hidden state is
// rounded to what bytes can hold: that of each sequence by the range of its own values.
Results ConvertLstmOfBytes(NodeReader& node);

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_ONNX_RECURRENT_H_
