// wgmma of PTX, which the 128 threads of a warpgroup do together: products of matrices in shared
// memory that are under way until a thread waits for them. What is not promised gives rubbish:
// sums that are read, and factors that are overwritten, before the wait; sums that were written
// since the last fence; and factors whose writers have not told the asynchronous proxy.
#ifndef HONE_TESTS_RUNTIME_CUDA_DRIVER_PTX_WARPGROUP_H_
#define HONE_TESTS_RUNTIME_CUDA_DRIVER_PTX_WARPGROUP_H_

#include <initializer_list>
#include <map>
#include <memory>

#include "ptx_machine.h"

namespace {

constexpr u64 kWindow = u64{1} << 18;  // of addresses in a descriptor
// What a row of factors takes under the 128-byte swizzle, whose pattern repeats after 8 rows.
constexpr u64 kSwizzledRow = 128;
constexpr u64 kPattern = 8 * kSwizzledRow;
constexpr int kTermsAtOnce = 16;

inline f32 rubbish() { return std::bit_cast<f32>(u32{0xfffbfbfb}); }

// Chunks of 16 bytes of shared memory, by the thread that wrote to them and has not told the
// asynchronous proxy since. Of one block at a time.
using Untold = std::map<u64, u32>;
inline Untold& untold() {
  static Untold chunks;
  return chunks;
}

// What a thread writes to shared memory.
class SharedWrites {
 public:
  explicit SharedWrites(const Place& place) : thread_(place.thread[0]) { tell(); }
  void wrote(u64 at, u64 bytes) {
    for (u64 chunk = at / 16; chunk <= (at + bytes - 1) / 16; ++chunk) untold()[chunk] = thread_;
  }
  // fence.proxy.async
  void tell() {
    std::erase_if(untold(), [&](const auto& chunk) { return chunk.second == thread_; });
  }

 private:
  u32 thread_;
};

// Factors in shared memory, and what they were when the product began.
struct Factors {
  std::vector<u64> places;
  std::vector<u16> values;

  void add(u64 at) {
    places.push_back(at);
    values.push_back(load<u16>(at));
  }
  bool are_intact() const {
    for (size_t i = 0; i < places.size(); ++i) {
      if (load<u16>(places[i]) != values[i]) return false;
    }
    return true;
  }
};

// A matrix of 16-bit elements in shared memory (PTX ISA, "Matrix Descriptor"), swizzled by 128
// bytes. Its terms are neighbours; where it is transposed, its rows are.
class SharedMatrix {
 public:
  SharedMatrix(u64 descriptor, u64 window, bool is_transposed)
      : descriptor_(descriptor), window_(window), is_transposed_(is_transposed) {}

  // Other swizzles, and patterns that do not begin at a multiple of their size, are not known here.
  bool is_known() const {
    constexpr u64 kSwizzle128 = 1;
    return descriptor_ >> 62 == kSwizzle128 && field(49) % 8 == 0 &&
           begin() % kPattern < kSwizzledRow && window_ % kPattern == 0;
  }
  u64 at(u64 row, u64 term) const {
    const u64 linear =
        begin() + (is_transposed_ ? row % 64 * 2 + row / 64 * leading() + term % 8 * kSwizzledRow +
                                        term / 8 * stride()
                                  : row % 8 * kSwizzledRow + row / 8 * stride() + term * 2);
    return window_ + (linear ^ ((linear / kSwizzledRow % 8) * 16));
  }

 private:
  u64 field(int bit) const { return (descriptor_ >> bit) & 0x3fff; }
  u64 begin() const { return (field(0) * 16 + kWindow - window_ % kWindow) % kWindow; }
  u64 leading() const { return field(16) * 16; }
  u64 stride() const { return field(32) * 16; }

  u64 descriptor_, window_;
  bool is_transposed_;
};

// What a thread brings to a product of 64 rows and takes from it: for each 8 lanes the sums of two
// neighbours in row r of its warp's 16 and in row r + 8, where r is its number in the warp over 4.
struct GroupProduct {
  u64 left, right;  // descriptors
  u64 window;       // the block's shared memory
  bool adds;        // to the sums; else they are zero
  f32 sums[128];
  f32 results[128];
  std::shared_ptr<Factors> factors;
  bool is_wrong;
};

template <class T, int lanes, bool left_transposed, bool right_transposed>
void multiply_group(void* const* group) {
  constexpr int kRows = 64;
  const auto part = [&](int thread) { return static_cast<GroupProduct*>(group[thread]); };
  const GroupProduct& first = *part(0);
  const SharedMatrix left(first.left, first.window, left_transposed);
  const SharedMatrix right(first.right, first.window, right_transposed);
  bool is_wrong = !left.is_known() || !right.is_known();
  for (int thread = 1; thread < 128; ++thread) {
    is_wrong = is_wrong || part(thread)->left != first.left || part(thread)->right != first.right ||
               part(thread)->adds != first.adds;
  }
  for (int thread = 0; thread < 128; ++thread) part(thread)->is_wrong = is_wrong;
  if (is_wrong) return;
  const auto factors = std::make_shared<Factors>();
  const auto load_all = [&](const SharedMatrix& matrix, int rows, f32(*to)[kTermsAtOnce]) {
    for (int row = 0; row < rows; ++row) {
      for (int term = 0; term < kTermsAtOnce; ++term) {
        const u64 at = matrix.at(row, term);
        factors->add(at);
        to[row][term] =
            untold().contains(at / 16) ? rubbish() : element(factors->values.back(), 0, T());
      }
    }
  };
  static f32 rows[kRows][kTermsAtOnce], columns[lanes][kTermsAtOnce];
  load_all(left, kRows, rows);
  load_all(right, lanes, columns);
  for (int thread = 0; thread < 128; ++thread) {
    GroupProduct& own = *part(thread);
    own.factors = factors;
    for (int i = 0; i < lanes / 2; ++i) {
      const int row = thread / 32 * 16 + i / 2 % 2 * 8 + thread % 32 / 4;
      const int lane = i / 4 * 8 + thread % 4 * 2 + i % 2;
      f32 sum = own.adds ? own.sums[i] : 0;
      for (int half = 0; half < 2; ++half) {
        f64 exact = sum;
        for (int term = half * 8; term < half * 8 + 8; ++term) {
          exact += f64(rows[row][term]) * f64(columns[lane][term]);
        }
        sum = cut(exact);
      }
      own.results[i] = sum;
    }
  }
}

// The products of a thread that are under way. Their sums are registers.
class BackgroundProducts {
 public:
  // wgmma.fence: what the registers hold is what products may add to.
  void fence(std::initializer_list<f32*> sums) {
    for (f32* sum : sums) fenced_[sum] = bits(*sum);
  }
  void take(std::initializer_list<f32*> sums, f32* taken) const {
    for (f32* sum : sums) {
      const auto pending = pending_.find(sum);
      const auto fenced = fenced_.find(sum);
      if (pending != pending_.end()) {
        *taken++ = bits(*sum) == bits(rubbish()) ? pending->second.value : rubbish();
      } else {
        const bool is_fenced = fenced != fenced_.end() && fenced->second == bits(*sum);
        *taken++ = is_fenced ? *sum : rubbish();
      }
    }
  }
  void begin(std::initializer_list<f32*> sums, const GroupProduct& made) {
    const f32* result = made.results;
    for (f32* sum : sums) {
      pending_[sum] = {*result++, group_};
      *sum = rubbish();
    }
    factors_.push_back({made.factors, group_});
  }
  void commit() { ++group_; }
  // All but the latest groups are done.
  void wait(u64 pending) {
    const u64 limit = group_ > pending ? group_ - pending : 0;
    bool are_intact = true;
    std::erase_if(factors_, [&](const Read& read) {
      if (read.group >= limit) return false;
      are_intact = are_intact && read.factors->are_intact();
      return true;
    });
    if (!are_intact) {
      for (auto& [sum, made] : pending_) made.value = rubbish();
    }
    std::erase_if(pending_, [&](const auto& sum) {
      if (sum.second.group >= limit) return false;
      *sum.first = sum.second.value;
      fenced_[sum.first] = bits(*sum.first);
      return true;
    });
  }

 private:
  struct Sum {
    f32 value;
    u64 group;
  };
  struct Read {
    std::shared_ptr<Factors> factors;
    u64 group;
  };
  static u32 bits(f32 value) { return std::bit_cast<u32>(value); }

  std::map<f32*, Sum> pending_;
  std::map<f32*, u32> fenced_;  // what the registers held at the last fence
  std::vector<Read> factors_;
  u64 group_ = 0;  // that the next product is of
};

}  // namespace

#endif  // HONE_TESTS_RUNTIME_CUDA_DRIVER_PTX_WARPGROUP_H_
