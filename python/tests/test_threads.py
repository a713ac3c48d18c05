# SPDX-License-Identifier: GPL-2.0-or-later
# The graph of a program for several threads is split for these threads, as in `cleave run --threads`.
import inspect
import json
import os
import subprocess

import numpy
import pytest

import cleave

pytestmark = pytest.mark.skipif('CLEAVE' not in os.environ, reason='CLEAVE does not say where the command is')
SIZES = ('arena_bytes', 'peak_activation_bytes', 'scratch_bytes', 'weight_bytes', 'copied_bytes')


def command(*args):
    return subprocess.run([os.environ['CLEAVE'], *args], check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope='module')
def demo(tmp_path_factory):
    folder = tmp_path_factory.mktemp('demo')
    subprocess.run([os.environ['CLEAVE'], 'demo', '--repeat', '1', '--model', 'model.onnx'], check=True, cwd=folder,
                   stdout=subprocess.DEVNULL)
    return folder / 'model.onnx'


def test_compile_splits_as_the_command_does(demo):
    graph = cleave.load(demo)
    before = str(graph)
    for threads in (1, 2, 3):
        for as_is in (False, True):
            ran = json.loads(command('run', demo, '--threads', str(threads), '--json', *['--as-is'] * as_is))
            stats = graph.compile(threads=threads, as_is=as_is).stats
            assert {name: stats[name] for name in SIZES} == {name: ran[name] for name in SIZES}, (threads, as_is)
            assert (stats['n_threads'], stats['n_nodes']) == (ran['threads'], ran['nodes'])
    assert str(graph) == before


def test_two_threads_need_less_memory_than_one(demo):
    graph = cleave.load(demo)
    assert graph.compile(threads=2).stats['arena_bytes'] == 2523136
    assert graph.compile(threads=2, as_is=True).stats['arena_bytes'] == 5641216


def test_every_way_to_a_program_splits(demo, tmp_path):
    graph = cleave.load(demo)
    x = numpy.random.default_rng(1).standard_normal(graph.inputs[0].shape).astype('float32')
    whole = graph.compile(threads=1)(x)['scores']
    for as_is, arena in ((False, 2523136), (True, 5641216)):
        graph.save_program(tmp_path / 'x.plan', threads=2, as_is=as_is)
        saved = cleave.load_program(tmp_path / 'x.plan')
        for program in (saved, cleave.Program(graph, 2, as_is=as_is), graph.compile(2, as_is=as_is)):
            assert program.stats['arena_bytes'] == arena and program.stats['n_threads'] == 2
            assert program(x)['scores'].tobytes() == whole.tobytes()
    assert graph(x)['scores'].tobytes() == whole.tobytes()


def test_a_small_graph_runs_on_one_thread(graph):
    assert graph.compile(threads=2).stats['n_threads'] == 1
    assert graph.compile(threads=2, as_is=True).stats['n_threads'] == 2


def test_too_many_threads_are_an_error(graph):
    for as_is in (False, True):
        with pytest.raises(cleave.Error, match='threads.* 1024, not 1025'):
            graph.compile(threads=1025, as_is=as_is)


def test_the_default_of_threads_is_one_everywhere():
    """All functions have the default number of threads of the command, so figures of memory agree unless a call names
    the threads."""
    calls = [cleave.Graph.compile, cleave.Graph.save_program, cleave.Graph.fit, cleave.Graph.plan_fit, cleave.Graph.frontier,
             cleave.Graph.memory, cleave.Graph.memory_timeline, cleave.Program.__init__]
    assert {call.__qualname__: inspect.signature(call).parameters['threads'].default for call in calls} == {
        call.__qualname__: 1 for call in calls}
