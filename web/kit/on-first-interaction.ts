const INTERACTIONS = ['pointerdown', 'pointermove', 'keydown', 'input'] as const;

/** Runs work once the person does something on the page. Returns a function that cancels it. */
export function onFirstInteraction(work: () => void): () => void {
  const done = new AbortController();
  const run = (): void => {
    done.abort();
    work();
  };
  for (const type of INTERACTIONS) addEventListener(type, run, { signal: done.signal, passive: true });
  return () => done.abort();
}
