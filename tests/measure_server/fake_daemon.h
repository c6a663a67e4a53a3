// A daemon that a test drives by hand: a gRPC server on a Unix socket.
#ifndef HONE_TESTS_MEASURE_SERVER_FAKE_DAEMON_H_
#define HONE_TESTS_MEASURE_SERVER_FAKE_DAEMON_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "hone/v1/farm.pb.h"

namespace hone::measure {

// Serves artifacts and welcomes by itself; everything else is the test's to read and to say.
class FakeDaemon {
 public:
  // It speaks one version of the protocol.
  explicit FakeDaemon(const std::string& address, uint32_t protocol = 2);
  // Cancels the streams that are up.
  ~FakeDaemon();
  FakeDaemon(const FakeDaemon&) = delete;
  FakeDaemon& operator=(const FakeDaemon&) = delete;

  // Returns its digest.
  std::string AddArtifact(const std::string& bytes);
  // The next message of a kind that is not answered here; none after ten seconds.
  std::optional<hone::v1::WorkRequest> Receive();
  // Skips all others.
  template <typename Has>
  std::optional<hone::v1::WorkRequest> ReceiveWhere(Has has) {
    while (auto message = Receive()) {
      if (has(*message)) return message;
    }
    return std::nullopt;
  }
  void Send(const hone::v1::WorkResponse& message);
  // Later streams are not welcomed.
  void BeMute();
  // What the next Welcome names. This daemon sends no heartbeats.
  void SetHeartbeats(int64_t interval_ns, int64_t silence_limit_ns);
  // The next streams end with that status.
  void Refuse(const absl::Status& status);
  int refused() const;

 private:
  class Service;
  std::unique_ptr<Service> service_;
};

}  // namespace hone::measure

#endif  // HONE_TESTS_MEASURE_SERVER_FAKE_DAEMON_H_
