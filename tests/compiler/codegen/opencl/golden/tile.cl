#pragma OPENCL FP_CONTRACT ON

__kernel void k0_conv(__global const uchar* x_base, ulong x_offset,
                      __global const uchar* w_base, ulong w_offset,
                      __global uchar* y_base, ulong y_offset) {
  __global const float* restrict x = (__global const float*)(x_base + x_offset);
  __global const float* restrict w = (__global const float*)(w_base + w_offset);
  __global float* restrict y = (__global float*)(y_base + y_offset);
  const int item = (int)get_global_id(0);
  if (item >= 18) return;
  const int o = item / 9;
  const int h = item % 9;
  float acc[36];
  #pragma unroll
  for (int i = 0; i < 9; ++i) {
    #pragma unroll
    for (int v = 0; v < 4; ++v) {
      acc[v + i * 4] = 0.0f;
    }
  }
  for (int c = 0; c < 5; ++c) {
    for (int r = 0; r < 3; ++r) {
      for (int s = 0; s < 3; ++s) {
        #pragma unroll
        for (int i_2 = 0; i_2 < 9; ++i_2) {
          #pragma unroll
          for (int v_2 = 0; v_2 < 4; ++v_2) {
            const float t = h + r + -1 >= 0 && h + r + -1 < 9 && i_2 + s + -1 >= 0 && i_2 + s + -1 < 9 ? x[i_2 + s + h * 9 + r * 9 + c * 81 + -10] : 0.0f;
            acc[v_2 + i_2 * 4] = acc[v_2 + i_2 * 4] + t * w[s + r * 3 + c * 9 + o * 180 + v_2 * 45];
          }
        }
      }
    }
  }
  for (int i_3 = 0; i_3 < 9; ++i_3) {
    for (int v_3 = 0; v_3 < 4; ++v_3) {
      y[v_3 + i_3 * 4 + h * 36 + o * 324] = acc[v_3 + i_3 * 4];
    }
  }
}
