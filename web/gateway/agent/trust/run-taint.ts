import type { OutsideGrant } from '#shared/rpc/methods/cron-contracts.ts';
import { workspacePath } from '#shared/rpc/workspace-file.ts';
import { matchesWildcard } from '#shared/wildcard.ts';
import { isProtectedPath } from '../workspace/protected-paths.ts';
import { isFromKey, mergeSources } from './content-sources.ts';
import { findQuotedUrls, VerbatimUrls } from './verbatim-urls.ts';

/** The outside content in the context of one run. The run is tainted once there is any. */
export class RunTaint {
  #sources: string[];
  readonly #urls = new VerbatimUrls();
  readonly #found = new VerbatimUrls();
  readonly #grant: OutsideGrant | undefined;
  readonly #principal: string;

  /** `principal`: the principal whose permissions limit the run. Content written by that key is not outside content for the run. */
  constructor(sources: readonly string[] = [], { grant, principal = '' }: { grant?: OutsideGrant | undefined; principal?: string } = {}) {
    this.#sources = [];
    this.#grant = grant;
    this.#principal = principal;
    this.add(sources);
  }

  get sources(): readonly string[] {
    return this.#sources;
  }

  get isTainted(): boolean {
    return this.#sources.length > 0;
  }

  /** Records that content of these sources is in the context. */
  add(sources: readonly string[]): void {
    this.#sources = mergeSources(
      this.#sources,
      sources.filter((source) => !isFromKey(source, this.#principal)),
    );
  }

  /** Records a text of the context that the model did not write, for `hasUrl`. */
  addText(text: string): void {
    this.#urls.add(text);
  }

  /** Whether this address was read or typed, not composed by the model. */
  hasUrl(url: string): boolean {
    return this.#urls.has(url);
  }

  /** Records the pages that the owner's search service has found. */
  addFound(urls: readonly string[]): void {
    this.#found.add(urls.join('\n'));
  }

  /** Whether the owner's search service has found this page during the run. */
  isFound(url: string): boolean {
    return this.#found.has(url);
  }

  /** Addresses in a text of the model that were read or typed. */
  findQuotedUrls(text: string): string[] {
    return findQuotedUrls(text, this);
  }

  /**
   * Whether the run's own grant covers a call: the tool must be named, and for tools that change files also the path. Without paths it
   * covers all files except those of `isProtectedPath`. Tools with wider effects have to be named individually; a command can write
   * anywhere, so a grant for folders covers none.
   */
  isGranted(tool: string, path: string | undefined): boolean {
    const { tools = [], paths } = this.#grant ?? {};
    const isNamed = tools.includes(tool);
    if (!isNamed && (NAMED_ONLY.test(tool) || !tools.some((pattern) => matchesWildcard(pattern, tool)))) return false;
    if (path === undefined) return paths === undefined || (isNamed && tool !== 'exec');
    if (!workspacePath.safeParse(path).success) return false;
    if (paths === undefined) return !isProtectedPath(path);
    return paths.some((allowed) => (allowed.endsWith('/') ? path.startsWith(allowed) : path === allowed));
  }
}

/** Tools for commands, schedules and memories: not covered by a pattern such as `*`. */
const NAMED_ONLY = /^(exec$|cron_|memory_)/;
