# SPDX-License-Identifier: GPL-2.0-or-later
"""Detectors with SiLU, concatenations and pyramids of poolings (as in the YOLO family), and of center points."""


def conv(net, x, n_in, n_out, kernel=1, stride=1):
    return net.silu(net.conv(x, n_in, n_out, kernel, stride=stride, gain=1.2))


def partial(net, x, n_in, n, n_blocks, by_split):
    """Adds a cross-stage partial block. If `by_split`, splits the channels of one convolution in two halves, and
    concatenates the halves and the results of all residual blocks."""
    h = n // 2
    if by_split:
        parts = net.split(conv(net, x, n_in, n), [h, h], 1)
        for _ in range(n_blocks):
            parts.append(net.op('Add', parts[-1], conv(net, conv(net, parts[-1], h, h, 3), h, h, 3)))
        return conv(net, net.op('Concat', *parts, axis=1), h * len(parts), n)
    y, z = conv(net, x, n_in, h), conv(net, x, n_in, h)
    for _ in range(n_blocks):
        y = net.op('Add', y, conv(net, conv(net, y, h, h), h, h, 3))
    return conv(net, net.op('Concat', y, z, axis=1), n, n)


def pyramid(net, x, n, parallel):
    """Adds poolings with windows of 5, 9 and 13: beside each other if `parallel`, else as three consecutive poolings of 5."""
    x = conv(net, x, n, n // 2)
    parts = [x]
    for kernel in (5, 9, 13):
        parts.append(net.pool(x if parallel else parts[-1], kernel if parallel else 5, 1))
    return conv(net, net.op('Concat', *parts, axis=1), 2 * n, n)


def silu_detector(net, size, width, blocks, by_split, parallel):
    n = width
    x, levels = conv(net, net.input('images', [1, 3, *size]), 3, n, 3, 2), []
    for n_blocks in blocks:
        x = partial(net, conv(net, x, n, 2 * n, 3, 2), 2 * n, 2 * n, n_blocks, by_split)
        n *= 2
        levels.append((x, n))
    x = pyramid(net, x, n, parallel)
    for i, (skip, m) in enumerate(reversed(levels[-3:-1])):
        x = net.resize(conv(net, x, n, m), 2)
        x, n = partial(net, net.op('Concat', x, skip, axis=1), 2 * m, m, 1, by_split), m
        rows, columns = (s // 2 ** (len(blocks) - i) for s in size)
        head = net.reshape(net.conv(conv(net, x, n, n, 3), n, 3 * 25), 1, 3, 25, rows * columns)
        box, score = net.split(net.transpose(head, 0, 1, 3, 2), [4, 21], 3)
        net.output(net.op('Concat', net.op('Mul', net.op('Sigmoid', box), net.constant(2.0)), net.op('Sigmoid', score), axis=3))


def center_point(net, size, width, depths, transposed):
    """A residual encoder, three steps of upsampling, and heads for heat, offset and size. A pooling finds the peaks of heat."""
    x, n = net.conv_relu(net.input('x', [1, 3, *size]), 3, width, 7, stride=2), width
    for i, depth in enumerate(depths):
        for j in range(depth):
            stride, n_out = 2 if j == 0 else 1, width * 2 ** i
            y = net.conv(net.conv_relu(x, n, n_out, 3, stride=stride), n_out, n_out, 3, gain=0.7)
            x = net.op('Relu', net.op('Add', y, net.conv(x, n, n_out, stride=stride) if stride > 1 else x))
            n = n_out
    for _ in range(len(depths) - 1):
        if transposed:
            weights = net.weight(n, n // 2, 4, 4, fan_in=4 * n, gain=1.4)
            x = net.op('ConvTranspose', x, weights, net.bias(n // 2), kernel_shape=[4, 4], strides=[2, 2], pads=[1] * 4)
            x = net.op('Relu', x)
        else:
            x = net.resize(net.conv_relu(x, n, n // 2, 3), 2, 'linear', 'half_pixel')
        n //= 2
    heads = [net.conv(net.conv_relu(x, n, 64, 3), 64, m) for m in (20, 2, 2)]
    heat = net.op('Sigmoid', heads[0])
    peaks = net.op('Cast', net.op('Equal', net.pool(heat, 3, 1), heat), to=1)
    net.output(net.op('Mul', heat, peaks))
    net.output(heads[1])
    net.output(heads[2])


CASES = {
    'detector-silu': (silu_detector, dict(size=(256, 256), width=16, blocks=[1, 2, 2, 1], by_split=False, parallel=True),
                      dict(size=(224, 288), width=16, blocks=[1, 2, 2, 1], by_split=True, parallel=False),
                      dict(size=(64, 96), width=8, blocks=[1, 1, 1])),
    'detector-centre': (center_point, dict(size=(192, 192), width=32, depths=[2, 2, 2, 1], transposed=True),
                        dict(size=(160, 224), width=32, depths=[2, 3, 2], transposed=False),
                        dict(size=(64, 64), width=8, depths=[1, 2])),
}
