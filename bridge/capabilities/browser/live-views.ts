import { once } from 'node:events';
import type { Page } from 'playwright';
import type { browserPort } from '#shared/ports/browser.ts';
import type { ParsedOf } from '#shared/rpc/contract.ts';
import type { PortCall } from '../../server/serve-port.ts';
import type { DrivenBrowser } from './driven-browser.ts';
import { inTime, told } from './page-answers.ts';
import { type Picture, Screencast } from './screencast.ts';

/** Minimum time between frames: five per second. */
const FRAME_MS = 200;
/** Timeout and maximum number of attempts to show a tab. */
const BEGIN_MS = 1500;
const TRIES = 6;
const TAB_CLOSED = 'The tab was closed';

const never = new Promise<never>(() => {});

type Asked = ParsedOf<(typeof browserPort)['calls']['browser.view']>;
type Call = PortCall<(typeof browserPort)['events']>;

interface Shown {
  tabId: string;
  picture: Picture;
}

/** Sends pictures to one viewer: the next one only after the last was received, skipping all but the newest. */
class Viewer {
  readonly #send: (frame: number, shown: Shown) => void;
  /** Called when the viewer has received a frame. */
  readonly #more: () => void;
  #frame = 0;
  #sentAt = 0;
  #underWay = false;
  #next: Shown | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(send: (frame: number, shown: Shown) => void, more: () => void) {
    this.#send = send;
    this.#more = more;
  }

  show(shown: Shown): void {
    this.#next = shown;
    if (!this.#underWay) this.#go();
  }

  seen(frame: number): void {
    if (!this.#underWay || frame !== this.#frame || this.#timer) return;
    this.#timer = setTimeout(() => this.#ready(), Math.max(0, this.#sentAt + FRAME_MS - performance.now()));
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#underWay = true;
  }

  #ready(): void {
    this.#timer = undefined;
    this.#underWay = false;
    this.#go();
    this.#more();
  }

  #go(): void {
    if (!this.#next) return;
    this.#underWay = true;
    this.#sentAt = performance.now();
    this.#send(++this.#frame, this.#next);
    this.#next = undefined;
  }
}

/** Live views of the browsers' tabs for users. */
export class LiveViews {
  readonly #viewers = new Map<string, Viewer>();

  /** Shows a tab, or the current one, until the signal is aborted. Resolves to the reason if it ends before. Throws `NOT_FOUND`. */
  async show(browser: DrivenBrowser, { viewId, tabId, profile: _, ...size }: Asked, { signal, send }: Call): Promise<string> {
    signal.throwIfAborted();
    let screencast: Screencast | undefined;
    const viewer = new Viewer(
      (frame, { tabId: of, picture }) => send('browser.frame', { viewId, frame, tabId: of, ...picture }),
      () => screencast?.more(),
    );
    this.#viewers.set(viewId, viewer);
    const stopTelling = browser.happenings.onDownload((download) => send('browser.downloaded', { viewId, download }));
    const over = new AbortController();
    const enough = AbortSignal.any([signal, over.signal]);
    const aborted = once(enough, 'abort').then(() => 'No viewers');
    const stopped = browser.closed.then(() => 'The browser was stopped');
    const chosen = tabId === undefined ? undefined : { tabId, page: browser.tab(tabId) };
    try {
      send('browser.viewing', { viewId, tabId: (chosen ?? browser.current)?.tabId ?? null });
      for (let tries = 0; ;) {
        const tab = chosen ?? browser.current;
        const turn = new AbortController();
        const ends = [aborted, stopped, ...turns(browser, chosen?.page, AbortSignal.any([enough, turn.signal]))];
        try {
          const begin = async (): Promise<null> => {
            if (!tab) return never;
            const late = AbortSignal.any([AbortSignal.timeout(BEGIN_MS), turn.signal]);
            const show = (picture: Picture): void => viewer.show({ tabId: tab.tabId, picture });
            screencast = await inTime(Screencast.of(tab.page, size, show, late), { ms: 2 * BEGIN_MS });
            if (turn.signal.aborted) await screencast[Symbol.asyncDispose]();
            tries = 0;
            return never;
          };
          const why = await Promise.race([...ends, begin()]);
          if (why !== null) return why;
        } catch (error) {
          if (chosen?.page.isClosed()) return TAB_CLOSED;
          // A tab that is loading may not answer.
          if (tab && !tab.page.isClosed() && ++tries < TRIES) continue;
          // If the tab was closed meanwhile, continue with the next one.
          if (chosen || browser.current?.page === tab?.page) throw told(error, 'Couldn’t show the tab');
        } finally {
          turn.abort();
          await screencast?.[Symbol.asyncDispose]();
          screencast = undefined;
        }
      }
    } finally {
      over.abort();
      stopTelling();
      viewer.stop();
      this.#viewers.delete(viewId);
    }
  }

  seen(viewId: string, frame: number): void {
    this.#viewers.get(viewId)?.seen(frame);
  }
}

/** Promises that resolve when a chosen tab's view ends, to the reason, or when the current tab changes, to null. */
function turns(browser: DrivenBrowser, chosen: Page | undefined, signal: AbortSignal): Promise<string | null>[] {
  if (chosen)
    return [
      new Promise((resolve) => {
        const closed = (): void => resolve(TAB_CLOSED);
        chosen.on('close', closed);
        signal.addEventListener('abort', () => chosen.off('close', closed), { once: true });
      }),
    ];
  return [
    once(browser.changes, 'current', { signal }).then(
      () => null,
      () => never,
    ),
  ];
}
