# SPDX-License-Identifier: GPL-2.0-or-later
"""Models for the pages of the guide and for the samples of reports. `page_models.py FOLDER` writes them."""

import pathlib
import struct
import sys

import tflite_bytes
from onnx_bytes import block, model, node, number, value_info

FLOAT, UINT8, INT8 = 1, 2, 3


def tensor(name, dims, element, data):
    return b''.join(number(1, d) for d in dims) + number(2, element) + block(8, name) + block(9, data)


def quantized_net():
    """Returns the bytes of a quantized model in the form that quantizers write: convolutions of bytes, with scales and
    zero points."""
    nodes, constants = [], [tensor('one', [], FLOAT, b'\x00\x00\x80\x3c'), tensor('zero', [], UINT8, b'\x80'), tensor('none', [], INT8, b'\0')]
    value, channels = 'x', 3
    for i, (out, kernel, stride) in enumerate([(16, 3, 2), (24, 3, 1), (24, 3, 2), (32, 1, 1)], start=1):
        weights = bytes((7 * k) % 256 for k in range(out * channels * kernel * kernel))
        constants.append(tensor(f'w{i}', [out, channels, kernel, kernel], INT8, weights))
        nodes.append(node('QLinearConv', [value, 'one', 'zero', f'w{i}', 'one', 'none', 'one', 'zero'], [f'v{i}'], f'conv{i}',
                          strides=[stride, stride], pads=[kernel // 2] * 4))
        value, channels = f'v{i}', out
    return model(nodes, [value_info('x', [1, 3, 96, 96], UINT8)], [value_info(value, [1, 32, 24, 24], UINT8)], constants)


def sequence_net():
    """Returns the bytes of a model with free dimensions: a product and a Softmax of rows of tokens."""
    shape = ['batch', 'length', 64]
    weights = tensor('w', [64, 64], FLOAT, struct.pack('<4096f', *((k % 13 - 6) / 64 for k in range(4096))))
    nodes = [node('MatMul', ['tokens', 'w'], ['product'], 'product'), node('Softmax', ['product'], ['shares'], 'softmax', axis=2)]
    return model(nodes, [value_info('tokens', shape)], [value_info('shares', shape)], [weights])


def tflite_net():
    """Returns the bytes of a TensorFlow Lite file in the form that a converter writes: a small MobileNet on int8, with
    a picture as input."""
    int8, int32, scale = tflite_bytes.INT8, tflite_bytes.INT32, 1 / 64
    tensors, operators = [tflite_bytes.tensor('picture', int8, [1, 96, 96, 3], [scale])], []

    def add(name, code, shape, weights, axis, *options):
        x, n, channels = len(tensors) - 1, len(tensors), shape[-1]
        data = bytes((11 * k + k // 7) % 256 for k in range(weights[0] * weights[1] * weights[2] * weights[3]))
        tensors.append(tflite_bytes.tensor(name + '/weights', int8, weights, [1 / 512] * channels, 0, data, axis))
        tensors.append(tflite_bytes.tensor(name + '/bias', int32, [channels], [scale / 512] * channels, 0, bytes(4 * channels)))
        tensors.append(tflite_bytes.tensor(name, int8, shape, [scale]))
        operators.append(tflite_bytes.operator(code, [x, n, n + 1], [n + 2], *options))

    def add_conv(name, side, channels, size, stride):
        weights = [channels, size, size, tensors[-1]['shape'][3]]
        add(name, 3, [1, side, side, channels], weights, 0, 1, {1: ('i', stride), 2: ('i', stride), 3: ('b', 1)})

    def add_depthwise(name, side, stride):
        channels = tensors[-1]['shape'][3]
        options = {1: ('i', stride), 2: ('i', stride), 3: ('i', 1), 4: ('b', 1)}
        add(name, 4, [1, side, side, channels], [1, 3, 3, channels], 3, 2, options)

    add_conv('stem', 48, 8, 3, 2)
    for i, (side, channels) in enumerate([(48, 16), (24, 32), (24, 32), (12, 64)], start=1):
        add_depthwise(f'depthwise{i}', side, tensors[-1]['shape'][1] // side)
        add_conv(f'pointwise{i}', side, channels, 1, 1)
    tensors.append(tflite_bytes.tensor('mean', int8, [1, 1, 1, 64], [scale]))
    last = len(tensors) - 1
    operators.append(tflite_bytes.operator(1, [last - 1], [last], 5, {0: ('b', 1), 1: ('i', 12), 2: ('i', 12), 3: ('i', 12), 4: ('i', 12)}))
    add_conv('logits', 1, 2, 1, 1)
    tensors.append(tflite_bytes.tensor('scores', int8, [1, 1, 1, 2], [1 / 256], -128))
    last = len(tensors) - 1
    operators.append(tflite_bytes.operator(25, [last - 1], [last], 9, {0: ('f', 1)}))
    return tflite_bytes.model(tensors, operators, [0], [last])


if __name__ == '__main__':
    pathlib.Path(sys.argv[1], 'net.onnx').write_bytes(quantized_net())
    pathlib.Path(sys.argv[1], 'sequence.onnx').write_bytes(sequence_net())
    pathlib.Path(sys.argv[1], 'net.tflite').write_bytes(tflite_net())
