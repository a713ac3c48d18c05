# SPDX-License-Identifier: GPL-2.0-or-later
"""Detection networks with the heads that exporters write: boxes, center points, lines, landmarks, pyramids."""

import numpy as np


def prelu(net, x, n):
    return net.op('PRelu', x, net.constant(net.random.uniform(0.1, 0.3, (n, 1, 1))))


def conv(net, x, n_in, n_out, kernel=1, stride=1):
    return net.silu(net.conv(x, n_in, n_out, kernel, stride=stride, gain=1.2))


def bottleneck(net, x, n, kernels, shortcut=True):
    y = x
    for kernel in kernels:
        y = conv(net, y, n, n, kernel)
    return net.op('Add', x, y) if shortcut else y


def csp(net, x, n_in, n, n_blocks, shortcut=True):
    """Cross-stage partial block of YOLOv5: two branches of half the channels, one with bottlenecks."""
    y, z = conv(net, x, n_in, n // 2), conv(net, x, n_in, n // 2)
    for _ in range(n_blocks):
        y = bottleneck(net, y, n // 2, (1, 3), shortcut)
    return conv(net, net.op('Concat', y, z, axis=1), n, n)


def c2f(net, x, n_in, n, n_blocks, shortcut=True):
    """Block of YOLOv8: splits the channels of a convolution's result in two halves, and concatenates the halves and the
    results of all bottlenecks."""
    parts = net.split(conv(net, x, n_in, n), [n // 2, n // 2], 1)
    for _ in range(n_blocks):
        parts.append(bottleneck(net, parts[-1], n // 2, (3, 3), shortcut))
    return conv(net, net.op('Concat', *parts, axis=1), n // 2 * len(parts), n)


def pooled(net, x, n):
    """Three consecutive 5x5 poolings, whose results are concatenated with their input."""
    parts = [conv(net, x, n, n // 2)]
    for _ in range(3):
        parts.append(net.pool(parts[-1], 5, 1))
    return conv(net, net.op('Concat', *parts, axis=1), 2 * n, n)


def backbone(net, x, width, depths, block):
    """Returns (value, channels) at strides 8, 16 and 32."""
    x, n, levels = conv(net, x, 3, width, 6 if block is csp else 3, 2), width, []
    for depth in depths:
        x = block(net, conv(net, x, n, 2 * n, 3, 2), 2 * n, 2 * n, depth)
        n *= 2
        levels.append((x, n))
    levels[-1] = (pooled(net, x, n), n)
    return levels[1:]


def neck(net, levels, block, depth, reduce):
    """Path aggregation: Resizes lead from the smallest level to the largest level, and strided convolutions lead back.
    With `reduce`, a 1x1 convolution precedes each join, as in YOLOv5. Without `reduce`, no convolution precedes a join,
    as in YOLOv8."""
    (x, n), laterals = levels[-1], []
    for skip, m in reversed(levels[:-1]):
        if reduce:
            x, n = conv(net, x, n, m), m
        laterals.append((x, n))
        x = net.op('Concat', net.resize(x, 2), skip, axis=1)
        x, n = block(net, x, n + m, m, depth, False), m
    outs = [(x, n)]
    for lateral, m in reversed(laterals):
        x = net.op('Concat', conv(net, x, n, n, 3, 2), lateral, axis=1)
        x, n = block(net, x, n + m, 2 * n, depth, False), 2 * n
        outs.append((x, n))
    return outs


def grid(rows, columns):
    """Returns the cells of a grid as [1, 1, rows, columns, 2], x before y."""
    y, x = np.meshgrid(np.arange(rows), np.arange(columns), indexing='ij')
    return np.stack((x, y), -1)[None, None].astype(np.float32)


def yolov5(net, size, width, depths, n_classes=80, by_slice=False):
    """Anchor head: reshapes [1, 255, H, W] to [1, 3, 85, H, W], transposes that to [1, 3, H, W, 85], computes boxes, and
    concatenates the boxes of all levels."""
    outs = neck(net, backbone(net, net.input('images', [1, 3, *size]), width, depths, csp), csp, 1, True)
    n_values, all_boxes = n_classes + 5, []
    for i, (x, n) in enumerate(outs):
        stride = 8 << i
        rows, columns = size[0] // stride, size[1] // stride
        y = net.reshape(net.conv(x, n, 3 * n_values), 1, 3, n_values, rows, columns)
        y = net.op('Sigmoid', net.transpose(y, 0, 1, 3, 4, 2))
        if by_slice:
            xy, wh, scores = (net.slice(y, begin, end, 4) for begin, end in ((0, 2), (2, 4), (4, n_values)))
        else:
            xy, wh, scores = net.split(y, [2, 2, n_classes + 1], 4)
        cells = np.broadcast_to(grid(rows, columns) - 0.5, (1, 3, rows, columns, 2))
        anchors = np.broadcast_to(net.random.uniform(1, 8, (1, 3, 1, 1, 2)) * stride, (1, 3, rows, columns, 2))
        xy = net.op('Mul', net.op('Add', net.op('Mul', xy, net.constant(2.0)), net.constant(cells)), net.constant(float(stride)))
        wh = net.op('Mul', net.op('Pow', net.op('Mul', wh, net.constant(2.0)), net.constant(2.0)), net.constant(anchors))
        boxes = net.op('Concat', xy, wh, scores, axis=4)
        all_boxes.append(net.reshape(boxes, 1, 3 * rows * columns, n_values))
    net.output(net.op('Concat', *all_boxes, axis=1))


def yolov8(net, size, width, depths, n_classes=80, n_bins=16):
    """Anchor-free head: concatenates all levels and computes distances as a softmax over bins."""
    outs = neck(net, backbone(net, net.input('images', [1, 3, *size]), width, depths, c2f), c2f, 1, False)
    n_box, flat, centers, strides = max(16, outs[0][1] // 4, 4 * n_bins), [], [], []
    for i, (x, n) in enumerate(outs):
        stride = 8 << i
        rows, columns = size[0] // stride, size[1] // stride
        box = net.conv(conv(net, conv(net, x, n, n_box, 3), n_box, n_box, 3), n_box, 4 * n_bins)
        n_score = max(outs[0][1], min(n_classes, 100))
        score = net.conv(conv(net, conv(net, x, n, n_score, 3), n_score, n_score, 3), n_score, n_classes)
        y = net.op('Concat', box, score, axis=1)
        flat.append(net.reshape(y, 1, 4 * n_bins + n_classes, rows * columns))
        centers.append(grid(rows, columns).reshape(-1, 2).T[None] + 0.5)
        strides.append(np.full((1, 1, rows * columns), stride))
    count = sum(rows.shape[2] for rows in centers)
    box, score = net.split(net.op('Concat', *flat, axis=2), [4 * n_bins, n_classes], 1)
    y = net.transpose(net.reshape(box, 1, 4, n_bins, count), 0, 2, 1, 3)
    bins = net.constant(np.arange(n_bins).reshape(1, n_bins, 1, 1))
    y = net.reshape(net.op('Conv', net.op('Softmax', y, axis=1), bins, kernel_shape=[1, 1]), 1, 4, count)
    points = net.constant(np.concatenate(centers, 2))
    first, last = net.op('Sub', points, net.slice(y, 0, 2, 1)), net.op('Add', points, net.slice(y, 2, 4, 1))
    middle = net.op('Div', net.op('Add', first, last), net.constant(2.0))
    boxes = net.op('Mul', net.op('Concat', middle, net.op('Sub', last, first), axis=1), net.constant(np.concatenate(strides, 2)))
    net.output(net.op('Concat', boxes, net.op('Sigmoid', score), axis=1))


def residual(net, x, n_in, n_out, stride=1):
    y = net.conv(net.conv_relu(x, n_in, n_out, 3, stride=stride), n_out, n_out, 3, gain=0.7)
    x = net.conv(x, n_in, n_out, stride=stride) if stride > 1 or n_in != n_out else x
    return net.op('Relu', net.op('Add', x, y))


def hourglass(net, x, widths, depth):
    """Returns the sum of two branches of x [N, widths[0], H, W]. One branch keeps the size. The other branch halves the
    size, goes through the inner hourglass, and doubles the size."""
    n, m = widths[:2]
    branch = x
    for _ in range(depth):
        branch = residual(net, branch, n, n)
    x = residual(net, residual(net, x, n, m, 2), m, m)
    x = hourglass(net, x, widths[1:], depth) if len(widths) > 2 else residual(net, x, m, m)
    return net.op('Add', branch, net.resize(residual(net, residual(net, x, m, m), m, n), 2))


def peaks(net, heat):
    """Returns `heat` with 0 in place of each value that is not the maximum of its 3x3 neighborhood."""
    return net.op('Mul', heat, net.op('Cast', net.op('Equal', net.pool(heat, 3, 1), heat), to=1))


def centernet(net, size, n_stem, widths, depth, n_classes, deconv):
    """Detector of center points: an hourglass or, with `deconv`, a residual encoder and transposed convolutions."""
    x, n = net.conv_relu(net.input('x', [1, 3, *size]), 3, n_stem, 7, stride=2), widths[0]
    x = residual(net, x, n_stem, n, 2)
    if deconv:
        for width in widths[1:]:
            x, n = residual(net, residual(net, x, n, width, 2), width, width), width
        for width in reversed(widths[:-1]):
            weights = net.weight(n, width, 4, 4, fan_in=4 * n, gain=1.4)
            x = net.op('Relu', net.op('ConvTranspose', net.conv_relu(x, n, n, 3), weights, net.bias(width), kernel_shape=[4, 4],
                                      strides=[2, 2], pads=[1] * 4))
            n = width
    else:
        x = net.conv_relu(hourglass(net, x, widths, depth), n, n, 3)
    heat, offset, extent = (net.conv(net.conv_relu(x, n, 64, 3), 64, m) for m in (n_classes, 2, 2))
    net.output(peaks(net, net.op('Sigmoid', heat)))
    net.output(offset)
    net.output(extent)


def inverted(net, x, n_in, n_out, stride, expand):
    y, n = (net.op('Clip', net.conv(x, n_in, n_in * expand, gain=1.4), net.constant(0.0), net.constant(6.0)), n_in * expand) \
        if expand > 1 else (x, n_in)
    y = net.op('Clip', net.conv(y, n, n, 3, stride=stride, group=n, gain=1.4), net.constant(0.0), net.constant(6.0))
    y = net.conv(y, n, n_out)
    return net.op('Add', x, y) if stride == 1 and n_in == n_out else y


def lines(net, size, width, stages, tail):
    """Line detector (M-LSD): MobileNetV2, a decoder with joins at four scales, and dilated convolutions at half the size."""
    x, n, levels = net.conv_relu(net.input('x', [1, 4, *size]), 4, width, 3, stride=2), width, []
    for n_out, count, stride, expand in stages:
        if stride > 1:
            levels.append((x, n))
        for i in range(count):
            x, n = inverted(net, x, n, n_out, stride if i == 0 else 1, expand), n_out
    for skip, m in reversed(levels[-3:]):
        up = net.resize(net.conv_relu(x, n, tail // 2), 2, 'linear', 'half_pixel')
        x = net.op('Concat', net.conv_relu(skip, m, tail // 2), up, axis=1)
        x, n = residual(net, x, tail, tail), tail
    x = net.conv_relu(net.conv_relu(x, n, n, 3, dilation=5), n, n, 3)
    x = net.slice(net.conv(x, n, 16), 7, 16, 1)
    center, displacement = net.split(x, [1, 8], 1)
    net.output(peaks(net, net.op('Sigmoid', net.resize(center, 2, 'linear', 'half_pixel'))))
    net.output(displacement)


def iris(net, size, n, n_blocks, heads):
    """Iris landmarks: bottlenecks with depthwise convolutions and PReLU, a Pad that adds channels, and two heads that give
    vectors."""
    def block(x, n_in, n_out, down):
        y = prelu(net, net.conv(x, n_in, n_out // 2, 2 if down else 1, stride=2 if down else 1, pads=[0] * 4), n_out // 2)
        y = net.conv(net.conv(y, n_out // 2, n_out // 2, 3, group=n_out // 2), n_out // 2, n_out, gain=0.7)
        x = net.pool(x) if down else x
        if n_in != n_out:
            x = net.op('Pad', x, net.ints(0, 0, 0, 0, 0, n_out - n_in, 0, 0), net.constant(0.0))
        return prelu(net, net.op('Add', x, y), n_out)

    x = prelu(net, net.conv(net.transpose(net.input('x', [1, size, size, 3]), 0, 3, 1, 2), 3, n, 3, stride=2), n)
    for i in range(2):
        for j in range(n_blocks):
            x = block(x, n, n if i == 0 or j else 2 * n, i > 0 and j == 0)
            n *= 2 if i > 0 and j == 0 else 1
    for n_values in heads:
        y = x
        for j in range(2 * n_blocks):
            y = block(y, n, n, j % n_blocks == 0)
        extent = size // 16
        net.output(net.reshape(net.conv(y, n, n_values, extent, pads=[0] * 4), 1, n_values))


def bifpn(net, size, width, stages, n, n_repeats, n_anchors, n_classes):
    """EfficientDet: a pyramid joined in both directions by weighted sums, separable convolutions, and heads whose weights all
    levels share."""
    x, m, levels = net.silu(net.conv(net.input('x', [1, 3, *size]), 3, width, 3, stride=2)), width, []
    for n_out, count in stages:
        for i in range(count):
            x, m = inverted(net, x, m, n_out, 2 if i == 0 else 1, 4), n_out
        levels.append(net.conv(x, m, n))
    levels = levels[1:]
    levels.append(net.pool(levels[-1]))

    def join(*parts):
        shares = net.random.dirichlet([4] * len(parts))
        x = net.op('Sum', *(net.op('Mul', part, net.constant(share)) for part, share in zip(parts, shares)))
        return net.conv(net.conv(net.silu(x), n, n, 3, group=n), n, n)

    for _ in range(n_repeats):
        down = [levels[-1]]
        for level in reversed(levels[:-1]):
            down.insert(0, join(level, net.resize(down[0], 2)))
        up = [down[0]]
        for level, middle in zip(levels[1:], down[1:]):
            up.append(join(level, middle, net.pool(up[-1])))
        levels = up
    for n_values, last in ((4, None), (n_classes, 'Sigmoid')):
        rows = []
        for i, x in enumerate(levels):
            for _ in range(2):
                x = net.silu(net.conv(net.conv(x, n, n, 3, group=n), n, n))
            x = net.conv(net.conv(x, n, n, 3, group=n), n, n_anchors * n_values)
            count = size[0] * size[1] * n_anchors // (8 << i) ** 2
            rows.append(net.reshape(net.transpose(x, 0, 2, 3, 1), 1, count, n_values))
        x = net.op('Concat', *rows, axis=1)
        net.output(net.op(last, x) if last else x)


LINES = [(16, 1, 1, 1), (24, 2, 2, 6), (32, 3, 2, 6), (64, 4, 2, 6), (96, 3, 1, 6)]
CASES = {
    'yolov5': (yolov5, dict(size=(320, 320), width=16, depths=[1, 2, 3, 1])),
    'yolov5-slices': (yolov5, dict(size=(256, 416), width=16, depths=[1, 2, 3, 1], n_classes=20, by_slice=True)),
    'yolov8': (yolov8, dict(size=(320, 320), width=16, depths=[1, 2, 2, 1])),
    'centernet': (centernet, dict(size=(512, 512), n_stem=48, widths=[64, 96, 128, 192, 256], depth=3, n_classes=4, deconv=False)),
    'centernet-deconv': (centernet, dict(size=(384, 384), n_stem=32, widths=[64, 96, 128, 256], depth=1, n_classes=4, deconv=True)),
    'lines': (lines, dict(size=(512, 512), width=32, stages=LINES, tail=64)),
    'lines-tiny': (lines, dict(size=(320, 320), width=32, stages=LINES[:4], tail=32)),
    'iris': (iris, dict(size=64, n=64, n_blocks=5, heads=[213, 15])),
    'efficientdet': (bifpn, dict(size=(256, 256), width=16, stages=[(16, 1), (24, 2), (40, 2), (80, 3)], n=48, n_repeats=2,
                                 n_anchors=6, n_classes=20)),
}
