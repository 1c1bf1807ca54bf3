/** Base addresses of resources: files of the agent's workspace, and pages of its wiki and its chats, with the agent's id behind them. */
export const FILES = 'perch://workspace/';
export const WIKI = 'perch://wiki/';
export const CHATS = 'perch://chats/';

export const toUri = (base: string, path: string): string => base + path.split('/').map(encodeURIComponent).join('/');

/** The path behind a base. Undefined if the address has another base, or is no valid one. */
export function parseUri(base: string, uri: string): string | undefined {
  if (!uri.startsWith(base)) return undefined;
  try {
    return decodeURIComponent(uri.slice(base.length));
  } catch {
    return undefined;
  }
}
