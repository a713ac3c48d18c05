/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Programs for the dynamic part of one model. The model is loaded once for each combination of
 * input shapes. shaped.c first runs the program of the static part, and then calls
 * cleave_dynamic_program_run_part() on the results. */

#include <cleave/cleave-shaped.h>

/* Runs the dynamic part `dynamic` as cleave_dynamic_program_run() does, with the programs of
 * `dynamic_program`. A model that is loaded for several shapes has several dynamic parts, which
 * share the programs of `dynamic_program`. */
GPtrArray *cleave_dynamic_program_run_part (CleaveDynamicProgram *dynamic_program,
                                            const CleaveOnnxDynamic *dynamic,
                                            const char *const *names,
                                            CleaveTensor *const *values,
                                            guint n_values,
                                            CleaveOnnxDynamicStats *stats,
                                            GError **error);
/* Adds to `names` and `values` the names and the tensors of the model's inputs that are sequences
 * or optional values. For each of these inputs, `inputs` has a tensor with the number of its
 * entries, and then one tensor for each entry. Fails if `inputs` has more tensors. */
gboolean cleave_dynamic_program_add_lists (const CleaveOnnxDynamic *dynamic,
                                           CleaveTensor *const *inputs,
                                           guint n_inputs,
                                           GPtrArray *names,
                                           GPtrArray *values,
                                           GError **error);
