# SPDX-License-Identifier: GPL-2.0-or-later
"""3-D convolutions and poolings, as in C3D and in residual networks for video."""


def c3d(net, shape, widths, residual):
    x, n = net.input('x', [1, 3, *shape]), 3
    for i, width in enumerate(widths):
        x = net.conv_relu(x, n, width, 3, rank=3)
        if residual and i > 0:
            y = net.conv(net.conv_relu(x, width, width, (1, 3, 3), rank=3), width, width, (3, 1, 1), gain=0.7, rank=3)
            x = net.op('Relu', net.op('Add', x, y))
        window = [1, 2, 2] if i == 0 else [2, 2, 2]
        x = net.op('AveragePool' if residual and i % 2 else 'MaxPool', x, kernel_shape=window, strides=window)
        n = width
    net.output(net.classify(x, n, 50))


CASES = {
    'c3d': (c3d, dict(shape=(8, 48, 48), widths=[24, 48, 96, 96], residual=False),
            dict(shape=(8, 56, 40), widths=[24, 48, 96, 192], residual=True),
            dict(shape=(4, 16, 24), widths=[8, 16])),
}
