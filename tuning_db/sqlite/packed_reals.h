// Packs doubles that are near each other (the samples of a record) into fewer bytes without loss.
//
// The format, in little-endian order: one byte that says how many high bytes all values share; the
// first value; the remaining low bytes of each other value. No values take no bytes.
#ifndef HONE_TUNING_DB_SQLITE_PACKED_REALS_H_
#define HONE_TUNING_DB_SQLITE_PACKED_REALS_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hone::tuning_db::sqlite {

std::string PackReals(const std::vector<double>& values);
// nullopt if PackReals did not write the bytes.
std::optional<std::vector<double>> UnpackReals(std::string_view bytes);

}  // namespace hone::tuning_db::sqlite

#endif  // HONE_TUNING_DB_SQLITE_PACKED_REALS_H_
