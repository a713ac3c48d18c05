#!/usr/bin/env python3
# gjs.py CLEAVE EXAMPLE: splits the MobileNetV2 that the command writes, with the JavaScript program EXAMPLE.
# Checks that the split model has bit-identical results.
import os
import shutil
import subprocess
import sys
import tempfile

gjs = shutil.which('gjs')
if gjs is None:
    print('SKIP: no gjs')
    sys.exit(77)
command, example = map(os.path.abspath, sys.argv[1:])
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    subprocess.run([command, 'demo', '--model', 'model.onnx'], check=True, stdout=subprocess.DEVNULL)
    said = subprocess.run([gjs, example, 'model.onnx', 'split.onnx'], check=True, capture_output=True, text=True).stdout
    assert said.count('\n') >= 3 and '.0, ' in said, said
    subprocess.run([command, 'diff', 'model.onnx', 'split.onnx'], check=True)
    wrong = subprocess.run([gjs, example, 'none.onnx', 'split.onnx'], capture_output=True, text=True)
    assert wrong.returncode != 0 and 'none.onnx' in wrong.stderr, wrong.stderr
print('gjs: good')
