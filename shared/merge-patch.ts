import { RpcError } from './rpc/rpc-error.ts';

export type Json = Record<string, unknown>;

const FORBIDDEN_NAMES = new Set(['__proto__', 'constructor', 'prototype']);
/** Deeper than any setting, and far from exhausting the stack. */
const MAX_DEPTH = 64;

export const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Refuses names that would reach a prototype, at any depth, and nesting deeper than settings have. */
export function checkNames(value: unknown, depth = 0): void {
  if (depth > MAX_DEPTH) throw new RpcError('INVALID_PARAMS', `Settings can be at most ${MAX_DEPTH} levels deep.`);
  if (Array.isArray(value)) return value.forEach((child: unknown) => checkNames(child, depth + 1));
  if (!isObject(value)) return;
  for (const [name, child] of Object.entries(value)) {
    if (FORBIDDEN_NAMES.has(name)) throw new RpcError('INVALID_PARAMS', `"${name}" is not allowed as a setting name.`);
    checkNames(child, depth + 1);
  }
}

/** JSON merge patch (RFC 7396): null deletes, objects merge, everything else replaces. Does not modify its arguments. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const merged: Json = isObject(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (FORBIDDEN_NAMES.has(name)) throw new RpcError('INVALID_PARAMS', `"${name}" is not allowed as a setting name.`);
    if (value === null) delete merged[name];
    else merged[name] = mergePatch(merged[name], value);
  }
  return merged;
}

/** The patch that sets one dotted path. */
export function createPatch([name = '', ...rest]: readonly string[], value: unknown): Json {
  return { [name]: rest.length === 0 ? value : createPatch(rest, value) };
}

/** The names in a dotted path. Throws `INVALID_PARAMS` for empty parts and forbidden names. */
export function parsePath(key: string): string[] {
  const path = key.split('.');
  if (path.length > MAX_DEPTH) throw new RpcError('INVALID_PARAMS', `\`key\` can be at most ${MAX_DEPTH} levels deep.`);
  if (path.some((name) => name === '')) throw new RpcError('INVALID_PARAMS', '`key` must be a dotted path.');
  for (const name of path)
    if (FORBIDDEN_NAMES.has(name)) throw new RpcError('INVALID_PARAMS', `"${name}" is not allowed as a setting name.`);
  return path;
}
