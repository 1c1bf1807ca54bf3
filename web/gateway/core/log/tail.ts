import { isAtLeast, LOG_LEVELS, type LogLevel } from '#shared/rpc/log-level.ts';
import { logsPort } from '#shared/ports/system.ts';
import type { Bridge } from '../bridge.ts';
import type { Clock } from '../clock.ts';
import { withTimeout } from '../providers/watchdog.ts';
import type { LogRecord, Vault } from '../vault.ts';
import type { Log } from './log.ts';

/** Time after which the bridge's lines are left out. */
const BRIDGE_MS = 2_000;
const CHUNK = 500;

export type Told = Omit<LogRecord, 'seq'>;

/** A position in a log: the log's id and the number of the last line that was read. */
interface Place {
  log: string;
  number: number;
}

interface Numbered {
  number: number;
  line: Told;
}

/** Lines of one log, oldest first. `place`: the position after all lines that were examined. */
interface Part {
  lines: Numbered[];
  place: Place;
}

/** Lines with the positions before and after them. */
export interface Answer {
  lines: Told[];
  cursor: string;
  before: string;
}

/** A log that is read together with another. */
interface Source {
  newest(limit: number, level: LogLevel): Promise<Part>;
  /** The first lines after a position, or the newest if the position is in another log. */
  after(place: Place, limit: number): Promise<Part>;
  /** The last lines before a position; none if the position is in another log. */
  before(place: Place, limit: number): Promise<Part>;
}

export interface TailDeps {
  log: Log;
  vault: Pick<Vault, 'logs' | 'replica'>;
  bridge: Bridge;
  clock: Clock;
}

/** Reads the gateway's log and the bridge's log as one, ordered by time. */
export class Tail {
  readonly #deps: TailDeps;
  #path: string | undefined;

  constructor(deps: TailDeps) {
    this.#deps = deps;
  }

  /** Path of the bridge's log file, as of the last read. */
  get path(): string | undefined {
    return this.#deps.bridge.lends(logsPort) ? this.#path : undefined;
  }

  /** The newest lines of a level and above. */
  async newest(limit: number, level: LogLevel, signal: AbortSignal): Promise<Answer> {
    const [own, bridge] = await Promise.all([this.#own().newest(limit, level), this.#bridge(NOWHERE, signal).newest(limit, level)]);
    const lines = merged(own, bridge).slice(-limit);
    const front = (part: Part): Place => frontOf(part, lines, { ...part.place, number: part.place.number + 1 });
    return { lines: toldOf(lines), cursor: placesAt(own.place, bridge.place), before: placesAt(front(own), front(bridge)) };
  }

  /** The last lines before a position. Continuing from the returned position skips and repeats none. */
  async before(place: string, limit: number, signal: AbortSignal): Promise<Answer> {
    const [at, bridgeAt] = placesIn(place);
    const [own, bridge] = await Promise.all([this.#own().before(at, limit), this.#bridge(bridgeAt, signal).before(bridgeAt, limit)]);
    const lines = merged(own, bridge).slice(-limit);
    const behind = ({ log, number }: Place): Place => ({ log, number: Math.max(0, number - 1) });
    return {
      lines: toldOf(lines),
      cursor: placesAt(behind(at), behind(bridgeAt)),
      before: placesAt(frontOf(own, lines, at), frontOf(bridge, lines, bridgeAt)),
    };
  }

  /** The first lines after a cursor. Continuing from the returned cursor skips and repeats none. */
  async after(cursor: string, limit: number, signal: AbortSignal): Promise<Answer> {
    const [at, bridgeAt] = placesIn(cursor);
    const [own, bridge] = await Promise.all([this.#own().after(at, limit), this.#bridge(bridgeAt, signal).after(bridgeAt, limit)]);
    const lines = merged(own, bridge).slice(0, limit);
    const upTo = ({ lines: all, place }: Part, before: Place): Place => {
      const taken = all.filter((line) => lines.includes(line));
      if (taken.length === all.length) return place;
      const number = taken.at(-1)?.number ?? (all.at(0)?.number ?? 1) - 1;
      return { log: place.log, number: before.log === place.log ? Math.max(before.number, number) : number };
    };
    const [end, bridgeEnd] = [upTo(own, at), upTo(bridge, bridgeAt)];
    const front = (part: Part, from: Place, to: Place): Place =>
      part.place.log === from.log ? { ...from, number: from.number + 1 } : frontOf(part, lines, { ...to, number: to.number + 1 });
    return {
      lines: toldOf(lines),
      cursor: placesAt(end, bridgeEnd),
      before: placesAt(front(own, at, end), front(bridge, bridgeAt, bridgeEnd)),
    };
  }

  #own(): Source {
    const { log, vault } = this.#deps;
    const { logs, replica } = vault;
    const numbered = (records: readonly LogRecord[]): Numbered[] => records.map(({ seq, ...line }) => ({ number: seq, line }));
    const unstored = (from: number, to: number): LogRecord[] => log.unstored.filter(({ seq }) => seq >= from && seq < to);
    /** Read unstored lines first: they may be stored in the meantime, and then are in both. */
    const read = async (from: number, to: number, limit: number): Promise<LogRecord[]> => {
      const waiting = unstored(from, to);
      const stored = await logs.range(from, to, limit);
      const last = stored.at(-1)?.seq ?? 0;
      return [...stored, ...waiting.filter(({ seq }) => seq > last)].slice(0, limit);
    };
    const span = async (): Promise<{ first: number; last: number }> => {
      await log.flush();
      const waiting = log.unstored;
      const stored = await logs.span().catch(() => null);
      return {
        first: stored?.first ?? waiting.at(0)?.seq ?? 1,
        last: Math.max(stored?.last ?? 0, waiting.at(-1)?.seq ?? 0),
      };
    };
    /** The last lines of a level before a line. */
    const back = async (first: number, end: number, limit: number, level: LogLevel): Promise<Numbered[]> => {
      let found: LogRecord[] = [];
      for (let to = end; to > first && found.length < limit; to -= CHUNK) {
        const from = Math.max(first, to - CHUNK);
        // The log should be readable when the database is not: that may be its subject.
        const chunk = await read(from, to, CHUNK).catch(() => unstored(from, to));
        found = [...chunk.filter((record) => isAtLeast(record.level, level)), ...found];
      }
      return numbered(found.slice(-limit));
    };
    const newest: Source['newest'] = async (limit, level) => {
      const { first, last } = await span();
      return { lines: await back(first, last + 1, limit, level), place: { log: replica, number: last } };
    };
    return {
      newest,
      async before(place, limit) {
        if (place.log !== replica) return { lines: [], place };
        const { first, last } = await span();
        return { lines: await back(first, Math.min(place.number, last + 1), limit, LOG_LEVELS[0]), place };
      },
      async after(place, limit) {
        const { last } = await span();
        // A log that is shorter than before was cleared.
        if (place.log !== replica || place.number > last) return newest(limit, LOG_LEVELS[0]);
        const records = await read(place.number + 1, last + 1, limit);
        return { lines: numbered(records), place: { log: replica, number: records.at(-1)?.seq ?? place.number } };
      },
    };
  }

  /** `at`: position to keep while the bridge does not respond. */
  #bridge(at: Place, signal: AbortSignal): Source {
    const { log, bridge, clock } = this.#deps;
    const read = async (params: { ring?: string; after?: number; before?: number; limit: number; level?: LogLevel }): Promise<Part> => {
      if (!bridge.lends(logsPort)) return { lines: [], place: at };
      try {
        const answer = await withTimeout(clock, BRIDGE_MS, signal, (ends) => bridge.call(logsPort, 'logs.read', params, { signal: ends }));
        this.#path = answer.path;
        const redactor = await log.redactor();
        const lines = answer.lines.map(({ number, message, ...line }) => ({
          number,
          line: { ...line, component: 'bridge', message: redactor.text(message) },
        }));
        const last = params.after === undefined ? answer.last : (lines.at(-1)?.number ?? (answer.ring === params.ring ? params.after : 0));
        return { lines, place: { log: answer.ring, number: last } };
      } catch {
        signal.throwIfAborted();
        return { lines: [], place: at };
      }
    };
    return {
      newest: (limit, level) => read({ limit, level }),
      after: ({ log: ring, number }, limit) => read(ring === '' ? { limit } : { ring, after: number, limit }),
      before: ({ log: ring, number }, limit) => read({ ring, before: number, limit }),
    };
  }
}

const NOWHERE: Place = { log: '', number: 0 };

/** Merges two logs by time, keeping the order within each log whatever its clock did. */
function merged(a: Part, b: Part): Numbered[] {
  const all: Numbered[] = [];
  let [i, j] = [0, 0];
  for (;;) {
    const [left, right] = [a.lines[i], b.lines[j]];
    if (!left && !right) return all;
    if (left && (!right || left.line.at <= right.line.at)) [all[all.length], i] = [left, i + 1];
    else if (right) [all[all.length], j] = [right, j + 1];
  }
}

const toldOf = (lines: readonly Numbered[]): Told[] => lines.map(({ line }) => line);

/** The position before the returned lines of a log; `otherwise` if there are none. */
function frontOf(part: Part, given: readonly Numbered[], otherwise: Place): Place {
  const first = part.lines.find((line) => given.includes(line));
  return first ? { log: part.place.log, number: first.number } : otherwise;
}

const placesAt = (own: Place, bridge: Place): string => [own.log, own.number, bridge.log, bridge.number].join('.');

/** The contract has checked the format. */
function placesIn(places: string): [own: Place, bridge: Place] {
  const [log = '', number, ring = '', line] = places.split('.');
  return [
    { log, number: Number(number) },
    { log: ring, number: Number(line) },
  ];
}
