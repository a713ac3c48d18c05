/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Keeps the paths of temporary files in an array of fixed size, since a signal handler cannot use a
 * list that grows. */

#include "temporaries.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

/* A signal handler removes at most this many temporary files. */
#define MAX_TEMPORARIES 64
/* Paths of the temporary files. The list must not change while another thread writes an output. */
static char *volatile temporaries[MAX_TEMPORARIES];

static void
on_signal (int number)
{
  int kept = errno;

  for (guint i = 0; i < MAX_TEMPORARIES; i++)
    if (temporaries[i] != NULL)
      unlink (temporaries[i]);
  signal (number, SIG_DFL);
  raise (number);
  errno = kept;
}

void
cleave_temporaries_catch_signals (void)
{
  static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXCPU, SIGALRM };

  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    {
      struct sigaction action = { 0 };

      sigaction (numbers[i], NULL, &action);
      if (action.sa_handler == SIG_DFL)
        signal (numbers[i], on_signal);
    }
  signal (SIGXFSZ, SIG_IGN);
}

void
cleave_temporaries_add (char *path)
{
  guint i = 0;

  while (i < MAX_TEMPORARIES && temporaries[i] != NULL)
    i++;
  if (i < MAX_TEMPORARIES)
    temporaries[i] = path;
}

void
cleave_temporaries_remove (const char *path)
{
  for (guint i = 0; i < MAX_TEMPORARIES; i++)
    if (temporaries[i] == path)
      temporaries[i] = NULL;
}
