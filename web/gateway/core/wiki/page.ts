import { splitHead } from '#shared/front-matter.ts';
import { z } from '#shared/rpc/zod.ts';
import { inOrder, seenOr } from '#shared/seen.ts';
import { textVersion } from '../memory/content-id.ts';
import { type Claim, readFields } from './claim.ts';
import { withClaims, withoutClaims } from './claims-block.ts';
import { joinHead, type PageHead, readHead, writeHead } from './front-matter.ts';
import { linksIn, type WikiLink } from './links.ts';
import { withoutCode } from './markup.ts';
import { folderOf, nameOf, pagePath } from './page-path.ts';

/** Kinds of pages by the folder that contains them. */
export const KINDS: ReadonlyMap<string, string> = new Map([
  ['entities', 'entity'],
  ['concepts', 'concept'],
  ['syntheses', 'synthesis'],
  ['sources', 'source'],
  ['reports', 'report'],
]);

const line = z.string().trim().min(1).max(500);
const list = z.array(line).max(200);
const schema = z.object({
  path: z.string().transform(pagePath),
  title: line.optional(),
  content: z.string().default(''),
  claims: z.array(z.custom<Claim>((value) => typeof value === 'object' && value !== null && 'id' in value, 'must be a claim')).default([]),
  kind: line.optional(),
  tags: list.optional(),
  aliases: list.optional(),
  created: line.optional(),
  updated: line.optional(),
  frontMatter: z.string().optional(),
  problem: z.string().optional(),
});

export type WikiPageInput = z.input<typeof schema>;

/** A page of the wiki: Markdown with front matter, as in Obsidian. */
export class WikiPage {
  /** `entities/Miso.md`. */
  readonly path: string;
  readonly title: string;
  /** Text after the front matter, without the block of claims that Perch writes. */
  readonly content: string;
  readonly claims: readonly Claim[];
  /** entity, concept, synthesis, source, report, or a custom value. */
  readonly kind?: string;
  /** If undefined, the value in the file is kept on save. */
  readonly tags?: readonly string[];
  readonly aliases?: readonly string[];
  readonly created?: string;
  readonly updated?: string;
  /** The YAML of the file, including members unknown to Perch. */
  readonly frontMatter?: string;
  /** An error in the file; its text is available all the same. */
  readonly problem?: string;

  /**
   * Accepts camelCase and snake_case. The title defaults to the first heading, or else the file name. Throws INVALID_PARAMS that names the
   * member.
   */
  constructor(given: WikiPageInput | Record<string, unknown>) {
    const { path, title, content, claims, ...rest } = readFields(schema, given, 'A page');
    this.path = path;
    this.content = content;
    this.title = seenOr(title && inOrder(title), titleOf(path, content));
    this.claims = claims;
    Object.assign(this, Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined)));
  }
}

const headingOf = (content: string): string | undefined =>
  /^# +(\S.*?)[ #]*$/m.exec(withoutCode(content.slice(0, 4000)))?.[1]?.slice(0, 500);

/** Title of a page without an explicit one. */
const titleOf = (path: string, content: string): string => seenOr(inOrder(headingOf(content) ?? ''), nameOf(path));

/** Content of a page's file, without its claims. */
export interface PageFile {
  page: WikiPage;
  links: WikiLink[];
  modifiedAt: number;
}

/** Identifies the version of a page; its claims do not count. */
export const versionOf = ({ frontMatter, content }: WikiPage): string => textVersion(JSON.stringify([frontMatter ?? null, content]));

/** Parses a page's file. Never throws for its content: errors are returned as `problem`. */
export function readPage(path: string, text: string): WikiPage {
  const { yaml, body } = splitHead(text);
  const { problem, title, ...head } = readHead(yaml ?? '');
  const content = withoutClaims(body);
  const fits = schema.safeParse({ path, content, title: title?.trim() || undefined, ...head, frontMatter: yaml, problem });
  if (fits.success) return new WikiPage(fits.data);
  const [issue] = fits.error.issues;
  return new WikiPage({
    path,
    content,
    frontMatter: yaml,
    problem: problem ?? `Invalid front matter: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`,
  });
}

/** Updates the block of claims in a file; all other text is unchanged. */
export function withShown(text: string, claims: readonly Claim[]): string {
  const { body } = splitHead(text);
  return text.slice(0, text.length - body.length) + withClaims(withoutClaims(body), claims);
}

export const linksOf = (page: WikiPage): WikiLink[] => linksIn(page.content, page.path);

/** Formats a page's file. `before`: the old file, whose members stay unless the page sets them. `now`: the time in front-matter format. */
export function writePage(page: WikiPage, claims: readonly Claim[], before: string | undefined, now: string): string {
  const old = before === undefined ? undefined : splitHead(before);
  const yaml = page.frontMatter ?? old?.yaml ?? '';
  const { problem, ...known } = readHead(yaml);
  const body = withClaims(page.content, claims);
  // Invalid front matter is left to the user; the text can be saved all the same.
  if (problem !== undefined) return joinHead(yaml, body);
  const was = titleOf(page.path, page.content);
  const head: PageHead = {
    // A page by a user whose title is its heading or file name needs no title member.
    title: known.title === undefined && page.title === was && before !== undefined ? undefined : page.title,
    kind: page.kind ?? known.kind ?? KINDS.get(folderOf(page.path).split('/')[0] ?? ''),
    tags: [...(page.tags ?? known.tags)],
    aliases: [...(page.aliases ?? known.aliases)],
    created: page.created ?? known.created ?? now,
    updated: known.updated,
  };
  const unchanged = old !== undefined && joinHead(writeHead(yaml, head), page.content) === joinHead(old.yaml, withoutClaims(old.body));
  return joinHead(writeHead(yaml, unchanged ? head : { ...head, updated: now }), body);
}
