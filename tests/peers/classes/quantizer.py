# SPDX-License-Identifier: GPL-2.0-or-later
"""Networks of other classes in the form that ONNX Runtime's static quantizer writes: operands and results of the listed
ops go through QuantizeLinear and DequantizeLinear. Weights are bytes with a scale for each channel, and biases are
int32. Scales do not depend on data: all values are within about ±6, and results of bounded functions from 0 to 1."""

import numpy as np
from onnx import numpy_helper

import detector
import efficientnet
import transformer
from net import Net
from quantized import MOST

LISTED = {'Conv', 'MatMul', 'Gemm', 'Add', 'Mul', 'Sigmoid', 'HardSigmoid', 'LeakyRelu', 'Softmax', 'AveragePool',
          'GlobalAveragePool', 'Concat', 'Split', 'MaxPool', 'Resize', 'Reshape', 'Transpose', 'Squeeze', 'Flatten'}
MOVERS = {'MaxPool', 'Resize', 'Reshape', 'Transpose', 'Split', 'Squeeze', 'Flatten'}  # ops whose result has the scale of the operand
BOUNDED = {'Sigmoid', 'HardSigmoid', 'Softmax'}


class QuantizedNet(Net):
    def begin(self, signed):
        self.scales, self.has_relu, self.element = {}, False, np.int8 if signed else np.uint8
        self.least = -128 if signed else 0
        return self

    def values_of(self, name):
        return next((numpy_helper.to_array(c) for c in self.constants if c.name == name), None)

    def pair(self, x, scale, zero):
        """Adds QuantizeLinear and DequantizeLinear to x."""
        s, z = self.constant(scale), self.constant(zero, self.element)
        y = super().op('DequantizeLinear', super().op('QuantizeLinear', x, s, z), s, z)
        self.scales[y] = (scale, zero)
        return y

    def quantized(self, x):
        return x if x in self.scales else self.pair(x, 12 / 255, self.least + 128)

    def weights(self, values, axis):
        """Quantizes weights with a scale for each index of the axis. If the axis is None, quantizes the weights with
        one scale and one zero point."""
        if axis is None:
            scale = max(float(np.abs(values).max()), 1e-3) / 127
            b = self.constant(np.clip(np.round(values / scale) + self.least + 128, self.least, self.least + 255), self.element)
            return super().op('DequantizeLinear', b, self.constant(scale), self.constant(self.least + 128, self.element)), scale
        others = tuple(i for i in range(values.ndim) if i != axis)
        scale = (np.maximum(np.abs(values).max(others), 1e-3) / MOST).astype(np.float32)
        shape = [-1 if i == axis else 1 for i in range(values.ndim)]
        b = self.constant(np.round(values / scale.reshape(shape)), np.int8)
        y = super().op('DequantizeLinear', b, self.constant(scale), self.constant(np.zeros(len(scale)), np.int8), axis=axis)
        return y, scale

    def operand(self, op, i, x, before, attrs):
        values = self.values_of(x)
        if values is None:
            return self.quantized(x) if values is None and x else x
        if values.dtype != np.float32 or op == 'Resize':
            return x
        if op in ('Conv', 'Gemm', 'MatMul') and i == 1:
            x, self.w_scale = self.weights(values, 0 if op == 'Conv' or attrs.get('transB') else values.ndim - 1)
            return x
        if op in ('Conv', 'Gemm') and i == 2:
            scale = (self.w_scale * np.float32(self.scales[before[0]][0])).astype(np.float32)
            b = self.constant(np.round(values / scale), np.int32)
            return super().op('DequantizeLinear', b, self.constant(scale), self.constant(np.zeros(len(scale)), np.int32), axis=0)
        return self.weights(values, None)[0]

    def op(self, op, *operands, n_results=1, domain='', **attrs):
        if op not in LISTED:
            return super().op(op, *operands, n_results=n_results, domain=domain, **attrs)
        before = []
        for i, x in enumerate(operands):
            before.append(self.operand(op, i, x, before, attrs))
        y = super().op(op, *before, n_results=n_results, domain=domain, **attrs)
        if self.has_relu:
            return self.pair(super().op('Relu', y), 8 / 255, self.least)
        scale, zero = self.scales[before[0]] if op in MOVERS else (1 / 255, self.least) if op in BOUNDED else (12 / 255, self.least + 128)
        return self.pair(y, scale, zero) if n_results == 1 else [self.pair(one, scale, zero) for one in y]

    def conv_relu(self, x, n_in, n_out, kernel=1, **how):
        """Adds a convolution and a Relu that are quantized together."""
        self.has_relu = True
        y = self.conv(x, n_in, n_out, kernel, gain=1.4, **how)
        self.has_relu = False
        return y


def hard_swish(net, x, as_one):
    if as_one:
        return net.op('HardSwish', x)
    y = net.op('Clip', net.op('Add', x, net.constant(3.0)), net.constant(0.0), net.constant(6.0))
    return net.op('Div', net.op('Mul', x, y), net.constant(6.0))


def mobilenet3(net, size, stages, head, as_one):
    """`stages` has, for each block: inner channels, result channels, kernel, stride, whether it has a squeeze, whether
    it has HardSwish."""
    x, n_in = hard_swish(net, net.conv(net.input('x', [1, 3, size, size]), 3, 16, 3, stride=2, gain=1.6), as_one), 16
    for inside, n_out, kernel, stride, squeezed, hard in stages:
        def conv(y, *how, **more):
            return hard_swish(net, net.conv(y, *how, gain=1.6, **more), as_one) if hard else net.conv_relu(y, *how, **more)
        y = conv(conv(x, n_in, inside), inside, inside, kernel, stride=stride, group=inside)
        if squeezed:
            z = net.conv(net.conv_relu(net.op('GlobalAveragePool', y), inside, inside // 4), inside // 4, inside)
            y = net.op('Mul', y, net.op('HardSigmoid', z, alpha=1 / 6))
        y = net.conv(y, inside, n_out, gain=1.4)
        x, n_in = net.op('Add', y, x) if stride == 1 and n_in == n_out else y, n_out
    x = hard_swish(net, net.conv(x, n_in, head, gain=1.6), as_one)
    net.output(net.classify(x, head, 100))


MOBILENET3 = (mobilenet3,
              dict(opset=14, size=224, head=576, as_one=True,
                   stages=[(16, 16, 3, 2, True, False), (72, 24, 3, 2, False, False), (88, 24, 3, 1, False, False),
                           (96, 40, 5, 2, True, True), (240, 40, 5, 1, True, True), (240, 40, 5, 1, True, True),
                           (120, 48, 5, 1, True, True), (144, 48, 5, 1, True, True), (288, 96, 5, 2, True, True),
                           (576, 96, 5, 1, True, True)]),
              dict(size=192, head=960, as_one=False,
                   stages=[(16, 16, 3, 1, False, False), (64, 24, 3, 2, False, False), (72, 40, 5, 2, True, False),
                           (120, 40, 5, 1, True, False), (240, 80, 3, 2, False, True), (200, 80, 3, 1, False, True),
                           (480, 112, 3, 1, True, True), (672, 160, 5, 2, True, True), (960, 160, 5, 1, True, True)]),
              dict(size=32, head=48, stages=[(16, 16, 3, 2, True, False), (32, 24, 3, 1, False, True), (48, 24, 5, 1, True, True)]))


def case(of, signed):
    build, *sizes = of

    def quantized(net, signed, **how):
        net.__class__ = QuantizedNet
        build(net.begin(signed), **how)
    used, held, small = sizes
    return quantized, dict(used, signed=signed), dict(held, signed=not signed), small


CASES = {
    'qdq-mobilenet3': case(MOBILENET3, False),
    'qdq-efficientnet': case(efficientnet.CASES['efficientnet'], True),
    'qdq-detector': case(detector.CASES['detector-silu'], False),
    'qdq-bert': case(transformer.CASES['bert'], True),
}
