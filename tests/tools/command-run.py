#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# command-run.py CLEAVE: tests `cleave run`, also of models whose shapes depend on data.

import hashlib
import json
import os
import re
import struct
import unittest
import zipfile

from command import CommandTest, npy
from dynamic_models import MODELS
from list_models import CASES
from onnx_bytes import block, floats, model, node, number, tensor, value_info


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

    # Slow nodes are split for the threads, fast nodes are not. The outputs equal the outputs of one thread.

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

    # An Identity returns the random numbers with which `cleave run` fills the input. Later versions of Cleave must use the same numbers.
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


class Dynamic(CommandTest):
    """Tests `cleave run` on models whose shapes depend on data."""

    def setUp(self):
        super().setUp()
        self.write('m.onnx', MODELS['mask'])

    def test_extract_and_partition_leave_the_dynamic_part_out(self):
        self.assertIn(b'do not contain the dynamic part', self.cleave('partition', 'm.onnx', '-d', 'parts').stderr)
        run = self.cleave('extract', 'm.onnx', '--to', 'rows', '-o', 'e.onnx')
        self.assertEqual(run.returncode, 2)
        self.assertIn(b"'rows' is a value of the dynamic part", run.stderr)

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

    def test_inputs_of_strings_are_bytes_or_unicode(self):
        path = self.write('words.onnx', MODELS['words'])
        words = ['e', 'Vögel', '', 'small fish', 'x']
        for descr, encode, width in (('|S12', 'utf-8', 12), ('<U11', 'utf-32-le', 44)):
            data = b''.join(word.encode(encode).ljust(width, b'\0') for word in words)
            file = self.write('w.npy', npy(descr, '(5,)', data))
            report = self.json('run', path, '--input', file, '--output-dir', 'o', '--save-inputs', 'i', '--force')
            outputs = {output['name']: output for output in report['outputs']}
            self.assertEqual(outputs['long']['strings'], [word + 'small fish' for word in words])
            with open(self.path('o/is.npy'), 'rb') as file:
                self.assertEqual(file.read()[-5:], bytes([0, 0, 0, 1, 0]))
            saved = self.json('run', path, '--input', 'i/word.npy')
            self.assertEqual(saved['outputs'], [{k: v for k, v in output.items() if k != 'file'} for output in report['outputs']])

    def test_info_lists_inputs_of_strings(self):
        path = self.write('words.onnx', MODELS['words'])
        self.assertIn('word: strings 5, each at most 256 bytes', self.good('info', path))
        self.assertIn('word: strings 7, each at most 20 bytes', self.good('info', path, '--shape', 'word=7,20'))
        self.assertEqual(self.json('info', path)['inputs'], [{'name': 'word', 'type': 'uint8', 'shape': [5, 256], 'strings': True}])

    def test_wrong_strings_are_an_error(self):
        path = self.write('words.onnx', MODELS['words'])
        long = self.write('long.npy', npy('|S300', '(5,)', b'x' * 1500))
        short = self.write('short.npy', npy('|S3', '(4,)', b'x' * 12))
        number = self.write('number.npy', npy('<f4', '(5,)', bytes(20)))
        self.bad('a string has 300 bytes, more than 256: give the bytes as the last extent of --shape', 'run', path, '--input', long)
        self.good('run', path, '--shape', 'word=5,300', '--input', long)
        for file in (short, number):
            self.bad("'word' has strings: give an array of strings, with 1 dimension", 'run', path, '--input', file)
        self.bad("input 'word' has strings, which cannot be fixed", 'run', path, '--fix', f'word={short}')

    def test_a_split_model_keeps_inputs_of_strings(self):
        path = self.write('words.onnx', MODELS['words-and-numbers'])
        self.assertEqual(self.cleave('split', path, '--all', '--dims=-1', '--num-chunks=2', '--check', '-o', 's.onnx').returncode, 0)
        with open(self.path('s.onnx'), 'rb') as file:
            self.assertIn(value_info('word', [5, 1], 8), file.read())
        self.assertIn('equal', self.good('diff', path, 's.onnx'))

    def test_a_split_model_keeps_the_dynamic_part(self):
        run = self.cleave('split', 'm.onnx', '--all', '--dims=2', '--num-chunks=2', '--check', '-o', 's.onnx')
        self.assertEqual(run.returncode, 0)
        self.assertIn("note: the shapes of 4 nodes depend on data, from NonZero 'where' on", run.stderr.decode())
        self.assertIn('equal', self.good('diff', 'm.onnx', 's.onnx'))
        self.assertEqual(self.json('info', 's.onnx')['dynamic']['outputs'], ['scaled', 'rows'])

    def test_sequences_are_read_from_archives_and_written_as_files(self):
        path = self.write('grows.onnx', CASES['grows-1'][0])
        text = self.good('info', path)
        self.assertIn('input       s: seq(float32)', text)
        self.assertIn('output      t: seq(float32)', text)
        self.assertEqual(self.json('info', path)['dynamic']['lists'],
                         [{'name': 's', 'type': 'seq(float32)', 'input': True}, {'name': 't', 'type': 'seq(float32)', 'input': False}])
        self.good('run', path, '--save-inputs', self.path('in'), '--output-dir', self.path('out'))
        self.assertEqual(sorted(os.listdir(self.path('in'))), ['s.0.npy', 's.1.npy', 'x.npy'])
        self.assertEqual(sorted(os.listdir(self.path('out'))), ['joined.npy', 't.0.npy', 't.1.npy', 't.2.npy', 'z.npy'])
        given = ['--input', 'x=' + self.path('in/x.npy'), '--input', 's=' + self.path('in/s.0.npy')]
        names = [one['name'] for one in self.json('run', path, *given, '--input', 's=' + self.path('in/s.1.npy'))['outputs']]
        self.assertEqual(names, ['z', 't.0', 't.1', 't.2', 'joined'])
        self.assertEqual(len(self.json('run', path, *given)['outputs']), 4)
        self.bad("'s', which is a list of tensors: give the tensors to the run", 'info', path, '--shape', 's=3,4')

    def test_optional_inputs_may_be_absent(self):
        path = self.write('bias.onnx', CASES['bias'][0])
        self.good('run', path, '--save-inputs', self.path('in'))
        self.assertEqual(os.listdir(self.path('in')), ['x.npy'])
        file = 'o=' + self.path('in/x.npy')
        self.assertIn('equal', self.good('diff', path, path, '--input', file))
        self.assertNotEqual(self.json('run', path)['outputs'], self.json('run', path, '--input', file)['outputs'])
        self.bad("'o' is optional(float32): give one tensor", 'run', path, '--input', file, '--input', file)

    def test_what_cannot_have_a_dynamic_part_is_refused(self):
        self.bad('a saved program cannot have them', 'compile', 'm.onnx', '-o', 'm.plan')
        run = self.cleave('opt', 'm.onnx', '-p', 'clean-up', '-o', 'm.cleave')
        self.assertEqual(run.returncode, 2)
        self.assertIn('a graph as text cannot have them: write OUT.onnx', run.stderr.decode())
        self.assertNotIn('m.cleave', os.listdir(self.folder))


if __name__ == '__main__':
    unittest.main(verbosity=1)
