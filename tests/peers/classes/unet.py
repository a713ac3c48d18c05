# SPDX-License-Identifier: GPL-2.0-or-later
"""U-nets that upsample by a ConvTranspose, or by a Resize and a convolution."""


def twice(net, x, n_in, n):
    return net.conv_relu(net.conv_relu(x, n_in, n, 3), n, n, 3)


def up(net, x, n, by):
    if by == 'transpose':
        weights = net.weight(n, n // 2, 2, 2, fan_in=n)
        return net.op('ConvTranspose', x, weights, net.bias(n // 2), kernel_shape=[2, 2], strides=[2, 2])
    if by == 'linear':
        return net.conv(net.resize(x, 2, 'linear', 'half_pixel'), n, n // 2)
    return net.conv(net.resize(x, 2), n, n // 2, 3)


def unet(net, size, width, depth, by):
    x, skips = twice(net, net.input('x', [1, 3, *size]), 3, width), []
    n = width
    for _ in range(depth):
        skips.append(x)
        x = twice(net, net.pool(x), n, 2 * n)
        n *= 2
    for skip in reversed(skips):
        x = twice(net, net.op('Concat', skip, up(net, x, n, by), axis=1), n, n // 2)
        n //= 2
    net.output(net.op('Sigmoid', net.conv(x, n, 2)))


CASES = {
    'unet-transpose': (unet, dict(size=(96, 128), width=24, depth=3, by='transpose'),
                       dict(size=(80, 96), width=32, depth=4, by='transpose'), dict(size=(32, 48), width=8, depth=2)),
    'unet-resize': (unet, dict(size=(96, 128), width=24, depth=3, by='linear'),
                    dict(size=(96, 80), width=32, depth=3, by='nearest'), dict(size=(32, 48), width=8, depth=2)),
}
