/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Finds the kernel family that serves a call, at the highest level that this processor runs. The
 * environment variable CLEAVE_LEVEL selects a lower level. */

#include <string.h>

#include "kernels.h"

#include "kernel-levels.h"

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

/* A level of the processor for which kernels were compiled, such as v3 (AVX2) of x86-64. `families`
 * is indexed by CleaveKernel. An entry is NULL if the level does not have the family; reference
 * kernels then compute the nodes that the family serves. */
typedef struct
{
  const char *name;
  gboolean (*runs_here) (void);
  const CleaveKernelFamily *families[CLEAVE_N_KERNELS];
} Level;

gboolean cleave_kernel_emulates_avx_vnni;

G_GNUC_UNUSED static gboolean
runs_here_generic (void)
{
  return TRUE;
}

/* The functions `runs_here_…` return whether this processor has the features of a level. The
 * functions test single features, since clang 14 does not know the levels by name. A processor with
 * the listed features has all features of the level. */

#if defined(__x86_64__)
#define AVX_VNNI (1u << 4) /* the bit of AVX-VNNI in EAX of cpuid leaf 7, subleaf 1 */

G_GNUC_UNUSED static gboolean
runs_here_v1 (void)
{
  return TRUE;
}

G_GNUC_UNUSED static gboolean
runs_here_v3 (void)
{
  return __builtin_cpu_supports ("avx2") && __builtin_cpu_supports ("fma") &&
         __builtin_cpu_supports ("bmi") && __builtin_cpu_supports ("bmi2");
}

/* Returns whether this processor has the features of v3 and AVX-VNNI, or v3 alone if AVX-VNNI is
 * emulated. Reads the bit of AVX-VNNI with cpuid, since clang 14 has no name for the feature. */
G_GNUC_UNUSED static gboolean
runs_here_avxvnni (void)
{
  unsigned int a, b, c, d;
  gboolean has = __get_cpuid_count (7, 1, &a, &b, &c, &d) && (a & AVX_VNNI) != 0;

  return runs_here_v3 () && (has || cleave_kernel_emulates_avx_vnni);
}

G_GNUC_UNUSED static gboolean
runs_here_v4 (void)
{
  return runs_here_v3 () && __builtin_cpu_supports ("avx512f") &&
         __builtin_cpu_supports ("avx512bw") && __builtin_cpu_supports ("avx512cd") &&
         __builtin_cpu_supports ("avx512dq") && __builtin_cpu_supports ("avx512vl");
}
#elif defined(__aarch64__)
G_GNUC_UNUSED static gboolean
runs_here_neon (void)
{
  return TRUE;
}

G_GNUC_UNUSED static gboolean
runs_here_dot (void)
{
  return (getauxval (AT_HWCAP) & HWCAP_ASIMDDP) != 0;
}

G_GNUC_UNUSED static gboolean
runs_here_i8mm (void)
{
  return runs_here_dot () && (getauxval (AT_HWCAP2) & HWCAP2_I8MM) != 0;
}
#endif

/* clang-format off */
#define X(level, kernel, family) extern const CleaveKernelFamily family;
#include "levels.h"
#undef X

static const Level levels[] = {
#define LEVEL(level) { .name = #level, .runs_here = runs_here_##level, .families = { [CLEAVE_KERNEL_REFERENCE] = NULL,
#define X(level, kernel, family) [CLEAVE_KERNEL_##kernel] = &family,
#define LEVEL_END } },
#include "levels.h"
#undef LEVEL_END
#undef X
#undef LEVEL
};
/* clang-format on */

/* Returns the level `name` or, if `name` is NULL or no level of this processor, the highest level
 * of this processor. A build may have no level of this processor. Then returns a level without
 * kernel families, so that reference kernels compute all nodes. */
static const Level *
find_level (const char *name)
{
  static const Level reference = { .name = "reference" };
  const Level *best = &reference;

  for (guint i = 0; i < G_N_ELEMENTS (levels); i++)
    {
      if (!levels[i].runs_here ())
        continue;
      best = &levels[i];
      if (name != NULL && strcmp (name, levels[i].name) == 0)
        break;
    }
  return best;
}

/* Returns the level that the environment variable CLEAVE_LEVEL names. If the variable is unset or
 * names no level of this processor, returns the highest level that this processor runs. */
static gpointer
choose_level (gpointer data)
{
  return (gpointer) find_level (g_getenv ("CLEAVE_LEVEL"));
}

static const CleaveKernelFamily *
find_family (const Level *level, const CleaveCall *call)
{
  return call->op->kernel == NULL ? NULL : level->families[call->op->kernel (call)];
}

static const Level *
get_level (void)
{
  static GOnce once = G_ONCE_INIT;

  return g_once (&once, choose_level, NULL);
}

const CleaveKernelFamily *
cleave_kernel_find (const CleaveCall *call)
{
  return find_family (get_level (), call);
}

char *
cleave_kernel_dup_level (void)
{
  gboolean has_vnni = FALSE;

#if defined(__x86_64__)
  has_vnni = __builtin_cpu_supports ("avx512vnni");
#endif
  return g_strconcat (get_level ()->name, has_vnni ? " with vnni" : "", NULL);
}

const char *
cleave_kernel_nth_level (guint n)
{
  for (guint i = 0; i < G_N_ELEMENTS (levels); i++)
    if (levels[i].runs_here () && n-- == 0)
      return levels[i].name;
  return NULL;
}

gboolean
cleave_kernel_level_runs (const char *level)
{
  return strcmp (find_level (level)->name, level) == 0;
}

const CleaveKernelFamily *
cleave_kernel_find_at (const CleaveCall *call, const char *level)
{
  return cleave_kernel_level_runs (level) ? find_family (find_level (level), call) : NULL;
}
