import { type NoteFormat, type NotePage, type NoteSource, toFreePath, toPagePath, toYaml } from './note-files.ts';

const PROPERTY = /^\s*(?:[-*]\s+)?([\p{L}\p{N}_][\p{L}\p{N}_/?!.-]*)::[ \t]*(.*)$/u;
const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const BLOCK_REF = new RegExp(`\\(\\((${UUID})\\)\\)`, 'gi');
const BLOCK_EMBED = new RegExp(`\\{\\{embed\\s+\\(\\((${UUID})\\)\\)\\s*\\}\\}`, 'gi');
const PAGE_EMBED = /\{\{embed\s+\[\[([^[\]\n]+)\]\]\s*\}\}/gi;
/** Properties that only Logseq needs. */
const LOGSEQ_PROPERTIES = new Set([
  'id',
  'collapsed',
  'heading',
  'title',
  'alias',
  'aliases',
  'tags',
  'created-at',
  'updated-at',
  'icon',
  'filters',
  'logseq.order-list-type',
]);
const OPEN_TASKS = /^(\s*[-*]\s+)(?:TODO|DOING|LATER|NOW|WAITING|WAIT|IN-PROGRESS)\s+/;
const DONE_TASKS = /^(\s*[-*]\s+)(?:DONE|CANCELED|CANCELLED)\s+/;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

interface Block {
  text: string;
  page: string;
}

/** Logseq: `pages` and `journals`, whose blocks refer to one another by ID. */
export const logseq: NoteFormat = {
  product: 'Logseq',
  detect: (paths) => {
    const hasPath = (pattern: RegExp): boolean => paths.some((path) => pattern.test(path));
    return hasPath(/(^|\/)logseq\/config\.edn$/) || (hasPath(/(^|\/)pages\/[^/]+\.md$/) && hasPath(/(^|\/)journals\/\d{4}_\d\d_\d\d\.md$/));
  },
  convert(sources, pictures, tables) {
    const skipped = tables.map(({ path }) => path);
    const pageSources = sources.filter(({ path }) => !/(^|\/)logseq\//.test(path));
    const blocks = indexBlocks(pageSources);
    const usedPaths = new Set<string>();
    const pages = pageSources.map((source) => toPage(source, blocks, usedPaths));
    return { pages, pictures: [...pictures], leftOut: skipped };
  },
};

/** Blocks with an ID, by the ID: their first line and page. */
function indexBlocks(sources: readonly NoteSource[]): ReadonlyMap<string, Block> {
  const blocks = new Map<string, Block>();
  for (const { path, text } of sources) {
    let block = '';
    for (const line of text.split(/\r?\n/)) {
      if (/^\s*[-*]\s/.test(line)) block = line.replace(/^\s*[-*]\s+/, '').replace(/^(?:TODO|DOING|DONE|LATER|NOW)\s+/, '');
      const [, name, value = ''] = PROPERTY.exec(line) ?? [];
      if (name === 'id') blocks.set(value.trim().toLowerCase(), { text: block.trim(), page: toTitle(path) });
    }
  }
  return blocks;
}

/** `a___b` and `a%2Fb` are the page `a/b`. */
function toTitle(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1).replace(/\.md$/i, '');
  const journal = /^(\d{4})_(\d\d)_(\d\d)$/.exec(name);
  if (journal && /(^|\/)journals\//.test(path)) return journal.slice(1).join('-');
  try {
    return decodeURIComponent(name).replaceAll('___', '/');
  } catch {
    return name.replaceAll('___', '/');
  }
}

function toPage({ path, text }: NoteSource, blocks: ReadonlyMap<string, Block>, usedPaths: Set<string>): NotePage {
  const title = toTitle(path);
  const isJournal = /(^|\/)journals\//.test(path);
  const { properties, body } = splitProperties(text);
  const aliases = [...toValues(properties.get('alias') ?? properties.get('aliases') ?? ''), ...(isJournal ? toJournalNames(title) : [])];
  const name = properties.get('title') || title;
  // A namespace is a folder; the whole name still leads to the page.
  if (name.includes('/')) aliases.push(name);
  const tags = toValues(properties.get('tags') ?? '');
  const otherProperties = [...properties].filter(([key]) => !LOGSEQ_PROPERTIES.has(key.toLowerCase()));
  const head = [
    ...(isJournal || name === title ? [] : [`title: ${toYaml(name)}`]),
    ...(aliases.length > 0 ? [`aliases:`, ...aliases.map((alias) => `  - ${toYaml(alias)}`)] : []),
    ...(tags.length > 0 ? [`tags:`, ...tags.map((tag) => `  - ${toYaml(tag)}`)] : []),
    ...otherProperties.map(([key, value]) => `${toYaml(key)}: ${toYaml(value)}`),
  ];
  const file = toFreePath(toPagePath(`${isJournal ? 'journals/' : ''}${title}.md`), usedPaths);
  const content = convertBody(body, blocks, file);
  return { path: file, text: head.length > 0 ? `---\n${head.join('\n')}\n---\n${content}` : content };
}

/** The properties of a page are the lines `key:: value` before anything else. */
function splitProperties(text: string): { properties: Map<string, string>; body: string[] } {
  const lines = text.replace(/^\ufeff/, '').split(/\r?\n/);
  const properties = new Map<string, string>();
  let at = 0;
  for (; at < lines.length; at++) {
    const [, name, value = ''] = PROPERTY.exec(lines[at] ?? '') ?? [];
    if (name === undefined) break;
    properties.set(name, value.trim());
  }
  return { properties, body: lines.slice(at) };
}

function convertBody(lines: readonly string[], blocks: ReadonlyMap<string, Block>, path: string): string {
  const depth = path.split('/').length - 1;
  let isCode = false;
  const out: string[] = [];
  for (const line of lines) {
    if (/^\s*(?:[-*]\s+)?(```|~~~)/.test(line)) isCode = !isCode;
    if (isCode) {
      out.push(line);
      continue;
    }
    const [, name = '', value = ''] = PROPERTY.exec(line) ?? [];
    if (name !== '') {
      if (!LOGSEQ_PROPERTIES.has(name.toLowerCase()))
        out.push(`${/^\s*/.exec(line)?.[0] ?? ''}${/^\s*[-*]\s/.test(line) ? '- ' : ''}${name}: ${value}`);
      continue;
    }
    if (/^\s*(:LOGBOOK:|CLOCK:|:END:)/.test(line)) continue;
    out.push(
      line
        .replace(OPEN_TASKS, '$1[ ] ')
        .replace(DONE_TASKS, '$1[x] ')
        .replace(BLOCK_EMBED, (source, id: string) => toReference(blocks, id) ?? source)
        .replace(BLOCK_REF, (source, id: string) => toReference(blocks, id) ?? source)
        .replace(PAGE_EMBED, '![[$1]]')
        .replace(/(^|\s)#\[\[([^[\]\n]+)\]\]/g, '$1[[$2]]')
        // Pictures are in `assets`, next to `pages`.
        .replace(/\]\((?:\.\.\/)+assets\//g, `](${'../'.repeat(depth)}assets/`),
    );
  }
  return `${out.join('\n').trim()}\n`;
}

/** The words of a block, with a link to its page. */
function toReference(blocks: ReadonlyMap<string, Block>, id: string): string | undefined {
  const block = blocks.get(id.toLowerCase());
  return block && `${block.text.replace(BLOCK_REF, '').trim()} ([[${block.page}]])`;
}

const toValues = (text: string): string[] =>
  text.split(',').flatMap(
    (value) =>
      value
        .trim()
        .replace(/^#?\[\[|\]\]$/g, '')
        .replace(/^#/, '') || [],
  );

/** Default format of a day in links: `Nov 29th, 2026`. */
function toJournalNames(date: string): string[] {
  const [year = '', month = '', day = ''] = date.split('-');
  const number = Number(day);
  const end =
    number % 10 === 1 && number !== 11
      ? 'st'
      : number % 10 === 2 && number !== 12
        ? 'nd'
        : number % 10 === 3 && number !== 13
          ? 'rd'
          : 'th';
  return [`${MONTHS[Number(month) - 1] ?? month} ${number}${end}, ${year}`];
}
