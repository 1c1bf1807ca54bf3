const FORM = /^\$\{([A-Za-z_][A-Za-z0-9_]{0,199})\}$/;

/** The name in a reference to a secret, `${NAME}`; undefined where the value is none. */
export const referenceOf = (value: unknown): string | undefined => (typeof value === 'string' ? FORM.exec(value)?.[1] : undefined);

/** What is wrong with what was meant to be a reference; undefined where nothing is, or where it was not. */
export function wrongReference(value: unknown): string | undefined {
  if (typeof value !== 'string' || !/^\$\{[\s\S]*\}$/.test(value)) return undefined;
  const name = referenceOf(value);
  if (name === undefined)
    return 'is not a valid reference: ${NAME} can contain letters, digits and underscores and can’t start with a digit';
  // The owner's own token and password are not for servers of others.
  return /^perch_/i.test(name) ? 'must not refer to one of Perch’s own secrets' : undefined;
}
