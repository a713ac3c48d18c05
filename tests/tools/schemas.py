#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# schemas.py SOURCE CLEAVE: checks the output of --json and the files of --save-json against the schemas.
# Each schema must have a command that prints all its properties, and a line in the guide.

import json
import os
import re
import sys
import unittest

import command
import json_schema
import page_models
from dynamic_models import MODELS
from list_models import CASES
from onnx_bytes import floats, model, node, tensor, value_info

SOURCE = os.path.abspath(sys.argv.pop())
CLEAVE = command.CLEAVE


class Schemas(command.CommandTest):
    SPLIT = ('--node', 'pool1', '--dims', 'H', '--num-chunks', '2')

    def files(self):
        other = self.write('other.onnx', command.chain(seed=2))
        shorter = self.write('shorter.onnx', command.chain(seed=2).replace(b'relu1', b'relu2'))
        defaults = self.write('defaults.onnx', model(
            [node('Add', ['x', 'b'], ['y'], 'add')], [value_info('x', [4]), value_info('b', [4])], [value_info('y', [4])],
            [tensor('b', [4], floats(4))]))
        large = self.write('large.onnx', model(
            [node('Conv', ['x', 'w'], ['y'], 'conv1', pads=[3, 3, 3, 3])], [value_info('x', [1, 3, 64, 64])],
            [value_info('y', [1, 64, 64, 64])], [tensor('w', [64, 3, 7, 7], floats(64 * 3 * 49))]))
        return other, shorter, defaults, large

    def commands(self):
        other, _, defaults, large = self.files()
        stacked = self.write('stacked.onnx', command.stacked(64))
        mask = self.write('mask.onnx', MODELS['mask'])
        labels = self.write('labels.onnx', MODELS['labels'])
        words = self.write('words.onnx', MODELS['words'])
        lists = self.write('lists.onnx', CASES['grows-1'][0])
        cell = self.write('cell.cleave', b'%x = Input : float32 4  # x\n%h = Input : float32 4  # h\n%y = Add %x, %h\n'
                          b'output %y  # h_next\n')
        sequence = self.write('sequence.onnx', page_models.sequence_net())
        chain, renamed = self.chain, self.write('renamed.onnx', command.chain().replace(b'\x01y', b'\x01z'))
        return [
            ('info', mask), ('info', words), ('info', lists), ('run', mask), ('run', labels), ('run', chain, '--max-memory', '40MiB'), ('info', sequence, '--shape', 'batch=1,length=1..9'), ('info', defaults), ('info', chain, '--program', '--nodes'), ('diff', chain, other), ('diff', chain, renamed),
            ('split', chain, *self.SPLIT, '--max-pieces', '2', '--check'), ('split', chain, '--all', '--dims', 'H', '--num-chunks', '16'),
            ('split', chain, '--node', 'pool1', '--max-piece-memory', '4kB'), ('split', large, '--for-threads', '2'),
            ('fit', chain, '--check'), ('fit', chain, '--for', 'ort'), ('fit', chain, '--exclude-inputs'), ('fit', chain, '--frontier'),
            ('fit', chain, '--for', 'ort', '--frontier'),
            ('fit', stacked, '--max-memory', '9MB', '--for', 'ort', '--max-added-macs', '10'),
            ('compile', chain, '-o', 'a.plan'), ('bundle', chain, '--check'), ('bundle', cell, '--state', 'h', '--memory', 'fast=1KiB'), ('bundle', chain, '--kernels', 'cmsis-nn'),
            ('run', chain, '--profile'), ('run', large, '--threads', '2', '--output-dir', 'out'),
            ('memory', chain, '--after', chain, '--max-memory', '1MiB'), ('simulate', chain), ('demo', '--repeat', '1')]

    def check(self, name, text, seen):
        self.assertEqual(json_schema.find_faults(json.loads(text), json_schema.load(name), name, seen), [])

    def test_every_output_has_its_schema_and_every_property_is_printed(self):
        seen, names = set(), set()
        for args in self.commands():
            name = json_schema.name_for(*args)
            run = self.cleave(*args, '--json')
            self.assertIn(run.returncode, (0, 1), (args, run.stderr))
            self.check(name, run.stdout, seen)
            names.add(name)
        for args in (('split', self.chain, *self.SPLIT), ('fit', self.chain), ('fit', self.chain, '--frontier')):
            self.good(*args, '--save-json', 'a.json')
            self.check(json_schema.name_for(*args), self.read('a.json'), seen)
        self.good('split', self.chain, *self.SPLIT, '-o', 'split.onnx')
        self.good('partition', 'split.onnx', '-d', 'parts')
        self.check('schedule', self.read('parts/schedule.json'), seen)
        # The test of ranks checks the output of run --ranks.
        files = {path.stem for path in json_schema.FOLDER.glob('*.json')}
        self.assertEqual(files, names | {'schedule', 'run-ranks'})
        unseen = [place for name in sorted(files - {'run-ranks'}) for place in json_schema.list_properties(json_schema.load(name), name)
                  if place not in seen]
        self.assertEqual(unseen, [])

    def test_every_command_with_json_has_a_schema(self):
        for line in self.good('--list-commands').splitlines():
            name = line.split('\t')[0]
            if '\n--json\t' in self.good(name, '--list-options') and name != 'report':
                self.assertTrue((json_schema.FOLDER / f'{name}.json').exists(), name)

    def test_a_fault_is_found(self):
        schema, good = json_schema.load('diff'), {'equal': True, 'outputs': [{'name': 'y', 'equal': True}]}
        self.assertEqual(json_schema.find_faults(good, schema), [])
        for wrong in ({**good, 'equal': 1}, {'equal': True}, {**good, 'more': 1}, {**good, 'outputs': [{'name': 'y'}]},
                      {**good, 'outputs': [{'name': 'y', 'equal': True, 'different_elements': -1}]}):
            self.assertEqual(len(json_schema.find_faults(wrong, schema)), 1, wrong)

    def test_the_guide_lists_the_schemas(self):
        with open(os.path.join(SOURCE, 'docs', 'json.md'), encoding='utf-8') as file:
            listed = set(re.findall(r'`([a-z-]+)\.json`', file.read()))
        self.assertEqual(listed, {path.stem for path in json_schema.FOLDER.glob('*.json')})


if __name__ == '__main__':
    sys.argv = sys.argv[:1]
    unittest.main()
