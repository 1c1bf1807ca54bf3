import { setTimeout as sleep } from 'node:timers/promises';
import type { Credential } from '../../shared/link/link-credentials.ts';
import { Chromium } from './chromium.ts';
import { isHeadlessShell } from './find-browser.ts';
import { awaitProfile, lockProfile, getMajorVersion, ProfileInUseError, prepareProfile } from './browser-profile.ts';
import type { ChromiumTab } from './chromium-tab.ts';

export interface ManagedChromiumOptions {
  /** Path of the browser's program. */
  executable: string;
  /** User data folder, used by nothing else. */
  profile: string;
  /** The bridge's canonical origin; the host page is `<origin>/host`. */
  origin: string;
  /** Creates the host page's credential, once for each browser. Passed through the debugging pipe. */
  credential(): Credential;
  log(line: string): void;
  /** Maximum JavaScript heap in megabytes. A host that needs more crashes and is restarted. Default: the browser's own limit. */
  heapMb?: number;
  /** Delay before the first restart, doubled each time, and its maximum, in milliseconds. Resets after a run of one minute. */
  backOff?: { first: number; max: number };
  /** Milliseconds to wait for an earlier browser to release the profile. */
  profileWaitMs?: number;
}

const LOW_MEMORY_ARGS = ['--in-process-gpu', '--renderer-process-limit=1'];
const MAX_PAGE_ATTEMPTS = 3;
const STEADY_MS = 60_000;
const RELOAD_MS = 1000;
const READY_MS = 15_000;

/**
 * The Chromium that hosts the gateway when no tab does. Controlled over the debugging pipe, so that its processes end with this one,
 * however that ends. Restarted with back-off if the browser or its page crashes.
 */
export class ManagedChromium {
  readonly #options: ManagedChromiumOptions;
  readonly #backOff: { first: number; max: number };
  readonly #closing = new AbortController();
  #browser: Chromium | null = null;
  /** The same for each load of the page: the worker may outlive a load and keep running. */
  #credential: Credential | null = null;
  #loop: Promise<void> = Promise.resolve();

  private constructor(options: ManagedChromiumOptions) {
    this.#options = options;
    this.#backOff = options.backOff ?? { first: 250, max: 30_000 };
  }

  /** Starts the browser and resolves once it runs. Throws ProfileInUse, or an error that says why it did not start. */
  static async start(options: ManagedChromiumOptions): Promise<ManagedChromium> {
    const managed = new ManagedChromium(options);
    if (process.getuid?.() === 0) options.log('Warning: Running as root, so the background browser runs without its sandbox');
    const first = await managed.#launch();
    managed.#loop = managed.#supervise(first);
    return managed;
  }

  /** Restarts the browser, for a host that is attached but does not answer. */
  async restart(reason: string): Promise<void> {
    if (this.#browser === null || this.#closing.signal.aborted) return;
    this.#options.log(`Restarting the background browser: ${reason}`);
    await this.#browser.close();
  }

  /** Ends the browser permanently, within about 4 s: it is killed if it does not exit. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#browser?.close();
    await this.#loop;
  }

  async #launch(): Promise<Chromium> {
    const { executable, profile, log, heapMb, profileWaitMs = 5000 } = this.#options;
    const [major] = await Promise.all([getMajorVersion(executable), awaitProfile(profile, profileWaitMs, sleep)]);
    const oldProfile = prepareProfile(profile, major);
    if (oldProfile !== null) log(`The browser is older than its profile. Using a new profile. The previous one was moved to ${oldProfile}`);
    try {
      const limit = heapMb === undefined ? [] : [`--js-flags=--max-old-space-size=${heapMb}`];
      const browser = await Chromium.launch({ executable, profile, args: [...LOW_MEMORY_ARGS, ...limit] });
      try {
        // Before loading a page, which opens the profile's databases.
        if (isHeadlessShell(executable) && process.platform !== 'win32') lockProfile(profile, browser.pid);
      } catch (error) {
        await browser.close();
        throw error;
      }
      this.#browser = browser;
      this.#credential = null;
      return browser;
    } catch (error) {
      if (error instanceof ProfileInUseError) throw error;
      throw new Error(`Couldn’t start the background browser (${executable}): ${describeError(error)}`);
    }
  }

  async #supervise(first: Chromium): Promise<void> {
    const closing = this.#closing.signal;
    let wait = this.#backOff.first;
    let next: Chromium | null = first;
    while (!closing.aborted) {
      const since = performance.now();
      try {
        const browser: Chromium = next ?? (await this.#launch());
        next = null;
        // `close` may have been called during the start.
        if (closing.aborted) return await browser.close();
        await this.#serve(browser);
      } catch (error) {
        if (!closing.aborted) this.#options.log(getMessage(error));
      }
      if (performance.now() - since > STEADY_MS) wait = this.#backOff.first;
      if (closing.aborted) return;
      this.#options.log(`The background browser ended. Restarting it in ${wait} ms`);
      await this.#pause(wait);
      wait = Math.min(wait * 2, this.#backOff.max);
    }
  }

  /** Keeps the host page running in one browser. Returns when the browser is gone. */
  async #serve(browser: Chromium): Promise<void> {
    const onGone = browser.exited.then(() => null);
    let attempts = 0;
    let wait = this.#backOff.first;
    while (attempts < MAX_PAGE_ATTEMPTS) {
      const since = performance.now();
      // A crashed page can't be reloaded, only replaced.
      const tab = await Promise.race([browser.tab(), onGone]);
      const problem = tab && (await Promise.race([this.#watch(tab), onGone]));
      if (problem === null || this.#closing.signal.aborted) return;
      if (performance.now() - since > STEADY_MS) [attempts, wait] = [0, this.#backOff.first];
      attempts++;
      this.#options.log(`The host page ${problem}. Reloading it`);
      await this.#pause(wait);
      wait = Math.min(wait * 2, this.#backOff.max);
    }
    await browser.close();
  }

  /** Loads the host page and gives it its credential, again after each load. Resolves to the problem, worded to follow "the host page". */
  #watch(tab: ChromiumTab): Promise<string> {
    return new Promise((resolve) => {
      let loads = 0;
      const watched = tab.watch({
        end: resolve,
        error: (text) => this.#options.log(`Host page: ${text.slice(0, 500)}`),
        load: () => {
          const load = ++loads;
          if (load > 1) this.#options.log('The host page reloaded itself');
          this.#attach(tab).catch(async (error: unknown) => {
            // A page that reloads itself ends this attempt; another follows soon.
            await this.#pause(RELOAD_MS);
            if (load === loads && !tab.closed) resolve(`couldn’t start hosting: ${describeError(error)}`);
          });
        },
      });
      watched
        .then(() => tab.go(`${this.#options.origin}/host`))
        .then(
          (problem) => problem !== undefined && resolve(`didn’t load: ${problem}`),
          (error: unknown) => resolve(`didn’t load: ${describeError(error)}`),
        );
    });
  }

  async #attach(tab: ChromiumTab): Promise<void> {
    const status = await tab.evaluate("performance.getEntriesByType('navigation')[0]?.responseStatus ?? 200");
    if (status !== 200) throw new Error(`status ${String(status)}`);
    await tab.until('globalThis.perchHost !== undefined', READY_MS);
    await tab.evaluate(`globalThis.perchHost.attach(${JSON.stringify((this.#credential ??= this.#options.credential()))})`);
  }

  /** Sleeps until `ms` milliseconds have passed or the browser is closed. */
  async #pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#closing.signal }).catch(() => {});
  }
}

const getMessage = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Returns the first informative line of an error; the browser's own error output if there is any. */
function describeError(error: unknown): string {
  const lines = getMessage(error).split('\n');
  const errorLine = lines.find(
    (line) => /ERROR|FATAL|cannot open shared object|error while loading|No usable sandbox/i.test(line) && !/dbus|gcm|gpu/i.test(line),
  );
  return (errorLine ?? lines[0] ?? '').slice(0, 300);
}
