const tails = new WeakMap<object, Map<string, Promise<unknown>>>();

/**
 * Serializes work on one object across all callers, so that two stores on one workspace do not overwrite each other. `what` names
 * independent kinds of work, which may be nested.
 */
export function oneAtATime<Result>(thing: object, what: string, run: () => Promise<Result>): Promise<Result> {
  let kinds = tails.get(thing);
  if (!kinds) tails.set(thing, (kinds = new Map()));
  const result = (kinds.get(what) ?? Promise.resolve()).then(run);
  // A failure is reported to its own caller; the next call runs all the same.
  kinds.set(
    what,
    result.catch(() => undefined),
  );
  return result;
}
