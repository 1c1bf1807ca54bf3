/** A section of the user guide (`docs/guide`), as the built-in guide quotes it and the site's search finds it. */
export interface Article {
  /** Page and anchor, as in an address: `models#add-a-model`. */
  id: string;
  title: string;
  /** Title of the page. */
  page: string;
  /** Markdown without pictures and without links between pages. */
  text: string;
  /** Words of likely questions that the text does not contain. */
  keywords?: string;
}

const HEADING = /^#{2,3} +(.+?) *$/;
const KEYWORDS = /^<!-- *keywords: *([^]*?) *-->$/m;

/** Anchor of a heading, in GitHub's spelling. */
export const toSlug = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');

/** Splits a page at its headings of the second and third level, ignoring those in fenced code. */
export function parseGuidePage(name: string, source: string): Article[] {
  const page = /^# +(.+)$/m.exec(source)?.[1] ?? name;
  const sections: { title: string; lines: string[] }[] = [];
  let fence = '';
  for (const line of source.split('\n')) {
    const mark = /^\s*(`{3,}|~{3,})/.exec(line)?.[1];
    if (mark !== undefined && (fence === '' || mark.startsWith(fence))) fence = fence === '' ? mark : '';
    const title = fence === '' ? HEADING.exec(line)?.[1] : undefined;
    if (title !== undefined) sections.push({ title, lines: [] });
    else sections.at(-1)?.lines.push(line);
  }
  return sections.flatMap(({ title, lines }) => {
    const body = lines.join('\n');
    const keywords = KEYWORDS.exec(body)?.[1];
    const text = toPlainMarkdown(body);
    return text === '' ? [] : [{ id: `${name}#${toSlug(title)}`, title, page, text, ...(keywords === undefined ? {} : { keywords }) }];
  });
}

/** Removes pictures, comments and links to other pages, which lead nowhere in a chat. */
function toPlainMarkdown(text: string): string {
  return text
    .replaceAll(/<!--[^]*?-->/g, '')
    .replaceAll(/!\[[^\]]*\]\([^)]*\)/g, '')
    .replaceAll(/\[([^\]]+)\]\((?!https?:)[^)]*\)/g, '$1')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();
}
