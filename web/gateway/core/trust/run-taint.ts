import type { OutsideGrant } from '#shared/rpc/methods/cron.ts';
import { matchesWildcard } from '#shared/wildcard.ts';
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

  /** True if the run's own grant covers a tool and, for tools that change files, the path. */
  isGranted(tool: string, path: string | undefined): boolean {
    const { tools = [], paths } = this.#grant ?? {};
    if (!tools.some((pattern) => matchesWildcard(pattern, tool))) return false;
    if (path === undefined || paths === undefined) return true;
    return paths.some((allowed) => (allowed.endsWith('/') ? path.startsWith(allowed) : path === allowed));
  }
}
