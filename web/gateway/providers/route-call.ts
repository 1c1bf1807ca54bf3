import { parseJson } from '#shared/parse-json.ts';
import type { ToolCall } from '#shared/rpc/record-schemas.ts';
import { isObject } from '#shared/merge-patch.ts';
import { type RoutedCall, TOOL_CALL, toOriginalCall } from '../storage/records/routed-call.ts';

/** Resolves a call of `tool_call` to one of the tool that it names. `unread`: why that is invalid. */
export function routeCall(call: ToolCall): { call: RoutedCall; unread?: string } {
  if (call.tool !== TOOL_CALL) return { call };
  const { name: toolName, arguments: nestedArgs, ...flat } = call.args;
  const name = typeof toolName === 'string' ? toolName.trim() : '';
  // Some models omit the level of `arguments`.
  const args = nestedArgs === undefined ? flat : parseArguments(nestedArgs);
  if (name === '' || name === TOOL_CALL) return { call, unread: 'must be {"name": a tool that tool_search found, "arguments": an object}' };
  const routed: RoutedCall = { id: call.id, tool: name, args: args ?? {}, via: { tool: TOOL_CALL } };
  if (JSON.stringify(toOriginalCall(routed).args) !== JSON.stringify(call.args)) routed.via = { tool: TOOL_CALL, args: call.args };
  return args ? { call: routed } : { call: routed, unread: 'must be an object in "arguments"' };
}

/** Maximum number of characters in which the name is searched. */
const MAX_NAME_CHARS = 500;
const NAME_ARGUMENT = /^\s*\{\s*"name"\s*:\s*("(?:[^"\\]|\\.)*")/;

/** The tool of a call in progress. `json`: its arguments so far. Returns `tool_call` until the name argument is complete. */
export function parseCalledTool(tool: string, json: string): string {
  const written = tool === TOOL_CALL ? NAME_ARGUMENT.exec(json.slice(0, MAX_NAME_CHARS))?.[1] : undefined;
  if (written === undefined) return tool;
  try {
    const name = parseJson(written);
    return (typeof name === 'string' && name.trim()) || tool;
  } catch {
    return tool;
  }
}

/** Some models write the object as a string. */
function parseArguments(value: unknown): Record<string, unknown> | undefined {
  if (typeof value !== 'string') return isObject(value) ? value : undefined;
  try {
    const read: unknown = value.trim() === '' ? {} : parseJson(value);
    return isObject(read) ? read : undefined;
  } catch {
    return undefined;
  }
}
