#include "tuner/builder/test_fault.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace hone::tuner {

void InjectFault(const hone::v1::BuildRequest& request) {
  const char* fault = std::getenv("HONE_BUILDER_FAULT");
  if (!fault) return;
  if (fault == fmt::format("crash:{}", request.id())) raise(SIGSEGV);
  while (fault == fmt::format("hang:{}", request.id())) pause();
}

}  // namespace hone::tuner
