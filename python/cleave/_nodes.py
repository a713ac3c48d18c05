# SPDX-License-Identifier: GPL-2.0-or-later
"""Properties and methods of nodes, operands and results."""

from ._library import Cleave
from ._tensor import dtype_of, element_name, shape_of, to_numpy

Node, Operand, Result = Cleave.Node, Cleave.Operand, Cleave.Result


def attrs_of(node):
    """The attributes with their defaults, as a new dictionary by ONNX name."""
    return node.dup_attrs_variant().unpack()


def operands_of(node):
    return [node.get_operand(i).get_result() for i in range(node.get_n_operands())]


def results_of(node):
    return [node.get_result(i) for i in range(node.get_n_results())]


def constant_of(node):
    """The value of a constant as a read-only array; None for other nodes."""
    tensor = node.get_constant()
    return None if tensor is None else to_numpy(tensor)


def uses_of(result):
    """The uses of a value, as a list of Operands. If an output of the graph uses the value, `Operand.node` is None."""
    uses, use = [], result.get_first_use()
    while use is not None:
        uses.append(use)
        use = use.get_next_use()
    return uses


Node.name = property(Node.get_name, doc='The name.')
Node.op = property(lambda self: self.get_op().get_name(), doc='The name of the op, as in ONNX.')
Node.attrs = property(attrs_of, doc=attrs_of.__doc__)
Node.operands = property(operands_of, doc='The operands, as a list of Results; None for an absent operand.')
Node.results = property(results_of, doc='The results, as a list.')
Node.constant = property(constant_of, doc=constant_of.__doc__)
Node.shape = property(lambda self: self.get_result(0).shape, doc='The shape of result 0.')
Node.macs = property(Node.get_macs, doc='Multiply-accumulates.')
Node.__repr__ = lambda self: f'<cleave.Node {self.name!r}: {self.op} {self.get_result(0).get_type().to_string()}>'
Node.__hash__ = lambda self: hash(self.get_name())
Result.__hash__ = lambda self: hash((self.get_node().get_name(), self.get_index()))
Operand.node = property(Operand.get_node, doc='The node that reads the value; None for an output of the graph.')
Operand.result = property(Operand.get_result, doc='The value that the node reads.')
Result.name = property(Result.dup_name, doc='The name of the value.')
Result.node = property(Result.get_node, doc='The node that computes the value.')
Result.shape = property(lambda self: shape_of(self.get_type()), doc='Extents, outermost first.')
Result.element = property(lambda self: element_name(self.get_type()), doc='The name of the element type.')
Result.dtype = property(lambda self: dtype_of(self.get_type()),
    doc='The numpy.dtype of arrays of this value; uint16 for bfloat16.')
Result.uses = property(uses_of, doc=uses_of.__doc__)
Result.__repr__ = lambda self: f'<cleave.Result {self.name!r}: {self.get_type().to_string()}>'
