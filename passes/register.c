/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The list of the passes that pipelines can name: first the passes of the library, then the passes
 * that cleave_pass_register() added. */

#include "register.h"

#include <string.h>

#include "../lib/ir/error.h"

/* clang-format off */
#define X(word) extern const CleavePassInfo cleave_pass_info_##word;
#include "pass-list.h"
#undef X

static const CleavePassInfo *const built_in[] = {
#define X(word) &cleave_pass_info_##word,
#include "pass-list.h"
#undef X
};
/* clang-format on */

static GMutex mutex;      /* protects `passes` */
static GPtrArray *passes; /* CleavePassInfo: all passes; NULL before the first use */

static GPtrArray *
get_passes (void)
{
  if (passes == NULL)
    {
      passes = g_ptr_array_new ();
      for (guint i = 0; i < G_N_ELEMENTS (built_in); i++)
        g_ptr_array_add (passes, (gpointer) built_in[i]);
    }
  return passes;
}

/**
 * cleave_pass_list:
 * @n_passes: (out): number of passes
 *
 * Lists all passes that a pipeline can name, in a fixed order: the passes of the library, then the
 * registered ones. The array is valid until the next pass is registered.
 *
 * Returns: (transfer none) (array length=n_passes): the passes
 *
 * Since: 0.1
 */
const CleavePassInfo *const *
cleave_pass_list (guint *n_passes)
{
  const CleavePassInfo *const *all;

  g_return_val_if_fail (n_passes != NULL, NULL);
  g_mutex_lock (&mutex);
  *n_passes = get_passes ()->len;
  all = (const CleavePassInfo *const *) get_passes ()->pdata;
  g_mutex_unlock (&mutex);
  return all;
}

/* Returns the pass with a name, or NULL. The caller must hold the mutex. */
static const CleavePassInfo *
find (const char *name)
{
  const GPtrArray *all = get_passes ();

  for (guint i = 0; i < all->len; i++)
    if (g_str_equal (((const CleavePassInfo *) all->pdata[i])->name, name))
      return all->pdata[i];
  return NULL;
}

/**
 * cleave_pass_lookup:
 * @name: the name of the pass in a pipeline
 *
 * Finds a pass by its name.
 *
 * Returns: (transfer none) (nullable): the pass, or %NULL if there is none
 *
 * Since: 0.1
 */
const CleavePassInfo *
cleave_pass_lookup (const char *name)
{
  const CleavePassInfo *info;

  g_return_val_if_fail (name != NULL, NULL);
  g_mutex_lock (&mutex);
  info = find (name);
  g_mutex_unlock (&mutex);
  return info;
}

static void
info_free (CleavePassInfo *info)
{
  for (guint i = 0; i < cleave_pass_info_get_n_options (info); i++)
    {
      g_free ((char *) info->options[i].name);
      g_free ((char *) info->options[i].value);
      g_free ((char *) info->options[i].summary);
    }
  g_free ((CleavePassOption *) info->options);
  g_free ((char *) info->name);
  g_free ((char *) info->summary);
  g_free (info);
}

/* Returns a copy of a pass description, which does not depend on the caller's strings. */
static CleavePassInfo *
info_new (const char *name,
          const char *summary,
          const CleavePassOption *options,
          guint n_options,
          CleavePassFunc run)
{
  CleavePassInfo *info = g_new0 (CleavePassInfo, 1);
  CleavePassOption *copies = g_new0 (CleavePassOption, n_options + 1);

  for (guint i = 0; i < n_options; i++)
    copies[i] = (CleavePassOption){ g_strdup (options[i].name), g_strdup (options[i].value),
                                    g_strdup (options[i].summary), options[i].repeats };
  *info = (CleavePassInfo){
    .name = g_strdup (name), .summary = g_strdup (summary), .options = copies, .run = run
  };
  return info;
}

/* Returns whether a pipeline's text can contain this name. */
static gboolean
is_name (const char *name)
{
  return name != NULL && *name != '\0' &&
         name[strspn (name, G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "-_")] == '\0';
}

static gboolean
check_name (const char *name, GError **error)
{
  if (!is_name (name))
    return cleave_fail (error, CLEAVE_ERROR_OPTION,
                        "the name of a pass has letters, digits, '-' and '_' only, not '%s'", name);
  if (g_str_equal (name, "repeat"))
    return cleave_fail (error, CLEAVE_ERROR_OPTION,
                        "'repeat' begins a group of passes and cannot name a pass");
  return TRUE;
}

static gboolean
check_options (const char *pass, const CleavePassOption *options, guint n_options, GError **error)
{
  for (guint i = 0; i < n_options; i++)
    {
      if (!is_name (options[i].name))
        return cleave_fail (error, CLEAVE_ERROR_OPTION,
                            "%s: the name of option %u has letters, digits, '-' and '_' only, not "
                            "'%s'",
                            pass, i, options[i].name == NULL ? "" : options[i].name);
      if (options[i].summary == NULL)
        return cleave_fail (error, CLEAVE_ERROR_OPTION, "%s: option '%s' has no summary", pass,
                            options[i].name);
      for (guint j = 0; j < i; j++)
        if (g_str_equal (options[j].name, options[i].name))
          return cleave_fail (error, CLEAVE_ERROR_OPTION, "%s: option '%s' is described twice",
                              pass, options[i].name);
    }
  return TRUE;
}

/**
 * cleave_pass_register: (skip)
 * @name: the name of the pass in a pipeline: letters, digits, `-` and `_`
 * @summary: a description of the pass, in one sentence
 * @options: (array length=n_options) (nullable): the options of the pass; %NULL for none
 * @n_options: number of @options
 * @run: runs the pass; its options are a [struct@GLib.HashTable] from option names to texts
 * @error: return location for a [struct@GLib.Error]
 *
 * Registers a pass, so that pipelines can name it until the program ends. The strings are copied.
 * `cleave_pass_load()` calls a function of a module, which registers the passes of the module.
 *
 * Fails with %CLEAVE_ERROR_OPTION if another pass has the same name, or if a name is not legal.
 *
 * Returns: %TRUE, or %FALSE on error
 *
 * Since: 0.2
 */
gboolean
cleave_pass_register (const char *name,
                      const char *summary,
                      const CleavePassOption *options,
                      guint n_options,
                      CleavePassFunc run,
                      GError **error)
{
  gboolean is_new;

  g_return_val_if_fail (name != NULL && summary != NULL && run != NULL, FALSE);
  g_return_val_if_fail (options != NULL || n_options == 0, FALSE);
  if (!check_name (name, error) || !check_options (name, options, n_options, error))
    return FALSE;
  g_mutex_lock (&mutex);
  is_new = find (name) == NULL;
  if (is_new)
    g_ptr_array_add (passes, info_new (name, summary, options, n_options, run));
  g_mutex_unlock (&mutex);
  return is_new || cleave_fail (error, CLEAVE_ERROR_OPTION, "there is already a pass '%s'", name);
}

void
cleave_pass_unregister_after (guint n_passes)
{
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&mutex);

  g_assert (n_passes >= G_N_ELEMENTS (built_in));
  while (passes->len > n_passes)
    info_free (g_ptr_array_steal_index (passes, passes->len - 1));
}
