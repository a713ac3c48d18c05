#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# command-failures.py CLEAVE: tests that failures in the middle of the work leave all files unchanged.

import os
import random
import resource
import signal
import subprocess
import time
import unittest

from command import CLEAVE, CommandTest, chain
from onnx_bytes import floats, model, node, tensor, value_info


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

    # clang's thread sanitizer writes and maps a file when it starts.
    # The sanitizer's wrapper of unlink () locks a mutex.
    # When a signal arrives, the interrupted thread may already have locked this mutex.
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

    # After a signal at any time, the output file has its old content or its complete new content.
    # No temporary file is left, except after SIGKILL.
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
