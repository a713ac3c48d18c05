# SPDX-License-Identifier: GPL-2.0-or-later
"""Channel shuffle: with grouped 1x1 convolutions (ShuffleNet), and with one half of the channels unchanged
(ShuffleNetV2)."""


def shuffle(net, x, n, size, groups):
    x = net.reshape(x, 1, groups, n // groups, size, size)
    return net.reshape(net.transpose(x, 0, 2, 1, 3, 4), 1, n, size, size)


def grouped_unit(net, x, n, size, groups):
    y = net.conv_relu(x, n, n // 4, group=groups)
    y = shuffle(net, y, n // 4, size, groups)
    y = net.conv(y, n // 4, n // 4, 3, group=n // 4)
    return net.op('Relu', net.op('Add', net.conv(y, n // 4, n, group=groups, gain=0.7), x))


def half_unit(net, x, n, size):
    left, y = net.split(x, [n // 2, n // 2], 1)
    y = net.conv_relu(y, n // 2, n // 2)
    y = net.conv(y, n // 2, n // 2, 3, group=n // 2)
    y = net.op('Concat', left, net.conv_relu(y, n // 2, n // 2), axis=1)
    return shuffle(net, y, n, size, 2)


def down_unit(net, x, n_in, n, size):
    left = net.conv_relu(net.conv(x, n_in, n_in, 3, stride=2, group=n_in), n_in, n // 2)
    y = net.conv(net.conv_relu(x, n_in, n // 2), n // 2, n // 2, 3, stride=2, group=n // 2)
    return shuffle(net, net.op('Concat', left, net.conv_relu(y, n // 2, n // 2), axis=1), n, size, 2)


def shufflenet(net, size, stages, groups):
    """`groups` is the number of groups, or 0 for ShuffleNetV2, in which half of the channels stay unchanged. `stages`
    has, for each stage, the number of blocks and of channels."""
    n_in = 24
    x = net.pool(net.conv_relu(net.input('x', [1, 3, size, size]), 3, n_in, 3, stride=2), 3)
    size //= 4
    for n_units, n in stages:
        size //= 2
        x = down_unit(net, x, n_in, n, size)
        for _ in range(n_units):
            x = grouped_unit(net, x, n, size, groups) if groups else half_unit(net, x, n, size)
        n_in = n
    net.output(net.classify(x, n_in, 100))


CASES = {
    'shuffle-grouped': (shufflenet, dict(size=256, stages=[(3, 240), (7, 480), (3, 960)], groups=3),
                        dict(size=224, stages=[(4, 288), (6, 576), (2, 1152)], groups=4),
                        dict(size=64, stages=[(2, 48), (1, 96)])),
    'shuffle-halves': (shufflenet, dict(size=256, stages=[(3, 244), (7, 488), (3, 976)], groups=0),
                       dict(size=288, stages=[(3, 176), (7, 352), (3, 704)], groups=0),
                       dict(size=64, stages=[(2, 44), (1, 88)])),
}
