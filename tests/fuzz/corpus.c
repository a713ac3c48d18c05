/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Runs a fuzz target without libFuzzer. The inputs are mutations of the target's corpus, made from
 * some thousand seeds. Alternatively, the command line names files as inputs, so that AFL++ can run
 * this program (@@). `--write FOLDER` writes the corpus for libFuzzer and AFL++. `--seeds FIRST N`
 * runs the seeds FIRST to FIRST + N - 1 in this process. */

#include "fuzz.h"

#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#define N_SEEDS 20000
/* The number of seeds between two lines of progress. */
#define N_BETWEEN_PRINTS 100000
/* If the target takes more seconds of processor time, it hangs, and SIGPROF ends the process. */
#define SECONDS_AT_MOST 60

/* Bytes that often break the parsing of numbers, sizes and texts. */
static const guint8 odd[] = { 0x00, 0x01, 0x02, 0x07, 0x08, 0x09, 0x0a, 0x7f,
                              0x80, 0xff, ',',  '-',  '/',  ':',  '0',  '9' };

static void
change (GByteArray *bytes, GRand *rand)
{
  guint at = (guint) g_rand_int_range (rand, 0, (gint32) bytes->len);
  guint wanted = (guint) g_rand_int_range (rand, 1, 9);
  guint n = MIN (wanted, bytes->len - at);
  guint8 byte = odd[g_rand_int_range (rand, 0, G_N_ELEMENTS (odd))];
  guint8 copy[8];

  switch (g_rand_int_range (rand, 0, 6))
    {
    case 0:
      bytes->data[at] ^= (guint8) (1 << g_rand_int_range (rand, 0, 8));
      break;
    case 1:
      bytes->data[at] = byte;
      break;
    case 2: /* copies another byte of the same file */
      bytes->data[at] = bytes->data[g_rand_int_range (rand, 0, (gint32) bytes->len)];
      break;
    case 3:
      g_byte_array_remove_range (bytes, at, n);
      break;
    case 4:
      memcpy (copy, bytes->data + at, n);
      g_byte_array_append (bytes, copy, n);
      break;
    default:
      memset (bytes->data + at, byte, n);
      break;
    }
}

/* Returns a file of the corpus, changed in up to four places. */
static GBytes *
mutate (const GPtrArray *files, guint32 seed)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  GBytes *file = files->pdata[g_rand_int_range (rand, 0, (gint32) files->len)];
  GByteArray *bytes = g_byte_array_new ();
  guint n_changes = (guint) g_rand_int_range (rand, 1, 5);
  gsize size;

  g_byte_array_append (bytes, g_bytes_get_data (file, &size), (guint) g_bytes_get_size (file));
  for (guint i = 0; i < n_changes && bytes->len > 0; i++)
    change (bytes, rand);
  return g_byte_array_free_to_bytes (bytes);
}

/* Starts the timer of a seed. The timer counts only the processor time of this process. */
static void
limit_time (void)
{
  const struct itimerval limit = { .it_value = { .tv_sec = SECONDS_AT_MOST } };

  setitimer (ITIMER_PROF, &limit, NULL);
}

/* Runs the target on a mutated file. Returns whether the target still accepts the file. */
static gboolean
run_seed (const GPtrArray *files, guint32 seed)
{
  g_autoptr (GBytes) changed = mutate (files, seed);

  LLVMFuzzerTestOneInput (g_bytes_get_data (changed, NULL), g_bytes_get_size (changed));
  return fuzz_is_accepted (changed);
}

static int
run_seeds (const GPtrArray *files, guint32 first, guint n)
{
  for (guint32 seed = first; seed - first < n; seed++)
    {
      g_autoptr (GBytes) changed = mutate (files, seed);

      if ((seed - first) % N_BETWEEN_PRINTS == 0)
        fprintf (stderr, "seed %u\n", seed);
      limit_time ();
      LLVMFuzzerTestOneInput (g_bytes_get_data (changed, NULL), g_bytes_get_size (changed));
    }
  printf ("%u seeds from %u\n", n, first);
  return 0;
}

static int
run_files (char **paths)
{
  for (guint i = 0; paths[i] != NULL; i++)
    {
      g_autoptr (GMappedFile) file = g_mapped_file_new (paths[i], FALSE, NULL);

      if (file == NULL)
        return 1;
      LLVMFuzzerTestOneInput ((const guint8 *) g_mapped_file_get_contents (file),
                              g_mapped_file_get_length (file));
    }
  return 0;
}

static int
write_files (const GPtrArray *files, const char *folder)
{
  for (guint i = 0; i < files->len; i++)
    {
      g_autofree char *path = g_strdup_printf ("%s/corpus-%u", folder, i);
      GBytes *file = files->pdata[i];

      if (!g_file_set_contents (path, g_bytes_get_data (file, NULL),
                                (gssize) g_bytes_get_size (file), NULL))
        return 1;
    }
  return 0;
}

int
main (int argc, char **argv)
{
  g_autoptr (GPtrArray) files = fuzz_make_corpus ();
  guint n_accepted = 0;

  if (argc == 3 && strcmp (argv[1], "--write") == 0)
    return write_files (files, argv[2]);
  if (argc == 4 && strcmp (argv[1], "--seeds") == 0)
    return run_seeds (files, (guint32) strtoul (argv[2], NULL, 10),
                      (guint) strtoul (argv[3], NULL, 10));
  if (argc > 1)
    return run_files (argv + 1);
  for (guint i = 0; i < files->len; i++)
    if (!fuzz_is_accepted (files->pdata[i]))
      fuzz_fail ("entry %u of the corpus is not accepted", i);
  for (guint32 seed = 0; seed < N_SEEDS; seed++)
    {
      if (g_getenv ("FUZZ_VERBOSE") != NULL)
        fprintf (stderr, "seed %u\n", seed);
      n_accepted += run_seed (files, seed) ? 1 : 0;
    }
  printf ("%u of %u accepted\n", n_accepted, N_SEEDS);
  g_assert_cmpuint (n_accepted, >, N_SEEDS / 100);
  g_assert_cmpuint (n_accepted, <, N_SEEDS);
  return 0;
}
