import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { Workspace } from '../memory/workspace.ts';
import { Mutex } from '#shared/async/mutex.ts';
import { type ClaimsOptions, ClaimsManager } from './claims-manager.ts';
import { WikiConfig, type WikiConfigInput } from './wiki-config.ts';
import { joinFrontMatter } from './wiki-front-matter.ts';
import { type HealthReport, computeHealth } from './wiki-health.ts';
import { type Backlink, computeBacklinks } from './wiki-links.ts';
import {
  PAGE_KINDS,
  getLinks,
  type PageFile,
  parsePage,
  computeVersion,
  WikiPage,
  type WikiPageInput,
  updateClaimsBlock,
  formatPage,
} from './wiki-page.ts';
import { getFolder, toFolderPath, isMarkdown, isPage, toPagePath, findNameProblem } from './page-path.ts';
import { FileCache } from './file-cache.ts';

export const CLAIMS_DIR = '.perch-wiki/claims';
/** Hidden names in a wiki: the claims, and placeholder files of empty folders. */
export const HIDDEN_NAMES = ['.perch-wiki', '.keep'];
const PAGE_FOLDERS = [...PAGE_KINDS.keys()];
const INDEX_PAGE = 'index.md';
const INDEX_TEXT =
  '# Wiki\n\nPages are in `entities/`, `concepts/`, `syntheses/`, `sources/` and `reports/`. Link to a page by its name in double square brackets.\n';
const NEVER_ABORTED = new AbortController().signal;

function assertUnchanged(path: string, before: string | undefined, expected: string | null): void {
  if (before === undefined) {
    if (expected !== null) throw new RpcError('ABORTED', `Page ${path} was deleted in the meantime. Nothing was saved.`);
  } else if (expected === null) throw new RpcError('ALREADY_EXISTS', `Page ${path} already exists. Nothing was saved.`);
  else if (computeVersion(parsePage(path, before)) !== expected)
    throw new RpcError('ABORTED', `Page ${path} was changed in the meantime. Nothing was saved.`);
}

/**
 * A wiki of Markdown pages and claims, whose folder can be opened in Obsidian. Paths consist of names separated by `/`, with or without
 * `.md`; any other path throws INVALID_PARAMS.
 */
export class WikiVault {
  readonly config: WikiConfig;
  /** The claims of its pages. */
  readonly claims: ClaimsManager;
  readonly #workspace: Workspace;
  readonly #files: FileCache<PageFile>;
  readonly #now: () => number;
  readonly #mutex = new Mutex();

  constructor(workspace: Workspace, config: WikiConfig | WikiConfigInput | Record<string, unknown> = {}, options: ClaimsOptions = {}) {
    this.config = config instanceof WikiConfig ? config : new WikiConfig({ ...config });
    this.claims = new ClaimsManager(workspace, CLAIMS_DIR, options);
    this.#workspace = workspace;
    this.#now = options.now ?? Date.now;
    this.#files = new FileCache(workspace, (text, { path, modifiedAt }) => {
      const page = parsePage(path, text);
      return { page, links: getLinks(page), modifiedAt };
    });
  }

  /** Creates missing folders and `index.md`, and updates the claims shown on each page. Never overwrites other content. */
  async initialize(): Promise<void> {
    await this.#mutex.run(async () => {
      const paths = new Set((await this.#workspace.list()).map(({ path }) => path));
      const folders = new Set([...paths].map((path) => path.split('/')[0]));
      if (!paths.has(INDEX_PAGE))
        await this.#workspace.write(
          INDEX_PAGE,
          formatPage(new WikiPage({ path: INDEX_PAGE, content: INDEX_TEXT }), [], undefined, this.#time()),
        );
      // A workspace cannot contain empty folders.
      for (const folder of PAGE_FOLDERS) if (!folders.has(folder)) await this.#workspace.write(`${folder}/.keep`, '');
    });
    const pages = new Set((await this.claims.listClaims()).map(({ pagePath }) => pagePath));
    for (const path of pages) await this.showClaims(path);
  }

  /** The page with its claims; undefined if it does not exist. `problem` is set if parts of it cannot be parsed. */
  async getPage(path: string): Promise<WikiPage | undefined> {
    const file = toPagePath(path);
    const text = await this.#workspace.read(file);
    return text === undefined ? undefined : new WikiPage({ ...parsePage(file, text), claims: await this.claims.listClaims(file) });
  }

  /**
   * Saves a page: its text and the front-matter members that it sets; other members stay. The claims come from the claims' store; an
   * unknown one in `page.claims` throws INVALID_PARAMS, as does a page that is too large. Returns the page as saved. `seen`: the
   * `computeVersion` the page that was edited, or null if it must not exist yet; if it does not match, throws ABORTED or ALREADY_EXISTS without
   * writing.
   */
  async savePage(page: WikiPage | WikiPageInput, { seen }: { seen?: string | null | undefined } = {}): Promise<WikiPage> {
    const path = toPagePath(page.path);
    await this.#mutex.run(async () => {
      const { histories } = await this.claims.read();
      const unknownClaim = new WikiPage({ ...page }).claims.find(({ id }) => !histories.has(id));
      if (unknownClaim) throw new RpcError('INVALID_PARAMS', `Claim ${unknownClaim.id} is not in this wiki. Add it with addClaim.`);
      const claims = await this.claims.listClaims(path);
      await this.#edit(path, (before) => {
        if (seen !== undefined) assertUnchanged(path, before, seen);
        const { content = '', frontMatter } = page;
        const old = typeof frontMatter === 'string' ? joinFrontMatter(frontMatter, String(content)) : before;
        const title = page.title ?? (old === undefined ? undefined : parsePage(path, old).title);
        return formatPage(new WikiPage({ ...page, title }), claims, before, this.#time());
      });
    });
    return (await this.getPage(path)) ?? new WikiPage({ ...page });
  }

  /**
   * Removes a page; its claims stay and are reported as orphaned. Resolves with the removed page; undefined if it does not exist. `seen` as
   * for `savePage`.
   */
  async removePage(path: string, { seen }: { seen?: string | undefined } = {}): Promise<WikiPage | undefined> {
    const file = toPagePath(path);
    return this.#mutex.run(async () => {
      const before = await this.#workspace.read(file);
      if (before === undefined) return undefined;
      if (seen !== undefined) assertUnchanged(file, before, seen);
      await this.#workspace.remove(file);
      this.#files.forget(file);
      return parsePage(file, before);
    });
  }

  /** The pages of a folder and its subfolders, by path; all pages if no folder is given. */
  async listPages(directory?: string): Promise<WikiPage[]> {
    const folder = directory === undefined || directory === '' ? undefined : toFolderPath(directory.replace(/\/$/, ''));
    const files = await this.#files.all(folder, isPage);
    const claims = Map.groupBy(await this.claims.listClaims(), ({ pagePath }) => pagePath);
    return [...files.values()].map(({ page }) => new WikiPage({ ...page, claims: claims.get(page.path) ?? [] }));
  }

  /**
   * `pages`: Markdown files. `claims`: claims that are not deleted. `directories`: non-empty folders, except hidden ones. `sources`: pages
   * in `sources/`.
   */
  async getStats(): Promise<{ pages: number; claims: number; directories: number; sources: number }> {
    const paths = (await this.#workspace.list()).map(({ path }) => path).filter((path) => !path.startsWith('.'));
    const pages = paths.filter(isPage);
    const parents = (folder: string): string[] => (folder === '' ? [] : [folder, ...parents(getFolder(folder))]);
    return {
      pages: pages.length,
      claims: (await this.claims.listClaims()).length,
      directories: new Set(paths.flatMap((path) => parents(getFolder(path)))).size,
      sources: pages.filter((path) => path.startsWith('sources/')).length,
    };
  }

  /** The pages that link to this one, with their links; links are resolved by path, name, title or alias. */
  async backlinks(path: string): Promise<Backlink[]> {
    return (await this.graph()).backlinks.get(toPagePath(path)) ?? [];
  }

  /** Updates the block of claims in a page; all other text is unchanged. Returns false if nothing changed or the page does not exist. */
  async showClaims(path: string): Promise<boolean> {
    const file = toPagePath(path);
    return this.#mutex.run(async () => {
      if ((await this.#workspace.stat(file)) === undefined) return false;
      const claims = await this.claims.listClaims(file);
      return this.#edit(file, (before) => (before === undefined ? undefined : updateClaimsBlock(before, claims)));
    });
  }

  /** Reports claims that need review (stale, uncertain, orphaned, contradicted), and parts of files that cannot be parsed. */
  async health(signal: AbortSignal = NEVER_ABORTED): Promise<HealthReport> {
    const { files, backlinks } = await this.graph();
    const claims = await this.claims.listClaims();
    const readSource = async (path: string): Promise<string | undefined> => {
      const listed = files.get(path);
      return listed ? listed.page.content : this.#workspace.read(path);
    };
    const modified = new Map((await this.#workspace.list()).map(({ path, modifiedAt }) => [path, modifiedAt]));
    const unreadable = [
      ...(await this.claims.problems()),
      ...[...files.values()].flatMap(({ page: { path, problem } }) => (problem === undefined ? [] : { path, line: 1, problem, text: '' })),
      ...[...modified.keys()].flatMap((path) => {
        const problem = isMarkdown(path) ? findNameProblem(path) : undefined;
        return problem === undefined ? [] : { path, line: 1, problem, text: '' };
      }),
    ];
    const pages = new Set(files.keys());
    return computeHealth({
      claims,
      pages,
      linked: new Set(backlinks.keys()),
      modified,
      readSource,
      unreadable,
      config: this.config,
      now: this.#now(),
      signal,
    });
  }

  /** All pages without their claims, and their backlinks. */
  async graph(): Promise<{ files: Map<string, PageFile>; backlinks: Map<string, Backlink[]> }> {
    const files = await this.#files.all(undefined, isPage);
    const linkedPages = [...files.values()].map(({ page: { path, title, aliases = [] }, links }) => ({ path, title, aliases, links }));
    return { files, backlinks: computeBacklinks(linkedPages) };
  }

  /** Edits a file; returns whether it changed. */
  async #edit(path: string, edit: (before: string | undefined) => string | undefined): Promise<boolean> {
    let changed = false;
    await this.#workspace.update(path, (before) => {
      const text = edit(before);
      changed = text !== undefined && text !== before;
      if (!changed || text === undefined) return undefined;
      if (text.length > this.config.maxPageChars)
        throw new RpcError('INVALID_PARAMS', `Page ${path} has ${text.length} characters. The maximum is ${this.config.maxPageChars}.`);
      return text;
    });
    if (changed) this.#files.forget(path);
    return changed;
  }

  /** Exact to the second and without a time zone, as Obsidian expects it. */
  #time(): string {
    return new Date(this.#now()).toISOString().slice(0, 19);
  }
}
