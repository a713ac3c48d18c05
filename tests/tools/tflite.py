#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# tflite.py CLEAVE CORPUS: runs the commands on TensorFlow Lite files that CORPUS writes.

import glob
import json
import os
import subprocess
import sys
import tempfile
import unittest

CORPUS = os.path.abspath(sys.argv.pop())
CLEAVE = os.path.abspath(sys.argv.pop())


class Commands(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        os.mkdir(self.path('corpus'))
        subprocess.run([CORPUS, '--write', self.path('corpus')], check=True, capture_output=True)
        self.models = sorted(glob.glob(self.path('corpus', '*')))
        self.assertGreaterEqual(len(self.models), 3)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def run_command(self, *args, status=0):
        run = subprocess.run([CLEAVE, *args], capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(run.returncode, status, (args, run.stdout, run.stderr))
        return run.stdout if status == 0 else run.stderr

    # Returns whether a model has ops that ONNX lacks.
    def is_quantized(self, model):
        return 'Tflite' in self.run_command('info', model)

    # Returns whether a model has several subgraphs. The only example of that kind has variables.
    def has_subgraphs(self, model):
        return 'state_initial' in self.run_command('info', model)

    # `cleave memory --offline-plan` writes a model with a memory plan, and keeps everything else.
    # The command refuses a model of several subgraphs, since a plan has tensors of one subgraph only.
    def test_a_plan_keeps_the_model(self):
        n_planned = 0
        for model in self.models:
            planned = self.path('planned.tflite')
            if self.has_subgraphs(model):
                self.assertIn('needs 1 subgraph', self.run_command('memory', model, '--offline-plan', '-o', planned, status=2))
                continue
            n_planned += 1
            self.assertIn('the tensors take', self.run_command('memory', model, '--offline-plan', '-o', planned, '--force'))
            self.assertEqual(self.run_command('info', model), self.run_command('info', planned))
            self.run_command('diff', model, planned)
        self.assertGreaterEqual(n_planned, 3)

    def test_a_plan_is_refused_for_other_models_and_options(self):
        with open(self.path('no.tflite'), 'wb') as file:
            file.write(b'\0' * 64)
        self.assertIn('TFL3', self.run_command('memory', self.path('no.tflite'), '--offline-plan', '-o', self.path('a.tflite'), status=2))
        self.assertIn('-o', self.run_command('memory', self.models[0], '--offline-plan', status=2))
        self.assertIn('.tflite', self.run_command('memory', self.models[0], '--offline-plan', '-o', self.path('a.svg'), status=2))
        self.assertIn('--offline-plan', self.run_command('memory', self.models[0], '--offline-plan', '--json', '-o',
                                                         self.path('a.tflite'), status=2))
        self.assertFalse(os.path.exists(self.path('a.tflite')))

    def test_fitted_models_have_the_same_bits(self):
        for i, model in enumerate(self.models):
            fitted = self.path(f'fitted{i}.cleave')
            self.run_command('fit', model, '-o', fitted)
            self.run_command('diff', model, fitted)

    def test_simulations_have_a_latency(self):
        for model in self.models:
            found = json.loads(self.run_command('simulate', model, '--json'))
            self.assertTrue(any('latency' in key for key in json.dumps(found).split('"')), found)

    def test_reports_are_pages(self):
        for i, model in enumerate(self.models):
            page = self.path(f'page{i}.html')
            run = subprocess.run([CLEAVE, 'report', model, '--no-times', '-o', page], capture_output=True, text=True, check=False)
            if 'libcleave-render' in run.stderr:
                self.skipTest('no module that draws pictures')
            self.assertEqual(run.returncode, 0, run.stderr)
            with open(page, encoding='utf-8') as file:
                self.assertIn('<html', file.read().lower())

    # ONNX has no form for ops with the integer arithmetic of TensorFlow Lite, so the export of a model with these ops fails.
    # The error message names one of the ops, and suggests a .cleave file.
    def test_models_of_floats_become_onnx(self):
        kinds = set()
        for model in self.models:
            quantized, onnx = self.is_quantized(model), self.path('model.onnx')
            kinds.add(quantized)
            message = self.run_command('opt', model, '--passes', 'remove-dead', '-o', onnx, '--force', status=2 if quantized else 0)
            if quantized:
                self.assertIn('Tflite', message)
                self.assertIn('.cleave', message)
            else:
                self.run_command('diff', model, onnx)
        self.assertEqual(kinds, {False, True})

    # The pass tflite-to-qdq changes results by a few units. An LSTM, detections and two other ops have no form as QDQ.
    def test_models_of_integers_become_qdq(self):
        kinds = set()
        for model in self.models:
            if not self.is_quantized(model):
                continue
            onnx = self.path('qdq.onnx')
            ops = self.run_command('info', model)
            stays = any(f'Tflite{op}' in ops for op in ('Lstm', 'L2Normalize', 'LogSoftmax', 'Detections'))
            kinds.add(stays)
            message = self.run_command('opt', model, '--passes', 'tflite-to-qdq,remove-dead', '-o', onnx, '--force',
                                       status=2 if stays else 0)
            if stays:
                self.assertIn('no pass replaces it', message)
            else:
                self.run_command('diff', model, onnx, '--tolerance', '2')
        self.assertEqual(kinds, {False, True})

    def test_parts_are_models(self):
        for i, model in enumerate(self.models):
            if self.is_quantized(model):
                continue
            parts = self.path(f'parts{i}')
            self.run_command('partition', model, '-d', parts, '--parts', '2')
            self.assertTrue(glob.glob(os.path.join(parts, '*.onnx')))


if __name__ == '__main__':
    unittest.main()
