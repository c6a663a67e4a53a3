// Metrics over HTTP, in the text format that Prometheus scrapes.
#ifndef HONE_TUNER_METRICS_METRICS_SERVER_H_
#define HONE_TUNER_METRICS_METRICS_SERVER_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tuner/metrics/metric.h"

namespace hone::tuner {

// GET /metrics, without authentication: who may reach the address may read. Until it is destroyed.
class MetricsServer {
 public:
  using Collect = std::function<std::vector<Metric>()>;

  // `address`: HOST:PORT; without a host the loopback's. Port 0: any that is free. `collect` is
  // called at each scrape, on a thread of the server. kInvalidArgument for no address,
  // kUnavailable where it cannot be served.
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
