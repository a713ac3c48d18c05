#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# generated.py FOLDER: writes models that use functions, sequences and sparse initializers, for generated.mjs.

import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'help'))

from onnx_bytes import block, floats, node, number, tensor, value_info  # noqa: E402

DOMAIN = 'local'


def call(function, inputs, outputs, name, **attributes):
    return node(function, inputs, outputs, name, **attributes) + block(7, DOMAIN)


# Returns an attribute of a node in a function body. The attribute gets its value from the attribute `to` of the function.
def refer(name, to, kind):
    return block(5, block(1, name) + block(21, to) + number(20, kind))


def opset(domain, version):
    return block(1, domain) + number(2, version)


# Returns a FunctionProto. `attributes` are names of attributes without default; `defaults` are AttributeProtos.
def function(name, inputs, outputs, nodes, attributes=(), defaults=(), version=17):
    return (block(1, name) + b''.join(block(4, i) for i in inputs) + b''.join(block(5, o) for o in outputs) +
            b''.join(block(6, a) for a in attributes) + b''.join(block(7, n) for n in nodes) +
            b''.join(block(11, d) for d in defaults) + block(9, opset('', version)) + block(9, opset(DOMAIN, 1)) + block(10, DOMAIN))


def model(nodes, inputs, outputs, initializers=(), sparse=(), functions=(), version=17):
    graph = b''.join(block(1, n) for n in nodes) + block(2, 'generated') + b''.join(block(5, i) for i in initializers)
    graph += b''.join(block(11, i) for i in inputs) + b''.join(block(12, o) for o in outputs)
    graph += b''.join(block(15, s) for s in sparse)
    return (number(1, 9) + block(8, opset('', version)) + block(8, opset(DOMAIN, 1)) + block(7, graph) +
            b''.join(block(25, f) for f in functions))


def integers(name, values, scalar=False):
    dims = b'' if scalar else number(1, len(values))
    return dims + number(2, 7) + block(8, name) + block(9, struct.pack(f'<{len(values)}q', *values))


X = value_info('x', [6, 4])
GATE = function('gate', ['a', 'b'], ['r'], [
    node('Sigmoid', ['a'], ['s'], 'sigmoid'), node('Mul', ['a', 's'], ['y'], 'mul'), node('Add', ['y', 'b'], ['r'], 'add')])
LEAK = function('leak', ['a'], ['b'], [node('LeakyRelu', ['a'], ['c'], 'leaky') + refer('alpha', 'slope', 1),
                                       node('Softmax', ['c'], ['b'], 'softmax') + refer('axis', 'dim', 2)],
                ['dim'], [block(1, 'slope') + b'\x15' + struct.pack('<f', 0.25) + number(20, 1)])
OUTER = function('outer', ['a', 'w'], ['r', 'a2'], [
    call('gate', ['a', 'a'], ['t'], 'first'), call('leak', ['t'], ['u'], 'second', dim=0), node('MatMul', ['u', 'w'], ['r'], 'product'),
    node('Identity', ['a'], ['a2'], 'same')])
W = tensor('w', [4, 3], floats(12, 2))


def sparse(name, dims, values, indices, rows=False):
    data = tensor(name, [len(values)], struct.pack(f'<{len(values)}f', *values))
    shape = number(1, len(values)) + (number(1, len(dims)) if rows else b'')
    where = shape + number(2, 7) + block(9, struct.pack(f'<{len(indices)}q', *indices))
    return block(1, data) + block(2, where) + b''.join(number(3, d) for d in dims)


MODELS = {
    'function': model([call('gate', ['x', 'x'], ['y'], 'g')], [X], [value_info('y', [6, 4])], functions=[GATE]),
    'functions-nested': model(
        [call('outer', ['x', 'w'], ['y', 'z'], 'o'), call('outer', ['z', 'w'], ['v', ''], 'p')], [X],
        [value_info('y', [6, 3]), value_info('v', [6, 3])], [W], functions=[GATE, LEAK, OUTER]),
    'function-attributes': model([call('leak', ['x'], ['t'], 'l', dim=1), call('leak', ['t'], ['y'], 'm', dim=0)], [X],
                                 [value_info('y', [6, 4])], functions=[LEAK]),
    'split-at': model(
        [node('SplitToSequence', ['x', 'sizes'], ['s'], 's', axis=0), node('SequenceAt', ['s', 'one'], ['t'], 'at'),
         node('Relu', ['t'], ['y'], 'relu')], [X], [value_info('y', [2, 4])], [integers('sizes', [1, 2, 3]), integers('one', [1], True)]),
    'split-rest': model(
        [node('SplitToSequence', ['x', 'four'], ['s'], 's', axis=0), node('SequenceAt', ['s', 'last'], ['y'], 'at')], [X],
        [value_info('y', [2, 4])], [integers('four', [4], True), integers('last', [-1], True)]),
    'rows': model(
        [node('SplitToSequence', ['x'], ['s'], 's', axis=1, keepdims=0), node('SequenceInsert', ['s', 'b', 'first'], ['t'], 'i'),
         node('SequenceErase', ['t', 'last'], ['u'], 'e'), node('ConcatFromSequence', ['u'], ['y'], 'c', axis=-1, new_axis=1),
         node('SequenceLength', ['u'], ['n'], 'l')], [X, value_info('b', [6])], [value_info('y', [6, 4]), value_info('n', [], 7)],
        [integers('first', [-1], True), integers('last', [-2], True)]),
    'construct': model(
        [node('SequenceConstruct', ['x', 'x'], ['s'], 's'), node('ConcatFromSequence', ['s'], ['y'], 'c', axis=0)], [X],
        [value_info('y', [12, 4])]),
    'sparse': model([node('MatMul', ['x', 'w'], ['y'], 'product')], [X], [value_info('y', [6, 3])],
                    sparse=[sparse('w', [4, 3], [1.5, -2, 0.25], [1, 5, 11])]),
    'sparse-rows': model([node('MatMul', ['x', 'w'], ['y'], 'product')], [X], [value_info('y', [6, 3])],
                         sparse=[sparse('w', [4, 3], [1.5, -2, 0.25], [0, 1, 1, 2, 3, 2], True)]),
}

# A model for each type of 8-bit floats: e4m3fn, e4m3fnuz, e5m2, e5m2fnuz.
# The weights of a model are the bytes 0 to 255. The byte 1 replaces NaN and infinity.
for kind, wrong in (17, (0x7f, 0xff)), (18, (0x80,)), (19, (*range(0x7c, 0x80), *range(0xfc, 0x100))), (20, (0x80,)):
    data = bytes(i if i not in wrong else 1 for i in range(256))
    raw = number(1, 64) + number(1, 4) + number(2, kind) + block(8, 'w') + block(9, data)
    zero = number(2, kind) + block(8, 'zero') + block(9, b'\0')
    names = {17: 'fn', 18: 'fnuz', 19: 'five', 20: 'fivefnuz'}
    MODELS[f'float-{names[kind]}'] = model(
        [node('DequantizeLinear', ['w', 'scale', 'zero'], ['f'], 'dequantize'), node('Gemm', ['x', 'f'], ['y'], 'gemm', transB=1),
         node('Cast', ['w'], ['c'], 'cast', to=1)],
        [X], [value_info('y', [6, 64]), value_info('c', [64, 4])], [raw, zero, tensor('scale', [], struct.pack('<f', 0.375))], version=19)

for name, data in MODELS.items():
    with open(os.path.join(sys.argv[1], name + '.onnx'), 'wb') as file:
        file.write(data)
