# SPDX-License-Identifier: GPL-2.0-or-later
"""Networks of bytes. Residual networks and inverted bottlenecks have one of two forms: QDQ, or QLinearConv and similar
ops. Their activations are unsigned or signed. A transformer has products that are dynamically quantized
(MatMulInteger)."""

import numpy as np

MS = 'com.microsoft'
# Weights have 7 bits: without VNNI, a sum of two products of 8-bit numbers saturates at 16 bits in ONNX Runtime.
MOST = 63


class Quantized:
    """A network of bytes. A value is (name, scale, zero point). All values are within about ±6, or from 0 to 12 after a
    Relu."""

    def __init__(self, net, form, signed):
        self.net, self.form = net, form
        self.element = np.int8 if signed else np.uint8
        self.least, self.signed = -128 if signed else 0, signed

    def scale(self, relu):
        net = self.net
        scale, zero = (8 / 255, self.least) if relu else (12 / 255, self.least + 128)
        return net.constant(scale), net.constant(zero, self.element), scale

    def quantize(self, x, relu=False):
        s, z, scale = self.scale(relu)
        return self.net.op('QuantizeLinear', x, s, z), s, z, scale

    def dequantize(self, x):
        return self.net.op('DequantizeLinear', *x[:3])

    def conv(self, x, n_in, n_out, kernel=1, stride=1, group=1, relu=True, gain=1.0):
        net, fan_in = self.net, n_in // group * kernel * kernel
        w = net.random.standard_normal((n_out, n_in // group, kernel, kernel)) * (gain * (1.4 if relu else 1.0) / np.sqrt(fan_in))
        ws = (np.abs(w).max((1, 2, 3)) / MOST).astype(np.float32)
        wq = net.constant(np.round(w / ws[:, None, None, None]), np.int8)
        bias = net.constant(np.round(net.random.uniform(-0.1, 0.1, n_out) / (ws * x[3])), np.int32)
        how = dict(kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[kernel // 2] * 4, group=group)
        w_scale, w_zero = net.constant(ws), net.constant(np.zeros(n_out), np.int8)
        if self.form == 'QLinear':
            s, z, scale = self.scale(relu)
            return net.op('QLinearConv', *x[:3], wq, w_scale, w_zero, s, z, bias, **how), s, z, scale
        b_scale, b_zero = net.constant(ws * np.float32(x[3])), net.constant(np.zeros(n_out), np.int32)
        y = net.op('Conv', self.dequantize(x), net.op('DequantizeLinear', wq, w_scale, w_zero, axis=0),
                   net.op('DequantizeLinear', bias, b_scale, b_zero, axis=0), **how)
        return self.quantize(net.op('Relu', y) if relu else y, relu)

    def add(self, a, b, relu):
        net = self.net
        if self.form == 'QLinear':
            s, z, scale = self.scale(relu)
            return net.op('QLinearAdd', *a[:3], *b[:3], s, z, domain=MS), s, z, scale
        y = net.op('Add', self.dequantize(a), self.dequantize(b))
        return self.quantize(net.op('Relu', y) if relu else y, relu)

    def pool(self, x):
        """Adds a MaxPool, whose result has the scale and the zero point of its operand."""
        how = dict(kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
        if self.form == 'QLinear':
            return self.net.op('MaxPool', x[0], **how), *x[1:]
        return self.quantize(self.net.op('MaxPool', self.dequantize(x), **how), True)

    def classify(self, x, n_in, n_classes):
        net = self.net
        w = net.random.standard_normal((n_in, n_classes)) / np.sqrt(n_in)
        ws = np.abs(w).max() / MOST
        wq, w_scale, w_zero = net.constant(np.round(w / ws), np.int8), net.constant(ws), net.constant(0, np.int8)
        if self.form == 'QLinear':
            s, z, scale = self.scale(True)
            y = net.op('QLinearGlobalAveragePool', *x[:3], s, z, domain=MS, channels_last=0)
            s2, z2, _ = self.scale(False)
            y = net.op('QLinearMatMul', net.op('Flatten', y), s, z, wq, w_scale, w_zero, s2, z2)
            return net.op('DequantizeLinear', y, s2, z2)
        y = self.quantize(net.op('GlobalAveragePool', self.dequantize(x)), True)
        y = (net.op('Flatten', y[0]), *y[1:])
        y = net.op('MatMul', self.dequantize(y), net.op('DequantizeLinear', wq, w_scale, w_zero))
        return self.dequantize(self.quantize(y))


def residual(net, form, signed, size, stem, stages):
    """`stages` has, for each stage, the number of blocks and the number of channels."""
    q = Quantized(net, form, signed)
    x = q.conv(q.quantize(net.input('x', [1, 3, size, size])), 3, stem, 7, 2)
    x, n_in = q.pool(x), stem
    for i, (n_blocks, n) in enumerate(stages):
        for j in range(n_blocks):
            stride = 2 if i > 0 and j == 0 else 1
            y = q.conv(q.conv(x, n_in, n, 3, stride), n, n, 3, relu=False, gain=0.7)
            x, n_in = q.add(y, q.conv(x, n_in, n, stride=stride, relu=False) if n != n_in else x, True), n
    net.output(q.classify(x, n_in, 100), [1, 100])


def inverted(net, form, signed, size, stages, factor):
    """`stages` has, for each stage, the number of blocks, the number of channels, and the stride of the first block."""
    q, n_in = Quantized(net, form, signed), 32
    x = q.conv(q.quantize(net.input('x', [1, 3, size, size])), 3, n_in, 3, 2)
    for n_blocks, n, first in stages:
        for i in range(n_blocks):
            stride, m = first if i == 0 else 1, n_in * factor
            y = q.conv(q.conv(x, n_in, m), m, m, 3, stride, m)
            y = q.conv(y, m, n, relu=False)
            x, n_in = q.add(y, x, False) if stride == 1 and n == n_in else y, n
    net.output(q.classify(q.conv(x, n_in, 640), 640, 100), [1, 100])


def product(net, x, n_in, n_out, gain=1.0):
    """Adds a product with dynamic quantization: nodes compute the scale of the operand in each run."""
    w = net.random.standard_normal((n_in, n_out)) * (gain / np.sqrt(n_in))
    ws = np.abs(w).max() / MOST
    y, scale, zero = net.op('DynamicQuantizeLinear', x, n_results=3)
    y = net.op('MatMulInteger', y, net.constant(np.round(w / ws), np.int8), zero, net.constant(0, np.int8))
    y = net.op('Mul', net.op('Cast', y, to=1), net.op('Mul', scale, net.constant(ws)))
    return net.op('Add', y, net.bias(n_out))


def dynamic(net, n_rows, width, n_heads, n_layers):
    n = width // n_heads
    x = net.op('Gather', net.weight(1000, width, fan_in=1), net.input('ids', [1, n_rows], 'int64'))
    for _ in range(n_layers):
        q, k, v = (net.transpose(net.reshape(product(net, x, width, width), 1, n_rows, n_heads, n), *perm)
                   for perm in ((0, 2, 1, 3), (0, 2, 3, 1), (0, 2, 1, 3)))
        y = net.reshape(net.transpose(net.attend(q, k, v, n), 0, 2, 1, 3), 1, n_rows, width)
        x = net.layer_norm(net.op('Add', x, product(net, y, width, width, 0.5)), width)
        y = product(net, net.gelu(product(net, x, width, 4 * width)), 4 * width, width, 0.7)
        x = net.layer_norm(net.op('Add', x, y), width)
    net.output(x)


RESIDUAL = (dict(size=160, stem=64, stages=[(2, 64), (2, 128), (2, 256)]),
            dict(size=128, stem=48, stages=[(2, 48), (3, 96), (3, 192), (1, 384)]),
            dict(size=32, stem=16, stages=[(1, 16), (2, 24)]))
INVERTED = (dict(size=192, factor=6, stages=[(1, 16, 1), (2, 24, 2), (3, 32, 2), (4, 64, 2), (3, 96, 1), (2, 160, 2)]),
            dict(size=224, factor=4, stages=[(1, 24, 1), (3, 32, 2), (3, 48, 2), (3, 96, 2), (2, 128, 1)]),
            dict(size=32, factor=4, stages=[(1, 16, 1), (2, 24, 2)]))


def both(build, sizes, form, signed):
    """Returns a builder and the sizes of its networks. Activations of the used network are signed if `signed`.
    Activations of the held-back network are signed if not `signed`."""
    used, held, small = sizes
    return build, dict(used, form=form, signed=signed), dict(held, form=form, signed=not signed), small


CASES = {
    'qdq-residual': both(residual, RESIDUAL, 'QDQ', False),
    'qlinear-residual': both(residual, RESIDUAL, 'QLinear', True),
    'qdq-inverted': both(inverted, INVERTED, 'QDQ', True),
    'qlinear-inverted': both(inverted, INVERTED, 'QLinear', False),
    'matmul-integer': (dynamic, dict(n_rows=128, width=256, n_heads=4, n_layers=4),
                       dict(n_rows=64, width=384, n_heads=6, n_layers=3),
                       dict(n_rows=16, width=48, n_heads=3, n_layers=2)),
}
