// Where a daemon is: a path, or a join string, as somebody pasted it.
#include "tests/fuzz/fuzz_input.h"
#include "transport/server_address.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hone;
  const std::string text(fuzz::Text(data, size));
  const auto address = ParseServerAddress(text);
  if (!address.ok()) return 0;
  if (address->host_port.empty()) {
    fuzz::Require(!address->socket.empty(), "an address names a socket or a host");
    return 0;
  }
  const auto again = ParseServerAddress(JoinString(*address));
  fuzz::Require(again.ok() && JoinString(*again) == JoinString(*address),
                "a join string reads as the same address");
  return 0;
}
