import { HIDDEN, hideForms, isSecretName } from '#shared/redact.ts';
import { isObject, type Json } from './merge.ts';

/** Sections whose entries have names chosen by people: the names say nothing about the contents. */
const NAMED = new Set(['providers', 'agents', 'channels']);

/**
 * The configuration for callers who may not change it. Known secrets already read as `***`; this also redacts values that look like
 * secrets, by name or by form, since unknown settings are kept unchanged.
 */
export function shownSettings(document: Json): Json {
  return Object.fromEntries(Object.entries(document).map(([name, value]) => [name, hideSecretLike(name, value, [])]));
}

/** The value of a setting at `path`, with likely secrets redacted. */
export const hideSecretLike = (name: string, value: unknown, path: readonly string[]): unknown =>
  isLike(name, value) ? HIDDEN : shown(value, [...path, name]);

function shown(value: unknown, path: readonly string[]): unknown {
  if (typeof value === 'string') return hideForms(value);
  if (Array.isArray(value)) return value.map((each) => shown(each, path));
  if (!isObject(value)) return value;
  const isNames = (path.length === 1 && NAMED.has(path[0] ?? '')) || path.join('.') === 'tools.policies';
  return Object.fromEntries(
    Object.entries(value).map(([name, child]) => [name, !isNames && isLike(name, child) ? HIDDEN : shown(child, [...path, name])]),
  );
}

/** Numbers and booleans are not secrets, such as a limit of tokens. */
const isLike = (name: string, value: unknown): boolean =>
  (isSecretName(name) || /key$/i.test(name)) && value !== null && typeof value !== 'number' && typeof value !== 'boolean';
