import { MARKDOWN_LINK_PATTERN, resolveRelative, toPageTarget } from '#shared/wiki-link.ts';
import { m } from '#app/i18n/messages.ts';

const CODE = /(^ {0,3}(`{3,}|~{3,})[^\n]*\n[^]*?(?:^ {0,3}\2[`~]*[ \t]*$|(?![^])))|(?<!`)(`+)(?!`)[^\n]*?(?<!`)\3(?!`)/;
/** `[[Target#Heading|shown]]` */
const WIKI_LINK = /(!?)\[\[([^[\]\n|#]*)(?:#([^[\]\n|]*))?(?:\|([^[\]\n]*))?\]\]/;
const PICTURE_LINK = new RegExp(`!\\[([^[\\]\\n]*)${MARKDOWN_LINK_PATTERN.source}`);
/** Code, which stays as it is, or a link of one of these kinds. */
const CODE_OR_LINK = new RegExp([CODE, WIKI_LINK, PICTURE_LINK, MARKDOWN_LINK_PATTERN].map(({ source }) => source).join('|'), 'gm');
const IS_PICTURE = /\.(png|jpe?g|gif|webp|avif)$/i;

interface PageLinks {
  /** The path of the page. */
  from: string;
  /** Address of a link target, and whether that page exists. */
  href: (target: string) => { href: string; exists: boolean };
  /** The address of a picture of the wiki by its name as written; undefined if there is none. */
  picture?: (name: string) => string | undefined;
}

/** Converts links to other pages and pictures in the text of a page to Markdown that the app can show. */
export function rewriteLinks(content: string, { from, href, picture }: PageLinks): string {
  const toLink = (target: string): string => {
    const { href: to, exists } = href(target);
    return `<${to.replaceAll('>', '%3E').replaceAll('<', '%3C')}>${exists ? '' : ` "${m.wiki_no_page_yet().replaceAll('"', '\\"')}"`}`;
  };
  return content.replace(CODE_OR_LINK, (match: string, ...groups: (string | undefined)[]) => {
    const [fence, , run, mark, target, heading, alias, alt, source, destination] = groups;
    if (fence !== undefined || run !== undefined) return match;
    if (source !== undefined) return toPicture(alt ?? '', picture?.(toPictureName(source))) ?? match;
    if (destination !== undefined) {
      const page = toPageTarget(destination, from);
      return page ? `](${toLink(page.target)})` : match;
    }
    if (target === undefined) return match;
    const name = target.replace(/\\$/, '').trim();
    if (name === '' && heading === undefined) return match;
    if (mark === '!' && IS_PICTURE.test(name)) return toPicture(name, picture?.(name)) ?? match;
    const label = alias?.trim() || [name, heading?.replace(/\\$/, '').trim()].filter(Boolean).join(' › ');
    if (name === '') return escapeMarkdown(label);
    return `[${escapeMarkdown(label)}](${toLink(resolveRelative(name, from))})`;
  });
}

const toPicture = (alt: string, address: string | undefined): string | undefined =>
  address === undefined ? undefined : `![${escapeMarkdown(alt)}](<${address}>)`;

/** File name of a picture. */
function toPictureName(source: string): string {
  const name = source.replace(/^<|>$/g, '');
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** The names of the pictures of the wiki that a page shows, as written. */
export function listPictures(content: string): string[] {
  const names = [...content.matchAll(CODE_OR_LINK)].flatMap((match) => {
    const [, , , , mark, target = '', , , , source] = match;
    const name = source === undefined ? (mark === '!' ? target.trim() : '') : toPictureName(source);
    return IS_PICTURE.test(name) && !/^[a-z][a-z\d+.-]*:/i.test(name) ? [name] : [];
  });
  return [...new Set(names)];
}

const escapeMarkdown = (text: string): string => text.replace(/[\\[\]*_`<>!]/g, '\\$&');

interface Heading {
  level: number;
  text: string;
}

/** The headings of a page in their order, without those within code. */
export function getHeadings(content: string): Heading[] {
  const plain = content.replace(CODE_OR_LINK, (match: string, fence?: string) => (fence === undefined ? match : ''));
  return [...plain.matchAll(/^ {0,3}(#{1,6})[ \t]+(\S.*)$/gm)].map(([, marks = '', text = '']) => ({
    level: marks.length,
    text: stripClosingMarks(text)
      .replace(/\[\[(?:[^[\]|]*\|)?([^[\]]*)\]\]/g, '$1')
      .replace(/[*_`]/g, ''),
  }));
}

/** Removes closing marks of a heading. */
function stripClosingMarks(text: string): string {
  let end = text.length;
  while (end > 0 && ' \t#\r'.includes(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}
