#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# command-split.py CLEAVE: tests `cleave split` and its report.

import json
import os
import unittest

from command import CommandTest
from onnx_bytes import floats, model, node, tensor, value_info


class Split(CommandTest):
    def split(self, *args):
        out = self.path('out.onnx')
        report = self.json('split', self.chain, '-o', out, '--check', *args)
        self.assertEqual(report['check'], 'equal, bit for bit')
        self.assertEqual(self.good('diff', self.chain, out), 'y: equal, bit for bit\n')
        return report

    # Runs a split that misses its limits. Asserts exit status 1, and the message `says` on standard error.
    # Without --keep-going, asserts that the command writes no file.
    # With --keep-going, asserts that the written model has the same outputs as the unsplit model.
    # Asserts that both runs print the same report. Returns the report.
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
            reached = {'--max-subgraph-memory': 3776, '--max-schedule-memory': 5120, '--max-pieces': 2}[option]
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

    # A search that fails reports the smallest number of bytes that it reached.
    # A search with this number as the limit succeeds.
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
        self.assertLess(report['latency_ms']['after'], report['latency_ms']['before'])
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
    # In JSON, a range or a shape is on one line, even if a name contains brackets and line breaks.
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


if __name__ == '__main__':
    unittest.main(verbosity=1)
