/** Metadata of a file in a workspace. */
export interface WorkspaceFile {
  path: string;
  /** Size in bytes. */
  size: number;
  /** Milliseconds since the Unix epoch. */
  modifiedAt: number;
}

/**
 * The files of a memory: a folder on disk, a database in the browser, or main memory only. Paths consist of names separated by `/`. Changes
 * are durable once the promise resolves, and a file is written completely or not at all.
 */
export interface Workspace {
  /** Undefined if the file does not exist. */
  read(path: string): Promise<string | undefined>;
  write(path: string, text: string): Promise<void>;
  /** Appends to a file; creates it if it does not exist. */
  append(path: string, text: string): Promise<void>;
  /**
   * Replaces a file's text with the result of `edit` in one step; undefined leaves it unchanged. If the file was changed meanwhile, `edit`
   * is called again with the new text. Resolves with the file's final text.
   */
  update(path: string, edit: (text: string | undefined) => string | undefined): Promise<string | undefined>;
  /** Returns false if the file does not exist. */
  remove(path: string): Promise<boolean>;
  /** Undefined if the file does not exist. */
  stat(path: string): Promise<WorkspaceFile | undefined>;
  /** All files by path, or those in a folder such as `dialog`. */
  list(folder?: string): Promise<WorkspaceFile[]>;
}

/** A workspace in main memory, lost when the process ends. */
export function memoryWorkspace(now: () => number = Date.now): Workspace {
  const files = new Map<string, { text: string; modifiedAt: number }>();
  // Size and time identify a version, so the time must advance even if the clock does not.
  const put = (path: string, text: string): void =>
    void files.set(path, { text, modifiedAt: Math.max(now(), (files.get(path)?.modifiedAt ?? -Infinity) + 1) });
  const stat = (path: string): WorkspaceFile | undefined => {
    const file = files.get(path);
    return file && { path, size: new TextEncoder().encode(file.text).length, modifiedAt: file.modifiedAt };
  };
  return {
    read: (path) => Promise.resolve(files.get(path)?.text),
    write: (path, text) => Promise.resolve(put(path, text)),
    append: (path, text) => Promise.resolve(put(path, (files.get(path)?.text ?? '') + text)),
    async update(path, edit) {
      const before = files.get(path)?.text;
      const text = edit(before);
      if (text === undefined) return before;
      put(path, text);
      return text;
    },
    remove: (path) => Promise.resolve(files.delete(path)),
    stat: (path) => Promise.resolve(stat(path)),
    list: (folder) =>
      Promise.resolve(
        [...files.keys()]
          .filter((path) => folder === undefined || path.startsWith(`${folder}/`))
          .sort()
          .flatMap((path) => stat(path) ?? []),
      ),
  };
}
