#pragma OPENCL FP_CONTRACT ON

static float hone_max_float(float a, float b) {
  return b > a || b != b ? b : a;
}

__kernel void k0_pack(__global const uchar* w_base, ulong w_offset,
                      __global uchar* p_base, ulong p_offset) {
  __global const float* restrict w = (__global const float*)(w_base + w_offset);
  __global float* restrict p = (__global float*)(p_base + p_offset);
  const int item = (int)get_global_id(0);
  if (item >= 8) return;
  const int k = item;
  for (int n = 0; n < 8; ++n) {
    p[n + k * 8] = w[k + n * 8];
  }
}

__kernel void k1_sums(__global const uchar* a_base, ulong a_offset,
                      __global const uchar* p_base, ulong p_offset,
                      __global uchar* s_base, ulong s_offset) {
  __global const float* restrict a = (__global const float*)(a_base + a_offset);
  __global const float* restrict p = (__global const float*)(p_base + p_offset);
  __global float* restrict s = (__global float*)(s_base + s_offset);
  const int item = (int)get_global_id(0);
  if (item >= 4) return;
  const int m = item;
  for (int n = 0; n < 8; ++n) {
    s[n + m * 8] = 0.0f;
    for (int k = 0; k < 8; ++k) {
      s[n + m * 8] = s[n + m * 8] + a[k + m * 8] * p[n + k * 8];
    }
  }
}

__kernel void k2_relu(__global const uchar* s_base, ulong s_offset,
                      __global uchar* c_base, ulong c_offset) {
  __global const float* restrict s = (__global const float*)(s_base + s_offset);
  __global float* restrict c = (__global float*)(c_base + c_offset);
  const int item = (int)get_global_id(0);
  if (item >= 8) return;
  const int m = item / 2;
  const int j = item % 2;
  for (int n = 0; n < 4; ++n) {
    c[j * 4 + n + m * 8] = hone_max_float(s[j * 4 + n + m * 8], 0.0f);
  }
}
