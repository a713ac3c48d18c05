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


# Returns the fields of an attribute with this value.
# The value is a list of integers or of texts, a real number, a text, the bytes of a graph, or an integer.
def attribute_value(value):
    if isinstance(value, list) and value and isinstance(value[0], str):
        return b''.join(block(9, v) for v in value) + number(20, 8)
    if isinstance(value, list):
        return b''.join(number(8, v) for v in value) + number(20, 7)
    if isinstance(value, float):
        return varint(2 << 3 | 5) + struct.pack('<f', value) + number(20, 1)
    if isinstance(value, str):
        return block(4, value) + number(20, 3)
    if isinstance(value, bytes):
        return block(6, value) + number(20, 5)
    return number(3, value) + number(20, 2)


def node(op, inputs, outputs, name, **attributes):
    out = b''.join(block(1, i) for i in inputs) + b''.join(block(2, o) for o in outputs) + block(3, name) + block(4, op)
    for key, value in attributes.items():
        out += block(5, block(1, key) + attribute_value(value))
    return out


def graph(nodes, inputs, outputs, initializers=()):
    data = b''.join(block(1, n) for n in nodes) + block(2, 'test') + b''.join(block(5, i) for i in initializers)
    return data + b''.join(block(11, i) for i in inputs) + b''.join(block(12, o) for o in outputs)


def model(nodes, inputs, outputs, initializers=(), opset=17):
    data = graph(nodes, inputs, outputs, initializers)
    return number(1, 8) + block(8, block(1, '') + number(2, opset)) + block(7, data)
