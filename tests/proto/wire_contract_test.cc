// What is on the wire stays what it was: a daemon, its workers and its clients are not updated at
// the same moment. golden/hone_v1.txt has every field, enumerator and method that there has been.
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>

#include "gtest/gtest.h"
#include "hone/v1/auth.pb.h"
#include "hone/v1/builder.pb.h"
#include "hone/v1/farm.pb.h"
#include "hone/v1/log.pb.h"
#include "hone/v1/tuning.pb.h"
#include "tests/paths.h"

namespace hone {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::FileDescriptor;
using google::protobuf::MethodDescriptor;
using google::protobuf::ServiceDescriptor;

constexpr const char* kGolden = HONE_SOURCE_DIR "/tests/proto/golden/hone_v1.txt";

// What each number of a message or enum, or each name of a service, stands for: "hone.v1.Hello 3"
// to "string worker".
using Contract = std::map<std::string, std::string>;

std::string TypeOf(const FieldDescriptor& field) {
  if (field.is_map()) {
    return "map<" + TypeOf(*field.message_type()->map_key()) + ", " +
           TypeOf(*field.message_type()->map_value()) + ">";
  }
  const std::string label = field.is_repeated() ? "repeated " : "";
  if (field.message_type() != nullptr) return label + field.message_type()->full_name();
  if (field.enum_type() != nullptr) return label + field.enum_type()->full_name();
  return label + field.type_name();
}

void AddEnum(const EnumDescriptor& type, Contract& contract) {
  for (int i = 0; i < type.value_count(); ++i) {
    contract[type.full_name() + " " + std::to_string(type.value(i)->number())] =
        type.value(i)->name();
  }
}

void AddMessage(const Descriptor& message, Contract& contract) {
  for (int i = 0; i < message.field_count(); ++i) {
    const FieldDescriptor& field = *message.field(i);
    contract[message.full_name() + " " + std::to_string(field.number())] =
        TypeOf(field) + " " + field.name();
  }
  for (int i = 0; i < message.reserved_range_count(); ++i) {
    const Descriptor::ReservedRange& range = *message.reserved_range(i);
    for (int number = range.start; number < range.end; ++number) {
      contract[message.full_name() + " " + std::to_string(number)] = "reserved";
    }
  }
  for (int i = 0; i < message.enum_type_count(); ++i) AddEnum(*message.enum_type(i), contract);
  for (int i = 0; i < message.nested_type_count(); ++i) {
    const Descriptor& nested = *message.nested_type(i);
    if (!nested.options().map_entry()) AddMessage(nested, contract);
  }
}

void AddService(const ServiceDescriptor& service, Contract& contract) {
  for (int i = 0; i < service.method_count(); ++i) {
    const MethodDescriptor& method = *service.method(i);
    contract[method.full_name()] =
        (method.client_streaming() ? "stream " : "") + method.input_type()->full_name() + " to " +
        (method.server_streaming() ? "stream " : "") + method.output_type()->full_name();
  }
}

// One message of each file stands for it.
std::set<const FileDescriptor*> Files() {
  return {v1::AddGrantRequest::descriptor()->file(), v1::BuilderHello::descriptor()->file(),
          v1::Device::descriptor()->file(), v1::ListRecordsRequest::descriptor()->file(),
          v1::SubmitJobRequest::descriptor()->file()};
}

Contract Today() {
  Contract contract;
  for (const FileDescriptor* file : Files()) {
    for (int i = 0; i < file->message_type_count(); ++i) {
      AddMessage(*file->message_type(i), contract);
    }
    for (int i = 0; i < file->enum_type_count(); ++i) AddEnum(*file->enum_type(i), contract);
    for (int i = 0; i < file->service_count(); ++i) AddService(*file->service(i), contract);
  }
  return contract;
}

Contract Kept() {
  Contract contract;
  std::ifstream file(kGolden);
  for (std::string line; std::getline(file, line);) {
    const size_t at = line.find(": ");
    if (at != std::string::npos) contract[line.substr(0, at)] = line.substr(at + 2);
  }
  return contract;
}

TEST(WireContract, EveryFileIsLookedAt) {
  const std::filesystem::directory_iterator folder(HONE_SOURCE_DIR "/proto/hone/v1");
  const auto is_proto = [](const auto& entry) { return entry.path().extension() == ".proto"; };
  EXPECT_EQ(std::count_if(begin(folder), end(folder), is_proto), Files().size());
}

TEST(WireContract, NothingThatWasOnTheWireIsAnotherThingNow) {
  const Contract today = Today();
  ASSERT_FALSE(today.empty());
  for (const auto& [place, meaning] : Kept()) {
    const auto now = today.find(place);
    if (now == today.end()) {
      ADD_FAILURE() << place << " was `" << meaning << "`; what is no longer used is reserved";
    } else if (now->second != "reserved") {
      EXPECT_EQ(now->second, meaning) << place << "; give what is new another number";
    }
  }
}

TEST(WireContract, WhatIsNewIsKeptFromNowOn) {
  const Contract today = Today();
  if (std::getenv("HONE_UPDATE_GOLDEN") != nullptr) {
    std::ofstream file(kGolden);
    for (const auto& [place, meaning] : today) file << place << ": " << meaning << "\n";
  }
  EXPECT_EQ(Kept(), today) << "HONE_UPDATE_GOLDEN=1 writes " << kGolden;
}

}  // namespace
}  // namespace hone
