"""Cases of the domain com.microsoft: products, convolutions and activations of floats, and operators that ONNX has too."""

import numpy as np
from case_maker import Const
from microsoft_case import floats, ms


def products() -> None:
    a, b = floats("a", 2, 3, 4, 5), floats("b", 2, 3, 5, 6)
    ms("fused_matmul_alpha", "FusedMatMul", a, b, alpha=0.25)
    ms("fused_matmul_trans_a", "FusedMatMul", floats("t", 2, 3, 5, 4), b, transA=1)
    ms("fused_matmul_trans_b", "FusedMatMul", a, Const(floats("u", 6, 5)), transB=1, alpha=2.0)
    ms("fused_matmul_trans_both", "FusedMatMul", floats("v", 5, 4), floats("w", 6, 5), transA=1, transB=1)
    ms("fused_matmul_trans_batch_a", "FusedMatMul", floats("x", 4, 2, 3, 5), b, transBatchA=1)
    ms(
        "fused_matmul_trans_batch_both",
        "FusedMatMul",
        floats("y", 5, 2, 3, 4),
        floats("z", 6, 2, 3, 5),
        transBatchA=1,
        transA=1,
        transBatchB=1,
        transB=1,
    )
    ms("fused_matmul_vector", "FusedMatMul", floats("p", 5), b, transA=1, alpha=0.5)
    ms("transpose_matmul", "TransposeMatMul", floats("q", 5, 4), floats("r", 5, 6), transA=1)
    x, w, bias = floats("cx", 1, 4, 6, 5), floats("cw", 4, 2, 3, 3), floats("cb", 4)
    conv = {"group": 2, "pads": [1, 1, 1, 1]}
    z = floats("cz", 1, 4, 6, 5)
    ms("fused_conv_relu", "FusedConv", x, Const(w), Const(bias), activation="Relu", **conv)
    ms("fused_conv_residual", "FusedConv", x, Const(w), Const(bias), z, activation="Relu", **conv)
    ms("fused_conv_no_bias", "FusedConv", x, Const(w), None, z, activation="Tanh", **conv)
    ms(
        "fused_conv_clip",
        "FusedConv",
        x,
        Const(w),
        Const(bias),
        activation="Clip",
        activation_params=[-0.5, 1.5],
        **conv,
    )
    ms(
        "fused_conv_leaky_relu",
        "FusedConv",
        x,
        Const(w),
        Const(bias),
        activation="LeakyRelu",
        activation_params=[0.125],
        **conv,
    )
    ms(
        "fused_conv_hard_sigmoid",
        "FusedConv",
        x,
        Const(w),
        Const(bias),
        activation="HardSigmoid",
        activation_params=[0.25, 0.375],
        strides=[2, 1],
        **conv,
    )
    ms(
        "fused_conv_sigmoid_1d",
        "FusedConv",
        floats("c1", 2, 3, 8),
        Const(floats("c2", 4, 3, 3)),
        activation="Sigmoid",
        auto_pad="SAME_UPPER",
    )
    ga, gb, gc = floats("ga", 3, 4), floats("gb", 4, 5), floats("gc", 5)
    ms("fused_gemm_relu", "FusedGemm", ga, Const(gb), Const(gc), activation="Relu")
    ms(
        "fused_gemm_leaky_relu",
        "FusedGemm",
        floats("gd", 4, 3),
        Const(floats("ge", 5, 4)),
        Const(gc),
        transA=1,
        transB=1,
        alpha=0.5,
        beta=2.0,
        activation="LeakyRelu",
        activation_alpha=0.2,
    )
    ms("fused_gemm_elu", "FusedGemm", ga, Const(gb), activation="Elu", activation_alpha=1.5)
    ms(
        "fused_gemm_hard_sigmoid",
        "FusedGemm",
        ga,
        gb,
        gc,
        activation="HardSigmoid",
        activation_alpha=0.25,
        activation_beta=0.5,
    )


def activations() -> None:
    x, bias = floats("x", 2, 3, 8, scale=2.0), floats("bias", 8)
    ms("gelu", "Gelu", x)
    ms("bias_gelu", "BiasGelu", x, Const(bias))
    ms("fast_gelu", "FastGelu", x)
    ms("fast_gelu_bias", "FastGelu", x, Const(bias))
    ms("quick_gelu", "QuickGelu", x)
    ms("quick_gelu_alpha", "QuickGelu", x, alpha=1.0)


def names() -> None:
    ms("trilu", "Trilu", floats("x", 2, 4, 5), Const(np.array(1, np.int64)), upper=0)
    ms("gather_nd", "GatherND", floats("x", 3, 4, 5), Const(np.array([[0, 1], [2, 3]], np.int64)))
    ms("pad", "Pad", floats("x", 2, 3), Const(np.array([0, 1, 1, 0], np.int64)), Const(np.array([0.5], np.float32)))
