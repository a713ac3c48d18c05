# SPDX-License-Identifier: GPL-2.0-or-later
"""Large models whose weights take no space on disk: the file of external data is sparse. `large_models.py FOLDER NAME...` writes
NAME.onnx and NAME.data:

decoder    one token of a decoder with 7 billion weights in blocks of 4 bits, and a cache of 128 tokens: 4.4 GB of data
packed     8 products with int4 weights in blocks of 32: 80 MiB of data
layers     9 fully connected layers of 8192 values: 2.25 GiB of data, in which some weights of each layer are not 0"""

import os
import struct
import sys

from onnx_bytes import block, model, node, number, value_info

FLOAT, UINT8, INT32, INT64, INT4 = 1, 2, 6, 7, 22
SIZES = {FLOAT: 4, UINT8: 1, INT4: 0.5}


class Data:
    """The file of external data. Tensors begin at multiples of 4096."""

    def __init__(self, path):
        self.file = open(path, 'wb')
        self.end = 0
        self.constants = []

    def add(self, name, dims, element=FLOAT, runs=()):
        """Adds a tensor of zeros, except for the bytes in `runs`, a list of pairs of an offset and bytes."""
        n = SIZES[element]
        for d in dims:
            n *= d
        n = int(n)
        entries = {'location': os.path.basename(self.file.name), 'offset': str(self.end), 'length': str(n)}
        external = b''.join(block(13, block(1, key) + block(2, value)) for key, value in entries.items())
        self.constants.append(b''.join(number(1, d) for d in dims) + number(2, element) + block(8, name) + external + number(14, 1))
        for offset, data in runs:
            self.file.seek(self.end + offset)
            self.file.write(data)
        self.end += (n + 4095) // 4096 * 4096
        return name

    def close(self):
        self.file.truncate(self.end)
        self.file.close()


def constant(name, dims, element, data):
    return b''.join(number(1, d) for d in dims) + number(2, element) + block(8, name) + block(9, data)


def com_microsoft(op, inputs, outputs, name, **attributes):
    return node(op, inputs, outputs, name, **attributes) + block(7, 'com.microsoft')


def write(path, nodes, inputs, outputs, constants):
    data = model(nodes, inputs, outputs, constants) + block(8, block(1, 'com.microsoft') + number(2, 1))
    with open(path, 'wb') as file:
        file.write(data)


WIDTH, INNER, HEADS, LAYERS, WORDS, PAST = 4096, 11008, 32, 32, 32000, 128


def decoder(folder):
    data = Data(os.path.join(folder, 'decoder.data'))
    nodes, inputs, outputs = [], [value_info('ids', [1, 1], INT64), value_info('last', [1, 1], INT32)], []

    def product(x, name, n, k):
        """Adds a product of x and 4-bit weights [n, k] in blocks of 32."""
        weights = data.add(f'{name}.w', [n, k // 32, 16], UINT8)
        scales = data.add(f'{name}.s', [n * k // 32])
        nodes.append(com_microsoft('MatMulNBits', [x, weights, scales], [name], name, K=k, N=n, bits=4, block_size=32))
        return name

    nodes.append(node('Gather', [data.add('words', [WORDS, WIDTH]), 'ids'], ['x0'], 'words.row', axis=0))
    x = 'x0'
    for i in range(LAYERS):
        p, head = f'layer{i}', WIDTH // HEADS
        norm = f'{p}.norm'
        nodes.append(node('SimplifiedLayerNormalization', [x, data.add(f'{norm}.w', [WIDTH])], [norm], norm, axis=-1, epsilon=1e-5))
        q, k, v = (product(norm, f'{p}.{name}', WIDTH, WIDTH) for name in 'qkv')
        cache = [f'{p}.past_k', f'{p}.past_v']
        inputs += [value_info(c, [1, HEADS, PAST, head]) for c in cache]
        new = [f'{p}.present_k', f'{p}.present_v']
        outputs += [value_info(c, [1, HEADS, PAST + 1, head]) for c in new]
        nodes.append(com_microsoft('GroupQueryAttention', [q, k, v, *cache, 'last', 'total'], [f'{p}.mixed', *new], f'{p}.mixed',
                                   num_heads=HEADS, kv_num_heads=HEADS))
        nodes.append(node('Add', [x, product(f'{p}.mixed', f'{p}.o', WIDTH, WIDTH)], [f'{p}.x'], f'{p}.x'))
        norm = f'{p}.norm2'
        nodes.append(node('SimplifiedLayerNormalization', [f'{p}.x', data.add(f'{norm}.w', [WIDTH])], [norm], norm, axis=-1, epsilon=1e-5))
        gate, up = product(norm, f'{p}.gate', INNER, WIDTH), product(norm, f'{p}.up', INNER, WIDTH)
        nodes += [node('Sigmoid', [gate], [f'{gate}.sigmoid'], f'{gate}.sigmoid'), node('Mul', [gate, f'{gate}.sigmoid'], [f'{gate}.g'], f'{gate}.g'),
                  node('Mul', [f'{gate}.g', up], [f'{p}.h'], f'{p}.h')]
        nodes.append(node('Add', [f'{p}.x', product(f'{p}.h', f'{p}.down', WIDTH, INNER)], [f'x{i + 1}'], f'{p}.y'))
        x = f'x{i + 1}'
    outputs.append(value_info(product(x, 'logits', WORDS, WIDTH), [1, 1, WORDS]))
    data.close()
    total = constant('total', [], INT32, struct.pack('<i', PAST + 1))
    write(os.path.join(folder, 'decoder.onnx'), nodes, inputs, outputs, [*data.constants, total])


def layers(folder, n=9, width=8192, name='layers'):
    data = Data(os.path.join(folder, f'{name}.data'))
    nodes = []
    for i in range(n):
        # Only the first 16 weights of each 61st row are not 0.
        runs = [(row * width * 4, struct.pack('<16f', *(((row + 3 * k + i) % 7 - 3) / 4 for k in range(16)))) for row in range(0, width, 61)]
        weights = data.add(f'w{i}', [width, width], FLOAT, runs)
        nodes += [node('Gemm', [f'x{i}', weights, 'bias'], [f'y{i}'], f'layer{i}', transB=1), node('Tanh', [f'y{i}'], [f'x{i + 1}'], f'tanh{i}')]
    data.close()
    bias = constant('bias', [width], FLOAT, struct.pack(f'<{width}f', *((k % 11 - 5) / 8 for k in range(width))))
    write(os.path.join(folder, f'{name}.onnx'), nodes, [value_info('x0', [1, width])], [value_info(f'x{n}', [1, width])], [*data.constants, bias])


def packed(folder, n=8, width=4096):
    data = Data(os.path.join(folder, 'packed.data'))
    nodes = []
    for i in range(n):
        halves = bytes((37 * k + 11 * i) % 256 for k in range(8191)) * (width * width // 2 // 8191 + 1)
        scales = struct.pack('<64f', *((k % 7 + 1) / 512 for k in range(64))) * (width * width // 32 // 64)
        weights = data.add(f'w{i}', [width, width], INT4, [(0, halves[:width * width // 2])])
        each = data.add(f's{i}', [width, width // 32], FLOAT, [(0, scales)])
        nodes += [node('DequantizeLinear', [weights, each], [f'real{i}'], f'real{i}', axis=1, block_size=32),
                  node('Gemm', [f'x{i}', f'real{i}'], [f'y{i}'], f'layer{i}', transB=1), node('Tanh', [f'y{i}'], [f'x{i + 1}'], f'tanh{i}')]
    data.close()
    file_data = model(nodes, [value_info('x0', [1, width])], [value_info(f'x{n}', [1, width])], data.constants, opset=21)
    with open(os.path.join(folder, 'packed.onnx'), 'wb') as file:
        file.write(file_data)


if __name__ == '__main__':
    for name in sys.argv[2:]:
        {'decoder': decoder, 'layers': layers, 'packed': packed}[name](sys.argv[1])
