#include "compiler/schedule/price/reading.h"

#include <algorithm>

namespace hone::schedule {
namespace {

// The longer, and the part of the shorter that it does not hide.
double Overlapped(double computing, double reading, double waits) {
  return std::max(computing, reading) + waits * std::min(computing, reading);
}

}  // namespace

double CoreReads::CyclesOf(int64_t bytes) const {
  const double rate =
      bytes <= memory_->l2.size_bytes ? memory_->l2.read_bytes_a_cycle : StreamRate();
  return static_cast<double>(bytes) / rate;
}

double CoreReads::CyclesAgain(int64_t bytes, int64_t among) const {
  if (2 * among <= memory_->l1.size_bytes) return 0;
  const bool in_l2 = 2 * among <= memory_->l2.size_bytes;
  return static_cast<double>(bytes) / (in_l2 ? memory_->l2.read_bytes_a_cycle : StreamRate());
}

double CoreReads::BlockRate(int64_t bytes) const {
  if (bytes <= memory_->l2.size_bytes) return memory_->l2.read_bytes_a_cycle;
  const bool in_last = 8 * bytes <= memory_->l3.size_bytes;
  return in_last ? StreamRate() : std::min(StreamRate(), memory_->dram.read_bytes_a_cycle);
}

double WhileReading(double computing, double reading, double not_ahead) {
  constexpr double kWaits = 0.35;  // for what comes in time on average
  return Overlapped(computing, reading, kWaits + (1 - kWaits) * not_ahead);
}

double WhilePrefetching(double computing, double reading) {
  constexpr double kWaits = 0.1;
  return Overlapped(computing, reading, kWaits);
}

}  // namespace hone::schedule
