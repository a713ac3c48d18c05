# SPDX-License-Identifier: GPL-2.0-or-later
"""The commands memory, partition, diff and report, as methods of Graph."""

import math
import numbers
import os
import tempfile
import warnings
from typing import NamedTuple

from ._call import call, new_cancellable
from ._command import run_command
from ._library import Cleave, GLib, errors, fail
from ._tensor import Tensor, element_name, to_numpy

Graph = Cleave.Graph


MAX_THREADS = 1024


def count_threads(threads):
    """Returns the number of threads to use; 0 and 'all' mean one per core."""
    threads = 0 if threads == 'all' else threads
    if not isinstance(threads, numbers.Integral) or not 0 <= threads <= MAX_THREADS:
        fail(f"threads must be a whole number from 0 (one per core) to {MAX_THREADS}, not {threads!r}")
    return int(threads) or GLib.get_num_processors()


def bytes_of(name, size):
    """Returns the bytes of a size that the caller gave as a number or as text, such as '256 KiB'."""
    if isinstance(size, str):
        _, size = Cleave.text_to_size(name, size.replace(' ', ''))
    if not isinstance(size, numbers.Real) or not math.isfinite(size) or size != int(size):
        fail(f"{name} must be a whole number of bytes or a text such as '256 KiB', not {size!r}")
    size = int(size)
    if size <= 0:
        fail(f'{name} must be more than 0')
    if size >= 1 << 63:
        fail(f'{name} must be less than 2^63 bytes, not {size}')
    return size


# The classes and functions below describe the memory of a run.

class Memory(NamedTuple):
    """Bytes of activations in one run: `peak` is the most that is live at once, `arena` the size of the arena."""
    peak: int
    arena: int


class MemoryStep(NamedTuple):
    """A step of a run, and the bytes that are live while it runs."""
    name: str
    op: str
    live_bytes: int


class Buffer(NamedTuple):
    """A buffer of the arena: its size, its offset, and the indices of the first and the last step that use it."""
    name: str
    bytes: int
    offset: int
    first: int
    last: int


class Timeline(NamedTuple):
    """The memory of one run over its steps."""
    peak: int
    arena: int
    peak_step: int
    steps: list
    buffers: list


def memory(graph, threads=1):
    """Returns the bytes of activations, (peak, arena), of a program with this number of threads; 0: one per core. The
    function does not split the graph for the threads: the result is the memory of `compile(threads, as_is=True)`."""
    with errors():
        estimate = call(graph.estimate, count_threads(threads))[1]
    return Memory(estimate.peak_activation_bytes, estimate.arena_bytes)


def memory_timeline(graph, threads=1):
    """Returns the live bytes of each step and the offset of each buffer in the arena, as `cleave memory` shows them.
    `threads` is the number of threads of the program; 0: one per core. The function does not split the graph for the
    threads."""
    with errors():
        timeline = call(Cleave.MemoryTimeline.new, graph, count_threads(threads))
    steps = [timeline.get_step(i) for i in range(timeline.n_steps)]
    buffers = [timeline.get_buffer(i) for i in range(timeline.n_buffers)]
    return Timeline(
        timeline.peak_bytes, timeline.arena_bytes, timeline.peak_step,
        [MemoryStep(step.name, step.op, step.live_bytes) for step in steps],
        [Buffer(buffer.name, buffer.n_bytes, buffer.offset, buffer.first, buffer.last) for buffer in buffers])


# The classes and functions below make and run the partitions of a graph.

class Part(NamedTuple):
    """A graph of a partition. `level` is the position of the part in the order of the parts. Parts of the same level
    can run at the same time. `after` lists the indices of the parts that must run before the part. `subgraph` is the
    number of the parallel subgraph, from 0, or -1 for a part outside of all parallel subgraphs. `weight_bytes` is the
    bytes of the part's constants. `arena_bytes` is the arena of a program that runs the part on one thread."""
    graph: Graph
    level: int
    subgraph: int
    after: list
    weight_bytes: int
    arena_bytes: int


class Partition(list):
    """The parts of a graph, in an order in which they can run. Parts exchange values by name: a part reads values that
    earlier parts write."""

    def __init__(self, graph, parts):
        super().__init__(Part(parts.get_graph(i), parts.get_level(i), parts.get_subgraph(i),
                              [parts.get_before(i, j) for j in range(parts.get_n_before(i))], *parts.measure(i)[1:])
                         for i in range(parts.get_n_parts()))
        self.outputs = {name: parts.get_output_value(i) for i, name in enumerate(graph.outputs)}

    def run(self, inputs, threads=1):
        """Runs the parts one after another and returns the outputs of the whole graph."""
        values = dict(inputs)
        for part in self:
            program = part.graph.compile(threads, as_is=True)
            values.update(program({value.name: values[value.name] for value in part.graph.inputs}))
        return {name: values[value] for name, value in self.outputs.items()}


def names_of(values):
    """Returns a list of the names that the caller gave: one name, or several names. None stays None."""
    return values if values is None else [values] if isinstance(values, str) else list(values)


def find_parts(graph, parts, at, max_bytes):
    if parts is not None:
        return call(Cleave.Partition.new_by_count, graph, parts)
    if at is not None:
        return call(Cleave.Partition.new_at, graph, names_of(at))
    if max_bytes is not None:
        return call(Cleave.Partition.new_by_bytes, graph, bytes_of('max_bytes', max_bytes))
    return call(Cleave.Partition.new, graph)


def warn_of_dynamic(graph):
    """Warns that the result has only the static part of the model, if shapes of the model depend on data."""
    dynamic = call(Cleave.onnx_get_dynamic, graph)
    if dynamic is not None:
        node = dynamic.get_node(0)
        warnings.warn(f"the shapes of nodes from {node.op} '{node.name}' on depend on data: the result lacks these nodes",
                      stacklevel=3)


def partition(graph, parts=None, at=None, max_bytes=None):
    """Cuts the graph into parts, which are graphs that exchange values by name. The graph does not change.
    `Partition.outputs` maps the outputs of the graph to the values of the parts.

    `parts` is a number of parts that follow each other. `at` lists the names of values that end parts. `max_bytes`
    limits the weights and activations of each part ('256 KiB', or bytes). Without these arguments, each parallel
    subgraph becomes a part, and the nodes between the subgraphs become parts too."""
    if (parts is not None) + (at is not None) + (max_bytes is not None) > 1:
        fail('give one of parts, at and max_bytes')
    warn_of_dynamic(graph)
    with errors():
        return Partition(graph, find_parts(graph, parts, at, max_bytes))


extract_values = Graph.extract  # the library's method, which the method below replaces


def extract(graph, begin=None, end=None):
    """Returns the graph that computes the values `end` from the values `begin`. Each argument is a name or several
    names. If `begin` is None, the graph begins at the inputs. If `end` is None, the graph ends at the outputs that
    depend on `begin`."""
    warn_of_dynamic(graph)
    with errors():
        return call(extract_values, graph, names_of(begin), names_of(end))


# The classes and functions below compare the outputs of two graphs.

class Difference(NamedTuple):
    """The difference of an output between two graphs. `different` is the number of elements that differ in any bit.
    `largest` is the largest difference of two elements. If the output could not be compared, `message` states the
    reason."""
    different: int
    largest: float
    message: str = ''

    @property
    def equal(self):
        """Whether every bit of the output is equal."""
        return self.different == 0 and not self.message


class Differences(dict):
    """The difference of each output, by name."""

    @property
    def equal(self):
        """Whether every bit of every output is equal."""
        return all(difference.equal for difference in self.values())

    def is_near(self, tolerance):
        """Returns whether no element differs by more than the tolerance."""
        return all(not difference.message and difference.largest <= tolerance for difference in self.values())


def random_inputs(graph, seed=0):
    """Returns random inputs by name: the numbers that `cleave run --seed` uses for the same seed."""
    inputs = {}
    for value in graph.inputs:
        with errors():
            tensor = Tensor.new(value.get_type())
        tensor.fill_random(value.name, seed)
        inputs[value.name] = to_numpy(tensor)
    return inputs


def widen(array, element):
    """Returns the numbers of an array as float64."""
    import numpy
    if element == 'bfloat16':
        return (array.astype('uint32') << 16).view('float32').astype('float64')
    return array.astype(numpy.float64)


def compare(a, b, element):
    import numpy
    if a.shape != b.shape or a.dtype != b.dtype:
        return Difference(0, 0.0, f'{a.dtype} {a.shape} is compared with {b.dtype} {b.shape}')
    a, b = (numpy.ascontiguousarray(array).reshape(-1) for array in (a, b))
    size = a.dtype.itemsize
    different = (a.view('uint8').reshape(-1, size) != b.view('uint8').reshape(-1, size)).any(axis=1)
    with numpy.errstate(invalid='ignore'):
        distance = numpy.abs(widen(a[different], element) - widen(b[different], element))
    distance[numpy.isnan(distance)] = numpy.inf
    return Difference(int(different.sum()), float(distance.max(initial=0)))


def diff(graph, other, inputs=None, seed=0):
    """Runs two graphs on the same inputs and compares every output bit for bit, as `cleave diff` does.

    `inputs` is a dictionary from names to arrays. Inputs that are not in the dictionary are random numbers from `seed`.
    Returns Differences, a dictionary from the names of outputs to their differences. `Differences.equal` and
    `Differences.is_near(tolerance)` summarize all outputs."""
    if not isinstance(other, Graph):
        raise TypeError(f'diff compares with another Graph, not {type(other).__name__}: load the other model first')
    missing = {value.name for value in graph.inputs} ^ {value.name for value in other.inputs}
    if missing:
        fail(f"only one of the graphs has the input '{sorted(missing)[0]}'")
    given = {**random_inputs(graph, seed), **(inputs or {})}
    a, b = (side.compile(1)(given) for side in (graph, other))
    kinds = {name: element_name(value.get_type()) for name, value in graph.outputs.items()}
    found = Differences({name: compare(a[name], b[name], kinds.get(name, str(a[name].dtype))) for name in a if name in b})
    found.update({name: Difference(0, 0.0, 'only one of the graphs has it') for name in a.keys() ^ b.keys()})
    return found


# The functions below write a report as an HTML page.

def words_of(options):
    """Converts options to command-line arguments: max_memory='1 MiB' is --max-memory 1MiB."""
    words = []
    for name, value in options.items():
        flag = '--' + name.replace('_', '-')
        if name in ('max_added_macs', 'max_added_latency') and value is not None:
            value = repr(100 * float(value))
        if value is True:
            words.append(flag)
        elif value is not None and value is not False:
            values = value if isinstance(value, (list, tuple)) and name == 'node' else [value]
            for one in values:
                text = ','.join(map(str, one)) if isinstance(one, (list, tuple)) else str(one)
                words += [flag, text if name == 'node' else text.replace(' ', '')]
    return words


def report(graph, path, times=True, **options):
    """Writes one HTML page about the graph, as `cleave report` does.

    With options of `fit` or of `split`, the page shows the graph before and after the change. Examples are
    max_memory='1 MiB' for `fit`, and node='conv1', dims='H', num_chunks=2 for `split`. `frontier=True` adds the best
    plans for all budgets. `threads=2` runs and fits the graph for two threads. With `times=False`, the page contains no
    times, and the graph does not run. The report replaces an existing file."""
    with tempfile.TemporaryDirectory() as folder:
        model = os.path.join(folder, (graph.get_name() or 'graph').replace(os.sep, '_') + '.onnx')
        graph.save(model)
        flags = [] if times else ['--no-times']
        run_command('report', model, '--force', '-o', path, *flags, *words_of(options))


Graph.memory, Graph.memory_timeline = memory, memory_timeline
Graph.partition, Graph.extract, Graph.diff, Graph.report = partition, extract, diff, report
Graph.random_inputs = random_inputs
