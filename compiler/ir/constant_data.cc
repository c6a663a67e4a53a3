#include "compiler/ir/constant_data.h"

#include <cstring>
#include <mutex>
#include <utility>

namespace hone::ir {

// What the copies of changed bytes share.
class ConstantData::Change {
 public:
  Change(const ConstantData& base, std::function<void(uint8_t* bytes)> change)
      : base_(base), change_(std::move(change)) {
    // Each change of a change takes stack when it is computed.
    constexpr int kMaxDepth = 16;
    if (base_.IsPending()) depth_ = base_.change_->depth_ + 1;
    if (depth_ < kMaxDepth) return;
    base_.bytes();
    depth_ = 0;
  }

  const uint8_t* Bytes() {
    const std::lock_guard lock(mutex_);
    if (change_) {
      bytes_.reset(new uint8_t[base_.size_bytes()]);  // no zeros first: all of it is written
      Write(bytes_.get());
      change_ = nullptr;
      base_ = {};
    }
    return bytes_.get();
  }

  // False where they are computed.
  bool WriteIfPending(uint8_t* to) {
    const std::lock_guard lock(mutex_);
    if (change_) Write(to);
    return change_ != nullptr;
  }

  bool IsPending() {
    const std::lock_guard lock(mutex_);
    return change_ != nullptr;
  }

 private:
  void Write(uint8_t* to) const {
    base_.CopyTo(to);
    change_(to);
  }

  std::mutex mutex_;
  ConstantData base_;
  std::function<void(uint8_t* bytes)> change_;  // null once there are bytes
  std::unique_ptr<uint8_t[]> bytes_;
  int depth_ = 0;  // of pending changes below
};

ConstantData::ConstantData(std::shared_ptr<const void> owner, const uint8_t* bytes,
                           size_t size_bytes)
    : owner_(std::move(owner)), bytes_(bytes), size_bytes_(size_bytes) {}

ConstantData ConstantData::Changed(const ConstantData& base,
                                   std::function<void(uint8_t* bytes)> change) {
  ConstantData data(nullptr, nullptr, base.size_bytes());
  data.change_ = std::make_shared<Change>(base, std::move(change));
  return data;
}

const uint8_t* ConstantData::bytes() const { return change_ ? change_->Bytes() : bytes_; }

void ConstantData::CopyTo(uint8_t* to) const {
  if (size_bytes_ == 0 || (change_ && change_->WriteIfPending(to))) return;
  std::memcpy(to, bytes(), size_bytes_);
}

const void* ConstantData::identity() const {
  return change_ ? static_cast<const void*>(change_.get()) : bytes_;
}

bool ConstantData::IsPending() const { return change_ && change_->IsPending(); }

}  // namespace hone::ir
