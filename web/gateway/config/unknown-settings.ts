import { toCanonicalJson } from '#shared/canonical-json.ts';
import { isObject, type Json } from '#shared/merge-patch.ts';
import { type Settings, settingsSchema } from './settings-schema.ts';

/** A setting that does not fit this build, with its path. It is kept unchanged for other builds. */
export interface UnknownSetting {
  path: readonly string[];
  value: unknown;
}

/**
 * Number of path segments at which a misfit is removed, by section; 2 for the others: a setting of a section, or an entry whose parts
 * belong together. Half a provider could send its key elsewhere, and half a channel could accept everyone.
 */
const DEPTH: Readonly<Record<string, number>> = { agents: 3, memory: 3, tools: 3 };

/** Splits a stored document into the part that fits, and misfits that are as small as possible. */
export function separateUnknown(stored: Json): { document: Json; misfits: UnknownSetting[] } {
  let document = stored;
  const unknown: UnknownSetting[] = [];
  for (let parsed = settingsSchema.safeParse(document); !parsed.success; parsed = settingsSchema.safeParse(document)) {
    const before = document;
    const issuePaths = parsed.error.issues.flatMap(({ path, ...issue }) =>
      issue.code === 'unrecognized_keys' ? issue.keys.map((key) => [...path, key]) : [path],
    );
    const removedPaths = keepOutermost(issuePaths.map((path) => toRemovablePath(before, path.map(String))));
    // An error without a path: all sections are misfits.
    for (const path of removedPaths.length > 0 ? removedPaths : Object.keys(document).map((name) => [name])) {
      unknown.push({ path, value: getValue(document, path) });
      document = removeValue(document, path);
    }
  }
  return { document, misfits: unknown };
}

/** Puts the misfits back into a document. */
export function mergeUnknown(document: Json, unknown: readonly UnknownSetting[]): Json {
  return unknown.reduceRight((merged, { path, value }) => setValue(merged, path, value), document);
}

/** Removes the misfits that are unchanged from a document; the other misfits were edited or deleted. */
export function extractUnknown(stored: Json, unknown: readonly UnknownSetting[]): { document: Json; misfits: UnknownSetting[] } {
  const unchanged = unknown.filter(
    ({ path, value }) => hasValue(stored, path) && toCanonicalJson(getValue(stored, path)) === toCanonicalJson(value),
  );
  return { document: unchanged.reduce((document, { path }) => removeValue(document, path), stored), misfits: unchanged };
}

/** Disables the parts of memory whose settings cannot be read: they may have been off. */
function disableMemoryFeature(memory: Settings['memory'], name: string, unread: boolean): void {
  if (!unread) return;
  for (const part of ['recall', 'compaction', 'summary'] as const) if (name === '' || name === part) memory[part].enabled = false;
}

/** The effective settings: a limit that cannot be read is as strict as possible, not absent. */
export function withSafeDefaults(settings: Settings, unknown: readonly UnknownSetting[]): Settings {
  const safe = structuredClone(settings);
  for (const { path } of unknown) {
    const [section, name = '', part] = path;
    const agent = section === 'agents' && part === 'tools' ? safe.agents[name] : undefined;
    if (agent) agent.tools = { allow: [] };
    // An unreadable setting may have said "no".
    if (section === 'memory') disableMemoryFeature(safe.memory, name, path.length < 3 || part === 'enabled');
    // With half of its settings, other memories would be promoted at other times.
    if (section === 'dreaming') safe.dreaming.enabled = false;
    if (section !== 'tools' || (name !== 'policies' && path.length > 1)) continue;
    safe.tools.policies = { ...safe.tools.policies, [part ?? '*']: 'ask' };
  }
  return safe;
}

/** Unique paths, without those inside another one. */
function keepOutermost(paths: readonly (readonly string[])[]): (readonly string[])[] {
  const byKey = new Map(paths.filter((path) => path.length > 0).map((path) => [JSON.stringify(path), path]));
  const isWithin = (path: readonly string[]): boolean =>
    path.some((_, depth) => depth > 0 && byKey.has(JSON.stringify(path.slice(0, depth))));
  return [...byKey.values()].filter((path) => !isWithin(path));
}

/** The path to remove: no deeper than the section's depth, not inside an array, and existing. */
function toRemovablePath(document: Json, issuePath: readonly string[]): readonly string[] {
  let path = issuePath.slice(0, DEPTH[issuePath[0] ?? ''] ?? 2);
  while (path.length > 0 && !hasValue(document, path)) path = path.slice(0, -1);
  return path;
}

const getParent = (document: Json, path: readonly string[]): unknown =>
  path.slice(0, -1).reduce<unknown>((value, name) => (isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined), document);

function hasValue(document: Json, path: readonly string[]): boolean {
  const parent = getParent(document, path);
  return isObject(parent) && Object.hasOwn(parent, path.at(-1) ?? '');
}

function getValue(document: Json, path: readonly string[]): unknown {
  const parent = getParent(document, path);
  return isObject(parent) ? parent[path.at(-1) ?? ''] : undefined;
}

function removeValue(document: Json, [name = '', ...rest]: readonly string[]): Json {
  const { [name]: value, ...others } = document;
  if (rest.length === 0) return others;
  return isObject(value) ? { ...document, [name]: removeValue(value, rest) } : document;
}

function setValue(document: Json, [name = '', ...rest]: readonly string[], value: unknown): Json {
  const before = document[name];
  return { ...document, [name]: rest.length === 0 ? value : setValue(isObject(before) ? before : {}, rest, value) };
}
