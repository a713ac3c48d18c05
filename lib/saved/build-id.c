/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Identifies the build of the library for saved programs.
 *
 * A saved program fits only the build that saved it, since the layout of packed weights depends on
 * the code. The version number of the library does not identify a build. So a saved program also
 * contains the GNU build ID of the library. This file reads the build ID from the ELF notes in the
 * memory of the process.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "saved.h"

#include <elf.h>
#include <link.h>
#include <string.h>

typedef struct
{
  guintptr address; /* an address inside the library */
  GString *id;
} Search;

static void
read_notes (const char *at, gsize size, GString *id)
{
  const char *end = at + size;

  while (end - at >= (gssize) sizeof (ElfW (Nhdr)))
    {
      const ElfW (Nhdr) *note = (gconstpointer) at;
      gsize name = (note->n_namesz + 3u) & ~3u, value = (note->n_descsz + 3u) & ~3u;

      at += sizeof *note;
      if (name + value > (gsize) (end - at))
        return;
      if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && memcmp (at, "GNU", 4) == 0)
        for (gsize i = 0; i < note->n_descsz; i++)
          g_string_append_printf (id, "%02x", (guint8) at[name + i]);
      at += name + value;
    }
}

static gboolean
contains_address (const struct dl_phdr_info *object, guintptr address)
{
  for (guint i = 0; i < object->dlpi_phnum; i++)
    {
      const ElfW (Phdr) *part = &object->dlpi_phdr[i];

      if (part->p_type == PT_LOAD && address - object->dlpi_addr - part->p_vaddr < part->p_memsz)
        return TRUE;
    }
  return FALSE;
}

static int
visit (struct dl_phdr_info *object, size_t size, void *data)
{
  Search *search = data;

  if (!contains_address (object, search->address))
    return 0;
  for (guint i = 0; i < object->dlpi_phnum; i++)
    {
      const ElfW (Phdr) *part = &object->dlpi_phdr[i];

      if (part->p_type == PT_NOTE)
        read_notes ((const char *) object->dlpi_addr + part->p_vaddr, part->p_memsz, search->id);
    }
  return 1;
}

char *
cleave_saved_dup_library (void)
{
  Search search = { (guintptr) cleave_saved_dup_library, g_string_new (CLEAVE_VERSION " build ") };

  dl_iterate_phdr (visit, &search);
  return g_string_free (search.id, FALSE);
}
