# SPDX-License-Identifier: GPL-2.0-or-later
"""Graphs that are ready to run."""

import os

from ._call import call
from ._library import Cleave, errors, fail
from ._tensor import Tensor, as_tensor, element_name, to_numpy

# Names of the fields of `Program.stats`.
STATS = ('n_threads', 'n_nodes', 'n_steps', 'peak_activation_bytes', 'arena_bytes', 'scratch_bytes', 'weight_bytes',
         'copied_bytes')


def program_options(threads, reference, trace=False):
    options = Cleave.ProgramOptions()
    options.n_threads, options.reference, options.trace = threads, reference, trace
    return options


def split_to_run(graph, threads, as_is):
    """Returns the graph that a program is made of, and its number of threads: a copy split for them, as `cleave run`
    does it; with `as_is` the graph itself."""
    if as_is or threads == 1:
        return graph, threads
    copy = graph.copy()
    with errors():
        _, threads = call(Cleave.split_to_run, copy, threads)
    return (copy if threads > 1 else graph), threads


def load_program(path, model=None, trace=False):
    """A program from a file that `Graph.save_program` wrote, by this version of the library on such a processor.
    `model` is where the model is now that it was made of, which must be as it was."""
    program = Program.__new__(Program)
    with errors():
        program._set(*call(Cleave.Program.load, os.fspath(path), None if model is None else os.fspath(model), trace))
    return program


class Program:
    """A graph compiled for a number of threads.  Called with arrays by the names of the inputs, it returns arrays by
    the names of the outputs.  A later call does not change arrays that an earlier call returned.

    `Graph.compile` explains the arguments."""

    def __init__(self, graph, threads=0, reference=False, trace=False, as_is=False):
        graph, threads = split_to_run(graph, threads, as_is)
        with errors():
            self._set(call(Cleave.Program.new, graph, program_options(threads, reference, trace)), graph)

    def _set(self, program, graph):
        self._program = program
        self._inputs = {value.name: value.get_type() for value in graph.inputs}
        self._outputs = {name: value.get_type() for name, value in graph.outputs.items()}

    def _tensor(self, name, value):
        if name not in self._inputs:
            near = Cleave.text_find_nearest(name, list(self._inputs))
            fail(f"the model has no input '{name}'" + (f"; did you mean '{near}'?" if near else ''))
        return as_tensor(value, element_name(self._inputs[name]))

    def _bind(self, given):
        tensors = {name: self._tensor(name, value) for name, value in given.items()}
        missing = [name for name in self._inputs if name not in tensors]
        if missing:
            fail("no value is given for input '" + "', '".join(missing) + "'")
        with errors():
            results = {name: Tensor.new(kind) for name, kind in self._outputs.items()}
            self._program.bind([tensors[name] for name in self._inputs], list(results.values()))
        return results

    def __call__(self, *args, **inputs):
        """Runs once.  A dictionary serves inputs whose names are no names of Python's; one array, a model with one."""
        for value in args:
            if isinstance(value, dict):
                inputs.update(value)
            elif len(args) == 1 and len(self._inputs) == 1:
                inputs[next(iter(self._inputs))] = value
            else:
                fail(f'the model has {len(self._inputs)} inputs: give each by its name')
        results = self._bind(inputs)
        self._program.run()
        return {name: to_numpy(tensor) for name, tensor in results.items()}

    def profile(self, runs=10, **inputs):
        """The time of each step, the slowest first, of the fastest of some runs: dictionaries."""
        self._bind(inputs)
        profile = call(self._program.profile, runs)
        names = ('name', 'what', 'reference', 'nanoseconds', 'macs', 'bytes')
        steps = [{name: getattr(profile.get_step(i), name) for name in names} for i in range(profile.n_steps)]
        return sorted(steps, key=lambda step: -step['nanoseconds'])

    @property
    def stats(self):
        """Sizes: threads, nodes, steps, bytes."""
        stats = self._program.get_stats()
        return {name: getattr(stats, name) for name in STATS}

    @property
    def trace(self):
        """When each step of the last run ran, as JSON for Perfetto; the program was made with trace=True."""
        return self._program.dup_trace()

    def __repr__(self):
        stats = self.stats
        return (f'<cleave.Program {stats["n_nodes"]} operators, {stats["n_threads"]} threads, arena '
                f'{stats["arena_bytes"]} bytes>')
