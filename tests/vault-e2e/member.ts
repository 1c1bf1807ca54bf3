import type { Page } from 'playwright';
import { findProcesses } from '../../bridge/headless/tests/stub-host-page.ts';
import type { MethodName, MethodParams, MethodResult } from '../../shared/rpc/methods/index.ts';
import { launchBrowser, type TestBrowser } from '../e2e/test-browser.ts';
import type { Perch } from '../e2e/perch-process.ts';
import { waitFor } from '../support/test-gateway.ts';
import { callFromPage, type PageConnectionState, getConnectionState } from './page-gateway.ts';

/** One person's browser with the app open in a tab, and what may happen to it. */
export class ChaosMember implements AsyncDisposable {
  readonly name: string;
  readonly perch: Perch;
  readonly browser: TestBrowser;
  page!: Page;

  private constructor(name: string, perch: Perch, browser: TestBrowser) {
    this.name = name;
    this.perch = perch;
    this.browser = browser;
  }

  /** A browser with a new profile, linked to the bridge by `url` or by what `perch open` says. */
  static async link(name: string, perch: Perch, url?: string): Promise<ChaosMember> {
    const member = new ChaosMember(name, perch, await launchBrowser());
    await member.openTab(url ?? (await perch.open()));
    return member;
  }

  async openTab(url = this.perch.url): Promise<void> {
    const [first] = this.browser.context.pages();
    this.page = first?.url() === 'about:blank' ? first : await this.browser.context.newPage();
    await this.page.goto(url);
  }

  async closeTab(): Promise<void> {
    // A browser without any page would end.
    await this.browser.context.newPage();
    await this.page.close();
  }

  call<M extends MethodName>(method: M, params: MethodParams<M>): Promise<MethodResult<M>> {
    return callFromPage(this.page, method, params);
  }

  /** Null while the page cannot say. */
  getConnectionState(): Promise<PageConnectionState | null> {
    return getConnectionState(this.page).catch(() => null);
  }

  /** Waits until all that is here is in the journal, and the other way round. */
  async waitForSync(): Promise<PageConnectionState> {
    let last: PageConnectionState | null = null;
    try {
      await waitFor(async () => {
        last = await this.getConnectionState();
        return last?.host?.uplink === 'attached' && last.host.sync.state === 'synced' && last.host.sync.pending === 0;
      }, `${this.name} in step`);
    } catch (error) {
      throw new Error(`${this.name} is not in step: ${JSON.stringify(last)}`, { cause: error });
    }
    if (!last) throw new Error(`${this.name} says nothing`);
    return last;
  }

  /** Waits until its worker has loaded all of its code, so that it no longer needs the bridge. */
  async isIntact(): Promise<void> {
    await waitFor(async () => (await this.waitForSync()).host?.complete === true, `the worker of ${this.name} to have all of its parts`);
  }

  /** As a crash of the whole browser; its profile stays. */
  async kill(): Promise<void> {
    const contextClosed = new Promise((resolve) => this.browser.context.once('close', resolve));
    this.signal('SIGKILL');
    await contextClosed;
  }

  signal(signal: NodeJS.Signals): void {
    // Not by the profile's lock, which a headless shell does not write.
    const started = `--user-data-dir=${this.browser.profile}`;
    const browser = findProcesses(this.browser.profile).find(
      ({ args }) => args.includes(started) && !args.some((arg) => arg.startsWith('--type=')),
    );
    if (!browser) throw new Error(`no browser runs on the profile of ${this.name}`);
    process.kill(-browser.pid, signal);
  }

  /** Opens the browser again on its profile, and the app in it. */
  async reopen(): Promise<void> {
    await this.browser.reopen();
    // A browser whose data was just cleared has no cached app: it is opened once the bridge is reachable.
    await this.openTab().catch(async (error: unknown) => {
      if (!/ERR_CONNECTION_REFUSED/.test(String(error))) throw error;
      await waitFor(
        () =>
          fetch(`${this.perch.url}/health`).then(
            ({ ok }) => ok,
            () => false,
          ),
        'the bridge to be back',
        20_000,
      );
      await this.page.goto(this.perch.url);
    });
  }

  /** Clears all data of the app. The page stays open, and may reload itself. */
  async wipe(): Promise<void> {
    const cdp = await this.browser.context.newCDPSession(this.page);
    await cdp.send('Storage.clearDataForOrigin', { origin: this.perch.url, storageTypes: 'all' });
    await cdp.detach();
  }

  /** Opens a new link in another tab, and closes the one before. */
  async relink(): Promise<void> {
    const before = this.page;
    this.page = await this.browser.context.newPage();
    await this.page.goto(await this.perch.open());
    await before.close();
    await waitFor(async () => (await this.getConnectionState())?.isLinked === true, `${this.name} to be linked`, 20_000);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.browser[Symbol.asyncDispose]();
  }
}
