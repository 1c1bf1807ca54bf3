import type { Workspace } from '../../web/gateway/knowledge/memory/workspace.ts';

/**
 * A workspace whose process dies at write number `at`, counted from 1. `half`: the write is applied without a response. Afterwards all
 * writes fail.
 */
export function createFailingWorkspace(real: Workspace, at: number, half: boolean): Workspace & { readonly writes: number } {
  let writes = 0;
  const write = async <Result>(run: () => Promise<Result>): Promise<Result> => {
    writes++;
    if (writes < at || (writes === at && half)) {
      const result = await run();
      if (writes < at) return result;
    }
    throw new Error('The process is gone');
  };
  return {
    ...real,
    write: (path, text) => write(() => real.write(path, text)),
    append: (path, text) => write(() => real.append(path, text)),
    // An edit that changes nothing is not a write; its result is computed once for both.
    async update(path, edit) {
      const before = await real.read(path);
      const text = edit(before);
      if (text === undefined) return before;
      return write(() => real.update(path, () => text));
    },
    remove: (path) => write(() => real.remove(path)),
    get writes() {
      return writes;
    },
  };
}
