#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# command.py CLEAVE: runs the command on models that the test writes. Checks exit status, messages, files and JSON.

import hashlib
import json
import math
import os
import random
import re
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import zipfile
from xml.etree import ElementTree

import json_schema
import page_models
from dynamic_models import MODELS
from onnx_bytes import block, floats, model, node, number, tensor, value_info, varint

CLEAVE = os.path.abspath(sys.argv.pop())


# Returns the model x 1x3x16x16 → Conv 3x3 → Relu → MaxPool 2x2 stride 2 → y.
def chain(batch=1, weights=None, second='Relu', seed=1):
    nodes = [
        node('Conv', ['x', 'w'], ['c'], 'conv1', pads=[1, 1, 1, 1]),
        node(second, ['c'], ['r'], 'relu1'),
        node('MaxPool', ['r'], ['y'], 'pool1', kernel_shape=[2, 2], strides=[2, 2]),
    ]
    weights = weights or tensor('w', [4, 3, 3, 3], floats(108, seed))
    return model(nodes, [value_info('x', [batch, 3, 16, 16])], [value_info('y', [batch, 4, 8, 8])], [weights])


# Returns the model x 1x4x256x256 → Conv 3x3 to n channels → Mul by a factor for each channel → Conv 3x3 → y.
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


# Returns the model eight images of 32 rows → Concat of the rows → Conv 3x3 to n channels → Relu → Conv 3x3 → y.
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


class CommandTest(unittest.TestCase):
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

    # Asserts exit status 2, a single line that begins with "cleave: " and contains `says`, and no new file.
    def bad(self, says, *args):
        before = sorted(os.listdir(self.folder))
        run = self.cleave(*args)
        message = run.stderr.decode()
        self.assertEqual(run.returncode, 2, f'{args}: {message}')
        self.assertRegex(message, r'\Acleave: [^\n]*\n\Z', f'{args}')
        self.assertIn(says, message, f'{args}')
        self.assertEqual(run.stdout, b'', f'{args}')
        self.assertEqual(sorted(os.listdir(self.folder)), before, f'{args}')


class Usage(CommandTest):
    def test_help_and_version(self):
        self.assertIn('Commands:', self.good('--help'))
        self.assertRegex(self.good('--version'), r'^cleave \d')
        for command in ['info', 'dot', 'split', 'fit', 'run', 'diff', 'memory', 'opt', 'demo']:
            self.assertIn(command, self.good('--help'))
            self.assertIn(f'cleave {command}', self.good(command, '--help'))

    def test_help_of_a_command(self):
        for command in ('info', 'split', 'demo'):
            self.assertEqual(self.good('help', command), self.good(command, '--help'))
            self.assertEqual(self.good(command, '-h'), self.good(command, '--help'))
        self.bad("no command 'fly'", 'help', 'fly')
        for option in ('--version', '--list-commands'):
            self.bad(f"'info' is not expected after '{option}'", option, 'info')

    # The environment follows the arguments in memory. It must not be read as a file name.
    def test_a_dash_is_not_an_option(self):
        run = subprocess.run([CLEAVE, 'diff', '-'], capture_output=True, env={'SECRET': 'hello'}, check=False)
        self.assertEqual((run.returncode, run.stderr), (2, b"cleave: expected A.onnx B.onnx, found 1 file: '-'\n"))
        self.write('-', chain())
        self.good('info', './-')
        self.bad('standard input is empty', 'info', '-')

    # A dash is standard input for a model, whatever its format, and standard output for a file.
    def test_a_dash_is_a_standard_stream(self):
        relu = model([node('Relu', ['x'], ['y'], 'relu')], [value_info('x', [1, 4])], [value_info('y', [1, 4])], [])
        self.good('opt', self.write('relu.onnx', relu), '-p', 'clean-up', '-o', 'relu.cleave')
        for file in ('chain.onnx', 'relu.onnx', 'relu.cleave'):
            run = self.cleave('info', '-', given=self.read(file))
            self.assertEqual((run.returncode, run.stderr), (0, b''))
            self.assertEqual(run.stdout.decode(), self.good('info', file))
        rows = ('--node', 'pool1', '--dims', 'H', '--num-chunks', '2', '--depth', '3')
        self.good('split', self.chain, *rows, '-o', 'split.onnx')
        self.good('dot', self.chain, '-o', 'chain.dot')
        for args, file in (([*rows, '-o', '-'], 'split.onnx'), ([*rows, '-o', '-', '--json'], 'split.onnx')):
            run = self.cleave('split', '-', *args, given=chain())
            self.assertEqual((run.returncode, run.stdout), (0, self.read(file)))
            self.assertIn(b'nodes', run.stderr)
        self.assertEqual(self.cleave('dot', '-', '-o', '-', given=chain()).stdout, self.read('chain.dot'))
        run = self.cleave('diff', self.chain, '-', given=self.read('split.onnx'))
        self.assertEqual((run.returncode, run.stdout), (0, b'y: equal, bit for bit\n'))

    def test_a_stream_is_used_once(self):
        self.assertIn(b"'-' is given twice", self.cleave('diff', '-', '-', given=chain()).stderr)
        run = self.cleave('split', self.chain, '--all', '--dims', 'H', '--num-chunks', '2', '-o', '-', '--dot-after', '-')
        self.assertEqual((run.returncode, run.stdout), (2, b''))
        self.assertIn(b'only one output can go to standard output', run.stderr)

    # If a later output fails, nothing is written to standard output, and no temporary file stays.
    def test_standard_output_is_whole_or_empty(self):
        folder = self.path('temporary')
        os.mkdir(folder)
        for args, status in ((['-o', '-', '--dot-after', '/nowhere/a.dot'], 2), (['-o', '-'], 0)):
            run = subprocess.run([CLEAVE, 'split', self.chain, '--all', '--dims', 'H', '--num-chunks', '2', *args],
                                 capture_output=True, env={**os.environ, 'TMPDIR': folder}, check=False)
            self.assertEqual((run.returncode, run.stdout == b''), (status, status != 0))
            self.assertEqual(os.listdir(folder), [])

    def test_a_broken_model_from_standard_input_is_named(self):
        run = self.cleave('info', '-', given=b'junk')
        self.assertEqual((run.returncode, run.stdout), (2, b''))
        self.assertRegex(run.stderr.decode(), r'\Acleave: standard input: [^/\n]*\n\Z')

    def test_no_command_prints_the_help(self):
        run = self.cleave()
        self.assertEqual((run.returncode, run.stdout.decode(), run.stderr), (2, self.good('--help'), b''))

    def test_dot_is_also_called_draw(self):
        self.good('draw', self.chain, '-o', 'a.dot')
        self.good('dot', self.chain, '-o', 'b.dot')
        self.assertEqual(self.read('a.dot'), self.read('b.dot'))

    # For any bytes in an argument, a message must be a line of text without control characters.
    def test_messages_are_text(self):
        for argument in ('\x1b[31m', '\x9b31m', '\udcff', 'a\nb', '\x7f', 'x' * 100000):
            for args in (['info', argument], ['info', '--' + argument], ['info', '-' + argument], ['info', 'm', '--shape', argument],
                         [argument], ['dot', self.chain, '-o', argument]):
                run = self.cleave(*args)
                message = run.stderr.decode()
                self.assertEqual(run.returncode, 2, args)
                self.assertTrue(message.endswith('\n') and message[:-1].isprintable(), f'{args}: {message!r}')
                self.assertLess(len(message), 5000)

    def test_values(self):
        self.bad('--json takes no value', 'info', self.chain, '--json=no')
        self.bad('--shape needs a value: NAME=1,3,224,224', 'info', self.chain, '--shape')
        self.bad('-o FILE is missing', 'dot', self.chain)
        self.bad("no option '-x' in '-nx'", 'split', self.chain, '-nx')
        self.bad("value of --around is not UTF-8", 'dot', self.chain, '-o', 'a.dot', '--around', '\udcff')
        # The value of an option may look like an option.
        self.good('split', self.chain, '--node', 'pool1', '--dims', '-2', '--num-chunks', '2', '-noa.onnx')
        self.assertNotIn('a.onnx', os.listdir(self.folder))
        self.bad("no node '-oa'", 'split', self.chain, '--node', '-oa', '--dims', '-2', '--num-chunks', '2')

    def test_wrong_usage(self):
        self.bad("no command 'fly'", 'fly')
        self.bad('MODEL.onnx is missing', 'info')
        self.bad('expected MODEL.onnx', 'info', self.chain, self.chain)
        self.bad('--wings', 'info', self.chain, '--wings')
        self.bad('expected A.onnx B.onnx', 'diff', self.chain)
        self.bad('-o FILE is missing', 'dot', self.chain)


class Models(CommandTest):
    # Every command that reads a model refuses the same models.
    def refuse(self, says, name, data):
        path = self.write(name, data) if data is not None else self.path(name)
        for args in (['info', path], ['dot', path, '-o', 'out.dot'], ['run', path, '--output-dir', 'out'],
                     ['split', path, '-o', 'out.onnx', '--all', '--dims', '2', '--num-chunks', '2'],
                     ['diff', self.chain, path]):
            self.bad(says, *args)

    def test_a_range_plans_for_the_largest_and_lists_smaller_extents(self):
        path = self.write('sequence.onnx', page_models.sequence_net())
        text = self.good('info', path, '--shape', 'batch=1,length=3..96')
        self.assertIn('1x96x64', text)
        sizes = [int(n) for n in re.findall(r'batch=1,length=(\d+): ', text)]
        self.assertEqual(sizes, [48, 24, 12, 6, 3])
        for n in sizes:
            alone = self.good('info', path, '--shape', f'batch=1,length={n}')
            peak = re.search(r'peak +(.*) of', alone)[1]
            self.assertIn(f'length={n}: {n * 4096} MACs, peak {peak}\n', text)
        self.bad('must not be above', 'info', path, '--shape', 'batch=1,length=5..2')
        self.bad('whole number', 'info', path, '--shape', 'batch=1,length=1..x')

    def test_a_run_takes_the_extents_of_its_files_up_to_the_range(self):
        path = self.write('sequence.onnx', page_models.sequence_net())
        for n in (1, 7, 96):
            x = self.write('tokens.npy', npy('<f4', f'(1, {n}, 64)', floats(64 * n, 3)))
            ranged = self.good('run', path, '--shape', 'batch=1,length=1..96', '--input', f'tokens={x}')
            exact = self.good('run', path, '--shape', f'batch=1,length={n}', '--input', x)
            outputs = [re.findall(r'^output .*', text, re.M) for text in (ranged, exact)]
            self.assertEqual(*outputs)
            self.assertIn(f'1x{n}x', outputs[0][0])
        x = self.write('tokens.npy', npy('<f4', '(1, 97, 64)', floats(64 * 97, 3)))
        self.bad("--input 'tokens' has 97 in dimension 1, and --shape allows at most 96",
                 'run', path, '--shape', 'batch=1,length=1..96', '--input', x)

    def test_missing(self):
        self.refuse('nowhere.onnx', 'nowhere.onnx', None)

    def test_empty(self):
        self.refuse('empty.onnx', 'empty.onnx', b'')

    def test_no_onnx(self):
        self.refuse('text.onnx', 'text.onnx', b'This is not a model.\n' * 20)
        self.refuse('zero.onnx', 'zero.onnx', bytes(1000))

    def test_truncated(self):
        data = chain()
        for n in (1, 7, len(data) // 3, len(data) // 2, len(data) - 1):
            self.refuse('cut.onnx', 'cut.onnx', data[:n])

    def test_unsupported_op(self):
        self.refuse('Wobble', 'wobble.onnx', chain(second='Wobble'))

    def test_free_dimensions(self):
        self.refuse("'x'", 'free.onnx', chain(batch='batch'))
        free = self.path('free.onnx')
        self.assertEqual(self.json('info', free, '--shape', 'x=2,3,16,16')['inputs'][0]['shape'], [2, 3, 16, 16])
        self.assertEqual(self.json('info', free, '--shape', '2,3,16,16')['outputs'][0]['shape'], [2, 4, 8, 8])
        self.bad('--shape', 'info', free, '--shape', 'x=2,3,a')
        self.bad('--shape', 'info', free, '--shape', 'x=2,3,-1,16')
        self.bad('--shape', 'info', free, '--shape', '1,1,1,1,1,1,1,1,1')
        self.bad('z', 'info', free, '--shape', 'z=2,3,16,16')
        self.bad("'x'", 'info', free, '--shape', 'x=2,3,16')

    # --shape fixes one or several dimensions by name. If an input has that name, the option gives its shape.
    def test_dimensions_by_name(self):
        data = model([node('Add', ['x', 'seq'], ['t'], 'add'), node('Relu', ['z'], ['u'], 'relu')],
                     [value_info('x', ['batch', 'len', 4]), value_info('seq', ['seq']), value_info('z', ['batch', 'seq'])],
                     [value_info('t', ['batch', 'len', 4]), value_info('u', ['batch', 'seq'])])
        path = self.write('names.onnx', data)

        def shapes(*args):
            return [value['shape'] for value in self.json('info', path, *args)['inputs']]

        self.assertEqual(shapes('--shape', 'batch=2,len=5', '--shape', 'seq=4'), [[2, 5, 4], [4], [2, 4]])
        self.assertEqual(shapes('--shape', 'x=2,5,4', '--shape', 'seq=1', '--shape', 'z=2,3'), [[2, 5, 4], [1], [2, 3]])
        self.assertEqual(shapes('--shape', 'batch=2', '--shape', 'len=5', '--fix', 'seq=4'), [[2, 5, 4], [4], [2, 4]])
        self.bad("'length', which is not an input of the model or a dimension of one", 'info', path, '--shape', 'batch=2,length=5')
        self.bad('--shape', 'info', path, '--shape', 'batch=2,len=a')
        self.bad('--shape', 'info', path, '--shape', 'batch=2,len')

    def test_cycle(self):
        nodes = [node('Add', ['x', 'b'], ['a'], 'one'), node('Relu', ['a'], ['b'], 'two')]
        self.refuse('cycle', 'cycle.onnx', model(nodes, [value_info('x', [4])], [value_info('b', [4])]))

    def test_dangling(self):
        nodes = [node('Add', ['x', 'ghost'], ['y'], 'one')]
        self.refuse('ghost', 'dangling.onnx', model(nodes, [value_info('x', [4])], [value_info('y', [4])]))

    def test_external_data(self):
        self.write('weights.bin', floats(108))
        data = chain(weights=tensor('w', [4, 3, 3, 3], external='weights.bin'))
        self.json('info', self.write('external.onnx', data))
        self.assertEqual(self.good('diff', self.path('external.onnx'), self.chain), 'y: equal, bit for bit\n')
        os.mkdir(self.path('inner'))
        for location in ('../weights.bin', os.path.join(self.folder, 'weights.bin'), 'a/../../weights.bin'):
            data = chain(weights=tensor('w', [4, 3, 3, 3], external=location))
            self.refuse('', 'inner/outside.onnx', data)
        os.symlink('../weights.bin', self.path('inner/link.bin'))
        self.refuse('', 'inner/linked.onnx', chain(weights=tensor('w', [4, 3, 3, 3], external='link.bin')))
        os.symlink('..', self.path('inner/up'))
        self.refuse('', 'inner/linked.onnx', chain(weights=tensor('w', [4, 3, 3, 3], external='up/weights.bin')))
        self.refuse('', 'inner/none.onnx', chain(weights=tensor('w', [4, 3, 3, 3], external='none.bin')))


class Info(CommandTest):
    def test_declared_outputs(self):
        nodes = [node('Relu', ['x'], ['y'], 'relu')]
        inputs = [value_info('x', ['n', 4])]
        for declared in ([2, 4], ['n', 4], [0, 4], [2, 'm'], ['m'], [1, 'm', 7]):
            self.write('m.onnx', model(nodes, [value_info('x', [2, 4])], [value_info('y', declared)]))
            self.good('info', 'm.onnx')
        for declared, says in (([2, 5], '2x5'), ([2, 4, 1], '2x4x1'), ([], 'a scalar')):
            self.write('m.onnx', model(nodes, [value_info('x', [2, 4])], [value_info('y', declared)]))
            run = self.cleave('info', 'm.onnx')
            self.assertEqual((run.returncode, run.stderr.decode()),
                             (0, f"cleave: m.onnx: warning: output 'y' is 2x4; the model declares {says}, which is ignored\n"))
            run = self.cleave('info', '-', given=self.read('m.onnx'))
            self.assertTrue(run.stderr.startswith(b"cleave: standard input: warning: output 'y' is 2x4;"), run.stderr)
        self.write('m.onnx', model(nodes, [value_info('x', [2, 4])], [value_info('y', [2, 4], 7)]))
        self.bad("output 'y' is float32, but the model declares element type 7", 'info', 'm.onnx')
        self.write('m.onnx', model(nodes, inputs, [value_info('y', [1, 4])]))
        self.good('info', 'm.onnx', '--shape', '3,4')

    # A number too large for 64 bits is not printed as a smaller one.
    def test_many_macs(self):
        w = tensor('w', [4, 3, 3, 3], floats(108))
        self.write('m.onnx', model([node('Conv', ['x', 'w'], ['a'], 'c1', pads=[1, 1, 1, 1]),
                                    node('Conv', ['x', 'w'], ['b'], 'c2', pads=[1, 1, 1, 1]),
                                    node('Relu', ['a'], ['r'], 'r')],
                                   [value_info('x', [1, 3, 'h', 'w'])],
                                   [value_info(name, [1, 4, 'h', 'w']) for name in 'br'], [w]))
        for h, sum_of in ((300000000, '>= 9.2e18'), (100000000, '2160000000000000000')):
            shape = f'1,3,{h},{h}'
            text = self.good('info', 'm.onnx', '--shape', shape)
            self.assertIn(f'MACs        {sum_of}\n', text)
            self.assertIn(f'Conv, {sum_of} MACs', text)
            self.assertEqual(self.json('info', 'm.onnx', '--shape', shape)['macs'], min(2 * 108 * h * h, 2 ** 63 - 1))

    def test_fields(self):
        info = self.json('info', self.chain)
        self.assertEqual(info['ops'], {'Conv': 1, 'MaxPool': 1, 'Relu': 1})
        self.assertEqual(info['nodes'], 3)
        self.assertEqual(info['parameters'], 108)
        self.assertEqual(info['parameter_bytes'], 432)
        self.assertEqual(info['macs'], 4 * 16 * 16 * 27)
        self.assertEqual(info['inputs'], [{'name': 'x', 'type': 'float32', 'shape': [1, 3, 16, 16]}])
        self.assertEqual(info['outputs'], [{'name': 'y', 'type': 'float32', 'shape': [1, 4, 8, 8]}])
        self.assertGreaterEqual(info['peak_activation_bytes'], 4 * (4 * 16 * 16 + 4 * 8 * 8))
        self.assertIn('weights apart', info['convention'])
        self.assertEqual([node['op'] for node in info['node_list']], ['Conv', 'Relu', 'MaxPool'])
        self.assertEqual(info['node_list'][1]['reads'], [info['node_list'][0]['name']])
        self.assertEqual(info['node_list'][2]['shape'], [1, 4, 8, 8])
        text = self.good('info', self.chain)
        for part in ('Conv', '108', '27648'):
            self.assertIn(part, text)

    def test_program(self):
        for options in ([], ['--as-is']):
            options += ['--threads', '2']
            run = self.json('run', self.chain, *options)
            program = self.json('info', self.chain, '--program', *options)['program']
            for key in ('threads', 'nodes', 'peak_activation_bytes', 'arena_bytes', 'scratch_bytes', 'weight_bytes'):
                self.assertEqual(program[key], run[key], key)
            self.assertEqual(program['bytes'], run['arena_bytes'] + run['scratch_bytes'] + run['weight_bytes'])
            self.assertGreaterEqual(program['weight_bytes'], 432)
        self.assertIn('%d bytes: arena' % program['bytes'], self.good('info', self.chain, '--program', '--bytes', *options))
        self.assertNotIn('program', self.json('info', self.chain))
        self.bad('--threads', 'info', self.chain, '--program', '--threads', '0')


class Simulate(CommandTest):
    # With one rank, the simulation uses the measured times of the steps.
    def test_profile(self):
        one = self.json('simulate', self.chain, '--ranks', '1')
        profile = self.json('simulate', self.chain, '--ranks', '1', '--profile')
        self.assertGreater(profile['latency_ms'], 0)
        self.assertAlmostEqual(profile['latency_ms'], profile['ranks'][0]['busy_ms'])
        self.assertNotEqual(profile['latency_ms'], one['latency_ms'])
        self.assertEqual(profile['ranks'][0]['arena_bytes'], one['ranks'][0]['arena_bytes'])
        self.bad('--ranks', 'simulate', self.chain, '--ranks', '0', '--profile')


class Dot(CommandTest):
    def test_files(self):
        self.good('dot', self.chain, '-o', self.path('a.dot'))
        with open(self.path('a.dot'), encoding='utf-8') as file:
            text = file.read()
        for part in ('digraph', 'conv1', 'W: float32 4x3x3x3', 'relu1'):
            self.assertIn(part, text)
        self.assertNotIn('cluster', text)
        self.good('dot', self.chain, '-o', self.path('b.dot'), '--show-constants')
        self.good('dot', self.chain, '-o', self.path('r.dot'), '--ranks', '2', '--bandwidth', '1000', '--latency', '0.1')
        with open(self.path('r.dot'), encoding='utf-8') as file:
            self.assertIn('cluster_rank_0', file.read())
        self.bad('--ranks', 'dot', self.chain, '-o', self.path('r.dot'), '--latency', '1')
        self.bad('not both', 'dot', self.chain, '-o', self.path('r.dot'), '--ranks', '2', '--overview')
        self.bad("not 'many'", 'dot', self.chain, '-o', self.path('r.dot'), '--ranks', 'many')
        self.bad('.dot, .svg or .png', 'dot', self.chain, '-o', 'a.pdf')
        self.bad('nowhere', 'dot', self.chain, '-o', '/nowhere/a.dot')
        self.bad('not a regular file', 'dot', self.chain, '-o', self.folder)

    # For any characters in a name, a drawing must be valid XML with a vertex for each node.
    def test_names_that_are_invalid_in_xml(self):
        names = [f'n{c}' for c in ('\x01', '\x02', '\x1f', '\x7f', '\ufffe', '\uffff', '\n', '&<>"', '\ufffd')]
        nodes = [node('Relu', ['\x02x'], [f'v{name}'], name) for name in names]
        self.write('m.onnx', model(nodes, [value_info('\x02x', [4])], [value_info(f'v{name}', [4]) for name in names]))
        run = self.cleave('dot', 'm.onnx', '-o', 'm.svg')
        if b'libcleave-render' in run.stderr:
            self.skipTest('built without pictures')
        self.assertEqual(run.returncode, 0, run.stderr)
        titles = [e.text for e in ElementTree.parse(self.path('m.svg')).iter('{http://www.w3.org/2000/svg}title')]
        self.assertEqual(len([t for t in titles if '->' not in t and 'cluster' not in t]), 1 + 1 + 2 * len(names), titles)


class Memory(CommandTest):
    def test_text(self):
        text = self.good('memory', self.chain)
        self.assertIn('peak 7 KiB of live activations at step 1 of 5', text)
        self.assertRegex(text, r'\n +1 +7 KiB #{40} \* Conv conv1\n')
        self.assertRegex(text, r'\n +4 KiB +3 KiB  1 to 3 +r\n')
        self.assertRegex(text, r'\n +3 KiB +5 KiB  0 to 1 +x\n')
        self.assertIn("the operands and results of Conv 'conv1' take 7 KiB, values that wait for later steps 0 B", text)

    def test_json_has_the_memory_of_a_run(self):
        for threads in (1, 2):
            found = self.json('memory', self.chain, '--threads', threads)['models'][0]
            run = self.json('run', self.chain, '--threads', threads, '--as-is')
            for figure in ('peak_activation_bytes', 'arena_bytes'):
                self.assertEqual(found[figure], run[figure])
            self.assertEqual(max(step['live_bytes'] for step in found['steps']), found['peak_activation_bytes'])
            self.assertEqual([b['value'] for b in found['buffers']], ['x', 'r', 'y'])

    def test_limit(self):
        for limit, status in (('7168', 0), ('7167', 1)):
            run = self.cleave('memory', self.chain, '--max-memory', limit)
            self.assertEqual((run.returncode, run.stderr), (status, b''))
            self.assertIn(b'is met' if status == 0 else b'is not met', run.stdout)

    def test_picture(self):
        self.good('split', self.chain, '--node', 'pool1', '--dims', 'H', '--num-chunks', '4', '--depth', '3', '-o', 'split.onnx')
        run = self.cleave('memory', self.chain, '--after', 'split.onnx', '--max-memory', '1MiB', '-o', 'a.svg')
        self.assertEqual(run.returncode, 0, run.stderr)
        texts = [e.text for e in ElementTree.parse(self.path('a.svg')).iter('{http://www.w3.org/2000/svg}text')]
        for text in ('r', 'relu1.0', '4 KiB, steps 1 to 3', 'split.onnx', 'limit 1 MiB', 'steps of the run'):
            self.assertIn(text, texts)

    def test_picture_of_names_that_are_invalid_in_xml(self):
        self.write('m.onnx', model([node('Relu', ['\x02x'], ['<y&\uffff'], 'n')], [value_info('\x02x', [4])], [value_info('<y&\uffff', [4])]))
        self.good('memory', 'm.onnx', '-o', 'm.svg')
        texts = [e.text for e in ElementTree.parse(self.path('m.svg')).iter('{http://www.w3.org/2000/svg}text')]
        self.assertIn('<y&\ufffd', texts)
        self.assertIn('peak 64 B at step 0 (load \ufffdx), arena 64 B', texts)

    def test_nothing_to_run(self):
        self.write('m.onnx', model([], [], [], []))
        self.assertIn('peak 0 B', self.good('memory', 'm.onnx', '-o', 'm.svg'))

    def test_wrong_usage(self):
        self.bad("must end in .svg, not 'a.png'", 'memory', self.chain, '-o', 'a.png')
        self.bad('--max-memory', 'memory', self.chain, '--max-memory', 'much')
        self.bad('missing.onnx', 'memory', self.chain, '--after', 'missing.onnx')


class Dynamic(CommandTest):
    """Models whose shapes depend on data."""

    def setUp(self):
        super().setUp()
        self.write('m.onnx', MODELS['mask'])

    def test_info_says_what_is_dynamic_and_why(self):
        info = self.json('info', 'm.onnx')
        self.assertEqual([o['name'] for o in info['outputs']], ['fallback'])
        self.assertEqual(info['dynamic']['outputs'], ['scaled', 'rows'])
        nodes = {n['name']: n for n in info['dynamic']['nodes']}
        self.assertEqual(list(nodes), ['where', 'rows', 'values', 'scaled'])
        self.assertEqual((nodes['where']['cause'], nodes['where']['value'], nodes['where']['max_bytes']), (True, 'above', 512 * 4 * 8))
        self.assertEqual((nodes['values']['cause'], nodes['values']['value']), (False, 'rows'))
        text = self.good('info', 'm.onnx')
        self.assertIn("NonZero 'where' needs the contents of a computed value: 'above'; at most 16", text)
        self.assertIn('and 3 that read their results', text)

    def test_run_runs_both_parts(self):
        run = self.json('run', 'm.onnx')
        self.assertEqual([o['name'] for o in run['outputs']], ['fallback', 'scaled', 'rows'])
        self.assertEqual(run['dynamic']['nodes'], 4)
        self.assertGreater(run['dynamic']['peak_bytes'], 0)

    # Reads the least memory of a part from the message of a refused budget, then runs with that budget.
    def test_run_in_parts_runs_both_parts(self):
        n_parts = 0
        for name, data in MODELS.items():
            path = self.write(f'{name}.onnx', data)
            whole = self.json('run', path)
            needs = re.search(r'besides a part, (\d+) bytes.*alone needs (\d+)', self.cleave('run', path, '--max-memory', '1').stderr.decode())
            if needs is None:
                continue
            parts = self.json('run', path, '--repeat', '2', '--max-memory', str(int(needs[1]) + int(needs[2])))
            self.assertEqual((parts['outputs'], parts['repeat']), (whole['outputs'], 2), name)
            self.assertEqual(parts['dynamic']['nodes'], whole['dynamic']['nodes'])
            n_parts = max(n_parts, parts['layers']['parts'])
        self.assertGreater(n_parts, 1)

    def test_outputs_of_strings_are_printed_and_written(self):
        path = self.write('labels.onnx', MODELS['labels'])
        report = self.json('run', path, '--seed', '1', '--output-dir', 'out')
        label = next(o for o in report['outputs'] if o['name'] == 'label')
        width = max(len(text.encode()) for text in label['strings'])
        self.assertTrue(set(label['strings']) <= {'cat', 'dog', 'Vögel', '?'})
        self.assertEqual((label['type'], label['shape']), ('uint8', [5, width]))
        text = ', '.join(f"'{text}'" for text in label['strings'])
        self.assertIn(f'label: strings 5: {text} sha256', self.good('run', path, '--seed', '1'))
        with open(self.path('out/label.npy'), 'rb') as file:
            data = file.read()
        self.assertIn(f"'descr': '|S{width}', 'fortran_order': False, 'shape': (5, )".encode(), data)
        self.assertTrue(data.endswith(b''.join(text.encode().ljust(width, b'\0') for text in label['strings'])))

    def test_a_split_model_keeps_the_dynamic_part(self):
        run = self.cleave('split', 'm.onnx', '--all', '--dims=2', '--num-chunks=2', '--check', '-o', 's.onnx')
        self.assertEqual(run.returncode, 0)
        self.assertIn("note: the shapes of 4 nodes depend on data, from NonZero 'where' on", run.stderr.decode())
        self.assertIn('equal', self.good('diff', 'm.onnx', 's.onnx'))
        self.assertEqual(self.json('info', 's.onnx')['dynamic']['outputs'], ['scaled', 'rows'])

    def test_what_cannot_have_a_dynamic_part_is_refused(self):
        self.bad('a saved program cannot have them', 'compile', 'm.onnx', '-o', 'm.plan')
        run = self.cleave('opt', 'm.onnx', '-p', 'clean-up', '-o', 'm.cleave')
        self.assertEqual(run.returncode, 2)
        self.assertIn('a graph as text cannot have them: write OUT.onnx', run.stderr.decode())
        self.assertNotIn('m.cleave', os.listdir(self.folder))


class Partition(CommandTest):
    # The parts are two adjacent strips, the nodes before them and the nodes after them. Each part runs alone.
    def test_strips(self):
        self.good('split', self.chain, '--node', 'pool1', '--dims', 'H', '--num-chunks', '2', '--depth', '3', '-o', 's.onnx')
        self.good('partition', 's.onnx', '-d', 'parts')
        with open(self.path('parts/schedule.json')) as file:
            schedule = json.load(file)
        self.assertEqual([value['name'] for value in schedule['inputs']], ['x'])
        self.assertEqual([value['name'] for value in schedule['outputs']], ['y'])
        parts = schedule['parts']
        self.assertEqual(sorted(part['subgraph'] for part in parts if part['subgraph'] >= 0), [0, 1])
        self.assertEqual(sum(part['macs'] for part in parts), self.json('info', 's.onnx')['macs'])
        written = {'x'}
        for i, part in enumerate(parts):
            self.assertEqual(self.json('info', 'parts/' + part['file'])['nodes'], part['nodes'])
            self.assertTrue(all(k < i for k in part['after']))
            self.assertLessEqual({value['name'] for value in part['reads']}, written)
            written |= {value['name'] for value in part['writes']}
        self.assertIn(schedule['outputs'][0]['value'], written)
        self.bad('-d DIR is missing', 'partition', 's.onnx')

    # Runs the parts of a schedule by the command. The values between the parts are .npy files with the names of the values.
    # Returns the outputs.
    def run_parts(self, folder, inputs):
        with open(self.path(f'{folder}/schedule.json')) as file:
            schedule = json.load(file)
        values = dict(inputs)
        for i, part in enumerate(schedule['parts']):
            args = [arg for value in part['reads'] for arg in ('--input', f"{value['name']}={values[value['name']]}")]
            self.good('run', f"{folder}/{part['file']}", *args, '--output-dir', f'{folder}/values{i}')
            values.update({value['name']: self.path(f"{folder}/values{i}/{value['name']}.npy") for value in part['writes']})
            for name in part['frees']:
                del values[name]
        self.assertEqual(set(values), {output['value'] for output in schedule['outputs']})
        return schedule, [values[output['value']] for output in schedule['outputs']]

    def test_parts_in_a_row(self):
        x = self.write('x.npy', npy('<f4', '(1, 3, 16, 16)', floats(768, 3)))
        self.good('run', self.chain, '--input', x, '--output-dir', 'whole')
        with open(self.path('whole/y.npy'), 'rb') as file:
            want = file.read()
        for args, n in (('--parts', '3'), 3), (('--parts', '1'), 1), (('--at', 'r'), 2), (('--at', 'r', '--at', 'c'), 3), \
                       (('--max-bytes', '10kB'), 1):
            text = self.good('partition', self.chain, '-d', 'row', '--dot', 'row.dot', *args)
            self.assertRegex(text, fr'(?m)^{n} parts?, ')
            schedule, (y,) = self.run_parts('row', {'x': x})
            self.assertEqual([part['level'] for part in schedule['parts']], list(range(n)))
            with open(y, 'rb') as file:
                self.assertEqual(file.read(), want)
            with open(self.path('row.dot')) as file:
                self.assertEqual(set(re.findall(r'label="?(part \d)', file.read())), {f'part {i}' for i in range(n)})
        self.bad('give one of --parts, --at and --max-bytes', 'partition', self.chain, '-d', 'row', '--parts', '2', '--at', 'r')
        self.bad("no value 'q'", 'partition', self.chain, '-d', 'row', '--at', 'q')
        self.bad("node 'conv1' alone needs", 'partition', self.chain, '-d', 'row', '--max-bytes', '1kB')
        self.bad('cannot be cut into 4 parts; ask for at most 3', 'partition', self.chain, '-d', 'row', '--parts', '4')

    # The model has three products with weights of 16,384 bytes each. No two of the weights fit into 20,000 bytes.
    def test_parts_within_bytes(self):
        values = ['x', 'a', 'b', 'y']
        nodes = [node('MatMul', [values[i], f'w{i}'], [values[i + 1]], f'product{i}') for i in range(3)]
        weights = [tensor(f'w{i}', [64, 64], floats(4096, i)) for i in range(3)]
        self.write('products.onnx', model(nodes, [value_info('x', [1, 64])], [value_info('y', [1, 64])], weights))
        x = self.write('x.npy', npy('<f4', '(1, 64)', floats(64, 3)))
        for size, n in ('20kB', 3), ('40kB', 2), ('60kB', 1):
            self.good('partition', 'products.onnx', '-d', 'products', '--max-bytes', size)
            schedule, (y,) = self.run_parts('products', {'x': x})
            self.assertEqual(len(schedule['parts']), n)
            for part in schedule['parts']:
                self.assertLessEqual(part['weight_bytes'] + part['arena_bytes'], 1000 * int(size[:2]))
        self.good('run', 'products.onnx', '--input', x, '--output-dir', 'whole')
        with open(self.path('whole/y.npy'), 'rb') as want, open(y, 'rb') as got:
            self.assertEqual(got.read(), want.read())

    # The parts of a cut at r are equal to the extracted submodels before and after r.
    def test_extract(self):
        x = self.write('x.npy', npy('<f4', '(1, 3, 16, 16)', floats(768, 3)))
        self.good('partition', self.chain, '-d', 'row', '--at', 'r')
        self.good('extract', self.chain, '--to', 'r', '-o', 'r.onnx')
        self.good('extract', self.chain, '--from', 'r', '-o', 'y.onnx')
        self.good('diff', 'row/part-000.onnx', 'r.onnx')
        self.good('diff', 'row/part-001.onnx', 'y.onnx')
        self.good('run', 'r.onnx', '--input', x, '--output-dir', 'r')
        self.good('run', 'y.onnx', '--input', 'r=r/r.npy', '--output-dir', 'y')
        self.good('run', self.chain, '--input', x, '--output-dir', 'whole')
        with open(self.path('whole/y.npy'), 'rb') as want, open(self.path('y/y.npy'), 'rb') as got:
            self.assertEqual(got.read(), want.read())
        self.bad('--from VALUE or --to VALUE is missing', 'extract', self.chain, '-o', 'a.onnx')
        self.bad('-o OUT.onnx is missing', 'extract', self.chain, '--to', 'r')
        self.bad("'y' is not needed for 'c'", 'extract', self.chain, '--from', 'y', '--to', 'c', '-o', 'a.onnx')


class Opt(CommandTest):
    SPLIT = 'split{node=pool1 dims=H num-chunks=2 depth=3},clean-up'

    def opt(self, *args):
        run = self.cleave('opt', self.chain, *args)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout.decode(), run.stderr.decode()

    # The pass `split` of opt writes the same file as the command split with the same options.
    def test_split(self):
        self.good('split', self.chain, '--node', 'pool1', '--dims', 'H', '--num-chunks', '2', '--depth', '3', '-o', 'a.onnx')
        self.good('opt', self.chain, '-p', 'split{node=pool1 dims=H num-chunks=2 depth=3}', '-o', 'b.onnx')
        self.assertEqual(self.read('a.onnx'), self.read('b.onnx'))
        self.assertEqual(self.good('diff', self.chain, 'b.onnx').strip().split(': ')[1], 'equal, bit for bit')

    # Each list of options of the command split has an equal list for the pass `split` of opt, and both write the same
    # file.
    def test_options_of_split_as_text(self):
        forms = [
            ['--node', 'conv1', '--dims', 'H', '--chunk-size', '5', '--small-first'],
            ['--node', 'conv1', '--dims', 'C,W', '--chunk-sizes', '1,3/-1,4'],
            ['--node', 'pool1', '--dims', 'H', '--chunk-weights', '1,3', '--depth', '2', '--halo', 'carry', '--strips-per-band', '2'],
            ['--node', 'pool1', '--max-piece-memory', '4KiB', '--depth', '3', '--max-added-macs', '50'],
            ['--all', '--dims', 'H', '--num-chunks', '2'],
        ]
        for form in forms:
            text, options = [], list(form)
            while options:
                name = options.pop(0)[2:].replace('piece-memory', 'memory')
                text.append(name if not options or options[0].startswith('--') else f'{name}={options.pop(0)}')
            self.good('split', self.chain, *form, '-o', 'a.onnx', '--force')
            self.good('opt', self.chain, '-p', 'split{' + ' '.join(text) + '}', '-o', 'b.onnx', '--force')
            self.assertEqual(self.read('a.onnx'), self.read('b.onnx'), form)
            self.assertNotEqual(self.read('a.onnx'), self.read('chain.onnx'), form)

    def test_file_and_dump(self):
        self.write('passes', b'# cut it\n' + self.SPLIT.replace(',', ',\n').encode())
        by_file, _ = self.opt('--passes-file', 'passes')
        by_text, _ = self.opt('-p', self.SPLIT)
        self.assertEqual(by_file, by_text)
        self.assertIn('Assemble', by_text)
        self.write('passes', b'\n\nclean')
        self.bad("'passes': pipeline, line 3, column 1: there is no pass 'clean'", 'opt', self.chain, '--passes-file', 'passes')

    # A graph written as text is the same graph for every command.
    def test_text(self):
        self.good('opt', self.chain, '-p', self.SPLIT, '-o', 'a.onnx')
        self.good('opt', self.chain, '-p', self.SPLIT, '-o', 'a.cleave')
        self.assertEqual(self.good('diff', 'a.onnx', 'a.cleave').strip().split(': ')[1], 'equal, bit for bit')
        printed = self.good('opt', 'a.cleave', '-p', 'remove-dead')
        self.assertEqual(printed, self.good('opt', self.chain, '-p', self.SPLIT))
        self.write('b.cleave', printed.encode())
        self.assertEqual(printed, self.good('opt', 'b.cleave', '-p', 'remove-dead'))
        self.write('c.cleave', b'%x = Input : float32 4\n%y = Relu %z\n')
        self.bad("'c.cleave', line 2, column 11: there is no value %z before this line", 'info', 'c.cleave')
        self.bad('--shape and --fix are for ONNX models', 'info', 'c.cleave', '--shape', 'x=4')

    # A failing graph is reduced as far as possible. In this test, each graph with a convolution fails.
    def test_reduce(self):
        report = self.cleave('opt', self.chain, '--reduce', 'grep -q Conv "$1" && test "${2#*split}" != "$2"',
                           '-p', 'clean-up,' + self.SPLIT, '-o', 'small.cleave')
        self.assertEqual(report.returncode, 0, report.stderr)
        self.assertRegex(report.stderr.decode(), r'^1 of \d+ nodes are left after \d+ runs; passes: split\{[^}]*\}\n$')
        self.assertIn(' = Conv ', self.good('opt', 'small.cleave', '-p', 'remove-dead'))
        self.assertIn(' = Constant value=', self.cleave('opt', self.chain, '--reduce', 'grep -q Conv "$1"').stdout.decode())
        self.bad('the test is false for the graph itself, so there is nothing to reduce', 'opt', self.chain, '--reduce', 'false')
        self.bad("there is no pass 'x'", 'opt', self.chain, '--reduce', 'false', '-p', 'x')

    def test_list(self):
        text = self.good('opt', '--list-passes')
        for part in ('remove-dead\n', '    = repeat(', '      num-chunks=K,…', '      small-first ', 'may be given again'):
            self.assertIn(part, text)

    def test_prints(self):
        _, changed = self.opt('-p', self.SPLIT, '--print-changed', '--verify-each')
        self.assertIn('; split{node=pool1 dims=H num-chunks=2 depth=3}\n-c = Conv x, w', changed.replace('conv1 = ', 'c = '))
        self.assertIn('+pool1 = Assemble pool1.0, pool1.1', changed)
        self.assertNotIn('remove-dead', changed)
        _, everything = self.opt('-p', 'remove-dead,' + self.SPLIT, '--print-after-all')
        self.assertIn('; after remove-dead, which changed nothing\n%0 = Input', everything)
        _, times = self.opt('-p', self.SPLIT, '--time-passes')
        self.assertRegex(times, r'1 +1  split\{')

    def test_part_of_a_pipeline(self):
        whole, _ = self.opt('-p', self.SPLIT)
        none, _ = self.opt('-p', self.SPLIT, '--bisect', '0')
        self.assertNotIn('Assemble', none)
        self.assertEqual(self.opt('-p', self.SPLIT, '--bisect', '1')[0], whole)
        self.assertEqual(self.opt('-p', 'remove-dead,' + self.SPLIT, '--stop-after', 'remove-dead')[0], none)

    def test_drawings(self):
        self.opt('-p', self.SPLIT, '--dot-after-each', 'steps')
        self.assertEqual(os.listdir(self.path('steps')), ['001-split.dot'])
        with open(self.path('steps/001-split.dot'), encoding='utf-8') as file:
            self.assertIn('Assemble', file.read())

    def test_wrong_usage(self):
        self.bad('expected either --passes or --passes-file', 'opt', self.chain)
        self.bad("column 1: there is no pass 'x'", 'opt', self.chain, '-p', 'x')
        self.bad("split: the graph has no node 'nothere'", 'opt', self.chain, '-p', 'split{node=nothere dims=H num-chunks=2}', '-o', 'b.onnx')
        self.bad("there is no pass 'x'", 'opt', self.chain, '-p', 'clean-up', '--stop-after', 'x')
        self.bad("does not run 'split'", 'opt', self.chain, '-p', 'clean-up', '--stop-after', 'split')
        self.bad('--bisect expects', 'opt', self.chain, '-p', 'clean-up', '--bisect', '-1')
        self.bad('expected one MODEL.onnx, found 2 files', 'opt', self.chain, self.chain, '-p', 'clean-up')
        self.bad('nothere', 'opt', self.chain, '--passes-file', 'nothere')


class Split(CommandTest):
    def split(self, *args):
        out = self.path('out.onnx')
        report = self.json('split', self.chain, '-o', out, '--check', *args)
        self.assertEqual(report['check'], 'equal, bit for bit')
        self.assertEqual(self.good('diff', self.chain, out), 'y: equal, bit for bit\n')
        return report

    # Asserts exit status 1, a message on standard error, and no file. With --keep-going, asserts a file with
    # equal outputs, and the same report. Returns the report.
    def unmet(self, says, *args):
        files = sorted(os.listdir(self.folder))
        run = self.cleave('split', self.chain, '-o', 'unmet.onnx', '--dot-after', 'unmet.dot', '--json', *args)
        self.assertEqual((run.returncode, run.stderr.decode()), (1, says), f'{args}')
        self.assertEqual(sorted(os.listdir(self.folder)), files, f'{args}')
        report = json.loads(run.stdout)
        run = self.cleave('split', self.chain, '-o', 'unmet.onnx', '--keep-going', '--save-json', 'unmet.json', *args)
        self.assertEqual((run.returncode, run.stderr.decode()), (1, says), f'{args}')
        self.assertEqual(self.good('diff', self.chain, 'unmet.onnx'), 'y: equal, bit for bit\n')
        self.assertEqual(json.loads(self.read('unmet.json')), report, f'{args}')
        os.remove(self.path('unmet.onnx'))
        os.remove(self.path('unmet.json'))
        return report

    def pieces(self, *args):
        report = self.split('--node', 'conv1', *args)
        self.assertEqual([s['node'] for s in report['split']], ['conv1'])
        return [p['range'] for p in report['split'][0]['pieces']]

    def test_five_options(self):
        rows = lambda *ends: [[[0, 1], [0, 4], [b, e], [0, 16]] for b, e in zip(ends, ends[1:])]
        self.assertEqual(self.pieces('--dims', 'H', '--num-chunks', '3'), rows(0, 6, 11, 16))
        self.assertEqual(self.pieces('--dims', 'H', '--num-chunks', '3', '--small-first'), rows(0, 5, 10, 16))
        self.assertEqual(self.pieces('--dims', '-2', '--chunk-size', '6'), rows(0, 6, 12, 16))
        self.assertEqual(self.pieces('--dims', '2', '--chunk-sizes', '3,-1,5'), rows(0, 3, 11, 16))
        self.assertEqual(self.pieces('--dims', 'H', '--chunk-weights', '1,3'), rows(0, 4, 16))
        self.assertEqual(self.pieces('--slice-ranges', '0:1,0:4,0:9,0:16/0:1,0:4,8:16,0:16'),
                         [rows(0, 9)[0], rows(8, 16)[0]])
        self.assertEqual(len(self.pieces('--dims', 'H,W', '--num-chunks', '2,3')), 6)
        self.assertEqual(len(self.pieces('--dims', 'H,W', '--chunk-sizes', '8,8/4,4,8')), 6)
        self.assertEqual(self.pieces('--dims', 'H', '--num-chunks', '3', '--align', '4'), rows(0, 8, 12, 16))
        self.assertEqual(self.pieces('--dims', 'H', '--chunk-size', '6', '--min-chunk', '5'), rows(0, 6, 16))
        self.assertEqual(self.pieces('--dims', 'H,C', '--num-chunks', '2,1', '--align', '6,1'), rows(0, 12, 16))

    def test_recursion(self):
        report = self.split('--node', 'pool1', '--dims', 'H', '--num-chunks', '2', '--depth', '3')
        self.assertEqual(sorted(s['node'] for s in report['split']), ['conv1', 'pool1', 'relu1'])
        self.assertEqual(report['not_split'], [])
        self.assertEqual(report['parallel_subgraphs'], 2)
        self.assertEqual(report['parallel_macs'], report['macs']['after'])
        self.assertEqual(report['nodes']['before'], 3)
        self.assertEqual(report['macs'], {'before': 27648, 'after': 27648})
        self.assertLessEqual(report['peak_activation_bytes']['after'], report['peak_activation_bytes']['before'])
        self.assertIn('weights apart', report['peak_activation_bytes']['convention'])
        self.split('--node', 'pool1', '--dims', 'H', '--num-chunks', '2', '--depth', '3', '--halo', 'carry')
        self.split('--node', 'pool1', '--dims', 'H', '--num-chunks', '2', '--depth', '3', '--single-use')

    def test_nodes_by_result_and_all(self):
        report = self.split('--node', 'c', '--node', 'r', '--dims', '2', '--num-chunks', '2')
        self.assertEqual([s['node'] for s in report['split']], ['conv1', 'relu1'])
        report = self.split('--all', '--dims', '2', '--num-chunks', '16')
        self.assertEqual(sorted(s['node'] for s in report['split']), ['conv1', 'relu1'])
        self.assertEqual([n['node'] for n in report['not_split']], ['pool1'])
        self.assertIn(report['not_split'][0]['reason'], ('refused', 'unsupported'))
        self.assertTrue(report['not_split'][0]['message'])

    def test_memory(self):
        report = self.split('--node', 'conv1', '--max-piece-memory', '4KiB')
        self.assertGreater(len(report['split'][0]['pieces']), 1)
        report = self.split('--node', 'conv1', '--max-piece-memory', '1MiB')
        self.assertEqual(report['not_split'][0]['reason'], 'one-piece')
        report = self.unmet('cleave: limit not met: --max-piece-memory is 1, the smallest value found is 220\n'
                            'cleave: none of the named nodes can be split\n',
                            '--node', 'conv1', '--max-piece-memory', '1')
        self.assertEqual(report['not_split'][0]['reason'], 'constraint')
        self.assertEqual(report['limits'], [{'limit': 'max-memory', 'asked': 1, 'reached': 220, 'met': False}])
        self.assertFalse(report['search']['gave_up'])
        report = self.split('--node', 'conv1', '--max-piece-memory', '220')
        self.assertEqual(report['limits'], [{'limit': 'max-memory', 'asked': 220, 'reached': 220, 'met': True}])
        report = self.split('--all', '--max-piece-memory', '220')
        self.assertEqual(len(report['split']), 3)
        report = self.split('--node', 'conv1', '--max-piece-memory', '4KiB', '--dims', 'H', '--align', '2')
        self.assertEqual([p['range'][2] for p in report['split'][0]['pieces']], [[0, 6], [6, 10], [10, 16]])

    def test_limits(self):
        rows = ['--node', 'pool1', '--dims', 'H', '--depth', '3', '--num-chunks']
        macs = {'before': 27648, 'after': 27648}
        for option, text, good in (('--max-subgraph-memory', '3775', False), ('--max-subgraph-memory', '4kB', True),
                                   ('--max-schedule-memory', '5000', False), ('--max-schedule-memory', '6KiB', True),
                                   ('--max-pieces', '2', True), ('--max-pieces', '1', False),
                                   ('--max-added-macs', '0', True)):
            if good:
                report = self.split(*rows, '2', option, text)
                self.assertEqual(len(report['split']), 3, (option, text))
                self.assertEqual(report['macs'], macs)
                self.assertTrue(report['limits'][0]['met'])
                continue
            reached = {'--max-subgraph-memory': 3776, '--max-schedule-memory': 5632, '--max-pieces': 2}[option]
            report = self.unmet(f'cleave: limit not met: {option} is {text}, the smallest value found is {reached}\n'
                                'cleave: none of the named nodes can be split\n', *rows, '2', option, text)
            self.assertEqual(report['not_split'][0]['reason'], 'constraint', (option, text))
            self.split(*rows, '2', option, reached)
        report = self.split(*rows, '4', '--halo', 'carry', '--strips-per-band', '2')
        self.assertEqual(report['parallel_subgraphs'], 4)  # no piece reads rows of another piece, so all four pieces are parallel
        report = self.split(*rows, '4', '--halo', 'exchange', '--strips-per-band', '2')
        self.assertEqual(report['macs'], macs)

    # A node that is requested by name is split, or the command fails with the reason.
    def test_refused(self):
        says = 'cleave: none of the named nodes can be split\n'
        report = self.unmet('cleave: limit not met: --max-pieces is 1, the smallest value found is 2\n' + says,
                            '--node', 'pool1', '--dims', 'W', '--num-chunks', '2', '--max-pieces', '1')
        self.assertEqual(report['limits'], [{'limit': 'max-pieces', 'asked': 1, 'reached': 2, 'met': False}])
        report = self.unmet('cleave: limit not met: --max-pieces is 1, the smallest value found is 2\n',
                            '--all', '--dims', 'W', '--num-chunks', '2', '--max-pieces', '1')
        self.assertEqual(report['split'], [])
        report = self.split('--node', 'conv1', '--dims', 'H', '--num-chunks', '1')
        self.assertEqual([n['reason'] for n in report['not_split']], ['one-piece'])

    # If a search fails, it reports the smallest value that it found. A search with that value as the limit succeeds.
    def test_reached_values_are_possible_limits(self):
        for option in '--max-piece-memory', '--max-subgraph-memory', '--max-schedule-memory':
            for which in ['--all'], ['--node', 'pool1', '--depth', '3']:
                run = self.cleave('split', self.chain, '--json', *which, option, '1')
                self.assertEqual(run.returncode, 1)
                reached = json.loads(run.stdout)['limits'][0]['reached']
                self.assertIn(f'cleave: limit not met: {option} is 1, the smallest value found is {reached}\n', run.stderr.decode())
                report = self.split(*which, option, reached)
                self.assertEqual(report['limits'][0]['reached'], reached)
                run = self.cleave('split', self.chain, '--json', *which, option, reached - 1)
                self.assertEqual(run.returncode, 1, (which, option, reached))
                run = self.cleave('split', self.chain, '--json', *which, option, '1', '--search-budget', '9')
                search = json.loads(run.stdout)['search']
                self.assertEqual((run.returncode, search['budget'], search['gave_up']), (1, 9, True))

    def test_files(self):
        names = ['o.onnx', 'b.dot', 'a.dot', 'r.json']
        args = ['split', self.chain, '--node', 'pool1', '--dims', 'H', '--num-chunks', '2', '--depth', '3']
        text = self.good(*args, '-o', 'o.onnx', '--dot-before', 'b.dot', '--dot-after', 'a.dot', '--save-json', 'r.json')
        self.assertIn("split       Conv 'conv1': 2 pieces", text)
        self.assertEqual(sorted(os.listdir(self.folder)), sorted(names + ['chain.onnx']))
        with open(self.path('a.dot'), encoding='utf-8') as file:
            drawing = file.read()
        self.assertEqual(drawing.count('subgraph cluster'), 2)
        self.assertIn('H 8:16', drawing)
        with open(self.path('r.json'), encoding='utf-8') as file:
            self.assertEqual(json.load(file), self.json(*args))
        first = [self.read(n) for n in names]
        self.good(*args, '-o', 'o.onnx', '--dot-before', 'b.dot', '--dot-after', 'a.dot', '--save-json', 'r.json')
        self.assertEqual(first, [self.read(n) for n in names])

    def test_for_threads(self):
        weights = tensor('w', [64, 3, 7, 7], floats(64 * 147, 1))
        large = self.write('large.onnx', model(
            [node('Conv', ['x', 'w'], ['y'], 'conv1', pads=[3, 3, 3, 3])], [value_info('x', [1, 3, 32, 32])],
            [value_info('y', [1, 64, 32, 32])], [weights]))
        report = self.json('split', large, '--for-threads', '3', '--check')
        pieces, = report['split']
        self.assertEqual([piece['range'][2] for piece in pieces['pieces']], [[0, 11], [11, 22], [22, 32]])
        self.assertEqual(self.json('split', self.chain, '--for-threads', '2')['split'], [])
        peak = report['peak_activation_bytes_with_threads']
        self.assertEqual(report['threads'], 3)
        self.assertGreaterEqual(peak['before'], report['peak_activation_bytes']['before'])
        self.assertGreaterEqual(peak['after'], report['peak_activation_bytes']['after'])
        self.assertIn('after with 3 threads', self.good('split', large, '--for-threads', '3', '-o', 'out.onnx'))
        run = self.json('run', large, '--threads', '3')
        self.assertEqual((run['peak_activation_bytes_as_is'], run['peak_activation_bytes']),
                         (peak['before'], peak['after']))
        self.assertIn(f', unsplit {peak["before"]} bytes', self.good('run', large, '--threads', '3', '--bytes'))
        self.assertNotIn('peak_activation_bytes_as_is', self.json('run', large, '--threads', '3', '--as-is'))

    def refuse(self, says, *args):
        self.bad(says, 'split', self.chain, '-o', 'out.onnx', '--dot-after', 'a.dot', '--save-json', 'r.json', *args)

    def test_wrong_requests(self):
        conv = ['--node', 'conv1']
        rows = conv + ['--dims', 'H']
        self.refuse("no node 'conv9'", '--node', 'conv9', '--dims', 'H', '--num-chunks', '2')
        self.refuse('--node, --all or --for-threads', '--dims', 'H', '--num-chunks', '2')
        self.refuse('--node, --all or --for-threads', '--all', *rows, '--num-chunks', '2')
        self.refuse('--node, --all or --for-threads', *conv, '--for-threads', '2')
        self.refuse('--for-threads chooses the nodes', '--for-threads', '2', '--dims', 'H', '--num-chunks', '2')
        self.refuse('need --node, not --for-threads', '--for-threads', '2', '--depth', '2')
        self.refuse('--for-threads', '--for-threads', '0')
        self.refuse('--depth', '--all', '--dims', 'H', '--num-chunks', '2', '--depth', '2')
        self.refuse('--num-chunks', *conv)
        self.refuse('--dims alone', *rows)
        self.refuse('needs --dims', *conv, '--num-chunks', '2')
        self.refuse('not both', *rows, '--num-chunks', '2', '--chunk-size', '2')
        self.refuse('no node can take', '--all', '--dims', 'Q', '--num-chunks', '2')
        self.refuse('no node can take', '--all', '--dims', 'H', '--num-chunks', '2000')
        self.refuse('conv1', *conv, '--dims', '4', '--num-chunks', '2')
        self.refuse('conv1', *conv, '--dims', '-5', '--num-chunks', '2')
        self.refuse('conv1', *conv, '--dims', 'Q', '--num-chunks', '2')
        self.refuse('conv1', *conv, '--dims', 'H,H', '--num-chunks', '2,2')
        self.refuse('conv1', *conv, '--dims', 'H,W', '--num-chunks', '2')
        for count in ('0', '17', '-1'):
            self.refuse('conv1', *rows, '--num-chunks', count)
        for size in ('0', '17'):
            self.refuse('conv1', *rows, '--chunk-size', size)
        for sizes in ('3,4', '0,16', '3,-1,-1', '20,-1'):
            self.refuse('conv1', *rows, '--chunk-sizes', sizes)
        for weights in ('1,0', '1,-2', '1,nan', ','.join('1' * 17)):
            self.refuse('conv1', *rows, '--chunk-weights', weights)
        self.refuse('conv1', *conv, '--slice-ranges', '0:1,0:4,0:7,0:16/0:1,0:4,8:16,0:16')
        self.refuse('conv1', *conv, '--slice-ranges', '0:1,0:4,0:17,0:16')
        self.refuse('conv1', *conv, '--slice-ranges', '0:1,0:4,3:3,0:16/0:1,0:4,0:16,0:16')
        self.refuse('conv1', *conv, '--slice-ranges', '0:1,0:4,0:16')
        self.refuse('--depth', *rows, '--num-chunks', '2', '--depth', '0')
        for halo in ((), ('--halo', 'recompute')):
            self.refuse('--strips-per-band needs --halo carry', *rows, '--num-chunks', '2', '--strips-per-band', '2', *halo)
        self.refuse('2 values of alignment are given for 1 dimensions', *rows, '--num-chunks', '2', '--align', '2,2')
        self.refuse('--small-first', *conv, '--max-piece-memory', '1KiB', '--small-first')

    def test_invalid_numbers(self):
        rows = ['--node', 'conv1', '--dims', 'H']
        for option, text in (('--num-chunks', 'two'), ('--num-chunks', ''), ('--num-chunks', '2,'),
                             ('--num-chunks', '99999999999999999999'), ('--chunk-size', '4x'),
                             ('--chunk-sizes', '4,,12'), ('--chunk-sizes', '4/'), ('--chunk-weights', '1;4')):
            self.refuse(f"{option} expects", *rows, option, text)
        for text in ('0:1', '0-1', '0:1,', '/', 'a:b'):
            self.refuse('', '--node', 'conv1', '--slice-ranges', text)
        for text in ('x', '-1', '0', '1KB', '1mB', '99999999999TiB', '99999999999TB', '', '1.5', '2  MB', 'kB'):
            self.refuse('--max-piece-memory', '--node', 'conv1', '--max-piece-memory', text)
        self.refuse('--search-budget', '--node', 'conv1', '--dims', 'H', '--num-chunks', '2', '--search-budget', '9')
        self.refuse('--search-budget', '--node', 'conv1', '--max-pieces', '2', '--search-budget', '0')
        for option, text in (('--max-pieces', '0'), ('--max-pieces', 'x'), ('--max-added-macs', 'x'),
                             ('--max-added-macs', '-1'), ('--max-added-macs', 'nan'), ('--min-chunk', '0'),
                             ('--align', '2,0'), ('--depth', 'x'), ('--align', '0'), ('--min-chunk', 'x'), ('--halo', 'both')):
            self.refuse(f'{option} expects', *rows, '--num-chunks', '2', option, text)
        chunks = ('split', self.chain, *rows, '--num-chunks', '2', '--max-added-macs')
        self.assertEqual(self.good(*chunks, '5%'), self.good(*chunks, '5'))
        self.bad('nowhere', 'split', self.chain, '-o', '/nowhere/o.onnx', '--dot-after', 'a.dot', *rows,
                 '--num-chunks', '2')
        self.bad('nowhere', 'split', self.chain, '-o', 'o.onnx', '--dot-after', '/nowhere/a.dot', *rows,
                 '--num-chunks', '2')


class Lines(CommandTest):
    # In JSON, a range or a shape is on one line, for any characters in a name.
    def test_json_has_lists_of_numbers_on_one_line(self):
        name = 'a [\n1,\n2] \\" ['
        file = self.write('odd.onnx', model([node('Relu', ['x'], ['y'], name)], [value_info('x', [1, 4])], [value_info('y', [1, 4])], []))
        text = self.good('split', file, '--all', '--dims', '1', '--num-chunks', '2', '--json')
        said = json.loads(text)
        self.assertIn('[[0, 1], [2, 4]]', text)
        self.assertEqual(said['split'][0]['node'], name)
        self.assertEqual(said['split'][0]['pieces'][1]['range'], [[0, 1], [2, 4]])

    # At most eight lines list nodes. With -v, the report lists all nodes.
    def test_few_nodes_are_listed(self):
        file = self.write('long.onnx', model([node('Relu', [f'v{i}'], [f'v{i + 1}'], f'relu{i}') for i in range(20)],
                                             [value_info('v0', [1, 4, 8, 8])], [value_info('v20', [1, 4, 8, 8])], []))
        rows = ('split', file, '--all', '--dims', '2', '--num-chunks', '2')
        short, whole = (self.good(*rows, *more) for more in ([], ['-v']))
        self.assertEqual(short.count('\nsplit  ') + short.startswith('split  '), 7)
        self.assertIn('… and 13 more nodes that are split; -v lists them', short)
        self.assertEqual(whole.count("Relu 'relu"), 20)
        self.assertEqual(short.splitlines()[-4:], whole.splitlines()[-4:])


class Fit(CommandTest):
    def least(self, *args):
        run = self.cleave('fit', self.chain, '--max-memory', 1, *args)
        self.assertEqual((run.returncode, run.stdout), (1, b''))
        message = run.stderr.decode()
        self.assertRegex(message, r'\Acleave: limit not met: the budget is 1 bytes, the smallest that a plan meets is '
                                  r"\d+ bytes; a smaller budget is limited by '.*; try --max-memory \d+.*\n\Z")
        least = int(message.split(';')[0].split()[-2])
        self.assertIn(f'; try --max-memory {least}', message)
        self.assertEqual(', or --exclude-inputs if the inputs (3072 bytes) lie elsewhere' in message, '--exclude-inputs' not in args)
        return least

    # The command that a refusal suggests succeeds.
    def test_a_refusal_suggests_what_helps(self):
        self.assertLess(self.least('--exclude-inputs'), self.least())
        self.good('fit', self.chain, '--max-memory', self.least(), '--check')

    def test_a_dry_run_says_the_same_and_writes_nothing(self):
        for args, status in ((['--max-memory', self.least()], 0), (['--max-memory', 1], 1)):
            before = sorted(os.listdir(self.folder))
            dry = self.cleave('fit', self.chain, *args, '--check', '-o', 'o.onnx', '--save-json', 'r.json', '--dry-run')
            self.assertEqual(sorted(os.listdir(self.folder)), before)
            run = self.cleave('fit', self.chain, *args, '--check', '-o', 'o.onnx', '--save-json', 'r.json')
            self.assertEqual((dry.returncode, dry.stdout, dry.stderr), (run.returncode, run.stdout, run.stderr))
            self.assertEqual(run.returncode, status)

    def test_smallest_number(self):
        least = self.least()
        report = self.json('fit', self.chain, '--max-memory', least, '-o', 'o.onnx', '--check')
        self.assertEqual(report['arena_bytes']['after'], least)
        self.assertLess(least, report['arena_bytes']['before'])
        self.assertEqual(report['check'], 'equal, bit for bit')
        self.assertEqual(self.json('run', 'o.onnx', '--as-is', '--threads', 1)['arena_bytes'], least)
        self.assertEqual(self.good('diff', self.chain, 'o.onnx'), 'y: equal, bit for bit\n')
        segment = report['segments'][0]
        self.assertEqual((segment['to'], segment['halo']), (['pool1'], 'carry'))
        self.assertEqual(self.cleave('fit', self.chain, '--max-memory', least - 1).returncode, 1)

    def test_a_limit_alone_is_a_fit(self):
        least = self.least()
        self.good('split', self.chain, '--max-schedule-memory', least, '-o', 'o.onnx')
        self.assertEqual(self.json('run', 'o.onnx', '--as-is', '--threads', 1)['arena_bytes'], least)
        run = self.cleave('split', self.chain, '--max-schedule-memory', least - 1, '-o', 'p.onnx')
        self.assertEqual(run.returncode, 1)
        self.assertIn(f'a plan meets is {least} bytes;', run.stderr.decode())
        self.assertFalse(os.path.exists(self.path('p.onnx')))

    # A plan that was written splits the model as the search did, and is refused for another model.
    def test_a_plan_can_be_kept(self):
        report = self.good('fit', self.chain, '--max-memory', self.least(), '--plan', 'p.json', '-o', 'o.onnx')
        self.assertEqual(self.good('fit', self.chain, '--from-plan', 'p.json', '-o', 'again.onnx'), report)
        with open(self.path('o.onnx'), 'rb') as first, open(self.path('again.onnx'), 'rb') as second:
            self.assertEqual(first.read(), second.read())
        with open(self.path('p.json'), encoding='utf-8') as file:
            plan = json.load(file)
        self.assertEqual((plan['format'], plan['threads'], len(plan['segments'])), ('cleave-fit-plan', 1, 1))
        for field, value, told in (('version', 2, "'version' of the plan must be from 1 to 1, not 2"), ('segments', 'x', "'segments' of the plan must be a list"),
                                   ('segments', [dict(plan['segments'][0], nodes=['none'])], "there is no node 'none'"),
                                   ('segments', [dict(plan['segments'][0], strips=1000)], "cannot be cut into 1000 strips")):
            with open(self.path('wrong.json'), 'w', encoding='utf-8') as file:
                json.dump(dict(plan, **{field: value}), file)
            self.bad(told, 'fit', self.chain, '--from-plan', 'wrong.json', '-o', 'q.onnx')
            self.assertFalse(os.path.exists(self.path('q.onnx')))
        self.bad('it takes no --frontier, --max-memory', 'fit', self.chain, '--from-plan', 'p.json', '--max-memory', '1MiB')
        self.bad('it takes no --max-memory, -o, --plan', 'fit', self.chain, '--frontier', '--plan', 'p.json')
        self.bad("run 'cleave bundle'", 'fit', self.chain, '--for', 'bundle')

    def test_pieces_name_their_original_node(self):
        self.good('fit', self.chain, '--max-memory', self.least(), '-o', 'o.onnx')
        with open(self.path('o.onnx'), 'rb') as file:
            self.assertRegex(file.read(), rb"cleave: piece 1 of \d+ of '[^']+', range [0-9:,]+, strip 1 of ")

    # Returns the bytes of the arena and of the scratch of a written model's program, on one thread.
    def program_bytes(self, path):
        program = self.json('info', path, '--program', '--threads', '1')['program']
        return program['arena_bytes'], program['scratch_bytes']

    def test_scratch(self):
        # There are two images of 128 KiB, and one of 256 KiB between them. The 3x3 kernels need scratch.
        path = self.path('wide.onnx')
        nodes = [node('Conv', ['x', 'w0'], ['v'], 'expand', pads=[1, 1, 1, 1]),
                 node('Conv', ['v', 'w1'], ['y'], 'project', pads=[1, 1, 1, 1])]
        weights = [tensor('w0', [64, 32, 3, 3], floats(64 * 32 * 9)), tensor('w1', [32, 64, 3, 3], floats(64 * 32 * 9))]
        with open(path, 'wb') as file:
            file.write(model(nodes, [value_info('x', [1, 32, 32, 32])], [value_info('y', [1, 32, 32, 32])], weights))
        said = self.json('fit', path, '--max-memory', '512KiB', '-o', 'plain.onnx')
        self.assertEqual((said['arena_bytes']['after'], said['scratch_bytes']), self.program_bytes('plain.onnx'))
        self.assertRegex(self.good('fit', path, '--max-memory', '512KiB', '--bytes'),
                         rf'arena .* after; kernels need {said["scratch_bytes"]} bytes of scratch memory besides')
        for plan in self.json('fit', path, '--frontier')['frontier']:
            self.assertGreaterEqual(plan['scratch_bytes'], 0)
        self.assertNotIn('scratch_bytes', self.json('fit', path, '--for', 'ort'))
        seen = set()
        for size in range(200000, 900000, 100000):
            run = self.cleave('fit', path, '--max-memory', size, '--count-scratch', '-o', 'strict.onnx')
            seen.add(run.returncode)
            self.assertIn(run.returncode, (0, 1))
            if run.returncode == 0:
                self.assertLessEqual(sum(self.program_bytes('strict.onnx')), size)
        self.assertEqual(seen, {0, 1})
        self.bad('--count-scratch needs --max-memory', 'fit', path, '--count-scratch')

    def test_frontier(self):
        plans = self.json('fit', self.chain, '--frontier')['frontier']
        sizes = [plan['arena_bytes'] for plan in plans]
        self.assertEqual(sizes, sorted(sizes, reverse=True))
        self.assertEqual(sizes[-1], self.least())
        self.assertIn('a smaller budget is limited by', self.good('fit', self.chain, '--frontier', '--plot', 'f.svg'))
        picture = ElementTree.parse(self.path('f.svg')).getroot()
        self.assertEqual(len(picture.findall('{*}circle')), 2 * len(plans))

    def test_limits_on_cost(self):
        report = self.json('fit', self.chain, '--max-added-macs', 0, '-o', 'o.onnx')
        self.assertEqual(report['macs']['before'], report['macs']['after'])
        apart = self.json('fit', self.chain, '--exclude-inputs')
        self.assertLess(apart['arena_bytes']['after'], self.least())
        for when in ('before', 'after'):
            self.assertLessEqual(apart['peak_activation_bytes'][when], apart['arena_bytes'][when])
        self.assertEqual((apart['inputs_counted'], report['inputs_counted']), (False, True))
        self.assertIn('live activations, inputs not counted', self.good('fit', self.chain, '--exclude-inputs'))

    def test_strips_repeat_for_onnx_runtime(self):
        least = self.least('--for', 'ort')
        report = self.json('fit', self.chain, '--max-memory', least, '--for', 'ort', '-o', 'o.onnx', '--check')
        self.assertEqual(report['loops'], len(report['segments']))
        self.assertEqual(report['loops'], 0)  # the model is too small for a Loop to save memory
        self.assertGreater(report['onnx_runtime_bytes']['after'], 0)
        text = self.good('fit', self.chain, '--for', 'ort')
        self.assertRegex(text, r'loops +segments as a Loop: \d+; as pieces without one: \d+; whole: \d+\n +ONNX Runtime needs an estimated [\d.]+ [KM]?i?B for values')
        self.assertIn('equal, bit for bit', self.good('diff', self.chain, 'o.onnx'))

    def test_loops_save_memory(self):
        self.good('demo', '--model', 'd.onnx', '--output-dir', '.', '--repeat', 1)
        report = self.json('fit', 'd.onnx', '--max-memory', '2200kB', '--for', 'ort', '-o', 'o.onnx')
        self.assertGreater(report['loops'], 0)
        self.assertEqual(report['loops'] + report['segments_without_loop'], len(report['segments']))
        there = report['onnx_runtime_bytes']
        self.assertLess(there['after'] + (1 << 20), there['before'])
        with open(self.path('o.onnx'), 'rb') as file:
            self.assertIn(b'Loop', file.read())

    # A pooling needs the whole image, so the value is computed in a few chunks of channels, which do not become a Loop.
    def test_few_pieces_need_no_loop(self):
        file = self.write('squeeze.onnx', squeeze())
        args = ('--for', 'ort', '--max-added-macs', 100, '-o', 'o.onnx')
        report = self.json('fit', file, '--max-memory', '6MB', *args, '--check')
        self.assertEqual((report['loops'], report['segments_without_loop'], report['segments_whole']), (1, 1, 0))
        self.assertEqual(report['check'], 'equal, bit for bit')
        few, many = sorted(report['segments'], key=lambda segment: segment['strips'])
        self.assertEqual(few['to'], ['pool'])
        self.assertLess(few['strips'], 6)
        self.assertGreaterEqual(many['strips'], 6)
        there = report['onnx_runtime_bytes']
        self.assertLess(2 * there['after'], there['before'])
        self.assertIn('equal, bit for bit', self.good('diff', file, 'o.onnx'))
        # With a lower budget there are more chunks, which become a Loop and need less memory.
        least = self.json('fit', file, '--max-memory', '3MB', *args)
        self.assertEqual(least['loops'], len(least['segments']))
        self.assertLess(least['onnx_runtime_bytes']['after'], there['after'])

    # Fewer than three of eight strips are equal, too few for a Loop. Strips as separate pieces must save 4 MiB and two fifths.
    def test_many_pieces_must_save_much(self):
        args = ('--for', 'ort', '--max-added-macs', 1, '-o', 'o.onnx')
        large = self.json('fit', self.write('large.onnx', stacked(64)), '--max-memory', '9MB', *args)
        self.assertEqual([segment['strips'] for segment in large['segments']], [8])
        self.assertEqual((large['loops'], large['segments_without_loop'], large['segments_whole']), (0, 1, 0))
        there = large['onnx_runtime_bytes']
        self.assertLess(there['after'], 0.6 * there['before'])
        self.assertLess(there['after'] + (4 << 20), there['before'])
        # These strips would save less in a smaller model, so its plan has equal strips, which become a Loop.
        small = self.json('fit', self.write('small.onnx', stacked(16)), '--max-memory', '3MB', *args)
        self.assertEqual((small['loops'], small['segments_without_loop'], small['segments_whole']), (1, 0, 0))
        self.assertNotEqual([segment['strips'] for segment in small['segments']], [8])

    def test_wrong_usage(self):
        self.bad('--for expects cleave or ort', 'fit', self.chain, '--for', 'x')
        self.bad('--plot has no effect without --frontier', 'fit', self.chain, '--plot', 'f.svg')
        self.bad('--frontier makes no model', 'fit', self.chain, '--frontier', '-o', 'o.onnx')
        self.bad('--max-memory must be more than 0', 'fit', self.chain, '--max-memory', 0)
        self.bad('--max-added-macs expects a percentage', 'fit', self.chain, '--max-added-macs', 'x')
        self.bad('--max-added-macs expects a percentage', 'fit', self.chain, '--max-added-macs', '1%%')
        self.assertEqual(self.good('fit', self.chain, '--max-added-macs', '1%'), self.good('fit', self.chain, '--max-added-macs', 1))
        self.bad('--threads', 'fit', self.chain, '--threads', 0)


class Run(CommandTest):
    def test_fields_and_threads(self):
        sums = set()
        for args in (['--threads', '1'], ['--threads', '2'], ['--threads', '3', '--as-is'], ['--threads', '4']):
            run = self.json('run', self.chain, *args, '--repeat', '3')
            self.assertEqual(run['threads'], 3 if '--as-is' in args else 1)  # the model is too small for several threads
            self.assertEqual(run['repeat'], 3)
            self.assertLessEqual(0, run['latency_ms']['min'])
            self.assertLessEqual(run['latency_ms']['min'], run['latency_ms']['median'])
            self.assertLessEqual(run['peak_activation_bytes'], run['arena_bytes'] * 2)
            self.assertGreaterEqual(run['copied_bytes'], 0)
            self.assertGreaterEqual(run['nodes'], 3)
            output, = run['outputs']
            self.assertEqual((output['name'], output['type'], output['shape']), ('y', 'float32', [1, 4, 8, 8]))
            sums.add(output['sha256'])
        self.assertEqual(len(sums), 1)
        self.assertIn(sums.pop(), self.good('run', self.chain))
        other = self.json('run', self.chain, '--seed', '1')
        self.assertNotEqual(other['outputs'][0]['sha256'], output['sha256'])

    def test_profile(self):
        run = self.json('run', self.chain, '--threads', '1', '--profile')
        names = [step['name'] for step in run['steps']]
        self.assertIn('conv1', names)
        self.assertTrue(all(step['nanoseconds'] > 0 for step in run['steps']))
        self.assertGreater(max(step['macs'] for step in run['steps']), 0)
        self.assertNotIn('steps', self.json('run', self.chain))
        self.assertIn('GFLOP/s', self.good('run', self.chain, '--profile'))

    # Slow nodes are split for the threads, fast nodes are not. The values are the same.

    def test_run_trace(self):
        self.json('run', self.chain, '--threads', '2', '--trace', 'trace.json')
        with open(os.path.join(self.folder, 'trace.json')) as file:
            events = json.load(file)['traceEvents']
        self.assertEqual({event['ph'] for event in events}, {'X'})
        self.assertTrue({'load', 'store', 'Conv'} <= {event['cat'] for event in events})

    def test_split_for_threads(self):
        for extent, is_split in ((8, False), (64, True), (63, True)):
            dims = [1, 16, extent, extent]
            data = model([node('Conv', ['x', 'w'], ['c'], 'conv', pads=[1, 1, 1, 1]), node('Relu', ['c'], ['y'], 'relu')],
                         [value_info('x', dims)], [value_info('y', dims)],
                         [tensor('w', [16, 16, 3, 3], floats(16 * 16 * 9))])
            runs = [self.json('run', self.write('conv.onnx', data), '--threads', t, *more)
                    for t, more in ((1, ()), (2, ()), (3, ()), (2, ['--as-is']))]
            self.assertEqual(len({run['outputs'][0]['sha256'] for run in runs}), 1)
            self.assertEqual(runs[3]['nodes'], runs[0]['nodes'])
            self.assertEqual([run['threads'] for run in runs], [1, 2, 3, 2] if is_split else [1, 1, 1, 2])
            self.assertEqual(runs[1]['nodes'] > runs[0]['nodes'], is_split)
            self.assertEqual(runs[2]['nodes'] > runs[0]['nodes'], is_split)

    # An Identity returns the random numbers of the input, which must never change.
    def test_random_numbers(self):
        data = model([node('Identity', ['x'], ['a/b'], 'same')], [value_info('x', [5])], [value_info('a/b', [5])])
        self.good('run', self.write('same.onnx', data), '--output-dir', 'out', '--threads', '1')
        self.assertEqual(struct.unpack('<5f', self.read('out/a_b.npy')[-20:]), expected_random('x', 'float32 5', 5))

    def test_inputs(self):
        values = floats(3 * 16 * 16, 5)
        self.write('x.npy', npy('<f4', '(1, 3, 16, 16)', values))
        pb = b''.join(number(1, d) for d in (1, 3, 16, 16)) + number(2, 1) + block(9, values)
        self.write('x.pb', pb)
        items = [values[i:i + 4] for i in range(0, len(values), 4)]
        fortran = b''.join(items[(c * 16 + h) * 16 + w] for w in range(16) for h in range(16) for c in range(3))
        self.write('f.npy', npy('<f4', '(1, 3, 16, 16)', fortran, True))
        sums = {self.json('run', self.chain, '--input', f'x={f}')['outputs'][0]['sha256']
                for f in ('x.npy', 'x.pb', 'f.npy')}
        self.assertEqual(len(sums), 1)
        self.good('run', self.chain, '--input', 'x=x.npy', '--output-dir', 'out')
        out = self.read('out/y.npy')
        self.assertEqual(hashlib.sha256(out[-4 * 4 * 8 * 8:]).hexdigest(), sums.pop())
        self.assertEqual(len(out) % 64, 0)
        self.assertIn(b"'shape': (1, 4, 8, 8)", out)

    # Free dimensions stay as in the file, unless --shape gives them.
    def test_shapes_of_inputs(self):
        rows = [value_info('a', ['n', 2]), value_info('b', ['m', 2])]
        both = self.write('both.onnx', model([node('Concat', ['a', 'b'], ['y'], 'both', axis=0)], rows,
                                             [value_info('y', ['k', 2])]))
        one = self.write('one.onnx', model([node('Relu', ['a'], ['y'], 'one')], rows[:1], [value_info('y', ['n', 2])]))
        for n in (3, 4):
            self.write(f'{n}.npy', npy('<f4', f'({n}, 2)', floats(2 * n)))
        with zipfile.ZipFile(self.path('both.npz'), 'w') as archive:
            archive.write(self.path('3.npy'), 'a.npy')
            archive.write(self.path('4.npy'), 'b.npy')
        for arguments in (['--input', 'a=3.npy', '--input', 'b=4.npy'], ['--input', 'both.npz'],
                          ['--input', 'a=3.npy', '--shape', 'b=4,2']):
            self.assertEqual(self.json('run', both, *arguments)['outputs'][0]['shape'], [7, 2])
        self.assertEqual(self.json('run', one, '--input', '3.npy')['outputs'][0]['shape'], [3, 2])
        self.good('diff', one, one, '--input', '3.npy')
        self.bad("input 'b' has free dimensions", 'run', both, '--input', 'a=3.npy')
        self.bad('must be float32 4x2, not float32 3x2', 'run', one, '--input', '3.npy', '--shape', '4,2')
        self.bad('nowhere.npy', 'run', one, '--input', 'nowhere.npy', '--shape', '4,2')
        self.bad('has free dimensions', 'run', one, '--input', 'nowhere.npy')

    def test_fixed_inputs(self):
        data = model([node('Expand', ['x', 'n'], ['y'], 'grow')], [value_info('x', [1, 2]), value_info('n', [2], 7)],
                     [value_info('y', ['a', 'b'])])
        grow = self.write('grow.onnx', data)
        self.write('n.npy', npy('<i8', '(2,)', struct.pack('<2q', 3, 2)))
        self.write('f.npy', npy('<f4', '(2,)', floats(2)))
        self.assertIn("Expand 'grow' needs the contents of an input, whose value may be given: 'n'", self.good('info', grow))
        self.assertEqual(self.json('info', grow)['dynamic']['nodes'][0]['value'], 'n')
        info = self.json('info', grow, '--fix', 'n=n.npy')
        self.assertEqual([i['name'] for i in info['inputs']], ['x'])
        self.assertEqual(info['outputs'][0]['shape'], [3, 2])
        self.good('split', grow, '--fix', 'n=n.npy', '--node', 'grow', '--dims', '0', '--num-chunks', '3', '--check', '-o', 'out.onnx')
        self.bad("input 'n' is int64 in the model, so it cannot be given float32", 'info', grow, '--fix', 'n=f.npy')
        self.bad("'z', which is not an input", 'info', grow, '--fix', 'z=n.npy')
        self.bad('two values', 'info', grow, '--fix', 'n=n.npy', '--fix', 'n=n.npy')
        self.bad('nowhere.npy', 'info', grow, '--fix', 'n=nowhere.npy')

    def test_bad_inputs(self):
        values = floats(3 * 16 * 16)
        good = npy('<f4', '(1, 3, 16, 16)', values)
        files = {
            'shape.npy': npy('<f4', '(1, 3, 16, 15)', values[:4 * 3 * 16 * 15]), 'type.npy': npy('<f8', '(1,)', bytes(8)),
            'big.npy': npy('>f4', '(1, 3, 16, 16)', values), 'object.npy': npy('|O', '(1,)', bytes(8)),
            'short.npy': good[:-1], 'long.npy': good + b'x', 'empty.npy': b'', 'text.npy': b'hello, world, how are you',
            'head.npy': good[:40], 'huge.npy': npy('<f4', '(99999999999, 99999999999, 99999)', b''),
            'negative.npy': npy('<f4', '(-1, 3)', b''), 'noshape.npy': npy('<f4', '4', values),
            'length.npy': b'\x93NUMPY\x02\x00\xff\xff\xff\xff', 'version.npy': b'\x93NUMPY\x09\x00' + good[8:],
            'end.npy': b"\x93NUMPY\x01\x00\x40\x00" + b"{'fortran_order': False, 'shape': (3,), 'descr':".ljust(64) + b'abc',
            'text.pb': b'hello', 'x.txt': good,
        }
        for name, data in files.items():
            self.write(name, data)
            self.bad('', 'run', self.chain, '--input', f'x={name}', '--output-dir', 'out')
        self.write('x.npy', good)
        self.bad('nowhere.npy', 'run', self.chain, '--input', 'x=nowhere.npy')
        self.bad("no input 'z'", 'run', self.chain, '--input', 'z=x.npy')
        self.bad('twice', 'run', self.chain, '--input', 'x=x.npy', '--input', 'x=x.npy')
        for option, text in (('--threads', '0'), ('--threads', 'x'), ('--repeat', '0'), ('--seed', '-1')):
            self.bad(f'{option} expects', 'run', self.chain, option, text)


def expected_random(name, kind, n):
    mask = (1 << 64) - 1
    state = 0xcbf29ce484222325
    for byte in (name + '\0' + kind).encode():
        state = (state ^ byte) * 0x100000001b3 & mask
    out = []
    for _ in range(n):
        state = state + 0x9e3779b97f4a7c15 & mask
        z = state
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9 & mask
        z = (z ^ z >> 27) * 0x94d049bb133111eb & mask
        out.append(((z ^ z >> 31) >> 40) / 2**23 - 1)
    return tuple(out)


class Diff(CommandTest):
    # Bits of NaNs are not guaranteed, so they are neither compared nor part of a checksum.
    def test_nans(self):
        def save(name, bits):
            w = tensor('w', [2], struct.pack('<2I', bits, 0x3f800000))
            nodes = [node('Mul', ['x', 'w'], ['y'], 'mul')]
            return self.write(name, model(nodes, [value_info('x', [2])], [value_info('y', [2])], [w]))

        models = [save('a.onnx', 0x7fc00001), save('b.onnx', 0xffc00002), save('c.onnx', 0x7f800000)]
        sums = [self.json('run', m)['outputs'][0]['sha256'] for m in models]
        self.assertEqual(self.good('diff', models[0], models[1]), 'y: equal, bit for bit\n')
        self.assertEqual(sums[0], sums[1])
        self.assertNotEqual(sums[0], sums[2])
        self.assertEqual(self.cleave('diff', models[0], models[2]).returncode, 1)

    def test_difference(self):
        other = self.write('other.onnx', chain(seed=2))
        run = self.cleave('diff', self.chain, other)
        self.assertEqual((run.returncode, run.stderr), (1, b''))
        self.assertRegex(run.stdout.decode(), r'^y: \d+ elements differ, by [0-9.]+ at most\n$')
        run = self.cleave('diff', self.chain, other, '--json')
        result = json.loads(run.stdout)
        self.assertEqual(run.returncode, 1)
        self.assertFalse(result['equal'])
        self.assertGreater(result['outputs'][0]['largest_difference'], 0)
        self.assertTrue(self.json('diff', self.chain, self.chain)['equal'])

    def test_other_inputs_or_outputs(self):
        nodes = [node('Relu', ['x'], ['z'], 'r')]
        renamed = self.write('z.onnx', model(nodes, [value_info('x', [1, 3, 16, 16])], [value_info('z', [1, 3, 16, 16])]))
        run = self.cleave('diff', self.chain, renamed)
        self.assertEqual(run.returncode, 1)
        self.assertIn('missing', run.stdout.decode())
        nodes = [node('Relu', ['q'], ['y'], 'r')]
        other = self.write('q.onnx', model(nodes, [value_info('q', [4])], [value_info('y', [4])]))
        self.bad("no input 'q'", 'diff', self.chain, other)


class Demo(CommandTest):
    def test_demo(self):
        demo = self.json('demo', '--output-dir', 'out', '--model', 'm.onnx', '--repeat', '1')
        self.assertTrue(demo['equal'])
        self.assertEqual(demo['before']['macs'], 300774272)
        self.assertGreater(demo['after']['macs'], demo['before']['macs'])
        self.assertEqual(demo['before']['peak_activation_bytes'], 5641216)
        self.assertLess(demo['after']['peak_activation_bytes'] * 3, demo['before']['peak_activation_bytes'])
        self.assertEqual(demo['parallel_subgraphs'], 16)
        self.assertEqual(len(demo['drawings']), 2)
        for path in demo['drawings']:
            self.assertGreater(os.path.getsize(self.path(path)), 1000)
        self.assertEqual(self.json('info', 'm.onnx')['macs'], 300774272)


# Tests that all files are unchanged after a failure in the middle of the work.
class Failures(CommandTest):
    SPLIT = ['--node', 'mm', '--dims', '0', '--num-chunks', '2']

    def setUp(self):
        super().setUp()
        weights = tensor('w', [32, 32], floats(1024))
        self.large = self.write('large.onnx', model([node('MatMul', ['x', 'w'], ['y'], 'mm')], [value_info('x', [4, 32])],
                                                    [value_info('y', [4, 32])], [weights]))

    def limited(self, what, n, *args, debug='validate'):
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(what, (n, n))

        return subprocess.run([CLEAVE, *map(str, args)], capture_output=True, cwd=self.folder, timeout=300, check=False,
                              preexec_fn=limit, env=dict(os.environ, CLEAVE_DEBUG=debug))

    # clang's thread sanitizer writes and maps a file when it starts. Its unlink () locks a mutex, which may be locked when a
    # signal arrives.
    def skip_with_thread_sanitizer(self):
        if b'Sanitizer' in self.limited(resource.RLIMIT_FSIZE, 100, '--version').stderr:
            self.skipTest('a sanitizer writes a file of its own, and takes locks in a signal')

    def test_full_disk(self):
        self.skip_with_thread_sanitizer()
        writes = [(['split', 'large.onnx', *self.SPLIT, option, name], name) for option, name in
                  (('-o', 'o.onnx'), ('--dot-before', 'b.dot'), ('--dot-after', 'a.dot'), ('--save-json', 'r.json'))]
        writes = [(w if '-o' in w else w + ['--json'], name) for w, name in writes]
        writes += [(['dot', 'large.onnx', '-o', 'd.dot'], 'd.dot'), (['run', 'large.onnx', '--output-dir', '.'], 'y.npy')]
        for args, name in writes:
            self.write(name, b'old')
            for debug in ('validate', 'external'):
                before = sorted(os.listdir(self.folder))
                run = self.limited(resource.RLIMIT_FSIZE, 100, *args, debug=debug)
                self.assertEqual(run.returncode, 2, f'{args} {run.stderr}')
                self.assertRegex(run.stderr.decode(), r'\Acleave: [^\n]*File too large[^\n]*\n\Z')
                self.assertEqual(self.read(name), b'old')
                self.assertEqual(sorted(os.listdir(self.folder)), before, f'{args}')

    def test_nowhere_to_write(self):
        for name in ('/proc/o.onnx', 'nowhere/o.onnx', 'large.onnx/o.onnx'):
            self.bad('cannot write', 'split', 'large.onnx', *self.SPLIT, '-o', name)

    # A file that exceeds the limit on its size raises a signal. The command must ignore the signal.
    def test_size_of_files(self):
        self.skip_with_thread_sanitizer()
        self.write('o.onnx', b'old')
        quoted = ' '.join(f"'{a}'" for a in [CLEAVE, 'split', 'large.onnx', *self.SPLIT, '-o', 'o.onnx'])
        run = subprocess.run(['bash', '-c', f'ulimit -f 4; exec {quoted}'], cwd=self.folder, capture_output=True, check=False)
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertRegex(run.stderr.decode(), 'File too large')
        self.assertEqual(self.read('o.onnx'), b'old')
        self.assertEqual([n for n in os.listdir(self.folder) if n.startswith('.cleave')], [])

    # The command writes all output, or reports an error.
    def test_output_that_cannot_be_written(self):
        self.write('m.onnx', chain())
        prints = [['--help'], ['--version'], ['info', '--help'], ['info', 'm.onnx'], ['info', 'm.onnx', '--json'],
                  ['run', 'm.onnx'], ['diff', 'm.onnx', 'm.onnx'],
                  ['split', 'm.onnx', '--node', 'conv1', '--dims', 'H', '--num-chunks', '2', '-o', 'o.onnx']]
        for args in prints:
            quoted = ' '.join(f"'{a}'" for a in [CLEAVE, *args])
            for where in ('>&-', '>/dev/full', '<&- >&-'):
                run = subprocess.run(['bash', '-c', f'exec {quoted} {where}'], cwd=self.folder, stdout=subprocess.DEVNULL,
                                     stderr=subprocess.PIPE, check=False)
                self.assertEqual(run.returncode, 2, f'{args} {where} {run.stderr}')
                self.assertRegex(run.stderr.decode(), r'\Acleave: cannot write to standard output[^\n]*\n\Z')
            run = subprocess.run(['bash', '-c', f'exec {quoted} <&- 2>&-'], cwd=self.folder, capture_output=True, check=False)
            self.assertEqual(run.returncode, 0, args)

    # A file that is truncated while it is read is a broken model; the process is not killed.
    def test_shortened_while_read(self):
        n = 40 << 20
        whole = model([node('Add', ['x', 'w'], ['y'], 'add')], [value_info('x', [n // 4])], [value_info('y', [n // 4])],
                      [tensor('w', [n // 4], bytes(n))])
        self.write('m.onnx', whole)
        self.good('info', 'm.onnx')
        start = time.monotonic()
        self.good('info', 'm.onnx')
        takes = time.monotonic() - start
        rand = random.Random(1)
        for _ in range(20):
            self.write('m.onnx', whole)
            process = subprocess.Popen([CLEAVE, 'info', 'm.onnx'], cwd=self.folder, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
            time.sleep(rand.random() * takes)
            os.truncate(self.path('m.onnx'), 1000)
            self.assertIn(process.wait(timeout=60), (0, 2))

    # If there is too little memory for a valid model, the message does not call the model broken.
    def test_no_memory_for_a_model(self):
        n = 64 << 20
        self.write('m.onnx', model([node('Add', ['x', 'w'], ['y'], 'add')], [value_info('x', [n // 4])],
                                   [value_info('y', [n // 4])], [tensor('w', [n // 4], bytes(n))]))
        mib = 1 << 20
        least = next((m for m in range(64, 4096, 64)
                      if self.limited(resource.RLIMIT_AS, m * mib, '--version').returncode == 0), None)
        if least is None:
            self.skipTest('a sanitizer needs more memory than this')
        said = set()
        for m in range(least, least + 192, 16):
            run = self.limited(resource.RLIMIT_AS, m * mib, 'info', 'm.onnx')
            if run.returncode in (0, 2):
                said.add(run.stderr.decode())
        self.assertTrue(any('there is no memory for an ONNX model' in text for text in said), said)
        for text in said - {''}:
            self.assertRegex(text, 'there is no memory for|Cannot allocate memory')

    # A symbolic link is followed, and a file keeps its mode.
    def test_links_and_modes(self):
        split = ['split', 'large.onnx', *self.SPLIT, '-o']
        os.mkdir(self.path('there'))
        for mode in (0o600, 0o640, 0o666):
            self.write('there/o.onnx', b'old')
            os.chmod(self.path('there/o.onnx'), mode)
            for link in ('link.onnx', 'second.onnx'):
                if os.path.lexists(self.path(link)):
                    os.unlink(self.path(link))
            os.symlink('there/o.onnx', self.path('link.onnx'))
            os.symlink(self.path('link.onnx'), self.path('second.onnx'))
            for name in ('there/o.onnx', 'link.onnx', 'second.onnx'):
                self.write('there/o.onnx', b'old')
                self.good(*split, name)
                self.assertGreater(len(self.read('there/o.onnx')), 1000)
                self.assertEqual(os.stat(self.path('there/o.onnx')).st_mode & 0o7777, mode)
            self.assertTrue(os.path.islink(self.path('link.onnx')) and os.path.islink(self.path('second.onnx')))
        os.unlink(self.path('there/o.onnx'))
        self.good(*split, 'second.onnx', '--dot-after', 'a.dot')
        self.assertTrue(os.path.isfile(self.path('there/o.onnx')) and os.path.islink(self.path('second.onnx')))
        self.assertEqual(os.listdir(self.path('there')), ['o.onnx'])
        self.bad('two outputs', *split, 'second.onnx', '--save-json', 'there/o.onnx')
        os.symlink('round', self.path('round'))
        self.bad('cannot write', *split, 'round')

    # After a signal at any time, the file is the old file or the new file. Except after SIGKILL, no other file is left.
    def test_signals(self):
        self.skip_with_thread_sanitizer()
        args = ['split', 'large.onnx', *self.SPLIT, '-o', 'o.onnx', '--save-json', 'r.json']
        start = time.monotonic()
        self.good(*args)
        takes = time.monotonic() - start
        new = self.read('o.onnx')
        rand = random.Random(1)
        numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE, signal.SIGXCPU, signal.SIGKILL)
        for i in range(36):
            number = numbers[i % len(numbers)]
            self.write('o.onnx', b'old')
            process = subprocess.Popen([CLEAVE, *args], cwd=self.folder, stdout=subprocess.DEVNULL)
            time.sleep(rand.random() * takes)
            process.send_signal(number)
            self.assertIn(process.wait(timeout=60), (0, -number))
            self.assertIn(self.read('o.onnx'), (b'old', new))
            left = [n for n in os.listdir(self.folder) if n.startswith('.cleave')]
            self.assertTrue(number == signal.SIGKILL or not left, left)
            for name in left:
                os.unlink(self.path(name))

    def test_weights_in_an_external_file(self):
        run = self.limited(resource.RLIMIT_NOFILE, 64, 'split', 'large.onnx', *self.SPLIT, '-o', 'o.onnx', debug='external')
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn('o.onnx.data', os.listdir(self.folder))
        self.assertEqual(os.path.getsize(self.path('o.onnx.data')), 4096)
        self.assertLess(os.path.getsize(self.path('o.onnx')), 1000)
        self.assertEqual(self.good('diff', 'o.onnx', 'large.onnx'), 'y: equal, bit for bit\n')
        os.unlink(self.path('o.onnx.data'))
        self.bad('o.onnx.data', 'info', 'o.onnx')

    def test_no_memory(self):
        gib = 1 << 30
        if self.limited(resource.RLIMIT_AS, 4 * gib, '--version').returncode != 0:
            self.skipTest('a sanitizer needs more memory than this')
        nodes = [node('MatMul', ['a', 'b'], ['c'], 'mm'), node('ReduceMax', ['c'], ['y'], 'max', keepdims=0)]
        self.write('huge.onnx', model(nodes, [value_info('a', [60000, 1]), value_info('b', [1, 60000])],
                                      [value_info('y', [])]))
        self.write('input.onnx', model([node('Relu', ['x'], ['y'], 'relu')], [value_info('x', [60000, 60000])],
                                       [value_info('y', [60000, 60000])]))
        for name, what in (('huge.onnx', 'activations'), ('input.onnx', 'a tensor')):
            run = self.limited(resource.RLIMIT_AS, 4 * gib, 'run', name, '--as-is', '--threads', 'all')
            self.assertEqual(run.returncode, 2, run.stderr)
            self.assertRegex(run.stderr.decode(), rf'\Acleave: [^\n]*there is no memory for [^\n]*{what}\n\Z')


if __name__ == '__main__':
    unittest.main(verbosity=1)
