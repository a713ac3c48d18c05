#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# command-views.py CLEAVE: tests commands that show a model: info, simulate, dot, memory, diff, demo; sizes and figures in their reports.

import json
import math
import os
import re
import struct
import unittest
from xml.etree import ElementTree

from command import CommandTest, chain
from onnx_bytes import floats, model, node, tensor, value_info


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

    # A number that is too large for 64 bits is not printed as a smaller number.
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


class Sizes(CommandTest):
    SIZE = re.compile(r'(\d+(?:\.\d\d)?) (B|KiB|MiB|GiB)(?!\w)')

    def commands(self):
        split = ('split', self.chain, *self.SPLIT)
        return (('info', self.chain), ('info', self.chain, '--program'), ('info', self.chain, '--nodes'), split, ('fit', self.chain),
                ('fit', self.chain, '--frontier'), ('fit', self.chain, '--for', 'ort'), ('memory', self.chain, '--max-memory', '9kB'),
                ('compile', self.chain, '-o', 'a.plan'), ('run', self.chain, '--threads', '2'), ('simulate', self.chain),
                ('partition', self.chain, '-d', 'parts'), ('partition', self.chain, '-d', 'parts', '--parts', '2'),
                ('split', self.chain, '--for-threads', '2'))

    # With --bytes, each size in a text is a number of bytes. Without --bytes, the same size has a unit and is rounded up.
    def test_every_size_for_people_and_for_scripts(self):
        factors = {'B': 1, 'KiB': 1 << 10, 'MiB': 1 << 20, 'GiB': 1 << 30}
        for args in self.commands():
            people, scripts = self.good(*args), self.good(*args, '--bytes')
            sizes = [math.floor(float(number) * factors[unit] + 1e-6) for number, unit in self.SIZE.findall(people)]
            exact = [int(number) for number in re.findall(r'(\d+) bytes', scripts)]
            self.assertTrue(exact, args)
            self.assertEqual(len(sizes), len(exact), (people, scripts))
            self.assertEqual(self.SIZE.findall(scripts), [], args)
            for size, n_bytes in zip(sizes, exact):
                self.assertLessEqual(n_bytes, size, args)
                self.assertLess(size, n_bytes * 1.01 + 11, args)

    # A size that `cleave fit --frontier` prints can be given to --max-memory of the next command, and is met.
    def test_a_printed_size_is_a_limit_that_is_met(self):
        rows = self.good('fit', self.chain, '--frontier').splitlines()[1:-1]
        self.assertGreater(len(rows), 2)
        for row in rows:
            number, unit = row.split()[:2]
            for size in (number + unit, f'{number} {unit}'):
                self.good('fit', self.chain, '--max-memory', size, '--dry-run')

    # Without --threads, all commands count one thread, so their figures are equal.
    def test_the_default_of_threads_is_one_everywhere(self):
        arena = self.json('memory', self.chain)['models'][0]['arena_bytes']
        self.assertEqual(self.json('info', self.chain, '--program')['program']['arena_bytes'], arena)
        self.assertEqual(self.json('compile', self.chain, '-o', 'a.plan')['arena_bytes'], arena)
        self.assertEqual(self.json('fit', self.chain, '--max-memory', '1MiB')['arena_bytes']['before'], arena)
        self.assertEqual(self.json('run', self.chain)['arena_bytes'], arena)
        names = [line.split('\t')[0] for line in self.good('--list-commands').splitlines()]
        rows = [line.split('\t')[3] for name in names for line in self.good(name, '--list-options').splitlines()
                if line.startswith('--threads\t')]
        self.assertGreater(len(rows), 8)
        for text in rows:
            self.assertRegex(text, r'"all": one per core \(default: 1\)$')

    def test_all_threads(self):
        for args in (('run', self.chain, '--as-is'), ('compile', self.chain, '-o', 'a.plan', '--as-is')):
            self.assertEqual(self.json(*args, '--threads', 'all')['threads'], min(os.cpu_count(), 1024))
        self.bad("from 1 to 1024, not 'some'", 'run', self.chain, '--threads', 'some')


class Figures(CommandTest):
    def test_nodes(self):
        text = self.good('info', self.chain, '--nodes')
        lines = text.splitlines()
        self.assertRegex(lines[0], '^ *MACs +results +live +op +makes +node$')
        self.assertRegex(lines[1], r'^ *27648 +4 KiB +[\d.]+ KiB [ *] +Conv +float32 1x4x16x16 +conv1$')
        self.assertEqual(sum(' * ' in line for line in lines[1:4]), 1)
        found = self.json('info', self.chain, '--nodes')
        self.assertEqual([n['bytes'] for n in found['node_list']], [4096, 4096, 1024])
        peak = [n for n in found['node_list'] if n.get('at_peak')]
        self.assertEqual([n['live_bytes'] for n in peak], [found['peak_activation_bytes']] * len(peak))
        self.assertTrue(peak)
        self.assertNotIn('live_bytes', self.json('info', self.chain)['node_list'][0])

    # The help and each JSON report have a note about the counting of memory. Other texts do not have the note.
    def test_the_memory_note_is_in_the_help(self):
        for args in (['info', self.chain, '--nodes'], ['run', self.chain], ['memory', self.chain, '--after', self.chain],
                     ['split', self.chain, *self.SPLIT], ['fit', self.chain]):
            text = self.good(*args)
            self.assertNotIn('weights apart', text)
            self.assertRegex(text, r' [KM]iB of live activations|after, of live activations')
            self.assertIn('weights apart', self.good(*args, '--json'))
        self.assertEqual(self.good('--help').replace('\n', ' ').count('weights apart, element-wise'), 1)

    def test_run_prints_that_it_split(self):
        large = self.write('large.onnx', model(
            [node('Conv', ['x', 'w'], ['y'], 'conv1', pads=[3, 3, 3, 3])], [value_info('x', [1, 3, 32, 32])],
            [value_info('y', [1, 64, 32, 32])], [tensor('w', [64, 3, 7, 7], floats(64 * 147, 1))]))
        self.assertRegex(self.good('run', large, '--threads', '3'), r'nodes +\d+, split for 3 threads out of 1 \(--as-is')
        self.assertRegex(self.good('run', large, '--threads', '3', '--as-is'), r'nodes +\d+\n')
        self.assertIn('nothing to split', self.good('run', self.chain, '--threads', '2'))
        self.assertEqual(self.json('run', large, '--threads', '3')['nodes_as_is'], 1)


if __name__ == '__main__':
    unittest.main(verbosity=1)
