# SPDX-License-Identifier: GPL-2.0-or-later
"""Cleave splits neural-network graphs with bit-identical results.

    import cleave
    graph = cleave.load('model.onnx', shapes={'x': (1, 3, 224, 224)})
    report = graph.fit('256 KiB')
    y = graph.compile(threads=2)(x=array)['y']
    graph.save('fitted.onnx')

The classes are the classes of the introspected library, `gi.repository.Cleave`, with Python methods added. All
functions of the C API are in `cleave.Cleave`.
"""

from ._library import Cleave, Error, LimitError, ModelError, NotFoundError, __version__
from ._graph import Graph
from ._load import compile, load, parse
from ._nodes import Node, Operand, Result
from ._program import Port, Program, ShapedProgram, load_program
from ._report import Bundle, FitReport, SplitReport
from ._tensor import Tensor, as_tensor, split_op
from ._tools import Buffer, Difference, Differences, Memory, MemoryStep, Part, Partition, Timeline

__all__ = [
    'Buffer', 'Bundle', 'Cleave', 'Difference', 'Differences', 'Error', 'FitReport', 'Graph', 'LimitError', 'Memory',
    'MemoryStep', 'ModelError', 'Node', 'NotFoundError', 'Operand', 'Part', 'Partition', 'Port', 'Program', 'Result', 'ShapedProgram',
    'SplitReport', 'Tensor', 'Timeline', 'as_tensor', 'compile', 'load', 'load_program', 'parse', 'split_op', '__version__',
]
