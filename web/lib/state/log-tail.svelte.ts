import { MAX_LOG_LINES } from '#shared/rpc/log-level.ts';
import { isLost, type Problem, problemOf } from '#lib/errors.ts';
import { gateway } from '#lib/gateway/connection.svelte.ts';
import { m } from '#lib/i18n/pages.ts';
import { type ShownLine, shownLine } from '#lib/logs/lines.ts';

/** Lines that are held at the most while one follows: more than the gateway and the bridge keep. What is given up can be read again. */
const HELD = 20_000;
const LOOK_EVERY_MS = 1_000;

/** Lines that came in one answer, and the place in front of them. */
interface Piece {
  before: string;
  lines: readonly ShownLine[];
}

/** The log as it is written, and back as far as it is asked for. */
class LogTail {
  #pieces = $state.raw<readonly Piece[] | null>(null);
  /** Oldest first; null before the first answer. */
  readonly lines = $derived<readonly ShownLine[] | null>(this.#pieces?.flatMap(({ lines }) => lines) ?? null);
  components = $state.raw<readonly string[]>([]);
  paused = $state(false);
  /** Whether there may be lines in front of these. */
  hasOlder = $state(false);
  readingBack = $state(false);
  problem = $state<Problem | null>(null);
  #cursor: string | undefined;
  #newest = 0;
  #oldest = 0;
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

  /** Loads entries written since the last call. */
  async load(): Promise<void> {
    if (this.#reading) return;
    this.#reading = true;
    const shown = this.#shown;
    try {
      for (let full = true; full && !this.paused;) {
        const from = this.#cursor;
        const { lines, before, cursor } = await gateway.call('logs.tail', {
          ...{ json: true, limit: MAX_LOG_LINES },
          ...(from ? { cursor: from } : {}),
        });
        if (shown !== this.#shown) break;
        const told = lines.flatMap((line) => (typeof line === 'string' ? [] : [shownLine(line, ++this.#newest)]));
        this.#cursor = cursor;
        if (from === undefined) {
          this.#oldest = told.at(0)?.id ?? this.#newest + 1;
          this.#pieces = [{ before, lines: told }];
          this.hasOlder = told.length === MAX_LOG_LINES;
        } else if (told.length > 0) this.#add({ before, lines: told });
        this.#know(told);
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

  /** Reads back: all that there is, or until `enough`. Resolves to whether that came about; why not is the `problem`, or that the connection was lost. */
  async loadOlder(enough: () => boolean = () => false): Promise<boolean> {
    if (this.readingBack) return false;
    this.readingBack = true;
    const shown = this.#shown;
    try {
      while (this.hasOlder && !enough()) {
        const before = this.#pieces?.at(0)?.before;
        if (before === undefined) return false;
        const answer = await gateway.call('logs.tail', { json: true, limit: MAX_LOG_LINES, before });
        if (shown !== this.#shown) return false;
        const told = answer.lines.filter((line) => typeof line === 'object');
        const lines = told.map((line, at) => shownLine(line, this.#oldest - told.length + at));
        this.#oldest -= told.length;
        this.#pieces = [{ before: answer.before, lines }, ...(this.#pieces ?? [])];
        this.hasOlder = told.length === MAX_LOG_LINES;
        this.#know(lines);
      }
      this.problem = null;
      return true;
    } catch (error) {
      if (!isLost(error)) this.problem = problemOf(error, m.logs_doing_read());
      return false;
    } finally {
      this.readingBack = false;
    }
  }

  pause(): void {
    this.paused = !this.paused;
    if (!this.paused) void this.load();
  }

  #add(piece: Piece): void {
    const pieces = [...(this.#pieces ?? []), piece];
    let held = pieces.reduce((sum, { lines }) => sum + lines.length, 0);
    for (let first = pieces[0]; first && held - first.lines.length >= HELD; first = pieces[0]) {
      pieces.shift();
      held -= first.lines.length;
      this.#oldest = (first.lines.at(-1)?.id ?? this.#oldest) + 1;
      this.hasOlder = true;
    }
    this.#pieces = pieces;
  }

  /** Remembers which parts there are. */
  #know(lines: readonly ShownLine[]): void {
    const known = new Set([...this.components, ...lines.map(({ component }) => component)]);
    if (known.size > this.components.length) this.components = [...known].sort();
  }
}

export const logTail = new LogTail();
