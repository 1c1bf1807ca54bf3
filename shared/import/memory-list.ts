import { parseJson } from '../parse-json.ts';
import { isFields, toFields, toText } from './imported-chat.ts';

/** A memory or preference from another product. */
export interface ImportedMemory {
  text: string;
  category: 'fact' | 'preference' | 'task' | 'event';
  /** Milliseconds since the Unix epoch, if the product exports it. */
  createdAt?: number;
}

/** Maximum number of characters of a memory (`memory.add`). */
const MAX_MEMORY_CHARS = 10_000;
const BULLET = /^\s{0,3}(?:[-*•+–]|\d{1,3}[.)])\s+(?=\S)/;
const HEADING = /^\s*(?:#{1,6}\s+(.+?)\s*#*|\*\*([^*]+)\*\*:?|__([^_]+)__:?|([^.!?]{1,80}):)\s*$/;
const DATED = /^\[?(\d{4}-\d\d-\d\d)(?:T[\d:.]+Z?)?\]?\s*(?:[-–—:]\s*|\s)(?=\S)/;
/** `[unknown] - …`: the form without a date in lists from Claude's export prompt. */
const UNDATED = /^\[(?:unknown|no date|date unknown)[^\]]*\]\s*[-–—:]\s*/i;
const CATEGORIES: readonly (readonly [RegExp, ImportedMemory['category']])[] = [
  [/prefer|instruction|style|tone|format|like to be|respond|how (?:would|should)/i, 'preference'],
  [/\btasks?\b|to-?do|\bgoals?\b|open items/i, 'task'],
  [/\bevents?\b|recent (?:activity|updates)|recent months/i, 'event'],
];
const PREFERENCE = /^(?:the )?(?:user )?(?:prefers?|likes|dislikes|wants|would like|always|never|please|don[’']t|do not)\b/i;

/**
 * Reads a list of memories as ChatGPT and Claude show or export them: lines, bullets or numbers, with or without dates, under headings.
 * JSON is read as well: a list of texts or objects, or Claude’s `memories.json`. Empty if there is none.
 */
export function parseMemoryList(text: string): ImportedMemory[] {
  const value = parse(text);
  if (value !== undefined) return [...new Map((readMemoryValue(value) ?? []).map((memory) => [memory.text, memory])).values()];
  const memories: ImportedMemory[] = [];
  const seenTexts = new Set<string>();
  let category: ImportedMemory['category'] = 'fact';
  /** Lines of the memory that may continue. */
  let openLines: string[] | undefined;
  const close = (): void => {
    const memory = openLines && toMemory(openLines.join('\n'), category);
    openLines = undefined;
    if (!memory || seenTexts.has(memory.text)) return;
    seenTexts.add(memory.text);
    memories.push(memory);
  };
  for (const line of text.replaceAll('\r\n', '\n').split('\n')) {
    if (line.trim() === '' || /^\s*(```|~~~|---+\s*$|<!--.*-->\s*$)/.test(line)) {
      close();
      continue;
    }
    const heading = HEADING.exec(line)?.slice(1).find(Boolean);
    if (heading !== undefined && !BULLET.test(line)) {
      close();
      category = CATEGORIES.find(([pattern]) => pattern.test(heading))?.[1] ?? 'fact';
      continue;
    }
    if (openLines && !BULLET.test(line) && (/^\s{2,}\S/.test(line) || /^\t/.test(line))) {
      openLines.push(line.trim());
      continue;
    }
    close();
    openLines = [line.replace(BULLET, '').trim()];
  }
  close();
  return memories;
}

/** Memories of JSON: Claude’s `memories.json`, or a list of texts or of objects with one; null if it is something else. */
export function readMemoryValue(value: unknown): ImportedMemory[] | null {
  if (Array.isArray(value)) {
    const lists = value.map(readMemoryValue);
    return lists.length > 0 && lists.every((list) => list !== null) ? lists.flat() : null;
  }
  if (typeof value === 'string') return [toMemory(value, 'fact') ?? []].flat();
  if (!isFields(value)) return null;
  if (typeof value['conversations_memory'] === 'string') {
    const projects = Object.values(toFields(value['project_memories'])).map(toText);
    return [value['conversations_memory'], ...projects].flatMap(parseMemoryList);
  }
  if (Array.isArray(value['memories'])) return readMemoryValue(value['memories']);
  const text = [value['memory'], value['content'], value['text']].map(toText).find((each) => each !== '');
  if (text === undefined || 'role' in value || 'mapping' in value) return null;
  const memory = toMemory(text, 'fact');
  const at = ['created_at', 'createdAt', 'updated_at', 'date', 'timestamp'].map((name) => value[name]).find((each) => each !== undefined);
  const createdAt = typeof at === 'number' ? (at < 1e11 ? at * 1000 : at) : Date.parse(toText(at));
  return memory ? [{ ...memory, ...(createdAt > 0 ? { createdAt: Math.round(createdAt) } : {}) }] : [];
}

function toMemory(raw: string, category: ImportedMemory['category']): ImportedMemory | undefined {
  const trimmed = raw.trim().replace(UNDATED, '');
  const date = DATED.exec(trimmed);
  const text = (date ? trimmed.slice(date[0].length) : trimmed).trim();
  // Skip separators, brackets and similar lines.
  if (!/\p{L}/u.test(text) || text.length > MAX_MEMORY_CHARS) return undefined;
  const createdAt = date?.[1] === undefined ? Number.NaN : Date.parse(date[1]);
  return {
    text,
    category: category === 'fact' && PREFERENCE.test(text) ? 'preference' : category,
    ...(createdAt > 0 ? { createdAt } : {}),
  };
}

function parse(text: string): unknown {
  if (!/^\s*[[{"]/.test(text) || /^\s*\[[^\]"{]*\]\s*[-–—:]/.test(text)) return undefined;
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
