#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# command-fit.py CLEAVE: tests `cleave fit`.

import json
import os
import unittest
from xml.etree import ElementTree

from command import CommandTest, squeeze, stacked
from onnx_bytes import floats, model, node, tensor, value_info


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

    # If `fit` refuses a budget, its message suggests another command. The suggested command succeeds.
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

    # `fit` can write a plan to a file. With this file, `fit` splits the model into the same pieces without a search, and refuses another model.
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

    # Compiles a model for one thread. Returns the bytes of the arena and of the scratch.
    def program_bytes(self, path):
        program = self.json('info', path, '--program', '--threads', '1')['program']
        return program['arena_bytes'], program['scratch_bytes']

    def test_scratch(self):
        # The model has an input and an output of 128 KiB, and a value of 256 KiB between two 3x3 convolutions. The kernels of the convolutions need scratch.
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

    def test_for_onnx_runtime(self):
        said = self.json('fit', self.chain, '--for', 'ort')
        plans = self.json('fit', self.chain, '--for', 'ort', '--frontier')['frontier']
        self.assertEqual((said['loops'], len(plans)), (0, 1))
        self.assertEqual((plans[0]['arena_bytes'], plans[0]['onnx_runtime_bytes']),
                         (said['arena_bytes']['before'], said['onnx_runtime_bytes']['before']))
        self.assertIn(f'the best split would need an estimated {said["refused_onnx_runtime_bytes"]} bytes',
                      self.good('fit', self.chain, '--for', 'ort', '--bytes'))
        refused = self.cleave('fit', self.chain, '--for', 'ort', '--max-memory', plans[0]['arena_bytes'] - 1)
        self.assertEqual(refused.returncode, 1)
        self.assertIn(f'the smallest that a plan meets is {plans[0]["arena_bytes"]} bytes', refused.stderr.decode())

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

    # A GlobalAveragePool needs the whole image, so its operand is computed in a few chunks of channels.
    # These few chunks do not become a Loop.
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

    # In the model with 64 channels, fewer than three of the six strips have equal shapes, too few for a Loop.
    # A split into separate pieces must save 4 MiB and two fifths of the memory.
    def test_many_pieces_must_save_much(self):
        args = ('--for', 'ort', '--max-added-macs', 1, '-o', 'o.onnx')
        large = self.json('fit', self.write('large.onnx', stacked(64)), '--max-memory', '9MB', *args)
        self.assertEqual([segment['strips'] for segment in large['segments']], [6])
        self.assertEqual((large['loops'], large['segments_without_loop'], large['segments_whole']), (0, 1, 0))
        there = large['onnx_runtime_bytes']
        self.assertLess(there['after'], 0.6 * there['before'])
        self.assertLess(there['after'] + (4 << 20), there['before'])
        # In the model with 16 channels, strips as separate pieces would save too little memory.
        # The plan for the model with 16 channels has equal strips, which become a Loop.
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


if __name__ == '__main__':
    unittest.main(verbosity=1)
