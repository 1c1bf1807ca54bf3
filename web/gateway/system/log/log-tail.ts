import { isAtLeast, LOG_LEVELS, type LogLevel } from '#shared/rpc/log-level.ts';
import { logsPort } from '#shared/ports/system-port.ts';
import type { Bridge } from '../../ports/bridge-interface.ts';
import type { Clock } from '#shared/async/clock.ts';
import { withTimeout } from '#shared/async/watchdog.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import type { LogRecord } from '../../storage/records/log-record.ts';
import type { Log } from './log.ts';

/** Time after which the bridge's lines are left out. */
const BRIDGE_TIMEOUT_MS = 2_000;
const CHUNK_SIZE = 500;

export type LogEntry = Omit<LogRecord, 'seq'>;

/** A position in a log: the log's id and the number of the last line that was read. */
interface LogPosition {
  log: string;
  number: number;
}

interface NumberedEntry {
  number: number;
  line: LogEntry;
}

/** Lines of one log, oldest first. `position`: the position after all lines that were examined. */
interface LogChunk {
  lines: NumberedEntry[];
  position: LogPosition;
}

/** Lines with the positions before and after them. */
interface LogPage {
  lines: LogEntry[];
  cursor: string;
  before: string;
}

/** A log that is read together with another. */
interface LogSource {
  newest(limit: number, level: LogLevel): Promise<LogChunk>;
  /** The first lines after a position, or the newest if the position is in another log. */
  after(position: LogPosition, limit: number): Promise<LogChunk>;
  /** The last lines before a position; none if the position is in another log. */
  before(position: LogPosition, limit: number): Promise<LogChunk>;
}

export interface LogTailDeps {
  log: Log;
  vault: Pick<Vault, 'logs' | 'replica'>;
  bridge: Bridge;
  clock: Clock;
}

/** Reads the gateway's log and the bridge's log as one, ordered by time. */
export class LogTail {
  readonly #deps: LogTailDeps;
  #path: string | undefined;

  constructor(deps: LogTailDeps) {
    this.#deps = deps;
  }

  /** Path of the bridge's log file, as of the last read. */
  get path(): string | undefined {
    return this.#deps.bridge.provides(logsPort) ? this.#path : undefined;
  }

  /** The newest lines of a level and above. */
  async newest(limit: number, level: LogLevel, signal: AbortSignal): Promise<LogPage> {
    const [own, bridge] = await Promise.all([
      this.#createOwnSource().newest(limit, level),
      this.#createBridgeSource(NO_POSITION, signal).newest(limit, level),
    ]);
    const lines = mergeByTime(own, bridge).slice(-limit);
    const getFront = (part: LogChunk): LogPosition => getFrontPosition(part, lines, { ...part.position, number: part.position.number + 1 });
    return {
      lines: toEntries(lines),
      cursor: formatCursor(own.position, bridge.position),
      before: formatCursor(getFront(own), getFront(bridge)),
    };
  }

  /** The last lines before a position. Continuing from the returned position skips and repeats none. */
  async before(cursor: string, limit: number, signal: AbortSignal): Promise<LogPage> {
    const [position, bridgePosition] = parseCursor(cursor);
    const [own, bridge] = await Promise.all([
      this.#createOwnSource().before(position, limit),
      this.#createBridgeSource(bridgePosition, signal).before(bridgePosition, limit),
    ]);
    const lines = mergeByTime(own, bridge).slice(-limit);
    const stepBack = ({ log, number }: LogPosition): LogPosition => ({ log, number: Math.max(0, number - 1) });
    return {
      lines: toEntries(lines),
      cursor: formatCursor(stepBack(position), stepBack(bridgePosition)),
      before: formatCursor(getFrontPosition(own, lines, position), getFrontPosition(bridge, lines, bridgePosition)),
    };
  }

  /** The first lines after a cursor. Continuing from the returned cursor skips and repeats none. */
  async after(cursor: string, limit: number, signal: AbortSignal): Promise<LogPage> {
    const [position, bridgePosition] = parseCursor(cursor);
    const [own, bridge] = await Promise.all([
      this.#createOwnSource().after(position, limit),
      this.#createBridgeSource(bridgePosition, signal).after(bridgePosition, limit),
    ]);
    const lines = mergeByTime(own, bridge).slice(0, limit);
    const upTo = ({ lines: all, position }: LogChunk, before: LogPosition): LogPosition => {
      const included = all.filter((line) => lines.includes(line));
      if (included.length === all.length) return position;
      const number = included.at(-1)?.number ?? (all.at(0)?.number ?? 1) - 1;
      return { log: position.log, number: before.log === position.log ? Math.max(before.number, number) : number };
    };
    const [end, bridgeEnd] = [upTo(own, position), upTo(bridge, bridgePosition)];
    const getFront = (part: LogChunk, from: LogPosition, to: LogPosition): LogPosition =>
      part.position.log === from.log
        ? { ...from, number: from.number + 1 }
        : getFrontPosition(part, lines, { ...to, number: to.number + 1 });
    return {
      lines: toEntries(lines),
      cursor: formatCursor(end, bridgeEnd),
      before: formatCursor(getFront(own, position, end), getFront(bridge, bridgePosition, bridgeEnd)),
    };
  }

  #createOwnSource(): LogSource {
    const { log, vault } = this.#deps;
    const { logs, replica } = vault;
    const toNumbered = (records: readonly LogRecord[]): NumberedEntry[] => records.map(({ seq, ...line }) => ({ number: seq, line }));
    const unstored = (from: number, to: number): LogRecord[] => log.unstored.filter(({ seq }) => seq >= from && seq < to);
    /** Read unstored lines first: they may be stored in the meantime, and then are in both. */
    const read = async (from: number, to: number, limit: number): Promise<LogRecord[]> => {
      const unstoredLines = unstored(from, to);
      const stored = await logs.range(from, to, limit);
      const last = stored.at(-1)?.seq ?? 0;
      return [...stored, ...unstoredLines.filter(({ seq }) => seq > last)].slice(0, limit);
    };
    const span = async (): Promise<{ first: number; last: number }> => {
      await log.flush();
      const unstoredLines = log.unstored;
      const stored = await logs.span().catch(() => null);
      return {
        first: stored?.first ?? unstoredLines.at(0)?.seq ?? 1,
        last: Math.max(stored?.last ?? 0, unstoredLines.at(-1)?.seq ?? 0),
      };
    };
    /** The last lines of a level before a line. */
    const readBackwards = async (first: number, end: number, limit: number, level: LogLevel): Promise<NumberedEntry[]> => {
      let found: LogRecord[] = [];
      for (let to = end; to > first && found.length < limit; to -= CHUNK_SIZE) {
        const from = Math.max(first, to - CHUNK_SIZE);
        // The log should be readable when the database is not: that may be its subject.
        const chunk = await read(from, to, CHUNK_SIZE).catch(() => unstored(from, to));
        found = [...chunk.filter((record) => isAtLeast(record.level, level)), ...found];
      }
      return toNumbered(found.slice(-limit));
    };
    const newest: LogSource['newest'] = async (limit, level) => {
      const { first, last } = await span();
      return { lines: await readBackwards(first, last + 1, limit, level), position: { log: replica, number: last } };
    };
    return {
      newest,
      async before(position, limit) {
        if (position.log !== replica) return { lines: [], position };
        const { first, last } = await span();
        return { lines: await readBackwards(first, Math.min(position.number, last + 1), limit, LOG_LEVELS[0]), position };
      },
      async after(position, limit) {
        const { last } = await span();
        // A log that is shorter than before was cleared.
        if (position.log !== replica || position.number > last) return newest(limit, LOG_LEVELS[0]);
        const records = await read(position.number + 1, last + 1, limit);
        return { lines: toNumbered(records), position: { log: replica, number: records.at(-1)?.seq ?? position.number } };
      },
    };
  }

  /** `position`: position to keep while the bridge does not respond. */
  #createBridgeSource(position: LogPosition, signal: AbortSignal): LogSource {
    const { log, bridge, clock } = this.#deps;
    const read = async (params: { ring?: string; after?: number; before?: number; limit: number; level?: LogLevel }): Promise<LogChunk> => {
      if (!bridge.provides(logsPort)) return { lines: [], position };
      try {
        const answer = await withTimeout(clock, BRIDGE_TIMEOUT_MS, signal, (ends) =>
          bridge.call(logsPort, 'logs.read', params, { signal: ends }),
        );
        this.#path = answer.path;
        const redactor = await log.redactor();
        const lines = answer.lines.map(({ number, message, ...line }) => ({
          number,
          line: { ...line, component: 'bridge', message: redactor.text(message) },
        }));
        const last = params.after === undefined ? answer.last : (lines.at(-1)?.number ?? (answer.ring === params.ring ? params.after : 0));
        return { lines, position: { log: answer.ring, number: last } };
      } catch {
        signal.throwIfAborted();
        return { lines: [], position };
      }
    };
    return {
      newest: (limit, level) => read({ limit, level }),
      after: ({ log: ring, number }, limit) => read(ring === '' ? { limit } : { ring, after: number, limit }),
      before: ({ log: ring, number }, limit) => read({ ring, before: number, limit }),
    };
  }
}

const NO_POSITION: LogPosition = { log: '', number: 0 };

/** Merges two logs by time, keeping the order within each log whatever its clock did. */
function mergeByTime(a: LogChunk, b: LogChunk): NumberedEntry[] {
  const all: NumberedEntry[] = [];
  let [i, j] = [0, 0];
  for (;;) {
    const [left, right] = [a.lines[i], b.lines[j]];
    if (!left && !right) return all;
    if (left && (!right || left.line.at <= right.line.at)) [all[all.length], i] = [left, i + 1];
    else if (right) [all[all.length], j] = [right, j + 1];
  }
}

const toEntries = (lines: readonly NumberedEntry[]): LogEntry[] => lines.map(({ line }) => line);

/** The position before the returned lines of a log; `fallback` if there are none. */
function getFrontPosition(part: LogChunk, returned: readonly NumberedEntry[], fallback: LogPosition): LogPosition {
  const first = part.lines.find((line) => returned.includes(line));
  return first ? { log: part.position.log, number: first.number } : fallback;
}

const formatCursor = (own: LogPosition, bridge: LogPosition): string => [own.log, own.number, bridge.log, bridge.number].join('.');

/** The contract has checked the format. */
function parseCursor(cursor: string): [own: LogPosition, bridge: LogPosition] {
  const [log = '', number, ring = '', line] = cursor.split('.');
  return [
    { log, number: Number(number) },
    { log: ring, number: Number(line) },
  ];
}
