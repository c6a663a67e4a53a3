// Moves the channels of images, which some operators of com.microsoft have last and the converters
// of ONNX's operators take first.
#ifndef HONE_COMPILER_FRONTEND_ONNX_CHANNELS_LAST_H_
#define HONE_COMPILER_FRONTEND_ONNX_CHANNELS_LAST_H_

#include "compiler/frontend/onnx/formula.h"

namespace hone::frontend {

// ChannelsToFront gives (batch, positions..., channels) as (batch, channels, positions...), and
// ChannelsToBack is its inverse.
ir::Expr ChannelsToFront(Formula& f, const ir::Expr& x);
ir::Expr ChannelsToBack(Formula& f, const ir::Expr& x);

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_ONNX_CHANNELS_LAST_H_
