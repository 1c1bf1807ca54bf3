import { isObject } from '#shared/merge-patch.ts';

/** Sections whose entries are separate records, so that a provider's address and the name of its key always stay together. */
const SPLIT_SECTIONS = new Set(['providers', 'agents', 'channels']);

/** Splits the document into rows: one per section (`chat`), and one per entry of sections with named entries (`providers.openai`). */
export function toConfigRows(document: Record<string, unknown>): Map<string, unknown> {
  const rows = new Map<string, unknown>();
  for (const [section, value] of Object.entries(document)) {
    if (!SPLIT_SECTIONS.has(section) || !isObject(value)) rows.set(section, value);
    else for (const [name, entry] of Object.entries(value)) rows.set(`${section}.${name}`, entry);
  }
  return rows;
}

/** Joins such rows to a document, in any order. */
export function toConfigDocument(rows: readonly { name: string; value: unknown }[]): Record<string, unknown> {
  const sections = new Map<string, unknown>();
  const entries = new Map<string, [string, unknown][]>();
  for (const { name, value } of rows) {
    const [section = '', ...rest] = name.split('.');
    if (rest.length === 0 || !SPLIT_SECTIONS.has(section)) sections.set(name, value);
    else entries.set(section, [...(entries.get(section) ?? []), [rest.join('.'), value]]);
  }
  for (const [section, list] of entries) sections.set(section, Object.fromEntries(list));
  return Object.fromEntries(sections);
}
