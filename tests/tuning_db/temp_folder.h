// A folder of one test, gone with it.
#ifndef HONE_TESTS_TUNING_DB_TEMP_FOLDER_H_
#define HONE_TESTS_TUNING_DB_TEMP_FOLDER_H_

#include <sys/stat.h>

#include <cassert>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

namespace hone::tuning_db {

class TempFolder {
 public:
  TempFolder() {
    std::string name = std::filesystem::temp_directory_path() / "hone-tuning-db-XXXXXX";
    const char* made = mkdtemp(name.data());
    assert(made != nullptr);
    path_ = made;
    chmod(made, 0755);
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

  // Every file with its bytes.
  std::map<std::string, std::string> Contents() const {
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path_)) {
      std::string& bytes = files[entry.path().string()];
      if (!entry.is_regular_file()) continue;
      std::ifstream file(entry.path(), std::ios::binary);
      bytes.assign(std::istreambuf_iterator<char>(file), {});
    }
    return files;
  }

 private:
  std::string path_;
};

inline void WriteBytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

}  // namespace hone::tuning_db

#endif  // HONE_TESTS_TUNING_DB_TEMP_FOLDER_H_
