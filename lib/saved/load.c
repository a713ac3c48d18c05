/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Loads saved programs. The file is not trusted: sizes and offsets are checked before use. The
 * contents of data blocks are not checked: any bytes are valid, as in the weights of a model. */

#include "saved.h"

#include <string.h>

#include "../ir/error.h"
#include "../ir/file.h"
#include "../ir/range.h"
#include "../runtime/program-private.h"
#include "../text/parse-with.h"

enum {
  LIBRARY,
  LEVEL,
  SOURCES,
  REFERENCE,
  TEXT,
  INPUTS,
  TENSORS,
  CONSTANTS,
  THREADS,
  ORDER,
  THREAD,
  BEGINS,
  ENDS,
  OFFSETS,
  ARENA,
  PACKED
};

typedef struct
{
  GBytes *bytes; /* contents of the saved program's file */
  GVariant *metadata;
  guint64 data, n_data;
} Saved;

static void
saved_clear (Saved *saved)
{
  g_clear_pointer (&saved->bytes, g_bytes_unref);
  g_clear_pointer (&saved->metadata, g_variant_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Saved, saved_clear)

static gboolean
fail_broken (GError **error, const char *what)
{
  return cleave_fail (error, CLEAVE_ERROR_MODEL, "%s", what);
}

/* The following functions read the header and the metadata. */

static gboolean
read_header (Saved *saved, CleaveSavedHeader *header, GError **error)
{
  gsize size;
  gconstpointer bytes = g_bytes_get_data (saved->bytes, &size);

  if (size < sizeof *header || memcmp (bytes, CLEAVE_SAVED_MAGIC, sizeof header->magic) != 0)
    return fail_broken (error, "it is not a saved program");
  memcpy (header, bytes, sizeof *header);
  if (header->order != CLEAVE_SAVED_ORDER || header->format != CLEAVE_SAVED_FORMAT)
    return fail_broken (error, "it is a saved program of another format: compile the model again");
  if (header->n_metadata > size - sizeof *header ||
      header->data < sizeof *header + header->n_metadata || header->data % CLEAVE_SAVED_PAGE != 0 ||
      header->data > size || header->n_data != size - header->data)
    return fail_broken (error, "it is broken: its parts have other sizes than its header says");
  saved->data = header->data;
  saved->n_data = header->n_data;
  return TRUE;
}

static gboolean
open_saved (Saved *saved, const char *path, GError **error)
{
  g_autoptr (GMappedFile) file = NULL;
  g_autoptr (GBytes) part = NULL;
  CleaveSavedHeader header;

  if (g_file_test (path, G_FILE_TEST_EXISTS) && !g_file_test (path, G_FILE_TEST_IS_REGULAR))
    return fail_broken (error, "it is not a file");
  if (!cleave_check_readable (path, error))
    return FALSE;
  file = g_mapped_file_new (path, FALSE, error);
  if (file == NULL)
    return FALSE;
  saved->bytes = g_mapped_file_get_bytes (file);
  if (!read_header (saved, &header, error))
    return FALSE;
  part = g_bytes_new_from_bytes (saved->bytes, sizeof header, (gsize) header.n_metadata);
  saved->metadata = g_variant_ref_sink (
      g_variant_new_from_bytes (G_VARIANT_TYPE (CLEAVE_SAVED_TYPE), part, FALSE));
  return g_variant_is_normal_form (saved->metadata) ||
         fail_broken (error, "it is broken: its metadata are not well-formed");
}

static gboolean
check_match (const Saved *saved, const char *model, GError **error)
{
  g_autofree char *library = cleave_saved_dup_library (), *level = cleave_kernel_dup_level ();
  g_autoptr (GVariant) sources = g_variant_get_child_value (saved->metadata, SOURCES);
  const char *its_library, *its_level;

  g_variant_get_child (saved->metadata, LIBRARY, "&s", &its_library);
  g_variant_get_child (saved->metadata, LEVEL, "&s", &its_level);
  if (!g_str_equal (library, its_library))
    return cleave_fail (error, CLEAVE_ERROR_MODEL,
                        "it was saved by Cleave %s, but this is %s: compile the model again",
                        its_library, library);
  if (!g_str_equal (level, its_level))
    return cleave_fail (error, CLEAVE_ERROR_MODEL,
                        "it was saved for processors of level %s, but this is level %s: compile "
                        "the model again here",
                        its_level, level);
  return cleave_sources_check (sources, model, error);
}

/* Returns `n` bytes of the data blocks. `at` is the offset of the first of these bytes from the
 * begin of the data blocks, in bytes. Returns NULL if the data blocks end before these bytes end.
 */
static GBytes *
find_block (const Saved *saved, guint64 at, guint64 n)
{
  if (at % CLEAVE_SAVED_LINE != 0 || at > saved->n_data || n > saved->n_data - at)
    return NULL;
  return g_bytes_new_from_bytes (saved->bytes, (gsize) (saved->data + at), (gsize) n);
}

/* The following functions make tensors and constants. */

static gboolean
get_extents (GVariant *of, gsize child, gint64 *extents, guint *n)
{
  g_autoptr (GVariant) list = g_variant_get_child_value (of, child);
  gsize length;
  const gint64 *values = g_variant_get_fixed_array (list, &length, sizeof *values);

  if (length > CLEAVE_MAX_RANK)
    return FALSE;
  for (gsize i = 0; i < length; i++)
    extents[i] = values[i];
  *n = (guint) length;
  return TRUE;
}

static gboolean
is_bool (const CleaveTensor *tensor)
{
  const guint8 *data = cleave_tensor_get_data (tensor);
  gint64 n = cleave_shape_n_elements (&cleave_tensor_get_type (tensor)->shape);

  for (gint64 i = 0; i < n; i++)
    if (data[i] > 1)
      return FALSE;
  return TRUE;
}

static CleaveTensor *
read_tensor (const Saved *saved, GVariant *of, GError **error)
{
  g_autoptr (CleaveTensor) tensor = NULL;
  g_autoptr (GBytes) block = NULL;
  CleaveTensorType type = { 0 };
  guint32 element;
  guint64 at;

  g_variant_get_child (of, 0, "u", &element);
  g_variant_get_child (of, 2, "t", &at);
  type.element = (CleaveElement) element;
  if (!cleave_element_is_legal (type.element) ||
      !get_extents (of, 1, type.shape.dim, &type.shape.rank))
    return fail_broken (error, "it is broken: a constant has no type"), NULL;
  if (!cleave_tensor_type_check (&type, error))
    return NULL;
  block = find_block (saved, at, (guint64) cleave_tensor_type_n_bytes (&type));
  if (block == NULL)
    return fail_broken (error, "it is broken: a constant is not in the file"), NULL;
  tensor = cleave_tensor_new_from_bytes (&type, block, error);
  if (tensor != NULL && type.element == CLEAVE_BOOL && !is_bool (tensor))
    return fail_broken (error, "it is broken: a bool is neither true nor false"), NULL;
  return g_steal_pointer (&tensor);
}

/* Returns whether `range` lies inside `whole`. An empty range must also lie inside;
 * cleave_range_contains() accepts an empty range anywhere. */
static gboolean
lies_inside (const CleaveRange *range, const CleaveRange *whole)
{
  for (guint d = 0; d < whole->rank; d++)
    if (range->dim[d].begin < 0 || range->dim[d].end < range->dim[d].begin ||
        range->dim[d].end > whole->dim[d].end)
      return FALSE;
  return TRUE;
}

static CleaveTensor *
read_part (const GPtrArray *tensors, GVariant *of, GError **error)
{
  gint64 begin[CLEAVE_MAX_RANK], end[CLEAVE_MAX_RANK];
  CleaveRange range = { 0 }, whole;
  CleaveTensor *tensor;
  guint32 index;
  guint n_ends;

  g_variant_get_child (of, 0, "u", &index);
  if (index >= tensors->len || !get_extents (of, 1, begin, &range.rank) ||
      !get_extents (of, 2, end, &n_ends) || n_ends != range.rank)
    return fail_broken (error, "it is broken: a constant is a slice of no constant"), NULL;
  for (guint d = 0; d < range.rank; d++)
    range.dim[d] = (CleaveSpan){ begin[d], end[d] };
  tensor = tensors->pdata[index];
  whole = cleave_range_whole (&cleave_tensor_get_type (tensor)->shape);
  if (range.rank == whole.rank && cleave_range_equal (&range, &whole))
    return cleave_tensor_ref (tensor);
  if (range.rank != whole.rank || !lies_inside (&range, &whole))
    return fail_broken (error, "it is broken: a constant is a slice of no constant"), NULL;
  return cleave_tensor_new_slice (tensor, &range);
}

static GPtrArray *
read_constants (const Saved *saved, GError **error)
{
  g_autoptr (GPtrArray) tensors =
      g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);
  g_autoptr (GPtrArray) constants =
      g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);

  for (guint list = TENSORS; list <= CONSTANTS; list++)
    {
      g_autoptr (GVariant) all = g_variant_get_child_value (saved->metadata, list);

      for (gsize i = 0; i < g_variant_n_children (all); i++)
        {
          g_autoptr (GVariant) of = g_variant_get_child_value (all, i);
          CleaveTensor *tensor =
              list == TENSORS ? read_tensor (saved, of, error) : read_part (tensors, of, error);

          if (tensor == NULL)
            return NULL;
          g_ptr_array_add (list == TENSORS ? tensors : constants, tensor);
        }
    }
  return g_steal_pointer (&constants);
}

static CleaveGraph *
read_graph (const Saved *saved, GError **error)
{
  g_autoptr (GPtrArray) constants = read_constants (saved, error);
  g_autoptr (CleaveGraph) graph = NULL;
  g_autofree const char **inputs = NULL;
  const char *text;

  if (constants == NULL)
    return NULL;
  g_variant_get_child (saved->metadata, TEXT, "&s", &text);
  g_variant_get_child (saved->metadata, INPUTS, "^a&s", &inputs);
  graph = cleave_graph_parse_with (text, constants, error);
  if (graph != NULL && !cleave_saved_order_inputs (graph, inputs))
    return fail_broken (error, "it is broken: the graph has other inputs"), NULL;
  return g_steal_pointer (&graph);
}

/* The following functions read the schedule and the packed weights. */

/* Returns a copy of entry `child` of the metadata. The entry is an array whose elements have `size`
 * bytes. If `is_first`, sets *n to the length of the array. If not `is_first`, *n is the required
 * length; returns NULL if the array has another length. */
static gpointer
dup_array (const Saved *saved, gsize child, gsize size, gboolean is_first, guint *n)
{
  g_autoptr (GVariant) list = g_variant_get_child_value (saved->metadata, child);
  gsize length;
  gconstpointer data = g_variant_get_fixed_array (list, &length, size);

  if (length >= G_MAXINT32 || (!is_first && length != *n))
    return NULL;
  *n = (guint) length;
  return length == 0 ? g_malloc0 (size) : g_memdup2 (data, length * size);
}

static gboolean
read_record (const Saved *saved, CleaveRecord *r, GError **error)
{
  g_variant_get_child (saved->metadata, THREADS, "u", &r->n_threads);
  g_variant_get_child (saved->metadata, ARENA, "x", &r->n_bytes);
  r->order = dup_array (saved, ORDER, sizeof (guint), TRUE, &r->n_steps);
  r->thread = dup_array (saved, THREAD, sizeof (guint), FALSE, &r->n_steps);
  r->begins = dup_array (saved, BEGINS, sizeof (double), FALSE, &r->n_steps);
  r->ends = dup_array (saved, ENDS, sizeof (double), FALSE, &r->n_steps);
  r->offsets = dup_array (saved, OFFSETS, sizeof (gint64), TRUE, &r->n_buffers);
  return (r->order != NULL && r->thread != NULL && r->begins != NULL && r->ends != NULL &&
          r->offsets != NULL) ||
         fail_broken (error, "it is broken: the schedule is incomplete");
}

static gboolean
read_packed (const Saved *saved, GArray *packed, GError **error)
{
  g_autoptr (GVariant) list = g_variant_get_child_value (saved->metadata, PACKED);

  for (gsize i = 0; i < g_variant_n_children (list); i++)
    {
      g_autoptr (GBytes) block = NULL;
      const char *key;
      guint64 n, at;
      CleavePackedWeight weight = { 0 };

      g_variant_get_child (list, i, "(&stt)", &key, &n, &at);
      block = find_block (saved, at, n);
      if (block == NULL)
        return fail_broken (error, "it is broken: packed weights are not in the file");
      weight = (CleavePackedWeight){ g_strdup (key), (gsize) n,
                                     (gpointer) g_bytes_get_data (block, NULL), FALSE };
      g_array_append_val (packed, weight);
    }
  return TRUE;
}

static CleaveProgram *
make (const Saved *saved, const CleaveGraph *graph, gboolean trace, GError **error)
{
  g_auto (CleaveSavedDecisions)
      decisions = { .is_known = TRUE, .packed = cleave_packed_weights_new () };
  CleaveProgramOptions options = { .trace = trace };

  g_variant_get_child (saved->metadata, REFERENCE, "b", &options.reference);
  if (!read_record (saved, &decisions.record, error) ||
      !read_packed (saved, decisions.packed, error))
    return NULL;
  return cleave_program_new_by (graph, &options, &decisions, saved->bytes, error);
}

/**
 * cleave_program_load: (constructor)
 * @path: (type filename): a file that [method@Cleave.Graph.save_program] wrote
 * @model: (type filename) (nullable): the current path of the model from which the program was
 * made; %NULL: the path at the time of saving, which is checked only if the file still exists
 * @trace: record the time and the thread of each step
 * @graph: (out) (optional) (transfer full): the graph of the program
 * @error: return location for a [struct@GLib.Error]
 *
 * Loads a program from a file, without planning and without packing weights. Constants and packed
 * weights are pages of the file: all processes that load the file share these pages, and each page
 * is read at first use. Do not write to the file while the program exists. Another file may replace
 * it. The results have the bits of the saved program.
 *
 * The function compares the files of the model by size and SHA-256. Without @model, it does not
 * read a file whose size and modification time have not changed. With @model, it always reads the
 * files.
 *
 * Fails with %CLEAVE_ERROR_MODEL if the file is broken, if another build of the library or another
 * level of the processor saved it, or if the model has changed. Also fails as
 * [ctor@Cleave.Program.new] does.
 *
 * Returns: (transfer full) (nullable): the program, or %NULL on error
 *
 * Since: 0.2
 */
CleaveProgram *
cleave_program_load (
    const char *path, const char *model, gboolean trace, CleaveGraph **graph, GError **error)
{
  g_return_val_if_fail (path != NULL, NULL);
  g_auto (Saved) saved = { 0 };
  g_autoptr (CleaveGraph) its_graph = NULL;
  CleaveProgram *program = NULL;

  if (graph != NULL)
    *graph = NULL;
  if (open_saved (&saved, path, error) && check_match (&saved, model, error))
    its_graph = read_graph (&saved, error);
  if (its_graph != NULL)
    program = make (&saved, its_graph, trace, error);
  if (program == NULL && error != NULL && (*error)->domain == CLEAVE_ERROR)
    g_prefix_error (error, "'%s': ", path);
  else if (graph != NULL)
    *graph = g_steal_pointer (&its_graph);
  return program;
}
