#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# fit-corpus.py CLEAVE: tests the command that measures `cleave fit` over a corpus, mostly with a stand-in for cleave.

import contextlib
import importlib.util
import io
import json
import os
import sys
import tempfile
import unittest

from onnx_bytes import floats, model, node, tensor, value_info

CLEAVE = os.path.abspath(sys.argv.pop())
SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'bench', 'fit-corpus.py')
sys.dont_write_bytecode = True
spec = importlib.util.spec_from_file_location('fit_corpus', SCRIPT)
corpus = importlib.util.module_from_spec(spec)
spec.loader.exec_module(corpus)

# A script that replaces cleave. The script appends its arguments to the file `calls`.
# The script reports 80 bytes as the least memory, and 40 bytes with --exclude-inputs.
STAND_IN = '''#!/bin/sh
echo "$@" >> {folder}/calls
case "$*" in
  *--help*) echo '--inputs-apart' ;;
  info*) echo '{{"nodes": 3}}' ;;
  *endless*) while :; do :; done ;;
  *broken*) echo 'cleave: no such op' >&2; exit 1 ;;
  *--inputs-apart*) echo '{{"nodes": {{"before": 3, "after": 9}}, "arena_bytes": {{"before": 100, "after": 40}},
                           "macs": {{"before": 5, "after": 5}}, "latency_ms": {{"before": 2, "after": 3}}}}' ;;
  *) echo '{{"nodes": {{"before": 3, "after": 9}}, "arena_bytes": {{"before": 100, "after": 80}},
             "macs": {{"before": 5, "after": 5}}, "latency_ms": {{"before": 2, "after": 3}}}}' ;;
esac
'''


def fitted(n_bytes, seconds=0.1):
    return {'seconds': seconds, 'bytes': n_bytes, 'bytes_before': 1000, 'nodes': 9, 'nodes_before': 3, 'macs_ratio': 1.0,
            'latency_ratio': 1.5}


def results(**fits):
    return {name: {'nodes': 3, 'fits': {'+10 %': one}} for name, one in fits.items()}


def printed(function, *arguments):
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        function(*arguments)
    return output.getvalue()


class Corpus(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.folder = self.scratch.name
        self.results = os.path.join(self.folder, 'results.json')

    def write(self, name, text, mode=0o644):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'wb') as file:
            file.write(text.encode() if isinstance(text, str) else text)
        os.chmod(path, mode)
        return path

    def stand_in(self, more=''):
        return self.write('cleave', STAND_IN.format(folder=self.folder) + more, 0o755)

    def calls(self):
        with open(os.path.join(self.folder, 'calls'), encoding='utf-8') as file:
            return [line for line in file if line.startswith('fit ') and '--help' not in line]

    def measure(self, cleave, *arguments):
        argv, sys.argv = sys.argv, ['fit-corpus.py', 'measure', cleave, self.results, os.path.join(self.folder, 'models'), *arguments]
        try:
            printed(corpus.main)
        finally:
            sys.argv = argv
        with open(self.results, encoding='utf-8') as file:
            return json.load(file)['networks']

    def test_each_limit_is_measured(self):
        self.write('models/a.onnx', 'a')
        fits = self.measure(self.stand_in())['a']['fits']
        self.assertEqual({limit: one['bytes'] for limit, one in fits.items()},
                         {'+0 %': 80, '+0 %, inputs excluded': 40, '+10 %': 80, 'any MACs': 80})
        self.assertEqual(fits['+0 %']['latency_ratio'], 1.5)
        self.assertEqual(sum('--max-added-macs 10 ' in call for call in self.calls()), 1)

    def test_a_measurement_goes_on_where_it_stopped(self):
        self.write('models/a.onnx', 'a')
        self.measure(self.stand_in(), '--limit', '+10 %')
        self.assertEqual(len(self.calls()), 1)
        self.write('models/b.onnx', 'b')
        self.assertEqual(list(self.measure(self.stand_in(), '--limit', '+10 %')), ['a', 'b'])
        self.assertEqual(len(self.calls()), 2)

    def test_another_build_needs_another_file(self):
        self.write('models/a.onnx', 'a')
        self.measure(self.stand_in())
        with self.assertRaisesRegex(SystemExit, 'measured with another build'):
            self.measure(self.stand_in('# newer\n'))

    def test_a_run_ends_after_its_processor_seconds(self):
        self.write('models/endless.onnx', 'a')
        one = self.measure(self.stand_in(), '--seconds', '1', '--limit', '+10 %')['endless']['fits']['+10 %']
        self.assertEqual(one['error'], 'over 1 s')
        self.assertLess(one['seconds'], 2)

    def test_an_error_is_kept(self):
        self.write('models/broken.onnx', 'a')
        one = self.measure(self.stand_in(), '--limit', '+10 %')['broken']['fits']['+10 %']
        self.assertEqual(one['error'], 'cleave: no such op')

    def test_only_links_count_where_there_are_links(self):
        target = self.write('models/zoo/package/alexa_v0.1.onnx', 'a')
        os.symlink(target, os.path.join(self.folder, 'models/zoo/alexa.onnx'))
        self.measure(self.stand_in(), '--limit', '+10 %')
        self.assertEqual(len(self.calls()), 1)
        self.assertIn('--shape 1,16,96', self.calls()[0])

    def test_shapes_and_numbers_of_models(self):
        self.assertEqual(corpus.zoo_options()['silero_vad_v5'],
                         ['--shape', 'input=1,512', '--shape', 'state=2,1,128', '--fix', 'sr=16000'])

    def test_worse_networks_are_listed_by_degree(self):
        old = results(much=fitted(100), little=fitted(100), same=fitted(100), better=fitted(100))
        new = results(much=fitted(110), little=fitted(102), same=fitted(100), better=fitted(50))
        lines = printed(corpus.compare_limit, '+10 %', old, new).splitlines()
        at = {what: next(i for i, line in enumerate(lines) if what in line) for what in ('more than 5', '1 to 5', 'much:', 'little:')}
        self.assertTrue(lines[at['more than 5']].endswith('worse: 1') and lines[at['1 to 5']].endswith('worse: 1'))
        self.assertTrue(at['more than 5'] < at['much:'] < at['1 to 5'] < at['little:'])
        self.assertIn(f'bytes {(1.1 * 1.02 * 0.5) ** 0.25:.4f}', '\n'.join(lines))
        self.assertIn('better: 1', lines[-1])

    def test_networks_of_one_result_alone_are_not_compared(self):
        new = results(a=fitted(100), b={'seconds': 60, 'error': 'over 60 s'})
        text = printed(corpus.compare_limit, '+10 %', results(a=fitted(100), b=fitted(100), c=fitted(100)), new)
        self.assertIn('1 networks', text)
        self.assertIn('fails now: b: over 60 s', text)

    def test_slow_runs_are_listed(self):
        new = {**results(slow=fitted(100, 0.31), quick=fitted(100, 0.3))}
        text = printed(corpus.compare_times, new, new)
        self.assertIn('over 0.3 s: 1', text)
        self.assertIn('slow (3 nodes)', text)

    def test_a_table_replaces_the_one_of_a_page(self):
        self.write('results.json', json.dumps({'networks': {'networks/a': {'nodes': 3, 'fits': {'+10 %': fitted(500)}}}}))
        page = self.write('page.md', f'above\n{corpus.BEGIN}\nold\n{corpus.END}\nbelow\n')
        argv, sys.argv = sys.argv, ['fit-corpus.py', 'table', self.results, '--into', page]
        self.addCleanup(setattr, sys, 'argv', argv)
        corpus.main()
        with open(page, encoding='utf-8') as file:
            text = file.read()
        self.assertTrue(text.startswith('above\n') and text.endswith('\nbelow\n') and 'old' not in text)
        self.assertIn('| networks/a | 3 | 1.0 | - | - | - | - | - | - | 0.50 | 1.50 | 0.10 | - | - | - |', text)

    def test_the_command_itself_is_measured(self):
        nodes = [node('Conv', ['x', 'w'], ['a'], 'conv1', pads=[1] * 4), node('Relu', ['a'], ['b'], 'relu'),
                 node('MaxPool', ['b'], ['y'], 'pool', kernel_shape=[2, 2], strides=[2, 2])]
        self.write('models/chain.onnx', model(nodes, [value_info('x', [1, 2, 32, 32])], [value_info('y', [1, 8, 16, 16])],
                                              [tensor('w', [8, 2, 3, 3], floats(144))]))
        network = self.measure(CLEAVE)['chain']
        self.assertEqual(network['nodes'], 3)
        for limit, one in network['fits'].items():
            self.assertLess(one['bytes'], one['bytes_before'], limit)
            self.assertGreater(one['nodes'], 3)


unittest.main()
