# SPDX-License-Identifier: GPL-2.0-or-later
"""Attention in windows that are shifted from layer to layer, as in Swin."""

import numpy as np


def roll(net, x, by):
    """Rolls the value along rows and columns, by the nodes that exporters write."""
    for axis in (1, 2):
        x = net.op('Concat', net.slice(x, by, 1 << 30, axis), net.slice(x, 0, by, axis), axis=axis)
    return x


def shift_mask(size, window, by):
    """Returns 0 where two positions of a window were adjacent before the shift, -100 elsewhere."""
    ids = np.zeros((size, size))
    edges = (slice(0, size - window), slice(size - window, size - by), slice(size - by, size))
    for i, rows in enumerate(edges):
        for j, columns in enumerate(edges):
            ids[rows, columns] = 3 * i + j
    n = size // window
    ids = ids.reshape(n, window, n, window).transpose(0, 2, 1, 3).reshape(n * n, window * window)
    return np.where(ids[:, :, None] == ids[:, None, :], 0.0, -100.0)


def attention(net, x, size, width, n_heads, window, shifted):
    n, rows, by = size // window, window * window, window // 2
    if shifted:
        x = roll(net, x, by)
    x = net.transpose(net.reshape(x, 1, n, window, n, window, width), 0, 1, 3, 2, 4, 5)
    x = net.reshape(x, n * n, rows, width)
    mask = net.random.standard_normal((1, n_heads, rows, rows)) * 0.3
    if shifted:
        mask = mask + shift_mask(size, window, by)[:, None]
    x = net.self_attention(x, rows, width, n_heads, batch=n * n, mask=net.constant(mask))
    x = net.transpose(net.reshape(x, 1, n, n, window, window, width), 0, 1, 3, 2, 4, 5)
    x = net.reshape(x, 1, size, size, width)
    return roll(net, x, size - by) if shifted else x


def merge(net, x, width):
    parts = [net.slice(net.slice(x, i, 1 << 30, 1, 2), j, 1 << 30, 2, 2) for j in (0, 1) for i in (0, 1)]
    x = net.layer_norm(net.op('Concat', *parts, axis=-1), 4 * width)
    return net.linear(x, 4 * width, 2 * width, bias=False)


def swin(net, size, patch, width, window, stages):
    """`stages` has, for each stage, the number of layers and the number of attention heads."""
    x = net.conv(net.input('x', [1, 3, size, size]), 3, width, patch, stride=patch, pads=[0] * 4)
    x, size = net.layer_norm(net.transpose(x, 0, 2, 3, 1), width), size // patch
    for i, (n_layers, n_heads) in enumerate(stages):
        if i > 0:
            x, width, size = merge(net, x, width), 2 * width, size // 2
        for j in range(n_layers):
            y = attention(net, net.layer_norm(x, width), size, width, n_heads, window, j % 2 == 1 and size > window)
            x = net.op('Add', x, y)
            y = net.gelu(net.linear(net.layer_norm(x, width), width, 4 * width))
            x = net.op('Add', x, net.linear(y, 4 * width, width, gain=0.7))
    x = net.op('ReduceMean', net.layer_norm(x, width), axes=[1, 2], keepdims=0)
    net.output(net.op('Gemm', x, net.weight(100, width, fan_in=width), net.bias(100), transB=1))


CASES = {
    'swin': (swin, dict(opset=17, size=112, patch=4, width=96, window=7, stages=[(2, 3), (2, 6), (2, 12)]),
             dict(opset=13, size=128, patch=4, width=64, window=8, stages=[(2, 2), (4, 4), (2, 8)]),
             dict(size=32, width=24, window=4, stages=[(2, 3), (2, 6)])),
}
