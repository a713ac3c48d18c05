/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Resize that interpolates. */

#include "op-help.h"

gboolean
cleave_bundle_describe_linear (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  return cleave_bundle_fail (node, error, "a bundle has no kernel for interpolation");
}
