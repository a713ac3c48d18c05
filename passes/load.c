/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Loads passes from a shared library that is not a part of Cleave. */

#include "register.h"

#include <gmodule.h>

#include "../lib/ir/error.h"

#define FUNCTION "cleave_register_passes"

/* Calls the function of a module that registers the module's passes. Returns FALSE and sets the
 * error if that function fails or registers no pass. `n_before` is the number of passes before the
 * call. */
static gboolean
register_passes (GModule *module, const char *path, guint n_before, GError **error)
{
  union
  {
    gpointer symbol;
    gboolean (*call) (GError **error);
  } function;
  guint n_after;

  if (!g_module_symbol (module, FUNCTION, &function.symbol) || function.symbol == NULL)
    return cleave_fail (error, CLEAVE_ERROR_OPTION,
                        "'%s' has no function " FUNCTION " (), which registers passes", path);
  if (!function.call (error))
    {
      g_prefix_error (error, "'%s': ", path);
      return FALSE;
    }
  cleave_pass_list (&n_after);
  if (n_after == n_before)
    return cleave_fail (error, CLEAVE_ERROR_OPTION,
                        "'%s' registered no pass; link it with the libcleave of this program",
                        path);
  return TRUE;
}

/**
 * cleave_pass_load:
 * @path: (type filename): the file of the module, a shared library
 * @error: return location for a [struct@GLib.Error]
 *
 * Loads a module with passes, and registers them. The module defines
 * `gboolean cleave_register_passes (GError **error)`, which calls `cleave_pass_register()` for each
 * of its passes. The module stays loaded until the program ends. A module is code: load only
 * modules that you trust.
 *
 * Fails with %CLEAVE_ERROR_OPTION if the file is not a module, or if the module does not define the
 * function or registers no pass. If the function fails, fails with the error of the function. After
 * an error, no pass of the module is registered.
 *
 * Returns: %TRUE, or %FALSE on error
 *
 * Since: 0.2
 */
gboolean
cleave_pass_load (const char *path, GError **error)
{
  g_autofree char *full = NULL;
  GModule *module;
  guint n_before;

  g_return_val_if_fail (path != NULL, FALSE);
  full = g_canonicalize_filename (path, NULL);
  module = g_module_open (full, G_MODULE_BIND_LOCAL);
  if (module == NULL)
    return cleave_fail (error, CLEAVE_ERROR_OPTION, "cannot load '%s': %s", path,
                        g_module_error ());
  cleave_pass_list (&n_before);
  if (!register_passes (module, path, n_before, error))
    {
      cleave_pass_unregister_after (n_before);
      g_module_close (module);
      return FALSE;
    }
  g_module_make_resident (module);
  return TRUE;
}
