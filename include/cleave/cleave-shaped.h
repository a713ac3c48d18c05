/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Runs a model for inputs of several shapes. Memory is planned for the largest shapes. A program
 * for smaller shapes is compiled when the shapes first occur, unless a program for larger shapes
 * computes the same bits.
 *
 *   path, largest shapes -> cleave_shaped_program_new() -> cleave_shaped_program_run() ...
 *
 * In the dynamic part of a model, each run decides the shapes. A dynamic program compiles a program
 * for expensive nodes when the operands of these nodes first get new shapes, and keeps the program
 * for later runs.
 *
 *   dynamic part -> cleave_dynamic_program_new() -> cleave_dynamic_program_run() ... */

#include <cleave/cleave-onnx.h>
#include <cleave/cleave-program.h>

G_BEGIN_DECLS

#define CLEAVE_TYPE_DYNAMIC_PROGRAM (cleave_dynamic_program_get_gtype ())
#define CLEAVE_TYPE_SHAPED_PROGRAM (cleave_shaped_program_get_gtype ())

/**
 * CleaveDynamicProgram:
 *
 * The programs of the dynamic part of a model. A dynamic program must not be run by two threads at
 * the same time.
 */
typedef struct _CleaveDynamicProgram CleaveDynamicProgram;

/**
 * CleaveShapedProgram:
 *
 * The programs of one model for several shapes of its inputs. A shaped program must not be run by
 * two threads at the same time.
 */
typedef struct _CleaveShapedProgram CleaveShapedProgram;

/**
 * CleaveShapedStats:
 * @n_programs: number of programs in memory
 * @n_compiled: number of programs that were compiled since the object was made
 * @n_shapes: number of different combinations of input shapes whose programs are in memory; several
 * combinations may share one program
 * @n_padded: number of runs in which a program for larger shapes computed the outputs
 *
 * Counts of the programs and runs of a [struct@Cleave.ShapedProgram] or a
 * [struct@Cleave.DynamicProgram].
 */
typedef struct
{
  guint n_programs, n_compiled, n_shapes, n_padded;
} CleaveShapedStats;

CLEAVE_API GType cleave_shaped_program_get_gtype (void);
CLEAVE_API GType cleave_shaped_stats_get_gtype (void);
CLEAVE_API CleaveShapedProgram *cleave_shaped_program_new (const char *path,
                                                           const CleaveOnnxOptions *options,
                                                           const CleaveProgramOptions *program,
                                                           guint max_programs,
                                                           GError **error);
CLEAVE_API CleaveShapedProgram *cleave_shaped_program_ref (CleaveShapedProgram *shaped_program);
CLEAVE_API void cleave_shaped_program_unref (CleaveShapedProgram *shaped_program);
CLEAVE_API CleaveGraph *cleave_shaped_program_get_graph (const CleaveShapedProgram *shaped_program);
CLEAVE_API GPtrArray *cleave_shaped_program_run (CleaveShapedProgram *shaped_program,
                                                 CleaveTensor *const *inputs,
                                                 guint n_inputs,
                                                 GError **error);
CLEAVE_API void cleave_shaped_program_get_stats (const CleaveShapedProgram *shaped_program,
                                                 CleaveShapedStats *stats);

CLEAVE_API GType cleave_dynamic_program_get_gtype (void);
CLEAVE_API CleaveDynamicProgram *cleave_dynamic_program_new (CleaveOnnxDynamic *dynamic,
                                                             const CleaveProgramOptions *options);
CLEAVE_API CleaveDynamicProgram *cleave_dynamic_program_ref (CleaveDynamicProgram *dynamic_program);
CLEAVE_API void cleave_dynamic_program_unref (CleaveDynamicProgram *dynamic_program);
CLEAVE_API GPtrArray *cleave_dynamic_program_run (CleaveDynamicProgram *dynamic_program,
                                                  const char *const *names,
                                                  CleaveTensor *const *values,
                                                  guint n_values,
                                                  CleaveOnnxDynamicStats *stats,
                                                  GError **error);
CLEAVE_API void cleave_dynamic_program_get_stats (const CleaveDynamicProgram *dynamic_program,
                                                  CleaveShapedStats *stats);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveDynamicProgram, cleave_dynamic_program_unref)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveShapedProgram, cleave_shaped_program_unref)

G_END_DECLS
