const tails = new WeakMap<object, Map<string, Promise<unknown>>>();

/** Runs what concerns one thing one after another, whoever asks: two stores on the same workspace do not overwrite each other. `what` tells kinds apart that may run within each other. */
export function oneAtATime<Result>(thing: object, what: string, run: () => Promise<Result>): Promise<Result> {
  let kinds = tails.get(thing);
  if (!kinds) tails.set(thing, (kinds = new Map()));
  const result = (kinds.get(what) ?? Promise.resolve()).then(run);
  // One that fails tells its own caller; the next runs all the same.
  kinds.set(
    what,
    result.catch(() => undefined),
  );
  return result;
}
