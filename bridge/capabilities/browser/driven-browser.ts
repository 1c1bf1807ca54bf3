import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { BrowserContext, Page } from 'playwright';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { BrowserTab } from '#shared/rpc/methods/browser-contracts.ts';
import { SITE_ISOLATION_ARG, START_MS, createUnattendedOptions } from '../../headless/launch-options.ts';
import { endTree } from '../../processes/process-tree.ts';
import { ElementRefs } from './elements.ts';
import { PageEvents } from './page-events.ts';
import { REFUSED_HEADER } from './guarded-proxy.ts';
import { ACTION_MS, firstLine, withTimeout, toRpcError } from './playwright-errors.ts';

/** Timeout for loading a page. */
export const NAVIGATE_MS = 30_000;
const TITLE_MS = 2_000;
const MAX_TABS = 50;
/** Folder for downloads in a profile's folder. */
const DOWNLOADS = 'Perch Downloads';
/** Maximum characters of a page's own data, which may be of any length. */
const MAX_TITLE_CHARS = 1000;
const MAX_URL_CHARS = 8192;

const BROWSER_ARGS = [
  // Loopback also goes through the proxy.
  '--proxy-bypass-list=<-loopback>',
  // Chrome and Chromium only support the first spelling, the headless shell the second.
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
];

interface NavigationLimits {
  /** Checks a URL as far as possible. Throws `INVALID_PARAMS` if it must not be opened. */
  checkUrl(address: string): URL;
  /** Milliseconds for a page to load; override for tests. */
  navigateMs?: number;
}

interface DrivenOptions extends NavigationLimits {
  executable: string;
  /** User data folder. */
  folder: string;
  proxy: string;
  log(line: string): void;
}

interface RemoteOptions extends NavigationLimits {
  /** URL of its DevTools protocol. */
  endpoint: string;
  /** True: separate cookies and storage, deleted at disconnection. False: use the browser's. */
  isIsolated: boolean;
}

/** A connection to a browser. */
interface BrowserConnection {
  context: BrowserContext;
  /** Folder for downloads; null if the browser is on another machine. */
  downloads: string | null;
  /** Resolves when the browser is gone. */
  closed: Promise<void>;
  close(): Promise<void>;
}

/** A controlled browser with its tabs, numbered from 1 in order of creation, and the current one. */
export class DrivenBrowser {
  readonly sessionId = randomUUID();
  /** Resolves when the browser is gone for any reason. */
  readonly closed: Promise<void>;
  /** Elements by the refs of accessibility snapshots. */
  readonly elements = new ElementRefs();
  readonly pageEvents: PageEvents;
  /** `current`: the current tab has changed, or there is none any more. */
  readonly changes = new EventEmitter<{ current: [] }>();
  readonly #context: BrowserContext;
  readonly #close: () => Promise<void>;
  readonly #checkUrl: DrivenOptions['checkUrl'];
  readonly #navigateMs: number;
  readonly #tabs = new Map<string, Page>();
  #count = 0;
  #current: Page | undefined;

  private constructor({ context, downloads, closed, close }: BrowserConnection, { checkUrl, navigateMs = NAVIGATE_MS }: NavigationLimits) {
    context.setDefaultTimeout(ACTION_MS);
    this.#context = context;
    this.#close = close;
    this.#checkUrl = checkUrl;
    this.#navigateMs = navigateMs;
    this.closed = closed;
    for (const page of context.pages()) this.#add(page);
    context.on('page', (page) => this.#add(page));
    this.pageEvents = new PageEvents(context, downloads);
  }

  static async start(options: DrivenOptions): Promise<DrivenBrowser> {
    const { executable, folder, proxy, log } = options;
    const { chromium } = await import('playwright');
    const downloadsPath = join(folder, DOWNLOADS);
    // Delete files left by an earlier browser.
    await rm(downloadsPath, { recursive: true, force: true });
    await mkdir(downloadsPath, { recursive: true, mode: 0o700 });
    const mark = `BROWSER_RUN_${randomUUID().replaceAll('-', '')}`;
    const { env, ...launch } = createUnattendedOptions(executable, [...BROWSER_ARGS, SITE_ISOLATION_ARG]);
    try {
      const context = await chromium.launchPersistentContext(folder, {
        ...launch,
        env: { ...env, [mark]: '1' },
        proxy: { server: proxy },
        viewport: { width: 1280, height: 800 },
        acceptDownloads: true,
        downloadsPath,
        timeout: START_MS,
      });
      const closed = new Promise<void>((resolve) => context.on('close', () => resolve()));
      // A helper may outlive its browser for a moment, and recreate folders of a profile that is being deleted.
      const close = (): Promise<void> => context.close().finally(() => endTree({ mark: `${mark}=1` }));
      return new DrivenBrowser({ context, downloads: downloadsPath, closed, close }, options);
    } catch (error) {
      log(`Couldn’t start the browser: ${error instanceof Error ? error.message : String(error)}`);
      throw new RpcError('INTERNAL_ERROR', `Couldn’t start the browser: ${firstLine(error)}`, {}, { cause: error });
    }
  }

  /** Connects to a remote browser. When disconnecting, its own tabs stay open and tabs opened here are closed. */
  static async connect({ endpoint, isIsolated, ...limits }: RemoteOptions): Promise<DrivenBrowser> {
    const { chromium } = await import('playwright');
    try {
      const browser = await chromium.connectOverCDP(endpoint, { timeout: NAVIGATE_MS, noDefaults: !isIsolated });
      const closed = new Promise<void>((resolve) => browser.on('disconnected', () => resolve()));
      const [existing] = browser.contexts();
      const context = isIsolated || !existing ? await browser.newContext({ acceptDownloads: false }) : existing;
      const initialPages = new Set(context.pages());
      const close = async (): Promise<void> => {
        await Promise.all(context.pages().map((page) => !initialPages.has(page) && withTimeout(page.close()).catch(() => {})));
        await browser.close();
      };
      return new DrivenBrowser({ context, downloads: null, closed, close }, limits);
    } catch (error) {
      // The URL may contain a token.
      const reason = firstLine(error).replaceAll(endpoint, 'it').replaceAll(/\?\S+/g, '?…');
      throw new RpcError('INTERNAL_ERROR', `Couldn’t control the browser at browser.cdpEndpoint: ${reason}`, {}, { cause: error });
    }
  }

  get tabCount(): number {
    return this.#tabs.size;
  }

  async tabs(): Promise<BrowserTab[]> {
    return Promise.all(
      [...this.#tabs].map(async ([tabId, page]) => ({ tabId, ...(await readPageInfo(page)), active: page === this.#current })),
    );
  }

  /** The current tab, if there is one. */
  get current(): { tabId: string; page: Page } | undefined {
    const found = [...this.#tabs].find(([, page]) => page === this.#current);
    return found && { tabId: found[0], page: found[1] };
  }

  /** URL and title of the current tab; null if there is none. */
  async getCurrentPage(): Promise<{ url: string; title: string } | null> {
    return this.#current ? readPageInfo(this.#current) : null;
  }

  /** `signal` aborts loading and closes the tab. */
  async open(url: string, signal: AbortSignal): Promise<{ tabId: string; url: string; title: string }> {
    const address = this.#parseAddress(url);
    if (this.#tabs.size >= MAX_TABS) throw new RpcError('INVALID_PARAMS', `${MAX_TABS} tabs are open. Close one first.`);
    const page = await this.#context.newPage();
    const [tabId] = [...this.#tabs].find(([, each]) => each === page) ?? [];
    if (tabId === undefined) throw new RpcError('INVALID_PARAMS', `${MAX_TABS} tabs are open. Close one first.`);
    this.#selectTab(page);
    try {
      return { tabId, ...(await navigateTo(page, address, { timeout: this.#navigateMs, signal })) };
    } catch (error) {
      await page.close().catch(() => {});
      throw error;
    }
  }

  async navigate(url: string, signal: AbortSignal): Promise<{ url: string; title: string }> {
    const address = this.#parseAddress(url);
    return navigateTo(await this.page(), address, { timeout: this.#navigateMs, signal });
  }

  /** Returns the current tab, or a new one if there is none. */
  async page(): Promise<Page> {
    if (!this.#current) await this.#context.newPage();
    if (!this.#current) throw new RpcError('INTERNAL_ERROR', 'The browser has no tab');
    return this.#current;
  }

  async focus(tabId: string): Promise<void> {
    const page = this.tab(tabId);
    this.#selectTab(page);
    await page.bringToFront();
  }

  async closeTab(tabId: string): Promise<void> {
    await this.tab(tabId).close();
  }

  async close(): Promise<void> {
    await this.#close().catch(() => {});
    await this.closed;
  }

  #parseAddress(url: string): URL {
    return url === 'about:blank' ? new URL(url) : this.#checkUrl(url);
  }

  #selectTab(page: Page | undefined): void {
    if (this.#current === page) return;
    this.#current = page;
    this.changes.emit('current');
  }

  /** Throws `NOT_FOUND`. */
  tab(tabId: string): Page {
    const page = this.#tabs.get(tabId);
    if (!page) throw new RpcError('NOT_FOUND', `No tab ${tabId}. List tabs with browser.tabs.`);
    return page;
  }

  /** Adds a tab and makes it the current one, like a tab that a user opens. Closes tabs over the limit immediately. */
  #add(page: Page): void {
    if ([...this.#tabs.values()].includes(page)) return;
    if (this.#tabs.size >= MAX_TABS) return void page.close().catch(() => {});
    const tabId = `tab-${++this.#count}`;
    this.#tabs.set(tabId, page);
    this.#selectTab(page);
    page.on('crash', () => void page.close().catch(() => {}));
    page.on('close', () => {
      this.#tabs.delete(tabId);
      if (this.#current === page) this.#selectTab([...this.#tabs.values()].at(-1));
    });
  }
}

async function navigateTo(page: Page, url: URL, limits: { timeout: number; signal: AbortSignal }): Promise<{ url: string; title: string }> {
  try {
    const response = await page.goto(url.href, { ...limits, waitUntil: 'load' });
    // The guard's response replaces the page.
    if (response?.headers()[REFUSED_HEADER]) throw new RpcError('INVALID_PARAMS', `url: ${await response.text()}`);
  } catch (error) {
    // A download displays no page.
    if (error instanceof Error && error.message.includes('Download is starting')) return readPageInfo(page);
    await stopLoading(page).catch(() => {});
    throw toRpcError(error, `Couldn’t open ${url.host || url.href}`);
  }
  return readPageInfo(page);
}

/** Stops loading, since a pending load would delay the next action in the tab. */
async function stopLoading(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('Page.stopLoading');
  await session.detach();
}

/** A hung page does not return its title. */
async function readPageInfo(page: Page): Promise<{ url: string; title: string }> {
  const title = await withTimeout(page.title(), { ms: TITLE_MS }).catch(() => '');
  return { url: page.url().slice(0, MAX_URL_CHARS), title: title.slice(0, MAX_TITLE_CHARS) };
}
