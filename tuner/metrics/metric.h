// A metric of a daemon, without regard to how it is sent, which is the metrics server's concern.
#ifndef HONE_TUNER_METRICS_METRIC_H_
#define HONE_TUNER_METRICS_METRIC_H_

#include <string>
#include <utility>
#include <vector>

#include "support/histogram.h"

namespace hone::tuner {

// Names and labels are as Prometheus wants them: base units (seconds, bytes), counters end in
// _total, and each label has few values, whatever clients and workers do.
struct Metric {
  enum class Type { kCounter, kGauge, kHistogram };
  struct Sample {
    std::vector<std::pair<std::string, std::string>> labels;
    double value = 0;
    Histogram::Totals histogram = {};  // of a histogram, instead
  };

  std::string name;
  std::string help;
  Type type = Type::kGauge;
  std::vector<Sample> samples;
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_METRICS_METRIC_H_
