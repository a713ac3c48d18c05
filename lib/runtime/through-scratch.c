/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Defines the kernel family that computes a result in scratch and copies it to its address.
 * cleave_task_go_through_scratch() puts this family into a task, in place of the task's own family.
 */

#include "through-scratch.h"

#include <string.h>

typedef struct
{
  /* kernel family that is wrapped; NULL: the op's reference kernel */
  const CleaveKernelFamily *family;
  gpointer state;
  gsize n_bytes, at; /* size of the result in bytes; byte offset of the result in scratch, after the
                        scratch of the wrapped kernel */
} Through;

static void
run (gconstpointer state, const CleaveKernelInstance *instance, gpointer scratch)
{
  const Through *through = state;
  CleaveKernelInstance inner = *instance;
  CleaveView result = instance->results[0];

  result.data = (char *) scratch + through->at;
  inner.results = &result;
  if (through->family != NULL)
    through->family->run (through->state, &inner, scratch);
  else
    inner.call.op->compute (&inner.call, inner.operands, inner.results);
  if (through->n_bytes > 0)
    memcpy (instance->results[0].data, result.data, through->n_bytes);
}

static void
clear (gpointer state)
{
  Through *through = state;

  if (through->family != NULL && through->family->free != NULL)
    through->family->free (through->state);
  g_free (through);
}

static gboolean
reads (gconstpointer state, guint operand)
{
  const Through *through = state;

  return through->family == NULL || through->family->reads == NULL ||
         through->family->reads (through->state, operand);
}

static void
add_memory (gconstpointer state, GArray *lines)
{
  const Through *through = state;

  cleave_kernel_add_memory (through->family, through->state, lines);
}

/* The kernel family that wraps another kernel. It has no `prepare`, since
 * cleave_task_go_through_scratch() wraps a task that is prepared already. */
static const CleaveKernelFamily family = {
  .run = run, .free = clear, .reads = reads, .n_state = sizeof (Through), .add_memory = add_memory
};

void
cleave_task_go_through_scratch (CleaveTask *task, gsize *n_scratch)
{
  Through *through = g_new0 (Through, 1);

  *through =
      (Through){ .family = task->family,
                 .state = task->state,
                 .n_bytes = (gsize) cleave_tensor_type_n_bytes (&task->instance.results[0].type),
                 .at = (*n_scratch + 63) / 64 * 64 };
  *n_scratch = through->at + through->n_bytes;
  task->family = &family;
  task->state = through;
}
