# SPDX-License-Identifier: GPL-2.0-or-later
"""Networks of pictures and volumes: classifiers, segmentation, generators, matching."""

import numpy as np
import resnet
import unet
from detectors import inverted, residual


def resnet50(net, size):
    stages = [(3, 64, 256), (4, 128, 512), (6, 256, 1024), (3, 512, 2048)]
    resnet.bottlenecks(net, size, 64, stages, None, False)


def twice(net, x, n_in, n):
    return net.conv_relu(net.conv_relu(x, n_in, n, 3, rank=3), n, n, 3, rank=3)


def unet3d(net, shape, width, depth):
    """U-Net on a volume [1, 1, D, H, W]."""
    x, skips, n = twice(net, net.input('x', [1, 1, *shape]), 1, width), [], width
    for _ in range(depth):
        skips.append(x)
        x = twice(net, net.pool(x, rank=3), n, 2 * n)
        n *= 2
    for skip in reversed(skips):
        weights = net.weight(n, n // 2, 2, 2, 2, fan_in=n)
        x = net.op('ConvTranspose', x, weights, net.bias(n // 2), kernel_shape=[2] * 3, strides=[2] * 3)
        x, n = twice(net, net.op('Concat', skip, x, axis=1), n, n // 2), n // 2
    net.output(net.op('Softmax', net.conv(x, n, 4, rank=3), axis=1))


MOBILENET = [(16, 1, 1, 1), (24, 2, 2, 6), (32, 3, 2, 6), (64, 4, 2, 6), (96, 3, 1, 6), (160, 3, 2, 6), (320, 1, 1, 6)]


def mobilenet(net, size, batch=1, rows_last=False):
    """MobileNetV2. With `rows_last`, the input is [N, H, W, C], and a Transpose to [N, C, H, W] follows, as in
    converted models."""
    x = net.input('x', [batch, size, size, 3] if rows_last else [batch, 3, size, size])
    x = net.transpose(x, 0, 3, 1, 2) if rows_last else x
    x, n = net.op('Clip', net.conv(x, 3, 32, 3, stride=2), net.constant(0.0), net.constant(6.0)), 32
    for n_out, count, stride, expand in MOBILENET:
        for i in range(count):
            x, n = inverted(net, x, n, n_out, stride if i == 0 else 1, expand), n_out
    net.output(net.classify(net.conv_relu(x, n, 1280), 1280, 1000))


def transposed_layers(net, size, widths):
    """Separable convolutions of a channels-last model. Each group of layers has a Transpose before it and after it, as
    in converted models."""
    x, n = net.input('x', [1, size, size, 3]), 3
    for i, width in enumerate(widths):
        y = net.conv_relu(net.transpose(x, 0, 3, 1, 2), n, width, 3 if i == 0 else 1, stride=2 if i == 0 else 1)
        y = net.conv_relu(y, width, width, 3, group=width, stride=1 + i % 2)
        x, n = net.op('Mul', net.transpose(y, 0, 2, 3, 1), net.constant(net.random.uniform(0.8, 1.2, (width,)))), width
    x = net.op('ReduceMean', x, axes=[1, 2], keepdims=0)
    net.output(net.linear(x, n, 10))


def high_resolution(net, size, widths, n_modules, n_points):
    """HRNet: parallel branches of several resolutions, which are joined with each other after each module. Gives heat maps."""
    x = net.conv_relu(net.conv_relu(net.input('x', [1, 3, *size]), 3, widths[0], 3, stride=2), widths[0], widths[0], 3, stride=2)
    branches = [x]
    for i in range(len(widths)):
        if i > 0:
            branches.append(net.conv_relu(branches[-1], widths[i - 1], widths[i], 3, stride=2))
        for _ in range(n_modules):
            done = [residual(net, residual(net, x, n, n), n, n) for x, n in zip(branches, widths)]
            branches = [join(net, done, widths, to) for to in range(len(done))] if len(done) > 1 else done
    net.output(net.conv(branches[0], widths[0], n_points))


def join(net, branches, widths, to):
    """Returns the sum of all branches at the resolution of branch `to`."""
    parts = []
    for i, x in enumerate(branches):
        if i > to:
            x = net.resize(net.conv(x, widths[i], widths[to]), 2 ** (i - to))
        for step in range(i, to):
            x = net.conv(x, widths[step], widths[step + 1], 3, stride=2, gain=0.7)
        parts.append(x)
    total = parts[0]
    for part in parts[1:]:
        total = net.op('Add', total, part)
    return net.op('Relu', total)


def squeeze(net, size, fires):
    """SqueezeNet: modules of a 1x1 convolution to few channels, then a 1x1 and a 3x3 convolution in parallel. `fires`
    has an entry for each module: the channels of the first convolution, the channels of the module's result, and
    whether a pooling precedes the module."""
    x, n = net.conv_relu(net.input('x', [1, 3, size, size]), 3, 64, 3, stride=2), 64
    for few, many, pooled in fires:
        x = net.pool(x, 3) if pooled else x
        y = net.conv_relu(x, n, few)
        x, n = net.op('Concat', net.conv_relu(y, few, many), net.conv_relu(y, few, many, 3), axis=1), 2 * many
    net.output(net.op('Flatten', net.op('GlobalAveragePool', net.conv_relu(x, n, 100))))


def inception(net, size, widths):
    """GoogLeNet: four branches in parallel, concatenated."""
    x = net.pool(net.conv_relu(net.input('x', [1, 3, size, size]), 3, 64, 7, stride=2), 3)
    x, n = net.pool(net.conv_relu(net.conv_relu(x, 64, 64), 64, 192, 3), 3), 192
    for i, width in enumerate(widths):
        x = net.pool(x, 3) if i and i % 3 == 0 else x
        q = width // 4
        x = net.op('Concat', net.conv_relu(x, n, q), net.conv_relu(net.conv_relu(x, n, q), q, 2 * q, 3),
                   net.conv_relu(net.conv_relu(x, n, q // 4), q // 4, q // 2, 5),
                   net.conv_relu(net.pool(x, 3, 1), n, q // 2), axis=1)
        n = 4 * q
    net.output(net.classify(x, n, 100))


def style(net, size, width, n_blocks):
    """Style transfer: reflected borders, normalization of each channel, residual blocks, nearest-neighbor resizing."""
    def conv(x, n_in, n_out, kernel, stride=1, last=None):
        reach = kernel // 2
        x = net.op('Pad', x, net.ints(0, 0, reach, reach, 0, 0, reach, reach), mode='reflect')
        x = net.conv(x, n_in, n_out, kernel, stride=stride, pads=[0] * 4)
        x = net.op('InstanceNormalization', x, net.bias(n_out, 0.8, 1.2), net.bias(n_out))
        return net.op(last, x) if last else x

    x, n = conv(net.input('x', [1, 3, size, size]), 3, width, 9, 1, 'Relu'), width
    for _ in range(2):
        x, n = conv(x, n, 2 * n, 3, 2, 'Relu'), 2 * n
    for _ in range(n_blocks):
        x = net.op('Add', x, conv(conv(x, n, n, 3, 1, 'Relu'), n, n, 3))
    for _ in range(2):
        x, n = conv(net.resize(x, 2), n, n // 2, 3, 1, 'Relu'), n // 2
    net.output(conv(x, n, 3, 9, 1, 'Tanh'))


def deeplab(net, size, width, depths, n_middle, n_classes):
    """DeepLabV3+: a dilated last stage, and convolutions at several rates that are joined with a feature of high resolution."""
    x, n = net.pool(net.conv_relu(net.input('x', [1, 3, *size]), 3, width, 7, stride=2), 3), width
    early = None
    for i, depth in enumerate(depths):
        for j in range(depth):
            n_out = width << i
            x, n = residual(net, x, n, n_out, 2 if j == 0 and 0 < i < len(depths) - 1 else 1), n_out
        early = early or (x, n)
    rows, columns = (extent // (4 << len(depths) - 2) for extent in size)
    mean = net.conv_relu(net.op('GlobalAveragePool', x), n, n_middle)
    mean = net.op('Expand', mean, net.ints(1, n_middle, rows, columns))
    branches = [mean, net.conv_relu(x, n, n_middle)] + [net.conv_relu(x, n, n_middle, 3, dilation=rate) for rate in (2, 4, 6)]
    x = net.conv_relu(net.op('Concat', *branches, axis=1), 5 * n_middle, n_middle)
    x = net.resize(x, 1 << len(depths) - 2, 'linear', 'half_pixel')
    x = net.op('Concat', x, net.conv_relu(*early, 24), axis=1)
    x = net.conv(net.conv_relu(x, n_middle + 24, n_middle, 3), n_middle, n_classes)
    classes = net.op('ArgMax', net.resize(x, 4, 'linear', 'half_pixel'), axis=1, keepdims=0)
    net.output(net.op('Cast', classes, to=1))


def stereo(net, size, width, n_shifts):
    """Stereo disparity of two pictures: features with shared weights, a cost volume [1, C, shifts, H, W], 3-D convolutions,
    and the expected shift."""
    start = net.random.bit_generator.state
    features = []
    for name in ('left', 'right'):
        net.random.bit_generator.state = start
        x = net.conv_relu(net.conv_relu(net.input(name, [1, 3, *size]), 3, width, 3, stride=2), width, width, 3, stride=2)
        features.append(residual(net, residual(net, x, width, width), width, width))
    left, right = features
    layers = []
    for shift in range(n_shifts):
        moved = net.slice(right, 0, size[1] // 4 - shift, 3)
        moved = net.op('Pad', moved, net.ints(0, 0, 0, shift, 0, 0, 0, 0), net.constant(0.0)) if shift else moved
        layers.append(net.op('Unsqueeze', net.op('Concat', left, moved, axis=1), net.ints(2)))
    x, n = net.op('Concat', *layers, axis=2), 2 * width
    for _ in range(3):
        x, n = net.conv_relu(x, n, width, 3, rank=3), width
    cost = net.op('Squeeze', net.conv(x, n, 1, 3, rank=3), net.ints(1))
    shifts = net.constant(np.arange(n_shifts).reshape(1, n_shifts, 1, 1))
    expected = net.op('ReduceSum', net.op('Mul', net.op('Softmax', cost, axis=1), shifts), net.ints(1))
    net.output(net.resize(expected, 4, 'linear', 'half_pixel'))


def autoencoder(net, size, width, depth, n_code):
    """Anomaly detection: an autoencoder of strided and transposed convolutions. Gives the squared error as a picture."""
    start = x = net.input('x', [1, 3, size, size])
    n = 3
    for i in range(depth):
        x, n = net.op('LeakyRelu', net.conv(x, n, width << i, 4, stride=2, pads=[1] * 4), alpha=0.2), width << i
    x = net.conv(net.conv_relu(x, n, n_code), n_code, n)
    for i in reversed(range(depth)):
        n_out = width << i - 1 if i else 3
        weights = net.weight(n, n_out, 4, 4, fan_in=4 * n)
        x = net.op('ConvTranspose', x, weights, net.bias(n_out), kernel_shape=[4, 4], strides=[2, 2], pads=[1] * 4)
        x, n = net.op('Relu', x) if i else net.op('Sigmoid', x), n_out
    difference = net.op('Sub', start, x)
    net.output(net.op('ReduceMean', net.op('Mul', difference, difference), axes=[1]))


def ghost(net, size, stages):
    """GhostNet: a convolution computes half of the channels, and a depthwise convolution of these channels computes the
    other half. Gates come from the mean of the picture."""
    def module(x, n_in, n_out, relu):
        y = net.conv(x, n_in, n_out // 2)
        y = net.op('Relu', y) if relu else y
        z = net.conv(y, n_out // 2, n_out // 2, 3, group=n_out // 2)
        return net.op('Concat', y, net.op('Relu', z) if relu else z, axis=1)

    x, n = net.conv_relu(net.input('x', [1, 3, size, size]), 3, 16, 3, stride=2), 16
    for n_mid, n_out, stride, gated in stages:
        y = module(x, n, n_mid, True)
        y = net.conv(y, n_mid, n_mid, 3, stride=2, group=n_mid) if stride > 1 else y
        if gated:
            gate = net.conv(net.conv_relu(net.op('GlobalAveragePool', y), n_mid, n_mid // 4), n_mid // 4, n_mid)
            y = net.op('Mul', y, net.op('HardSigmoid', gate))
        y = module(y, n_mid, n_out, False)
        if stride > 1 or n != n_out:
            x = net.conv(net.conv(x, n, n, 3, stride=stride, group=n), n, n_out)
        x, n = net.op('Add', x, y), n_out
    net.output(net.classify(net.conv_relu(x, n, 240), 240, 100))


FIRES = [(16, 64, True), (16, 64, False), (32, 128, True), (32, 128, False), (48, 192, True), (48, 192, False), (64, 256, False)]
GHOSTS = [(16, 16, 1, False), (48, 24, 2, False), (72, 24, 1, False), (72, 40, 2, True), (120, 40, 1, True), (240, 80, 2, False),
          (200, 80, 1, False), (480, 112, 1, True), (672, 160, 2, True)]
CASES = {
    'resnet-50': (resnet50, dict(size=224)),
    'mobilenetv2': (mobilenet, dict(size=224)),
    'mobilenetv2-batch': (mobilenet, dict(size=128, batch=8)),
    'mobilenetv2-last': (mobilenet, dict(size=160, rows_last=True)),
    'unet': (unet.unet, dict(size=(256, 256), width=32, depth=4, by='transpose')),
    'unet-3d': (unet3d, dict(shape=(32, 64, 64), width=16, depth=3)),
    'transposed-layers': (transposed_layers, dict(size=128, widths=[16, 32, 32, 64, 64, 96])),
    'high-resolution': (high_resolution, dict(size=(256, 192), widths=[16, 32, 64], n_modules=2, n_points=17)),
    'squeezenet': (squeeze, dict(size=224, fires=FIRES)),
    'inception': (inception, dict(size=192, widths=[256, 320, 352, 512, 512, 512, 640, 832])),
    'style': (style, dict(size=224, width=16, n_blocks=4)),
    'deeplab': (deeplab, dict(size=(256, 256), width=32, depths=[2, 2, 2, 2], n_middle=96, n_classes=21)),
    'stereo': (stereo, dict(size=(96, 192), width=16, n_shifts=12)),
    'autoencoder': (autoencoder, dict(size=256, width=24, depth=4, n_code=16)),
    'ghostnet': (ghost, dict(size=192, stages=GHOSTS)),
}
