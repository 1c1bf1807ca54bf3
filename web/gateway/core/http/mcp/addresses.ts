/** Base URIs of resources: files of the agent's workspace, and pages of its wiki and its chats, followed by the agent's id. */
export const FILES = 'perch://workspace/';
export const WIKI = 'perch://wiki/';
export const CHATS = 'perch://chats/';

export const toUri = (base: string, path: string): string => base + path.split('/').map(encodeURIComponent).join('/');

/** The path after a base. Undefined if the URI has another base or is invalid. */
export function parseUri(base: string, uri: string): string | undefined {
  if (!uri.startsWith(base)) return undefined;
  try {
    return decodeURIComponent(uri.slice(base.length));
  } catch {
    return undefined;
  }
}
