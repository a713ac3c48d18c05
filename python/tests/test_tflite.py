# SPDX-License-Identifier: GPL-2.0-or-later
"""TensorFlow Lite files: load, fit, run."""

import struct

import cleave
import numpy
import pytest

CONV_2D = 3
FLOAT32, INT8, INT32 = 0, 9, 2


class File:
    """Writes a FlatBuffers file. A table comes before the tables, vectors and strings that its fields point to."""

    def __init__(self, fields):
        self.data = bytearray(b'\0\0\0\0TFL3')
        struct.pack_into('<I', self.data, 0, self.add(fields))

    def align(self, size):
        self.data += bytes(-len(self.data) % size)

    def add(self, value):
        """Appends a table (a dict of fields by number), a list of tables, bytes, or an array; returns its position."""
        self.align(16)
        if isinstance(value, dict):
            return self.add_table(value)
        if isinstance(value, list):
            at = len(self.data)
            self.data += struct.pack('<I', len(value)) + bytes(4 * len(value))
            for i, item in enumerate(value):
                struct.pack_into('<I', self.data, at + 4 + 4 * i, self.add(item) - (at + 4 + 4 * i))
            return at
        array = numpy.frombuffer(value, 'u1') if isinstance(value, bytes) else value
        self.data += bytes(12)
        at = len(self.data)
        self.data += struct.pack('<I', array.size) + array.tobytes() + b'\0'
        return at

    def add_table(self, fields):
        n = max(fields) + 1
        vtable = len(self.data)
        offsets = [8 + 8 * i if i in fields else 0 for i in range(n)]
        self.data += struct.pack(f'<{2 + n}H', 4 + 2 * n, 8 + 8 * n, *offsets)
        self.align(8)
        at = len(self.data)
        self.data += struct.pack('<i', at - vtable) + bytes(4 + 8 * n)
        for i, value in fields.items():
            field = at + 8 + 8 * i
            if isinstance(value, int):
                struct.pack_into('<q', self.data, field, value)
            else:
                struct.pack_into('<I', self.data, field, self.add(value) - field)
        return at


def tensor(name, shape, kind, buffer, scale=None, zero=0):
    fields = {0: numpy.array(shape, 'i4'), 1: kind, 2: buffer, 3: name.encode()}
    if scale is not None:
        fields[4] = {2: numpy.array([scale], 'f4'), 3: numpy.array([zero], 'i8')}
    return fields


def convolutions(kind, weights, bias, scales=(None, None, None)):
    """Two CONV_2D with one tap each: x [1, 16, 16, 2] to h [1, 16, 16, 8] to y [1, 16, 16, 2]."""
    x, w, y = scales
    integer = INT32 if kind == INT8 else FLOAT32
    tensors = [tensor('x', [1, 16, 16, 2], kind, 0, x), tensor('w', [8, 1, 1, 2], kind, 1, w), tensor('b', [8], integer, 2),
               tensor('h', [1, 16, 16, 8], kind, 0, y), tensor('v', [2, 1, 1, 8], kind, 3, w), tensor('y', [1, 16, 16, 2], kind, 0, y)]
    options = {1: 1, 2: 1}
    operators = [{0: 0, 1: numpy.array([0, 1, 2], 'i4'), 2: numpy.array([3], 'i4'), 3: 1, 4: options},
                 {0: 0, 1: numpy.array([3, 4], 'i4'), 2: numpy.array([5], 'i4'), 3: 1, 4: options}]
    subgraph = {0: tensors, 1: numpy.array([0], 'i4'), 2: numpy.array([5], 'i4'), 3: operators}
    buffers = [{0: b''}] + [{0: array.tobytes()} for array in (weights[0], bias, weights[1])]
    return bytes(File({0: 3, 1: [{0: CONV_2D, 3: CONV_2D}], 2: [subgraph], 4: buffers}).data)


@pytest.fixture
def floats():
    random = numpy.random.default_rng(44)
    weights = random.standard_normal((8, 1, 1, 2), 'f4'), random.standard_normal((2, 1, 1, 8), 'f4')
    return weights, random.standard_normal(8, 'f4')


def test_a_model_of_floats_is_loaded_fitted_and_run(tmp_path, floats):
    weights, bias = floats
    path = tmp_path / 'model.tflite'
    path.write_bytes(convolutions(FLOAT32, weights, bias))
    graph = cleave.load(path)
    assert graph.inputs['x'].shape == (1, 16, 16, 2) and graph.outputs['y'].shape == (1, 16, 16, 2)
    assert graph.macs == 16 * 16 * (2 * 8 + 8 * 2)
    x = numpy.random.default_rng(1).standard_normal((1, 16, 16, 2), 'f4')
    whole = graph.compile()({'x': x})['y'].copy()
    expected = (x @ weights[0][:, 0, 0].T + bias) @ weights[1][:, 0, 0].T
    numpy.testing.assert_allclose(whole, expected, rtol=1e-4, atol=1e-4)
    report = graph.fit(progress=False)
    assert report.totals['arena_after'] < report.totals['arena_before']
    assert graph.compile(as_is=True)({'x': x})['y'].tobytes() == whole.tobytes()
    graph.save(tmp_path / 'model.onnx')
    saved = cleave.load(tmp_path / 'model.onnx')
    assert saved.compile()({'x': x})['y'].tobytes() == whole.tobytes()


def test_a_model_of_integers_keeps_its_bytes_and_becomes_qdq(tmp_path):
    random = numpy.random.default_rng(7)
    weights = [random.integers(-127, 128, shape, 'i1') for shape in ((8, 1, 1, 2), (2, 1, 1, 8))]
    data = convolutions(INT8, weights, random.integers(-900, 900, 8, 'i4'), (0.05, 0.01, 0.1))
    graph = cleave.parse(data)
    x = random.integers(-128, 128, (1, 16, 16, 2), 'i1')
    whole = graph.compile()({'x': x})['y'].copy()
    fitted = graph.copy()
    fitted.fit(progress=False)
    assert fitted.compile(as_is=True)({'x': x})['y'].tobytes() == whole.tobytes()
    with pytest.raises(cleave.Error, match='--passes tflite-to-qdq'):
        graph.save(tmp_path / 'model.onnx')
    assert graph.optimize('tflite-to-qdq,remove-dead')
    graph.save(tmp_path / 'model.onnx')
    lowered = cleave.load(tmp_path / 'model.onnx').compile()({'x': x})['y']
    assert numpy.abs(lowered.astype(int) - whole.astype(int)).max() <= 2


def test_a_broken_file_is_an_error(floats):
    data = convolutions(FLOAT32, *floats)
    with pytest.raises(cleave.Error, match='beyond the file'):
        cleave.parse(data[:len(data) // 2])
