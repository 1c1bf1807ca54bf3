import type { CDPSession, Page } from 'playwright';

export interface ScreencastSize {
  maxWidth: number;
  maxHeight: number;
  quality: number;
}

export interface Picture {
  /** JPEG, base64. */
  data: string;
  width: number;
  height: number;
}

/** When nothing has come for so long, what is seen is asked for anew: Chromium leaves changes out while its pictures are not acknowledged, also the last one. */
const REFRESH_MS = 300;
/** When that shows nothing new, it is tried again after twice the time, up to this: a page that stands still costs little. */
const STILL_MS = 4800;

/** Pictures of one tab as it changes. Chromium goes on making them only while `more` is called. */
export class Screencast implements AsyncDisposable {
  readonly #session: CDPSession;
  readonly #size: ScreencastSize;
  #unacknowledged: number[] = [];
  #last = '';
  #refresh: NodeJS.Timeout | undefined;
  #refreshMs = REFRESH_MS;

  private constructor(session: CDPSession, size: ScreencastSize) {
    this.#session = session;
    this.#size = size;
  }

  /** Resolves once it has shown what there is; the signal gives it up before. */
  static async of(page: Page, size: ScreencastSize, show: (picture: Picture) => void, signal: AbortSignal): Promise<Screencast> {
    const session = await page.context().newCDPSession(page);
    const screencast = new Screencast(session, size);
    const first = Promise.withResolvers<void>();
    session.on('Page.screencastFrame', ({ data, metadata, sessionId }) => {
      clearTimeout(screencast.#refresh);
      screencast.#unacknowledged.push(sessionId);
      if (data === screencast.#last) return screencast.#nothingNew();
      screencast.#last = data;
      first.resolve();
      show({ data, width: metadata.deviceWidth, height: metadata.deviceHeight });
    });
    try {
      if (signal.aborted) throw signal.reason;
      signal.addEventListener('abort', () => first.reject(signal.reason), { once: true });
      await Promise.all([first.promise, screencast.#begin()]);
      return screencast;
    } catch (error) {
      await screencast[Symbol.asyncDispose]();
      throw error;
    }
  }

  more(): void {
    this.#refreshMs = REFRESH_MS;
    this.#acknowledge();
    this.#refreshSoon();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#refresh);
    // With the session goes what it began; the tab may be gone.
    await this.#session.detach().catch(() => {});
  }

  /** Pictures that look like the last hold up the next ones too, of which the last change may have been one. */
  #nothingNew(): void {
    this.#acknowledge();
    this.#refreshSoon();
    this.#refreshMs = Math.min(2 * this.#refreshMs, STILL_MS);
  }

  #acknowledge(): void {
    for (const sessionId of this.#unacknowledged) this.#session.send('Page.screencastFrameAck', { sessionId }).catch(() => {});
    this.#unacknowledged = [];
  }

  async #begin(): Promise<void> {
    // A tab that stands still may show nothing at first.
    this.#refreshSoon();
    await this.#session.send('Page.startScreencast', { format: 'jpeg', ...this.#size });
  }

  #refreshSoon(): void {
    clearTimeout(this.#refresh);
    this.#refresh = setTimeout(() => {
      this.#session
        .send('Page.stopScreencast')
        .then(() => this.#begin())
        .catch(() => {});
    }, this.#refreshMs);
  }
}
