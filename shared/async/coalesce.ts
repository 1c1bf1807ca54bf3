/**
 * Coalesces calls of `work`: it never runs twice at a time, and calls during a run cause one more run after it. The returned promise
 * settles with the run that covers the call.
 */
export function coalesce(work: () => Promise<void>): () => Promise<void> {
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
