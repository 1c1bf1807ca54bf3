/** Base URIs of resources: files of the agent's workspace, and pages of its wiki and its chats, followed by the agent's id. */
export const FILES_BASE_URI = 'perch://workspace/';
export const WIKI_BASE_URI = 'perch://wiki/';
export const CHATS_BASE_URI = 'perch://chats/';

export const toResourceUri = (base: string, path: string): string => base + path.split('/').map(encodeURIComponent).join('/');

/** The path after a base. Undefined if the URI has another base or is invalid. */
export function parseResourceUri(base: string, uri: string): string | undefined {
  if (!uri.startsWith(base)) return undefined;
  try {
    return decodeURIComponent(uri.slice(base.length));
  } catch {
    return undefined;
  }
}
