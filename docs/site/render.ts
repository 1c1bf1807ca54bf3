import hljs from 'highlight.js';
import { Marked } from 'marked';
import { toSlug } from '../../web/gateway/agent/guide/guide-page.ts';

export interface GuidePage {
  /** File name without its ending. */
  name: string;
  title: string;
  description: string;
  html: string;
  headings: { level: number; title: string; id: string }[];
  /** Targets of relative links: `models`, `models#add-a-model`. */
  links: string[];
}

const FRONT_MATTER = /^---\n([^]*?)\n---\n/;
const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** Renders a page. Links to `./other.md#part` become links to `other.html#part`. */
export function renderGuidePage(name: string, source: string): GuidePage {
  const field = (key: string): string => new RegExp(`^${key}: *(.+)$`, 'm').exec(FRONT_MATTER.exec(source)?.[1] ?? '')?.[1] ?? '';
  const headings: GuidePage['headings'] = [];
  const links: string[] = [];
  const marked = new Marked({
    gfm: true,
    renderer: {
      heading({ tokens, depth, text }) {
        const title = text.replaceAll(/[`*]/g, '');
        const id = toSlug(title);
        headings.push({ level: depth, title, id });
        const anchor = depth === 1 ? '' : ` <a class="anchor" href="#${id}" aria-label="Link to “${escapeHtml(title)}”">#</a>`;
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}${anchor}</h${depth}>\n`;
      },
      link({ href, title, tokens }) {
        const [, page, part = ''] = /^(?:\.\/)?([\w-]*?)(?:\.md)?(#[\w-]+)?$/.exec(href) ?? [];
        const inner = this.parser.parseInline(tokens);
        const hint = title ? ` title="${escapeHtml(title)}"` : '';
        if (page === undefined) return `<a href="${escapeHtml(href)}"${hint}>${inner}</a>`;
        links.push(`${page || name}${part}`);
        return `<a href="${page === '' ? part : `${page}.html${part}`}"${hint}>${inner}</a>`;
      },
      code({ text, lang = '' }) {
        const code = hljs.getLanguage(lang) ? hljs.highlight(text, { language: lang }).value : escapeHtml(text);
        return `<div class="code"><button type="button" data-copy>Copy</button><pre tabindex="0"><code>${code}</code></pre></div>\n`;
      },
      table(token) {
        const cells = (row: typeof token.header): string => row.map((cell) => this.tablecell(cell)).join('');
        const rows = token.rows.map((row) => `<tr>${cells(row)}</tr>`).join('');
        return `<div class="table" tabindex="0"><table><thead><tr>${cells(token.header)}</tr></thead><tbody>${rows}</tbody></table></div>\n`;
      },
    },
  });
  const body = source.replace(FRONT_MATTER, '').replaceAll(/<!--[^]*?-->\n*/g, '');
  const html = marked.parse(body, { async: false });
  return { name, title: field('title') || name, description: field('description'), html, headings, links };
}

/** Links that lead to no page or heading of the guide. */
export function findBrokenLinks(pages: readonly GuidePage[]): string[] {
  const targets = new Set(pages.flatMap(({ name, headings }) => [name, ...headings.map(({ id }) => `${name}#${id}`)]));
  return pages.flatMap(({ name, links }) => links.filter((link) => !targets.has(link)).map((link) => `${name}.md: ${link}`));
}

interface Frame {
  groups: readonly { title: string; pages: readonly Pick<GuidePage, 'name' | 'title'>[] }[];
  previous?: Pick<GuidePage, 'name' | 'title'> | undefined;
  next?: Pick<GuidePage, 'name' | 'title'> | undefined;
}

/** The whole document of a page. All links are relative: the site works under any path. */
export function toDocument(page: GuidePage, { groups, previous, next }: Frame): string {
  const item = ({ name, title }: Pick<GuidePage, 'name' | 'title'>): string =>
    `<li><a href="${name}.html"${name === page.name ? ' aria-current="page"' : ''}>${escapeHtml(title)}</a></li>`;
  const nav = groups.map(({ title, pages }) => `<h2>${title}</h2><ul>${pages.map(item).join('')}</ul>`).join('');
  const parts = page.headings.filter(({ level }) => level === 2);
  const toc = parts.map(({ id, title }) => `<li><a href="#${id}">${escapeHtml(title)}</a></li>`).join('');
  const turn = (rel: string, label: string, to?: Pick<GuidePage, 'name' | 'title'>): string =>
    to === undefined ? '<span></span>' : `<a rel="${rel}" href="${to.name}.html"><small>${label}</small>${escapeHtml(to.title)}</a>`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(page.title)} · Perch</title>
<meta name="description" content="${escapeHtml(page.description)}">
<link rel="icon" href="icon.svg">
<link rel="stylesheet" href="site.css">
<script src="theme.js"></script>
<script type="module" src="site.js"></script>
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<header>
<button type="button" id="menu" aria-expanded="false" aria-controls="nav">Menu</button>
<a class="home" href="index.html"><img src="icon.svg" alt="" width="24" height="24">Perch</a>
<button type="button" id="search">Search <kbd>/</kbd></button>
<a href="demo.html">Demo</a>
<button type="button" id="theme" aria-label="Switch theme">◐</button>
</header>
<div class="columns">
<nav id="nav" aria-label="Guide">${nav}</nav>
<main id="main" tabindex="-1">
${page.html}
<footer>${turn('prev', 'Previous', previous)}${turn('next', 'Next', next)}</footer>
</main>
<aside aria-label="On this page">${toc === '' ? '' : `<h2>On this page</h2><ul>${toc}</ul>`}</aside>
</div>
<dialog id="results" aria-label="Search the guide">
<input type="search" placeholder="Search the guide" aria-label="Search the guide" autocomplete="off">
<ol aria-label="Results"></ol>
<p role="status"></p>
</dialog>
</body>
</html>
`;
}
