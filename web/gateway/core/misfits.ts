import { canonical } from './canonical.ts';
import { isObject, type Json } from './merge.ts';
import { type Settings, settings } from './settings.ts';

/** A setting that does not fit this build, and where it stands: kept as it is, for the builds that it does fit. */
export interface Misfit {
  path: readonly string[];
  value: unknown;
}

/**
 * How many names deep a misfit is cut out, two where a section is not here: a setting of a section, or an entry whose parts belong together. Half a provider might send its
 * key elsewhere, and half a channel might hear everyone.
 */
const DEPTH: Readonly<Record<string, number>> = { agents: 3, memory: 3, tools: 3 };

/** The part of a stored document that fits, and what of it does not: as little as can be left out. */
export function fit(stored: Json): { document: Json; misfits: Misfit[] } {
  let document = stored;
  const misfits: Misfit[] = [];
  for (let parsed = settings.safeParse(document); !parsed.success; parsed = settings.safeParse(document)) {
    const before = document;
    const places = parsed.error.issues.flatMap(({ path, ...issue }) =>
      issue.code === 'unrecognized_keys' ? issue.keys.map((key) => [...path, key]) : [path],
    );
    const cuts = outermost(places.map((place) => cutAt(before, place.map(String))));
    // An error of no place of its own: nothing can be told apart.
    for (const path of cuts.length > 0 ? cuts : Object.keys(document).map((name) => [name])) {
      misfits.push({ path, value: valueAt(document, path) });
      document = without(document, path);
    }
  }
  return { document, misfits };
}

/** A document with the misfits in their places. */
export function putBack(document: Json, misfits: readonly Misfit[]): Json {
  return misfits.reduceRight((whole, { path, value }) => withValue(whole, path, value), document);
}

/** Takes out again what is as it was put aside; the rest of the misfits was changed, or is gone. */
export function takeOut(whole: Json, misfits: readonly Misfit[]): { document: Json; misfits: Misfit[] } {
  const left = misfits.filter(({ path, value }) => hasAt(whole, path) && canonical(valueAt(whole, path)) === canonical(value));
  return { document: left.reduce((document, { path }) => without(document, path), whole), misfits: left };
}

/** What cannot be read may have been switched off. */
function switchOff(memory: Settings['memory'], name: string, unread: boolean): void {
  if (!unread) return;
  for (const part of ['recall', 'compaction', 'summary'] as const) if (name === '' || name === part) memory[part].enabled = false;
}

/** What is used of the settings that fit: a limit that cannot be read is as narrow as can be, not gone. */
export function guarded(given: Settings, misfits: readonly Misfit[]): Settings {
  const used = structuredClone(given);
  for (const { path } of misfits) {
    const [section, name = '', part] = path;
    const agent = section === 'agents' && part === 'tools' ? used.agents[name] : undefined;
    if (agent) agent.tools = { allow: [] };
    // Whoever cannot be read may have said no.
    if (section === 'memory') switchOff(used.memory, name, path.length < 3 || part === 'enabled');
    // Half of its settings would have another thing promoted, at another time.
    if (section === 'dreaming') used.dreaming.enabled = false;
    if (section !== 'tools' || (name !== 'policies' && path.length > 1)) continue;
    used.tools.policies = { ...used.tools.policies, [part ?? '*']: 'ask' };
  }
  return used;
}

/** Each once, and none that lies within another. */
function outermost(paths: readonly (readonly string[])[]): (readonly string[])[] {
  const found = new Map(paths.filter((path) => path.length > 0).map((path) => [JSON.stringify(path), path]));
  const isWithin = (path: readonly string[]): boolean =>
    path.some((_, depth) => depth > 0 && found.has(JSON.stringify(path.slice(0, depth))));
  return [...found.values()].filter((path) => !isWithin(path));
}

/** Where to cut: no deeper than the section's settings go, within no list, and where something stands. */
function cutAt(document: Json, place: readonly string[]): readonly string[] {
  let path = place.slice(0, DEPTH[place[0] ?? ''] ?? 2);
  while (path.length > 0 && !hasAt(document, path)) path = path.slice(0, -1);
  return path;
}

const parentOf = (document: Json, path: readonly string[]): unknown =>
  path.slice(0, -1).reduce<unknown>((value, name) => (isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined), document);

function hasAt(document: Json, path: readonly string[]): boolean {
  const parent = parentOf(document, path);
  return isObject(parent) && Object.hasOwn(parent, path.at(-1) ?? '');
}

function valueAt(document: Json, path: readonly string[]): unknown {
  const parent = parentOf(document, path);
  return isObject(parent) ? parent[path.at(-1) ?? ''] : undefined;
}

function without(document: Json, [name = '', ...rest]: readonly string[]): Json {
  const { [name]: value, ...others } = document;
  if (rest.length === 0) return others;
  return isObject(value) ? { ...document, [name]: without(value, rest) } : document;
}

function withValue(document: Json, [name = '', ...rest]: readonly string[], value: unknown): Json {
  const before = document[name];
  return { ...document, [name]: rest.length === 0 ? value : withValue(isObject(before) ? before : {}, rest, value) };
}
