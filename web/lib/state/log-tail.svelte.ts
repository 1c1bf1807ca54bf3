import { MAX_LOG_LINES } from '#shared/rpc/log-level.ts';
import { isLost, type Problem, problemOf } from '#lib/errors.ts';
import { gateway } from '#lib/gateway/connection.svelte.ts';
import { m } from '#lib/i18n/pages.ts';
import { type ShownLine, shownLine } from '#lib/logs/lines.ts';

/** As many as the gateway keeps. */
const KEPT = 10_000;
const LOOK_EVERY_MS = 1_000;

/** The log as it is written. */
class LogTail {
  /** Oldest first; null before the first answer. */
  lines = $state.raw<readonly ShownLine[] | null>(null);
  components = $state.raw<readonly string[]>([]);
  paused = $state(false);
  problem = $state<Problem | null>(null);
  #cursor: string | undefined;
  #count = 0;
  #reading = false;
  #shown = 0;

  /** Reads the newest lines, and then each as it comes; the result stops it. */
  show(): () => void {
    // Another connection may be to another host, whose log is another.
    this.#shown++;
    this.#cursor = undefined;
    void this.load();
    const timer = setInterval(() => void (document.hidden || this.paused || gateway.state !== 'online' || this.load()), LOOK_EVERY_MS);
    return () => clearInterval(timer);
  }

  /** What has come since. */
  async load(): Promise<void> {
    if (this.#reading) return;
    this.#reading = true;
    const shown = this.#shown;
    try {
      for (let full = true; full && !this.paused;) {
        const from = this.#cursor;
        const { lines, cursor } = await gateway.call('logs.tail', { json: true, limit: MAX_LOG_LINES, ...(from ? { cursor: from } : {}) });
        if (shown !== this.#shown) break;
        const told = lines.flatMap((line) => (typeof line === 'string' ? [] : [shownLine(line, ++this.#count)]));
        this.#cursor = cursor;
        if (from === undefined) this.lines = told;
        else if (told.length > 0) this.lines = [...(this.lines ?? []), ...told].slice(-KEPT);
        const known = new Set([...this.components, ...told.map(({ component }) => component)]);
        if (known.size > this.components.length) this.components = [...known].sort();
        full = from !== undefined && told.length === MAX_LOG_LINES;
      }
      this.problem = null;
    } catch (error) {
      if (!isLost(error)) this.problem = problemOf(error, m.logs_doing_read());
    } finally {
      this.#reading = false;
    }
    if (shown !== this.#shown) void this.load();
  }

  pause(): void {
    this.paused = !this.paused;
    if (!this.paused) void this.load();
  }
}

export const logTail = new LogTail();
