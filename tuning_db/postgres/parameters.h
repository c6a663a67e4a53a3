// The values bound to the parameters of a statement.
#ifndef HONE_TUNING_DB_POSTGRES_PARAMETERS_H_
#define HONE_TUNING_DB_POSTGRES_PARAMETERS_H_

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace hone::tuning_db::postgres {

// A digest in hexadecimal, to be bound as its bytes.
struct Digest {
  std::string_view text;
};
// For a column of bytes, of any value.
struct Bytes {
  std::string_view bytes;
};

// Integers, enums, truth values, doubles (NaN as NULL), texts, bytes, vectors of doubles (as their
// bytes), digests, lists of integers, and optionals of these (nullopt as NULL).
class Parameters {
 public:
  template <std::integral Value>
  void Add(Value value) {
    AddText(std::to_string(value));
  }
  void Add(bool value) { AddText(value ? "t" : "f"); }
  template <typename Value>
    requires std::is_enum_v<Value>
  void Add(Value value) {
    Add(static_cast<int64_t>(value));
  }
  template <typename Value>
  void Add(const std::optional<Value>& value) {
    value ? Add(*value) : AddNull();
  }
  void Add(double value);
  // Texts are bound in binary form, since a zero byte would end one in text form.
  void Add(std::string_view text) { AddBinary(text); }
  void Add(const std::string& text) { AddBinary(text); }
  void Add(const char* text) { AddBinary(text); }
  void Add(const Bytes& bytes) { AddBinary(bytes.bytes); }
  void Add(const Digest& digest);
  void Add(const std::vector<double>& values);
  void Add(const std::vector<int64_t>& values);

  int size() const { return static_cast<int>(values_.size()); }
  // The arguments of PQexecPrepared. They point into this object.
  std::vector<const char*> Values() const;
  std::vector<int> Lengths() const;
  std::vector<int> Formats() const;

 private:
  struct Value {
    std::string bytes;
    bool is_null = false;
    bool is_binary = false;
  };
  void AddText(std::string text) { values_.push_back({std::move(text), false, false}); }
  void AddBinary(std::string_view bytes) { values_.push_back({std::string(bytes), false, true}); }
  void AddNull() { values_.push_back({"", true, false}); }

  std::vector<Value> values_;
};

}  // namespace hone::tuning_db::postgres

#endif  // HONE_TUNING_DB_POSTGRES_PARAMETERS_H_
