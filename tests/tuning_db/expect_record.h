// What was measured, field by field.
#ifndef HONE_TESTS_TUNING_DB_EXPECT_RECORD_H_
#define HONE_TESTS_TUNING_DB_EXPECT_RECORD_H_

#include <gtest/gtest.h>

#include "tuning_db/types.h"

namespace hone::tuning_db {

inline void ExpectSameMeasurement(const Record& read, const Record& record) {
  EXPECT_EQ(read.outcome, record.outcome);
  EXPECT_EQ(read.message, record.message);
  EXPECT_EQ(read.samples_ns, record.samples_ns) << "bit for bit";
  EXPECT_EQ(read.median_ns, record.median_ns);
  EXPECT_EQ(read.calibrator_ns, record.calibrator_ns);
  EXPECT_EQ(read.anchor_ns, record.anchor_ns);
  EXPECT_EQ(read.error_ratio, record.error_ratio);
  EXPECT_EQ(read.artifact_digest, record.artifact_digest);
  EXPECT_EQ(read.toolchain, record.toolchain);
  EXPECT_EQ(read.device, record.device);
  EXPECT_EQ(read.regime, record.regime);
  EXPECT_EQ(read.worker, record.worker);
  EXPECT_EQ(read.wall_time_ns, record.wall_time_ns);
}

}  // namespace hone::tuning_db

#endif  // HONE_TESTS_TUNING_DB_EXPECT_RECORD_H_
