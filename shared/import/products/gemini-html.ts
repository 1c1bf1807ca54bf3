import { decodeEntities } from '../html-to-markdown.ts';
import { parseTakeoutDate } from './takeout-date.ts';

const CELL = '<div class="outer-cell';
const BREAK = /<br\s*\/?>/i;
/** The verb before the prompt, such as "Prompted", in the language of the account. */
const VERB = /^\s*([^&<\u00a0]{2,40})(?:&nbsp;|\u00a0)/;
/** Distance between records whose dates cannot be read, which are listed from the newest. */
const STEP_MS = 1000;

export interface ActivityRecord {
  /** Empty if it is not separate from the prompt. */
  verb: string;
  prompt: string;
  /** HTML. */
  answer: string;
  /** Milliseconds since 1970. */
  time: number;
  /** Address of the chat; empty if the record has none. */
  url: string;
  /** Names of attached files. */
  files: string[];
}

/** A record whose date may be unreadable. */
type UndatedRecord = Omit<ActivityRecord, 'time'> & { time: number | null };

/**
 * Gemini's records of `My Activity` of Google Takeout as HTML. `unrecognized`: number of records that cannot be read. Null if the page is none.
 * A record is a cell: the prompt, its attachments, the date, and the answer, separated by line breaks.
 */
export function readActivityPage(html: string): { records: ActivityRecord[]; unrecognized: number } | null {
  if (!html.includes(CELL)) return null;
  const undated: UndatedRecord[] = [];
  let unrecognized = 0;
  for (const cell of html.split(CELL).slice(1)) {
    const [head = '', body, ...others] = cell.split(/<div class="[^"]*\bcontent-cell\b[^"]*"[^>]*>/);
    const header = toPlain(head.slice(head.indexOf('>') + 1)).trim();
    if (!/gemini|bard/i.test(header)) continue;
    const record = body === undefined ? undefined : readBody(body, others.join('\n'));
    if (record) undated.push(record);
    else unrecognized++;
  }
  let last: number | undefined;
  const records = undated.flatMap(({ time, ...record }) => {
    const at = time ?? (last === undefined ? undated.find((each) => each.time !== null)?.time : last - STEP_MS);
    if (at == null) {
      unrecognized++;
      return [];
    }
    last = at;
    return [{ ...record, time: at }];
  });
  return { records, unrecognized };
}

function readBody(body: string, trailer: string): UndatedRecord | undefined {
  const lines = body.split(BREAK);
  let time: number | null | undefined;
  const dateAt = lines.findIndex((line, at) => at > 0 && (time = parseTakeoutDate(toPlain(line))) !== undefined);
  const [first = '', ...others] = lines.slice(0, dateAt);
  if (dateAt < 0 || time === undefined) return undefined;
  const attached = [...others.flatMap((line) => toFile(line, 'href')), ...toFile(trailer, 'src')];
  const listAt = others.findIndex((line) => toFile(line, 'href').length > 0);
  // The line before the first file counts them.
  const text = listAt < 0 ? others : others.slice(0, Math.max(0, listAt - 1));
  const [match, verb = ''] = VERB.exec(first) ?? [''];
  return {
    verb: verb.trim(),
    prompt: [first.slice(match.length), ...text].map(toPlain).join('\n').trim(),
    answer: lines.slice(dateAt + 1).join('<br>'),
    time,
    url: /https:\/\/gemini\.google\.com\/[\w/-]+/.exec(`${lines.slice(0, dateAt).join('\n')}\n${trailer}`)?.[0] ?? '',
    files: [...new Set(attached)],
  };
}

/** Names of the export's files that links or images refer to. */
const toFile = (html: string, attribute: 'href' | 'src'): string[] =>
  [...html.matchAll(new RegExp(`<(?:a|img)\\b[^<>]*\\b${attribute}="([^"<>]+)"`, 'g'))].flatMap(([, address = '']) =>
    /^(?:[a-z][a-z0-9+.-]*:|#|\/)/i.test(address) ? [] : [decodeName(decodeEntities(address))],
  );

function decodeName(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

const toPlain = (html: string): string => decodeEntities(html.replace(/<[^<>]*>/g, ''));
