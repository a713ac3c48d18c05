# SPDX-License-Identifier: GPL-2.0-or-later
"""Reports of splits and fits."""

import os

from ._call import call
from ._library import Cleave, errors

SplitReport = Cleave.SplitReport
FitReport = Cleave.FitPlan
Bundle = Cleave.Bundle


def fields(struct, names):
    return {name: getattr(struct, name) for name in names}


def split_nodes(report):
    """A dictionary from the name of a split node to the list of the names of its pieces."""
    nodes = (report.get_split(i) for i in range(report.get_n_split()))
    return {node.name: list(node.piece_names) for node in nodes}


def range_of(report, index, piece):
    # PyGObject does not convert arrays of structs, so this function parses the text of the range.
    spans = report.get_range(index, piece).to_string()
    return tuple(tuple(int(end) for end in span.split(':')) for span in spans.split(',') if span)


def split_ranges(report):
    """A dictionary from the name of a split node to the ranges of result 0 that its pieces compute. The ranges have the
    order of the pieces in `split`. A range has (begin, end) for each dimension."""
    nodes = [report.get_split(i) for i in range(report.get_n_split())]
    return {node.name: [range_of(report, i, j) for j in range(node.n_pieces)] for i, node in enumerate(nodes)}


def not_split(report):
    """A dictionary from the name of each node that was not split to the reason. The reason is an identifier and a
    sentence."""
    nodes = (report.get_not_split(i) for i in range(report.get_n_not_split()))
    return {node.name: (Cleave.not_split_get_name(node.reason), node.message) for node in nodes}


def split_totals(report):
    return fields(report.get_totals(), (
        'nodes_before', 'nodes_after', 'macs_before', 'macs_after', 'peak_bytes_before', 'peak_bytes_after',
        'n_parallel_subgraphs'))


def describe_split(report):
    totals = report.totals
    return (f'<cleave.SplitReport: {len(report.split)} nodes split, {len(report.not_split)} not; operators '
            f'{totals["nodes_before"]} → {totals["nodes_after"]}, peak {totals["peak_bytes_before"]} → '
            f'{totals["peak_bytes_after"]} bytes>')


def fit_totals(plan):
    return fields(plan.get_totals(), (
        'arena_before', 'arena_after', 'macs_before', 'macs_after', 'nodes_before', 'nodes_after', 'latency_before',
        'latency_after'))


def fit_loops(plan):
    """The results of `fit(target='ort')`; None for plans of other targets. `n_loops` segments become a Loop, `n_pieces` segments
    are split without a Loop, and `n_whole` segments are not split. `bytes_before` and `bytes_after` are the estimated
    bytes of values in ONNX Runtime, before and after the fit. If no segment is split, `bytes_refused` is the estimate of the
    best split, or 0 if the search found none."""
    loops = plan.get_loops()
    return loops and fields(loops, ('n_loops', 'n_pieces', 'n_whole', 'bytes_before', 'bytes_after', 'bytes_refused'))


def describe_fit(plan):
    totals = plan.totals
    return (f'<cleave.FitReport: {plan.get_n_segments()} segments; arena {totals["arena_before"]} → '
            f'{totals["arena_after"]} bytes, MACs {totals["macs_before"]} → {totals["macs_after"]}>')


def bundle_stats(bundle):
    """Sizes in bytes and counts: `arena_bytes`; `unsplit_bytes`, the size of the arena if no layer is split;
    `weight_bytes`, `state_bytes`, `macs`, `n_layers`, and `n_segments`, the number of loops."""
    return fields(bundle.get_stats(), (
        'arena_bytes', 'unsplit_bytes', 'weight_bytes', 'state_bytes', 'macs', 'n_layers', 'n_segments'))


def bundle_files(bundle):
    """The texts of the files, by name."""
    with errors():
        return dict(call(bundle.dup_files))


write_files = Bundle.write  # the library's method, which the method below replaces


def write_bundle(bundle, folder):
    """Writes the files into a folder. Makes the folder if it does not exist, and replaces files of the same names."""
    with errors():
        call(write_files, bundle, os.fspath(folder))


def describe_bundle(bundle):
    stats = bundle.stats
    return (f'<cleave.Bundle: arena {stats["arena_bytes"]} bytes, weights {stats["weight_bytes"]} bytes, '
            f'{stats["n_layers"]} layers in {stats["n_segments"]} loops>')


Bundle.stats = property(bundle_stats, doc=bundle_stats.__doc__)
Bundle.files = property(bundle_files, doc=bundle_files.__doc__)
Bundle.write = write_bundle
Bundle.__str__ = Bundle.print_
Bundle.__repr__ = describe_bundle
SplitReport.split = property(split_nodes, doc=split_nodes.__doc__)
SplitReport.ranges = property(split_ranges, doc=split_ranges.__doc__)
SplitReport.not_split = property(not_split, doc=not_split.__doc__)
SplitReport.totals = property(
    split_totals,
    doc='Nodes, MACs and peak bytes of the whole graph, before and after the split; the number of parallel subgraphs.',
)
SplitReport.__repr__ = describe_split
FitReport.totals = property(fit_totals, doc='Arena bytes, MACs, nodes and latency in nanoseconds, before and after.')
FitReport.loops = property(fit_loops, doc=fit_loops.__doc__)
FitReport.peak = property(FitReport.get_peak, doc='The largest live values at the peak, as text.')
FitReport.__repr__ = describe_fit
