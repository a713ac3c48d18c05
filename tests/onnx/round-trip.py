#!/usr/bin/env python3
# round-trip.py PROGRAM [MODEL...]: PROGRAM imports and exports models (by default the models of libonnx-testdata).
# The exported models must pass ONNX's own checker and contain all information of the originals.
# Prints SKIP without python3-onnx.
import collections
import glob
import os
import subprocess
import sys
import tempfile

try:
    import onnx
    import onnx.numpy_helper
except ImportError:
    # Debian's Python has the package onnx. The tests may run under another Python.
    if sys.executable != '/usr/bin/python3' and os.path.exists('/usr/bin/python3'):
        os.execv('/usr/bin/python3', ['/usr/bin/python3'] + sys.argv)
    print('SKIP round-trip: python3-onnx is not installed')
    sys.exit(77)

failures = []


def check(path, good, what):
    if not good:
        failures.append(f'{path}: {what}')


def dims(info):
    return [d.dim_value if d.HasField('dim_value') else None for d in info.type.tensor_type.shape.dim]


def check_border(path, old, new):
    weights = {t.name for t in old.graph.initializer}
    for kind, before, after in (
            ('inputs', [i for i in old.graph.input if i.name not in weights], new.graph.input),
            ('outputs', old.graph.output, new.graph.output)):
        check(path, [i.name for i in before] == [i.name for i in after], f'names of {kind}')
        for a, b in zip(before, after):
            check(path, a.doc_string == b.doc_string, f'doc string of {a.name}')
            check(path, a.type.tensor_type.elem_type == b.type.tensor_type.elem_type, f'element type of {a.name}')
            if kind == 'inputs':
                check(path, all(x in (None, y) for x, y in zip(dims(a), dims(b))), f'shape of {a.name}')


def check_texts(path, old, new):
    for field in ('producer_name', 'producer_version', 'domain', 'model_version', 'doc_string'):
        if old.HasField(field) and getattr(old, field) not in ('', 0):
            check(path, getattr(old, field) == getattr(new, field), field)
    check(path, old.graph.name in (new.graph.name, ''), 'name of the graph')
    check(path, old.graph.doc_string == new.graph.doc_string, 'doc string of the graph')
    texts = {p.key: p.value for p in new.metadata_props}
    check(path, all(texts.get(p.key) == p.value for p in old.metadata_props), 'metadata')
    sets = {s.domain: s.version for s in new.opset_import}
    for s in old.opset_import:
        if s.domain in ('', 'ai.onnx'):
            check(path, s.version == sets[''] or texts.get('cleave.opset') == str(s.version), 'opset')
        else:
            check(path, sets.get(s.domain) == s.version, f'opset of {s.domain}')


# Checks the nodes of the new file.
# If a node computes a value of the old file, the node must have the name and the operands of the old node.
# Nodes that the import folded or rewrote may be missing.
def check_nodes(path, old, new):
    makers = {name: node for node in old.graph.node for name in node.output if name}
    names = collections.Counter(node.name for node in old.graph.node)
    known = set(makers) | {i.name for i in list(old.graph.input) + list(old.graph.initializer)}
    seen = set()
    for node in new.graph.node:
        was = makers.get(node.output[0])
        if was is None or was.op_type != node.op_type:
            continue
        seen.add(node.output[0])
        if was.name and names[was.name] == 1:
            check(path, node.name == was.name, f'node {was.name} is now {node.name}')
        check(path, node.doc_string == was.doc_string, f'doc string of node {was.name}')
        check(path, list(node.output)[:len(was.output)] == list(was.output)[:len(node.output)], f'results of {was.name}')
        # The export may create constants with new names from attributes. This check ignores operands with new names.
        check(path, {n for n in node.input if n in known} <= set(was.input),
              f'operands of {was.name}: {list(was.input)} are now {list(node.input)}')
    values = {name for node in new.graph.node for name in list(node.output) + list(node.input)}
    infos = {i.name: i for i in new.graph.value_info}
    border = {i.name for i in list(new.graph.input) + list(new.graph.output)}
    for info in old.graph.value_info:
        if info.name in values and info.name not in border:
            check(path, info.name in infos, f'value info of {info.name}')
            if info.name in infos:
                check(path, infos[info.name].doc_string == info.doc_string, f'doc string of {info.name}')
    return len(seen)


def check_initializers(path, old, new):
    before = {t.name: t for t in old.graph.initializer}
    for tensor in new.graph.initializer:
        was = before.get(tensor.name)
        if was is None or was.data_location == onnx.TensorProto.EXTERNAL:
            continue
        a, b = onnx.numpy_helper.to_array(was), onnx.numpy_helper.to_array(tensor)
        check(path, a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes(),
              f'initializer {tensor.name}')
        check(path, was.doc_string == tensor.doc_string, f'doc string of initializer {tensor.name}')
    read = {name for node in new.graph.node for name in node.input}
    kept = {t.name for t in new.graph.initializer}
    for name in before:
        check(path, name not in read or name in kept, f'initializer {name} is read and not there')


def compare(path, out):
    old, new = onnx.load(path, load_external_data=False), onnx.load(out)
    try:
        onnx.checker.check_model(out)
    except Exception as e:
        check(path, False, f'ONNX refuses the written file: {str(e).splitlines()[0]}')
    check_border(path, old, new)
    check_texts(path, old, new)
    check_initializers(path, old, new)
    return check_nodes(path, old, new)


def main():
    program, models = sys.argv[1], sys.argv[2:]
    if not models:
        models = sorted(glob.glob('/usr/share/libonnx-testdata/data/*/*/model.onnx'))
    if not models:
        print('SKIP round-trip: libonnx-testdata is not installed')
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        outs = [os.path.join(folder, f'{i}.onnx') for i in range(len(models))]
        run = subprocess.run([program], input=''.join(f'{m}\t{o}\n' for m, o in zip(models, outs)),
                             capture_output=True, text=True)
        answers = run.stdout.splitlines()
        assert run.returncode == 0 and len(answers) == len(models), run.stderr
        good = [(m, o) for m, o, a in zip(models, outs, answers) if a == 'good']
        nodes = sum(compare(m, o) for m, o in good)
    print(f'{len(good)} of {len(models)} models written, {nodes} nodes compared')
    for failure in failures[:40]:
        print(failure)
    sys.exit(1 if failures or not good else 0)


main()
