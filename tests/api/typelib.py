#!/usr/bin/env python3
# typelib.py CLEAVE: Python loads, splits recursively, draws, saves and runs the MobileNetV2 that the command writes.
# GI_TYPELIB_PATH and LD_LIBRARY_PATH must contain the library.
import array
import os
import random
import subprocess
import sys
import tempfile

try:
    import gi
except ImportError:
    # Debian installs PyGObject for Debian's own Python only.
    if sys.executable != '/usr/bin/python3' and os.access('/usr/bin/python3', os.X_OK):
        os.execv('/usr/bin/python3', ['/usr/bin/python3'] + sys.argv)
    print('SKIP: no python3-gi')
    sys.exit(77)
gi.require_version('Cleave', '0.1')
from gi.repository import Cleave, GLib


def run(graph, data):
    bind = Cleave.Tensor.new_from_bytes(graph.get_input(0).get_type(), GLib.Bytes.new(data))
    result = Cleave.Tensor.new(graph.get_output(0).get_result().get_type())
    program = Cleave.Program.new(graph, None)
    program.bind([bind], [result])
    program.run()
    return result.dup_bytes().get_data()


def main(command):
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        subprocess.run([command, 'demo', '--model', 'model.onnx'], check=True, stdout=subprocess.DEVNULL)
        graph = Cleave.onnx_load('model.onnx', None)
        n, number = graph.get_input(0).get_type().n_bytes() // 4, random.Random(1)
        data = array.array('f', [number.uniform(-1, 1) for _ in range(n)]).tobytes()
        before, nodes = run(graph, data), graph.get_n_nodes()
        how = Cleave.Recursion()
        how.depth = 3
        last = [node for node in graph.get_order() if node.get_op().get_name() == 'Conv'][-1]
        report = Cleave.split_node_recursively(last, Cleave.Tiling.by_num_chunks('H', [2]), None, how)
        assert last.get_graph() is None
        Cleave.clean_up(graph)
        Cleave.dot_save(graph, None, 'after.dot')
        Cleave.onnx_save(graph, 'after.onnx')
        assert report.get_n_split() > 0 and graph.get_n_nodes() > nodes
        assert run(graph, data) == run(Cleave.onnx_load('after.onnx', None), data) == before
    print('typelib: good')


main(os.path.abspath(sys.argv[1]))
