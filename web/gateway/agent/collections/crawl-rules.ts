import robotsModule from 'robots-parser';
import { RpcError } from '#shared/rpc/rpc-error.ts';

/** Product token of the bridge's requests. */
const USER_AGENT = 'perch';
const MAX_CHARS = 500_000;

/** Its declarations name a default export, but the module itself is the function; type checkers read them in both ways. */
const parseRobots = robotsModule as unknown as (
  url: string,
  robotsTxt: string,
) => { isAllowed(url: string, userAgent: string): boolean | undefined };

/**
 * Rules of sites for programs that follow links (RFC 9309), read once for each site. A site without readable rules allows everything; one
 * whose server fails allows nothing.
 */
export class CrawlRules {
  readonly #read: (url: string) => Promise<string>;
  readonly #sites = new Map<string, Promise<(url: string) => boolean>>();

  /** `read`: fetches a text. */
  constructor(read: (url: string) => Promise<string>) {
    this.#read = read;
  }

  async allows(url: string): Promise<boolean> {
    const { origin } = new URL(url);
    let site = this.#sites.get(origin);
    if (!site) this.#sites.set(origin, (site = this.#load(`${origin}/robots.txt`)));
    return (await site)(url);
  }

  async #load(address: string): Promise<(url: string) => boolean> {
    try {
      const rules = parseRobots(address, (await this.#read(address)).slice(0, MAX_CHARS));
      return (url) => rules.isAllowed(url, USER_AGENT) ?? true;
    } catch (error) {
      const { code, extra } = error instanceof RpcError ? error : { code: undefined, extra: undefined };
      const status = extra?.details?.['status'];
      const isOutage = code === 'INTERNAL_ERROR' && (typeof status !== 'number' || status >= 500);
      return () => !isOutage;
    }
  }
}
