import { m } from '#lib/i18n/pages.ts';

/** Code, which is left as it is, or a link in double brackets: `[[Target#Heading|shown]]`. */
const CODE_OR_LINK =
  /(^ {0,3}(`{3,}|~{3,})[^\n]*\n[^]*?(?:^ {0,3}\2[`~]*[ \t]*$|(?![^])))|(?<!`)(`+)(?!`)[^\n]*?(?<!`)\3(?!`)|(!?)\[\[([^[\]\n|#]*)(?:#([^[\]\n|]*))?(?:\|([^[\]\n]*))?\]\]/gm;

/** Links in double brackets as links of Markdown. `href`: where a target leads, and whether there is such a page. */
export function linked(content: string, href: (target: string) => { href: string; there: boolean }): string {
  return content.replace(CODE_OR_LINK, (whole: string, ...found: (string | undefined)[]) => {
    const [fence, , run, , target, heading, alias] = found;
    if (fence !== undefined || run !== undefined || target === undefined) return whole;
    const name = target.replace(/\\$/, '').trim();
    if (name === '' && heading === undefined) return whole;
    const shown = alias?.trim() || [name, heading?.replace(/\\$/, '').trim()].filter(Boolean).join(' › ');
    const { href: to, there } = name === '' ? { href: '', there: true } : href(name);
    if (to === '') return escaped(shown);
    return `[${escaped(shown)}](<${to.replaceAll('>', '%3E').replaceAll('<', '%3C')}>${there ? '' : ` "${m.wiki_no_page_yet().replaceAll('"', '\\"')}"`})`;
  });
}

const escaped = (text: string): string => text.replace(/[\\[\]*_`<>!]/g, '\\$&');

export interface Heading {
  level: number;
  text: string;
}

/** The headings of a page, in their order; none of those that stand in code. */
export function headingsOf(content: string): Heading[] {
  const plain = content.replace(CODE_OR_LINK, (whole: string, fence?: string) => (fence === undefined ? whole : ''));
  return [...plain.matchAll(/^ {0,3}(#{1,6})[ \t]+(\S.*)$/gm)].map(([, marks = '', text = '']) => ({
    level: marks.length,
    text: withoutEnd(text)
      .replace(/\[\[(?:[^[\]|]*\|)?([^[\]]*)\]\]/g, '$1')
      .replace(/[*_`]/g, ''),
  }));
}

/** Marks may close a heading, too. */
function withoutEnd(text: string): string {
  let end = text.length;
  while (end > 0 && ' \t#\r'.includes(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}
