# SPDX-License-Identifier: GPL-2.0-or-later
"""The reasons why cells of the census are below half of the core's limit, or why the library refuses the node of a
cell."""

import re

BYTES, WIDE, INTEGERS = 'uint8|int8|bool', 'int32|int64', 'uint8|int8|int32|int64'
RARE = 'by the reference kernel: no network that we know has it'

# Each line is (ops, where, element types, reason). The first three entries are regular expressions for the name of a
# cell's op, for the text `where` of the cell, and for the name of its element type. Each expression must match the
# whole name or text. census_cases.py sets `where`, such as '3x3 depthwise'. The first line that matches a cell has the
# reason.
REASONS = [
    ('Erf|GridSample', '.*', INTEGERS + '|bool', 'refused: defined for floats here; no network that we know has it of integers'),
    ('Resize', '(linear|cubic).*', 'bool', 'refused: there is nothing between two bools'),
    ('Mod', '.*', 'float.*', 'refused: ONNX asks for fmod = 1'),
    ('Einsum', '.*', 'uint8|int8', RARE),
    ('MatMul|Gemm', '1 row.*', WIDE, 'a row: columns lie a whole row apart, or turned, and are copied for one use'),
    ('MatMul|Gemm|Einsum', '.*', WIDE, 'a product of 64 bits is three instructions'),
    ('MatMul', '1 row, heads', 'float16', 'keys and values become float32, packed for one row'),
    ('QLinearMatMul', '1 row.*', 'uint8|int8', 'rounding to bytes and the sums for zero points are half of the time of a row'),
    ('ConvTranspose', '.*depthwise.*', '.*', 'two taps in each dimension share nothing between pixels'),
    ('(ConvInteger|QLinearConv)', '.*depthwise.*', '.*', 'nine taps take three dot-4 groups of twelve, and each sum is rounded or four bytes long'),
    ('Conv', '.*depthwise.*', 'float16', 'becomes float32 in scratch, piece by piece'),
    ('LpPool|GlobalLpPool|Hardmax', '.*', '.*', 'powers, roots and comparisons in doubles: rare'),
    ('MaxPool', '.*', 'uint8|int8', 'each tap is loaded for 64 channels, where memcpy loads once'),
    ('MaxPool', '.*', 'float32', 'nine taps of 3x3 or 25 of 5x5 are loads, which are as many as comparisons'),
    ('.*Pool', '.*', 'float16', 'becomes float32 in scratch, piece by piece'),
    ('LRN', '.*', '.*', 'a power of an element, in doubles'),
    ('Resize', 'nearest.*', BYTES, 'lines of 28 bytes: beginning one takes as long as the rest of it'),
    ('Resize', '.*', 'uint8|int8|int32', 'becomes float32 in scratch, piece by piece'),
    ('Resize', '.*', 'int64', RARE),
    ('Resize', 'linear.*', '.*', 'lines of 28: beginning one takes as long as the rest of it'),
    ('GridSample', '.*', 'float.*', 'four reads from anywhere, at positions in doubles'),
    ('RoiAlign', '.*', '.*', 'four reads from anywhere for each sample; sums in doubles'),
    ('MeanVarianceNormalization', '.*', '.*', 'in doubles, since its epsilon is 1e-9'),
    ('InstanceNormalization', '.*', 'float32', 'x is read three times, and is larger than the L2 cache'),
    ('LayerNormalization', '.*', '.*', 'a row is read three times: mean, variance, result'),
    ('BatchNormalization|InstanceNormalization|.*Softmax', '.*', 'float16', 'becomes float32 in scratch, piece by piece'),
    ('.*Softmax', '.*', 'float32', 'a row is read three times: maximum, sum, result'),
    ('LpNormalization', '.*', '.*', 'roots and sums in doubles'),
    ('Reduce(L2|LogSum|LogSumExp)', '.*', WIDE, 'by the reference kernel: no network that we know takes a root or a logarithm of integers'),
    ('ReduceMean', '.*', 'int32', 'sums of 64 bits, and a division'),
    ('ReduceLogSumExp', '.*', 'float32', 'two passes, maximum and sum; a logarithm for each result by the C library'),
    ('ReduceLogSum', '.*', 'float32', 'a logarithm for each result by the C library'),
    ('Reduce(Max|Min)', '.*', 'float32', 'a NaN wins: a comparison more for each element'),
    ('Reduce.*', '.*', 'float32', 'sums are doubles, half as many to a register and a conversion each'),
    ('(Reduce|Arg|TopK).*', '.*', 'float16', 'becomes float32 in scratch, piece by piece'),
    ('Arg(Max|Min)', 'rows.*', BYTES, 'a row is a dozen loads; finding the place takes longer'),
    ('Arg(Max|Min)', '.*', '.*', 'a place for each element beside its value'),
    ('CumSum', '.*', '.*', 'sums are doubles, or of 64 bits, in registers of 16 bytes'),
    ('TopK', '.*', '.*', 'an element that stays begins the search again'),
    ('Shrink', '.*', INTEGERS, RARE),
    ('Pow', '.*', WIDE, 'bit by bit of the exponent, one element at a time'),
    ('Pow|A(sin|cos|tan)h?|Sinh|Cosh', '.*', '.*', 'in doubles, half as many to a register, so that all processors have the same bits'),
    ('Tan', '.*', '.*', 'by the C library: no network that we know has it'),
    ('Sin|Cos', '.*', '.*', 'the angle is brought near 0 without fused multiply-adds, so that all processors have the same bits'),
    ('Softplus', '.*', '.*', 'an exponential and a logarithm'),
    ('Div|Mod', '.*', 'int64', 'division of 64 bits: one at a time, 10 to 18 cycles'),
    ('BitShift', '.*', 'uint8', 'bytes have no shift by bytes: they are converted to 16 bits'),
    ('Mul', '.*', 'uint8|int8', 'bytes have no product: they are converted to 16 bits'),
    ('Cast', '.*to float16', 'uint8|int8', 'converted twice and rounded'),
    ('DynamicQuantizeLinear', '.*', '.*', 'the range is found first, then all is read again'),
    ('QuantizeLinear', '.*', '.*', 'a division, two bounds and three conversions'),
    ('DequantizeLinear', '.*', 'int32', 'the zero point is taken away in doubles, so that 32 bits are exact'),
    ('Add', 'scores.*', '.*', 'three streams larger than the L2 cache'),
    ('Transpose', '.*', BYTES, 'turned in registers of 16 bytes, the most that every processor has'),
    ('Transpose', '.*', '.*', 'lines that are written lie a whole row apart'),
    ('Reshape|Flatten|Slice|Split', 'result of a convolution.*', '.*', 'lies in blocks of channels, and goes out row-major: a transposition'),
    ('Slice', '.*every second', '.*', 'reads twice as many bytes as it writes'),
    ('Slice', '.*', '.*', 'runs of 512 bytes or less: a call each'),
    ('Pad', '.*', '.*', 'rows of 56 elements: a call for each, and for each edge'),
    ('DepthToSpace|SpaceToDepth', '.*', '.*', 'runs of a few elements: 24 channels of a pixel, divided in two'),
    ('GatherElements|ScatterElements', '.*', '.*', 'an index for each element: loads or stores from anywhere, one at a time'),
    ('GatherND|ScatterND|ReverseSequence|OneHot|Gather', '.*', '.*', 'rows of a kilobyte or less, a call each'),
    ('Trilu', '.*', '.*', 'a copy and a fill for each row of 196'),
]


def reason(case, element):
    """Returns the reason for the cell of a case and an element type, or None."""
    for ops, where, elements, why in REASONS:
        if re.fullmatch(ops, case.op) and re.fullmatch(where, case.where) and re.fullmatch(elements, element):
            return why
    return None
