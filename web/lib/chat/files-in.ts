import { ATTACHMENT_LIMITS } from './limits.ts';

/** One more than a message carries, so that the excess is noticed. */
const MOST = ATTACHMENT_LIMITS.count + 1;

/**
 * The files of entries, including those within folders but not hidden ones; for a folder without any, an empty file of its name. If they
 * cannot be read, returns `plain`, whose errors are reported file by file.
 */
export async function filesIn(entries: readonly (FileSystemEntry | null)[], plain: File[]): Promise<File[]> {
  const found: File[] = [];
  try {
    for (const entry of entries) {
      if (!entry) continue;
      const before = found.length;
      await gather(entry, found);
      if (found.length === before && found.length < MOST) found.push(new File([], `${entry.name}/`));
    }
    return found;
  } catch {
    return plain;
  }
}

async function gather(entry: FileSystemEntry, found: File[]): Promise<void> {
  if (isFile(entry)) found.push(await new Promise<File>((resolve, reject) => entry.file(resolve, reject)));
  else if (isFolder(entry)) {
    const within = (await listed(entry)).filter(({ name }) => !name.startsWith('.'));
    for (const each of within.toSorted((a, b) => a.name.localeCompare(b.name))) {
      if (found.length >= MOST) return;
      await gather(each, found);
    }
  }
}

/** The browser lists a folder in parts, the last of which is empty. */
async function listed(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const all: FileSystemEntry[] = [];
  for (;;) {
    const part = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (part.length === 0) return all;
    all.push(...part);
  }
}

const isFile = (entry: FileSystemEntry): entry is FileSystemFileEntry => entry.isFile;
const isFolder = (entry: FileSystemEntry): entry is FileSystemDirectoryEntry => entry.isDirectory;
