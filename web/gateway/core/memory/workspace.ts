/** A file of a workspace. */
export interface WorkspaceFile {
  path: string;
  /** Bytes. */
  size: number;
  /** Milliseconds since 1970. */
  modifiedAt: number;
}

/**
 * The files that a memory keeps (interface document 2, section 2.5): a folder on disk, a database of the browser, or nothing but memory. Paths are names with `/` between them.
 * What has been answered is durable; a file is written whole or not at all.
 */
export interface Workspace {
  /** Undefined where there is no such file. */
  read(path: string): Promise<string | undefined>;
  write(path: string, text: string): Promise<void>;
  /** Adds to the end of a file, which is made where there is none. */
  append(path: string, text: string): Promise<void>;
  /**
   * Writes what `edit` makes of a file's text in its place, in one step; undefined leaves it as it is. Where somebody else has written meanwhile, `edit` is asked again, about
   * that. Resolves with what the file has then.
   */
  update(path: string, edit: (text: string | undefined) => string | undefined): Promise<string | undefined>;
  /** False: there was none. */
  remove(path: string): Promise<boolean>;
  /** Undefined where there is no such file. */
  stat(path: string): Promise<WorkspaceFile | undefined>;
  /** All files by path, or those under a folder such as `dialog`. */
  list(under?: string): Promise<WorkspaceFile[]>;
}

/** A workspace that is gone with its process. */
export function memoryWorkspace(now: () => number = Date.now): Workspace {
  const files = new Map<string, { text: string; modifiedAt: number }>();
  // Size and time tell versions apart, also where the clock stands.
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
    list: (under) =>
      Promise.resolve(
        [...files.keys()]
          .filter((path) => under === undefined || path.startsWith(`${under}/`))
          .sort()
          .flatMap((path) => stat(path) ?? []),
      ),
  };
}
