/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Bundles: a model as plain C99 for a small device. The weights are constants. One arena of an
 * exact size holds all activations. A run allocates nothing and cannot fail.
 *
 *   graph -> cleave_bundle_new() -> CleaveBundle -> cleave_bundle_write() -> C files
 *
 * cleave_bundle_new() groups the nodes into segments, so that the arena meets a limit. In the C
 * files, each segment is a loop over rows. */

#include <cleave/cleave-graph.h>

G_BEGIN_DECLS

#define CLEAVE_TYPE_BUNDLE (cleave_bundle_get_gtype ())

/**
 * CleaveBundle:
 *
 * A model that is planned for a small device and can be written as C.
 */
typedef struct _CleaveBundle CleaveBundle;

/**
 * CleaveBundleWhere:
 * @CLEAVE_BUNDLE_IN_ARENA: in the arena, at an offset that the header of the bundle names
 * @CLEAVE_BUNDLE_APART: in memory of the caller, to which each run takes a pointer
 * @CLEAVE_BUNDLE_ROWS: an input that a function of the caller supplies row by row
 *
 * The place of an input or an output of a bundle in memory.
 */
typedef enum {
  CLEAVE_BUNDLE_IN_ARENA,
  CLEAVE_BUNDLE_APART,
  CLEAVE_BUNDLE_ROWS,
} CleaveBundleWhere;

/**
 * CleaveBundleIo:
 * @name: name of an input or an output of the graph; %NULL: all inputs, or all outputs, that no
 * other entry names
 * @where: the memory of the input or output: in the arena, in memory of the caller, or supplied row
 * by row
 *
 * Chooses the memory of one input or output.
 */
typedef struct
{
  const char *name;
  CleaveBundleWhere where;
} CleaveBundleIo;

/**
 * CleaveBundleKernels:
 * @CLEAVE_BUNDLE_KERNELS_ANY: C, with the DSP instructions of ARM or with Helium if the compiler's
 * target has them
 * @CLEAVE_BUNDLE_KERNELS_C: C only: neither DSP instructions nor Helium
 * @CLEAVE_BUNDLE_KERNELS_DSP: always special instructions of ARM: Helium if the compiler's target
 * has it, DSP instructions otherwise; a compiler for other processors stops with an error
 * @CLEAVE_BUNDLE_KERNELS_CMSIS_NN: calls of CMSIS-NN, if CMSIS-NN computes the same bits and the
 * operands and the result of the call fit into the arena; the kernels of %CLEAVE_BUNDLE_KERNELS_ANY
 * for all other layers
 *
 * The kernels of a bundle. All kernels compute the same bits.
 */
typedef enum {
  CLEAVE_BUNDLE_KERNELS_ANY,
  CLEAVE_BUNDLE_KERNELS_C,
  CLEAVE_BUNDLE_KERNELS_DSP,
  CLEAVE_BUNDLE_KERNELS_CMSIS_NN,
} CleaveBundleKernels;

/**
 * CleaveBundleIoType:
 * @CLEAVE_BUNDLE_IO_OF_MODEL: the types of the model
 * @CLEAVE_BUNDLE_IO_INT8: int8. The caller quantizes inputs and dequantizes outputs; the bundle
 *   converts nothing. The C header of the bundle gives the scales and zero points.
 * @CLEAVE_BUNDLE_IO_FLOAT: float32. The bundle quantizes inputs and dequantizes outputs
 *
 * The element types of the inputs and outputs of a bundle.
 */
typedef enum {
  CLEAVE_BUNDLE_IO_OF_MODEL,
  CLEAVE_BUNDLE_IO_INT8,
  CLEAVE_BUNDLE_IO_FLOAT,
} CleaveBundleIoType;

/**
 * CleaveBundleMemory:
 * @name: name of the memory, such as "fast"
 * @n_bytes: size of the memory, in bytes
 *
 * A memory of a device, such as its on-chip memory.
 */
typedef struct
{
  const char *name;
  gint64 n_bytes;
} CleaveBundleMemory;

/**
 * CleaveBundleState:
 * @input: name of an input; %NULL: each input `x` for which there is an output `x_next`
 * @output: name of the output that is the value of the input in the next run; %NULL: the name of
 * the input, followed by `_next`
 *
 * A value that is kept from one run to the next run.
 */
typedef struct
{
  const char *input;
  const char *output;
} CleaveBundleState;

/**
 * CleaveBundleOptions:
 * @name: prefix of the names of files, functions and macros, a C identifier; %NULL: the graph's
 * name
 * @max_memory: limit of the arena, in bytes; 0: the smallest arena that is found
 * @max_added_macs: limit of the multiply-accumulates that recomputed columns add, as a fraction of
 * the multiply-accumulates of the graph: 0.1 is 10 %; 0: no limit, %CLEAVE_NOTHING_ADDED: no added
 * multiply-accumulates
 * @align: alignment of the arena and of each value in it, in bytes: 4, 8 or 16; 0: 4
 * @inputs: (array length=n_inputs): places of inputs; other inputs lie in the arena
 * @n_inputs: number of @inputs
 * @outputs: (array length=n_outputs): places of outputs; other outputs lie in the arena
 * @n_outputs: number of @outputs
 * @memories: (array length=n_memories): the memories of the device, the fastest first. The arena is
 * divided among the memories, and @max_memory must be 0. The default is one arena
 * @n_memories: number of memories
 * @states: (array length=n_states): values that are kept from run to run, in memory outside the
 * arena
 * @n_states: number of @states
 * @kernels: which kernels the bundle calls: plain C, DSP or CMSIS-NN; all give the same bits
 * @io_type: the element types of inputs and outputs
 * @is_single_file: whether all code and all constants are in one C file, which includes a header
 * @has_object_weights: whether the constants are an assembler file, which is assembled faster than
 * C source is compiled
 *
 * Options for planning a bundle.
 */
typedef struct
{
  const char *name;
  gint64 max_memory;
  double max_added_macs;
  guint align;
  const CleaveBundleIo *inputs;
  guint n_inputs;
  const CleaveBundleIo *outputs;
  guint n_outputs;
  const CleaveBundleMemory *memories;
  guint n_memories;
  const CleaveBundleState *states;
  guint n_states;
  CleaveBundleKernels kernels;
  CleaveBundleIoType io_type;
  gboolean is_single_file;
  gboolean has_object_weights;
} CleaveBundleOptions;

/**
 * CleaveBundleStats:
 * @arena_bytes: size of the arena, in bytes
 * @weight_bytes: bytes of all constant arrays
 * @macs: multiply-accumulates of a run
 * @unsplit_bytes: size of the arena if every layer is computed whole, in bytes
 * @least_bytes: size of the smallest arena that the planner found, in bytes
 * @n_layers: number of layers
 * @n_segments: number of segments, each a loop over rows
 * @state_bytes: bytes that are kept from run to run
 * @n_calls: number of layers that call CMSIS-NN
 * @n_larger_calls: number of layers that would call CMSIS-NN in a larger arena
 * @n_no_calls: number of layers for which CMSIS-NN has no function that computes the same bits
 * @context_bytes: size of the largest context buffer of a call of CMSIS-NN, in bytes. The buffer is
 * a part of the arena
 *
 * Figures of a bundle.
 */
typedef struct
{
  gint64 arena_bytes, weight_bytes, macs, unsplit_bytes, least_bytes;
  guint n_layers, n_segments;
  gint64 state_bytes;
  guint n_calls, n_larger_calls, n_no_calls;
  gint64 context_bytes;
} CleaveBundleStats;

CLEAVE_API GType cleave_bundle_get_gtype (void);
CLEAVE_API CleaveBundle *
cleave_bundle_new (const CleaveGraph *graph, const CleaveBundleOptions *options, GError **error);
CLEAVE_API CleaveBundle *
cleave_bundle_new_from_texts (const CleaveGraph *graph, const char *const *options, GError **error);
CLEAVE_API CleaveBundle *cleave_bundle_ref (CleaveBundle *bundle);
CLEAVE_API void cleave_bundle_unref (CleaveBundle *bundle);
CLEAVE_API void cleave_bundle_get_stats (const CleaveBundle *bundle, CleaveBundleStats *stats);
CLEAVE_API gint64 cleave_bundle_get_memory_bytes (const CleaveBundle *bundle, const char *memory);
CLEAVE_API char *cleave_bundle_print (const CleaveBundle *bundle);
CLEAVE_API GHashTable *cleave_bundle_dup_files (const CleaveBundle *bundle, GError **error);
CLEAVE_API gboolean cleave_bundle_write (const CleaveBundle *bundle,
                                         const char *folder,
                                         GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveBundle, cleave_bundle_unref)

G_END_DECLS
