#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# command.py: the fixture of all tests that run the command, and models for them. The last argument is the path of the command.

import io
import json
import math
import os
import struct
import subprocess
import sys
import tempfile
import unittest
import zipfile
import zlib

import json_schema
from onnx_bytes import floats, model, node, tensor, value_info

CLEAVE = os.path.abspath(sys.argv.pop())


# Returns a model of a chain: an input x of 1x3x16x16, a 3x3 Conv, a node of the op `second`, and a MaxPool.
# The MaxPool has a kernel of 2x2 and stride 2. The output is y.
def chain(batch=1, weights=None, second='Relu', seed=1):
    nodes = [
        node('Conv', ['x', 'w'], ['c'], 'conv1', pads=[1, 1, 1, 1]),
        node(second, ['c'], ['r'], 'relu1'),
        node('MaxPool', ['r'], ['y'], 'pool1', kernel_shape=[2, 2], strides=[2, 2]),
    ]
    weights = weights or tensor('w', [4, 3, 3, 3], floats(108, seed))
    return model(nodes, [value_info('x', [batch, 3, 16, 16])], [value_info('y', [batch, 4, 8, 8])], [weights])


# Returns a squeeze-and-excitation model with an input x of 1x4x256x256. A 3x3 Conv computes n channels.
# A GlobalAveragePool, a Conv and a Sigmoid compute a factor for each channel, and a Mul scales the channels.
# A second 3x3 Conv computes the output y.
def squeeze(n=32):
    nodes = [
        node('Conv', ['x', 'w1'], ['wide'], 'conv1', pads=[1, 1, 1, 1]),
        node('GlobalAveragePool', ['wide'], ['p'], 'pool'),
        node('Conv', ['p', 'w2'], ['q'], 'conv2'),
        node('Sigmoid', ['q'], ['s'], 'sigmoid'),
        node('Mul', ['wide', 's'], ['m'], 'mul'),
        node('Conv', ['m', 'w3'], ['y'], 'conv3', pads=[1, 1, 1, 1]),
    ]
    weights = [tensor(name, shape, floats(math.prod(shape), seed)) for seed, (name, shape) in
               enumerate([('w1', [n, 4, 3, 3]), ('w2', [n, n, 1, 1]), ('w3', [2, n, 3, 3])])]
    return model(nodes, [value_info('x', [1, 4, 256, 256])], [value_info('y', [1, 2, 256, 256])], weights)


# Returns a model of eight images of 32 rows. A Concat joins their rows.
# A 3x3 Conv computes n channels, and a Relu and a second 3x3 Conv follow. The output is y.
def stacked(n):
    images = [f'x{i}' for i in range(8)]
    nodes = [
        node('Concat', images, ['c'], 'concat', axis=2),
        node('Conv', ['c', 'w1'], ['a'], 'conv1', pads=[1, 1, 1, 1]),
        node('Relu', ['a'], ['r'], 'relu'),
        node('Conv', ['r', 'w2'], ['y'], 'conv2', pads=[1, 1, 1, 1]),
    ]
    weights = [tensor('w1', [n, 4, 3, 3], floats(36 * n, 1)), tensor('w2', [2, n, 3, 3], floats(18 * n, 2))]
    return model(nodes, [value_info(image, [1, 4, 32, 256]) for image in images], [value_info('y', [1, 2, 256, 256])], weights)


def npy(descr, shape, data, order=False):
    head = f"{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}".encode()
    head += b' ' * (-(10 + len(head) + 1) % 64) + b'\n'
    return b'\x93NUMPY\x01\x00' + struct.pack('<H', len(head)) + head + data


def npz(arrays, method):
    file = io.BytesIO()
    with zipfile.ZipFile(file, 'w', method) as archive:
        for name, data in arrays.items():
            # NumPy writes entries with ZIP64 fields, since NumPy does not know the length of an entry before it writes the entry.
            with archive.open(name + '.npy', 'w', force_zip64=True) as entry:
                entry.write(data)
    return file.getvalue()


# Returns a PNG picture with 8 bits per channel. A row is a list of pixels, and a pixel is a tuple of channels.
def png(rows):
    def chunk(name, data):
        return struct.pack('>I', len(data)) + name + data + struct.pack('>I', zlib.crc32(name + data))
    kind = {1: 0, 3: 2, 4: 6}[len(rows[0][0])]
    lines = b''.join(b'\0' + bytes(channel for pixel in row for channel in pixel) for row in rows)
    return (b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', len(rows[0]), len(rows), 8, kind, 0, 0, 0)) +
            chunk(b'IDAT', zlib.compress(lines)) + chunk(b'IEND', b''))


class CommandTest(unittest.TestCase):
    # The options that split the last node of the chain into two pieces.
    SPLIT = ('--node', 'pool1', '--dims', 'H', '--num-chunks', '2')

    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.folder = self.scratch.name
        self.chain = self.write('chain.onnx', chain())

    def tearDown(self):
        self.scratch.cleanup()

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, data):
        with open(self.path(name), 'wb') as file:
            file.write(data)
        return self.path(name)

    def read(self, name):
        with open(self.path(name), 'rb') as file:
            return file.read()

    def cleave(self, *args, given=b''):
        return subprocess.run([CLEAVE, *map(str, args)], input=given, capture_output=True, cwd=self.folder, timeout=300, check=False)

    def good(self, *args):
        run = self.cleave(*args)
        self.assertEqual((run.returncode, run.stderr.decode()), (0, ''), f'{args}: {run.stdout.decode()}')
        return run.stdout.decode()

    def json(self, *args):
        found = json.loads(self.good(*args, '--json'))
        name = json_schema.name_for(*args)
        if name is not None:
            self.assertEqual(json_schema.find_faults(found, json_schema.load(name), name), [])
        return found

    # Asserts exit status 1 and what bad() asserts: a limit is not met.
    def unmet_limit(self, says, *args):
        self.bad('cleave: limit not met: ' + says, *args, status=1)

    # Asserts the exit status, a single line that begins with "cleave: " and contains `says`, and no new file.
    def bad(self, says, *args, status=2):
        before = sorted(os.listdir(self.folder))
        run = self.cleave(*args)
        message = run.stderr.decode()
        self.assertEqual(run.returncode, status, f'{args}: {message}')
        self.assertRegex(message, r'\Acleave: [^\n]*\n\Z', f'{args}')
        self.assertIn(says, message, f'{args}')
        self.assertEqual(run.stdout, b'', f'{args}')
        self.assertEqual(sorted(os.listdir(self.folder)), before, f'{args}')
