import { MARKDOWN_LINK_PATTERN, resolveRelative, toPageTarget } from '#shared/wiki-link.ts';
import { maskCode } from './mask-code.ts';
import { getFolder, getPageName } from './page-path.ts';

/**
 * A link in a page, in Obsidian's syntax: `[[Target]]`, `[[Target|shown]]`, `[[Target#Heading]]`, `[[#Heading]]` within the page,
 * `![[Target]]` embedded, `[shown](Target.md)`.
 */
export interface WikiLink {
  /**
   * As written, but without `.md` for a Markdown link, and relative links resolved from the root of the wiki. Empty for a link within the
   * page.
   */
  target: string;
  heading?: string;
  alias?: string;
  embedded: boolean;
  /** Line in the given text, counted from 1. */
  line: number;
}

const LINK = /(!?)\[\[([^[\]\n|#]*)(?:#([^[\]\n|]*))?(?:\|([^[\]\n]*))?\]\]/g;

const MARKDOWN_LINKS = new RegExp(MARKDOWN_LINK_PATTERN, 'g');

/** The links in the text of the page at `from`, line by line, ignoring code. */
export function findLinks(markdown: string, from: string): WikiLink[] {
  const links: WikiLink[] = [];
  for (const [index, line] of maskCode(markdown).split('\n').entries()) {
    if (line.includes(']('))
      for (const [, destination = ''] of line.matchAll(MARKDOWN_LINKS)) {
        const page = toPageTarget(destination, from);
        if (page) links.push({ ...page, embedded: false, line: index + 1 });
      }
    if (!line.includes('[[')) continue;
    for (const [, mark, target = '', heading, alias] of line.matchAll(LINK)) {
      // In a table, the bar before the alias is written `\|`.
      const segments = (heading === undefined ? target : `${target}#${heading}`).replace(/\\$/, '').split('#');
      const [name = '', ...headings] = segments;
      if (name.trim() === '' && headings.length === 0) continue;
      links.push({
        target: resolveRelative(name.trim(), from),
        ...(headings.length > 0 && { heading: headings.join('#').trim() }),
        ...(alias !== undefined && { alias: alias.trim() }),
        embedded: mark === '!',
        line: index + 1,
      });
    }
  }
  return links;
}

type NamedPage = { path: string; title: string; aliases: readonly string[] };
const toKey = (text: string): string => text.normalize('NFC').toLowerCase();

/**
 * Resolves links to pages: by path, by the end of a path, by file name, then by title or alias. If several match, a page in the same folder
 * is preferred, then the one with the shortest path.
 */
export class LinkTargets {
  readonly #paths = new Map<string, string[]>();
  readonly #titles = new Map<string, string[]>();

  constructor(pages: Iterable<NamedPage>) {
    const addPath = (map: Map<string, string[]>, name: string, path: string): void => {
      const paths = map.get(toKey(name)) ?? [];
      if (!paths.includes(path)) map.set(toKey(name), [...paths, path]);
    };
    for (const { path, title, aliases } of pages) {
      const names = path.replace(/\.md$/i, '').split('/');
      for (let from = 0; from < names.length; from++) addPath(this.#paths, names.slice(from).join('/'), path);
      for (const name of [title, ...aliases]) addPath(this.#titles, name, path);
    }
  }

  /** Path of the page; undefined if the page does not exist. */
  resolve(target: string, from: string): string | undefined {
    if (target === '') return from;
    const name = target.replace(/^\/+/, '').replace(/\.md$/i, '');
    const candidates = this.#paths.get(toKey(name)) ?? this.#titles.get(toKey(name)) ?? this.#titles.get(toKey(target)) ?? [];
    const exact = candidates.find((path) => toKey(path) === toKey(`${name}.md`));
    if (exact !== undefined && name.includes('/')) return exact;
    const computeDistance = (path: string): number => (getFolder(path) === getFolder(from) ? 0 : path.split('/').length);
    return [...candidates].sort((a, b) => computeDistance(a) - computeDistance(b) || (a < b ? -1 : 1))[0];
  }
}

/** A page that links to another one, with its links. */
export interface Backlink {
  path: string;
  title: string;
  links: WikiLink[];
}

/** Backlinks by the path of the linked page. Links of a page to itself are left out. */
export function computeBacklinks(pages: readonly (NamedPage & { links: readonly WikiLink[] })[]): Map<string, Backlink[]> {
  const targets = new LinkTargets(pages);
  const backlinks = new Map<string, Backlink[]>();
  for (const { path, title, links } of pages) {
    // A long page may contain the same link many times.
    const resolved = new Map([...new Set(links.map(({ target }) => target))].map((target) => [target, targets.resolve(target, path)]));
    for (const [linkedPath, incoming] of Map.groupBy(links, ({ target }) => resolved.get(target)))
      if (linkedPath !== undefined && linkedPath !== path)
        backlinks.set(linkedPath, [...(backlinks.get(linkedPath) ?? []), { path, title: title || getPageName(path), links: incoming }]);
  }
  return backlinks;
}
