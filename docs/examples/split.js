#!/usr/bin/env gjs
// SPDX-License-Identifier: GPL-2.0-or-later
// split.js MODEL.onnx SPLIT.onnx: splits the last node that can be split by rows in two, three nodes deep.
imports.gi.versions.Cleave = '0.1';
const { Cleave } = imports.gi;

const [from, to] = ARGV;
const graph = Cleave.onnx_load(from, null);
const [, how, constraint] = Cleave.split_parse({ dims: 'H', 'num-chunks': '2' }, '');
const [, recursion] = Cleave.recursion_parse({ depth: '3' }, '');

let last = null;
for (let node = graph.get_first_node(); node !== null; node = node.get_next())
    if (['Conv', 'MaxPool'].includes(node.get_op().get_name()))
        last = node;

const report = Cleave.split_nodes_by_name(graph, [last.get_name()], how, constraint, recursion);
for (let i = 0; i < report.get_n_split(); i++) {
    const split = report.get_split(i);
    print(`${split.name}: ${split.piece_names.join(', ')}`);
}
Cleave.onnx_save(graph, to);
