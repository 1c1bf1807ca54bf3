import { setTimeout as sleep } from 'node:timers/promises';
import type { BrowserContext, Page } from 'playwright';
import type { Credential } from '../../shared/link/proof.ts';
import { unattended } from './launch.ts';
import { awaitProfile, majorVersion, prepareProfile, profileHolder } from './profile.ts';

export interface ManagedOptions {
  /** The browser's program. */
  executable: string;
  /** Its user data folder, used by nothing else. */
  profile: string;
  /** The bridge's canonical origin; the host page is `<origin>/host`. */
  origin: string;
  /** Makes what the host page proves itself with, once for each browser. Handed over through the debugging pipe. */
  credential(): Credential;
  log(line: string): void;
  /** Milliseconds before the first restart, doubled each time, and the longest; a run of a minute starts over. */
  backOff?: { first: number; most: number };
  /** Milliseconds to wait for an earlier browser to leave the profile. */
  patience?: number;
}

/** What the host page defines once it has loaded. */
interface HostPage {
  perchHost?: { attach(credential: Credential): Promise<void> };
}

const SMALL = ['--in-process-gpu', '--renderer-process-limit=1'];
const PAGE_TRIES = 3;
const STEADY_MS = 60_000;
const CLOSE_MS = 2000;
const RELOAD_MS = 1000;

/**
 * The Chromium that hosts the gateway when no tab does: driven over the debugging pipe, so that all its processes go
 * when this one does, by whatever death; started again with back-off when it or its page dies.
 */
export class ManagedChromium {
  readonly #options: ManagedOptions;
  readonly #backOff: { first: number; most: number };
  readonly #closing = new AbortController();
  #context: BrowserContext | null = null;
  /** The same for each load of the page: the worker may outlive a load, and goes on as it was. */
  #credential: Credential | null = null;
  #loop: Promise<void> = Promise.resolve();

  private constructor(options: ManagedOptions) {
    this.#options = options;
    this.#backOff = options.backOff ?? { first: 250, most: 30_000 };
  }

  /** Starts it and resolves once the browser runs. Throws ProfileInUse, or an error whose message says why it did not start. */
  static async start(options: ManagedOptions): Promise<ManagedChromium> {
    const managed = new ManagedChromium(options);
    if (process.getuid?.() === 0) options.log('warning: running as root, so the managed Chromium runs without its sandbox');
    const first = await managed.#launch();
    managed.#loop = managed.#keep(first);
    return managed;
  }

  /** Ends the browser, to be started again: for a host that is there but does not answer. */
  async restart(reason: string): Promise<void> {
    if (this.#context === null || this.#closing.signal.aborted) return;
    this.#options.log(`the managed Chromium is started again: ${reason}`);
    await this.#end(this.#context);
  }

  /** Ends the browser for good; within about 2 s, killed where it does not go by itself. */
  async close(): Promise<void> {
    this.#closing.abort();
    if (this.#context) await this.#end(this.#context);
    await this.#loop;
  }

  async #launch(): Promise<BrowserContext> {
    const { executable, profile, log, patience = 5000 } = this.#options;
    // Looked up beside each other, for a quick start: Playwright takes as long to load as the browser to say its version.
    const [{ chromium }, major] = await Promise.all([
      import('playwright'),
      majorVersion(executable),
      awaitProfile(profile, patience, sleep),
    ]);
    const aside = prepareProfile(profile, major);
    if (aside !== null) log(`the browser is older than its profile: a fresh profile is used, the earlier one is kept in ${aside}`);
    try {
      const context = await chromium.launchPersistentContext(profile, {
        ...unattended(executable, SMALL),
        serviceWorkers: 'block',
        viewport: { width: 320, height: 240 },
        timeout: 30_000,
      });
      this.#context = context;
      this.#credential = null;
      return context;
    } catch (error) {
      throw new Error(`the managed Chromium (${executable}) did not start: ${reasonOf(error)}`);
    }
  }

  async #keep(first: BrowserContext): Promise<void> {
    const closing = this.#closing.signal;
    let wait = this.#backOff.first;
    let next: BrowserContext | null = first;
    while (!closing.aborted) {
      const since = performance.now();
      try {
        const context: BrowserContext = next ?? (await this.#launch());
        next = null;
        // Closing may have come while it started.
        if (closing.aborted) return await this.#end(context);
        await this.#serve(context);
      } catch (error) {
        if (!closing.aborted) this.#options.log(messageOf(error));
      }
      if (performance.now() - since > STEADY_MS) wait = this.#backOff.first;
      if (closing.aborted) return;
      this.#options.log(`the managed Chromium ended; starting it again in ${wait} ms`);
      await this.#pause(wait);
      wait = Math.min(wait * 2, this.#backOff.most);
    }
  }

  /** Keeps the host page alive in one browser; returns when the browser is gone. */
  async #serve(context: BrowserContext): Promise<void> {
    const gone = new Promise<string>((resolve) => context.once('close', () => resolve('')));
    let tries = 0;
    let wait = this.#backOff.first;
    while (tries < PAGE_TRIES) {
      const since = performance.now();
      const stale = context.pages();
      const page =
        stale.length === 1 && stale[0]?.url() === 'about:blank' ? stale[0] : await Promise.race([context.newPage(), gone.then(() => null)]);
      if (page === null) return;
      // A crashed page cannot be loaded again, only replaced.
      for (const old of stale) if (old !== page) old.close().catch(() => {});
      const trouble = await Promise.race([this.#watch(page), gone]);
      if (trouble === '' || this.#closing.signal.aborted) return;
      if (performance.now() - since > STEADY_MS) [tries, wait] = [0, this.#backOff.first];
      tries++;
      this.#options.log(`the host page ${trouble}; loading it anew`);
      await this.#pause(wait);
      wait = Math.min(wait * 2, this.#backOff.most);
    }
    await this.#end(context);
  }

  /** Loads the host page and gives it its credential, again after each load. Resolves with what went wrong, in words that follow "the host page". */
  #watch(page: Page): Promise<string> {
    return new Promise((resolve) => {
      page.once('crash', () => resolve('crashed'));
      page.once('close', () => resolve('was closed'));
      page.on('console', (message) => {
        if (message.type() === 'error') this.#options.log(`host page: ${message.text().slice(0, 500)}`);
      });
      page.on('pageerror', (error) => this.#options.log(`host page: ${messageOf(error).slice(0, 500)}`));
      let loads = 0;
      page.on('load', () => {
        const load = ++loads;
        if (load > 1) this.#options.log('the host page loaded itself anew');
        this.#attach(page).catch(async (error: unknown) => {
          // A page that loads itself anew ends this attempt, and makes another soon.
          await this.#pause(RELOAD_MS);
          if (load === loads && !page.isClosed()) resolve(`could not host: ${reasonOf(error)}`);
        });
      });
      page.goto(`${this.#options.origin}/host`, { timeout: 30_000 }).then(
        (response) => response?.ok() === false && resolve(`answered ${response.status()}`),
        (error: unknown) => resolve(`did not load: ${reasonOf(error)}`),
      );
    });
  }

  async #attach(page: Page): Promise<void> {
    await page.waitForFunction(() => (globalThis as HostPage).perchHost !== undefined, undefined, { polling: 50, timeout: 15_000 });
    await page.evaluate(
      (credential) => (globalThis as HostPage).perchHost?.attach(credential),
      (this.#credential ??= this.#options.credential()),
    );
  }

  /** Asks the browser to go, and kills its process group where it does not. */
  async #end(context: BrowserContext): Promise<void> {
    const done = new AbortController();
    const closed = context.close().then(
      () => true,
      () => true,
    );
    const inTime = await Promise.race([closed, sleep(CLOSE_MS, false, { signal: done.signal }).catch(() => true)]);
    done.abort();
    if (inTime) return;
    const holder = profileHolder(this.#options.profile);
    if (holder === null) return;
    try {
      process.kill(-holder.pid, 'SIGKILL');
    } catch {
      // It went meanwhile.
    }
  }

  /** Sleeps, but not through a close. */
  async #pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#closing.signal }).catch(() => {});
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The first line of Playwright's reports that says something; the browser's own complaint where there is one. */
function reasonOf(error: unknown): string {
  const lines = messageOf(error).split('\n');
  const complaint = lines.find(
    (line) => /ERROR|FATAL|cannot open shared object|error while loading|No usable sandbox/i.test(line) && !/dbus|gcm|gpu/i.test(line),
  );
  return (complaint ?? lines[0] ?? '').replace(/^.*(\[err\]|page\.\w+:|browserType\.\w+:)\s*/, '').slice(0, 300);
}
