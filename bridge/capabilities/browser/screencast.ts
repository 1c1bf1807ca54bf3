import type { CDPSession, Page } from 'playwright';

interface ScreencastSize {
  maxWidth: number;
  maxHeight: number;
  quality: number;
}

export interface ScreencastFrame {
  /** JPEG in base64. */
  data: string;
  width: number;
  height: number;
}

/**
 * Time without a picture after which a new one is requested: while pictures are unacknowledged, Chromium skips changes, even the last one.
 */
const REFRESH_MS = 300;
/** Maximum interval of these requests, which doubles while nothing changes, to save work on static pages. */
const MAX_REFRESH_MS = 4800;

/** Pictures of a tab as it changes. Chromium only continues while `continue` is called. */
export class Screencast implements AsyncDisposable {
  readonly #session: CDPSession;
  readonly #size: ScreencastSize;
  #unacknowledged: number[] = [];
  #last = '';
  #refreshTimer: NodeJS.Timeout | undefined;
  #refreshMs = REFRESH_MS;

  private constructor(session: CDPSession, size: ScreencastSize) {
    this.#session = session;
    this.#size = size;
  }

  /** Resolves once the first picture was shown. `signal` aborts the start. */
  static async start(
    page: Page,
    size: ScreencastSize,
    onFrame: (picture: ScreencastFrame) => void,
    signal: AbortSignal,
  ): Promise<Screencast> {
    const session = await page.context().newCDPSession(page);
    const screencast = new Screencast(session, size);
    const first = Promise.withResolvers<void>();
    session.on('Page.screencastFrame', ({ data, metadata, sessionId }) => {
      clearTimeout(screencast.#refreshTimer);
      screencast.#unacknowledged.push(sessionId);
      if (data === screencast.#last) return screencast.#onUnchanged();
      screencast.#last = data;
      first.resolve();
      onFrame({ data, width: metadata.deviceWidth, height: metadata.deviceHeight });
    });
    try {
      if (signal.aborted) throw signal.reason;
      signal.addEventListener('abort', () => first.reject(signal.reason), { once: true });
      await Promise.all([first.promise, screencast.#start()]);
      return screencast;
    } catch (error) {
      await screencast[Symbol.asyncDispose]();
      throw error;
    }
  }

  continue(): void {
    this.#refreshMs = REFRESH_MS;
    this.#acknowledge();
    this.#scheduleRefresh();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#refreshTimer);
    // Closing the session ends its screencast; the tab may be gone.
    await this.#session.detach().catch(() => {});
  }

  /** Acknowledges identical pictures too, since they would block the next ones, including the last change. */
  #onUnchanged(): void {
    this.#acknowledge();
    this.#scheduleRefresh();
    this.#refreshMs = Math.min(2 * this.#refreshMs, MAX_REFRESH_MS);
  }

  #acknowledge(): void {
    for (const sessionId of this.#unacknowledged) this.#session.send('Page.screencastFrameAck', { sessionId }).catch(() => {});
    this.#unacknowledged = [];
  }

  async #start(): Promise<void> {
    // A static tab may send no picture at first.
    this.#scheduleRefresh();
    await this.#session.send('Page.startScreencast', { format: 'jpeg', ...this.#size });
  }

  #scheduleRefresh(): void {
    clearTimeout(this.#refreshTimer);
    this.#refreshTimer = setTimeout(() => {
      this.#session
        .send('Page.stopScreencast')
        .then(() => this.#start())
        .catch(() => {});
    }, this.#refreshMs);
  }
}
