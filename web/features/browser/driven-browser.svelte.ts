import { fromBase64 } from '#shared/base64.ts';
import type { BrowserPageEvents, BrowserTab } from '#shared/rpc/methods/browser-contracts.ts';
import type { MethodResult } from '#shared/rpc/methods/index.ts';
import { type Input, InputQueue } from './input-queue.ts';
import { isConnectionLost, type Problem, toProblem } from '#kit/problems.ts';
import { gateway } from '#app/connection/gateway-connection.svelte.ts';
import { isBridgeMissing } from '#app/connection/needs-bridge.ts';
import { m } from '#app/i18n/messages.ts';
import { saveFile } from '#app/files/save-file.ts';
import { announcer } from '#app/state/announcer.svelte.ts';

type Profile = MethodResult<'browser.profiles'>['profiles'][number];
type Download = BrowserPageEvents['downloads'][number];
type DialogRequest = BrowserPageEvents['dialogs'][number];

/** Maximum number of page notices kept. */
const MAX_NOTICES = 20;
/** Scripts for history navigation, which only the page itself can do. */
const HISTORY_SCRIPTS = { back: 'history.back()', forward: 'history.forward()', reload: 'location.reload()' } as const;
export type HistoryStep = keyof typeof HISTORY_SCRIPTS;

/** The browser that agents drive: its profiles, tabs, and what a person does with it. */
class DrivenBrowser {
  profile = $state('default');
  /** Null before the first answer. */
  profiles = $state.raw<Profile[] | null>(null);
  tabs = $state.raw<BrowserTab[]>([]);
  /** Whether the browser runs on another computer. */
  isRemote = $state(false);
  /** No bridge can drive a browser. */
  isUnavailable = $state(false);
  problem = $state.raw<Problem | null>(null);
  /** How dialogs of pages are answered, as chosen here; null if nothing was chosen. */
  dialogAction = $state<'accept' | 'dismiss' | null>(null);
  downloads = $state.raw<Download[]>([]);
  dialogs = $state.raw<DialogRequest[]>([]);
  #loadCount = 0;

  readonly isStarted = $derived(this.profiles?.find(({ name }) => name === this.profile)?.started ?? false);
  readonly currentTab = $derived(this.tabs.find(({ active }) => active) ?? null);
  readonly input = new InputQueue(
    (input: Input) => gateway.call('browser.input', { ...input, profile: this.profile }),
    (error) => (this.problem = isConnectionLost(error) ? this.problem : toProblem(error, m.browser_doing_hand_on())),
  );

  async load(): Promise<void> {
    const loadId = ++this.#loadCount;
    const { profile } = this;
    try {
      const [{ profiles }, { tabs }, { remote }] = await Promise.all([
        gateway.call('browser.profiles', {}),
        gateway.call('browser.tabs', { profile }),
        gateway.call('browser.status', { profile }),
      ]);
      if (loadId !== this.#loadCount) return;
      Object.assign(this, { profiles, tabs, isRemote: remote, isUnavailable: false } satisfies Partial<DrivenBrowser>);
    } catch (error) {
      if (loadId !== this.#loadCount || isConnectionLost(error)) return;
      this.isUnavailable = isBridgeMissing(error);
      if (!this.isUnavailable) this.problem = toProblem(error, m.browser_doing_read());
    }
  }

  choose(profile: string): void {
    this.profile = profile;
    this.#clearTabs();
    void this.load();
  }

  /** Rejects if the gateway refuses, as do the methods below. */
  async start(): Promise<void> {
    await gateway.call('browser.start', { profile: this.profile });
    announcer.announce(m.browser_started());
    await this.load();
  }

  async stop(): Promise<void> {
    await gateway.call('browser.stop', { profile: this.profile });
    this.#clearTabs();
    announcer.announce(m.browser_stopped());
    await this.load();
  }

  async create(name: string): Promise<void> {
    await gateway.call('browser.createProfile', { name });
    this.choose(name);
  }

  async remove(): Promise<void> {
    const { profile } = this;
    await gateway.call('browser.deleteProfile', { name: profile });
    announcer.announce(m.browser_profile_deleted({ name: profile }));
    this.choose('default');
  }

  /** Opens an address in the current tab, or in a new one if there is none or one is requested. */
  async navigate(url: string, inNewTab = false): Promise<void> {
    const { profile } = this;
    this.#recordEvents(
      inNewTab || !this.currentTab
        ? await gateway.call('browser.open', { url, profile })
        : await gateway.call('browser.navigate', { url, profile }),
    );
  }

  async goInHistory(step: HistoryStep): Promise<void> {
    // Deferred, so that the page can answer before it is left.
    this.#recordEvents(
      await gateway.call('browser.evaluate', { fn: `void setTimeout(() => ${HISTORY_SCRIPTS[step]})`, profile: this.profile }),
    );
  }

  async focus({ tabId }: BrowserTab): Promise<void> {
    await gateway.call('browser.focus', { tabId, profile: this.profile });
    await this.load();
  }

  async close({ tabId }: BrowserTab): Promise<void> {
    await gateway.call('browser.close', { tabId, profile: this.profile });
    await this.load();
  }

  async setDialogAction(answer: 'accept' | 'dismiss'): Promise<void> {
    await gateway.call('browser.dialogs', { answer, profile: this.profile });
    this.dialogAction = answer;
  }

  async save({ downloadId }: Download): Promise<void> {
    const { filename, contentB64 } = await gateway.call('browser.download', { downloadId, profile: this.profile });
    saveFile(filename, new Blob([fromBase64(contentB64)]));
  }

  /** The live view and the next result both report a download. */
  addDownloads(downloads: readonly Download[]): void {
    const knownIds = new Set(this.downloads.map(({ downloadId }) => downloadId));
    this.downloads = [...downloads.filter(({ downloadId }) => !knownIds.has(downloadId)), ...this.downloads].slice(0, MAX_NOTICES);
  }

  #recordEvents({ happened }: { happened?: BrowserPageEvents | undefined }): void {
    this.addDownloads(happened?.downloads ?? []);
    this.dialogs = [...(happened?.dialogs ?? []), ...this.dialogs].slice(0, MAX_NOTICES);
    void this.load();
  }

  #clearTabs(): void {
    Object.assign(this, { tabs: [], dialogAction: null, downloads: [], dialogs: [], problem: null } satisfies Partial<DrivenBrowser>);
  }
}

export const drivenBrowser = new DrivenBrowser();
