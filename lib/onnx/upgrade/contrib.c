/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Upgrades the ops of com.microsoft, which ONNX Runtime's optimizer and quantizer write, to
 * standard ops. Six of the files contrib-*.c have a table of upgrades (contrib.h). Searches these
 * tables for the upgrade of an op. */

#include "contrib.h"

#include <string.h>

static const CleaveOnnxContrib *const families[] = {
  cleave_onnx_contrib_quantized, cleave_onnx_contrib_fused,   cleave_onnx_contrib_norm,
  cleave_onnx_contrib_attention, cleave_onnx_contrib_grouped, cleave_onnx_contrib_blocks
};

static const CleaveOnnxContrib *
find (const char *op)
{
  for (guint i = 0; i < G_N_ELEMENTS (families); i++)
    for (const CleaveOnnxContrib *known = families[i]; known->op != NULL; known++)
      if (strcmp (known->op, op) == 0)
        return known;
  return NULL;
}

gboolean
cleave_onnx_is_contrib (const char *domain, const char *op)
{
  return g_strcmp0 (domain, "com.microsoft") == 0 && find (op) != NULL;
}

gboolean
cleave_onnx_upgrade_contrib (CleaveOnnxNode *node, GError **error)
{
  return find (node->op)->upgrade (node, error);
}
