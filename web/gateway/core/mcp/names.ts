import { sha256 } from '#shared/sha256.ts';

/** Maximum length of a tool name for providers. */
const MOST = 64;
const HASH = 8;

export const toolName = (server: string, tool: string): string => `mcp:${server}:${tool}`;
export const sourceOf = (server: string): string => `mcp:${server}`;

/**
 * A tool's name for models: `mcp__<server>__<tool>` in characters that providers accept. A name that would be too long, or that another
 * tool has, ends in eight characters of a hash instead.
 */
export async function modelName(server: string, tool: string, isTaken: (name: string) => boolean): Promise<string> {
  const plain = `mcp__${server}__${tool}`.replace(/[^A-Za-z0-9_-]/g, '_');
  if (plain.length <= MOST && !isTaken(plain)) return plain;
  return `${plain.slice(0, MOST - HASH - 1)}_${(await sha256(toolName(server, tool))).slice(0, HASH)}`;
}
