import { sha256 } from '#shared/sha256.ts';

/** Maximum length of a tool name for providers. */
const MAX_NAME_CHARS = 64;
const HASH_CHARS = 8;

export const toToolName = (server: string, tool: string): string => `mcp:${server}:${tool}`;
export const toSourceId = (server: string): string => `mcp:${server}`;

/**
 * A tool's name for models: `mcp__<server>__<tool>` in characters that providers accept. A name that would be too long, or that another
 * tool has, ends in eight characters of a hash instead.
 */
export async function toModelName(server: string, tool: string, isTaken: (name: string) => boolean): Promise<string> {
  const plainName = `mcp__${server}__${tool}`.replace(/[^A-Za-z0-9_-]/g, '_');
  if (plainName.length <= MAX_NAME_CHARS && !isTaken(plainName)) return plainName;
  return `${plainName.slice(0, MAX_NAME_CHARS - HASH_CHARS - 1)}_${(await sha256(toToolName(server, tool))).slice(0, HASH_CHARS)}`;
}
