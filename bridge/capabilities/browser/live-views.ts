import { once } from 'node:events';
import type { Page } from 'playwright';
import type { browserPort } from '#shared/ports/browser-port.ts';
import type { ParsedParams } from '#shared/rpc/contract.ts';
import type { PortCall } from '../serve-port.ts';
import type { DrivenBrowser } from './driven-browser.ts';
import { withTimeout, toRpcError } from './playwright-errors.ts';
import { type ScreencastFrame, Screencast } from './screencast.ts';

/** Minimum time between frames: five per second. */
const FRAME_MS = 200;
/** Timeout and maximum number of attempts to show a tab. */
const START_MS = 1500;
const MAX_ATTEMPTS = 6;
const TAB_CLOSED = 'The tab was closed';

const NEVER = new Promise<never>(() => {});

type ViewParams = ParsedParams<(typeof browserPort)['calls']['browser.view']>;
type ViewCall = PortCall<(typeof browserPort)['events']>;

interface ViewFrame {
  tabId: string;
  picture: ScreencastFrame;
}

/** Sends pictures to one viewer: the next one only after the last was received, skipping all but the newest. */
class Viewer {
  readonly #send: (frame: number, viewFrame: ViewFrame) => void;
  /** Called when the viewer has received a frame. */
  readonly #onReceived: () => void;
  #frame = 0;
  #sentAt = 0;
  #isSending = false;
  #next: ViewFrame | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(send: (frame: number, viewFrame: ViewFrame) => void, onReceived: () => void) {
    this.#send = send;
    this.#onReceived = onReceived;
  }

  enqueue(viewFrame: ViewFrame): void {
    this.#next = viewFrame;
    if (!this.#isSending) this.#sendNext();
  }

  acknowledge(frame: number): void {
    if (!this.#isSending || frame !== this.#frame || this.#timer) return;
    this.#timer = setTimeout(() => this.#ready(), Math.max(0, this.#sentAt + FRAME_MS - performance.now()));
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#isSending = true;
  }

  #ready(): void {
    this.#timer = undefined;
    this.#isSending = false;
    this.#sendNext();
    this.#onReceived();
  }

  #sendNext(): void {
    if (!this.#next) return;
    this.#isSending = true;
    this.#sentAt = performance.now();
    this.#send(++this.#frame, this.#next);
    this.#next = undefined;
  }
}

/** Live views of the browsers' tabs for users. */
export class LiveViews {
  readonly #viewers = new Map<string, Viewer>();

  /** Shows a tab, or the current one, until the signal is aborted. Resolves to the reason if it ends before. Throws `NOT_FOUND`. */
  async show(browser: DrivenBrowser, { viewId, tabId, profile: _, ...size }: ViewParams, { signal, send }: ViewCall): Promise<string> {
    signal.throwIfAborted();
    let screencast: Screencast | undefined;
    const viewer = new Viewer(
      (frame, { tabId: currentTabId, picture }) => send('browser.frame', { viewId, frame, tabId: currentTabId, ...picture }),
      () => screencast?.continue(),
    );
    this.#viewers.set(viewId, viewer);
    const unsubscribe = browser.pageEvents.onDownload((download) => send('browser.downloaded', { viewId, download }));
    const closer = new AbortController();
    const stopSignal = AbortSignal.any([signal, closer.signal]);
    const aborted = once(stopSignal, 'abort').then(() => 'No viewers');
    const stopped = browser.closed.then(() => 'The browser was stopped');
    const fixedTab = tabId === undefined ? undefined : { tabId, page: browser.tab(tabId) };
    try {
      send('browser.viewing', { viewId, tabId: (fixedTab ?? browser.current)?.tabId ?? null });
      for (let attempts = 0; ;) {
        const tab = fixedTab ?? browser.current;
        const attempt = new AbortController();
        const ends = [aborted, stopped, ...watchForChange(browser, fixedTab?.page, AbortSignal.any([stopSignal, attempt.signal]))];
        try {
          const start = async (): Promise<null> => {
            if (!tab) return NEVER;
            const deadline = AbortSignal.any([AbortSignal.timeout(START_MS), attempt.signal]);
            const onPicture = (picture: ScreencastFrame): void => viewer.enqueue({ tabId: tab.tabId, picture });
            screencast = await withTimeout(Screencast.start(tab.page, size, onPicture, deadline), { ms: 2 * START_MS });
            if (attempt.signal.aborted) await screencast[Symbol.asyncDispose]();
            attempts = 0;
            return NEVER;
          };
          const reason = await Promise.race([...ends, start()]);
          if (reason !== null) return reason;
        } catch (error) {
          if (fixedTab?.page.isClosed()) return TAB_CLOSED;
          // A tab that is loading may not answer.
          if (tab && !tab.page.isClosed() && ++attempts < MAX_ATTEMPTS) continue;
          // If the tab was closed meanwhile, continue with the next one.
          if (fixedTab || browser.current?.page === tab?.page) throw toRpcError(error, 'Couldn’t show the tab');
        } finally {
          attempt.abort();
          await screencast?.[Symbol.asyncDispose]();
          screencast = undefined;
        }
      }
    } finally {
      closer.abort();
      unsubscribe();
      viewer.close();
      this.#viewers.delete(viewId);
    }
  }

  acknowledge(viewId: string, frame: number): void {
    this.#viewers.get(viewId)?.acknowledge(frame);
  }
}

/** Promises that resolve when a chosen tab's view ends, to the reason, or when the current tab changes, to null. */
function watchForChange(browser: DrivenBrowser, fixedTab: Page | undefined, signal: AbortSignal): Promise<string | null>[] {
  if (fixedTab)
    return [
      new Promise((resolve) => {
        const closed = (): void => resolve(TAB_CLOSED);
        fixedTab.on('close', closed);
        signal.addEventListener('abort', () => fixedTab.off('close', closed), { once: true });
      }),
    ];
  return [
    once(browser.changes, 'current', { signal }).then(
      () => null,
      () => NEVER,
    ),
  ];
}
