/** Files of the agent's workspace; pages of a wiki, with the agent's id behind it. */
export const FILES = 'perch://workspace/';
export const WIKI = 'perch://wiki/';

export const uriOf = (base: string, path: string): string => base + path.split('/').map(encodeURIComponent).join('/');

/** Undefined for what lies elsewhere, or cannot be read. */
export function pathOf(base: string, uri: string): string | undefined {
  if (!uri.startsWith(base)) return undefined;
  try {
    return decodeURIComponent(uri.slice(base.length));
  } catch {
    return undefined;
  }
}
