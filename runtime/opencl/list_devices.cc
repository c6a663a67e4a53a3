#include "runtime/opencl/list_devices.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <string>

namespace hone::opencl {
namespace {

constexpr std::string_view kPocl = "Portable Computing Language";

// The largest values that targets take.
constexpr size_t kLongestName = 64;
constexpr size_t kMostThreads = 1 << 16;

// With a hyphen for every run of characters that names in targets cannot have.
std::string InLowerCase(std::string_view text) {
  constexpr std::string_view kSigns = "._+:-";
  std::string word;
  for (const char c : text) {
    const bool is_kept = std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                         kSigns.find(c) != std::string_view::npos;
    if (is_kept) {
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (!word.empty() && word.back() != '-') {
      word += '-';
    }
  }
  while (!word.empty() && word.back() == '-') word.pop_back();
  return word;
}

class Description {
 public:
  Description(const Api& api, cl_device_id id) : api_(api), id_(id) {
    api_.GetDeviceInfo(id_, CL_DEVICE_PLATFORM, sizeof(platform_), &platform_, nullptr);
  }

  std::string Text(cl_device_info what) const {
    return TextBy([&](size_t size, void* text, size_t* needed) {
      return api_.GetDeviceInfo(id_, what, size, text, needed);
    });
  }
  std::string PlatformText(cl_platform_info what) const {
    return TextBy([&](size_t size, void* text, size_t* needed) {
      return api_.GetPlatformInfo(platform_, what, size, text, needed);
    });
  }
  template <typename Number>
  Number Value(cl_device_info what) const {
    Number value = 0;
    api_.GetDeviceInfo(id_, what, sizeof(value), &value, nullptr);
    return value;
  }

 private:
  template <typename Get>
  static std::string TextBy(const Get& get) {
    size_t size = 0;
    if (get(0, nullptr, &size) != CL_SUCCESS || size == 0) return "";
    std::string text(size, '\0');
    if (get(size, text.data(), nullptr) != CL_SUCCESS) return "";
    return text.substr(0, text.find('\0'));
  }

  const Api& api_;
  const cl_device_id id_;
  cl_platform_id platform_ = nullptr;
};

std::string TargetOf(const Description& device) {
  std::string text =
      "opencl -device=" + FamilyOf(device.PlatformText(CL_PLATFORM_NAME),
                                   device.Text(CL_DEVICE_VENDOR), device.Text(CL_DEVICE_NAME));
  const auto add = [&](const char* flag, uint64_t number) {
    if (number > 0) text += std::string(" ") + flag + "=" + std::to_string(number);
  };
  add("-max-threads", std::min(device.Value<size_t>(CL_DEVICE_MAX_WORK_GROUP_SIZE), kMostThreads));
  add("-local", device.Value<cl_ulong>(CL_DEVICE_LOCAL_MEM_SIZE));
  add("-compute-units", device.Value<cl_uint>(CL_DEVICE_MAX_COMPUTE_UNITS));
  return text;
}

std::string IdentityOf(const Description& device) {
  std::string text;
  for (const cl_platform_info what : {CL_PLATFORM_NAME, CL_PLATFORM_VERSION}) {
    text += device.PlatformText(what) + "\n";
  }
  for (const cl_device_info what :
       {CL_DEVICE_VENDOR, CL_DEVICE_NAME, CL_DEVICE_VERSION, CL_DRIVER_VERSION}) {
    text += device.Text(what) + "\n";
  }
  return text;
}

}  // namespace

std::vector<cl_device_id> AllDevices(const Api& api) {
  cl_uint platform_count = 0;
  if (api.GetPlatformIDs(0, nullptr, &platform_count) != CL_SUCCESS) return {};
  std::vector<cl_platform_id> platforms(platform_count);
  api.GetPlatformIDs(platform_count, platforms.data(), nullptr);
  std::vector<cl_device_id> all;
  for (const cl_platform_id platform : platforms) {
    cl_uint count = 0;
    if (api.GetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count) != CL_SUCCESS) continue;
    std::vector<cl_device_id> devices(count);
    api.GetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, devices.data(), nullptr);
    all.insert(all.end(), devices.begin(), devices.end());
  }
  return all;
}

std::vector<ListedDevice> ListDevices() {
  std::string error;
  const Api* const api = Api::Get(&error);
  if (api == nullptr) return {};
  std::vector<ListedDevice> listed;
  for (const cl_device_id id : AllDevices(*api)) {
    const Description device(*api, id);
    listed.push_back({.name = "opencl:" + std::to_string(listed.size()),
                      .target = TargetOf(device),
                      .identity = IdentityOf(device)});
  }
  return listed;
}

std::string FamilyOf(std::string_view platform, std::string_view vendor, std::string_view name) {
  if (platform == kPocl) return "pocl";
  const std::string maker = InLowerCase(vendor);
  std::string family = InLowerCase(name);
  if (!maker.empty() && !family.starts_with(maker.substr(0, maker.find('-')))) {
    family = maker + "-" + family;
  }
  if (family.empty()) family = "unnamed";
  return family.substr(0, kLongestName);
}

}  // namespace hone::opencl
