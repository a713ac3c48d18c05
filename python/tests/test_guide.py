# SPDX-License-Identifier: GPL-2.0-or-later
# The page of the guide and the README say what is true: their commands run, one after the other.
import os
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).parents[2]
PAGE = ROOT / 'docs' / 'python.md'


@pytest.mark.skipif('CLEAVE' not in os.environ, reason='CLEAVE does not say where the command is')
def test_the_commands_of_the_guide_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    subprocess.run([os.environ['CLEAVE'], 'demo', '--model', 'model.onnx'], check=True, stdout=subprocess.DEVNULL)
    blocks = re.findall(r'```python\n(.*?)```', PAGE.read_text(), re.S)
    assert len(blocks) >= 5
    space = {}
    for block in blocks:
        exec(compile(block, str(PAGE), 'exec'), space)  # noqa: S102
    said = capsys.readouterr().out
    assert "the graph has no node 'steem'" in said and os.path.getsize('fitted.onnx') > 1000
    assert 'arena' in said and os.path.getsize('after.dot') > 1000


@pytest.mark.skipif('CLEAVE' not in os.environ, reason='CLEAVE does not say where the command is')
def test_the_commands_of_the_readme_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    subprocess.run([os.environ['CLEAVE'], 'demo', '--model', 'model.onnx'], check=True, stdout=subprocess.DEVNULL)
    block, = re.findall(r'```python\n(.*?)```', (ROOT / 'README.md').read_text(), re.S)
    space = {}
    exec(compile(block, 'README.md', 'exec'), space)  # noqa: S102
    assert space['graph'].memory()[1] <= 2 << 20 and os.path.getsize('fitted.onnx') > 1000
    assert all((space['before'][name] == space['after'][name]).all() for name in space['before'])
