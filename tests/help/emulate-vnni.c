/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Runs instructions of AVX-VNNI on a processor that lacks them. The first line is the AVX-VNNI code
 * of `vpdpbusd` on registers of 256 bits; the second line is the AVX-512 code of the same
 * operation:
 *
 *   C4 | ~R ~X ~B 00010        | 0 ~vvvv L pp  | 50 | modrm
 *   62 | ~R ~X ~B ~R' 0 010    | 0 ~vvvv 1 pp  | 0 L'L 0 ~V' 000 | 50 | modrm
 *
 * A processor without AVX-VNNI raises SIGILL at the first code. The handler then replaces the
 * instruction by a jump to a stub. The stub has the second code and a jump back. So each
 * instruction raises the signal once. Only programs that run kernels on one thread may use this
 * emulation. */

#if defined(__x86_64__)
#define _GNU_SOURCE /* declares the names of registers in <ucontext.h> */
#endif

#include "emulate-vnni.h"

#include "../../lib/runtime/kernel-levels.h"
#include "../../lib/runtime/kernels.h"

#if defined(__x86_64__)
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define N_BYTES_VEX 5
#define N_BYTES_EVEX 6
#define N_BYTES_JUMP 5
#define N_BYTES_STUBS 65536 /* bytes of all stubs: enough for 5,957 instructions */
#define PAGE 4096

static guint8 *stubs;
static gsize n_used;

static gboolean
is_vpdpbusd (const guint8 *code)
{
  return code[0] == 0xc4 && (code[1] & 0x1f) == 2 && (code[2] & 0x87) == 5 && code[3] == 0x50 &&
         code[4] >> 6 == 3;
}

static void
write_jump (guint8 *from, const guint8 *to)
{
  gint32 distance = (gint32) (to - (from + N_BYTES_JUMP));

  from[0] = 0xe9;
  memcpy (from + 1, &distance, sizeof distance);
}

/* Maps the memory of the stubs within 2 GiB of the code. Returns FALSE on failure. */
static gboolean
map_stubs (const guint8 *code)
{
  guint8 *page = (guint8 *) ((guintptr) code & ~(guintptr) (PAGE - 1));

  for (gssize back = 1 << 24; back < 1 << 30 && stubs == NULL; back += 1 << 24)
    {
      stubs = mmap (page - back, N_BYTES_STUBS, PROT_READ | PROT_WRITE | PROT_EXEC,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
      if (stubs == MAP_FAILED)
        stubs = NULL;
    }
  return stubs != NULL;
}

/* Replaces a `vpdpbusd` by a jump to a stub. Returns FALSE if the code is another instruction, or
 * if there is no space for a stub. */
static gboolean
replace (guint8 *code)
{
  guint8 *page = (guint8 *) ((guintptr) code & ~(guintptr) (PAGE - 1)), *stub;

  if (!is_vpdpbusd (code) || (stubs == NULL && !map_stubs (code)) ||
      n_used + N_BYTES_EVEX + N_BYTES_JUMP > N_BYTES_STUBS ||
      mprotect (page, 2 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
    return FALSE;
  stub = stubs + n_used;
  stub[0] = 0x62;
  stub[1] = (code[1] & 0xe0) | 0x12;
  stub[2] = (code[2] & 0x78) | 5;
  stub[3] = 0x28;
  stub[4] = code[3];
  stub[5] = code[4];
  write_jump (stub + N_BYTES_EVEX, code + N_BYTES_VEX);
  write_jump (code, stub);
  n_used += N_BYTES_EVEX + N_BYTES_JUMP;
  return TRUE;
}

static void
handle (int signal_number, siginfo_t *info, void *context)
{
  ucontext_t *user = context;

  if (!replace ((guint8 *) user->uc_mcontext.gregs[REG_RIP]))
    signal (SIGILL, SIG_DFL); /* the instruction raises the signal again, which ends the process */
}

gboolean
cleave_test_emulate_level (const char *level)
{
  struct sigaction action = { .sa_sigaction = handle, .sa_flags = SA_SIGINFO };

  if (strcmp (level, "avxvnni") != 0 || !__builtin_cpu_supports ("avx512vnni") ||
      !__builtin_cpu_supports ("avx512vl"))
    return FALSE;
  cleave_kernel_emulates_avx_vnni = TRUE;
  if (!cleave_kernel_level_runs (level))
    return FALSE;
  sigaction (SIGILL, &action, NULL);
  return TRUE;
}
#else
gboolean
cleave_test_emulate_level (const char *level)
{
  return FALSE;
}
#endif
