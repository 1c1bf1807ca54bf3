import type { OutsideGrant } from '#shared/rpc/methods/cron.ts';
import { workspacePath } from '#shared/rpc/methods/workspace.ts';
import { matchesWildcard } from '#shared/wildcard.ts';
import { isProtectedPath } from '../workspace/protected-paths.ts';
import { isFromKey, mergeSources } from './sources.ts';
import { findQuotedUrls, VerbatimUrls } from './verbatim-urls.ts';

/** The outside content in the context of one run. A run is tainted from the first of it on. */
export class RunTaint {
  #sources: string[];
  readonly #urls = new VerbatimUrls();
  readonly #grant: OutsideGrant | undefined;
  readonly #principal: string;

  /** `principal`: whose rights limit the run. What that key wrote is no outside content to it. */
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

  /** Notes that content of these sources is in the context from now on. */
  add(sources: readonly string[]): void {
    this.#sources = mergeSources(
      this.#sources,
      sources.filter((source) => !isFromKey(source, this.#principal)),
    );
  }

  /** Notes a text of the context that the model itself did not write, for `hasUrl`. */
  addText(text: string): void {
    this.#urls.add(text);
  }

  /** True if this address was read or typed, and not composed by the model. */
  hasUrl(url: string): boolean {
    return this.#urls.has(url);
  }

  /** The addresses in a text of the model that were read or typed. */
  findQuotedUrls(text: string): string[] {
    return findQuotedUrls(text, this);
  }

  /**
   * True if the run's own grant covers a call: of a tool that it names, and for tools that change files, of a path that it names. Without paths it covers all files
   * but those of `isProtectedPath`. Tools that reach further than they say have to be named one by one, and a command can write anywhere, so a grant for folders
   * covers none.
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

/** Tools for commands, schedules and memories: a pattern such as `*` does not cover them. */
const NAMED_ONLY = /^(exec$|cron_|memory_)/;
