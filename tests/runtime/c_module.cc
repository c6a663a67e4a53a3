#include "tests/runtime/c_module.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "runtime/module_abi.h"
#include "tests/paths.h"

namespace hone {

TestFolder::TestFolder() {
  std::string name = std::filesystem::temp_directory_path() / "hone-runtime-XXXXXX";
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
  path_ = name;
}

TestFolder::~TestFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string CompileC(const TestFolder& folder, const std::string& name, const std::string& source,
                     const std::string& flags) {
  WriteBytes(folder / (name + ".c"), source);
  const std::string out = folder / (name + ".so");
  const std::string command =
      "cc -O1 -shared -fPIC -nostdlib -ffreestanding -fno-stack-protector "
      "-fno-builtin -I" HONE_SOURCE_DIR " -o " +
      out + " " + (folder / (name + ".c")) + " " + flags;
  if (std::system(command.c_str()) != 0) throw std::runtime_error("cc refused " + name);
  return out;
}

void AppendParameters(const std::string& path, const std::string& bytes) {
  std::string file = ReadBytes(path);
  file.resize((file.size() + 4095) / 4096 * 4096);
  hone_trailer trailer{};
  trailer.parameters_offset = file.size();
  trailer.parameters_bytes = bytes.size();
  std::memcpy(trailer.magic, HONE_TRAILER_MAGIC, sizeof(trailer.magic));
  file += bytes;
  file.append(reinterpret_cast<const char*>(&trailer), sizeof(trailer));
  WriteBytes(path, file);
}

std::string ReadBytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void WriteBytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

}  // namespace hone
