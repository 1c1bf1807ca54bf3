import { fromBase64 } from '#shared/base64.ts';
import type { EventPayload } from '#shared/rpc/events.ts';
import { isConnectionLost, type Problem, toProblem } from '#kit/problems.ts';
import { gateway } from '#app/connection/gateway-connection.svelte.ts';
import { m } from '#app/i18n/messages.ts';

type Frame = EventPayload<'browser.frame'>;

/** Live view of a tab of a driven browser, drawn onto a canvas (`browser.watch`). */
export class LiveView {
  state = $state<'off' | 'beginning' | 'live' | 'ended'>('off');
  /** Reason why it ended, if the user did not end it. */
  reason = $state<string | null>(null);
  problem = $state.raw<Problem | null>(null);
  /** Visible size of the page, in its own pixels. */
  size = $state.raw<{ width: number; height: number } | null>(null);
  /** Id of the tab in the last frame. */
  tabId = $state<string | null>(null);
  #canvas: HTMLCanvasElement | null = null;
  readonly #onDownload: (download: EventPayload<'browser.downloaded'>['download']) => void;

  /** `ondownload`: called when a page has downloaded a file. */
  constructor(ondownload: (download: EventPayload<'browser.downloaded'>['download']) => void) {
    this.#onDownload = ondownload;
  }

  /** An attachment for the canvas that shows the frames. */
  readonly attachCanvas = (canvas: HTMLCanvasElement): (() => void) => {
    this.#canvas = canvas;
    return () => (this.#canvas = null);
  };

  /** Watches the current tab of a profile's browser. Returns a function that stops it. */
  watch(profile: string): () => void {
    let isStopped = false;
    this.state = 'beginning';
    this.reason = null;
    this.problem = null;
    const stops = [
      gateway.on('browser.frame', (frame) => {
        if (frame.profile === profile) void this.#draw(frame, () => isStopped);
      }),
      gateway.on('browser.downloaded', ({ profile: source, download }) => source === profile && this.#onDownload(download)),
      gateway.on('browser.unwatched', ({ profile: source, reason }) => {
        if (source !== profile) return;
        this.state = 'ended';
        this.reason = reason;
      }),
    ];
    gateway.call('browser.watch', { profile }).catch((error: unknown) => {
      if (isStopped || isConnectionLost(error)) return;
      this.state = 'ended';
      this.problem = toProblem(error, m.browser_doing_show());
    });
    return () => {
      isStopped = true;
      for (const stop of stops) stop();
      if (this.state !== 'ended') this.state = 'off';
      // Without a connection the view has already ended.
      if (gateway.state === 'online') gateway.call('browser.unwatch', { profile }).catch(() => {});
    };
  }

  async #draw({ profile, frame, data, tabId, width, height }: Frame, isStopped: () => boolean): Promise<void> {
    try {
      const picture = await createImageBitmap(new Blob([fromBase64(data)], { type: 'image/jpeg' }));
      const canvas = this.#canvas;
      if (canvas && !isStopped()) {
        [canvas.width, canvas.height] = [picture.width, picture.height];
        canvas.getContext('2d')?.drawImage(picture, 0, 0);
        this.size = { width, height };
        this.tabId = tabId;
        this.state = 'live';
      }
      picture.close();
    } finally {
      // The gateway sends the next frame only after this confirmation.
      if (!isStopped()) gateway.call('browser.seen', { profile, frame }).catch(() => {});
    }
  }
}
