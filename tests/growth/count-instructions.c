/* SPDX-License-Identifier: GPL-2.0-or-later */

/* count-instructions FILE COMMAND...: runs the command, and writes to FILE the number of user-mode
 * instructions that its processes executed. Exits with the command's status, or with 77 if the
 * machine has no such counter. */

#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int
open_counter (pid_t pid)
{
  struct perf_event_attr attr = { .type = PERF_TYPE_HARDWARE,
                                  .size = sizeof attr,
                                  .config = PERF_COUNT_HW_INSTRUCTIONS,
                                  .disabled = 1,
                                  .inherit = 1,
                                  .exclude_kernel = 1,
                                  .exclude_hv = 1,
                                  .enable_on_exec = 1 };

  return (int) syscall (SYS_perf_event_open, &attr, pid, -1, -1, 0);
}

static int
write_count (const char *path, int counter)
{
  uint64_t count;
  FILE *file = fopen (path, "w");

  if (file == NULL)
    return 1;
  if (read (counter, &count, sizeof count) != sizeof count || count == 0)
    count = 0;
  fprintf (file, "%" PRIu64 "\n", count);
  return fclose (file) != 0 || count == 0;
}

int
main (int argc, char **argv)
{
  int ready[2], counter, status;
  char byte = 0;
  pid_t child;

  if (argc < 3 || pipe (ready) != 0 || (child = fork ()) < 0)
    return 2;
  if (child == 0)
    {
      close (ready[1]);
      if (read (ready[0], &byte, 1) == 1)
        execvp (argv[2], argv + 2);
      _exit (127);
    }
  close (ready[0]);
  counter = open_counter (child);
  if (counter < 0)
    {
      fprintf (stderr, "SKIP: instructions cannot be counted here: %s\n", strerror (errno));
      return 77;
    }
  if (write (ready[1], &byte, 1) != 1 || waitpid (child, &status, 0) != child)
    return 2;
  if (write_count (argv[1], counter) != 0)
    return 77;
  return WIFEXITED (status) ? WEXITSTATUS (status) : 128 + WTERMSIG (status);
}
