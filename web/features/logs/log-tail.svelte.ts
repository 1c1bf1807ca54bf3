import { MAX_LOG_LINES } from '#shared/rpc/log-level.ts';
import { isConnectionLost, type Problem, toProblem } from '#kit/problems.ts';
import { gateway } from '#app/connection/gateway-connection.svelte.ts';
import { m } from '#app/i18n/messages.ts';
import { type LogRow, toLogRow } from './log-lines.ts';

/** Maximum number of loaded lines while the log is followed: more than gateway and bridge store. Dropped lines can be loaded again. */
const MAX_LINES = 20_000;
const POLL_MS = 1_000;

/** Lines of one response, and the cursor before them. */
interface LogChunk {
  before: string;
  lines: readonly LogRow[];
}

/** The log as it is written, and older lines on request. */
class LogTail {
  #chunks = $state.raw<readonly LogChunk[] | null>(null);
  /** Oldest first; null before the first answer. */
  readonly lines = $derived<readonly LogRow[] | null>(this.#chunks?.flatMap(({ lines }) => lines) ?? null);
  components = $state.raw<readonly string[]>([]);
  paused = $state(false);
  /** Whether there may be older lines. */
  hasOlder = $state(false);
  isLoadingOlder = $state(false);
  problem = $state<Problem | null>(null);
  #cursor: string | undefined;
  #newest = 0;
  #oldest = 0;
  #isLoading = false;
  #watcherCount = 0;

  /** Loads the newest lines and follows the log. Returns a function that stops it. */
  watch(): () => void {
    // A new connection may be to another host with its own log.
    this.#watcherCount++;
    this.#cursor = undefined;
    void this.load();
    const timer = setInterval(() => void (document.hidden || this.paused || gateway.state !== 'online' || this.load()), POLL_MS);
    return () => clearInterval(timer);
  }

  /** Loads entries written since the last call. */
  async load(): Promise<void> {
    if (this.#isLoading) return;
    this.#isLoading = true;
    const watcherCount = this.#watcherCount;
    try {
      for (let full = true; full && !this.paused;) {
        const from = this.#cursor;
        const { lines, before, cursor } = await gateway.call('logs.tail', {
          ...{ json: true, limit: MAX_LOG_LINES },
          ...(from ? { cursor: from } : {}),
        });
        if (watcherCount !== this.#watcherCount) break;
        const rows = lines.flatMap((line) => (typeof line === 'string' ? [] : [toLogRow(line, ++this.#newest)]));
        this.#cursor = cursor;
        if (from === undefined) {
          this.#oldest = rows.at(0)?.id ?? this.#newest + 1;
          this.#chunks = [{ before, lines: rows }];
          this.hasOlder = rows.length === MAX_LOG_LINES;
        } else if (rows.length > 0) this.#addChunk({ before, lines: rows });
        this.#addComponents(rows);
        full = from !== undefined && rows.length === MAX_LOG_LINES;
      }
      this.problem = null;
    } catch (error) {
      if (!isConnectionLost(error)) this.problem = toProblem(error, m.logs_doing_read());
    } finally {
      this.#isLoading = false;
    }
    if (watcherCount !== this.#watcherCount) void this.load();
  }

  /** Loads older lines, all or until `enough`. Resolves to false if that failed, with the reason in `problem` unless the connection was lost. */
  async loadOlder(enough: () => boolean = () => false): Promise<boolean> {
    if (this.isLoadingOlder) return false;
    this.isLoadingOlder = true;
    const watcherCount = this.#watcherCount;
    try {
      while (this.hasOlder && !enough()) {
        const before = this.#chunks?.at(0)?.before;
        if (before === undefined) return false;
        const result = await gateway.call('logs.tail', { json: true, limit: MAX_LOG_LINES, before });
        if (watcherCount !== this.#watcherCount) return false;
        const entries = result.lines.filter((line) => typeof line === 'object');
        const lines = entries.map((line, index) => toLogRow(line, this.#oldest - entries.length + index));
        this.#oldest -= entries.length;
        this.#chunks = [{ before: result.before, lines }, ...(this.#chunks ?? [])];
        this.hasOlder = entries.length === MAX_LOG_LINES;
        this.#addComponents(lines);
      }
      this.problem = null;
      return true;
    } catch (error) {
      if (!isConnectionLost(error)) this.problem = toProblem(error, m.logs_doing_read());
      return false;
    } finally {
      this.isLoadingOlder = false;
    }
  }

  pause(): void {
    this.paused = !this.paused;
    if (!this.paused) void this.load();
  }

  #addChunk(chunk: LogChunk): void {
    const chunks = [...(this.#chunks ?? []), chunk];
    let lineCount = chunks.reduce((sum, { lines }) => sum + lines.length, 0);
    for (let first = chunks[0]; first && lineCount - first.lines.length >= MAX_LINES; first = chunks[0]) {
      chunks.shift();
      lineCount -= first.lines.length;
      this.#oldest = (first.lines.at(-1)?.id ?? this.#oldest) + 1;
      this.hasOlder = true;
    }
    this.#chunks = chunks;
  }

  /** Adds the components of these lines to the list. */
  #addComponents(lines: readonly LogRow[]): void {
    const names = new Set([...this.components, ...lines.map(({ component }) => component)]);
    if (names.size > this.components.length) this.components = [...names].sort();
  }
}

export const logTail = new LogTail();
