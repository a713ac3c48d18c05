/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Prints the steps of a profile with the longest step first, or adds all steps to JSON in the order
 * of the run. */

#include "times.h"

#include <stdio.h>
#include <stdlib.h>

#define N_PRINTED 30

static int
compare_steps (gconstpointer a, gconstpointer b)
{
  const CleaveStepTime *x = *(const CleaveStepTime *const *) a;
  const CleaveStepTime *y = *(const CleaveStepTime *const *) b;

  return x->nanoseconds != y->nanoseconds ? (x->nanoseconds < y->nanoseconds ? 1 : -1)
                                          : (x > y) - (x < y);
}

static void
print_step (const CleaveStepTime *step, double all)
{
  double ns = (double) step->nanoseconds;

  printf ("%9.1f %5.1f%% %8.1f %6.1f  %s%s  %s\n", ns * 1e-3, 100 * ns / all,
          2 * (double) step->macs / MAX (ns, 1), (double) step->bytes / MAX (ns, 1), step->what,
          step->reference ? " (reference)" : "", step->name);
}

void
cleave_profile_print (const CleaveProfile *profile)
{
  g_autofree const CleaveStepTime **steps = g_new (const CleaveStepTime *, profile->n_steps);
  double all = 0, rest = 0;

  for (guint i = 0; i < profile->n_steps; i++)
    {
      steps[i] = &profile->steps[i];
      all += (double) steps[i]->nanoseconds;
    }
  qsort (steps, profile->n_steps, sizeof *steps, compare_steps);
  printf ("%9s %6s %8s %6s  %s\n", "us", "share", "GFLOP/s", "GB/s", "step");
  for (guint i = 0; i < profile->n_steps; i++)
    if (i < N_PRINTED)
      print_step (steps[i], all);
    else
      rest += (double) steps[i]->nanoseconds;
  if (profile->n_steps > N_PRINTED)
    printf ("%9.1f %5.1f%%                  %u more\n", rest * 1e-3, 100 * rest / all,
            profile->n_steps - N_PRINTED);
}

void
cleave_profile_print_json (const CleaveProfile *profile, CleaveJson *json)
{
  cleave_json_begin_list (json, "steps");
  for (guint i = 0; i < profile->n_steps; i++)
    {
      const CleaveStepTime *step = &profile->steps[i];

      cleave_json_begin (json, NULL);
      cleave_json_string (json, "name", step->name);
      cleave_json_string (json, "what", step->what);
      cleave_json_bool (json, "reference", step->reference);
      cleave_json_int (json, "nanoseconds", step->nanoseconds);
      cleave_json_int (json, "macs", step->macs);
      cleave_json_int (json, "bytes", step->bytes);
      cleave_json_end (json);
    }
  cleave_json_end_list (json);
}
