import type { PassageBuilder, PassagePlace } from './passage-builder.ts';

interface MarkdownOptions {
  /** Place of the whole text. */
  place?: PassagePlace;
  /** Number of its first line; undefined if its lines are not those of the file. */
  line?: number | undefined;
  /** Number of lines at the start of tables that later parts repeat. */
  headerLines?: number;
}

const HEADING = /^ {0,3}(#{1,6})(?:[ \t]+(.*))?$/;
const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const LIST_ITEM = /^[ \t]*([-*+]|\d{1,9}[.)])[ \t]/;
const SETEXT_RULE = /^ {0,3}(=+|-+)[ \t]*$/;
const TABLE_RULE = /^[ \t:|-]+$/;
/** Maximum length of a heading in a place. */
const MAX_HEADING_CHARS = 200;

/**
 * Adds the blocks of a Markdown text: headings, paragraphs, lists, tables and code, each below its headings. Works line by line, in time
 * that is linear in the text. Returns the first heading of the first level.
 */
export function addMarkdown(
  builder: PassageBuilder,
  markdown: string,
  { place = {}, line: firstLine, headerLines = 2 }: MarkdownOptions = {},
): string | undefined {
  const lines = markdown.split('\n');
  const outer = place.headings ?? [];
  const path: { level: number; text: string }[] = [];
  let title: string | undefined;
  let gap: string | undefined;
  let index = 0;

  const getPlace = (start: number): PassagePlace => {
    const headings = [...outer, ...path.map(({ text }) => text)];
    return { ...place, ...(headings.length > 0 ? { headings } : {}), ...(firstLine === undefined ? {} : { line: firstLine + start }) };
  };
  const addLines = (end: number, form: 'prose' | 'lines' | 'rows'): boolean => {
    const block = lines.slice(index, end);
    const added = builder.add({
      text: block.join('\n'),
      place: getPlace(index),
      ...(form === 'rows' ? { form: 'lines', header: block.slice(0, headerLines).join('\n') } : { form }),
      ...(gap === undefined ? {} : { gap }),
    });
    gap = '\n';
    index = end;
    return added;
  };
  const openHeading = (level: number, text: string): void => {
    while ((path.at(-1)?.level ?? 0) >= level) path.pop();
    const heading = toPlainHeading(text);
    if (heading !== '') path.push({ level, text: heading });
    if (level === 1 && heading !== '') title ??= heading;
  };

  while (index < lines.length) {
    const current = lines[index] ?? '';
    if (current.trim() === '') {
      // Empty lines at the start don't count.
      if (gap !== undefined) gap += `${current}\n`;
      index++;
      continue;
    }
    const [, marks, heading = ''] = HEADING.exec(current) ?? [];
    if (marks !== undefined) {
      openHeading(marks.length, heading);
      if (!addLines(index + 1, 'prose')) break;
      continue;
    }
    const [, fence] = FENCE.exec(current) ?? [];
    if (fence !== undefined) {
      const end = findLine(lines, index + 1, (line) => line.trimStart().startsWith(fence) && /^[`~\s]*$/.test(line));
      if (!addLines(Math.min(end + 1, lines.length), 'lines')) break;
      continue;
    }
    if (current.includes('|') && isTableRule(lines[index + 1] ?? '')) {
      if (
        !addLines(
          findLine(lines, index + 2, (line) => !line.includes('|')),
          'rows',
        )
      )
        break;
      continue;
    }
    let end = index + 1;
    while (end < lines.length && !endsParagraph(lines[end] ?? '')) end++;
    const rule = SETEXT_RULE.exec(lines[end - 1] ?? '')?.[1];
    if (rule !== undefined && end - index === 2 && !LIST_ITEM.test(current)) openHeading(rule.startsWith('=') ? 1 : 2, current);
    if (!addLines(end, LIST_ITEM.test(current) ? 'lines' : 'prose')) break;
  }
  return title;
}

const isTableRule = (line: string): boolean => TABLE_RULE.test(line) && line.includes('|') && line.includes('-');

const endsParagraph = (line: string): boolean => line.trim() === '' || HEADING.test(line) || FENCE.test(line);

function findLine(lines: readonly string[], from: number, matches: (line: string) => boolean): number {
  for (let at = from; at < lines.length; at++) if (matches(lines[at] ?? '')) return at;
  return lines.length;
}

/** A heading without marks: links become their text. */
const toPlainHeading = (text: string): string =>
  text
    .slice(0, 4 * MAX_HEADING_CHARS)
    .replace(/[ \t]#+[ \t]*$/, '')
    .replaceAll(/!?\[([^[\]]*)\]\([^()]*\)/g, '$1')
    .replaceAll(/[*`]|(?<![\p{L}\p{N}])_+|_+(?![\p{L}\p{N}])/gu, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, MAX_HEADING_CHARS);
