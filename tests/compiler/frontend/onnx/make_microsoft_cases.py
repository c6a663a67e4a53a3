#!/usr/bin/env python3
"""The cases of the domain com.microsoft; expected values are onnxruntime's."""

from microsoft_attentions import attentions, groups
from microsoft_networks import lstms, normalizations
from microsoft_products import activations, names, products
from microsoft_quantised import channels_last, few_bits, integer_products

if __name__ == "__main__":
    products()
    activations()
    normalizations()
    integer_products()
    few_bits()
    channels_last()
    lstms()
    attentions()
    groups()
    names()
