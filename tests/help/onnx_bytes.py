# SPDX-License-Identifier: GPL-2.0-or-later
# Writes ONNX models as bytes: just enough of protobuf for tests that write their own models.

import struct


def varint(value):
    value &= (1 << 64) - 1
    out = b''
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def number(field, value):
    return varint(field << 3) + varint(value)


def block(field, data):
    data = data.encode() if isinstance(data, str) else data
    return varint(field << 3 | 2) + varint(len(data)) + data


def value_info(name, dims, element=1):
    shape = b''.join(block(1, block(2, d) if isinstance(d, str) else number(1, d)) for d in dims)
    return block(1, name) + block(2, block(1, number(1, element) + block(2, shape)))


def tensor(name, dims, data=None, external=None):
    head = b''.join(number(1, d) for d in dims) + number(2, 1) + block(8, name)
    if external:
        return head + block(13, block(1, 'location') + block(2, external)) + number(14, 1)
    return head + block(9, data)


def floats(n, seed=1):
    return struct.pack(f'<{n}f', *(((i * 37 + seed * 11) % 19 - 9) / 16 for i in range(n)))


def node(op, inputs, outputs, name, **attributes):
    out = b''.join(block(1, i) for i in inputs) + b''.join(block(2, o) for o in outputs) + block(3, name) + block(4, op)
    for key, value in attributes.items():
        kind = block(1, key)
        kind += b''.join(number(8, v) for v in value) + number(20, 7) if isinstance(value, list) else \
            number(3, value) + number(20, 2)
        out += block(5, kind)
    return out


def model(nodes, inputs, outputs, initializers=()):
    graph = b''.join(block(1, n) for n in nodes) + block(2, 'test') + b''.join(block(5, i) for i in initializers)
    graph += b''.join(block(11, i) for i in inputs) + b''.join(block(12, o) for o in outputs)
    return number(1, 8) + block(8, block(1, '') + number(2, 17)) + block(7, graph)
