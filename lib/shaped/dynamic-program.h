/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Programs for the dynamic part of one model, loaded for several shapes of its inputs. */

#include <cleave/cleave-shaped.h>

/* Runs another dynamic part with the programs of `dynamic_program`, as cleave_dynamic_program_run()
 * does. The dynamic parts of a model for several shapes of its inputs share the programs. */
GPtrArray *cleave_dynamic_program_run_part (CleaveDynamicProgram *dynamic_program,
                                            const CleaveOnnxDynamic *dynamic,
                                            const char *const *names,
                                            CleaveTensor *const *values,
                                            guint n_values,
                                            CleaveOnnxDynamicStats *stats,
                                            GError **error);
