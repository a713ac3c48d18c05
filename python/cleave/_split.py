# SPDX-License-Identifier: GPL-2.0-or-later
"""Splits graphs, and fits graphs into memory."""

import math
import numbers
import re

from ._call import Progress, call, new_cancellable
from ._library import Cleave, Error, GLib, errors, fail
from ._tools import bytes_of, count_threads

Node = Cleave.Node


def text_of(value):
    """Returns an option's value in the syntax of the command line, such as '2', '2,3', '3,4,5/6,6' or '0:1,0:16'."""
    if isinstance(value, str):
        return value
    if isinstance(value, (list, tuple)):
        if value and all(isinstance(part, slice) for part in value):
            return ','.join(f'{part.start}:{part.stop}' for part in value)
        between = '/' if any(isinstance(part, (list, tuple)) for part in value) else ','
        return between.join(text_of(part) for part in value)
    return str(value)


def is_span(value):
    """Returns whether a value is the range of a dimension: a slice, or a pair of a begin and an end."""
    return isinstance(value, slice) or (isinstance(value, (list, tuple)) and len(value) == 2
                                        and all(isinstance(end, numbers.Integral) for end in value))


def text_of_ranges(value):
    """Returns the text of slice_ranges, such as '0:1,0:16/1:2,0:16'. The value is a list with a range for each chunk. A
    range is a list with a pair or a slice for each dimension. The value may also be one range of slices."""
    if isinstance(value, str) or (isinstance(value, (list, tuple)) and all(isinstance(span, slice) for span in value)):
        return text_of(value)
    if not isinstance(value, (list, tuple)) or not all(
            isinstance(chunk, (list, tuple)) and chunk and all(map(is_span, chunk)) for chunk in value):
        fail('slice_ranges expects a list with a range for each chunk, such as [[(0, 1), (0, 16)], [(1, 2), (0, 16)]], '
             f'not {value!r}')
    return '/'.join(','.join('{}:{}'.format(*((span.start, span.stop) if isinstance(span, slice) else span)) for span in chunk)
                    for chunk in value)


# The names of the options of `split`.
OPTIONS = {'dims', 'num_chunks', 'chunk_size', 'chunk_sizes', 'chunk_weights', 'slice_ranges', 'align', 'min_chunk',
           'small_first', 'max_piece_memory', 'max_subgraph_memory', 'max_schedule_memory', 'max_added_macs', 'max_pieces',
           'search_budget', 'depth', 'halo', 'strips_per_band', 'single_use'}
# The names in the library of options that have another name there, and the old names of options.
LIBRARY_NAMES, OLD_NAMES = {'max_piece_memory': 'max-memory'}, {'max_memory': 'max_piece_memory'}
# Finds the library's names of OPTIONS in its messages.
IN_MESSAGE = {LIBRARY_NAMES.get(name, name.replace('_', '-')): name for name in OPTIONS}
OPTION_IN_MESSAGE = re.compile(r'\b(' + '|'.join(sorted(IN_MESSAGE)) + r')\b')


def per_cent(name, fraction):
    """Returns a limit in the syntax of the command line: 0.1 is '10.0'."""
    limit_of(name, fraction)
    return repr(100 * float(fraction))


def texts_of(options):
    texts = {}
    for name, value in options.items():
        name = OLD_NAMES.get(name, name)
        if name not in OPTIONS:
            near = Cleave.text_find_nearest(name, sorted(OPTIONS))
            raise TypeError(f"split() has no option '{name}'" + (f"; did you mean '{near}'?" if near else ''))
        if value is not None and value is not False:
            write = {'max_added_macs': lambda value: per_cent('max_added_macs', value), 'slice_ranges': text_of_ranges}
            text = write.get(name, text_of)('' if value is True else value)
            texts[LIBRARY_NAMES.get(name, name.replace('_', '-'))] = text.replace(' ', '')
    return texts


def limit_of(name, fraction):
    """Returns the library's value of the field `name` for the caller's limit: 0 for None, which means no limit."""
    if fraction is None:
        return 0
    if isinstance(fraction, (bool, str)) or not 0 <= fraction < math.inf:
        fail(f'{name} expects a fraction from 0, such as 0.1, not {fraction!r}')
    return float(fraction) if fraction > 0 else Cleave.NOTHING_ADDED


def parse_split(texts, max_added_macs):
    """Parses option texts to a tiling, a constraint and a recursion. Sets max_added_macs of the constraint."""
    try:
        _, tiling, constraint = Cleave.split_parse(texts, '')
        _, recursion = Cleave.recursion_parse(texts, '')
    except GLib.Error as error:
        message = OPTION_IN_MESSAGE.sub(lambda found: IN_MESSAGE[found[0]], error.message)
        raise Error(message, error.domain, error.code) from None
    constraint.max_added_macs = max_added_macs  # an exact number, since a text in per cent would be rounded
    return tiling, constraint, recursion


def split(graph, nodes=None, **options):
    """Splits nodes. `nodes` is a name or a list of names; None splits all nodes to which the options apply.

    The options have the names of the options of `cleave split`: dims='H' with num_chunks, chunk_size, chunk_sizes or
    chunk_weights; slice_ranges; limits such as max_piece_memory='64KiB'. With the option depth, the function also splits
    producers; halo, strips_per_band and single_use need depth. `max_added_macs` is a fraction, as in `fit`. A split
    graph computes the same bits. Returns a SplitReport."""
    texts = texts_of(options)
    if isinstance(nodes, (str, Node)):
        nodes = [nodes]
    how, constraint, recursion = parse_split(texts, limit_of('max_added_macs', options.get('max_added_macs')))
    with errors():
        constraint.cancellable = cancellable = new_cancellable()
        if nodes is None:
            if recursion.depth > 1:
                fail('depth needs the nodes to begin with')
            return call(Cleave.split_all_nodes, graph, how, constraint, cancellable=cancellable)
        names = [node if isinstance(node, str) else node.name for node in nodes]
        return call(Cleave.split_nodes_by_name, graph, names, how, constraint, recursion, cancellable=cancellable)


def split_for_threads(graph, threads):
    """Splits the graph into work for this number of threads; 0: one per core. Returns a SplitReport."""
    with errors():
        return call(Cleave.split_for_threads, graph, count_threads(threads))


def size_of(size):
    """Returns the library's value of the field `max_memory` for the caller's limit: 0 for None, which means no limit."""
    return 0 if size is None else bytes_of('max_memory', size)


def fit_options(max_memory, max_added_macs, max_added_latency, threads, exclude_inputs):
    options = Cleave.FitOptions()
    options.max_memory = size_of(max_memory)
    options.max_added_macs = limit_of('max_added_macs', max_added_macs)
    options.max_added_latency = limit_of('max_added_latency', max_added_latency)
    options.n_threads = count_threads(threads)
    options.exclude_inputs = exclude_inputs
    return options


# The search of `fit` for each runtime that can run the fitted graph.
TARGETS = {'cleave': Cleave.FitPlan.new_watched, 'ort': Cleave.FitPlan.new_for_ort_watched}


def plan_fit(graph, max_memory=None, max_added_macs=None, max_added_latency=None, threads=1, progress=None,
             exclude_inputs=False, target='cleave'):
    """Finds a plan without changing the graph. `fit` explains the arguments. Returns a FitReport."""
    if target not in TARGETS:
        fail(f"target expects 'cleave' or 'ort', not {target!r}")
    cancellable, reporter = new_cancellable(), Progress('search', progress)
    try:
        with errors():
            options = fit_options(max_memory, max_added_macs, max_added_latency, threads, exclude_inputs)
            return call(TARGETS[target], graph, options, cancellable, lambda part, *_: reporter(part),
                        cancellable=cancellable)
    finally:
        reporter.end()


def fit(graph, max_memory=None, max_added_macs=None, max_added_latency=None, threads=1, progress=None,
        exclude_inputs=False, target='cleave'):
    """Splits the graph so that its activations fit into `max_memory` ('256 KiB', '2 MB', or bytes), at the least cost.
    If `max_memory` is None, the split minimizes the memory.

    `max_added_macs` limits the MACs that the split adds, as a fraction of the MACs of the unsplit graph.
    `max_added_latency` limits the added time, as a fraction of the estimated time of the unsplit graph. 0.1 is 10 %, 0
    allows no increase, and None is no limit. `threads` is the number of threads for `compile(threads, as_is=True)`; 0:
    one per core. With `exclude_inputs`, the arena does not include the inputs of the graph. `target` is the runtime
    that runs the result: 'cleave', or 'ort' for ONNX Runtime. With 'ort', `save` writes strips as iterations of a Loop,
    as `cleave fit --for ort` does. `progress` is called with a number from 0 to 1; False shows no progress. Returns a
    FitReport. If `max_memory` is too small, raises a LimitError whose `smallest` is the smallest budget found."""
    plan = plan_fit(graph, max_memory, max_added_macs, max_added_latency, threads, progress, exclude_inputs, target)
    with errors():
        call(plan.apply, graph)
    return plan


def frontier(graph, max_added_macs=None, max_added_latency=None, threads=1, progress=None, exclude_inputs=False):
    """Returns the best plans for all budgets, as a list of FitReports. The plan with the largest arena is the first.
    Each plan needs less memory and costs more than the plan before it. The graph does not change, and
    `FitReport.apply(graph)` applies a plan. `fit` explains the arguments. The plans are for Cleave's own runtime, not
    for ONNX Runtime."""
    cancellable, reporter = new_cancellable(), Progress('search', progress)
    try:
        with errors():
            options = fit_options(None, max_added_macs, max_added_latency, threads, exclude_inputs)
            return list(call(Cleave.FitPlan.new_frontier_watched, graph, options, cancellable, lambda part, *_: reporter(part),
                             cancellable=cancellable))
    finally:
        reporter.end()
