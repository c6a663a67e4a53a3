#include "tuner/metrics/metrics_server.h"

#include <fmt/format.h>
#include <prometheus/exposer.h>
#include <prometheus/metric_family.h>

#include <charconv>
#include <exception>
#include <utility>

#include "support/status.h"

namespace hone::tuner {
namespace {

// A slow reader holds one of them, and nothing else of the daemon.
constexpr int kThreads = 2;
constexpr int kMostPort = 65535;

prometheus::MetricType TypeOf(Metric::Type type) {
  switch (type) {
    case Metric::Type::kCounter:
      return prometheus::MetricType::Counter;
    case Metric::Type::kHistogram:
      return prometheus::MetricType::Histogram;
    default:
      return prometheus::MetricType::Gauge;
  }
}

prometheus::ClientMetric::Histogram HistogramOf(const Histogram::Totals& totals) {
  prometheus::ClientMetric::Histogram histogram;
  histogram.sample_count = totals.count;
  histogram.sample_sum = totals.sum;
  uint64_t so_far = 0;
  for (size_t i = 0; i < totals.bounds.size(); ++i) {
    so_far += totals.counts[i];
    histogram.bucket.push_back({so_far, totals.bounds[i]});
  }
  return histogram;
}

prometheus::MetricFamily FamilyOf(const Metric& metric) {
  prometheus::MetricFamily family;
  family.name = metric.name;
  family.help = metric.help;
  family.type = TypeOf(metric.type);
  for (const Metric::Sample& sample : metric.samples) {
    prometheus::ClientMetric of_client;
    for (const auto& [name, value] : sample.labels) of_client.label.push_back({name, value});
    of_client.counter.value = sample.value;
    of_client.gauge.value = sample.value;
    if (metric.type == Metric::Type::kHistogram) {
      of_client.histogram = HistogramOf(sample.histogram);
    }
    family.metric.push_back(std::move(of_client));
  }
  return family;
}

// The HTTP server would listen everywhere where no host is named.
absl::StatusOr<std::string> Listening(const std::string& address) {
  const size_t colon = address.rfind(':');
  const std::string host = colon == std::string::npos ? "" : address.substr(0, colon);
  const std::string port = colon == std::string::npos ? address : address.substr(colon + 1);
  int number = -1;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  const bool is_port = error == std::errc() && end == port.data() + port.size() && number >= 0 &&
                       number <= kMostPort;
  // What the server takes as several addresses, or as options of one.
  if (!is_port || host.find_first_of(", +") != std::string::npos) {
    return absl::InvalidArgumentError(
        fmt::format("expected HOST:PORT for --metrics, such as 127.0.0.1:9464, found {}", address));
  }
  return fmt::format("{}:{}", host.empty() ? "127.0.0.1" : host, number);
}

}  // namespace

class MetricsCollector final : public prometheus::Collectable {
 public:
  explicit MetricsCollector(MetricsServer::Collect collect) : collect_(std::move(collect)) {}

  std::vector<prometheus::MetricFamily> Collect() const override {
    std::vector<prometheus::MetricFamily> families;
    for (const Metric& metric : collect_()) {
      if (!metric.samples.empty()) families.push_back(FamilyOf(metric));
    }
    return families;
  }

 private:
  const MetricsServer::Collect collect_;
};

struct MetricsServer::Impl {
  std::shared_ptr<MetricsCollector> collector;
  std::unique_ptr<prometheus::Exposer> exposer;
};

MetricsServer::MetricsServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

MetricsServer::~MetricsServer() { impl_->exposer.reset(); }

absl::StatusOr<std::unique_ptr<MetricsServer>> MetricsServer::Start(const std::string& address,
                                                                    Collect collect) {
  HONE_ASSIGN_OR_RETURN(const std::string listening, Listening(address));
  auto impl = std::make_unique<Impl>();
  impl->collector = std::make_shared<MetricsCollector>(std::move(collect));
  try {
    impl->exposer = std::make_unique<prometheus::Exposer>(listening, kThreads);
    impl->exposer->RegisterCollectable(impl->collector);
  } catch (const std::exception&) {  // it does not say why
    return absl::UnavailableError(
        fmt::format("cannot serve metrics at {}: is the address this machine's, and the port free?",
                    listening));
  }
  return std::unique_ptr<MetricsServer>(new MetricsServer(std::move(impl)));
}

int MetricsServer::port() const {
  const std::vector<int> ports = impl_->exposer->GetListeningPorts();
  return ports.empty() ? 0 : ports.front();
}

}  // namespace hone::tuner
