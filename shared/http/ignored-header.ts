/** Response header with the request's parameters that had no effect, separated by commas. */
export const IGNORED_HEADER = 'x-perch-ignored';

const MAX_NAMES = 50;
const MAX_NAME_CHARS = 100;

/** The header's value; undefined if nothing was ignored. Callers choose the names, so characters that a header cannot carry are replaced. */
export function toIgnoredHeader(names: Iterable<string>): string | undefined {
  const distinct = [...new Set(names)];
  if (distinct.length === 0) return undefined;
  const listed = distinct.slice(0, MAX_NAMES).map((name) => name.replaceAll(/[^\w.[\]()-]/g, '_').slice(0, MAX_NAME_CHARS));
  return listed.join(', ') + (distinct.length > MAX_NAMES ? ', ...' : '');
}
