const REFERENCE = /^\$\{([A-Za-z_][A-Za-z0-9_]{0,199})\}$/;

/** The name in a reference to a secret, `${NAME}`; undefined if the value is not a reference. */
export const parseReference = (value: unknown): string | undefined => (typeof value === 'string' ? REFERENCE.exec(value)?.[1] : undefined);

/** Describes the problem of an invalid reference; undefined if it is valid, or not a reference. */
export function findReferenceProblem(value: unknown): string | undefined {
  if (typeof value !== 'string' || !/^\$\{[\s\S]*\}$/.test(value)) return undefined;
  const name = parseReference(value);
  if (name === undefined)
    return 'is not a valid reference: ${NAME} can contain letters, digits and underscores and can’t start with a digit';
  // The owner's own token and password must not be sent to other servers.
  return /^perch_/i.test(name) ? 'must not refer to one of Perch’s own secrets' : undefined;
}
