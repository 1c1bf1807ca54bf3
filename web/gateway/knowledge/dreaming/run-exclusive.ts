const queues = new WeakMap<object, Map<string, Promise<unknown>>>();

/**
 * Serializes work on one object across all callers, so that two stores on one workspace do not overwrite each other. `name` names
 * independent kinds of work, which may be nested.
 */
export function runExclusive<Result>(target: object, name: string, run: () => Promise<Result>): Promise<Result> {
  let kinds = queues.get(target);
  if (!kinds) queues.set(target, (kinds = new Map()));
  const result = (kinds.get(name) ?? Promise.resolve()).then(run);
  // A failure is reported to its own caller; the next call runs all the same.
  kinds.set(
    name,
    result.catch(() => undefined),
  );
  return result;
}
