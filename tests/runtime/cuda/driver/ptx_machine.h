// The types and instructions of PTX, as code that ptx_to_cxx.py writes uses them.
#ifndef HONE_TESTS_RUNTIME_CUDA_DRIVER_PTX_MACHINE_H_
#define HONE_TESTS_RUNTIME_CUDA_DRIVER_PTX_MACHINE_H_

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <deque>
#include <limits>
#include <type_traits>
#include <vector>

#include "place.h"

typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef u8 b8;
typedef u16 b16;
typedef u32 b32;
typedef u64 b64;
typedef float f32;
typedef double f64;
typedef _Float16 f16;
typedef bool pred;
typedef unsigned __int128 u128;
typedef __int128 s128;
struct bf16 {
  u16 bits;
};
struct tf32 {
  u32 bits;
};
template <class T>
constexpr bool is_half = std::is_same_v<T, f16> || std::is_same_v<T, bf16>;
// The values that a function gives, one after the other.
struct Returned {
  u8 bytes[16];
};
namespace {
// A register's value as the type of an instruction, and back.
template <class T, class X>
T in(X x) {
  if constexpr (sizeof(T) == sizeof(X))
    return std::bit_cast<T>(x);
  else
    return static_cast<T>(x);
}
template <class T, class X>
void out(X& to, T value) {
  if constexpr (sizeof(T) == sizeof(X))
    to = std::bit_cast<X>(value);
  else
    to = static_cast<X>(value);
}
template <class T>
T load(u64 at) {
  T value;
  std::memcpy(&value, reinterpret_cast<void*>(at), sizeof(T));
  return value;
}
template <class T>
void store(u64 at, T value) {
  std::memcpy(reinterpret_cast<void*>(at), &value, sizeof(T));
}
template <class T>
T flushed(T x) {
  return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(T(0), x) : x;
}
// Integers wrap around: they are computed without a sign.
template <class T>
T add(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return T(u64(a) + u64(b));
  else
    return a + b;
}
template <class T>
T sub(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return T(u64(a) - u64(b));
  else
    return a - b;
}
template <class T>
T mul(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return T(u64(a) * u64(b));
  else
    return a * b;
}
template <class T>
T mul_hi(T a, T b) {
  using W = std::conditional_t<std::is_signed_v<T>, s128, u128>;
  return T((W(a) * W(b)) >> (8 * sizeof(T)));
}
template <class W, class T>
W mul_wide(T a, T b) {
  return W(W(a) * W(b));
}
template <class T>
T fma(T a, T b, T c) {
  return std::fma(a, b, c);
}
template <class T>
T div(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    if (b == 0) return T(-1);
    if (std::is_signed_v<T> && b == T(-1)) return sub(T(0), a);
  }
  return a / b;
}
template <class T>
T rem(T a, T b) {
  if (b == 0) return a;
  if (std::is_signed_v<T> && b == T(-1)) return 0;
  return a % b;
}
// PTX gives the operand that is a number, and with .NaN the one that is not.
template <bool nan, class T>
T least(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (nan && (a != a || b != b)) return std::numeric_limits<T>::quiet_NaN();
    return a == b ? (std::signbit(a) ? a : b) : std::fmin(a, b);
  } else
    return a < b ? a : b;
}
template <bool nan, class T>
T most(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (nan && (a != a || b != b)) return std::numeric_limits<T>::quiet_NaN();
    return a == b ? (std::signbit(a) ? b : a) : std::fmax(a, b);
  } else
    return a < b ? b : a;
}
template <class T>
T neg(T a) {
  if constexpr (std::is_integral_v<T>)
    return sub(T(0), a);
  else if constexpr (is_half<T>)
    return std::bit_cast<T>(u16(std::bit_cast<u16>(a) ^ 0x8000));
  else
    return -a;
}
template <class T>
T absolute(T a) {
  if constexpr (std::is_integral_v<T>)
    return a < 0 ? neg(a) : a;
  else if constexpr (is_half<T>)
    return std::bit_cast<T>(u16(std::bit_cast<u16>(a) & 0x7fff));
  else
    return std::fabs(a);
}
template <class T>
T shl(T a, u32 n) {
  return n >= 8 * sizeof(T) ? T(0) : T(u64(a) << n);
}
template <class T>
T shr(T a, u32 n) {
  const u32 most = 8 * sizeof(T) - 1;
  return n > most ? (std::is_signed_v<T> ? T(a >> most) : T(0)) : T(a >> n);
}
template <class T>
T bfe(T a, u32 at, u32 size) {
  u64 value = 0;
  const bool sign =
      std::is_signed_v<T> && size > 0 &&
      ((u64(a) >> (at + size - 1 < 8 * sizeof(T) ? at + size - 1 : 8 * sizeof(T) - 1)) & 1);
  for (u32 i = 0; i < 8 * sizeof(T); ++i) {
    const bool bit = i < size ? (at + i < 8 * sizeof(T) ? (u64(a) >> (at + i)) & 1 : sign) : sign;
    value |= u64(bit) << i;
  }
  return T(value);
}
template <class T>
T bfi(T field, T into, u32 at, u32 size) {
  for (u32 i = 0; i < size && at + i < 8 * sizeof(T); ++i) {
    into = T((u64(into) & ~(u64(1) << (at + i))) | (((u64(field) >> i) & 1) << (at + i)));
  }
  return into;
}
inline u32 funnel_left(u32 low, u32 high, u32 n) {
  n &= 31;
  return n == 0 ? high : (high << n) | (low >> (32 - n));
}
inline u32 funnel_right(u32 low, u32 high, u32 n) {
  n &= 31;
  return n == 0 ? low : (low >> n) | (high << (32 - n));
}
inline u32 permuted(u32 a, u32 b, u32 selector) {
  const u64 bytes = (u64(b) << 32) | a;
  u32 value = 0;
  for (int i = 0; i < 4; ++i) {
    const u32 s = (selector >> (4 * i)) & 15;
    u32 byte = (bytes >> (8 * (s & 7))) & 255;
    if (s & 8) byte = byte & 128 ? 255 : 0;
    value |= byte << (8 * i);
  }
  return value;
}
template <class T>
u32 leading_zeros(T a) {
  return std::countl_zero(a);
}
inline float widened(bf16 x) { return std::bit_cast<float>(u32(x.bits) << 16); }
inline bf16 narrowed(float x) {
  u32 bits = std::bit_cast<u32>(x);
  if (x != x) return {0x7fff};
  return {u16((bits + 0x7fff + ((bits >> 16) & 1)) >> 16)};
}
template <class T>
T rounded(T x, char how) {
  return how == 'i'   ? std::rint(x)
         : how == 'z' ? std::trunc(x)
         : how == 'm' ? std::floor(x)
         : how == 'p' ? std::ceil(x)
                      : x;
}
template <class To, class From>
To convert(From x, char how) {
  if constexpr (std::is_same_v<From, bf16>)
    return convert<To>(widened(x), how);
  else if constexpr (std::is_same_v<From, f16>)
    return convert<To>(f32(x), how);
  else if constexpr (std::is_same_v<To, bf16>)
    return narrowed(static_cast<float>(x));
  else if constexpr (std::is_integral_v<To> && !std::is_integral_v<From>) {
    // Saturates; what is not a number gives 0.
    if (x != x) return 0;
    const double whole = rounded(static_cast<double>(x), how);
    if (whole >= std::ldexp(1.0, 8 * sizeof(To) - std::is_signed_v<To>))
      return std::numeric_limits<To>::max();
    if (whole <= static_cast<double>(std::numeric_limits<To>::min()))
      return std::numeric_limits<To>::min();
    return static_cast<To>(whole);
  } else if constexpr (std::is_integral_v<To> || std::is_integral_v<From>)
    return static_cast<To>(x);
  else
    return static_cast<To>(rounded(x, how));
}
// Copies to shared memory that a thread has begun (cp.async). Until it has waited for their group,
// there is rubbish where they go.
class BackgroundCopies {
 public:
  // Bytes behind the first `read` ones are zeros. False where an address is not aligned.
  bool begin(u64 to, u64 from, u32 bytes, u32 read) {
    if (to % bytes != 0 || (read > 0 && from % bytes != 0) || read > bytes) return false;
    std::memset(reinterpret_cast<void*>(to), 0xff, bytes);
    groups_.back().push_back({to, from, bytes, read});
    return true;
  }
  void commit() { groups_.emplace_back(); }
  // The latest groups may stay as they are. Calls `wrote` for what is written.
  template <class Wrote>
  void wait(u32 pending, const Wrote& wrote) {
    while (groups_.size() > size_t{pending} + 1) {
      for (const Copy& copy : groups_.front()) {
        auto* const to = reinterpret_cast<u8*>(copy.to);
        std::memcpy(to, reinterpret_cast<void*>(copy.from), copy.read);
        std::memset(to + copy.read, 0, copy.bytes - copy.read);
        wrote(copy.to, copy.bytes);
      }
      groups_.pop_front();
    }
  }
  void wait(u32 pending) {
    wait(pending, [](u64, u64) {});
  }

 private:
  struct Copy {
    u64 to, from;
    u32 bytes, read;
  };
  std::deque<std::vector<Copy>> groups_{1};  // the last one is not committed
};
// What the threads of a warp bring to an instruction of all of them, and take away. ldmatrix: the
// address of a row of 8 elements, 8 rows a matrix; a thread gets two elements of each matrix.
struct Matrices {
  u64 row;
  u32 parts[4];
};
template <int count>
void load_matrices(void* const* warp) {
  for (int thread = 0; thread < 32; ++thread) {
    for (int i = 0; i < count; ++i) {
      const u64 row = static_cast<Matrices*>(warp[i * 8 + thread / 4])->row;
      static_cast<Matrices*>(warp[thread])->parts[i] = load<u32>(row + thread % 4 * 4);
    }
  }
}
// mma.m16n8k16.row.col, and m16n8k8 of TF32: a thread has four words of the left operand, two of
// the right one.
struct Product {
  u32 left[4], right[2];
  f32 sums[4];
  f32 results[4];
};
inline f32 element(u32 pair, int i, bf16) { return widened({u16(pair >> (16 * i))}); }
inline f32 element(u32 pair, int i, f16) { return std::bit_cast<f16>(u16(pair >> (16 * i))); }
// The instruction ignores the bits that TF32 has not.
constexpr u32 kTf32Bits = 0xffffe000;
inline f32 element(u32 word, int, tf32) { return std::bit_cast<f32>(word & kTf32Bits); }
// cvt.rna: to the nearest, halves away from zero.
inline u32 nearest_tf32(f32 x) {
  const u32 bits = std::bit_cast<u32>(x);
  return (std::isfinite(x) ? bits + 0x1000 : bits) & kTf32Bits;
}
// Tensor cores cut sums where float32 ends, and do not round them.
inline f32 cut(f64 exact) {
  const f32 near = f32(exact);
  return std::fabs(f64(near)) > std::fabs(exact) && std::isfinite(near) ? std::nextafter(near, 0.0f)
                                                                        : near;
}
template <class T>
void multiply(void* const* warp) {
  const auto part = [&](int thread) { return static_cast<Product*>(warp[thread]); };
  for (int thread = 0; thread < 32; ++thread) {
    for (int i = 0; i < 4; ++i) {
      const int row = thread / 4, lane = thread % 4 * 2 + i % 2;
      f32 sum = part(thread)->sums[i];
      for (int half = 0; half < 2; ++half) {
        f64 exact = sum;
        for (int word = 0; word < 4; ++word) {
          const u32 left = part(row * 4 + word)->left[i / 2 + 2 * half];
          const u32 right = part(lane * 4 + word)->right[half];
          for (int term = 0; term < int(sizeof(u32) / sizeof(T)); ++term) {
            exact += f64(element(left, term, T())) * f64(element(right, term, T()));
          }
        }
        sum = cut(exact);
      }
      part(thread)->results[i] = sum;
    }
  }
}
}  // namespace

#endif  // HONE_TESTS_RUNTIME_CUDA_DRIVER_PTX_MACHINE_H_
