import { HIDDEN, hideForms, isSecretName } from '#shared/redact.ts';
import { isObject, type Json } from './merge.ts';

/** Sections whose entries are called as people like: their names say nothing of what is in them. */
const NAMED = new Set(['providers', 'agents', 'channels']);

/**
 * The configuration as it is shown to who may not change it. The secrets that this build knows of are `***` already; here goes what looks like one where nothing is
 * known of the setting, by its name or by its form, for settings that are not known are kept as they are.
 */
export function shownSettings(document: Json): Json {
  return Object.fromEntries(Object.entries(document).map(([name, value]) => [name, hideSecretLike(name, value, [])]));
}

/** The value of a setting, at `path`, without what looks like a secret. */
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

/** Figures and switches are no secrets: a limit of tokens is none. */
const isLike = (name: string, value: unknown): boolean =>
  (isSecretName(name) || /key$/i.test(name)) && value !== null && typeof value !== 'number' && typeof value !== 'boolean';
