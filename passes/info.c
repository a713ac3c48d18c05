/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Implements the public functions of pass descriptions: name, summary and options. */

#include "info.h"

#include "../lib/ir/boxed.h"

/* Returns `info` itself as its copy for the boxed type: records of passes are never freed. */
static gpointer
keep (gpointer info)
{
  return info;
}

static void
drop (gpointer info)
{
}

CLEAVE_DEFINE_BOXED (CleavePassInfo, pass_info, keep, drop)

/**
 * cleave_pass_info_get_name:
 * @info: a pass
 *
 * Returns: the name of the pass in a pipeline
 *
 * Since: 0.1
 */
const char *
cleave_pass_info_get_name (const CleavePassInfo *info)
{
  g_return_val_if_fail (info != NULL, NULL);
  return info->name;
}

/**
 * cleave_pass_info_get_summary:
 * @info: a pass
 *
 * Returns: a description of the pass, in one sentence
 *
 * Since: 0.1
 */
const char *
cleave_pass_info_get_summary (const CleavePassInfo *info)
{
  g_return_val_if_fail (info != NULL, NULL);
  return info->summary;
}

/**
 * cleave_pass_info_get_pipeline:
 * @info: a pass
 *
 * Returns: (nullable): the pipeline that the pass stands for, or %NULL if the pass runs a function
 *
 * Since: 0.1
 */
const char *
cleave_pass_info_get_pipeline (const CleavePassInfo *info)
{
  g_return_val_if_fail (info != NULL, NULL);
  return info->pipeline;
}

/**
 * cleave_pass_info_get_n_options:
 * @info: a pass
 *
 * Returns: the number of options
 *
 * Since: 0.1
 */
guint
cleave_pass_info_get_n_options (const CleavePassInfo *info)
{
  guint n = 0;

  g_return_val_if_fail (info != NULL, 0);
  while (info->options != NULL && info->options[n].name != NULL)
    n++;
  return n;
}

/**
 * cleave_pass_info_get_option:
 * @info: a pass
 * @index: index of the option
 *
 * Returns: (transfer none): the option
 *
 * Since: 0.1
 */
const CleavePassOption *
cleave_pass_info_get_option (const CleavePassInfo *info, guint index)
{
  g_return_val_if_fail (index < cleave_pass_info_get_n_options (info), NULL);
  return &info->options[index];
}
