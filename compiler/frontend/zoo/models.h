// The builders of the zoo, one file each; zoo.cc lists them.
#ifndef HONE_COMPILER_FRONTEND_ZOO_MODELS_H_
#define HONE_COMPILER_FRONTEND_ZOO_MODELS_H_

#include "compiler/frontend/zoo/net_builder.h"

namespace hone::frontend {

// Each returns the output; the input is made with `net`.
ir::Expr BuildMlp(NetBuilder& net, int64_t batch);
ir::Expr BuildResnet18(NetBuilder& net, int64_t batch);
ir::Expr BuildResnet50(NetBuilder& net, int64_t batch);
ir::Expr BuildMobilenet(NetBuilder& net, int64_t batch);
ir::Expr BuildSqueezenet(NetBuilder& net, int64_t batch);

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_ZOO_MODELS_H_
