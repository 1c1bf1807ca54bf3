import type { Dirent } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import ignore, { type Ignore } from 'ignore';
import { getPassageKind } from '#shared/document-kinds.ts';
import type { FolderKind, SourceEntry } from '#shared/ports/folders-port.ts';
import { z } from '#shared/rpc/zod.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { describeError, getErrorCode } from '../../home-directory.ts';
import { enterFolder, type IgnoreStack, isIgnored } from './gitignore-rules.ts';
import { isHiddenName, isMaildirName, toDiskError } from './source-paths.ts';
import { isMbox, splitMbox } from './split-mbox.ts';

/** Maximum nesting of folders. */
const MAX_DEPTH = 64;
/** Maximum number of names in a folder; the rest of it is reported as a problem. */
const MAX_NAMES = 200_000;
/** Maximum number of files and folders that a page visits, and its time: a page may be shorter than its limit. */
const MAX_VISITS = 50_000;
const MAX_PAGE_MS = 5_000;
const MAX_PROBLEMS = 100;
/** Maximum number of folders to choose from. */
const MAX_LISTED = 2000;

interface ScanQuery {
  root: string;
  kind: FolderKind;
  include: readonly string[];
  exclude: readonly string[];
  cursor?: string | undefined;
  limit: number;
  /** The bridge's home, which is left out. */
  ownFolder: string;
  signal: AbortSignal;
}

interface ScanPage {
  entries: SourceEntry[];
  skipped: number;
  problems: { path: string; problem: string }[];
  next?: string;
}

const cursorSchema = z.tuple([z.string(), z.number().int().nonnegative().optional()]);

/** Lists a page of the readable files below a root, in the order of their names. Follows no links. */
export async function scanSource(query: ScanQuery): Promise<ScanPage> {
  const scan = new SourceScan(query);
  try {
    await scan.run();
  } catch (error) {
    if (!(error instanceof PageFullError)) throw error;
  }
  return scan.page;
}

/** Ends a page. */
class PageFullError extends Error {}

class SourceScan {
  readonly page: ScanPage = { entries: [], skipped: 0, problems: [] };
  readonly #query: ScanQuery;
  readonly #include: Ignore | undefined;
  readonly #exclude: Ignore | undefined;
  readonly #endAt = performance.now() + MAX_PAGE_MS;
  #visits = 0;

  constructor(query: ScanQuery) {
    this.#query = query;
    this.#include = query.include.length === 0 ? undefined : ignore({ allowRelativePaths: true }).add([...query.include]);
    this.#exclude = query.exclude.length === 0 ? undefined : ignore({ allowRelativePaths: true }).add([...query.exclude]);
  }

  async run(): Promise<void> {
    const { root } = this.#query;
    const [start, offset] = parseCursor(this.#query.cursor);
    const stats = await lstat(root).catch((error: unknown) => {
      throw toDiskError(root, error);
    });
    if (stats.isDirectory()) return this.#visitFolder({ path: root, below: '', stack: undefined }, start.split('/'), offset);
    await this.#visitFile(root, basename(root), { isMaildir: false, offset });
  }

  /** `first` and `rest`: parts of the path that the page starts with, from this folder on; an empty name comes before all others. */
  async #visitFolder(
    { path, below, stack, isRoot = below === '' }: { path: string; below: string; stack: IgnoreStack; isRoot?: boolean },
    [first = '', ...rest]: readonly string[],
    offset: number | undefined,
  ): Promise<void> {
    let entries: Dirent[];
    try {
      entries = await readdir(path, { withFileTypes: true });
    } catch (error) {
      if (isRoot) throw toDiskError(path, error);
      return this.#addProblem(below.slice(0, -1), error);
    }
    if (entries.length > MAX_NAMES) this.#addProblem(below.slice(0, -1) || '.', `it has more than ${MAX_NAMES} files`);
    const names = new Set(entries.map(({ name }) => name));
    const isMail = this.#query.kind === 'mail';
    const rules = isMail ? undefined : await enterFolder(stack, path, below, names);
    const isMaildir = isMail && /^(cur|new)$/.test(basename(path));
    const sorted = entries.slice(0, MAX_NAMES).sort((a, b) => (a.name < b.name ? -1 : 1));
    for (const entry of sorted) {
      const { name } = entry;
      if (name < first) continue;
      const isStart = name === first;
      if (!isStart || rest.length === 0) this.#countVisit(`${below}${name}`);
      const isMailFolder = isMail && entry.isDirectory() && isMaildirName(name) && names.has('cur');
      if (isHiddenName(name) && !isMailFolder) continue;
      const real = join(path, name);
      if (entry.isDirectory()) {
        const isLeftOut = this.#exclude?.ignores(`${below}${name}/`) || isIgnored(rules, `${below}${name}/`);
        if (isLeftOut || real === this.#query.ownFolder || below.split('/').length > MAX_DEPTH) continue;
        await this.#visitFolder({ path: real, below: `${below}${name}/`, stack: rules }, isStart ? rest : [], isStart ? offset : undefined);
      } else if (entry.isFile() && !isIgnored(rules, `${below}${name}`))
        await this.#visitFile(real, `${below}${name}`, { isMaildir, offset: isStart ? offset : undefined });
    }
  }

  async #visitFile(real: string, path: string, { isMaildir, offset }: { isMaildir: boolean; offset: number | undefined }): Promise<void> {
    if (path.includes('\uFFFD')) return this.#addProblem(path, 'its name is not UTF-8');
    if (this.#exclude?.ignores(path) || (this.#include && !this.#include.ignores(path))) return;
    try {
      if (this.#query.kind === 'mail' && !isMaildir && extname(path).toLowerCase() !== '.eml') {
        const isCandidate = /^(|\.mbox|\.mbx)$/i.test(extname(path)) && (await isMbox(real));
        if (isCandidate) return await this.#visitMessages(real, path, offset ?? 0);
        this.page.skipped++;
        return;
      }
      // Flagged as trashed (https://cr.yp.to/proto/maildir.html).
      if (isMaildir && /:2,[A-S]*T/.test(path)) return;
      if (!isMaildir && getPassageKind(path) === undefined) {
        this.page.skipped++;
        return;
      }
      const { size, mtimeMs } = await lstat(real);
      this.#add({ path, size, modifiedAt: Math.round(mtimeMs) });
    } catch (error) {
      if (error instanceof PageFullError || error instanceof RpcError) throw error;
      this.#query.signal.throwIfAborted();
      // A file that was deleted meanwhile counts as missing.
      if (getErrorCode(error) !== 'ENOENT') this.#addProblem(path, error);
    }
  }

  async #visitMessages(real: string, path: string, from: number): Promise<void> {
    for await (const { offset, size, date } of splitMbox(real, from, this.#query.signal)) {
      this.#countVisit(path, offset);
      this.#add({ path, size, modifiedAt: date, offset });
    }
  }

  #add(entry: SourceEntry): void {
    const { entries } = this.page;
    if (entries.length >= this.#query.limit) this.#endPage(entry.path, entry.offset);
    entries.push(entry);
  }

  /** Ends the page before this file or message if it has taken too long, but not without any progress. */
  #countVisit(path: string, offset?: number): void {
    this.#query.signal.throwIfAborted();
    if (++this.#visits > MAX_VISITS || (this.#visits > 1 && performance.now() >= this.#endAt)) this.#endPage(path, offset);
  }

  /** The next page starts with this file or message. */
  #endPage(path: string, offset?: number): never {
    this.page.next = JSON.stringify(offset === undefined ? [path] : [path, offset]);
    throw new PageFullError();
  }

  #addProblem(path: string, error: unknown): void {
    if (this.page.problems.length >= MAX_PROBLEMS) return;
    const problem = typeof error === 'string' ? error : toProblem(error);
    this.page.problems.push({ path, problem });
  }
}

const toProblem = (error: unknown): string =>
  ['EACCES', 'EPERM'].includes(String(getErrorCode(error)))
    ? 'this user has no permission to read it'
    : `it can’t be read: ${describeError(error)}`;

function parseCursor(cursor: string | undefined): [path: string, offset: number | undefined] {
  if (cursor === undefined) return ['', undefined];
  try {
    const [path, offset] = cursorSchema.parse(JSON.parse(cursor));
    return [path, offset];
  } catch {
    throw new RpcError('INVALID_PARAMS', 'The cursor is invalid. Scan from the start.');
  }
}

/** Whether a folder is the top of a git repository. */
export const isRepository = async (path: string): Promise<boolean> =>
  lstat(join(path, '.git')).then(
    (stats) => stats.isDirectory() || stats.isFile(),
    () => false,
  );

/** Folders of a folder, for choosing one. */
export async function listFolders(
  path: string,
): Promise<{ folders: string[]; files: string[]; parent: string | null; truncated: boolean }> {
  const entries = await readdir(path, { withFileTypes: true }).catch((error: unknown) => {
    throw toDiskError(path, error);
  });
  const visible = entries.filter(({ name }) => !isHiddenName(name));
  const compare = new Intl.Collator(undefined, { numeric: true }).compare;
  const folders = visible.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  const files = visible.filter((entry) => entry.isFile() && /\.(mbox|mbx)$/i.test(entry.name)).map(({ name }) => name);
  const parent = dirname(path);
  return {
    folders: folders.sort(compare).slice(0, MAX_LISTED),
    files: files.sort(compare).slice(0, MAX_LISTED),
    parent: parent === path ? null : parent,
    truncated: folders.length > MAX_LISTED || files.length > MAX_LISTED,
  };
}
