import { localTime } from '../local-time.ts';
import type { Workspace } from '../memory/workspace.ts';
import { blocksOf, type BrokenLine, onOwnLine, readJsonLines } from './json-lines.ts';
import { oneAtATime } from './one-at-a-time.ts';
import { type Pace, unhurried } from './pace.ts';
import { contentHashOf, DAY_MS, lastActive, type ShortTermSignal } from './signal.ts';
import { changedOf, fewer, leastFirst, MOST_RECALLS } from './signal-changes.ts';
import { formatSignal, LONGEST_CONTENT, signalLine, tagsOf } from './signal-line.ts';
import { formatTaken, readTaken, type Taken, TAKEN_MARK, withTaken } from './taken-line.ts';

export const SIGNALS_FILE = '.dreams/signals.jsonl';
/** The least recently active go first; so many are left then. */
const MOST_SIGNALS = 5000;
const LEFT_SIGNALS = 4500;
const LONGEST_QUERY = 300;
/** The file is written anew when so many of its lines are past. */
const PAST_LINES = 500;
/** Of a recall whose fit nobody told. */
const UNTOLD_SCORE = 0.5;

/** What came up, or was come across. */
export interface Noted {
  content: string;
  sourceRef: string;
  /** Without one it is no recall. */
  query?: string | undefined;
  tags?: readonly string[] | undefined;
  /** How well it fitted the query, 0 to 1. */
  score?: number | undefined;
  /** When; milliseconds since 1970, now where left out. */
  at?: number | undefined;
  /** Why it must never be promoted. */
  untrusted?: string | undefined;
}

export interface SignalStats {
  total: number;
  totalRecallQueries: number;
  totalConsolidations: number;
}

/** The file has changed since it was read. */
class Moved extends Error {}

interface Loaded {
  file: string | undefined;
  lines: number;
  signals: Map<string, ShortTermSignal>;
  broken: (BrokenLine & { text: string })[];
  /** Messages whose recalls are counted; undefined before the first. */
  taken: Taken | undefined;
}

/** What was recalled for a message, or in it. */
export interface Recalling {
  id: string;
  /** Milliseconds since 1970. */
  at: number;
  noted: readonly Noted[];
}

/**
 * What came up in conversations and may be worth keeping (interface document 2, section 4.7): JSON lines in `.dreams/signals.jsonl` of a workspace. Each change
 * is one line appended, so a crash leaves what was or what is; now and then the file is written anew without what is past. Lines that cannot be read stay.
 * Only the newest 5,000 signals are kept.
 */
export class SignalsStore {
  readonly #workspace: Workspace;
  readonly #now: () => number;
  readonly #pace: Pace;
  readonly #dayOf: (at: number) => string;
  #loaded: Loaded | undefined;

  /** `timeZone`: of the days that recalls are counted by. */
  constructor(
    workspace: Workspace,
    { now = Date.now, timeZone = 'UTC', pace = unhurried }: { now?: () => number; timeZone?: string; pace?: Pace } = {},
  ) {
    this.#pace = pace;
    this.#workspace = workspace;
    this.#now = now;
    const local = localTime(timeZone);
    this.#dayOf = (at) => local(at).date;
  }

  /** Keeps a signal; what is known already gets the query as one more recall, and the tags. Throws an Error where there is no content, or more than 4,000 characters. */
  async addSignal(content: string, sourceRef: string, query = '', tags: readonly string[] = []): Promise<ShortTermSignal> {
    const [signal] = await this.note([{ content, sourceRef, query, tags }]);
    if (!signal) throw new Error('The signal was not saved.');
    return signal;
  }

  /** Keeps several in one write, in their order. */
  note(all: readonly Noted[]): Promise<ShortTermSignal[]> {
    return this.#change((signals) => this.#noted(signals, all));
  }

  /**
   * Keeps what was recalled for messages, each of which counts once, however often it is given: that it is counted is written with the signals, in one step.
   * `until`: up to when messages were looked through. Resolves with how many messages were new.
   */
  async noteRecalls(all: readonly Recalling[], until: number): Promise<number> {
    let count = 0;
    await this.#change(
      async (signals, taken) => {
        const fresh = all.filter(({ id }) => taken?.messages.has(id) !== true);
        count = fresh.length;
        return this.#noted(
          signals,
          fresh.flatMap(({ noted }) => noted),
        );
      },
      { until, messages: new Map(all.map(({ id, at }) => [id, at])) },
    );
    return count;
  }

  /** Up to when messages were looked through for recalls; undefined before the first time. */
  async recallsUntil(): Promise<number | undefined> {
    return (await this.#inTurn(() => this.#load())).taken?.until;
  }

  async #noted(signals: Map<string, ShortTermSignal>, all: readonly Noted[]): Promise<ShortTermSignal[]> {
    const noted: ShortTermSignal[] = [];
    for (const each of all) {
      const contentHash = await checkedHash(each);
      const signal = this.#with(signals.get(contentHash), each, contentHash);
      signals.set(contentHash, signal);
      noted.push(signal);
    }
    return noted;
  }

  /** A phase came across the content again, or promoted it. Throws an Error where there is no such signal. */
  async recordConsolidation(contentHash: string, at = this.#now()): Promise<void> {
    if ((await this.recordConsolidations([{ contentHash, at }])).length === 0) throw new Error(`No signal with hash "${contentHash}".`);
  }

  /** Several in one write; those that are gone are left out. */
  recordConsolidations(all: readonly { contentHash: string; at: number }[]): Promise<ShortTermSignal[]> {
    return this.#change((signals) =>
      changedOf(signals, all, (signal, { at }) => ({
        ...signal,
        consolidations: signal.consolidations + 1,
        consolidationDays: [...new Set([...signal.consolidationDays, this.#dayOf(at)])].sort().slice(-MOST_RECALLS),
      })),
    );
  }

  /** From now on they are never promoted, whoever recalls them again. */
  async markUntrusted(all: readonly { contentHash: string; why: string }[]): Promise<void> {
    await this.#change((signals) => changedOf(signals, all, (signal, { why }) => ({ ...signal, untrusted: signal.untrusted ?? why })));
  }

  /** All of them, oldest first. */
  async getAllSignals(): Promise<ShortTermSignal[]> {
    const { signals } = await this.#inTurn(() => this.#load());
    const all: ShortTermSignal[] = [];
    for (const signal of signals.values()) {
      all.push(copyOf(signal));
      await this.#pace();
    }
    return all.sort((a, b) => a.createdAt - b.createdAt);
  }

  /** Those that were noted or recalled within so many days. */
  async getSignalsByAge(maxAgeDays: number): Promise<ShortTermSignal[]> {
    const from = this.#now() - checkedDays(maxAgeDays) * DAY_MS;
    return (await this.getAllSignals()).filter((signal) => lastActive(signal) >= from);
  }

  /** Removes those that were neither noted nor recalled within so many days, and gives them. */
  cleanupOldSignals(maxAgeDays: number): Promise<ShortTermSignal[]> {
    return this.#inTurn(async () => {
      const loaded = await this.#load();
      const from = this.#now() - checkedDays(maxAgeDays) * DAY_MS;
      const old = [...loaded.signals.values()].filter((signal) => lastActive(signal) < from);
      if (old.length > 0) await this.#rewrite(loaded.file, loaded, new Set(old.map(({ contentHash }) => contentHash)));
      return old;
    });
  }

  async getStats(): Promise<SignalStats> {
    const all = [...(await this.#inTurn(() => this.#load())).signals.values()];
    return {
      total: all.length,
      totalRecallQueries: all.reduce((sum, { recallCount }) => sum + recallCount, 0),
      totalConsolidations: all.reduce((sum, { consolidations }) => sum + consolidations, 0),
    };
  }

  /** Lines of the file that cannot be read. */
  async brokenLines(): Promise<BrokenLine[]> {
    const { broken } = await this.#inTurn(() => this.#load());
    return broken.map(({ path, line, why }) => ({ path, line, why }));
  }

  /** Where another process, or tab, has written meanwhile, it is done again on what is there now. */
  #inTurn<Result>(run: () => Promise<Result>): Promise<Result> {
    return oneAtATime(this.#workspace, SIGNALS_FILE, async () => {
      for (;;)
        try {
          return await run();
        } catch (error) {
          if (!(error instanceof Moved)) throw error;
        }
    });
  }

  /** Writes what `change` gives, which is in the map already; it works on a copy, so that what could not be written is not there. */
  #change(
    change: (signals: Map<string, ShortTermSignal>, taken: Taken | undefined) => ShortTermSignal[] | Promise<ShortTermSignal[]>,
    more?: Taken,
  ): Promise<ShortTermSignal[]> {
    return this.#inTurn(async () => {
      const loaded = await this.#load();
      const signals = new Map(loaded.signals);
      const changed = await change(signals, loaded.taken);
      if (changed.length === 0 && !more) return [];
      const next = { ...loaded, signals, taken: more ? withTaken(loaded.taken, more) : loaded.taken };
      if (signals.size > MOST_SIGNALS) {
        const excess = [...signals.values()].sort(leastFirst).slice(0, signals.size - LEFT_SIGNALS);
        await this.#rewrite(loaded.file, next, new Set(excess.map(({ contentHash }) => contentHash)));
      } else if (loaded.lines > signals.size * 2 + PAST_LINES) await this.#rewrite(loaded.file, next, new Set());
      else {
        const text = onOwnLine(loaded.file, changed.map(formatSignal).join('') + (more ? formatTaken(more) : ''));
        await this.#workspace.append(SIGNALS_FILE, text);
        this.#loaded = { ...next, file: (loaded.file ?? '') + text, lines: loaded.lines + text.split('\n').length - 1 };
      }
      return changed.map(copyOf);
    });
  }

  /** `before`: what the file has. Where another has written meanwhile nothing is done, and it throws `Moved`. */
  async #rewrite(before: string | undefined, { signals, broken, taken }: Loaded, without: ReadonlySet<string>): Promise<void> {
    const left = [...signals.values()].filter(({ contentHash }) => !without.has(contentHash));
    const file = broken.map(({ text }) => `${text}\n`).join('') + left.map(formatSignal).join('') + (taken ? formatTaken(taken) : '');
    await this.#workspace.update(SIGNALS_FILE, (there) => {
      if (there !== before) throw new Moved();
      return file;
    });
    this.#loaded = undefined;
  }

  /** The file is looked at each time, for another may have written it; only what is new in it is read. */
  async #load(): Promise<Loaded> {
    const file = await this.#workspace.read(SIGNALS_FILE);
    const known = this.#loaded;
    if (known && known.file === file) return known;
    const goesOn = known?.file !== undefined && file?.startsWith(known.file) === true && known.file.endsWith('\n');
    const signals = new Map(goesOn ? known.signals : []);
    const broken = [...(goesOn ? known.broken : [])];
    let taken = goesOn ? known.taken : undefined;
    const lines = goesOn ? known.lines : 0;
    for await (const { block, first } of blocksOf((file ?? '').slice(goesOn ? known.file?.length : 0), this.#pace, lines + 1)) {
      // Lines of the other kind are empty for each reader, so that numbers stay.
      const only = (isTaken: boolean): string => block.replace(/^.+$/gm, (line) => (line.startsWith(TAKEN_MARK) === isTaken ? line : ''));
      const read = readJsonLines(only(false), signalLine, SIGNALS_FILE, first);
      for (const { value } of read.values) signals.set(value.contentHash, value);
      const counted = readTaken(only(true), SIGNALS_FILE, first);
      for (const each of counted.taken) {
        taken = withTaken(taken, each);
        await this.#pace();
      }
      broken.push(...read.broken, ...counted.broken);
    }
    const loaded = { file, lines: (file ?? '').split('\n').length - 1, signals, broken, taken };
    this.#loaded = loaded;
    return loaded;
  }

  #with(known: ShortTermSignal | undefined, noted: Noted, contentHash: string): ShortTermSignal {
    const at = noted.at ?? this.#now();
    const query = (noted.query ?? '').trim().slice(0, LONGEST_QUERY);
    const recall = query === '' ? [] : [{ query, day: this.#dayOf(at), score: clamped(noted.score ?? UNTOLD_SCORE), at }];
    // What somebody trusted said counts, not that another quoted it before.
    const better = !known || (known.untrusted !== undefined && noted.untrusted === undefined && query === '');
    const { sourceRef, untrusted } = better ? noted : known;
    return {
      content: known?.content ?? noted.content.trim(),
      sourceRef,
      query: known?.query || query,
      tags: tagsOf(known?.tags ?? [], noted.tags ?? []),
      contentHash,
      createdAt: Math.min(known?.createdAt ?? at, at),
      recallCount: (known?.recallCount ?? 0) + recall.length,
      recalls: fewer([...(known?.recalls ?? []), ...recall].sort((a, b) => a.at - b.at)),
      consolidations: known?.consolidations ?? 0,
      consolidationDays: known?.consolidationDays ?? [],
      ...(untrusted !== undefined && { untrusted }),
    };
  }
}

const copyOf = (signal: ShortTermSignal): ShortTermSignal => ({
  ...signal,
  tags: [...signal.tags],
  recalls: signal.recalls.map((recall) => ({ ...recall })),
  consolidationDays: [...signal.consolidationDays],
});

async function checkedHash({ content, at }: Noted): Promise<string> {
  const text = content.trim();
  if (text === '') throw new Error('The content of a signal must not be empty.');
  if (text.length > LONGEST_CONTENT) throw new Error(`The signal has ${text.length} characters. The maximum is ${LONGEST_CONTENT}.`);
  if (at !== undefined && !(at >= 0)) throw new Error(`Invalid time: ${at}.`);
  return contentHashOf(text);
}

function checkedDays(days: number): number {
  if (!(days >= 0)) throw new Error(`Invalid number of days: ${days}.`);
  return days;
}

const clamped = (score: number): number => (score >= 0 ? Math.min(1, score) : 0);
