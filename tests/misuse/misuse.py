#!/usr/bin/env python3
# misuse.py ROOT CASES DEPFILE: reads the public headers and the documentation of their functions.
# Writes a table of calls in C: each function with valid arguments, and with one invalid argument.
# misuse.c runs the calls of the table.
#
# Expected results of a call. GOOD: the function neither complains nor fails.
# REFUSED: the function complains or fails. ALIVE: the function returns.
import glob
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'help'))
from public_headers import Headers  # noqa: E402

HANDLES = ('CleaveGraph', 'CleaveNode', 'CleaveOperand', 'CleaveResult')

# Valid arguments by type. `world` is a variable of misuse.c.
VALUES = {
    'CleaveGraph': 'world.graph', 'CleaveNode': 'world.node', 'CleaveOperand': 'world.operand',
    'CleaveResult': 'world.x', 'CleaveTensor': 'world.tensor', 'CleaveOp': 'cleave_op_lookup ("Relu")',
    'CleaveTiling': 'world.tiling', 'CleaveSplitReport': 'a_report ()', 'CleaveProgram': 'a_program ()',
    'CleaveFitPlan': 'a_fit_plan ()', 'CleavePartition': 'a_partition ()', 'CleaveBundle': 'a_bundle ()',
    'CleaveOnnxDynamic': 'a_dynamic ()', 'CleaveShapedProgram': 'a_shaped_program ()',
    'CleaveDynamicProgram': 'a_dynamic_program ()',
    'CleaveShapedStats': '&(CleaveShapedStats){ 0 }',
    'CleavePlacement': 'a_placement ()', 'CleavePlan': 'a_plan ()', 'CleaveProfile': 'cleave_program_profile (a_program (), 1)',
    'CleaveProgramStats': '&(CleaveProgramStats){ 0 }', 'GBytes': 'a_model ()', 'char': '"name"',
    'gboolean': '&(gboolean){ FALSE }', 'guint': '&(guint){ 1 }', 'gint64': '(const gint64[]){ 4, 4 }',
    'gconstpointer': 'NULL', 'GHashTable': 'world.texts', 'CleavePassInfo': 'cleave_pass_lookup ("split")',
    'CleavePipeline': 'world.pipeline', 'CleavePipelineObserver': 'NULL', 'gpointer': 'NULL',
    'CleaveReduceTest': 'always', 'GVariant': 'a_plan_data ()',
    'CleaveMemoryTimeline': 'cleave_memory_timeline_new (world.graph, 1, NULL)',
    'CleaveFrames': 'cleave_frames_new (world.graph, NULL)', 'CleaveDotLayout': 'a_layout ()',
}
FOREIGN = {'CleaveGraph': 'world.other', 'CleaveNode': 'world.other_node', 'CleaveOperand': 'world.other_operand',
           'CleaveResult': 'world.other_x'}

# Valid structs by type: the initializer between the braces. All other fields are zero.
STRUCTS = {
    'CleaveNetwork': '2, 1, 1e9, 1e-5', 'CleaveTransport': 'NULL, a_begin, a_wait, a_begin, a_wait',
    'CleaveShape': '3, { 4, 8, 8 }', 'CleaveTensorType': 'CLEAVE_FLOAT32, { 2, { 4, 4 } }',
    'CleaveRange': '2, { { 0, 4 }, { 0, 2 } }', 'CleaveInts': '4, { 0, 1, 2, 3 }',
    'CleaveRecursion': '.depth = 2', 'CleavePass': '"pass", cleave_pass_remove_dead, NULL',
    'CleavePassOption': '"name", "VALUE", "summary", FALSE', 'CleaveSplitRequest': 'world.node, world.tiling, NULL', 'CleaveDotPiece': 'world.node, { 0 }, { 0 }',
    'CleaveOnnxShape': '"x", { 4, { 1, 4, 8, 8 } }', 'CleaveOnnxGiven': '"x", world.image',
    'CleavePoolAttrs': '.kernel_shape = { 2, { 2, 2 } }', 'CleavePadAttrs': '.pads = { 8, { 0 } }',
    'CleaveLrnAttrs': '.size = 3, .bias = 1, .alpha = 1, .beta = 1', 'CleaveTopkAttrs': '.k = 2, .axis = 1',
    'CleaveResizeAttrs': '.scales = { 4, { 1, 1, 2, 2 } }', 'CleaveDepthAttrs': '.blocksize = 2',
    'CleaveSliceAttrs': '.starts = { 1, { 1 } }, .ends = { 1, { 3 } }, .axes = { 1, { 2 } }',
    'CleaveLayerNormAttrs': '.axis = 3, .stash_type = 1', 'CleaveRecurrentAttrs': '.hidden_size = 4',
    'CleaveSplitAttrs': '.axis = 0, .sizes = world.sizes',
    'CleaveSplitOnednn': '.num_splits = (const gint64[]){ 2 }, .size_split = (const gint64[]){ 2 }, '
                         '.sections_split = (const gint64[]){ 4 }, .n_sections_split = 1',
    'CleaveSplitTensorflow': '.size_splits = (const gint64[]){ 4 }, .n_size_splits = 1',
    'CleaveSplitPytorch': '.sections = (const gint64[]){ 4 }, .n_sections = 1',
    'CleaveSplitOnnx': '.opset = 13, .n_outputs = 1, .split = (const gint64[]){ 4 }, .n_split = 1',
    'CleaveSliceXla': '{ 0, 0 }, { 4, 4 }, { 1, 1 }',
}
# Fields of structs that may be NULL. Functions must refuse NULL in all other pointers and callbacks of structs.
MAY_BE_NULL = {
    'CleaveSplitRequest.constraint', 'CleaveConstraint.predicate', 'CleaveConstraint.data', 'CleaveConstraint.watch',
    'CleaveConstraint.watch_data', 'CleaveConstraint.cancellable', 'CleaveOnnxOptions.dims', 'CleavePass.options', 'CleavePassOption.value', 'CleaveFitOptions.cancellable', 'CleaveFitOptions.watch',
    'CleaveFitOptions.watch_data',
    'CleaveBundleOptions.name', 'CleaveBundleOptions.inputs', 'CleaveBundleOptions.outputs', 'CleaveBundleOptions.memories',
    'CleaveBundleOptions.states', 'CleaveBundleIo.name',
    'CleaveOnnxShape.name', 'CleaveOnnxGiven.name', 'CleaveSplitOnednn.num_splits', 'CleaveSplitOnednn.size_split',
    'CleaveSplitOnednn.sections_split', 'CleaveSplitTensorflow.num_splits', 'CleaveSplitTensorflow.num',
    'CleaveSplitPytorch.split_size', 'CleaveSplitOnnx.axis', 'CleaveSplitOnnx.num_outputs',
    'CleaveSplitRequest.split', 'CleaveTransport.data', 'CleaveDotOptions.pieces', 'CleaveDotOptions.around', 'CleaveDotOptions.ranks', 'CleaveDotOptions.rank_word', 'CleaveOnnxOptions.shapes', 'CleaveOnnxOptions.values',
    'CleaveSplitOnnx.split',
}
# Functions that store a struct without a check. Other functions check the struct when they read it.
LATER = {'cleave_tiling_by_slice_ranges'}
# Numbers that no function refuses, since a large number only causes more work.
WORK = {'cleave_program_profile.n_runs'}

# Valid arguments of a function, by FUNCTION.ARGUMENT. Invalid arguments have a ! after the name.
IMAGE = '(const CleaveTensorType[]){ { CLEAVE_FLOAT32, { 4, { 1, 4, 8, 8 } } } }'
ARGUMENTS = {
    'cleave_graph_parse.text': '"%x = Input : float32 4"', 'cleave_graph_load_text.path': 'world.text',
    'cleave_graph_save_program.path': 'world.out', 'cleave_graph_save_program.path!': ['"/nonsense/x.plan"'],
    'cleave_program_load.path': 'world.saved', 'cleave_program_load.path!': ['""', '"/"', 'world.model'],
    'cleave_program_load.model': 'NULL', 'cleave_program_load.model!': ['"/nonsense"'],
    'cleave_program_load.graph': '&(CleaveGraph *){ NULL }',
    'cleave_graph_save_text.path': 'world.out', 'cleave_graph_load_text.path!': ['""', '"/"', '"/nonsense"'],
    # The last part needs the results of the two strips, so there are parts that run before the last part.
    'cleave_partition_get_before.index': 'cleave_partition_get_n_parts (a_partition ()) - 1',
    'cleave_partition_get_before.number': '0',
    'cleave_graph_reduce.passes': '"clean-up"', 'cleave_graph_reduce.reduced_passes': 'NULL',
    'cleave_graph_reduce.test!': ['NULL'],
    'cleave_graph_load.path': 'world.model', 'cleave_graph_load.path!': ['""', '"/"', '"/nonsense"'],
    'cleave_graph_load_bytes.folder': 'world.folder', 'cleave_graph_load_bytes.bytes!': ['g_bytes_new_static (world.numbers, 64)'],
    'cleave_shaped_program_new.path': 'world.model', 'cleave_shaped_program_new.path!': ['""', '"/"', '"/nonsense"'],
    'cleave_shaped_program_run.inputs': '&world.image',
    'cleave_tflite_load.path': 'world.tflite', 'cleave_tflite_load.path!': ['""', '"/"', '"/nonsense"', 'world.model'],
    'cleave_tflite_add_memory_plan.bytes': 'a_tflite_model ()', 'cleave_tflite_add_memory_plan.n_bytes': '(gint64[]){ 0 }',
    'cleave_tflite_parse.bytes': 'a_tflite_model ()', 'cleave_tflite_parse.bytes!': ['a_model ()', 'g_bytes_new_static (world.numbers, 64)'],
    'cleave_graph_parse.text!': ['"%x"'], 'cleave_graph_save_text.path!': ['"/nonsense/x.cleave"'],
    'cleave_dot_save.path': 'world.out', 'cleave_onnx_save.path': 'world.out', 'cleave_onnx_load.path': 'world.model',
    'cleave_onnx_save_with_data.path': 'world.out', 'cleave_onnx_save_with_data.data_path': 'world.data',
    'cleave_onnx_save_with_data.location': '"data"', 'cleave_onnx_parse.folder': 'world.folder',
    'cleave_onnx_parse_tensor.bytes': 'a_tensor_proto ()',
    'cleave_tensor_new_from_bytes.bytes': 'g_bytes_new_static (world.numbers, 64)',
    'cleave_placement_new_by_node.n_ranks': '2', 'cleave_placement_new_by_node.ranks': '(const guint[64]){ 0, 1 }',
    'cleave_placement_new_by_node.n_nodes': 'cleave_graph_get_n_nodes (world.graph)',
    'cleave_placement_new_by_node.n_nodes!': ['0', '1', 'G_MAXUINT'],
    'cleave_placement_get_message.index': '0', 'cleave_placement_build.rank': '1', 'cleave_placement_estimate.rank': '1',
    'cleave_tensor_new_copy.data': 'world.numbers',
    'cleave_tensor_new_borrowed.memory': 'world.numbers', 'cleave_tensor_new_borrowed.release': 'g_free',
    'cleave_text_find_nearest.words': '(const char *const[]){ "names", NULL }',
    'cleave_onnx_set_node_docs.names': '(const char *const[]){ "relu", NULL }',
    'cleave_onnx_set_node_docs.docs': '(const char *const[]){ "a piece", NULL }',
    'cleave_onnx_options_add_shape.options': 'cleave_onnx_options_new ()',
    'cleave_onnx_options_add_value.options': 'cleave_onnx_options_new ()',
    'cleave_onnx_options_add_dim.options': 'cleave_onnx_options_new ()',
    'cleave_onnx_dynamic_run.names': '(const char *const[]){ "x" }', 'cleave_onnx_dynamic_run.compute': 'NULL',
    'cleave_onnx_dynamic_run.values': '&world.tensor',
    'cleave_dynamic_program_run.names': '(const char *const[]){ "x" }', 'cleave_dynamic_program_run.values': '&world.tensor',
    'cleave_onnx_options_free.options': 'cleave_onnx_options_new ()',
    'cleave_bundle_new.graph': 'a_pooling ()', 'cleave_bundle_new_from_texts.graph': 'a_pooling ()',
    'cleave_bundle_new_from_texts.options': '(const char *const[]){ "kernels=c", NULL }',
    'cleave_partition_new_at.values': '(const char *const[]){ NULL }',
    'cleave_partition_find.partition': 'cleave_partition_new (world.graph, NULL)',
    'cleave_partition_new_by_count.n_parts': '1', 'cleave_partition_new_by_count.n_parts!': ['0', '1001', 'G_MAXUINT'],
    'cleave_partition_new_by_bytes.max_bytes': '1 << 20', 'cleave_partition_new_by_bytes.max_bytes!': ['0', '-1', '1', 'G_MININT64'],
    'cleave_partition_measure.weight_bytes': '&(gint64){ 0 }', 'cleave_partition_measure.arena_bytes': '&(gint64){ 0 }',
    'cleave_graph_extract.from': 'NULL', 'cleave_graph_extract.to': 'NULL',
    'cleave_fit_plan_new_frontier_watched.watch': 'NULL', 'cleave_fit_plan_new_frontier_watched.cancellable': 'NULL',
    'cleave_fit_plan_new_watched.watch': 'NULL', 'cleave_fit_plan_new_watched.cancellable': 'NULL',
    'cleave_fit_plan_new_for_ort_watched.watch': 'NULL', 'cleave_fit_plan_new_for_ort_watched.cancellable': 'NULL',
    'cleave_split_nodes_by_name.names': '(const char *const[]){ "relu", NULL }', 'cleave_dot_render.format': '"dot"',
    'cleave_dot_layout_new.sizes': '(const double[]){ 9, 9, 9, 9 }', 'cleave_dot_layout_new.n_sizes': '4',
    'cleave_dot_layout_new.edges': '(const guint[]){ 0, 1 }', 'cleave_dot_layout_new.n_edges': '2',
    'cleave_dot_layout_get_route.edge': '0',
    'cleave_node_unref.node': 'cleave_node_ref (world.node)', 'cleave_result_unref.result': 'cleave_result_ref (world.x)',
    'cleave_operand_unref.operand': 'cleave_operand_ref (world.operand)',
    'cleave_graph_remove.node': 'world.unused', 'cleave_graph_find_node.name': '"relu"', 'cleave_graph_select_node.name': '"relu"',
    'cleave_node_take_names.from': 'world.unused', 'cleave_result_replace_uses.with': 'world.same',
    'cleave_operand_set.result': 'world.same',
    'cleave_graph_add_assemble.ranges': '(const CleaveRange[]){ CLEAVE_RANGE (0, 1, 0, 4, 0, 8, 0, 8) }',
    'cleave_graph_add_conv.w': 'world.kernel', 'cleave_graph_add_conv.b': 'world.vector',
    'cleave_graph_add_pool.op': '"MaxPool"', 'cleave_graph_add_global_pool.op': '"GlobalAveragePool"',
    'cleave_graph_add_gemm.a': 'world.matrix', 'cleave_graph_add_gemm.b': 'world.matrix',
    'cleave_graph_add_gemm.c': 'world.matrix',
    'cleave_graph_add_unary.op': '"Relu"', 'cleave_graph_add_binary.op': '"Add"',
    'cleave_graph_add_split.sizes': '(const gint64[]){ 4 }',
    'cleave_graph_add_split.axis': '1', 'cleave_graph_add_slice_range.range':
        '(const CleaveRange[]){ CLEAVE_RANGE (0, 1, 0, 2, 0, 8, 0, 8) }',
    'cleave_graph_add_reshape.shape': '&CLEAVE_INTS (4, 64)',
    'cleave_split_op_from_openvino_split.axis': 'world.scalar',
    'cleave_split_op_from_openvino_variadic.axis': 'world.scalar',
    'cleave_split_op_from_openvino_variadic.split_lengths': 'world.lengths',
    'cleave_split_op_from_texts.operator_name': '"openvino-split"', 'cleave_split_op_from_texts.arguments': 'split_arguments ()',
    'cleave_split_op_from_texts.operator_name!': ['""', '"x"'],
    'cleave_split_op_from_directml.output_count': '1', 'cleave_tiling_by_num_chunks.dims': '"2"',
    'cleave_tiling_by_num_chunks.counts': '(const gint64[]){ 2 }',
    'cleave_tiling_by_chunk_sizes.sizes': '(const gint64 *const[]){ (const gint64[]){ 4, 4 } }',
    'cleave_tiling_by_chunk_sizes.n_sizes': '(const guint[]){ 2 }',
    'cleave_tiling_by_chunk_sizes_along.sizes': '(const gint64[]){ 4, 4 }', 'cleave_tiling_by_chunk_sizes_along.n_sizes': '2',
    'cleave_tiling_by_chunk_weights_along.weights': '(const double[]){ 4, 4 }',
    'cleave_tiling_by_chunk_weights_along.n_weights': '2',
    'cleave_tiling_by_chunk_weights.weights': '(const double *const[]){ (const double[]){ 4, 4 } }',
    'cleave_tiling_by_chunk_weights.n_weights': '(const guint[]){ 2 }',
    'cleave_tiling_get_ranges.letters': '"CHW"', 'cleave_pass_split_for_threads.options': 'world.texts', 'cleave_pass_lookup.name': '"remove-dead"',
    'cleave_pipeline_parse.text': '"clean-up"', 'cleave_text_to_int.text': '"1"', 'cleave_text_to_int.min': '0',
    'cleave_text_to_int.max': '9', 'cleave_text_to_size.text': '"64KiB"', 'cleave_text_to_int.value': '&(gint64){ 0 }', 'cleave_text_to_max_added.text': '"10"', 'cleave_text_to_max_added.fraction': '&(double){ 0 }', 'cleave_text_to_size.bytes': '&(gint64){ 0 }', 'cleave_text_to_shape.text': '"1,2"',
    'cleave_split_parse.split': '&(CleaveTiling *){ NULL }', 'cleave_pass_info_get_option.index': '0',
    'cleave_pass_register.name': '"own"', 'cleave_pass_register.run': 'cleave_pass_remove_dead',
    'cleave_pass_register.name!': ['""', '"a pass"', '"repeat"', '"split"'], 'cleave_pass_register.run!': ['NULL'],
    'cleave_pass_load.path': 'PASS_MODULE', 'cleave_pass_load.path!': ['""', '"/"', '"/nonsense"', 'world.model'],
    'cleave_tensor_get_base.range': '&(CleaveRange){ 0 }', 'cleave_ranges_cover.missing': '&(CleaveRange){ 0 }',
    'cleave_program_bind.inputs': '&world.image', 'cleave_program_bind.outputs': '&world.result',
    'cleave_split_attrs_free.attrs': 'cleave_split_attrs_new (&CLEAVE_TYPE (CLEAVE_BOOL, 4), 0, (const gint64[]){ 4 }, 1, NULL)',
    'cleave_op_lookup.name': '"Relu"', 'cleave_range_from_bounds.bounds': '(const gint64[]){ 0, 4 }',
    'cleave_range_new.bounds': '(const gint64[]){ 0, 4 }', 'cleave_range_new.n_bounds': '2',
    'cleave_range_new.n_bounds!': ['3', '18', 'G_MAXUINT'],
    'cleave_range_from_bounds.n_bounds': '2', 'cleave_range_from_bounds.n_bounds!': ['3', '18', 'G_MAXUINT'],
    'cleave_split_attrs_new.sizes': '(const gint64[]){ 4 }', 'cleave_tiling_by_search.dims': '"2"',
    'cleave_graph_add.n_results!': ['0', '2', '1000000', 'G_MAXUINT'],
    'cleave_graph_add.op!': ['cleave_op_lookup ("Constant")', 'cleave_op_lookup ("Input")',
                             'cleave_op_lookup ("Assemble")', 'cleave_op_lookup ("Range")',
                             'cleave_op_lookup ("Conv")'],
    'cleave_operand_set.result!': ['world.vector'], 'cleave_result_replace_uses.with!': ['world.vector', 'world.x'],
    'cleave_graph_remove.node!': ['world.node'], 'cleave_graph_add_input.name!': ['"x"'],
    'cleave_graph_add_output.name!': ['"y"'], 'cleave_onnx_load.path!': ['""', '"/"', '"/nonsense"'],
    'cleave_dot_save.path!': ['""', '"/nonsense/x.dot"'], 'cleave_onnx_save.path!': ['""', '"/nonsense/x.onnx"'],
    'cleave_tensor_new_from_bytes.bytes!': ['g_bytes_new_static (world.numbers, 8)'],
    'cleave_onnx_parse.bytes!': ['g_bytes_new_static (world.numbers, 64)'],
}


# Returns the entries of a list. Each list of a valid call has three entries.
def entries(value):
    return ', '.join([value] * 3)


def read_documents(root):
    documents, files = {}, []
    for folder in ('lib/**', 'passes/**', 'include/**'):
        for name in sorted(glob.glob(f'{root}/{folder}/*.[ch]', recursive=True)):
            files.append(name)
            with open(name, encoding='utf-8') as f:
                for m in re.finditer(r'/\*\*\n \* (cleave_\w+):.*?\n(.*?)\*/', f.read(), re.S):
                    documents[m[1]] = dict(re.findall(r'\* @(\w+): ?((?:\((?:[^()]|\([^()]*\))*\) ?)*)', m[2]))
    return documents, files


class Generator:
    def __init__(self, root):
        self.headers = Headers(root)
        self.documents, self.files = read_documents(root)
        self.cases = []

    # Returns the type without const and stars, and the number of stars.
    @staticmethod
    def base(kind):
        return re.sub(r'\bconst\b|\*', '', kind).strip(), kind.count('*')

    def good(self, function, kind, name):
        base, stars = self.base(kind)
        if f'{function}.{name}' in ARGUMENTS:
            return ARGUMENTS[f'{function}.{name}']
        if kind == 'GError **':
            return 'error'
        if base == 'CleaveTensorType' and 'directml' in function:
            return IMAGE
        if stars == 1 and name == 'attrs' and base not in STRUCTS and base in self.headers.structs:
            return 'NULL'
        if stars == 1 and (base in STRUCTS or base in self.headers.structs) and base not in VALUES:
            return f'({base}[]){{ {{ {STRUCTS.get(base, "0")} }} }}'
        if stars == 2 and base in VALUES:
            return f'({base} *[]){{ {VALUES[base]} }}'
        if stars == 1 or base in ('gconstpointer', 'gpointer', 'CleavePipelineObserver', 'CleaveReduceTest'):
            return VALUES.get(base)
        if kind in self.headers.enums:
            return {'CleaveElement': 'CLEAVE_FLOAT32'}.get(kind, f'({kind}) 0')
        return {'guint': '0' if name in ('index', 'chunk', 'axis') else '1', 'gint64': '1', 'guint64': '1', 'gboolean': 'TRUE'}.get(kind)

    def may_be_null(self, function, name):
        return re.search(r'nullable|optional', self.documents.get(function, {}).get(name, '')) is not None

    # Returns invalid values of one field, each with the expected result.
    def bad_fields(self, struct, path=''):
        for kind, name, array in self.headers.structs[struct]:
            base, stars = self.base(kind)
            field, known = path + name, f'{struct}.{name}' in MAY_BE_NULL
            if array or name.startswith('n_') and any(n == name[2:] for _, n, _ in self.headers.structs[struct]):
                continue
            if kind in self.headers.enums:
                yield field, [(f'({kind}) {v}', 'REFUSED') for v in (-1, 1000)]
            elif kind in ('gpointer', 'gconstpointer') or kind not in self.headers.structs and stars == 0 and \
                    kind not in ('gint64', 'guint', 'double', 'gboolean', 'int'):
                yield field, [('NULL', 'ALIVE' if known else 'REFUSED')]
            elif stars > 0:
                yield field, [('NULL', 'ALIVE' if known else 'REFUSED')]
                if base in FOREIGN:
                    yield field, [(FOREIGN[base], 'REFUSED')]
            elif kind in self.headers.structs:
                yield from self.bad_fields(kind, field + '.')
            elif kind == 'guint' and name in ('rank', 'n'):
                yield field, [(v, 'REFUSED') for v in ('9' if name == 'rank' else '17', '1000000', 'G_MAXUINT')]
            elif kind == 'double':
                yield field, [(v, 'ALIVE') for v in ('NAN', 'INFINITY', '-1e308')]
            elif kind == 'guint':
                yield field, [('G_MAXUINT', 'ALIVE')]
            elif kind == 'gint64':
                yield field, [(v, 'ALIVE') for v in ('G_MININT64', 'G_MAXINT64', '-1')]

    # Returns invalid values of one argument.
    def bad(self, function, kind, name, handles):
        base, stars = self.base(kind)
        for value in ARGUMENTS.get(f'{function}.{name}!', []):
            yield value, 'REFUSED'
        if kind == 'GError **':
            yield 'NULL', 'ALIVE'
        elif stars > 0 or kind == 'gconstpointer':
            yield 'NULL', 'ALIVE' if self.may_be_null(function, name) else 'REFUSED'
        if stars == 1 and base in FOREIGN and handles > 1 and base != 'CleaveGraph':
            yield FOREIGN[base], 'REFUSED'
        if stars == 2 and base in FOREIGN and '(out' not in self.documents.get(function, {}).get(name, ''):
            yield f'({base} *[]){{ {entries(FOREIGN[base])} }}', 'REFUSED'
        # A list that is terminated by NULL may be empty, so NULL is a valid first entry.
        if stars == 2 and kind != 'GError **' and not re.search(
                r'\(out|zero-terminated', self.documents.get(function, {}).get(name, '')):
            yield f'({"" if base in FOREIGN or base == "CleaveTensor" else "const "}{base} *[]){{ {entries("NULL")} }}', 'REFUSED'
        if kind in self.headers.enums:
            yield from [(f'({kind}) {v}', 'REFUSED') for v in (-1, 1000)]
        if kind == 'guint' and f'{function}.{name}' not in WORK and not name.startswith('n_') and 'count' not in name:
            yield 'G_MAXUINT', 'REFUSED'
        if kind == 'gint64':
            yield from [(v, 'ALIVE') for v in ('G_MININT64', 'G_MAXINT64')]
        if name == 'op' and base == 'char':
            yield from [(f'"{v}"', 'REFUSED') for v in ('', 'Nonsense', 'Conv', 'Input', 'Constant', 'Assemble', 'Where')]
        # Try bad values for the fields of an input struct. The fields of an output struct need no values, since the function sets them.
        if stars == 1 and base in self.headers.structs and 'const' in kind:
            for field, values in self.bad_fields(base):
                for value, must in values:
                    must = 'ALIVE' if function in LATER else must
                    yield f'({base}[]){{ {{ {self.initializer(function, name, base)} }} }}|{field}|{value}', must

    def initializer(self, function, name, base):
        given = ARGUMENTS.get(f'{function}.{name}')
        return f'@{given}' if given else STRUCTS.get(base, '0')

    def add(self, title, must, call):
        self.cases.append((title, must, call))

    def add_function(self, function, arguments):
        good = [self.good(function, kind, name) for kind, name in arguments]
        handles = sum(self.base(kind)[0] in HANDLES for kind, _ in arguments)
        if None in good:
            kind, name = arguments[good.index(None)]
            return self.add(f'{function}: tests/misuse/misuse.py cannot make {kind} {name}', 'IMPOSSIBLE', None)
        self.add(f'{function}: all is right', 'GOOD', f'(void) {function} ({", ".join(good)});')
        for i, (kind, name) in enumerate(arguments):
            for value, must in self.bad(function, kind, name, handles):
                before, title = '', f'{function}: {name} is {value}'
                if '|' in value:
                    made, field, wrong = value.split('|')
                    base = self.base(kind)[0]
                    made = re.sub(r'^.*?\{ \{ @(.*) \} \}$', r'\1', made)
                    before = f'{base} wrong = *({made}); wrong.{field} = {wrong}; '
                    title, value = f'{function}: {name}->{field} is {wrong}', '&wrong'
                call = f'{before}(void) {function} ({", ".join(good[:i] + [value] + good[i + 1:])});'
                self.add(title, must, call)

    def write(self, path):
        for _, function, arguments in self.headers.functions:
            self.add_function(function, arguments)
        with open(path, 'w', encoding='utf-8') as f:
            for i, (_, _, call) in enumerate(self.cases):
                if call:
                    f.write(f'static void\ncase_{i} (void)\n{{\n  {call}\n}}\n\n')
            f.write('static const Case cases[] = {\n')
            for i, (title, must, call) in enumerate(self.cases):
                quoted = title.replace('\\', '\\\\').replace('"', '\\"')
                f.write(f'  {{ "{quoted}", {must}, {f"case_{i}" if call else "NULL"} }},\n')
            f.write('};\n')


def main():
    root, path, depfile = sys.argv[1:]
    generator = Generator(root)
    generator.write(path)
    with open(depfile, 'w', encoding='utf-8') as f:
        f.write(f'{os.path.relpath(path)}: {" ".join(generator.files)}\n')


main()
