import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, type CDPSession, chromium, type Page } from 'playwright';
import { QUIET_ARGS, SITE_ISOLATION_ARG } from '../../bridge/headless/launch-options.ts';
import { findBrowserProgram } from './perch-process.ts';

export interface BrowserOptions {
  /** The browser's program. Default: the one that would host the gateway, a headless shell if there is one. */
  executable?: string | null;
  /** An existing profile, which then outlives the browser. Default: a new one, deleted at the end. */
  profile?: string;
  viewport?: { width: number; height: number };
  colorScheme?: 'light' | 'dark';
  /** The first of the browser's languages. Default: American English. */
  locale?: string;
  /** More of Chromium's own switches. */
  args?: readonly string[];
}

/** A real Chromium with a profile on disk, so that IndexedDB and workers are those of a person's browser. */
export interface TestBrowser extends AsyncDisposable {
  readonly context: BrowserContext;
  readonly profile: string;
  /** Problems of pages: uncaught errors, `console.error`, policy violations. */
  readonly complaints: string[];
  /** Requests that pages made to another origin than they are of. */
  readonly foreignRequests: string[];
  /** A new tab. */
  page(url?: string): Promise<Page>;
  /** Kills every SharedWorker whose URL is of this origin, as a crash would; resolves with how many. */
  killSharedWorkers(origin: string): Promise<number>;
  /** The DevTools protocol of the whole browser. */
  devtools(): Promise<CDPSession>;
  /** Closes the browser and opens it again on the same profile; earlier pages are gone. */
  reopen(): Promise<void>;
}

/** Some Chromiums offer a model of their own, and others do not: tests bring theirs. */
const NO_BUILT_IN_MODEL = '--disable-blink-features=AIPromptAPI';

export async function launchBrowser(options: BrowserOptions = {}): Promise<TestBrowser> {
  const profile = options.profile ?? mkdtempSync(join(tmpdir(), 'perch-browser-'));
  const complaints: string[] = [];
  const foreignRequests: string[] = [];
  let context = await launch();

  async function launch(): Promise<BrowserContext> {
    const launched = await chromium.launchPersistentContext(profile, {
      executablePath: options.executable ?? (await findBrowserProgram()),
      chromiumSandbox: process.getuid?.() !== 0,
      args: [...QUIET_ARGS, SITE_ISOLATION_ARG, NO_BUILT_IN_MODEL, ...(options.args ?? [])],
      viewport: options.viewport ?? { width: 1280, height: 800 },
      colorScheme: options.colorScheme ?? 'light',
      ...(options.locale ? { locale: options.locale } : {}),
    });
    launched.on('page', watch);
    launched.pages().forEach(watch);
    return launched;
  }

  function watch(page: Page): void {
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    page.on('request', (request) => {
      const from = URL.parse(page.url())?.origin;
      const to = URL.parse(request.url());
      if (to?.protocol.startsWith('http') && from?.startsWith('http') && to.origin !== from) foreignRequests.push(request.url());
    });
  }

  const devtools = async (): Promise<CDPSession> => {
    const browser = context.browser();
    if (!browser) throw new Error('the browser is closed');
    return browser.newBrowserCDPSession();
  };

  return {
    profile,
    complaints,
    foreignRequests,
    get context() {
      return context;
    },
    async page(url) {
      const page = await context.newPage();
      if (url !== undefined) await page.goto(url);
      return page;
    },
    devtools,
    async killSharedWorkers(origin) {
      const session = await devtools();
      const { targetInfos } = await session.send('Target.getTargets', { filter: [{ type: 'shared_worker' }] });
      const workers = targetInfos.filter(({ url }) => url.startsWith(`${origin}/`));
      for (const { targetId } of workers) await session.send('Target.closeTarget', { targetId });
      await session.detach();
      return workers.length;
    },
    async reopen() {
      await context.close();
      context = await launch();
    },
    async [Symbol.asyncDispose]() {
      await context.close();
      if (options.profile === undefined) rmSync(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
    },
  };
}
