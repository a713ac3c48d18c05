# SPDX-License-Identifier: GPL-2.0-or-later
"""Segmentation: parallel convolutions with several dilations and the mean of the image. A linear Resize gives the
result the size of the image. The result has few channels, which do not fill a vector."""


def atrous(net, size, widths, rates, n_middle, n_classes):
    x, n = net.input('x', [1, 3, *size]), 3
    for width in widths:
        x, n = net.conv_relu(x, n, width, 3, stride=2), width
    branches = [net.conv_relu(x, n, n_middle)]
    branches += [net.conv_relu(x, n, n_middle, 3, dilation=rate) for rate in rates]
    scale, small = 2 ** len(widths), [extent // 2 ** len(widths) for extent in size]
    mean = net.conv_relu(net.op('GlobalAveragePool', x), n, n_middle)
    branches.append(net.op('Resize', mean, '', net.constant([1, 1, *small]), mode='linear',
                           coordinate_transformation_mode='half_pixel'))
    x = net.conv_relu(net.op('Concat', *branches, axis=1), n_middle * len(branches), n_middle)
    net.output(net.resize(net.conv(x, n_middle, n_classes), scale, 'linear', 'half_pixel'))


CASES = {
    'segment': (atrous, dict(size=(192, 192), widths=[32, 64, 128], rates=[2, 4, 8], n_middle=64, n_classes=21),
                dict(size=(256, 320), widths=[24, 48, 96], rates=[3, 6], n_middle=48, n_classes=1),
                dict(size=(32, 48), widths=[8, 16], rates=[1, 3], n_middle=8, n_classes=5)),
}
