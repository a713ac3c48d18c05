#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# large.py CLEAVE: runs the command on the large models of ../help/large_models.py and measures its memory.

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import large_models

CLEAVE = os.path.abspath(sys.argv.pop())
MIB = 1 << 20

# A program that runs a command, and prints the peak of its resident memory in KiB as the last line of standard error.
MEASURE = """
import resource, subprocess, sys
status = subprocess.run(sys.argv[1:], check=False).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
sys.exit(status)
"""


class Large(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix='cleave-large-')
        large_models.layers(cls.folder)
        large_models.decoder(cls.folder)
        large_models.packed(cls.folder)
        large_models.layers(cls.folder, n=3, width=512, name='small')
        large_models.layers(cls.folder, n=6, width=4096, name='medium')

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def run_cleave(self, *args, most):
        run = subprocess.run([sys.executable, '-c', MEASURE, CLEAVE, *args], capture_output=True, text=True, timeout=900, cwd=self.folder, check=False)
        self.assertEqual(run.returncode, 0, run.stderr)
        resident = int(run.stderr.split()[-1]) * 1024
        print(f'cleave {" ".join(args)}: {resident / MIB:.0f} MiB')
        self.assertLess(resident, most)
        return run.stdout

    def test_info_reads_no_weights(self):
        self.assertIn('603987968', self.run_cleave('info', 'layers.onnx', most=100 * MIB))
        self.assertIn('7151362400', self.run_cleave('info', 'decoder.onnx', most=500 * MIB))

    def test_a_plan_reads_no_weights(self):
        self.run_cleave('fit', 'layers.onnx', '--dry-run', most=500 * MIB)
        self.run_cleave('memory', 'layers.onnx', most=500 * MIB)

    def test_a_run_has_the_weights_of_one_part_in_memory(self):
        report = json.loads(self.run_cleave('run', 'layers.onnx', '--max-memory', '768MiB', '--seed', '3', '--json', most=768 * MIB))
        self.assertGreater(report['layers']['parts'], 3)
        self.assertGreaterEqual(report['layers']['read_bytes'], 9 << 28)

    # The file has 384 MiB, so it is read at once unless a command asks for a mapping.
    def test_weights_of_a_small_file_take_memory_part_by_part(self):
        self.run_cleave('run', 'medium.onnx', '--max-memory', '220MiB', most=220 * MIB)
        self.run_cleave('info', 'medium.onnx', most=100 * MIB)

    # Each part has half of the layers, and has its weights in a file of its own.
    def test_a_model_is_cut_weight_by_weight(self):
        self.run_cleave('partition', 'layers.onnx', '--max-bytes', '1300MiB', '-d', 'parts', most=1024 * MIB)
        parts = [name for name in os.listdir(os.path.join(self.folder, 'parts')) if name.endswith('.onnx')]
        self.assertEqual(len(parts), 2)
        shutil.rmtree(os.path.join(self.folder, 'parts'))

    def size_of(self, *names):
        return sum(os.path.getsize(os.path.join(self.folder, name)) for name in names)

    # Commands that only read or write a model keep a weight of 4 bits as 4 bits in memory. Only a kernel needs a byte
    # for it.
    def test_weights_of_4_bits_stay_packed(self):
        size = self.size_of('packed.onnx', 'packed.data')
        for args in (['info', 'packed.onnx'], ['fit', 'packed.onnx', '--dry-run'], ['partition', 'packed.onnx', '--parts', '3', '-d', 'thirds'],
                     ['opt', 'packed.onnx', '-p', 'clean-up', '-o', 'again.onnx']):
            self.run_cleave(*args, most=1.5 * size)
        thirds = [os.path.join('thirds', name) for name in os.listdir(os.path.join(self.folder, 'thirds')) if not name.endswith('.json')]
        self.assertLess(self.size_of(*thirds), 1.1 * size)
        whole, again = (json.loads(self.run_cleave('run', name, '--seed', '3', '--json', most=2000 * MIB)) for name in ('packed.onnx', 'again.onnx'))
        self.assertEqual(whole['outputs'], again['outputs'])

    # The two layers have 512 MiB of weights, and one weight has 256 MiB.
    def test_a_written_model_leaves_memory_weight_by_weight(self):
        self.run_cleave('extract', 'layers.onnx', '--to', 'x2', '-o', 'two.onnx', most=400 * MIB)
        self.assertGreater(os.path.getsize(os.path.join(self.folder, 'two.onnx')), 512 * MIB)

    def test_parts_give_the_bits_of_the_whole(self):
        report = json.loads(self.run_cleave('run', 'small.onnx', '--max-memory', '35MiB', '--seed', '3', '--repeat', '2', '--json', most=500 * MIB))
        whole = json.loads(self.run_cleave('run', 'small.onnx', '--seed', '3', '--json', most=500 * MIB))
        self.assertGreater(report['layers']['parts'], 1)
        self.assertEqual(report['outputs'], whole['outputs'])

    def test_too_little_memory_is_an_error(self):
        run = subprocess.run([CLEAVE, 'run', 'layers.onnx', '--max-memory', '100MiB'], capture_output=True, text=True, timeout=300, cwd=self.folder, check=False)
        self.assertEqual(run.returncode, 1)
        self.assertIn("--max-memory 104857600 is too little", run.stderr)


if __name__ == '__main__':
    unittest.main()
