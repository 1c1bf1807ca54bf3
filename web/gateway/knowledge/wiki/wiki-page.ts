import { splitFrontMatter } from '#shared/front-matter.ts';
import { z } from '#shared/rpc/zod.ts';
import { stripBidiControls, toVisibleName } from '#shared/display-name.ts';
import { computeTextVersion } from '../memory/content-id.ts';
import { type Claim, parseFields } from './claim.ts';
import { insertClaims, removeClaims } from './claims-block.ts';
import { joinFrontMatter, type PageFrontMatter, parseFrontMatter, updateFrontMatter } from './wiki-front-matter.ts';
import { findLinks, type WikiLink } from './wiki-links.ts';
import { maskCode } from './mask-code.ts';
import { getFolder, getPageName, toPagePath } from './page-path.ts';

/** Kinds of pages by the folder that contains them. */
export const PAGE_KINDS: ReadonlyMap<string, string> = new Map([
  ['entities', 'entity'],
  ['concepts', 'concept'],
  ['syntheses', 'synthesis'],
  ['sources', 'source'],
  ['reports', 'report'],
]);

const line = z.string().trim().min(1).max(500);
const list = z.array(line).max(200);
const schema = z.object({
  path: z.string().transform(toPagePath),
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
  constructor(input: WikiPageInput | Record<string, unknown>) {
    const { path, title, content, claims, ...rest } = parseFields(schema, input, 'A page');
    this.path = path;
    this.content = content;
    this.title = toVisibleName(title && stripBidiControls(title), getTitle(path, content));
    this.claims = claims;
    Object.assign(this, Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined)));
  }
}

const findHeading = (content: string): string | undefined =>
  /^# +(\S.*?)[ #]*$/m.exec(maskCode(content.slice(0, 4000)))?.[1]?.slice(0, 500);

/** Title of a page without an explicit one. */
const getTitle = (path: string, content: string): string => toVisibleName(stripBidiControls(findHeading(content) ?? ''), getPageName(path));

/** Content of a page's file, without its claims. */
export interface PageFile {
  page: WikiPage;
  links: WikiLink[];
  modifiedAt: number;
}

/** Identifies the version of a page; its claims do not count. */
export const computeVersion = ({ frontMatter, content }: WikiPage): string =>
  computeTextVersion(JSON.stringify([frontMatter ?? null, content]));

/** Parses a page's file. Never throws for its content: errors are returned as `problem`. */
export function parsePage(path: string, text: string): WikiPage {
  const { yaml, body } = splitFrontMatter(text);
  const { problem, title, ...head } = parseFrontMatter(yaml ?? '');
  const content = removeClaims(body);
  const parsed = schema.safeParse({ path, content, title: title?.trim() || undefined, ...head, frontMatter: yaml, problem });
  if (parsed.success) return new WikiPage(parsed.data);
  const [issue] = parsed.error.issues;
  return new WikiPage({
    path,
    content,
    frontMatter: yaml,
    problem: problem ?? `Invalid front matter: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`,
  });
}

/** Updates the block of claims in a file; all other text is unchanged. */
export function updateClaimsBlock(text: string, claims: readonly Claim[]): string {
  const { body } = splitFrontMatter(text);
  return text.slice(0, text.length - body.length) + insertClaims(removeClaims(body), claims);
}

export const getLinks = (page: WikiPage): WikiLink[] => findLinks(page.content, page.path);

/** Formats a page's file. `before`: the old file, whose members stay unless the page sets them. `now`: the time in front-matter format. */
export function formatPage(page: WikiPage, claims: readonly Claim[], before: string | undefined, now: string): string {
  const old = before === undefined ? undefined : splitFrontMatter(before);
  const yaml = page.frontMatter ?? old?.yaml ?? '';
  const { problem, ...known } = parseFrontMatter(yaml);
  const body = insertClaims(page.content, claims);
  // Invalid front matter is left to the user; the text can be saved all the same.
  if (problem !== undefined) return joinFrontMatter(yaml, body);
  const oldTitle = getTitle(page.path, page.content);
  const head: PageFrontMatter = {
    // A page by a user whose title is its heading or file name needs no title member.
    title: known.title === undefined && page.title === oldTitle && before !== undefined ? undefined : page.title,
    kind: page.kind ?? known.kind ?? PAGE_KINDS.get(getFolder(page.path).split('/')[0] ?? ''),
    tags: [...(page.tags ?? known.tags)],
    aliases: [...(page.aliases ?? known.aliases)],
    created: page.created ?? known.created ?? now,
    updated: known.updated,
  };
  const unchanged =
    old !== undefined && joinFrontMatter(updateFrontMatter(yaml, head), page.content) === joinFrontMatter(old.yaml, removeClaims(old.body));
  return joinFrontMatter(updateFrontMatter(yaml, unchanged ? head : { ...head, updated: now }), body);
}
