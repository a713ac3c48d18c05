# SPDX-License-Identifier: GPL-2.0-or-later
"""The nodes of the census: for each op, sizes that occur in networks.

A line is (op, where, operands, attributes, work). Operands are X(shape), a value of the tested type; C(shape), a value
in the layout that a convolution produces; W(shape), a constant; and I(list), an int64 constant. Work is the least
number of vector instructions for an element of the result, without multiply-adds. If some instructions are divisions or
square roots, or if the op reads operands again, work is an object Work(...). Without work, the census would compare
each op without multiply-adds only with the speed of memory."""


import math
import typing


class Operand:
    def __init__(self, kind, shape, element=None, values=None):
        self.kind, self.shape, self.element, self.values = kind, list(shape), element, values


def X(*shape, element=None):
    return Operand('input', shape, element)


def C(*shape):
    return Operand('conv', shape)


def W(*shape, element=None):
    return Operand('constant', shape, element)


def I(*values):  # noqa: E743
    return Operand('constant', [len(values)], 'int64', values)


def K(shape, values):
    return Operand('constant', shape, 'int64', values)


def F(value, element='float32'):
    return Operand('constant', [], element, value)


class Work:
    """The work of an op. Vector instructions per element of the result: `plain` in lanes of the result's type, `wide` in
    32-bit lanes, `div` divisions, `sqrt` square roots. `each`: instructions per element of the first operand. `reads`: bytes
    that the op reads more than once."""

    def __init__(self, plain=0, wide=0, div=0, sqrt=0, each=0, reads=0):
        self.plain, self.wide, self.div, self.sqrt, self.each, self.reads = plain, wide, div, sqrt, each, reads


NONE = Operand('absent', [])
IMAGE, ROWS = (1, 96, 56, 56), (1, 196, 768)
SHAPES = {'image': IMAGE, 'rows': ROWS}
F32 = 'float32'

# Vector instructions per element of each op.
# A function such as Exp needs a range reduction and a polynomial with float32 precision.
UNARY = {
    'Relu': 1, 'LeakyRelu': 2, 'Elu': 12, 'Selu': 12, 'Celu': 12, 'ThresholdedRelu': 1, 'HardSigmoid': 2, 'HardSwish': 3, 'Shrink': 2,
    'Sigmoid': Work(10, div=1), 'Tanh': Work(10, div=1), 'Exp': 11, 'Log': 14, 'Sqrt': Work(sqrt=1), 'Reciprocal': Work(div=1),
    'Abs': 1, 'Neg': 1, 'Floor': 1, 'Ceil': 1, 'Round': 1, 'Sign': 2, 'Softplus': 24, 'Softsign': Work(2, div=1), 'Erf': 16,
    'Sin': 14, 'Cos': 14, 'Tan': 20, 'Asin': 18, 'Acos': 18, 'Atan': 16, 'Sinh': 16, 'Cosh': 16, 'Asinh': 22, 'Acosh': 22,
    'Atanh': 18, 'Not': 1, 'BitwiseNot': 1, 'IsNaN': 1, 'IsInf': 1, 'Identity': 0, 'Dropout': 0,
}
BINARY = {
    'Add': 1, 'Sub': 1, 'Mul': 1, 'Div': Work(div=1), 'Pow': 40, 'Mod': Work(3, div=1), 'And': 1, 'Or': 1, 'Xor': 1, 'Equal': 1, 'Less': 1, 'Greater': 1,
    'LessOrEqual': 1, 'GreaterOrEqual': 1, 'Sum': 1, 'Mean': 2, 'Max': 1, 'Min': 1, 'BitShift': Work(wide=3), 'BitwiseAnd': 1, 'BitwiseOr': 1, 'BitwiseXor': 1, 'PRelu': 2,
}
BINARY_ATTRS = {'BitShift': dict(direction='RIGHT'), 'Mod': dict(fmod=0)}
REDUCE = ['ReduceSum', 'ReduceMean', 'ReduceMax', 'ReduceMin', 'ReduceProd', 'ReduceL1', 'ReduceSumSquare', 'ReduceL2', 'ReduceLogSum',
          'ReduceLogSumExp']


def elementwise():
    for op, work in UNARY.items():
        for where, shape in SHAPES.items():
            yield op, where, [X(*shape)], {}, work
    for where, shape in SHAPES.items():
        yield 'Clip', where, [X(*shape), W(), W()], {}, 1
        yield 'Where', where, [X(*shape, element='bool'), X(*shape), X(*shape)], {}, 1
        yield 'Cast', f'{where} to float32', [X(*shape)], dict(to=1), 1
        yield 'Cast', f'{where} to float16', [X(*shape)], dict(to=10), Work(wide=2)
        yield 'QuantizeLinear', where, [X(*shape), F(0.05), F(128, 'uint8')], {}, 4
        yield 'DequantizeLinear', where, [X(*shape), F(0.05), W()], {}, 2
        yield 'DynamicQuantizeLinear', where, [X(*shape)], {}, Work(6, reads=4 * math.prod(shape))
        for op, work in BINARY.items():
            yield op, where, [X(*shape), X(*shape)], BINARY_ATTRS.get(op, {}), work
    for op in ('Add', 'Mul', 'Sub', 'PRelu'):
        yield op, 'image, constant of channels', [X(*IMAGE), W(96, 1, 1)], {}, 1
    yield 'Mul', 'image, value of channels', [X(*IMAGE), X(1, 96, 1, 1)], {}, 1
    yield 'Add', 'rows, constant of features', [X(*ROWS), W(768)], {}, 1
    yield 'Sub', 'rows, value of rows', [X(*ROWS), X(1, 196, 1)], {}, 1
    yield 'Add', 'scores, mask', [X(1, 8, 196, 196), W(1, 1, 196, 196)], {}, 1
    for power, work in ((2, 1), (3, 2), (0.5, Work(sqrt=1))):
        yield 'Pow', f'rows, by {power}', [X(*ROWS), F(power)], {}, work


def convolutions():
    def conv(where, n_in, n_out, kernel, size, **attrs):
        group = attrs.get('group', 1)
        attrs.setdefault('pads', [(k - 1) // 2 * d for k, d in zip(kernel, attrs.get('dilations', [1] * 3))] * 2)
        return 'Conv', where, [X(1, n_in, *size), W(n_out, n_in // group, *kernel), W(n_out)], attrs, 0

    yield conv('1x1', 96, 96, [1, 1], [28, 28])
    yield conv('3x3', 64, 64, [3, 3], [56, 56])
    yield conv('3x3, dilated', 64, 64, [3, 3], [28, 28], dilations=[2, 2])
    yield conv('7x7, of 3 channels', 3, 64, [7, 7], [112, 112], strides=[2, 2])
    yield conv('3x3, 32 groups of 4', 128, 128, [3, 3], [28, 28], group=32)
    yield conv('1x1, 3 groups', 240, 240, [1, 1], [28, 28], group=3)
    yield conv('3x3 depthwise', 96, 96, [3, 3], [56, 56], group=96)
    yield conv('5x5 depthwise, stride 2', 96, 96, [5, 5], [56, 56], group=96, strides=[2, 2])
    yield conv('7x7 depthwise', 96, 96, [7, 7], [28, 28], group=96)
    yield conv('1-D of 3, dilated by 4', 128, 128, [3], [400], dilations=[4])
    yield conv('1-D of 31, depthwise', 128, 128, [31], [400], group=128)
    yield conv('3x3x3', 32, 64, [3, 3, 3], [8, 28, 28])
    yield conv('3x3x3 depthwise', 64, 64, [3, 3, 3], [8, 28, 28], group=64)
    for kernel, stride, pad in ((2, 2, 0), (4, 2, 1), (3, 1, 1)):
        yield 'ConvTranspose', f'{kernel}x{kernel}, stride {stride}', [X(1, 64, 28, 28), W(64, 32, kernel, kernel)], \
            dict(strides=[stride] * 2, pads=[pad] * 4), 0
    attrs = dict(strides=[2, 2], pads=[1] * 4, group=64)
    yield 'ConvTranspose', '4x4 depthwise, stride 2', [X(1, 64, 28, 28), W(64, 1, 4, 4)], attrs, 0
    for group, where in ((1, '3x3'), (64, '3x3 depthwise')):
        attrs, weights = dict(pads=[1] * 4, group=group), W(64, 64 // group, 3, 3, element='int8')
        yield 'ConvInteger', where, [X(1, 64, 56, 56), weights, W()], attrs, 0
        yield 'QLinearConv', where, [X(1, 64, 56, 56), F(0.05), W(), weights, F(0.01), F(0, 'int8'), F(0.1), W()], attrs, Work(wide=5)


def products():
    for where, a, b in (('128 rows, constant', X(1, 128, 768), W(768, 768)), ('1 row, constant', X(1, 1, 768), W(768, 3072)),
                        ('heads, scores', X(1, 12, 128, 64), X(1, 12, 64, 128)), ('heads, values', X(1, 12, 128, 128), X(1, 12, 128, 64)),
                        ('1 row, heads', X(1, 12, 1, 64), X(1, 12, 64, 256)), ('odd sizes', X(1, 3, 197, 65), X(1, 3, 65, 197))):
        yield 'MatMul', where, [a, b], {}, 0
    for where, rows in (('128 rows, constant', 128), ('1 row, constant', 1)):
        weights = W(768, 768, element='int8')
        yield 'MatMulInteger', where, [X(1, rows, 768), weights, W(), F(0, 'int8')], {}, 0
        yield 'QLinearMatMul', where, [X(1, rows, 768), F(0.05), W(), weights, F(0.01), F(0, 'int8'), F(0.1), W()], {}, 0
        yield 'Gemm', where, [X(rows, 768), W(768, 768), W(768)], dict(transB=1), 0
    yield 'Einsum', 'heads, scores', [X(1, 128, 12, 64), X(1, 128, 12, 64)], dict(equation='bqhd,bkhd->bhqk'), 0
    for op, gates in (('RNN', 1), ('GRU', 3), ('LSTM', 4)):
        weights = [W(1, gates * 256, 80), W(1, gates * 256, 256), W(1, 2 * gates * 256)]
        again = 49 * 4 * gates * 256 * 256  # bytes of the weights R that each time step except the first reads again
        yield op, '50 steps of 256', [X(50, 1, 80), *weights], dict(hidden_size=256), Work(reads=again)


def windows():
    for op in ('MaxPool', 'AveragePool', 'LpPool'):
        yield op, '2x2, stride 2', [X(1, 64, 112, 112)], dict(kernel_shape=[2, 2], strides=[2, 2]), 4
        yield op, '3x3, stride 2', [X(1, 64, 112, 112)], dict(kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4), 9
        yield op, '5x5', [X(1, 128, 16, 16)], dict(kernel_shape=[5, 5], pads=[2] * 4), 25
        if op != 'LpPool':
            yield op, '2x2x2', [X(1, 32, 8, 56, 56)], dict(kernel_shape=[2] * 3, strides=[2] * 3), 8
            yield op, '1-D of 2', [X(1, 64, 1600)], dict(kernel_shape=[2], strides=[2]), 2
    for op in ('GlobalAveragePool', 'GlobalMaxPool', 'GlobalLpPool'):
        yield op, 'image', [X(*IMAGE)], {}, 0
    yield 'LRN', 'image', [X(*IMAGE)], dict(size=5), 40
    for mode, work in (('nearest', 0), ('linear', Work(wide=6)), ('cubic', Work(wide=20))):
        yield 'Resize', f'{mode}, by 2', [X(1, 64, 28, 28), NONE, Operand('constant', [4], F32, [1, 1, 2, 2])], dict(mode=mode), work
    yield 'DeformConv', '3x3', [X(1, 32, 28, 28), W(32, 32, 3, 3), X(1, 18, 28, 28)], dict(pads=[1] * 4), 0
    yield 'Col2Im', '3x3', [X(1, 288, 3136), I(56, 56), I(3, 3)], dict(pads=[1] * 4), 9
    yield 'GridSample', 'image', [X(1, 32, 56, 56), X(1, 56, 56, 2)], {}, 8
    yield 'RoiAlign', '16 regions', [X(1, 64, 56, 56), X(16, 4), K([16], [0] * 16)], dict(output_height=7, output_width=7), 16


def lines():
    vectors = [W(96), W(96), W(96), W(96)]
    yield 'BatchNormalization', 'image', [X(*IMAGE), *vectors], {}, 1
    yield 'InstanceNormalization', 'image', [X(*IMAGE), W(96), W(96)], {}, 4
    yield 'MeanVarianceNormalization', 'image', [X(*IMAGE)], {}, 4
    yield 'LayerNormalization', 'rows', [X(*ROWS), W(768), W(768)], {}, 5
    yield 'LpNormalization', 'rows', [X(*ROWS)], {}, 3
    for op, work in (('Softmax', 15), ('LogSoftmax', 15), ('Hardmax', 2)):
        yield op, 'scores', [X(1, 8, 196, 196)], dict(axis=-1), work
        yield op, 'image, over channels', [X(1, 21, 112, 112)], dict(axis=1), work
    for op in REDUCE:
        for where, shape, axes in (('rows, over features', ROWS, [-1]), ('rows, over rows', ROWS, [1]),
                                   ('image, over pixels', IMAGE, [2, 3]), ('image, over channels', IMAGE, [1])):
            if op == 'ReduceSum':
                yield op, where, [X(*shape), I(*axes)], {}, Work(each=1)
            else:
                yield op, where, [X(*shape)], dict(axes=axes), Work(each=12 if op == 'ReduceLogSumExp' else 1)
    for op in ('ArgMax', 'ArgMin'):
        yield op, 'rows, over features', [X(*ROWS)], dict(axis=-1), 0
        yield op, 'image, over channels', [X(*IMAGE)], dict(axis=1), 0
    yield 'CumSum', 'rows, over rows', [X(*ROWS), K([], 1)], {}, 1
    yield 'TopK', '5 of 8400', [X(1, 80, 8400), I(5)], {}, 0


def moves():
    for op, where, operands, attrs in (('Reshape', 'to a channel shuffle', [I(1, 4, 24, 56, 56)], {}), ('Reshape', 'to rows', [I(1, 96, 3136)], {}),
                                       ('Flatten', 'whole', [], {}), ('Transpose', 'to NHWC', [], dict(perm=[0, 2, 3, 1])),
                                       ('Slice', 'every second', [I(0, 0), I(99, 99), I(2, 3), I(2, 2)], {}),
                                       ('DepthToSpace', 'by 2', [], dict(blocksize=2)), ('Split', 'channels', [I(48, 48)], dict(axis=1))):
        yield op, f'result of a convolution, {where}', [C(*IMAGE), *operands], attrs, 0
    yield 'Transpose', 'image to NHWC', [X(*IMAGE)], dict(perm=[0, 2, 3, 1]), 0
    yield 'Transpose', 'NHWC to image', [X(1, 56, 56, 96)], dict(perm=[0, 3, 1, 2]), 0
    yield 'Transpose', 'heads', [X(1, 196, 12, 64)], dict(perm=[0, 2, 1, 3]), 0
    yield 'Transpose', 'keys', [X(1, 196, 12, 64)], dict(perm=[0, 2, 3, 1]), 0
    yield 'Transpose', 'of a matrix', [X(768, 768)], dict(perm=[1, 0]), 0
    yield 'Transpose', 'channel shuffle', [X(1, 4, 24, 56, 56)], dict(perm=[0, 2, 1, 3, 4]), 0
    yield 'Transpose', 'windows', [X(1, 8, 7, 8, 7, 96)], dict(perm=[0, 1, 3, 2, 4, 5]), 0
    yield 'Reshape', 'image to a channel shuffle', [X(*IMAGE), I(1, 4, 24, 56, 56)], {}, 0
    yield 'Reshape', 'image to rows', [X(*IMAGE), I(1, 96, 3136)], {}, 0
    yield 'Reshape', 'rows to heads', [X(*ROWS), I(1, 196, 12, 64)], {}, 0
    yield 'Flatten', 'image', [X(*IMAGE)], {}, 0
    yield 'Squeeze', 'image', [X(*IMAGE), I(0)], {}, 0
    yield 'Unsqueeze', 'rows', [X(*ROWS), I(3)], {}, 0
    slices = (('image, channels', IMAGE, 1, 20, 70, 1), ('image, rows', IMAGE, 2, 1, 50, 1), ('image, every second', IMAGE, 3, 0, 99, 2),
              ('rows, features', ROWS, 2, 256, 512, 1), ('rows, backwards', ROWS, 1, -1, -999, -1))
    for where, shape, axis, begin, end, step in slices:
        yield 'Slice', where, [X(*shape), I(begin), I(end), I(axis), I(step)], {}, 0
    yield 'Split', 'image, channels', [X(*IMAGE), I(48, 48)], dict(axis=1), 0
    yield 'Concat', 'image, channels', [X(*IMAGE), X(*IMAGE)], dict(axis=1), 0
    yield 'Concat', 'cache of keys', [X(1, 12, 255, 64), X(1, 12, 1, 64)], dict(axis=2), 0
    yield 'Expand', 'heads', [X(1, 4, 1, 196, 64), I(1, 4, 3, 196, 64)], {}, 0
    yield 'Tile', 'image', [X(1, 48, 56, 56), I(1, 2, 1, 1)], {}, 0
    for mode in ('constant', 'reflect', 'edge'):
        yield 'Pad', f'image, {mode}', [X(*IMAGE), I(0, 0, 1, 1, 0, 0, 1, 1)], dict(mode=mode), 0
    yield 'DepthToSpace', 'by 2, DCR', [X(1, 96, 56, 56)], dict(blocksize=2, mode='DCR'), 0
    yield 'DepthToSpace', 'by 2, CRD', [X(1, 96, 56, 56)], dict(blocksize=2, mode='CRD'), 0
    yield 'SpaceToDepth', 'by 2', [X(1, 24, 112, 112)], dict(blocksize=2), 0
    words, cyclic = [i * 37 % 1000 for i in range(196)], [(i + j) % 196 for i in range(196) for j in range(768)]
    yield 'Gather', 'words', [W(1000, 768), X(1, 196, element='int64')], dict(axis=0), 0
    yield 'Gather', 'rows, constant indices', [X(1, 1000, 768), K([196], words)], dict(axis=1), 0
    yield 'Gather', 'channels, constant indices', [X(*IMAGE), K([96], [i * 5 % 96 for i in range(96)])], dict(axis=1), 0
    yield 'GatherElements', 'rows', [X(*ROWS), K([1, 196, 768], cyclic)], dict(axis=1), 0
    yield 'GatherND', 'rows', [X(1000, 768), K([196, 1], words)], {}, 0
    yield 'ScatterND', 'rows', [X(1000, 768), K([196, 1], words), X(196, 768)], {}, 0
    yield 'ScatterElements', 'rows', [X(*ROWS), K([1, 98, 768], cyclic[:98 * 768]), X(1, 98, 768)], dict(axis=1), 0
    yield 'Trilu', 'scores', [X(1, 8, 196, 196)], dict(upper=0), 0
    yield 'ReverseSequence', 'rows', [X(50, 4, 256), I(50, 40, 30, 20)], {}, 0
    yield 'OneHot', '196 of 1000', [X(1, 196, element='int64'), I(1000), W(2)], {}, 0


class Case(typing.NamedTuple):
    op: str
    where: str
    operands: list
    attrs: dict
    work: Work
    widens: bool  # the kernel converts float16 to float32 to compute


def cases():
    for part in (convolutions, products, windows, lines, elementwise, moves):
        for op, where, operands, attrs, work in part():
            work = work if isinstance(work, Work) else Work(work)
            yield Case(op, where, operands, attrs, work, part is not moves and op not in ('Identity', 'Dropout', 'Where'))
