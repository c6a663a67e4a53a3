#include "bench/tile_peak.h"

#include <algorithm>
#include <string>

#include "runtime/host_cpu.h"
#include "runtime/tile_permission.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <cstdint>
#endif

namespace hone {

#if defined(__x86_64__)
namespace {

constexpr int kRows = 16;
constexpr int kRowBytes = 64;
constexpr int kSums = kRows * kRowBytes / 4;

// What ldtilecfg reads.
struct alignas(64) TileShapes {
  uint8_t palette = 1;
  uint8_t start_row = 0;
  uint8_t reserved[14] = {};
  uint16_t row_bytes[16] = {};
  uint8_t rows[16] = {};
};

// Ordinary numbers, as bytes and as bfloat16 (0x3C23, about 0.01): zeros may take less power.
struct alignas(64) Elements {
  Elements() {
    for (int i = 0; i < kRows * kRowBytes; ++i) bytes[i] = i % 2 == 0 ? 0x23 : 0x3C;
  }
  uint8_t bytes[kRows * kRowBytes];
};

// Tiles 0 to 3 are sums, 4 and 5 left operands, 6 and 7 right ones; the shapes are this thread's
// until they are released.
[[gnu::target("amx-tile")]] void FillTiles() {
  TileShapes shapes;
  std::fill_n(shapes.row_bytes, 8, uint16_t{kRowBytes});
  std::fill_n(shapes.rows, 8, uint8_t{kRows});
  const Elements elements;
  // The intrinsics of some compilers do not say what they read, so it must have been written here.
  asm volatile("" : : "r"(&shapes), "r"(&elements) : "memory");
  _tile_loadconfig(&shapes);
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  _tile_loadd(4, elements.bytes, kRowBytes);
  _tile_loadd(5, elements.bytes, kRowBytes);
  _tile_loadd(6, elements.bytes, kRowBytes);
  _tile_loadd(7, elements.bytes, kRowBytes);
}

// Four sums cover the latency of every core known.
[[gnu::target("amx-tile,amx-int8")]] void MultiplyBytes(int count) {
  FillTiles();
  for (int i = 0; i < count; i += 4) {
    _tile_dpbusd(0, 4, 6);
    _tile_dpbusd(1, 4, 7);
    _tile_dpbusd(2, 5, 6);
    _tile_dpbusd(3, 5, 7);
  }
  _tile_release();
}

[[gnu::target("amx-tile,amx-bf16")]] void MultiplyBfloats(int count) {
  FillTiles();
  for (int i = 0; i < count; i += 4) {
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  _tile_release();
}

bool Has(std::string_view feature) {
  const std::vector<std::string>& features = HostFeatures();
  return std::find(features.begin(), features.end(), feature) != features.end();
}

}  // namespace

std::vector<TileProduct> TileProducts() {
  std::vector<TileProduct> products;
  std::string refusal;
  if (!Has("amx-tile") || !AskForTiles(&refusal)) return products;
  if (Has("amx-int8")) {
    products.push_back({"tile_int8_gops", 2.0 * kSums * kRowBytes, MultiplyBytes});
  }
  if (Has("amx-bf16")) {
    products.push_back({"tile_bf16_gflops", 2.0 * kSums * kRowBytes / 2, MultiplyBfloats});
  }
  return products;
}

#else

std::vector<TileProduct> TileProducts() { return {}; }

#endif

}  // namespace hone
