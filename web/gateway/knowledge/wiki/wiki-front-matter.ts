import { isMap, isNode, isScalar, parseDocument, stringify, type YAMLMap } from 'yaml';
import { isObject } from '#shared/merge-patch.ts';

/** Front matter of a page. `created`, `updated`: as written; Perch writes `2026-11-22T09:30:00` in UTC, a format that Obsidian accepts. */
export interface PageFrontMatter {
  title?: string | undefined;
  kind?: string | undefined;
  tags: string[];
  aliases: string[];
  created?: string | undefined;
  updated?: string | undefined;
}

export const joinFrontMatter = (yaml: string | undefined, body: string): string =>
  yaml === undefined ? body : `---\n${yaml}${yaml === '' || yaml.endsWith('\n') ? '' : '\n'}---\n${body}`;

/** Parses front matter. Never throws: `problem` describes the error, and valid members are returned all the same. */
export function parseFrontMatter(yaml: string): PageFrontMatter & { problem?: string } {
  const none = { tags: [], aliases: [] };
  try {
    const document = parseDocument(yaml, { schema: 'core', prettyErrors: true, logLevel: 'silent' });
    const [error] = document.errors;
    if (error) return { ...none, problem: `The front matter is not valid YAML: ${firstLine(error.message)}` };
    // Disallows aliases, which could expand to far more than the document's size.
    const parsed: unknown = document.toJS({ maxAliasCount: 0 });
    if (parsed === null || parsed === undefined) return none;
    if (!isObject(parsed)) return { ...none, problem: 'The front matter must be a map of names to values' };
    return {
      title: toText(parsed['title']),
      kind: toText(parsed['kind']),
      tags: toList(parsed['tags']).map((tag) => tag.replace(/^#/, '')),
      aliases: toList(parsed['aliases']),
      created: toText(parsed['created']),
      updated: toText(parsed['updated']),
    };
  } catch (error) {
    return {
      ...none,
      problem: `Couldn’t read the front matter: ${error instanceof Error ? firstLine(error.message) : 'it is nested too deeply'}`,
    };
  }
}

/**
 * Sets members in the YAML and keeps everything else: other members, their order, comments. Members that already have the value are not
 * touched. Invalid front matter is returned unchanged.
 */
export function updateFrontMatter(yaml: string, head: PageFrontMatter): string {
  const { problem, ...before } = parseFrontMatter(yaml);
  if (problem !== undefined) return yaml;
  const old: Record<string, unknown> = { ...before };
  const changed = Object.entries(head).filter(([name, value]) => JSON.stringify(old[name]) !== JSON.stringify(value));
  if (changed.length === 0) return yaml;
  const document = parseDocument(yaml, { schema: 'core', logLevel: 'silent' });
  if (!isMap(document.contents)) return toYaml(Object.fromEntries(changed.filter(([, value]) => hasValue(value))));
  const spliced = document.contents.flow === true ? undefined : splice(yaml, document.contents, changed);
  if (spliced !== undefined && isSame(parseFrontMatter(spliced), head)) return spliced;
  for (const [name, value] of changed) {
    if (hasValue(value)) document.set(name, document.createNode(value));
    else document.delete(name);
  }
  return document.toString({ lineWidth: 0 });
}

const toYaml = (members: Record<string, unknown>): string => stringify(members, { lineWidth: 0 });
const isSame = ({ problem, ...read }: PageFrontMatter & { problem?: string }, expected: PageFrontMatter): boolean =>
  problem === undefined &&
  Object.entries(expected).every(
    ([name, value]) => JSON.stringify(Object.entries(read).find(([each]) => each === name)?.[1]) === JSON.stringify(value),
  );

/** Replaces only the text of the changed members and keeps the formatting of all others. Undefined if that is ambiguous. */
function splice(yaml: string, map: YAMLMap, changed: [string, unknown][]): string | undefined {
  let text = yaml === '' || yaml.endsWith('\n') ? yaml : `${yaml}\n`;
  const edits = changed.map(([name, value]) => {
    const pair = map.items.find(({ key }) => isScalar(key) && key.value === name);
    const [from] = pair && isScalar(pair.key) ? (pair.key.range ?? []) : [];
    const end = pair && isNode(pair.value) ? pair.value.range?.[1] : undefined;
    return { line: hasValue(value) ? toYaml({ [name]: value }).trimEnd() : '', pair, from, end };
  });
  // Last to first, so that earlier positions stay valid.
  for (const { line, pair, from, end } of [...edits].filter(({ pair }) => pair).sort((a, b) => (b.from ?? 0) - (a.from ?? 0))) {
    if (!pair || from === undefined || end === undefined) return undefined;
    const rest = text.slice(from, end).endsWith('\n') && line !== '' ? '\n' : '';
    text = `${text.slice(0, from)}${line}${rest}${text.slice(end).replace(line === '' ? /^\n/ : /^$/, '')}`;
  }
  return text + edits.flatMap(({ line, pair }) => (pair || line === '' ? [] : `${line}\n`)).join('');
}

const hasValue = (value: unknown): boolean => value !== undefined && !(Array.isArray(value) && value.length === 0);
const firstLine = (text: string): string => (text.split('\n', 1)[0] ?? '').replace(/:$/, '').slice(0, 300);
const toText = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;

/** Obsidian also writes lists as text: `tags: cat, pet`. */
const toList = (value: unknown): string[] =>
  typeof value === 'string'
    ? value
        .split(',')
        .map((each) => each.trim())
        .filter(Boolean)
    : Array.isArray(value)
      ? value.flatMap((each) => toText(each) ?? [])
      : [];
