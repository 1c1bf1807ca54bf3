import { ATTACHMENT_LIMITS } from './attachment-limits.ts';

/** One more than a message carries, so that the excess is noticed. */
const MAX_FILES = ATTACHMENT_LIMITS.count + 1;

/**
 * The files of entries, including those within folders but not hidden ones; for a folder without any, an empty file of its name. If they
 * cannot be read, returns `plain`, whose errors are reported file by file.
 */
export async function collectFiles(entries: readonly (FileSystemEntry | null)[], plain: File[]): Promise<File[]> {
  const found: File[] = [];
  try {
    for (const entry of entries) {
      if (!entry) continue;
      const before = found.length;
      await collectEntry(entry, found);
      if (found.length === before && found.length < MAX_FILES) found.push(new File([], `${entry.name}/`));
    }
    return found;
  } catch {
    return plain;
  }
}

async function collectEntry(entry: FileSystemEntry, found: File[]): Promise<void> {
  if (isFile(entry)) found.push(await new Promise<File>((resolve, reject) => entry.file(resolve, reject)));
  else if (isDirectory(entry)) {
    const within = (await readDirectory(entry)).filter(({ name }) => !name.startsWith('.'));
    for (const each of within.toSorted((a, b) => a.name.localeCompare(b.name))) {
      if (found.length >= MAX_FILES) return;
      await collectEntry(each, found);
    }
  }
}

/** The browser lists a folder in parts, the last of which is empty. */
async function readDirectory(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const all: FileSystemEntry[] = [];
  for (;;) {
    const part = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (part.length === 0) return all;
    all.push(...part);
  }
}

const isFile = (entry: FileSystemEntry): entry is FileSystemFileEntry => entry.isFile;
const isDirectory = (entry: FileSystemEntry): entry is FileSystemDirectoryEntry => entry.isDirectory;
