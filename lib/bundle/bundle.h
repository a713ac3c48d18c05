/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* A planned bundle (CleaveBundle), and the functions that make the texts of its C files. choose.c
 * plans a bundle of a graph in four steps: prepare.c rewrites nodes, model.c lowers the graph to
 * steps, plan.c groups the steps into segments, layout.c places the buffers. Then files.c collects
 * the texts: a header, the tables, the weights, the kernels, a test and a README. */

#include "layout.h"

struct _CleaveBundle
{
  char *name;  /* prefix of functions and files, a C identifier */
  char *macro; /* `name` in capitals, the prefix of macros */
  char *type;  /* `name` in camel case, the prefix of types */
  gint64 align;
  CleaveBundleKernels kernels;
  gboolean is_single_file, has_object_weights;
  guint n_memories; /* number of memories of the device that hold buffers; 0: one arena */
  char **memories;  /* names of the memories */
  gint64 *memory_sizes;
  gboolean by_memory; /* the order of the layers (cleave_bundle_order_nodes() in model-parts.h) */
  CleaveBundleModel *model;
  CleaveBundlePlan *plan;
  CleaveBundleLayout *layout;
  CleaveBundleStats stats;
};

/* Lowers a graph, and sets the model, the plan and the layout of a bundle. Fails if the graph
 * cannot be a bundle, or if no plan meets the limits. */
gboolean cleave_bundle_choose_plan (CleaveBundle *bundle,
                                    const CleaveGraph *graph,
                                    const CleaveBundleOptions *options,
                                    GError **error);
void cleave_bundle_clear_plan (CleaveBundle *bundle);
/* Sets the error that no plan meets the limit, and the options that lower the bytes. Returns
 * FALSE. */
gboolean
cleave_bundle_refuse (const CleaveBundle *bundle, const CleaveBundleOptions *o, GError **error);
/* Returns the bytes that the buffers of a plan need in one arena. */
static inline gint64
cleave_bundle_count_bytes (const CleaveBundle *bundle, const CleaveBundlePlan *plan)
{
  const CleaveBundleMemories one = { 0 };
  g_autoptr (CleaveBundleLayout) layout =
      cleave_bundle_layout_new (bundle->model, plan, &one, bundle->align);

  return layout->n_bytes;
}

/* The next functions return the texts of the bundle's files: header, source, weights, kernels. The
 * caller frees the texts. */
char *cleave_bundle_make_header (const CleaveBundle *bundle);
char *cleave_bundle_make_source (const CleaveBundle *bundle);
char *cleave_bundle_make_weights (const CleaveBundle *bundle);
char *cleave_bundle_make_weights_header (const CleaveBundle *bundle);
char *cleave_bundle_make_kernels (const CleaveBundle *bundle);
/* Appends a comment with the functions of the C library that the objects of the bundle call. */
void cleave_bundle_append_libc (const CleaveBundle *bundle, GString *out);
char *cleave_bundle_make_kernels_header (const CleaveBundle *bundle, const char *file);
char *cleave_bundle_make_weights_object (const CleaveBundle *bundle);
/* Returns the text of one C file with all tables, weights and kernels. Only the functions in the
 * bundle's header are visible outside this file. */
char *cleave_bundle_make_single (const CleaveBundle *bundle);
char *cleave_bundle_make_readme (const CleaveBundle *bundle);
/* Returns the text of the test program. Runs the graph on random inputs to compute the expected
 * outputs. Returns NULL on error. */
char *cleave_bundle_make_test (const CleaveBundle *bundle, GError **error);

/* Returns whether a number in the tables does not fit into the small types of kernels/operands.h
 * and kernels/cleave-run.h. If so, the files of the bundle define CLEAVE_WIDE. */
gboolean cleave_bundle_is_wide (const CleaveBundle *bundle);
/* Returns whether a value has more rows or columns than a byte can count. If so, the files of the
 * bundle define CLEAVE_LONG. */
gboolean cleave_bundle_is_long (const CleaveBundle *bundle);

/* Returns whether a layer calls CMSIS-NN. */
gboolean cleave_bundle_calls_cmsis (const CleaveBundle *bundle);

/* The next functions append to `out` the constant arrays, or the tables of layers and segments,
 * without license and includes. `is_static`: whether the arrays are static. */
void cleave_bundle_append_weights (const CleaveBundle *bundle, gboolean is_static, GString *out);
void cleave_bundle_append_tables (const CleaveBundle *bundle, GString *out);
/* Appends the tables of layers, row maps and kernels. `numbers` maps the index of a value in the
 * model to its index in the printed table of values. */
void cleave_bundle_append_layers (const CleaveBundle *bundle, const guint *numbers, GString *out);
/* Returns the number of entries in the table of row maps. */
guint cleave_bundle_count_row_maps (const CleaveBundle *bundle);
/* Appends a function for each input that is supplied row by row. The function has the type of a
 * kernel, and calls the callback of the input. */
void cleave_bundle_append_row_readers (const CleaveBundle *bundle, GString *out);
/* Returns the name of the function that supplies the rows of an input, such as "read_x". `step`:
 * the step that reads these rows. */
char *cleave_bundle_dup_row_reader (const CleaveBundle *bundle, guint step);
/* Appends the run function. `has_columns`: whether there is a table `columns`. */
void cleave_bundle_append_run (const CleaveBundle *bundle, gboolean has_columns, GString *out);
/* Appends the parameters of the run function as C text, such as "void *arena, const NetIo *io". */
void cleave_bundle_append_parameters (const CleaveBundle *bundle, GString *out);
/* Appends the plan as a C comment. */
void cleave_bundle_append_plan (const CleaveBundle *bundle, GString *out);

/* Appends the `n` elements of an array as C constants, several on a line. `type`: C type of the
 * elements. */
void cleave_bundle_print_elements (GString *out, const char *type, gconstpointer data, gsize n);

/* Returns `text` as a C identifier: replaces all characters except letters and digits by '_'. */
char *cleave_bundle_dup_identifier (const char *text);
/* Returns an identifier in camel case, such as "PersonDetect" for "person_detect". */
char *cleave_bundle_dup_type_name (const char *identifier);
/* Returns the C type of the elements of an input or output. */
const char *cleave_bundle_element_type (CleaveElement element);
/* The next two functions return the name of input or output `i` as a C identifier. */
char *cleave_bundle_dup_input_name (const CleaveBundle *bundle, guint i);
char *cleave_bundle_dup_output_name (const CleaveBundle *bundle, guint i);
/* Returns the name of memory `i` as a C identifier; "arena" if there is only one memory. */
char *cleave_bundle_dup_memory_name (const CleaveBundle *bundle, guint i);
guint cleave_bundle_count_memories (const CleaveBundle *bundle);
/* The next two functions return the value of input or output `i`. If that value is a view, they
 * return its base. */
const CleaveBundleValue *cleave_bundle_input (const CleaveBundle *bundle, guint i);
const CleaveBundleValue *cleave_bundle_output (const CleaveBundle *bundle, guint i);
/* Returns whether a callback of the program around the bundle supplies an input row by row. */
gboolean cleave_bundle_is_by_rows (const CleaveBundle *bundle, guint input);
