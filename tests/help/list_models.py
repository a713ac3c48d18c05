# SPDX-License-Identifier: GPL-2.0-or-later
# Models with inputs and outputs that are sequences or optional values, as bytes.
# Each case has two models: one with lists, and one whose inputs and outputs are the tensors of these lists.
# The model with tensors is for the package of ONNX Runtime for Node.js, which takes tensors only.

import os
import sys

from dynamic_models import INT64, integers, reals, scalar, sequence
from onnx_bytes import block, floats, graph, model, node, number, tensor, value_info

FLOAT = 1


def tensor_type(dims, element=FLOAT):
    shape = b''.join(block(1, number(1, d) if isinstance(d, int) else block(2, d)) for d in dims)
    return block(1, number(1, element) + block(2, shape))


def sequence_type(of):
    return block(4, block(1, of))


def optional_type(of):
    return block(9, block(1, of))


def value(name, kind):
    return block(1, name) + block(2, kind)


# Returns nodes that make the list `name` of `n` tensors, and the inputs for these tensors. `n` None: an absent value.
def wrap_input(name, n, dims, optional=None):
    items = [f'{name}.{i}' for i in range(n or 0)]
    inputs = [value_info(item, dims) for item in items]
    if optional == 'tensor':
        # the attribute `type` of an absent value is a TypeProto
        kind = b'' if items else block(5, block(1, 'type') + block(14, tensor_type(dims)) + number(20, 13))
        made = [node('Optional', items, [name], f'{name}.make') + kind]
    elif n:
        made = [node('SequenceConstruct', items, [name], f'{name}.make')]
    else:
        made = [node('SequenceEmpty', [], [name], f'{name}.make', dtype=FLOAT)]
    return made, inputs


# Replaces an output that is a list (an ONNX sequence) of `n` tensors by outputs that are tensors.
# Returns the nodes that compute the length of the list `name` and take the tensors out of this list.
# Also returns the new outputs (the length and the tensors of the list) and the constants that the nodes read.
def wrap_output(name, n, element=FLOAT):
    nodes = [node('SequenceLength', [name], [f'{name}.length'], f'{name}.count')]
    outputs = [value_info(f'{name}.length', [], INT64)]
    constants = []
    for i in range(n):
        constants.append(integers(f'{name}.at.{i}', [i], True))
        nodes.append(node('SequenceAt', [name, f'{name}.at.{i}'], [f'{name}.{i}'], f'{name}.take.{i}'))
        outputs.append(value(f'{name}.{i}', block(1, number(1, element))))
    return nodes, outputs, constants


# Returns a case: the model with lists, and the model with tensors.
# Also returns the number and the shape of the tensors of each list input.
def case(nodes, inputs, outputs, constants, wrapped_inputs, wrapped_outputs, shapes):
    before = [one for nodes_of, _ in wrapped_inputs for one in nodes_of]
    after = [one for nodes_of, _, _ in wrapped_outputs for one in nodes_of]
    tensors = [one for _, ins in wrapped_inputs for one in ins]
    found = [one for _, outs, _ in wrapped_outputs for one in outs]
    more = [one for _, _, cs in wrapped_outputs for one in cs]
    lists = [name for name, _ in inputs if name]
    whole = model(nodes, [one for _, one in inputs], [one for _, one in outputs], constants, 17)
    plain = model(before + nodes + after, [one for name, one in inputs if not name] + tensors,
                  [one for name, one in outputs if not name] + found, constants + more, 17)
    return whole, plain, dict(zip(lists, shapes))


X = value_info('x', [6, 4])
WEIGHTS = [tensor('w', [4, 4], floats(16, 3))]


# The model appends a tensor of a static shape, the Relu of x * w, to a sequence.
# The model then scales each tensor of the sequence by 0.5, and joins all tensors.
def grows(n):
    body = graph([node('Mul', ['p', 'half'], ['q'], 'scale')], [value_info('p', ['h', 4])], [value_info('q', ['h', 4])])
    nodes = [node('MatMul', ['x', 'w'], ['y'], 'product'), node('Relu', ['y'], ['z'], 'relu'),
             node('SequenceInsert', ['s', 'z'], ['more'], 'insert'), node('SequenceMap', ['more'], ['t'], 'map', body=body),
             node('ConcatFromSequence', ['t'], ['joined'], 'join', axis=0)]
    outputs = [(None, value_info('z', [6, 4])), ('t', sequence('t')), (None, value_info('joined', ['m', 4]))]
    return case(nodes, [(None, X), ('s', value('s', sequence_type(tensor_type(['h', 4]))))], outputs, WEIGHTS + [reals('half', [0.5])],
                [wrap_input('s', n, [5, 4])], [wrap_output('t', n + 1)], [(n, [5, 4])])


# The model cuts a tensor of a static shape into a sequence of three tensors. The sequence is an output.
def cut():
    nodes = [node('MatMul', ['x', 'w'], ['y'], 'product'), node('Relu', ['y'], ['z'], 'relu'),
             node('SplitToSequence', ['z', 'two'], ['t'], 'cut', axis=0)]
    return case(nodes, [(None, X)], [('t', sequence('t'))], WEIGHTS + [integers('two', [2], True)], [], [wrap_output('t', 3)], [])


# An optional bias is added if it is present.
def bias(n):
    then = graph([node('OptionalGetElement', ['o'], ['b'], 'get'), node('Add', ['y', 'b'], ['with'], 'add')], [], [value_info('with', [6, 4])])
    other = graph([node('Neg', ['y'], ['without'], 'neg')], [], [value_info('without', [6, 4])])
    nodes = [node('MatMul', ['x', 'w'], ['y'], 'product'), node('OptionalHasElement', ['o'], ['has'], 'has'),
             node('If', ['has'], ['z'], 'if', then_branch=then, else_branch=other)]
    return case(nodes, [(None, X), ('o', value('o', optional_type(tensor_type([6, 4]))))],
                [(None, value_info('z', [6, 4])), (None, scalar('has'))], WEIGHTS, [wrap_input('o', n, [6, 4], 'tensor')], [],
                [(n, [6, 4])])


CASES = {'grows-0': grows(0), 'grows-1': grows(1), 'grows-3': grows(3), 'cut': cut(), 'bias': bias(1), 'bias-absent': bias(None)}


if __name__ == '__main__':
    import json
    for name, (whole, plain, shapes) in CASES.items():
        for ending, data in (('lists', whole), ('tensors', plain)):
            with open(os.path.join(sys.argv[1], f'{name}.{ending}.onnx'), 'wb') as file:
                file.write(data)
        with open(os.path.join(sys.argv[1], name + '.json'), 'w') as file:
            json.dump({key: {'n': n, 'shape': shape} for key, (n, shape) in shapes.items()}, file)
