const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' };
const MAX_HEADING_LEVEL = 6;

/** Simple HTML of an answer (paragraphs, lists, code, tables, emphasis, links) as Markdown. Unknown tags are left out, their text is kept; scripts and styles are dropped. */
export function htmlToMarkdown(html: string): string {
  const pieces = html.replace(/<(script|style)\b[^]*?<\/\1\s*>/gi, '').split(/(<[^<>]*>)/);
  const lists: { isOrdered: boolean; count: number }[] = [];
  const hrefs: string[] = [];
  let out = '';
  let isPre = false;
  const breakLine = (lines: number): void => {
    out = out.replace(/[ \t]+$/, '');
    if (out === '') return;
    const newlines = /\n*$/.exec(out)?.[0].length ?? 0;
    out += '\n'.repeat(Math.max(0, lines - newlines));
  };
  const tags: Readonly<Record<string, (isEnd: boolean, attributes: string) => void>> = {
    p: () => breakLine(lists.length > 0 ? 1 : 2),
    div: () => breakLine(1),
    br: () => breakLine(1),
    hr: () => (breakLine(2), void (out += '---\n\n')),
    ul: (isEnd) => list(isEnd, false),
    ol: (isEnd) => list(isEnd, true),
    li: (isEnd) => {
      if (isEnd) return breakLine(1);
      breakLine(1);
      const top = lists.at(-1);
      if (top) top.count++;
      out += `${'  '.repeat(Math.max(0, lists.length - 1))}${top?.isOrdered ? `${top.count}.` : '-'} `;
    },
    strong: () => void (out += '**'),
    b: () => void (out += '**'),
    em: () => void (out += '*'),
    i: () => void (out += '*'),
    code: () => void (isPre || (out += '`')),
    pre: (isEnd) => {
      breakLine(isEnd ? 1 : 2);
      out += isEnd ? '````\n\n' : '````\n';
      isPre = !isEnd;
    },
    a: (isEnd, attributes) => {
      if (!isEnd) {
        hrefs.push(decodeEntities(/\bhref\s*=\s*(?:"([^"]*)"|'([^']*)')/i.exec(attributes)?.slice(1).find(Boolean) ?? ''));
        out += '[';
      } else out += `](${(hrefs.pop() ?? '').replaceAll(/[()\s]/g, encodeURIComponent)})`;
    },
    tr: (isEnd) => (isEnd ? (out += ' |') : breakLine(1), undefined),
    td: (isEnd) => void (isEnd || (out += '| ')),
    th: (isEnd) => void (isEnd || (out += '| ')),
  };
  function list(isEnd: boolean, isOrdered: boolean): void {
    if (isEnd) lists.pop();
    else lists.push({ isOrdered, count: 0 });
    breakLine(lists.length > (isEnd ? 0 : 1) ? 1 : 2);
  }
  for (const piece of pieces) {
    const [, end, name = '', attributes = ''] = /^<(\/?)([a-z][a-z0-9]*)([^]*)>$/i.exec(piece) ?? [];
    if (name === '') {
      const text = piece.startsWith('<!') ? '' : decodeEntities(piece);
      out += isPre ? text : text.replace(/\s+/g, ' ');
      continue;
    }
    const lower = name.toLowerCase();
    const level = /^h([1-6])$/.exec(lower)?.[1];
    if (level !== undefined) {
      breakLine(2);
      if (end === '') out += `${'#'.repeat(Math.min(MAX_HEADING_LEVEL, Number(level)))} `;
    } else if (Object.hasOwn(tags, lower)) tags[lower]?.(end === '/', attributes);
  }
  return out
    .replace(/\n{3,}/g, '\n\n')
    .replace(/^ +(?=\S)/gm, (spaces) => (spaces.length === 1 ? '' : spaces))
    .trim();
}

/** Replaces character references; unknown ones stay. */
export const decodeEntities = (text: string): string =>
  text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]+));/gi, (reference, decimal?: string, hex?: string, name = '') => {
    const code = decimal !== undefined ? Number(decimal) : hex !== undefined ? Number.parseInt(hex, 16) : undefined;
    if (code !== undefined) return code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : '';
    return ENTITIES[String(name).toLowerCase()] ?? reference;
  });
