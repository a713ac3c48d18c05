/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Writes constants as initializers.
 *
 * A split cuts a weight into constants that are ranges of one tensor, the base. If the different
 * ranges together have more bytes than the base, the base is an initializer, and Slices compute the
 * ranges. If not, each range is an initializer. So the file stores at most as many bytes as the
 * base has. */

#include "export.h"

#include "../../ir/defaults.h"
#include "../../ir/graph-private.h"

/* A tensor (the base), and all constants of the graph that have a range of the elements of the
 * base. */
typedef struct
{
  CleaveTensor *base;
  const char *default_name; /* name of the input that has the base as its default value; NULL:
                             * none */
  GPtrArray *results;       /* CleaveResult: the constants that have a range of the base */
  GHashTable *ranges;       /* maps the text of each written range to its name in the file */
  gint64 n_bytes;           /* sum of the bytes of all different ranges */
} BaseGroup;

static void
group_free (gpointer data)
{
  BaseGroup *group = data;

  g_ptr_array_unref (group->results);
  g_hash_table_unref (group->ranges);
  g_free (group);
}

static void
add_to_group (BaseGroup *group, CleaveResult *result)
{
  CleaveTensor *tensor = cleave_node_get_constant (result->node);
  CleaveRange range;
  char *text;

  cleave_tensor_get_base (tensor, &range);
  text = cleave_range_to_string (&range);
  g_ptr_array_add (group->results, result);
  if (g_hash_table_insert (group->ranges, text, NULL))
    group->n_bytes += cleave_tensor_type_n_bytes (cleave_tensor_get_type (tensor));
}

/* Groups the constants of the graph that are ranges of the same tensor. Returns a BaseGroup for
 * each of these tensors. The groups are in graph order, so that the file does not depend on
 * addresses. */
static GPtrArray *
find_groups (const CleaveGraph *graph)
{
  GPtrArray *groups = g_ptr_array_new_with_free_func (group_free);
  g_autoptr (GHashTable) by_base = g_hash_table_new (NULL, NULL);

  for (CleaveNode *node = graph->first; node != NULL; node = node->next)
    {
      CleaveTensor *tensor = cleave_node_get_constant (node);
      CleaveTensor *base = tensor == NULL ? NULL : cleave_tensor_get_base (tensor, NULL);
      BaseGroup *group = base == NULL ? NULL : g_hash_table_lookup (by_base, base);

      if (tensor == NULL || node->results[0].n_uses == 0)
        continue;
      if (group == NULL)
        {
          group = g_new0 (BaseGroup, 1);
          group->base = base;
          group->default_name = cleave_graph_find_default (graph, base);
          group->results = g_ptr_array_new ();
          group->ranges = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
          g_hash_table_insert (by_base, base, group);
          g_ptr_array_add (groups, group);
        }
      add_to_group (group, &node->results[0]);
    }
  return groups;
}

/* Writes the constant `part`, a range of a larger tensor, as an initializer. The caller has checked
 * that all such ranges together take no more bytes than the tensor. */
static void
write_part (CleaveOnnxExport *export, const char *name, CleaveTensor *part)
{
  g_autoptr (CleaveTensor) dense = NULL;

  if (export->packed != NULL && g_hash_table_contains (export->packed, part))
    {
      cleave_onnx_add_packed (export, name, part);
      return;
    }
  dense = cleave_tensor_dup_dense (part);
  cleave_onnx_share_small (export, name, dense);
  cleave_onnx_add_initializer (export, name, dense);
}

/* Returns the name that group->base has in the file. The constants of the group are ranges of this
 * tensor. The first call writes the tensor as an initializer. */
static const char *
write_base (CleaveOnnxExport *export, const BaseGroup *group, const char *name)
{
  const CleaveRange whole = cleave_range_whole (&cleave_tensor_get_type (group->base)->shape);
  g_autofree char *key = cleave_range_to_string (&whole);
  const char *known =
      group->default_name != NULL ? group->default_name : g_hash_table_lookup (group->ranges, key);
  g_autofree char *base = g_strconcat (name, ".whole", NULL);

  if (known != NULL)
    return known;
  known = cleave_onnx_name_value (export, base);
  g_hash_table_insert (group->ranges, g_steal_pointer (&key), (gpointer) known);
  cleave_onnx_add_initializer (export, known, group->base);
  return known;
}

static gboolean
is_whole (const BaseGroup *group, const CleaveResult *result)
{
  const CleaveTensorType *part = cleave_tensor_get_type (cleave_node_get_constant (result->node));

  return cleave_shape_equal (&part->shape, &cleave_tensor_get_type (group->base)->shape);
}

static void
write_constant (CleaveOnnxExport *export, const BaseGroup *group, CleaveResult *result)
{
  const CleaveTensorType *type = cleave_tensor_get_type (group->base);
  CleaveTensor *tensor = cleave_node_get_constant (result->node);
  g_autofree char *key = NULL;
  const char *name;
  CleaveRange range;

  cleave_tensor_get_base (tensor, &range);
  key = cleave_range_to_string (&range);
  name = group->default_name != NULL && is_whole (group, result)
             ? group->default_name
             : g_hash_table_lookup (group->ranges, key);
  if (name != NULL)
    {
      *cleave_onnx_value_name (export, result) = name;
      return;
    }
  name = cleave_onnx_result_name (export, result);
  if (group->default_name == NULL &&
      (is_whole (group, result) || group->n_bytes <= cleave_tensor_type_n_bytes (type)))
    write_part (export, name, tensor);
  else
    cleave_onnx_add_slice (export, result->node->name, write_base (export, group, name),
                           &type->shape, &range, name);
  g_hash_table_insert (group->ranges, g_steal_pointer (&key), (gpointer) name);
}

/* Writes all constants of a group: ranges of one tensor. A constant that is the whole tensor comes
 * first, since other constants may be Slices of this constant. */
static void
write_group (CleaveOnnxExport *export, const BaseGroup *group)
{
  for (guint pass = 0; pass < 2; pass++)
    for (guint i = 0; i < group->results->len; i++)
      if (is_whole (group, group->results->pdata[i]) == (pass == 0))
        write_constant (export, group, group->results->pdata[i]);
}

void
cleave_onnx_export_constants (CleaveOnnxExport *export)
{
  g_autoptr (GPtrArray) groups = find_groups (export->graph);

  for (guint i = 0; i < groups->len; i++)
    write_group (export, groups->pdata[i]);
}
