#pragma OPENCL FP_CONTRACT ON

static float hone_round_half(float a) {
  ushort bits;
  vstore_half_rte(a, 0, (half*)&bits);
  return vload_half(0, (half*)&bits);
}

static float hone_odd_float_ulong(ulong a) {
  const int lost = max(40 - (int)clz(a), 0);
  const ulong kept = a >> lost << lost;
  return (float)(kept != a ? kept | (ulong)1 << lost : kept);
}

static float hone_odd_float_long(long a) {
  return a < 0 ? -hone_odd_float_ulong(0 - (ulong)a) : hone_odd_float_ulong((ulong)a);
}

static float hone_round_bfloat16(float a) {
  const uint bits = as_uint(a);
  return a != a ? NAN : as_float((bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000);
}

__kernel void k0_rows(__global const uchar* a_base, ulong a_offset,
                      __global const uchar* b_base, ulong b_offset,
                      __global const uchar* h_base, ulong h_offset,
                      __global const uchar* g_base, ulong g_offset,
                      __global uchar* sum_base, ulong sum_offset,
                      __global uchar* s_base, ulong s_offset,
                      __global uchar* mean_base, ulong mean_offset,
                      __global uchar* wide_base, ulong wide_offset) {
  __global const char* restrict a = (__global const char*)(a_base + a_offset);
  __global const uchar* restrict b = (__global const uchar*)(b_base + b_offset);
  __global const half* restrict h = (__global const half*)(h_base + h_offset);
  __global const ushort* restrict g = (__global const ushort*)(g_base + g_offset);
  __global int* restrict sum = (__global int*)(sum_base + sum_offset);
  __global char* restrict s = (__global char*)(s_base + s_offset);
  __global half* restrict mean = (__global half*)(mean_base + mean_offset);
  __global ushort* restrict wide = (__global ushort*)(wide_base + wide_offset);
  const int item = (int)get_global_id(0);
  if (item >= 4) return;
  const int m = item;
  sum[m] = 0;
  for (int k = 0; k < 2; ++k) {
    for (int d = 0; d < 4; ++d) {
      sum[m] = (int)((uint)sum[m] + (int)a[k * 4 + d + m * 8] * (int)b[k * 4 + d + m * 8]);
    }
  }
  for (int n = 0; n < 8; ++n) {
    s[n + m * 8] = (char)(a[n + m * 8] + 3);
    const float t = hone_round_half(vload_half(n + m * 8, h) + hone_round_half(as_float((uint)g[n + m * 8] << 16)));
    vstore_half(hone_round_half(t * 0.5f), n + m * 8, mean);
    wide[n + m * 8] = (ushort)(as_uint(hone_round_bfloat16(hone_odd_float_long((long)sum[m]))) >> 16);
  }
}
