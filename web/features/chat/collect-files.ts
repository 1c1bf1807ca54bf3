import { ATTACHMENT_LIMITS } from '#app/files/attachment-limits.ts';

/** One more than a message may have, so that the excess is detected. */
const MAX_FILES = ATTACHMENT_LIMITS.count + 1;

/**
 * The files of entries, including those within folders but not hidden ones; for a folder without any, an empty file of its name. If they
 * cannot be read, returns `plain`, whose errors are reported file by file.
 */
export async function collectFiles(entries: readonly (FileSystemEntry | null)[], plain: File[]): Promise<File[]> {
  const files: File[] = [];
  try {
    for (const entry of entries) {
      if (!entry) continue;
      const countBefore = files.length;
      await collectEntry(entry, files);
      if (files.length === countBefore && files.length < MAX_FILES) files.push(new File([], `${entry.name}/`));
    }
    return files;
  } catch {
    return plain;
  }
}

async function collectEntry(entry: FileSystemEntry, files: File[]): Promise<void> {
  if (isFile(entry)) files.push(await new Promise<File>((resolve, reject) => entry.file(resolve, reject)));
  else if (isDirectory(entry)) {
    const children = (await readDirectory(entry)).filter(({ name }) => !name.startsWith('.'));
    for (const child of children.toSorted((a, b) => a.name.localeCompare(b.name))) {
      if (files.length >= MAX_FILES) return;
      await collectEntry(child, files);
    }
  }
}

/** Reads a folder; the browser lists it in parts, the last of which is empty. */
async function readDirectory(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const entries: FileSystemEntry[] = [];
  for (;;) {
    const part = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (part.length === 0) return entries;
    entries.push(...part);
  }
}

const isFile = (entry: FileSystemEntry): entry is FileSystemFileEntry => entry.isFile;
const isDirectory = (entry: FileSystemEntry): entry is FileSystemDirectoryEntry => entry.isDirectory;
