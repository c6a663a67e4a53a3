// Figures that lie near each other (the samples of a record), in fewer bytes and without loss.
//
// A byte that says how many high bytes every figure shares with the first; the first figure; of
// each other one its remaining low bytes. Bytes go from the low to the high. No figures: no bytes.
#ifndef HONE_TUNING_DB_SQLITE_PACKED_REALS_H_
#define HONE_TUNING_DB_SQLITE_PACKED_REALS_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hone::tuning_db::sqlite {

std::string PackReals(const std::vector<double>& values);
// Nothing for bytes that PackReals does not give.
std::optional<std::vector<double>> UnpackReals(std::string_view bytes);

}  // namespace hone::tuning_db::sqlite

#endif  // HONE_TUNING_DB_SQLITE_PACKED_REALS_H_
