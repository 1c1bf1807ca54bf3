import { REDACTED, redactPatterns, isSecretName } from '#shared/redact.ts';
import { isObject, type Json } from '#shared/merge-patch.ts';

/** Sections whose entries have names chosen by people: the names say nothing about the contents. */
const NAMED_SECTIONS = new Set(['providers', 'agents', 'channels']);

/**
 * The configuration for callers who may not change it. Known secrets already read as `***`; this also redacts values that look like
 * secrets, by name or by form, since unknown settings are kept unchanged.
 */
export function redactSettings(document: Json): Json {
  return Object.fromEntries(Object.entries(document).map(([name, value]) => [name, redactSecretLike(name, value, [])]));
}

/** The value of a setting at `path`, with likely secrets redacted. */
export const redactSecretLike = (name: string, value: unknown, path: readonly string[]): unknown =>
  isSecretLike(name, value) ? REDACTED : redact(value, [...path, name]);

function redact(value: unknown, path: readonly string[]): unknown {
  if (typeof value === 'string') return redactPatterns(value);
  if (Array.isArray(value)) return value.map((each) => redact(each, path));
  if (!isObject(value)) return value;
  const isNames = (path.length === 1 && NAMED_SECTIONS.has(path[0] ?? '')) || path.join('.') === 'tools.policies';
  return Object.fromEntries(
    Object.entries(value).map(([name, child]) => [name, !isNames && isSecretLike(name, child) ? REDACTED : redact(child, [...path, name])]),
  );
}

/** Numbers and booleans are not secrets, such as a limit of tokens. */
const isSecretLike = (name: string, value: unknown): boolean =>
  (isSecretName(name) || /key$/i.test(name)) && value !== null && typeof value !== 'number' && typeof value !== 'boolean';
