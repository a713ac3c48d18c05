/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Writes saved programs (saved.h): the graph and its schedule as metadata, constants and packed
 * weights as data blocks. */

#include "saved.h"

#include <gio/gio.h>
#include <string.h>

#include "../ir/align.h"
#include "../ir/debug.h"
#include "../ir/error.h"
#include "../ir/print.h"
#include "../runtime/program-private.h"
#include "../text/parse-with.h"

/* The contents of the file, before they are written. */
typedef struct
{
  GPtrArray *constants; /* CleaveTensor: the constants, in the order of their index= in the text
                         * of the graph */
  GPtrArray *tensors;   /* CleaveTensor: the tensors whose bytes are written; each constant is a
                         * tensor of this list or a slice of one */
  GHashTable *index;    /* maps a tensor to 1 plus its index in `tensors` */
  GPtrArray *blocks;    /* GBytes: the data blocks; each begins at a multiple of
                         * CLEAVE_SAVED_LINE bytes */
  guint64 n_data;
} Saving;

static void
saving_clear (Saving *s)
{
  g_clear_pointer (&s->constants, g_ptr_array_unref);
  g_clear_pointer (&s->tensors, g_ptr_array_unref);
  g_clear_pointer (&s->index, g_hash_table_unref);
  g_clear_pointer (&s->blocks, g_ptr_array_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Saving, saving_clear)

static void
saving_init (Saving *s)
{
  s->constants = g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);
  s->tensors = g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);
  s->index = g_hash_table_new (NULL, NULL);
  s->blocks = g_ptr_array_new_with_free_func ((GDestroyNotify) g_bytes_unref);
}

/* Adds a data block and takes ownership of `block`. Returns the offset of the block from the begin
 * of the data blocks, in bytes. */
static guint64
add_block (Saving *s, GBytes *block)
{
  guint64 at = s->n_data;

  g_ptr_array_add (s->blocks, block);
  s->n_data += (guint64) cleave_align_up ((gint64) g_bytes_get_size (block), CLEAVE_SAVED_LINE);
  return at;
}

static void
print_constant (CleaveTensor *value, GString *out, gpointer data)
{
  Saving *s = data;
  CleaveTensor *base = cleave_tensor_get_base (value, NULL);

  g_string_append_printf (out, " index=%u", s->constants->len);
  g_ptr_array_add (s->constants, cleave_tensor_ref (value));
  if (g_hash_table_contains (s->index, base))
    return;
  g_ptr_array_add (s->tensors, cleave_tensor_ref (base));
  g_hash_table_insert (s->index, base, GUINT_TO_POINTER (s->tensors->len));
}

/* The following function decides the order of a graph's inputs in the file. */

gboolean
cleave_saved_order_inputs (CleaveGraph *graph, const char *const *names)
{
  g_autoptr (GHashTable) inputs = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GPtrArray) order = g_ptr_array_new ();

  for (guint i = 0; i < graph->inputs->len; i++)
    g_hash_table_insert (inputs, cleave_result_dup_name (graph->inputs->pdata[i]),
                         graph->inputs->pdata[i]);
  for (; *names != NULL; names++)
    {
      CleaveResult *input = g_hash_table_lookup (inputs, *names);

      if (input == NULL)
        return FALSE;
      g_hash_table_remove (inputs, *names);
      g_ptr_array_add (order, input);
    }
  if (order->len != graph->inputs->len)
    return FALSE;
  for (guint i = 0; i < order->len; i++)
    graph->inputs->pdata[i] = order->pdata[i];
  return TRUE;
}

static char **
list_inputs (const CleaveGraph *graph)
{
  char **names = g_new0 (char *, graph->inputs->len + 1);

  for (guint i = 0; i < graph->inputs->len; i++)
    names[i] = cleave_result_dup_name (graph->inputs->pdata[i]);
  return names;
}

/* The following functions pack the metadata. */

static GVariant *
pack_extents (const gint64 *extents, guint n)
{
  return g_variant_new_fixed_array (G_VARIANT_TYPE_INT64, extents, n, sizeof *extents);
}

static GVariant *
pack_tensors (Saving *s)
{
  GVariantBuilder list = G_VARIANT_BUILDER_INIT (G_VARIANT_TYPE ("a(uaxt)"));

  for (guint i = 0; i < s->tensors->len; i++)
    {
      const CleaveTensorType *type = cleave_tensor_get_type (s->tensors->pdata[i]);

      g_variant_builder_add (&list, "(u@axt)", (guint32) type->element,
                             pack_extents (type->shape.dim, type->shape.rank),
                             add_block (s, cleave_tensor_dup_bytes (s->tensors->pdata[i])));
    }
  return g_variant_builder_end (&list);
}

static GVariant *
pack_constants (const Saving *s)
{
  GVariantBuilder list = G_VARIANT_BUILDER_INIT (G_VARIANT_TYPE ("a(uaxax)"));

  for (guint i = 0; i < s->constants->len; i++)
    {
      CleaveRange range;
      CleaveTensor *base = cleave_tensor_get_base (s->constants->pdata[i], &range);
      gint64 begin[CLEAVE_MAX_RANK], end[CLEAVE_MAX_RANK];

      for (guint d = 0; d < range.rank; d++)
        {
          begin[d] = range.dim[d].begin;
          end[d] = range.dim[d].end;
        }
      g_variant_builder_add (&list, "(u@ax@ax)",
                             GPOINTER_TO_UINT (g_hash_table_lookup (s->index, base)) - 1,
                             pack_extents (begin, range.rank), pack_extents (end, range.rank));
    }
  return g_variant_builder_end (&list);
}

static GVariant *
pack_weights (Saving *s, const GArray *packed)
{
  GVariantBuilder list = G_VARIANT_BUILDER_INIT (G_VARIANT_TYPE ("a(stt)"));

  for (guint i = 0; i < packed->len; i++)
    {
      const CleavePackedWeight *weight = &g_array_index (packed, CleavePackedWeight, i);

      g_variant_builder_add (&list, "(stt)", weight->key, (guint64) weight->n_bytes,
                             add_block (s, g_bytes_new_static (weight->memory, weight->n_bytes)));
    }
  return g_variant_builder_end (&list);
}

static GVariant *
pack_sources (const CleaveGraph *graph, GError **error)
{
  GVariantBuilder list = G_VARIANT_BUILDER_INIT (G_VARIANT_TYPE ("a(aytxs)"));

  for (guint i = 0; graph->files != NULL && i < graph->files->len; i++)
    {
      GVariant *source = cleave_source_new (graph->files->pdata[i], error);

      if (source == NULL)
        {
          g_variant_builder_clear (&list);
          return NULL;
        }
      g_variant_builder_add_value (&list, source);
    }
  return g_variant_builder_end (&list);
}

static GVariant *
pack_array (const GVariantType *type, gconstpointer data, guint n, gsize size)
{
  return g_variant_new_fixed_array (type, data, n, size);
}

static GVariant *
make_metadata (Saving *s,
               GVariant *sources,
               const char *text,
               char **inputs,
               const CleaveRecord *r,
               const CleaveProgram *program,
               gboolean reference)
{
  g_autofree char *library = cleave_saved_dup_library (), *level = cleave_kernel_dup_level ();

  return g_variant_ref_sink (g_variant_new (
      "(ss@a(aytxs)bs^as@a(uaxt)@a(uaxax)u@au@au@ad@ad@axx@a(stt))", library, level, sources,
      reference, text, inputs, pack_tensors (s), pack_constants (s), (guint32) r->n_threads,
      pack_array (G_VARIANT_TYPE_UINT32, r->order, r->n_steps, sizeof (guint)),
      pack_array (G_VARIANT_TYPE_UINT32, r->thread, r->n_steps, sizeof (guint)),
      pack_array (G_VARIANT_TYPE_DOUBLE, r->begins, r->n_steps, sizeof (double)),
      pack_array (G_VARIANT_TYPE_DOUBLE, r->ends, r->n_steps, sizeof (double)),
      pack_array (G_VARIANT_TYPE_INT64, r->offsets, r->n_buffers, sizeof (gint64)), r->n_bytes,
      pack_weights (s, cleave_weights_get_packed (program->weights))));
}

/* The following functions write the file. */

static gboolean
write_bytes (GOutputStream *stream, gconstpointer bytes, gsize n, gsize unit, GError **error)
{
  static const guint8 zeros[CLEAVE_SAVED_PAGE];
  gsize rest = (unit - n % unit) % unit;

  return g_output_stream_write_all (stream, bytes, n, NULL, NULL, error) &&
         g_output_stream_write_all (stream, zeros, rest, NULL, NULL, error);
}

static gboolean
write_all (const Saving *s, GVariant *metadata, GOutputStream *stream, GError **error)
{
  gsize n_metadata = g_variant_get_size (metadata);
  CleaveSavedHeader header = { .order = CLEAVE_SAVED_ORDER,
                               .format = CLEAVE_SAVED_FORMAT,
                               .n_metadata = n_metadata,
                               .n_data = s->n_data };
  g_autofree guint8 *front = g_malloc0 (sizeof header + n_metadata);

  memcpy (header.magic, CLEAVE_SAVED_MAGIC, sizeof header.magic);
  header.data =
      (guint64) cleave_align_up ((gint64) (sizeof header + n_metadata), CLEAVE_SAVED_PAGE);
  memcpy (front, &header, sizeof header);
  g_variant_store (metadata, front + sizeof header);
  if (!write_bytes (stream, front, sizeof header + n_metadata, CLEAVE_SAVED_PAGE, error))
    return FALSE;
  for (guint i = 0; i < s->blocks->len; i++)
    {
      gsize n;
      gconstpointer bytes = g_bytes_get_data (s->blocks->pdata[i], &n);

      if (!write_bytes (stream, bytes, n, CLEAVE_SAVED_LINE, error))
        return FALSE;
    }
  return g_output_stream_close (stream, NULL, error);
}

/* Writes the saved program to `path`. Replaces an old file there instead of changing it, since
 * other processes may have mapped it. */
static gboolean
write_file (const Saving *s, GVariant *metadata, const char *path, GError **error)
{
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autoptr (GFileOutputStream) stream =
      g_file_replace (file, NULL, FALSE, G_FILE_CREATE_REPLACE_DESTINATION, NULL, error);

  return stream != NULL && write_all (s, metadata, G_OUTPUT_STREAM (stream), error);
}

/**
 * cleave_graph_save_program:
 * @graph: the graph to run
 * @options: (nullable): the number of threads and the kind of kernels; %NULL for the defaults
 * @path: (type filename): the file to write
 * @error: return location for a [struct@GLib.Error]
 *
 * Makes a program as [ctor@Cleave.Program.new] does, and writes it to a file for
 * [ctor@Cleave.Program.load]. The file has the graph with its constants, the schedule, the offsets
 * of buffers in the arena, and packed weights. Only the same build of the library on processors of
 * the same level can load the file. A graph with the same options always gives the same bytes, in
 * every process.
 *
 * If the graph was read from files, the saved file lists these files with their SHA-256.
 *
 * Fails as [ctor@Cleave.Program.new] does, and with the errors of GIO if a file cannot be read or
 * written. After an error, a file at @path is unchanged.
 *
 * Returns: %TRUE, or %FALSE on error
 *
 * Since: 0.2
 */
gboolean
cleave_graph_save_program (const CleaveGraph *graph,
                           const CleaveProgramOptions *options,
                           const char *path,
                           GError **error)
{
  g_return_val_if_fail (graph != NULL && path != NULL, FALSE);
  g_auto (Saving) s = { 0 };
  const CleavePrintMore more = { print_constant, &s };
  gboolean reference =
      (options != NULL && options->reference) || cleave_debug_is_on (CLEAVE_DEBUG_REFERENCE);
  g_auto (CleaveSavedDecisions) decisions = { 0 };
  g_autoptr (CleaveProgram) program = NULL;
  g_autoptr (CleaveGraph) same = NULL;
  g_autoptr (GVariant) metadata = NULL, sources = NULL;
  g_auto (GStrv) inputs = list_inputs (graph);
  g_autofree char *text = NULL;

  saving_init (&s);
  text = cleave_graph_print_more (graph, &more);
  /* Plan the program for a graph that is parsed from the text, as load.c will parse it. A plan
   * depends on the order of the nodes, which may differ in `graph`. */
  same = cleave_graph_parse_with (text, s.constants, error);
  if (same == NULL)
    return FALSE;
  if (!cleave_saved_order_inputs (same, (const char *const *) inputs))
    return cleave_fail (error, CLEAVE_ERROR_MODEL, "two inputs of the graph have one name");
  program = cleave_program_new_by (same, options, &decisions, NULL, error);
  sources = program == NULL ? NULL : pack_sources (graph, error);
  if (sources == NULL)
    return FALSE;
  g_variant_ref_sink (sources);
  metadata = make_metadata (&s, sources, text, inputs, &decisions.record, program, reference);
  return write_file (&s, metadata, path, error);
}
