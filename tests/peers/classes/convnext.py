# SPDX-License-Identifier: GPL-2.0-or-later
"""7x7 depthwise convolutions, LayerNormalization over channels and two linear layers, as in ConvNeXt."""


def norm_channels(net, x, n):
    return net.transpose(net.layer_norm(net.transpose(x, 0, 2, 3, 1), n), 0, 3, 1, 2)


def block(net, x, n, as_convs):
    """Adds a block. If `as_convs`, the linear layers are 1x1 convolutions, and only the normalization has channels last."""
    y = net.conv(x, n, n, 7, group=n)
    if as_convs:
        y = net.gelu(net.conv(norm_channels(net, y, n), n, 4 * n, gain=1.5))
        return net.op('Add', x, net.conv(y, 4 * n, n))
    y = net.layer_norm(net.transpose(y, 0, 2, 3, 1), n)
    y = net.linear(net.gelu(net.linear(y, n, 4 * n, gain=1.5)), 4 * n, n)
    y = net.op('Mul', y, net.bias(n, 0.5, 1.0))
    return net.op('Add', x, net.transpose(y, 0, 3, 1, 2))


def convnext(net, size, stages, as_convs):
    x = net.conv(net.input('x', [1, 3, size, size]), 3, stages[0][1], 4, stride=4, pads=[0] * 4)
    x, n_in = norm_channels(net, x, stages[0][1]), stages[0][1]
    for n_blocks, n in stages:
        if n != n_in:
            x = net.conv(norm_channels(net, x, n_in), n_in, n, 2, stride=2, pads=[0] * 4)
        for _ in range(n_blocks):
            x = block(net, x, n, as_convs)
        n_in = n
    net.output(net.classify(x, n_in, 100))


CASES = {
    'convnext': (convnext, dict(opset=17, size=160, stages=[(2, 64), (2, 128), (4, 256), (1, 512)], as_convs=False),
                 dict(opset=13, size=128, stages=[(2, 80), (3, 160), (3, 320)], as_convs=True),
                 dict(size=32, stages=[(1, 16), (2, 32)])),
}
