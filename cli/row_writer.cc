#include "cli/row_writer.h"

#include <map>
#include <utility>

#include "CLI/CLI.hpp"
#include "cli/json_document.h"
#include "cli/printable.h"
#include "fmt/format.h"

namespace hone::cli {
namespace {

std::string LineOf(const nlohmann::json& value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string FieldOf(const nlohmann::json& value) {
  if (value.is_null()) return "";
  if (!value.is_string()) return LineOf(value);
  const std::string text = ToUtf8(value.get<std::string>());
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

}  // namespace

void FormatFlags::AddTo(CLI::App& verb) {
  static const std::map<std::string, Format> kFormats = {{"text", Format::kText},
                                                         {"json", Format::kJson},
                                                         {"lines", Format::kLines},
                                                         {"csv", Format::kCsv}};
  CLI::Option* json = verb.add_flag_callback(
      "--json", [this] { format = Format::kJson; }, "Prints one JSON document");
  verb.add_option("--format", format, "text, json (one document), lines (one a row) or csv")
      ->transform(CLI::CheckedTransformer(kFormats))
      ->option_text("FORMAT")
      ->excludes(json);
}

RowWriter::RowWriter(Format format, std::string name, std::vector<std::string> columns,
                     std::string head, Text text)
    : format_(format),
      name_(std::move(name)),
      columns_(std::move(columns)),
      head_(std::move(head)),
      text_(std::move(text)) {}

void RowWriter::Begin() {
  if (rows_ >= 0) return;
  rows_ = 0;
  if (format_ == Format::kJson) fmt::print("{{\"schema\": 1, {}: [", LineOf(name_));
  if (format_ == Format::kText && !head_.empty()) fmt::print("{}\n", head_);
  if (format_ == Format::kCsv) fmt::print("{}\n", fmt::join(columns_, ","));
}

void RowWriter::Write(const nlohmann::json& row) {
  Begin();
  switch (format_) {
    case Format::kJson:
      fmt::print("{}\n{}", rows_ == 0 ? "" : ",", DocumentText(row));
      break;
    case Format::kLines:
      fmt::print("{}\n", LineOf(row));
      break;
    case Format::kCsv: {
      std::vector<std::string> fields;
      for (const std::string& column : columns_) fields.push_back(FieldOf(row.at(column)));
      fmt::print("{}\n", fmt::join(fields, ","));
      break;
    }
    case Format::kText:
      fmt::print("{}\n", text_(row));
      break;
  }
  ++rows_;
}

void RowWriter::Finish(const nlohmann::json& beside) {
  Begin();
  if (format_ != Format::kJson) return;
  fmt::print("]");
  for (const auto& [key, value] : beside.items())
    fmt::print(",\n{}: {}", LineOf(key), LineOf(value));
  fmt::print("}}\n");
}

}  // namespace hone::cli
