/**
 * `work` that is asked for again and again: never twice at a time; asked for while it is under way, it is done once more behind that. What it returns
 * resolves when the work asked for is done, and rejects where that failed.
 */
export function repeated(work: () => Promise<void>): () => Promise<void> {
  let again = false;
  let current: Promise<void> | undefined;
  const loop = async (): Promise<void> => {
    try {
      while (again) {
        again = false;
        await work();
      }
    } finally {
      again = false;
      current = undefined;
    }
  };
  return () => {
    again = true;
    return (current ??= loop());
  };
}
