# SPDX-License-Identifier: GPL-2.0-or-later
"""Inverted bottlenecks with squeeze and excitation and SiLU, as in EfficientNet."""


def excite(net, x, n, n_squeezed, reduce_mean):
    y = net.op('ReduceMean', x, axes=[2, 3], keepdims=1) if reduce_mean else net.op('GlobalAveragePool', x)
    y = net.silu(net.conv(y, n, n_squeezed))
    return net.op('Mul', x, net.op('Sigmoid', net.conv(y, n_squeezed, n)))


def inverted(net, x, n_in, n_out, factor, kernel, stride, reduce_mean):
    n = n_in * factor
    y = net.silu(net.conv(x, n_in, n, gain=1.6)) if factor > 1 else x
    y = net.silu(net.conv(y, n, n, kernel, stride=stride, group=n, gain=1.6))
    y = net.conv(excite(net, y, n, max(4, n_in // 4), reduce_mean), n, n_out, gain=1.6)
    return net.op('Add', y, x) if stride == 1 and n_in == n_out else y


def efficientnet(net, size, stem, stages, head, reduce_mean):
    """`stages` has, for each stage, the number of blocks, result channels, expansion factor, kernel, and stride of the
    first block."""
    x, n_in = net.silu(net.conv(net.input('x', [1, 3, size, size]), 3, stem, 3, stride=2)), stem
    for n_blocks, n_out, factor, kernel, stride in stages:
        for i in range(n_blocks):
            x = inverted(net, x, n_in, n_out, factor, kernel, stride if i == 0 else 1, reduce_mean)
            n_in = n_out
    net.output(net.classify(net.silu(net.conv(x, n_in, head)), head, 100))


CASES = {
    'efficientnet': (efficientnet,
                     dict(size=224, stem=32, head=640, reduce_mean=False,
                          stages=[(1, 16, 1, 3, 1), (2, 24, 6, 3, 2), (2, 40, 6, 5, 2), (3, 80, 6, 3, 2),
                                  (3, 112, 6, 5, 1), (2, 192, 6, 5, 2)]),
                     dict(size=192, stem=40, head=960, reduce_mean=True,
                          stages=[(2, 24, 1, 3, 1), (3, 32, 4, 5, 2), (3, 48, 6, 3, 2),
                                  (4, 96, 6, 5, 2), (2, 136, 6, 3, 1), (1, 232, 6, 3, 2)]),
                     dict(size=48, head=64, stages=[(1, 16, 1, 3, 1), (2, 24, 6, 3, 2), (2, 40, 4, 5, 2)])),
}
