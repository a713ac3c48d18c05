# SPDX-License-Identifier: GPL-2.0-or-later
"""Image to image: with normalized channels and gates (NAFNet), and diffusion steps with attention."""

import numpy as np


def around_one(net, *shape):
    return net.constant(net.random.uniform(0.8, 1.2, shape))


def norm_channels(net, x, n):
    """Adds the nodes that exporters write for a LayerNormalization over the channels of x [N, C, H, W]."""
    centered = net.op('Sub', x, net.op('ReduceMean', x, axes=[1]))
    variance = net.op('ReduceMean', net.op('Mul', centered, centered), axes=[1])
    y = net.op('Div', centered, net.op('Sqrt', net.op('Add', variance, net.constant(1e-6))))
    return net.op('Add', net.op('Mul', y, around_one(net, n, 1, 1)), around_one(net, n, 1, 1))


def gate(net, x, n):
    return net.op('Mul', *net.split(x, [n, n], 1))


def gated(net, size, width, n_blocks):
    x = net.conv(net.input('x', [1, 3, size, size]), 3, width, 3)
    for _ in range(n_blocks):
        y = net.conv(net.conv(norm_channels(net, x, width), width, 2 * width), 2 * width, 2 * width, 3, group=2 * width)
        y = gate(net, y, width)
        y = net.op('Mul', y, net.conv(net.op('GlobalAveragePool', y), width, width))
        x = net.op('Add', x, net.op('Mul', net.conv(y, width, width), around_one(net, width, 1, 1)))
        y = gate(net, net.conv(norm_channels(net, x, width), width, 2 * width), width)
        x = net.op('Add', x, net.op('Mul', net.conv(y, width, width), around_one(net, width, 1, 1)))
    net.output(net.op('DepthToSpace', net.conv(x, width, 12, 3), blocksize=2, mode='CRD'))


def norm_groups(net, x, n, size, n_groups=8):
    flat = net.reshape(x, 0, n_groups, -1)
    y = net.op('InstanceNormalization', flat, net.constant(np.ones(n_groups)), net.constant(np.zeros(n_groups)))
    return net.op('Add', net.op('Mul', net.reshape(y, 1, n, size, size), around_one(net, n, 1, 1)), around_one(net, n, 1, 1))


class Diffusion:
    """Shared by the parts of a diffusion step: the network, and the embedding of the time."""

    def __init__(self, net, width):
        self.net, self.n_time = net, 4 * width
        t = net.silu(self.gemm(net.input('t', [1, 64]), 64, self.n_time))
        self.time = net.silu(self.gemm(t, self.n_time, self.n_time))

    def gemm(self, x, n_in, n):
        return self.net.op('Gemm', x, self.net.weight(n_in, n, fan_in=n_in), self.net.bias(n))

    def residual(self, x, n_in, n, size):
        net = self.net
        y = net.conv(net.silu(norm_groups(net, x, n_in, size)), n_in, n, 3)
        y = net.op('Add', y, net.op('Unsqueeze', self.gemm(self.time, self.n_time, n), net.ints(2, 3)))
        y = net.conv(net.silu(norm_groups(net, y, n, size)), n, n, 3, gain=0.5)
        return net.op('Add', x if n_in == n else net.conv(x, n_in, n), y)

    def attention(self, x, n, size, n_heads):
        net, n_rows = self.net, size * size
        y = net.reshape(net.conv(norm_groups(net, x, n, size), n, n), 1, n, n_rows)
        y = net.transpose(y, 0, 2, 1)
        y = net.op('Add', y, net.self_attention(net.layer_norm(y, n), n_rows, n, n_heads, fused=False))
        a, b = net.split(net.linear(net.layer_norm(y, n), n, 8 * n), [4 * n, 4 * n], 2)
        y = net.op('Add', y, net.linear(net.op('Mul', a, net.gelu(b)), 4 * n, n, gain=0.5))
        return net.op('Add', net.conv(net.reshape(net.transpose(y, 0, 2, 1), 1, n, size, size), n, n), x)


def diffusion(net, size, width, n_heads):
    step, n, half = Diffusion(net, width), width, size // 2
    first = step.residual(net.conv(net.input('x', [1, 4, size, size]), 4, n, 3), n, n, size)
    x = step.residual(net.conv(first, n, n, 3, stride=2), n, 2 * n, half)
    second = step.attention(x, 2 * n, half, n_heads)
    x = step.residual(net.conv(second, 2 * n, 2 * n, 3, stride=2), 2 * n, 4 * n, half // 2)
    x = net.conv(net.resize(step.attention(x, 4 * n, half // 2, n_heads), 2.0), 4 * n, 2 * n, 3)
    x = step.residual(net.op('Concat', x, second, axis=1), 4 * n, 2 * n, half)
    x = net.conv(net.resize(step.attention(x, 2 * n, half, n_heads), 2.0), 2 * n, n, 3)
    x = step.residual(net.op('Concat', x, first, axis=1), 2 * n, n, size)
    net.output(net.conv(net.silu(norm_groups(net, x, n, size)), n, 4, 3))


CASES = {
    'gated': (gated, dict(size=96, width=32, n_blocks=6), dict(size=80, width=48, n_blocks=4),
              dict(size=16, width=8, n_blocks=1)),
    'diffusion': (diffusion, dict(opset=17, size=32, width=64, n_heads=4), dict(opset=13, size=48, width=40, n_heads=2),
                  dict(size=8, width=8, n_heads=2)),
}
