#include "measure_server/reference_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "measure_server/element.h"
#include "measure_server/layout_map.h"

namespace hone::measure {
namespace {

constexpr int64_t kReferenceBytes = int64_t{1} << 40;
constexpr uint64_t kMaxElements = uint64_t{1} << 34;

uint64_t ElementCount(const hone_buffer& buffer) {
  return static_cast<uint64_t>(LayoutMap::Of(buffer).logical_count());
}

}  // namespace

std::vector<uint32_t> OutputsOf(const hone_kernel& kernel) {
  std::vector<uint32_t> outputs;
  for (uint32_t b = 0; b < kernel.buffer_count; ++b) {
    if (kernel.buffers[b].role == HONE_ROLE_OUTPUT) outputs.push_back(b);
  }
  return outputs;
}

int MakeReferenceFile() {
  const int fd = memfd_create("hone-reference", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd >= 0 && ftruncate(fd, kReferenceBytes) != 0) {
    close(fd);
    return -1;
  }
  return fd;
}

int SealReferenceFile(int fd) {
  constexpr int kSeals = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL;
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  const bool is_sealed = fcntl(fd, F_ADD_SEALS, kSeals) == 0;
  const int reader = is_sealed ? open(path.c_str(), O_RDONLY | O_CLOEXEC) : -1;
  const int fault = errno;
  close(fd);
  errno = fault;
  return reader;
}

uint64_t ReferenceFileBytes(int fd) {
  struct stat info{};
  return fstat(fd, &info) == 0 ? static_cast<uint64_t>(info.st_blocks) * 512 : 0;
}

ReferenceFile::~ReferenceFile() {
  if (header_ != nullptr) munmap(header_, mapped_bytes_);
}

bool ReferenceFile::OpenForWriting(int fd, const hone_kernel& kernel, std::string* error) {
  const std::vector<uint32_t> outputs = OutputsOf(kernel);
  if (outputs.empty() || outputs.size() % 2 != 0 || outputs.size() / 2 > kMaxOutputs) {
    *error = "expected a reference kernel with values and magnitudes, found " +
             std::to_string(outputs.size()) + " outputs";
    return false;
  }
  ReferenceHeader header;
  header.output_count = static_cast<uint32_t>(outputs.size() / 2);
  for (uint32_t i = 0; i < header.output_count; ++i) {
    header.element_count[i] = ElementCount(kernel.buffers[outputs[2 * i]]);
    if (ElementCount(kernel.buffers[outputs[2 * i + 1]]) != header.element_count[i]) {
      *error = "the reference's values and magnitudes differ in shape";
      return false;
    }
  }
  void* page = mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (page == MAP_FAILED) {
    *error = std::string("mapping the reference: ") + std::strerror(errno);
    return false;
  }
  std::memcpy(page, &header, sizeof(header));
  munmap(page, kPageBytes);
  return Map(fd, true, error);
}

bool ReferenceFile::OpenForReading(int fd, std::string* error) {
  if (!Map(fd, false, error)) return false;
  madvise(header_, mapped_bytes_, MADV_DONTFORK);
  if (header_->is_complete == 1) return true;
  *error = "the reference is not complete";
  return false;
}

bool ReferenceFile::Map(int fd, bool for_writing, std::string* error) {
  ReferenceHeader header;
  uint64_t elements = 0;
  bool ok = pread(fd, &header, sizeof(header), 0) == static_cast<ssize_t>(sizeof(header)) &&
            header.output_count <= kMaxOutputs;
  for (uint32_t i = 0; ok && i < header.output_count; ++i) {
    elements += header.element_count[i];
    ok = header.element_count[i] <= kMaxElements && elements <= kMaxElements;
  }
  const size_t bytes = kPageBytes + 2 * 2 * elements * sizeof(double);
  const int protection = for_writing ? PROT_READ | PROT_WRITE : PROT_READ;
  void* mapped = ok ? mmap(nullptr, bytes, protection, MAP_SHARED, fd, 0) : MAP_FAILED;
  if (mapped == MAP_FAILED) {
    *error = "mapping the reference outputs failed";
    return false;
  }
  header_ = static_cast<ReferenceHeader*>(mapped);
  mapped_bytes_ = bytes;
  return true;
}

double* ReferenceFile::Data(InputSet set, uint32_t output) const {
  uint64_t before = 0;
  uint64_t all = 0;
  for (uint32_t i = 0; i < header_->output_count; ++i) {
    all += header_->element_count[i];
    if (i < output) before += header_->element_count[i];
  }
  auto* data = reinterpret_cast<double*>(reinterpret_cast<char*>(header_) + kPageBytes);
  return data + 2 * (static_cast<uint64_t>(set) * all + before);
}

ReferenceOutput ReferenceFile::Output(InputSet set, uint32_t output) const {
  const double* data = Data(set, output);
  return {data, data + header_->element_count[output]};
}

void ReferenceFile::Write(InputSet set, const hone_kernel& kernel,
                          const std::vector<void*>& buffers) {
  const std::vector<uint32_t> outputs = OutputsOf(kernel);
  for (size_t i = 0; i < outputs.size(); ++i) {
    const hone_buffer& buffer = kernel.buffers[outputs[i]];
    const auto pair = static_cast<uint32_t>(i / 2);
    double* into = Data(set, pair) + (i % 2) * header_->element_count[pair];
    LayoutMap::Of(buffer).ForEach([&](int64_t linear, int64_t offset) {
      into[linear] = LoadElement(static_cast<DataType>(buffer.dtype), buffers[outputs[i]], offset);
    });
  }
}

}  // namespace hone::measure
