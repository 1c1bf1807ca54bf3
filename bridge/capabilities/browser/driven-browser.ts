import { randomUUID } from 'node:crypto';
import type { BrowserContext, Page } from 'playwright';
import { RpcError } from '#shared/rpc/errors.ts';
import type { BrowserTab } from '#shared/rpc/methods/browser.ts';
import { unattended } from '../../headless/launch.ts';
import { REFUSED } from './guarded-proxy.ts';

/** A page has this long to load (decisions, "Devices, logs, system, usage, speech"). */
export const NAVIGATE_MS = 30_000;
const ACT_MS = 10_000;
const TITLE_MS = 2_000;
const MAX_TABS = 50;
/** Characters of what a page says of itself: it may say anything. */
const MAX_TITLE = 1000;
const MAX_URL = 8192;
const MAX_LINE = 500;

const ARGS = [
  // Loopback goes through the proxy too, and nothing beside it.
  '--proxy-bypass-list=<-loopback>',
  // Chrome and Chromium know the first spelling alone, the headless shell the second.
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
];

export interface DrivenOptions {
  executable: string;
  /** Its user data. */
  folder: string;
  proxy: string;
  /** Throws `INVALID_PARAMS` for an address that may not be opened, as far as it can be told. */
  judge(address: string): URL;
  log(line: string): void;
  /** For tests: milliseconds for a page to load. */
  navigateMs?: number;
}

/** One browser under our hands: its tabs, numbered from 1 as they come, and which of them is the current one. */
export class DrivenBrowser {
  readonly sessionId = randomUUID();
  /** Resolves when it is gone, by whatever way. */
  readonly closed: Promise<void>;
  readonly #context: BrowserContext;
  readonly #judge: DrivenOptions['judge'];
  readonly #navigateMs: number;
  readonly #tabs = new Map<string, Page>();
  #count = 0;
  #current: Page | undefined;

  private constructor(context: BrowserContext, { judge, navigateMs = NAVIGATE_MS }: DrivenOptions) {
    this.#context = context;
    this.#judge = judge;
    this.#navigateMs = navigateMs;
    this.closed = new Promise((resolve) => context.on('close', () => resolve()));
    for (const page of context.pages()) this.#add(page);
    context.on('page', (page) => this.#add(page));
    // A dialog that nobody answers would hold the page up for good; a question is declined, a notice is read.
    context.on('dialog', (dialog) => void (dialog.type() === 'alert' ? dialog.accept() : dialog.dismiss()).catch(() => {}));
  }

  static async start(options: DrivenOptions): Promise<DrivenBrowser> {
    const { executable, folder, proxy, log } = options;
    const { chromium } = await import('playwright');
    try {
      const context = await chromium.launchPersistentContext(folder, {
        ...unattended(executable, ARGS),
        proxy: { server: proxy },
        viewport: { width: 1280, height: 800 },
        acceptDownloads: false,
        timeout: NAVIGATE_MS,
      });
      context.setDefaultTimeout(ACT_MS);
      return new DrivenBrowser(context, options);
    } catch (error) {
      log(`the driven browser did not start: ${error instanceof Error ? error.message : String(error)}`);
      throw new RpcError('INTERNAL_ERROR', `The browser did not start: ${firstLine(error)}`, {}, { cause: error });
    }
  }

  get tabCount(): number {
    return this.#tabs.size;
  }

  async tabs(): Promise<BrowserTab[]> {
    return Promise.all([...this.#tabs].map(async ([tabId, page]) => ({ tabId, ...(await placeOf(page)), active: page === this.#current })));
  }

  /** Where the current tab is; null where there is no tab. */
  async place(): Promise<{ url: string; title: string } | null> {
    return this.#current ? placeOf(this.#current) : null;
  }

  async open(url: string): Promise<{ tabId: string; url: string; title: string }> {
    const address = this.#address(url);
    if (this.#tabs.size >= MAX_TABS) throw new RpcError('INVALID_PARAMS', `There are ${MAX_TABS} tabs: close one first`);
    const page = await this.#context.newPage();
    const [tabId] = [...this.#tabs].find(([, each]) => each === page) ?? [];
    if (tabId === undefined) throw new RpcError('INVALID_PARAMS', `There are ${MAX_TABS} tabs: close one first`);
    this.#current = page;
    try {
      return { tabId, ...(await goTo(page, address, this.#navigateMs)) };
    } catch (error) {
      await page.close().catch(() => {});
      throw error;
    }
  }

  async navigate(url: string): Promise<{ url: string; title: string }> {
    const address = this.#address(url);
    return goTo(await this.page(), address, this.#navigateMs);
  }

  /** The current tab; a new one where there is none. */
  async page(): Promise<Page> {
    if (!this.#current) await this.#context.newPage();
    if (!this.#current) throw new RpcError('INTERNAL_ERROR', 'The browser has no tab');
    return this.#current;
  }

  async focus(tabId: string): Promise<void> {
    this.#current = this.#tab(tabId);
    await this.#current.bringToFront();
  }

  async closeTab(tabId: string): Promise<void> {
    await this.#tab(tabId).close();
  }

  async close(): Promise<void> {
    await this.#context.close().catch(() => {});
    await this.closed;
  }

  #address(url: string): URL {
    return url === 'about:blank' ? new URL(url) : this.#judge(url);
  }

  #tab(tabId: string): Page {
    const page = this.#tabs.get(tabId);
    if (!page) throw new RpcError('NOT_FOUND', `There is no tab ${tabId}; browser.tabs has those that there are`);
    return page;
  }

  /** The newest tab is the current one, as where a person opens it. A page may open any number: what is too many goes at once. */
  #add(page: Page): void {
    if ([...this.#tabs.values()].includes(page)) return;
    if (this.#tabs.size >= MAX_TABS) return void page.close().catch(() => {});
    const tabId = `tab-${++this.#count}`;
    this.#tabs.set(tabId, page);
    this.#current = page;
    page.on('close', () => {
      this.#tabs.delete(tabId);
      if (this.#current === page) this.#current = [...this.#tabs.values()].at(-1);
    });
  }
}

async function goTo(page: Page, url: URL, timeout: number): Promise<{ url: string; title: string }> {
  try {
    const response = await page.goto(url.href, { timeout, waitUntil: 'load' });
    // What the guard says stands in the place of the page.
    if (response?.headers()[REFUSED]) throw new RpcError('INVALID_PARAMS', `url: ${await response.text()}`);
  } catch (error) {
    await stopLoading(page).catch(() => {});
    throw told(error, `${url.host || url.href} could not be opened`);
  }
  return placeOf(page);
}

/** What is on its way to a tab would hold up whatever is done in it next. */
async function stopLoading(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('Page.stopLoading');
  await session.detach();
}

/** A page that hangs has no title to tell. */
async function placeOf(page: Page): Promise<{ url: string; title: string }> {
  const title = await inTime(page.title(), TITLE_MS).catch(() => '');
  return { url: page.url().slice(0, MAX_URL), title: title.slice(0, MAX_TITLE) };
}

/** For what Playwright itself sets no limit to: a page that hangs answers nothing. */
export async function inTime<T>(work: Promise<T>, ms = ACT_MS): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, fail) => {
    timer = setTimeout(() => fail(new RpcError('INTERNAL_ERROR', `The page did not answer within ${ms / 1000} s`)), ms);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/** What Playwright says, in one line, as the caller may see it. */
export function told(error: unknown, what: string): RpcError {
  if (error instanceof RpcError) return error;
  return new RpcError('INTERNAL_ERROR', `${what}: ${firstLine(error)}`, {}, { cause: error });
}

const firstLine = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error))
    .slice(0, 4 * MAX_LINE)
    .split('\n', 1)[0]
    ?.replace(/^[a-zA-Z.]+: /, '')
    // Colours of its own.
    // eslint-disable-next-line no-control-regex
    .replace(/\u001b\[[0-9;]*m/g, '')
    .slice(0, MAX_LINE) ?? '';
