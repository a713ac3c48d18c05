# SPDX-License-Identifier: GPL-2.0-or-later
"""Residual networks of bottlenecks: plain (as ResNet-50) and with grouped convolutions (as ResNeXt)."""


def block(net, x, n_in, n_mid, n_out, stride, group, norm):
    def conv(x, n_from, n_to, kernel=1, gain=1.4, **how):
        y = net.conv(x, n_from, n_to, kernel, gain=gain, bias=not norm, **how)
        return net.batch_norm(y, n_to) if norm else y

    y = net.op('Relu', conv(x, n_in, n_mid))
    y = net.op('Relu', conv(y, n_mid, n_mid, 3, stride=stride, group=group))
    y = conv(y, n_mid, n_out, gain=0.5)
    if stride > 1 or n_in != n_out:
        x = conv(x, n_in, n_out, gain=1.0, stride=stride)
    return net.op('Relu', net.op('Add', y, x))


def bottlenecks(net, size, stem, stages, n_group, norm):
    """`stages` has, for each stage, the number of blocks, of inner channels and of result channels. `n_group` has, for
    each stage, the channels of a group; None: no groups."""
    x = net.pool(net.conv_relu(net.input('x', [1, 3, size, size]), 3, stem, 7, stride=2), 3)
    n_in = stem
    for i, (n_blocks, n_mid, n_out) in enumerate(stages):
        for j in range(n_blocks):
            x = block(net, x, n_in, n_mid, n_out, 2 if i > 0 and j == 0 else 1, n_mid // n_group[i] if n_group else 1, norm)
            n_in = n_out
    net.output(net.classify(x, n_in, 100))


CASES = {
    'resnet': (bottlenecks,
               dict(size=128, stem=64, stages=[(2, 64, 256), (2, 128, 512), (3, 256, 1024), (1, 512, 2048)],
                    n_group=None, norm=False),
               dict(size=160, stem=48, stages=[(1, 48, 192), (3, 96, 384), (3, 192, 768)], n_group=None, norm=True),
               dict(size=32, stages=[(1, 16, 32), (2, 32, 64)])),
    'resnext': (bottlenecks,
                dict(size=128, stem=64, stages=[(2, 128, 256), (2, 256, 512), (2, 512, 1024)], n_group=[4, 8, 16], norm=False),
                dict(size=96, stem=64, stages=[(3, 128, 256), (3, 256, 512), (2, 512, 512)], n_group=[4, 4, 8], norm=True),
                dict(size=32, stages=[(1, 32, 32), (2, 64, 64)])),
}
