# SPDX-License-Identifier: GPL-2.0-or-later
# Models whose shapes depend on data, as bytes. Each model has an input x of float32.
# The models have NonMaxSuppression, NonZero, Loops until a condition, branches of different shapes, and sequences.
# Some models have older opsets.

import os
import struct
import sys

from onnx_bytes import block, floats, graph, model, node, number, tensor, value_info

INT64, BOOL = 7, 9


def integers(name, values, scalar=False):
    dims = b'' if scalar else number(1, len(values))
    return dims + number(2, INT64) + block(8, name) + block(9, struct.pack(f'<{len(values)}q', *values))


def reals(name, values, dims=None):
    return tensor(name, [len(values)] if dims is None else dims, struct.pack(f'<{len(values)}f', *values))


def truth(name, value):
    return number(2, BOOL) + block(8, name) + block(9, bytes([value]))


def scalar(name):
    return value_info(name, [], BOOL)


# Adds the nodes that compute a box [4] and scores [classes] for each pixel of 8 x 8 features of a picture.
# The boxes are 1x64x4 (corners), the scores 1 x classes x 64.
def head(classes, pads=True):
    nodes = [
        node('Conv', ['x', 'w0'], ['f0'], 'stem', strides=[2, 2], pads=[1, 1, 1, 1]), node('Relu', ['f0'], ['f'], 'relu'),
        node('Conv', ['f', 'w1'], ['places'], 'places'), node('Conv', ['f', 'w2'], ['raw'], 'classes'),
        node('Reshape', ['places', 'to_places'], ['p4'], 'places.flat'), node('Transpose', ['p4'], ['p'], 'places.turned', perm=[0, 2, 1]),
        node('Split', ['p', 'two_two'] if pads else ['p'], ['at', 'size'], 'split', axis=2, **({} if pads else {'split': [2, 2]})),
        node('Abs', ['size'], ['sizes'], 'abs'), node('Add', ['at', 'sizes'], ['end'], 'end'),
        node('Concat', ['at', 'end'], ['boxes'], 'boxes', axis=2),
        node('Reshape', ['raw', 'to_scores'], ['flat'], 'scores.flat'), node('Sigmoid', ['flat'], ['scores'], 'scores')]
    weights = [tensor('w0', [8, 3, 3, 3], floats(216, 1)), tensor('w1', [4, 8, 1, 1], floats(32, 2)),
               tensor('w2', [classes, 8, 1, 1], floats(8 * classes, 3)), integers('to_places', [1, 4, 64]),
               integers('to_scores', [1, classes, 64]), integers('two_two', [2, 2])]
    return nodes, weights if pads else weights[:-1]


def select(max_boxes, score):
    return ([node('NonMaxSuppression', ['boxes', 'scores', 'max_boxes', 'iou', 'score'], ['picked'], 'nms')],
            [integers('max_boxes', [max_boxes]), reals('iou', [0.5]), reals('score', [score])])


X = value_info('x', [1, 3, 16, 16])


def single_class():
    nodes, weights = head(1)
    more, constants = select(10, 0.4)
    nodes += more + [node('Gather', ['picked', 'last'], ['index'], 'index', axis=1), node('Gather', ['boxes', 'index'], ['found'], 'found', axis=1),
                     node('Cast', ['found'], ['half'], 'half', to=10)]
    return model(nodes, [X], [value_info('found', [1, 'n', 4]), value_info('scores', [1, 1, 64])], weights + constants + [integers('last', [2], True)])


def multi_class(opset):
    nodes, weights = head(4, opset >= 13)
    more, constants = select(5, 0.45)
    axes = {'axes': [1]} if opset < 13 else {}
    given = [] if opset < 13 else ['one']
    nodes += more + [
        node('Slice', ['picked', 'one', 'two', 'one'], ['class2'], 'class'), node('Squeeze', ['class2'] + given, ['class'], 'class.flat', **axes),
        node('Slice', ['picked', 'two', 'three', 'one'], ['box2'], 'box'), node('Squeeze', ['box2'] + given, ['box'], 'box.flat', **axes),
        node('Gather', ['boxes', 'box'], ['found'], 'found', axis=1),
        node('GatherND', ['scores', 'picked'], ['confidence'], 'confidence'),
        node('Softmax', ['found'], ['spread'], 'spread', axis=1), node('Unsqueeze', ['confidence'] + given, ['column'], 'column', **axes),
        node('ReduceSum', ['found'] + given, ['sums'], 'sums', keepdims=0, **axes), node('TopK', ['confidence', 'one'], ['best', 'where'], 'best')]
    outputs = [value_info('found', [1, 'n', 4]), value_info('class', ['n'], INT64), value_info('column', ['n', 1]),
               value_info('spread', [1, 'n', 4]), value_info('sums', [1, 4]), value_info('best', [1])]
    return model(nodes, [X], outputs, weights + constants + [integers('one', [1]), integers('two', [2]), integers('three', [3])], opset)


# Returns a detector of two stages: the second stage cuts each found box out of the features, and classifies the box.
def two_stages(opset):
    nodes, weights = head(2)
    more, constants = select(6, 0.4)
    nodes += more + [
        node('Gather', ['picked', 'last'], ['index'], 'index', axis=1), node('Gather', ['boxes', 'index'], ['found1'], 'found', axis=1),
        node('Squeeze', ['found1', 'zero'], ['found'], 'found.flat'), node('Shape', ['index'], ['n'], 'count'),
        node('ConstantOfShape', ['n'], ['batch0'], 'batch'), node('Cast', ['batch0'], ['batch'], 'batch.integers', to=INT64),
        node('RoiAlign', ['f', 'found', 'batch'], ['cut'], 'cut', output_height=4, output_width=4, sampling_ratio=2),
        node('Conv', ['cut', 'w3'], ['deep'], 'second', pads=[1, 1, 1, 1]), node('Relu', ['deep'], ['deeper'], 'second.relu'),
        node('ReduceMean', ['deeper', 'plane'] if opset >= 18 else ['deeper'], ['mean'], 'mean', keepdims=0, **({} if opset >= 18 else {'axes': [2, 3]})),
        node('Gemm', ['mean', 'w4'], ['logits'], 'logits'), node('Softmax', ['logits'], ['odds'], 'odds', axis=1)]
    more = [tensor('w3', [6, 8, 3, 3], floats(432, 4)), tensor('w4', [6, 5], floats(30, 5)), integers('last', [2], True), integers('zero', [0])]
    return model(nodes, [X], [value_info('found', ['n', 4]), value_info('odds', ['n', 5])],
                 weights + constants + more + ([integers('plane', [2, 3])] if opset >= 18 else []), opset)


def mask():
    nodes = [node('Conv', ['x', 'w'], ['y'], 'conv'), node('Greater', ['y', 'zero'], ['above'], 'above'), node('NonZero', ['above'], ['where'], 'where'),
             node('Transpose', ['where'], ['rows'], 'rows', perm=[1, 0]), node('GatherND', ['y', 'rows'], ['values'], 'values'),
             node('Relu', ['y'], ['fallback'], 'fallback'), node('Mul', ['values', 'half'], ['scaled'], 'scaled')]
    return model(nodes, [X], [value_info('fallback', [1, 2, 16, 16]), value_info('scaled', ['n']), value_info('rows', ['n', 4], INT64)],
                 [tensor('w', [2, 3, 1, 1], floats(6, 2)), reals('zero', [0]), reals('half', [0.5])])


def choose():
    nodes = [node('MatMul', ['x', 'w'], ['y'], 'product'), node('ReduceMean', ['y'], ['means'], 'means', axes=[1], keepdims=0),
             node('Greater', ['means', 'zero'], ['keep'], 'keep'), node('Compress', ['y', 'keep'], ['kept'], 'compress', axis=0),
             node('Round', ['kept'], ['whole'], 'round'), node('Unique', ['whole'], ['u', 'first', 'inverse', 'counts'], 'unique', sorted=1)]
    return model(nodes, [value_info('x', [12, 8])], [value_info('kept', ['n', 5]), value_info('u', ['m']), value_info('inverse', ['k'], INT64),
                                                     value_info('counts', ['m'], INT64)],
                 [tensor('w', [8, 5], floats(40, 3)), reals('zero', [0])])


# Returns a model that enlarges a picture to a size that depends on the values of the picture.
def resize(opset):
    nodes = [node('Conv', ['x', 'w'], ['y'], 'conv'), node('Greater', ['y', 'zero'], ['above'], 'above'), node('Cast', ['above'], ['ones'], 'ones', to=1),
             node('ReduceSum', ['ones'], ['sum'], 'count', keepdims=0), node('Mul', ['sum', 'small'], ['less'], 'less')]
    if opset >= 11:
        nodes += [node('Cast', ['less'], ['extent'], 'extent', to=INT64), node('Reshape', ['extent', 'one'], ['extent1'], 'extent.1'),
                  node('Concat', ['one_two', 'extent1', 'twenty'], ['sizes'], 'sizes', axis=0),
                  node('Resize', ['y', '', '', 'sizes'], ['z'], 'resize', mode='linear')]
    else:
        nodes += [node('Add', ['less', 'one_real'], ['factor'], 'factor'), node('Reshape', ['factor', 'one'], ['factor1'], 'factor.1'),
                  node('Ceil', ['factor1'], ['whole'], 'whole'), node('Concat', ['ones2', 'whole', 'whole'], ['scales'], 'scales', axis=0),
                  node('Upsample' if opset < 10 else 'Resize', ['y', 'scales'], ['z'], 'resize', mode='nearest')]
    nodes += [node('Relu', ['z'], ['out'], 'relu')]
    used = [tensor('w', [2, 3, 1, 1], floats(6, 2)), reals('zero', [0]), reals('small', [0.1 if opset >= 11 else 0.005]), integers('one', [1])]
    used += [integers('one_two', [1, 2]), integers('twenty', [20])] if opset >= 11 else [reals('one_real', [1]), reals('ones2', [1, 1])]
    return model(nodes, [X], [value_info('out', [1, 2, 'h', 'w'])], used, opset)


# Returns a model of a greedy search.
# The model appends the most likely token until this token is the last of the alphabet.
def search():
    body = graph(
        [node('Gather', ['ids_in', 'minus'], ['token'], 'token', axis=0), node('Gather', ['table', 'token'], ['e'], 'embed', axis=0),
         node('MatMul', ['e', 'features'], ['h'], 'h'), node('Cast', ['i'], ['ir'], 'ir', to=1), node('Mul', ['ir', 'shift'], ['shifts'], 'shifts'),
         node('Add', ['h', 'shifts'], ['logits'], 'logits'), node('ArgMax', ['logits'], ['next'], 'next', axis=1, keepdims=0),
         node('Concat', ['ids_in', 'next'], ['ids_out'], 'grow', axis=0), node('Squeeze', ['next'], ['next0'], 'next.0'),
         node('Equal', ['next0', 'stop'], ['stops'], 'stops'), node('Not', ['stops'], ['goes_on'], 'goes.on'),
         node('ReduceMax', ['logits'], ['score'], 'score', keepdims=0)],
        [value_info('i', [], INT64), scalar('cond_in'), value_info('ids_in', ['l'], INT64)],
        [scalar('goes_on'), value_info('ids_out', ['m'], INT64), value_info('score', [])])
    nodes = [node('MatMul', ['x', 'w'], ['features'], 'encoder'), node('Loop', ['most', 'yes', 'start'], ['ids', 'scores'], 'search', body=body),
             node('Gather', ['table', 'ids'], ['states'], 'states', axis=0), node('Relu', ['states'], ['y'], 'relu')]
    shift = [(-1) ** k * k / 3 for k in range(7)]
    return model(nodes, [value_info('x', [6, 4])], [value_info('ids', ['l'], INT64), value_info('y', ['l', 6]), value_info('scores', ['k'])],
                 [tensor('w', [4, 7], floats(28, 3)), tensor('table', [7, 6], floats(42, 4)), integers('most', [30], True), truth('yes', 1),
                  integers('start', [1]), integers('minus', [-1]), integers('stop', [6], True), reals('shift', shift, [1, 7])])


def branches():
    then = graph([node('Slice', ['y', 'zero1', 'three'], ['a'], 'cut')], [], [value_info('a', ['n', 4])])
    other = graph([node('Concat', ['y', 'y'], ['b'], 'twice', axis=0)], [], [value_info('b', ['n', 4])])
    nodes = [node('Relu', ['x'], ['y'], 'relu'), node('ReduceSum', ['x'], ['sum'], 'sum', keepdims=0), node('Greater', ['sum', 'zero'], ['large'], 'large'),
             node('If', ['large'], ['chosen'], 'if', then_branch=then, else_branch=other), node('Neg', ['chosen'], ['z'], 'neg')]
    return model(nodes, [value_info('x', [6, 4])], [value_info('z', ['n', 4]), value_info('y', [6, 4])],
                 [reals('zero', [0], []), integers('zero1', [0]), integers('three', [3])])


# Returns a model with a Loop that appends rows to a sequence of tensors.
# The Loop is in the dynamic part, since data decides the number of rows.
# The sequence with which the Loop begins is in the static part.
def sequences():
    body = graph([node('Gather', ['y', 'i'], ['row0'], 'row', axis=0), node('Unsqueeze', ['row0', 'first'], ['row'], 'row.2'),
                  node('SequenceInsert', ['s_in', 'row'], ['s_out'], 'insert'), node('Identity', ['c_in'], ['c_out'], 'same')],
                 [value_info('i', [], INT64), scalar('c_in'), sequence('s_in')], [scalar('c_out'), sequence('s_out')])
    nodes = [node('Relu', ['x'], ['y'], 'relu'), node('NonZero', ['y'], ['where'], 'where'), node('Shape', ['where'], ['counts'], 'shape'),
             node('Gather', ['counts', 'one'], ['n'], 'n'), node('Mod', ['n', 'five'], ['few'], 'few'), node('Add', ['few', 'one'], ['turns'], 'turns'),
             node('SplitToSequence', ['y', 'two'], ['s'], 's', axis=0), node('Loop', ['turns', '', 's'], ['t'], 'loop', body=body),
             node('ConcatFromSequence', ['t'], ['z'], 'join', axis=0), node('SequenceLength', ['t'], ['length'], 'length')]
    return model(nodes, [value_info('x', [6, 4])], [value_info('z', ['n', 4]), value_info('length', [], INT64)],
                 [integers('one', [1], True), integers('five', [5], True), integers('two', [2], True), integers('first', [0])])


def sequence(name):
    return block(1, name) + block(2, block(4, block(1, block(1, number(1, 1)))))


# Returns a model that resizes each found patch to a size of its own and collects the patches in a sequence.
# The model puts the sequence into an optional value, takes the sequence out again, and maps each patch to half the sums of its columns.
def patches():
    body = graph(
        [node('Gather', ['places', 'i'], ['place'], 'place', axis=0), node('Slice', ['place', 'zero1', 'one1'], ['row'], 'row'),
         node('Add', ['row', 'two1'], ['size'], 'size'), node('Concat', ['size', 'two1'], ['sizes'], 'sizes', axis=0),
         node('Resize', ['y', '', '', 'sizes'], ['patch'], 'resize', mode='nearest'),
         node('SequenceInsert', ['s_in', 'patch'], ['s_more'], 'insert'), node('Identity', ['s_more'], ['s_out'], 'same'),
         node('Identity', ['c_in'], ['c_out'], 'same.c')],
        [value_info('i', [], INT64), scalar('c_in'), sequence('s_in')], [scalar('c_out'), sequence('s_out')])
    mapped = graph([node('ReduceSum', ['p', 'zero1'], ['sum'], 'sum'), node('Mul', ['sum', 'half'], ['scaled'], 'scaled')],
                   [value_info('p', ['h', 2])], [value_info('scaled', [1, 2])])
    nodes = [node('Relu', ['x'], ['y'], 'relu'), node('NonZero', ['y'], ['where'], 'where'), node('Transpose', ['where'], ['places'], 'places', perm=[1, 0]),
             node('Shape', ['places'], ['counts'], 'shape'), node('Gather', ['counts', 'zero'], ['n'], 'n'),
             node('SequenceConstruct', ['y'], ['start'], 'start'), node('Loop', ['n', '', 'start'], ['s'], 'loop', body=body),
             node('SequenceErase', ['s', 'zero'], ['found'], 'found'), node('SequenceInsert', ['found', 'two_rows'], ['some'], 'some'),
             node('Optional', ['some'], ['maybe'], 'maybe'), node('OptionalHasElement', ['maybe'], ['is'], 'has'),
             node('OptionalGetElement', ['maybe'], ['taken'], 'taken'), node('SequenceMap', ['taken'], ['sums'], 'map', body=mapped),
             node('ConcatFromSequence', ['sums'], ['z'], 'join', axis=0), node('ConcatFromSequence', ['some'], ['all'], 'rows', axis=0)]
    return model(nodes, [value_info('x', [3, 4])], [value_info('z', ['n', 2]), value_info('all', ['m', 2]), scalar('is')],
                 [integers('zero', [0], True), integers('zero1', [0]), integers('one1', [1]), integers('two1', [2]), reals('half', [0.5]),
                  reals('two_rows', [1, 2, 3, 4], [2, 2])])


# Returns a model with a Scan that sums rows. Data decides the number of rows.
def scan():
    body = graph([node('Add', ['sum_in', 'row'], ['sum_out'], 'add'), node('Identity', ['sum_out'], ['each'], 'same')],
                 [value_info('sum_in', [4]), value_info('row', [4])], [value_info('sum_out', [4]), value_info('each', [4])])
    nodes = [node('Relu', ['x'], ['y'], 'relu'), node('ReduceMax', ['y'], ['top'], 'top', axes=[1], keepdims=0), node('Greater', ['top', 'half'], ['keep'], 'keep'),
             node('Compress', ['y', 'keep'], ['rows'], 'compress', axis=0),
             node('Scan', ['start', 'rows'], ['total', 'sums'], 'scan', body=body, num_scan_inputs=1)]
    return model(nodes, [value_info('x', [6, 4])], [value_info('total', [4]), value_info('sums', ['n', 4])], [reals('start', [0, 1, 2, 3]), reals('half', [0.5])])


STRING, ML = 8, 'ai.onnx.ml'


def strings(name, values):
    return number(1, len(values)) + number(2, STRING) + block(8, name) + b''.join(block(6, value) for value in values)


def of_ml(op, inputs, outputs, name, **attributes):
    return node(op, inputs, outputs, name, **attributes) + block(7, ML)


# Returns a model that maps classes to names, names to numbers, and classes to weights.
# The model also selects columns of its scores.
def labels():
    kinds = ['cat', 'dog', 'Vögel', 'fish']
    nodes = [node('MatMul', ['x', 'w'], ['y'], 'product'), node('ArgMax', ['y'], ['k'], 'class', axis=1, keepdims=0),
             of_ml('LabelEncoder', ['k'], ['label'], 'label', keys_int64s=[0, 1, 2], values_strings=kinds[:3], default_string='?'),
             of_ml('LabelEncoder', ['label'], ['back'], 'back', keys_strings=kinds, values_int64s=[10, 11, 12, 13], default_int64=-5),
             of_ml('LabelEncoder', ['k'], ['weight'], 'weight', keys_int64s=[0, 2], values_int64s=[7, 9], default_int64=1),
             of_ml('ArrayFeatureExtractor', ['y', 'columns'], ['some'], 'some'), node('Relu', ['some'], ['positive'], 'relu')]
    outputs = [value_info('y', [5, 4]), value_info('label', [5], STRING), value_info('back', [5], INT64), value_info('weight', [5], INT64),
               value_info('positive', [5, 2])]
    return model(nodes, [value_info('x', [5, 6])], outputs, [tensor('w', [6, 4], floats(24, 3)), integers('columns', [3, 1])]) + block(8, block(1, ML) + number(2, 2))


# Returns a model that gathers, compares, joins, cuts and changes strings, and makes strings of numbers.
def texts():
    nodes = [node('MatMul', ['x', 'w'], ['y'], 'product'), node('ArgMax', ['y'], ['k'], 'class', axis=1, keepdims=0),
             node('Gather', ['names', 'k'], ['name'], 'name'), node('Equal', ['name', 'cat'], ['is'], 'is'),
             node('Where', ['is', 'other', 'name'], ['which'], 'which'), node('Cast', ['k'], ['digits'], 'digits', to=STRING),
             node('StringConcat', ['which', 'space'], ['begin'], 'begin'), node('StringConcat', ['begin', 'digits'], ['line'], 'line'),
             node('StringSplit', ['line'], ['words', 'counts'], 'words'), node('Cast', ['digits'], ['numbers'], 'numbers', to=INT64),
             node('Unsqueeze', ['line', 'zero'], ['row'], 'row'), node('Concat', ['row', 'row'], ['rows'], 'rows', axis=0),
             node('Compress', ['name', 'is'], ['cats'], 'cats', axis=0), node('Shape', ['cats'], ['many'], 'many'),
             node('StringNormalizer', ['name'], ['loud'], 'loud', case_change_action='UPPER', is_case_sensitive=1, locale='C', stopwords=['dog', 'bird'])]
    outputs = [value_info('which', [5], STRING), value_info('words', [5, 'n'], STRING), value_info('counts', [5], INT64), value_info('numbers', [5], INT64),
               value_info('rows', [2, 5], STRING), value_info('cats', ['n'], STRING), value_info('many', [1], INT64), value_info('loud', ['m'], STRING)]
    constants = [strings('names', ['cat', 'dog', 'bird', 'small fish']), strings('cat', ['cat']), strings('other', ['lynx']), strings('space', [' ']),
                 integers('zero', [0]), tensor('w', [6, 4], floats(24, 3))]
    return model(nodes, [value_info('x', [5, 6])], outputs, constants, 20)


# Returns a model whose input is strings, which a map turns into rows of a table and into other strings.
def words():
    kinds = ['a', 'e', 'i', 'small fish']
    nodes = [of_ml('LabelEncoder', ['word'], ['k'], 'k', keys_strings=kinds, values_int64s=[1, 2, 3, 4], default_int64=0),
             node('Gather', ['table', 'k'], ['row'], 'row'), node('Equal', ['word', 'fish'], ['is'], 'is'),
             node('StringConcat', ['word', 'fish'], ['long'], 'long')]
    outputs = [value_info('row', ['n', 6]), value_info('is', ['n'], BOOL), value_info('long', ['n'], STRING)]
    constants = [tensor('table', [5, 6], floats(30, 3)), strings('fish', ['small fish'])]
    return model(nodes, [value_info('word', [5], STRING)], outputs, constants, 20) + block(8, block(1, ML) + number(2, 2))


# Returns a model with an input of strings and an input of numbers, where a static matrix product reads the numbers.
def words_and_numbers():
    nodes = [node('MatMul', ['x', 'w'], ['y'], 'product'), node('Relu', ['y'], ['z'], 'relu'),
             of_ml('LabelEncoder', ['word'], ['k'], 'k', keys_strings=['a', 'e', 'i'], values_int64s=[1, 2, 3], default_int64=0),
             node('Gather', ['table', 'k'], ['row'], 'row'), node('Add', ['row', 'z'], ['sum'], 'sum')]
    return model(nodes, [value_info('x', [5, 6]), value_info('word', [5, 1], STRING)], [value_info('z', [5, 4]), value_info('sum', [5, 5, 4])],
                 [tensor('w', [6, 4], floats(24, 3)), tensor('table', [5, 4], floats(20, 7))]) + block(8, block(1, ML) + number(2, 2))


# Returns a model with a matrix product in the dynamic part, large enough that Cleave compiles a program for it.
def product():
    nodes = [node('ReduceMax', ['x'], ['top'], 'top', axes=[1], keepdims=0), node('Greater', ['top', 'limit'], ['keep'], 'keep'),
             node('Compress', ['x', 'keep'], ['rows'], 'compress', axis=0), node('MatMul', ['rows', 'w'], ['y'], 'product')]
    return model(nodes, [value_info('x', [300, 200])], [value_info('y', ['n', 250])],
                 [tensor('w', [200, 250], floats(50000, 3)), reals('limit', [0.5])])


MODELS = {
    'single-class': single_class(), 'multi-class': multi_class(17), 'multi-class-opset-11': multi_class(11), 'two-stages': two_stages(17),
    'two-stages-opset-19': two_stages(19), 'mask': mask(), 'choose': choose(), 'resize': resize(13), 'resize-opset-10': resize(10),
    'resize-opset-9': resize(9), 'search': search(), 'branches': branches(), 'sequences': sequences(), 'scan': scan(),
    'product': product(), 'patches': patches(), 'labels': labels(), 'texts': texts(), 'words': words(),
    'words-and-numbers': words_and_numbers(),
}


if __name__ == '__main__':
    for name, data in MODELS.items():
        with open(os.path.join(sys.argv[1], name + '.onnx'), 'wb') as file:
            file.write(data)
