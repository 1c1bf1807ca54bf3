import { fromBase64 } from '#shared/base64.ts';
import type { BrowserHappened, BrowserTab } from '#shared/rpc/methods/browser.ts';
import type { MethodResult } from '#shared/rpc/methods/index.ts';
import { type Input, InputQueue } from '#lib/browser/input-queue.ts';
import { isLost, type Problem, problemOf } from '#lib/errors.ts';
import { gateway } from '#lib/gateway/connection.svelte.ts';
import { needsBridge } from '#lib/gateway/needs-bridge.ts';
import { m } from '#lib/i18n/pages.ts';
import { saveFile } from '#lib/save-file.ts';
import { announcer } from './announcer.svelte.ts';

type Profile = MethodResult<'browser.profiles'>['profiles'][number];
export type Download = BrowserHappened['downloads'][number];
export type Asked = BrowserHappened['dialogs'][number];

/** Maximum number of page notices kept. */
const MAX_NEWS = 20;
/** Browsers keep a page's history to themselves: only the page can go through it. */
const STEPS = { back: 'history.back()', forward: 'history.forward()', reload: 'location.reload()' } as const;
export type Step = keyof typeof STEPS;

/** The browser that agents drive: its profiles, tabs, and what a person does with it. */
class DrivenBrowser {
  profile = $state('default');
  /** Null before the first answer. */
  profiles = $state.raw<Profile[] | null>(null);
  tabs = $state.raw<BrowserTab[]>([]);
  /** Whether the browser runs on another computer. */
  remote = $state(false);
  /** No bridge can drive a browser. */
  missing = $state(false);
  problem = $state.raw<Problem | null>(null);
  /** How pages’ questions are answered, as far as it was said here. */
  answer = $state<'accept' | 'dismiss' | null>(null);
  downloads = $state.raw<Download[]>([]);
  dialogs = $state.raw<Asked[]>([]);
  #asked = 0;

  readonly started = $derived(this.profiles?.find(({ name }) => name === this.profile)?.started ?? false);
  readonly current = $derived(this.tabs.find(({ active }) => active) ?? null);
  readonly input = new InputQueue(
    (input: Input) => gateway.call('browser.input', { ...input, profile: this.profile }),
    (error) => (this.problem = isLost(error) ? this.problem : problemOf(error, m.browser_doing_hand_on())),
  );

  async load(): Promise<void> {
    const asked = ++this.#asked;
    const { profile } = this;
    try {
      const [{ profiles }, { tabs }, { remote }] = await Promise.all([
        gateway.call('browser.profiles', {}),
        gateway.call('browser.tabs', { profile }),
        gateway.call('browser.status', { profile }),
      ]);
      if (asked !== this.#asked) return;
      Object.assign(this, { profiles, tabs, remote, missing: false });
    } catch (error) {
      if (asked !== this.#asked || isLost(error)) return;
      this.missing = needsBridge(error);
      if (!this.missing) this.problem = problemOf(error, m.browser_doing_read());
    }
  }

  choose(profile: string): void {
    this.profile = profile;
    this.#forget();
    void this.load();
  }

  /** Rejects where the gateway refuses, as all below. */
  async start(): Promise<void> {
    await gateway.call('browser.start', { profile: this.profile });
    announcer.say(m.browser_started());
    await this.load();
  }

  async stop(): Promise<void> {
    await gateway.call('browser.stop', { profile: this.profile });
    this.#forget();
    announcer.say(m.browser_stopped());
    await this.load();
  }

  async create(name: string): Promise<void> {
    await gateway.call('browser.createProfile', { name });
    this.choose(name);
  }

  async remove(): Promise<void> {
    const { profile } = this;
    await gateway.call('browser.deleteProfile', { name: profile });
    announcer.say(m.browser_profile_deleted({ name: profile }));
    this.choose('default');
  }

  /** In the current tab; a new one where there is none, or where one is asked for. */
  async go(url: string, inNewTab = false): Promise<void> {
    const { profile } = this;
    this.#note(
      inNewTab || !this.current
        ? await gateway.call('browser.open', { url, profile })
        : await gateway.call('browser.navigate', { url, profile }),
    );
  }

  async step(step: Step): Promise<void> {
    // A page that is left while it answers could not.
    this.#note(await gateway.call('browser.evaluate', { fn: `void setTimeout(() => ${STEPS[step]})`, profile: this.profile }));
  }

  async focus({ tabId }: BrowserTab): Promise<void> {
    await gateway.call('browser.focus', { tabId, profile: this.profile });
    await this.load();
  }

  async close({ tabId }: BrowserTab): Promise<void> {
    await gateway.call('browser.close', { tabId, profile: this.profile });
    await this.load();
  }

  async answerBy(answer: 'accept' | 'dismiss'): Promise<void> {
    await gateway.call('browser.dialogs', { answer, profile: this.profile });
    this.answer = answer;
  }

  async save({ downloadId }: Download): Promise<void> {
    const { filename, contentB64 } = await gateway.call('browser.download', { downloadId, profile: this.profile });
    saveFile(filename, new Blob([fromBase64(contentB64)]));
  }

  /** The live view and the next result both report a download. */
  addDownloads(downloads: readonly Download[]): void {
    const known = new Set(this.downloads.map(({ downloadId }) => downloadId));
    this.downloads = [...downloads.filter(({ downloadId }) => !known.has(downloadId)), ...this.downloads].slice(0, MAX_NEWS);
  }

  #note({ happened }: { happened?: BrowserHappened | undefined }): void {
    this.addDownloads(happened?.downloads ?? []);
    this.dialogs = [...(happened?.dialogs ?? []), ...this.dialogs].slice(0, MAX_NEWS);
    void this.load();
  }

  #forget(): void {
    Object.assign(this, { tabs: [], answer: null, downloads: [], dialogs: [], problem: null });
  }
}

export const drivenBrowser = new DrivenBrowser();
