/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Parses the text of a pipeline by recursive descent. A step is a pass with its options, or a
 * group `repeat(…)`. Each error names the place in the text. */

#include "pipeline.h"

#include <string.h>

#include <cleave/cleave-languages.h>

#include "../lib/ir/error.h"
#include "../lib/ir/text.h"

/* Grammar of a pipeline:
 *
 *     pipeline = step { "," step }
 *     step     = "repeat(" pipeline ")" | pass [ "{" { option } "}" ]
 *     option   = name [ "=" value ]
 *     value    = quoted text, or text without spaces and "}"
 *
 * Spaces and line breaks are allowed between all these parts; "#" begins a comment. */

/* Groups may be nested at most this deep, so that a text with many brackets does not exhaust the
 * stack. */
#define MAX_DEPTH 64

typedef struct
{
  const char *text, *at;
  guint depth;
  gboolean repeats; /* the parser is inside a repeat group */
} Parser;

static CleavePipeline *parse_steps (Parser *parser, char end, GError **error);

static gboolean fail (const Parser *parser, const char *at, GError **error, const char *format, ...)
    G_GNUC_PRINTF (4, 5);

static gboolean
fail (const Parser *parser, const char *at, GError **error, const char *format, ...)
{
  g_autofree char *place = cleave_text_dup_place (parser->text, at), *message = NULL;
  va_list args;

  va_start (args, format);
  message = g_strdup_vprintf (format, args);
  va_end (args);
  return cleave_fail (error, CLEAVE_ERROR_OPTION, "pipeline, %s: %s", place, message);
}

static void
skip_space (Parser *parser)
{
  while (g_ascii_isspace (*parser->at) || *parser->at == '#')
    if (*parser->at == '#')
      parser->at += strcspn (parser->at, "\n");
    else
      parser->at++;
}

/* Returns the next character as text for a message. */
static char *
dup_next (const Parser *parser)
{
  const char *end = *parser->at == '\0' ? parser->at : g_utf8_next_char (parser->at);

  return *parser->at == '\0' ? g_strdup ("the end")
                             : g_strdup_printf ("'%.*s'", (int) (end - parser->at), parser->at);
}

static char *
take_name (Parser *parser)
{
  const char *begin = parser->at;

  while (g_ascii_isalnum (*parser->at) || *parser->at == '-' || *parser->at == '_')
    parser->at++;
  return g_strndup (begin, (gsize) (parser->at - begin));
}

/* Consumes the value after "=" and returns it without quotes. Returns NULL if a quote does not
 * end. */
static char *
take_value (Parser *parser)
{
  const char *begin = parser->at;

  if (*begin == '"')
    {
      const char *end = strchr (begin + 1, '"');

      if (end == NULL)
        return NULL;
      parser->at = end + 1;
      return g_strndup (begin + 1, (gsize) (end - begin - 1));
    }
  while (*parser->at != '\0' && *parser->at != '}' && !g_ascii_isspace (*parser->at))
    parser->at++;
  return g_strndup (begin, (gsize) (parser->at - begin));
}

static const CleavePassOption *
find_option (const CleavePassInfo *info, const char *name)
{
  for (guint i = 0; i < cleave_pass_info_get_n_options (info); i++)
    if (g_str_equal (info->options[i].name, name))
      return &info->options[i];
  return NULL;
}

/* Returns `; did you mean …?` with the nearest of `names`. Returns an empty text if none is
 * near. */
static char *
dup_hint (const char *name, const GPtrArray *names)
{
  const char *nearest = cleave_text_find_nearest (name, (const char *const *) names->pdata);

  return nearest == NULL ? g_strdup ("") : g_strdup_printf ("; did you mean '%s'?", nearest);
}

static char *
dup_option_hint (const CleavePassInfo *info, const char *name)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();

  for (guint i = 0; i < cleave_pass_info_get_n_options (info); i++)
    g_ptr_array_add (names, (gpointer) info->options[i].name);
  g_ptr_array_add (names, NULL);
  return dup_hint (name, names);
}

static char *
dup_pass_hint (const char *name)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  guint n;
  const CleavePassInfo *const *passes = cleave_pass_list (&n);

  for (guint i = 0; i < n; i++)
    g_ptr_array_add (names, (gpointer) passes[i]->name);
  g_ptr_array_add (names, NULL);
  return dup_hint (name, names);
}

static gboolean
fail_option (const Parser *parser,
             const char *begin,
             const CleavePassInfo *info,
             const char *name,
             GError **error)
{
  g_autofree char *hint = dup_option_hint (info, name);

  return fail (parser, begin, error, "%s has no option '%s'%s", info->name, name, hint);
}

static gboolean
fail_pass (const Parser *parser, const char *begin, const char *name, GError **error)
{
  g_autofree char *hint = dup_pass_hint (name);

  return fail (parser, begin, error, "there is no pass '%s'%s", name, hint);
}

static gboolean
parse_option (Parser *parser, CleavePipelineStep *step, GError **error)
{
  const char *begin = parser->at;
  g_autofree char *name = take_name (parser), *value = NULL, *next = dup_next (parser);
  const CleavePassOption *option = find_option (step->info, name);
  const char *before = g_hash_table_lookup (step->options, name);
  gboolean has_value = *parser->at == '=';

  if (*name == '\0')
    return fail (parser, begin, error, "expected an option of %s or '}', not %s", step->info->name,
                 next);
  if (option == NULL)
    return fail_option (parser, begin, step->info, name, error);
  if (has_value != (option->value != NULL))
    return has_value
               ? fail (parser, parser->at, error, "%s is a flag and takes no value", name)
               : fail (parser, begin, error, "%s takes a value: %s=%s", name, name, option->value);
  if (before != NULL && !option->repeats)
    return fail (parser, begin, error, "%s is given twice", name);
  parser->at += has_value;
  value = has_value ? take_value (parser) : g_strdup ("");
  if (value == NULL)
    return fail (parser, parser->at, error, "the quoted text does not end");
  if (before != NULL)
    g_hash_table_insert (step->options, g_steal_pointer (&name),
                         g_strconcat (before, "\n", value, NULL));
  else
    g_hash_table_insert (step->options, g_steal_pointer (&name), g_steal_pointer (&value));
  return TRUE;
}

static gboolean
parse_options (Parser *parser, CleavePipelineStep *step, GError **error)
{
  parser->at++;
  for (skip_space (parser); *parser->at != '}'; skip_space (parser))
    if (*parser->at == '\0')
      return fail (parser, parser->at, error, "expected '}' after the options of %s, not the end",
                   step->info->name);
    else if (!parse_option (parser, step, error))
      return FALSE;
  parser->at++;
  return TRUE;
}

/* Returns whether the options of a pass are valid, as the pass's function `check` decides. If an
 * option is wrong, sets an error that names the place in the pipeline's text. */
static gboolean
check_options (const Parser *parser,
               const char *begin,
               const CleavePipelineStep *step,
               GError **error)
{
  g_autoptr (GError) wrong = NULL;

  if (step->info->check == NULL || step->info->check (step->options, &wrong))
    return TRUE;
  return fail (parser, begin, error, "%s: %s", step->info->name, wrong->message);
}

static gboolean
parse_pass (Parser *parser, const char *name, CleavePipelineStep *step, GError **error)
{
  const char *begin = parser->at - strlen (name), *end = parser->at;

  step->info = cleave_pass_lookup (name);
  if (step->info == NULL)
    return fail_pass (parser, begin, name, error);
  if (parser->repeats && step->info->is_for_once)
    return fail (parser, begin, error, "%s cannot be repeated: it would never end", name);
  step->options = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  skip_space (parser);
  if (*parser->at == '{')
    {
      if (!parse_options (parser, step, error))
        return FALSE;
      end = parser->at;
    }
  step->text = g_strndup (begin, (gsize) (end - begin));
  if (step->info->pipeline != NULL)
    step->group = cleave_pipeline_parse (step->info->pipeline, error);
  return (step->info->pipeline == NULL || step->group != NULL) &&
         check_options (parser, begin, step, error);
}

static gboolean
parse_group (Parser *parser, CleavePipelineStep *step, GError **error)
{
  gboolean repeats = parser->repeats;

  if (parser->depth == MAX_DEPTH)
    return fail (parser, parser->at, error, "groups lie at most %d deep", MAX_DEPTH);
  parser->at++;
  parser->depth++;
  parser->repeats = TRUE;
  step->group = parse_steps (parser, ')', error);
  parser->repeats = repeats;
  parser->depth--;
  if (step->group == NULL)
    return FALSE;
  parser->at++;
  return TRUE;
}

static gboolean
parse_step (Parser *parser, CleavePipelineStep *step, GError **error)
{
  const char *begin = parser->at;
  g_autofree char *name = take_name (parser), *next = dup_next (parser);

  if (*name == '\0')
    return fail (parser, begin, error, "expected a pass or repeat(…), not %s", next);
  if (g_str_equal (name, "repeat"))
    {
      skip_space (parser);
      return *parser->at == '(' ? parse_group (parser, step, error)
                                : fail (parser, parser->at, error, "expected '(' after repeat");
    }
  return parse_pass (parser, name, step, error);
}

/* Parses steps up to the character `end`, which is not consumed. Returns NULL and sets the error if
 * the text is wrong. */
static CleavePipeline *
parse_steps (Parser *parser, char end, GError **error)
{
  g_autoptr (CleavePipeline) pipeline = cleave_pipeline_new ();

  for (;; parser->at++)
    {
      const CleavePipelineStep none = { 0 };
      g_autofree char *next = NULL;

      skip_space (parser);
      g_array_append_val (pipeline->steps, none);
      if (!parse_step (
              parser,
              &g_array_index (pipeline->steps, CleavePipelineStep, pipeline->steps->len - 1),
              error))
        return NULL;
      skip_space (parser);
      if (*parser->at == end)
        return g_steal_pointer (&pipeline);
      next = dup_next (parser);
      if (*parser->at != ',')
        {
          fail (parser, parser->at, error, "expected ',' or %s, not %s",
                end == '\0' ? "the end" : "')'", next);
          return NULL;
        }
    }
}

/**
 * cleave_pipeline_parse:
 * @text: the passes, such as `fold-constants,split{node=pool1 dims=H num-chunks=2},clean-up`
 * @error: return location for a [struct@GLib.Error]
 *
 * Parses a pipeline: passes separated by commas, their options in braces, and groups `repeat(…)`
 * that run until nothing changes. A value with spaces or a closing brace must be quoted. Spaces,
 * line breaks and comments from `#` to the end of the line are allowed between passes and between
 * options.
 *
 * Fails with %CLEAVE_ERROR_OPTION, naming the column, and the line if the text has several.
 *
 * Returns: (transfer full) (nullable): the pipeline, or %NULL on error
 *
 * Since: 0.1
 */
CleavePipeline *
cleave_pipeline_parse (const char *text, GError **error)
{
  Parser parser = { .text = text, .at = text };

  g_return_val_if_fail (text != NULL, NULL);
  if (!g_utf8_validate (text, -1, NULL))
    return cleave_fail_null (error, CLEAVE_ERROR_OPTION, "pipeline: the text is not UTF-8");
  return parse_steps (&parser, '\0', error);
}
