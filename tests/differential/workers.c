/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The parent process never uses OpenMP, since the threads of OpenMP would not exist in a child. */

#include "workers.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "shrink.h"

typedef struct
{
  pid_t pid; /* process of the worker; 0: no worker */
  Report *report;
  guint64 next, end; /* the remaining seeds are from `next` to `end` - 1 */
} Job;

Report *
workers_new_report (void)
{
  Report *report =
      mmap (NULL, sizeof *report, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

  g_assert (report != MAP_FAILED);
  return report;
}

static gint64
get_clock (clockid_t clock)
{
  struct timespec now;

  if (clock_gettime (clock, &now) != 0)
    return 0;
  return now.tv_sec * G_USEC_PER_SEC + now.tv_nsec / 1000;
}

static void
mark_begin (Report *report)
{
  report->cpu_before = get_clock (CLOCK_PROCESS_CPUTIME_ID);
  report->wall_before = g_get_monotonic_time ();
  report->verdict = VERDICT_GOOD;
  report->message[0] = '\0';
  report->busy = TRUE;
}

/* Returns whether a worker hangs: it computes for too long, or it waits, so that its processor time
 * does not grow. Wall-clock time alone is no measure: on a busy machine, a worker may get a
 * fiftieth of a core. */
static gboolean
hangs (pid_t pid, Report *report, gint64 hang_after)
{
  gint64 now = g_get_monotonic_time (), cpu;
  clockid_t clock;

  if (!report->busy || now - report->wall_before < hang_after * G_USEC_PER_SEC)
    return FALSE;
  if (clock_getcpuclockid (pid, &clock) != 0)
    return TRUE;
  cpu = get_clock (clock);
  if (cpu != report->cpu_seen)
    {
      report->cpu_seen = cpu;
      report->wall_seen = now;
    }
  return cpu - report->cpu_before > hang_after * G_USEC_PER_SEC ||
         now - report->wall_seen > 6 * hang_after * G_USEC_PER_SEC;
}

/* Returns whether a process ended. Sets its verdict if it crashed. */
static gboolean
has_ended (pid_t pid, Report *report, gint64 hang_after)
{
  int status;
  pid_t got = waitpid (pid, &status, WNOHANG);

  if (got == 0 && hangs (pid, report, hang_after))
    {
      kill (pid, SIGKILL);
      waitpid (pid, &status, 0);
      report->verdict = VERDICT_HANG;
      g_snprintf (report->message, sizeof report->message, "over %" G_GINT64_FORMAT " s",
                  hang_after);
      return TRUE;
    }
  if (got == 0)
    return FALSE;
  if (WIFSIGNALED (status) || (WEXITSTATUS (status) != 0 && report->verdict == VERDICT_GOOD))
    {
      report->verdict = VERDICT_CRASH;
      g_snprintf (report->message, sizeof report->message, "%s %d",
                  WIFSIGNALED (status) ? "signal" : "exit",
                  WIFSIGNALED (status) ? WTERMSIG (status) : WEXITSTATUS (status));
    }
  return TRUE;
}

Verdict
workers_judge (Report *report, Tape *graph, Tape *way, gint64 hang_after)
{
  pid_t pid;

  mark_begin (report);
  report->cpu_before = 0;
  pid = fork ();
  if (pid == 0)
    {
      prctl (PR_SET_PDEATHSIG, SIGKILL);
      (void) !freopen ("/dev/null", "w", stderr);
      judge_way (graph, way, report);
      _exit (0);
    }
  while (!has_ended (pid, report, hang_after))
    g_usleep (300);
  tape_clear (graph);
  tape_clear (way);
  return report->verdict;
}

/* Judges the seeds of a job (a range of seeds) in a worker process. The process ends after a few
 * hundred seeds, so that leaks stay small. */
static void
work (Job *job)
{
  guint64 end = MIN (job->end, job->next + 500);

  prctl (PR_SET_PDEATHSIG, SIGKILL);
  for (guint64 seed = job->next; seed < end; seed++)
    {
      job->report->seed = seed;
      mark_begin (job->report);
      if (judge_seed (seed, job->report) != VERDICT_GOOD)
        _exit (0);
    }
  job->report->busy = FALSE;
  job->report->seed = end;
  _exit (0);
}

static void
start (Job *job)
{
  job->report->busy = FALSE;
  job->report->verdict = VERDICT_GOOD;
  job->pid = fork ();
  if (job->pid == 0)
    work (job);
}

static void
tell_failure (const Plan *plan, const Report *report, guint n_failures)
{
  g_print ("FAILED seed %" G_GUINT64_FORMAT " way %u: %s: %s\n", report->seed, report->way,
           verdict_name (report->verdict), report->message);
  g_print ("  again: --seed %" G_GUINT64_FORMAT "\n", report->seed);
  fflush (stdout);
  if (n_failures <= plan->max_failures)
    shrink (report->seed, report->way, report->verdict, plan);
}

/* Starts a worker for a job (a range of seeds) if the job has none. If the worker ended with a
 * failure, reports the failure and adds 1 to `n_failures`. Returns TRUE if the job has no seeds
 * left. */
static gboolean
attend (const Plan *plan, Job *job, gboolean stop, guint *n_failures)
{
  if (job->pid == 0)
    {
      if (stop || job->next >= job->end)
        return TRUE;
      start (job);
      return FALSE;
    }
  if (!has_ended (job->pid, job->report, plan->hang_after))
    return FALSE;
  job->pid = 0;
  job->next = job->report->seed + (job->report->verdict == VERDICT_GOOD ? 0 : 1);
  if (job->report->verdict != VERDICT_GOOD)
    tell_failure (plan, job->report, ++*n_failures);
  return FALSE;
}

static void
add_counts (Counts *to, const Counts *from)
{
  to->graphs += from->graphs;
  to->nodes += from->nodes;
  to->programs += from->programs;
  for (guint i = 0; i < COUNT_OPS; i++)
    {
      to->ops[i].seen += from->ops[i].seen;
      to->ops[i].split += from->ops[i].split;
      to->ops[i].whole += from->ops[i].whole;
    }
  for (guint i = 0; i < COUNT_WAYS && from->ways[i].name[0] != '\0'; i++)
    {
      guint k = 0;

      while (to->ways[k].name[0] != '\0' && !g_str_equal (to->ways[k].name, from->ways[i].name))
        k++;
      g_strlcpy (to->ways[k].name, from->ways[i].name, sizeof to->ways[k].name);
      to->ways[k].done += from->ways[i].done;
      to->ways[k].refused += from->ways[i].refused;
    }
}

static void
write_counts (const Plan *plan, const Job *jobs, guint n_failures, gint64 begin)
{
  g_autofree Counts *counts = g_new0 (Counts, 1);
  GString *out = g_string_new (NULL);

  for (guint i = 0; i < plan->n_jobs; i++)
    add_counts (counts, &jobs[i].report->counts);
  counts_print (counts, out);
  g_string_append_printf (out, "total\tfailures\t%u\n", n_failures);
  g_string_append_printf (out, "total\tseconds\t%" G_GINT64_FORMAT "\n",
                          (g_get_monotonic_time () - begin) / G_USEC_PER_SEC);
  if (plan->counts != NULL)
    g_file_set_contents (plan->counts, out->str, (gssize) out->len, NULL);
  g_string_free (out, TRUE);
}

guint
workers_run (const Plan *plan)
{
  g_autofree Job *jobs = g_new0 (Job, plan->n_jobs);
  gint64 begin = g_get_monotonic_time (), written = begin;
  guint n_failures = 0, n_idle = 0;
  guint64 n_graphs = 0;

  for (guint i = 0; i < plan->n_jobs; i++)
    {
      jobs[i].report = workers_new_report ();
      jobs[i].next = plan->first + plan->n * i / plan->n_jobs;
      jobs[i].end = plan->first + plan->n * (i + 1) / plan->n_jobs;
    }
  while (n_idle < plan->n_jobs)
    {
      gboolean stop =
          plan->seconds > 0 && g_get_monotonic_time () - begin > plan->seconds * G_USEC_PER_SEC;

      n_idle = 0;
      for (guint i = 0; i < plan->n_jobs; i++)
        {
          if (stop && jobs[i].pid != 0 && jobs[i].end > jobs[i].report->seed + 1)
            jobs[i].end = jobs[i].report->seed + 1;
          n_idle += attend (plan, &jobs[i], stop, &n_failures) ? 1 : 0;
        }
      if (g_get_monotonic_time () - written > 30 * G_USEC_PER_SEC)
        {
          written = g_get_monotonic_time ();
          write_counts (plan, jobs, n_failures, begin);
        }
      g_usleep (2000);
    }
  write_counts (plan, jobs, n_failures, begin);
  for (guint i = 0; i < plan->n_jobs; i++)
    n_graphs += jobs[i].report->counts.graphs;
  g_print ("%" G_GUINT64_FORMAT " graphs, %u failures, %.1f s\n", n_graphs, n_failures,
           (double) (g_get_monotonic_time () - begin) / G_USEC_PER_SEC);
  return n_failures;
}
