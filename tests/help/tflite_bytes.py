# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes TensorFlow Lite files: FlatBuffers of the schema, for small models."""

import struct

# TensorType of the schema.
FLOAT32, INT32, UINT8, INT64, BOOL, INT16, INT8 = 0, 2, 3, 4, 6, 7, 9
SIZES = {'b': 1, 'B': 1, 'h': 2, 'i': 4, 'I': 4, 'f': 4, 'q': 8}


class Vector:
    """A FlatBuffers vector at a position that is a multiple of `align`. `kind`: format of a number in `struct`."""

    def __init__(self, kind, numbers, align=4):
        self.bytes = numbers if isinstance(numbers, bytes) else struct.pack(f'<{len(numbers)}{kind}', *numbers)
        self.n, self.align = len(self.bytes) // SIZES[kind], max(align, SIZES[kind])


class File:
    def __init__(self):
        self.bytes = bytearray(b'\0\0\0\0TFL3')

    def align(self, size, before=0):
        self.bytes += bytes(-(len(self.bytes) + before) % size)

    def point(self, at, target):
        struct.pack_into('<I', self.bytes, at, target - at)

    def add(self, value):
        """Adds a string, a Vector, a list of values or a table as a dict from field to value; returns its position."""
        if isinstance(value, str):
            value = Vector('B', value.encode() + b'\0')
            value.n -= 1
        if isinstance(value, Vector):
            self.align(value.align, 4)
            at = len(self.bytes)
            self.bytes += struct.pack('<I', value.n) + value.bytes
            return at
        return self.add_list(value) if isinstance(value, list) else self.add_table(value)

    def add_list(self, values):
        self.align(4)
        at = len(self.bytes)
        self.bytes += struct.pack('<I', len(values)) + bytes(4 * len(values))
        for i, value in enumerate(values):
            self.point(at + 4 + 4 * i, self.add(value))
        return at

    def add_table(self, fields):
        """Adds a table. The table contains each value that is a pair (format, number). Any other value follows the
        table, and the table has the offset of the value."""
        n, places, body = max(fields, default=-1) + 1, {}, bytearray(4)
        for field, value in fields.items():
            kind, number = value if isinstance(value, tuple) else ('I', 0)
            body += bytes(-len(body) % SIZES[kind])
            places[field] = len(body)
            body += struct.pack('<' + kind, number)
        self.align(8, 4 + 2 * n)
        vtable = len(self.bytes)
        self.bytes += struct.pack('<HH', 4 + 2 * n, len(body)) + b''.join(struct.pack('<H', places.get(i, 0)) for i in range(n))
        at = len(self.bytes)
        struct.pack_into('<i', body, 0, at - vtable)
        self.bytes += body
        for field, value in fields.items():
            if not isinstance(value, tuple):
                self.point(at + places[field], self.add(value))
        return at


def tensor(name, kind, shape, scales=(), zero=0, data=b'', axis=0):
    """Returns the description of a tensor. `kind` is a TensorType; `data` has the bytes of a constant, b'' for other tensors."""
    return {'name': name, 'kind': kind, 'shape': shape, 'scales': scales, 'zero': zero, 'data': data, 'axis': axis}


def operator(code, inputs, outputs, options_type=0, options=None):
    """Returns the description of an operator: its code, the indices of its tensors, and its options as a table."""
    return {'code': code, 'inputs': inputs, 'outputs': outputs, 'type': options_type, 'options': options or {}}


def tensor_table(i, t):
    table = {0: Vector('i', t['shape']), 1: ('b', t['kind']), 2: ('I', i + 1), 3: t['name']}
    if t['scales']:
        table[4] = {2: Vector('f', t['scales']), 3: Vector('q', [t['zero']] * len(t['scales'])), 6: ('i', t['axis'])}
    return table


def operator_table(i, op):
    table = {0: ('I', i), 1: Vector('i', op['inputs']), 2: Vector('i', op['outputs'])}
    if op['type']:
        table.update({3: ('B', op['type']), 4: op['options']})
    return table


def model(tensors, operators, inputs, outputs):
    """Returns the bytes of a model of one subgraph. Each operator has an operator code of its own."""
    file = File()
    codes = [{0: ('b', min(op['code'], 127)), 3: ('i', op['code'])} for op in operators]
    subgraph = {0: [tensor_table(i, t) for i, t in enumerate(tensors)], 1: Vector('i', inputs), 2: Vector('i', outputs),
                3: [operator_table(i, op) for i, op in enumerate(operators)]}
    buffers = [{}] + [{0: Vector('B', t['data'], 16)} if t['data'] else {} for t in tensors]
    file.point(0, file.add({0: ('I', 3), 1: codes, 2: [subgraph], 4: buffers}))
    return bytes(file.bytes)
