#pragma OPENCL FP_CONTRACT ON

__kernel void k0_rows(__global const uchar* x_base, ulong x_offset,
                      __global const uchar* i_base, ulong i_offset,
                      __global const uchar* n_base, ulong n_offset,
                      __global uchar* y_base, ulong y_offset,
                      __global uchar* last_base, ulong last_offset) {
  __global const float* restrict x = (__global const float*)(x_base + x_offset);
  __global const long* restrict i = (__global const long*)(i_base + i_offset);
  __global const int* restrict n = (__global const int*)(n_base + n_offset);
  __global float* restrict y = (__global float*)(y_base + y_offset);
  __global long* restrict last = (__global long*)(last_base + last_offset);
  const int item = (int)get_global_id(0);
  if (item >= 16) return;
  const int r = item;
  const int c_end = n[r];
  for (int c = 0; c < c_end; ++c) {
    float t_2;
    if (i[r] >= 0 && i[r] < 33) {
      const float t = x[(long)((ulong)c + (long)((ulong)i[r] * 8))] * x[(long)((ulong)c + (long)((ulong)i[r] * 8))];
      t_2 = t;
    } else {
      t_2 = 0.0f;
    }
    y[(long)c + r * 8] = t_2;
  }
  for (int c_2 = n[r]; c_2 < 8; ++c_2) {
    y[c_2 + r * 8] = x[c_2 + (int)max(min(i[r], 32L), 0L) * 8];
  }
  long at;
  at = i[r];
  while (at > 0) {
    at = (long)((ulong)(at / 2) + -1);
  }
  if (at < 0) {
    last[r] = at;
  } else {
    last[r] = (long)((ulong)i[r] * i[r]);
  }
}
