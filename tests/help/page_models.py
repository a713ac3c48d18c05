# SPDX-License-Identifier: GPL-2.0-or-later
"""Models that the pages of the guide, and the samples of reports, use. `page_models.py FOLDER` writes them."""

import pathlib
import struct
import sys

from onnx_bytes import block, model, node, number, value_info

FLOAT, UINT8, INT8 = 1, 2, 3


def tensor(name, dims, element, data):
    return b''.join(number(1, d) for d in dims) + number(2, element) + block(8, name) + block(9, data)


def quantized_net():
    """Returns the bytes of a model as a quantizer writes it: convolutions of bytes, with scales and zero points."""
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


if __name__ == '__main__':
    pathlib.Path(sys.argv[1], 'net.onnx').write_bytes(quantized_net())
    pathlib.Path(sys.argv[1], 'sequence.onnx').write_bytes(sequence_net())
