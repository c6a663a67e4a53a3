// Which vectorised loops can be vectors.
#ifndef HONE_COMPILER_LOWER_LANES_H_
#define HONE_COMPILER_LOWER_LANES_H_

#include "compiler/loop/stmt.h"

namespace hone::lower {

// Makes serial loops of vectorised ones whose lanes cannot go together: inner loops that run
// differently from lane to lane, other vectorised loops within, stores of all lanes to one place.
loop::Stmt SerialiseLanesApart(const loop::Stmt& body);

}  // namespace hone::lower

#endif  // HONE_COMPILER_LOWER_LANES_H_
