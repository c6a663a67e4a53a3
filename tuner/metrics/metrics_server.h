// Serves metrics over HTTP, in the text format that Prometheus scrapes.
#ifndef HONE_TUNER_METRICS_METRICS_SERVER_H_
#define HONE_TUNER_METRICS_METRICS_SERVER_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tuner/metrics/metric.h"

namespace hone::tuner {

// Answers GET /metrics until it is destroyed, without authentication: whoever can reach the address
// may read.
class MetricsServer {
 public:
  using Collect = std::function<std::vector<Metric>()>;

  // `address` is HOST:PORT; without a host it is the loopback's, and port 0 is any free one.
  // `collect` is called at each scrape, on a thread of the server. kInvalidArgument for a text that
  // is not an address, kUnavailable where it cannot be served.
  static absl::StatusOr<std::unique_ptr<MetricsServer>> Start(const std::string& address,
                                                              Collect collect);
  ~MetricsServer();
  MetricsServer(const MetricsServer&) = delete;
  MetricsServer& operator=(const MetricsServer&) = delete;

  int port() const;

 private:
  struct Impl;
  explicit MetricsServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_METRICS_METRICS_SERVER_H_
