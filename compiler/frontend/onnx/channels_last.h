// Images with their channels last, as some operators of com.microsoft have them: ONNX's converters
// see them with their channels first.
#ifndef HONE_COMPILER_FRONTEND_ONNX_CHANNELS_LAST_H_
#define HONE_COMPILER_FRONTEND_ONNX_CHANNELS_LAST_H_

#include "compiler/frontend/onnx/formula.h"

namespace hone::frontend {

// (batch, positions..., channels) as (batch, channels, positions...), and the way back.
ir::Expr ChannelsToFront(Formula& f, const ir::Expr& x);
ir::Expr ChannelsToBack(Formula& f, const ir::Expr& x);

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_ONNX_CHANNELS_LAST_H_
