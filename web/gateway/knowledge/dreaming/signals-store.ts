import { createLocalTime } from '#shared/local-time.ts';
import type { Workspace } from '../memory/workspace.ts';
import { splitBlocks, type BrokenLine, startOnNewLine, parseJsonLines } from './json-lines.ts';
import { runExclusive } from './run-exclusive.ts';
import { type Pace, noPace } from './pace.ts';
import { computeContentHash, DAY_MS, getLastActive, type ShortTermSignal } from './signal.ts';
import { updateSignals, trimRecalls, compareForRemoval, MAX_RECALLS } from './signal-changes.ts';
import { formatSignal, MAX_CONTENT_CHARS, signalLine, mergeTags } from './signal-line.ts';
import { formatCounted, parseCounted, type CountedMessages, COUNTED_MARK, mergeCounted } from './counted-messages.ts';

export const SIGNALS_FILE = '.dreams/signals.jsonl';
/** Maximum number of signals, and the number left after removing the least recently active. */
const MAX_SIGNALS = 5000;
const TRIMMED_SIGNALS = 4500;
const MAX_QUERY_CHARS = 300;
/** Number of obsolete lines from which the file is rewritten. */
const MAX_OBSOLETE_LINES = 500;
/** Score of a recall without a reported relevance. */
const DEFAULT_SCORE = 0.5;

/** A recall or an observation of a content. */
export interface SignalInput {
  content: string;
  sourceRef: string;
  /** If omitted, it is not a recall. */
  query?: string | undefined;
  tags?: readonly string[] | undefined;
  /** Relevance to the query, 0 to 1. */
  score?: number | undefined;
  /** Milliseconds since the Unix epoch; defaults to now. */
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
class FileChangedError extends Error {}

interface LoadedSignals {
  file: string | undefined;
  lines: number;
  signals: Map<string, ShortTermSignal>;
  broken: (BrokenLine & { text: string })[];
  /** Messages whose recalls are counted; undefined before the first. */
  taken: CountedMessages | undefined;
}

/** Recalls of a message. */
interface MessageRecalls {
  id: string;
  /** Milliseconds since the Unix epoch. */
  at: number;
  noted: readonly SignalInput[];
}

/**
 * Recalled and observed texts that may be worth keeping: JSON Lines in `.dreams/signals.jsonl` of a workspace. Each change appends one
 * line, so that a crash leaves either the old or the new state; the file is rewritten from time to time without obsolete lines. Invalid
 * lines are kept. Only the newest 5,000 signals are kept.
 */
export class SignalsStore {
  readonly #workspace: Workspace;
  readonly #now: () => number;
  readonly #pace: Pace;
  readonly #toDay: (at: number) => string;
  #loaded: LoadedSignals | undefined;

  /** `timeZone`: for the days by which recalls are counted. */
  constructor(
    workspace: Workspace,
    { now = Date.now, timeZone = 'UTC', pace = noPace }: { now?: () => number; timeZone?: string; pace?: Pace } = {},
  ) {
    this.#pace = pace;
    this.#workspace = workspace;
    this.#now = now;
    const local = createLocalTime(timeZone);
    this.#toDay = (at) => local(at).date;
  }

  /** Adds a signal, or a recall and tags to an existing one. Throws an Error if the content is empty or longer than 4,000 characters. */
  async addSignal(content: string, sourceRef: string, query = '', tags: readonly string[] = []): Promise<ShortTermSignal> {
    const [signal] = await this.note([{ content, sourceRef, query, tags }]);
    if (!signal) throw new Error('The signal was not saved.');
    return signal;
  }

  /** Adds several in one write, in order. */
  note(all: readonly SignalInput[]): Promise<ShortTermSignal[]> {
    return this.#change((signals) => this.#recordSignals(signals, all));
  }

  /**
   * Adds the recalls of messages. Each message counts once, however often it is passed: this is recorded together with the signals in one
   * step. `until`: time up to which messages were examined. Resolves with the number of new messages.
   */
  async noteRecalls(all: readonly MessageRecalls[], until: number): Promise<number> {
    let count = 0;
    await this.#change(
      async (signals, counted) => {
        const fresh = all.filter(({ id }) => counted?.messages.has(id) !== true);
        count = fresh.length;
        return this.#recordSignals(
          signals,
          fresh.flatMap(({ noted }) => noted),
        );
      },
      { until, messages: new Map(all.map(({ id, at }) => [id, at])) },
    );
    return count;
  }

  /** Time up to which messages were examined for recalls; undefined before the first time. */
  async recallsUntil(): Promise<number | undefined> {
    return (await this.#runExclusive(() => this.#load())).taken?.until;
  }

  async #recordSignals(signals: Map<string, ShortTermSignal>, all: readonly SignalInput[]): Promise<ShortTermSignal[]> {
    const recorded: ShortTermSignal[] = [];
    for (const input of all) {
      const contentHash = await computeCheckedHash(input);
      const signal = this.#mergeInput(signals.get(contentHash), input, contentHash);
      signals.set(contentHash, signal);
      recorded.push(signal);
    }
    return recorded;
  }

  /** Records that a phase found the content again, or promoted it. Throws an Error if the signal does not exist. */
  async recordConsolidation(contentHash: string, at = this.#now()): Promise<void> {
    if ((await this.recordConsolidations([{ contentHash, at }])).length === 0) throw new Error(`No signal with hash "${contentHash}".`);
  }

  /** Records several in one write; missing signals are skipped. */
  recordConsolidations(all: readonly { contentHash: string; at: number }[]): Promise<ShortTermSignal[]> {
    return this.#change((signals) =>
      updateSignals(signals, all, (signal, { at }) => ({
        ...signal,
        consolidations: signal.consolidations + 1,
        consolidationDays: [...new Set([...signal.consolidationDays, this.#toDay(at)])].sort().slice(-MAX_RECALLS),
      })),
    );
  }

  /** Marks signals as never to be promoted, even if they are recalled again. */
  async markUntrusted(all: readonly { contentHash: string; why: string }[]): Promise<void> {
    await this.#change((signals) => updateSignals(signals, all, (signal, { why }) => ({ ...signal, untrusted: signal.untrusted ?? why })));
  }

  /** All signals, oldest first. */
  async getAllSignals(): Promise<ShortTermSignal[]> {
    const { signals } = await this.#runExclusive(() => this.#load());
    const all: ShortTermSignal[] = [];
    for (const signal of signals.values()) {
      all.push(copySignal(signal));
      await this.#pace();
    }
    return all.sort((a, b) => a.createdAt - b.createdAt);
  }

  /** Signals noted or recalled within a number of days. */
  async getSignalsByAge(maxAgeDays: number): Promise<ShortTermSignal[]> {
    const from = this.#now() - validateDays(maxAgeDays) * DAY_MS;
    return (await this.getAllSignals()).filter((signal) => getLastActive(signal) >= from);
  }

  /** Removes signals that were neither noted nor recalled within a number of days, and returns them. */
  cleanupOldSignals(maxAgeDays: number): Promise<ShortTermSignal[]> {
    return this.#runExclusive(async () => {
      const loaded = await this.#load();
      const from = this.#now() - validateDays(maxAgeDays) * DAY_MS;
      const old = [...loaded.signals.values()].filter((signal) => getLastActive(signal) < from);
      if (old.length > 0) await this.#rewrite(loaded.file, loaded, new Set(old.map(({ contentHash }) => contentHash)));
      return old;
    });
  }

  async getStats(): Promise<SignalStats> {
    const all = [...(await this.#runExclusive(() => this.#load())).signals.values()];
    return {
      total: all.length,
      totalRecallQueries: all.reduce((sum, { recallCount }) => sum + recallCount, 0),
      totalConsolidations: all.reduce((sum, { consolidations }) => sum + consolidations, 0),
    };
  }

  /** Lines of the file that cannot be parsed. */
  async brokenLines(): Promise<BrokenLine[]> {
    const { broken } = await this.#runExclusive(() => this.#load());
    return broken.map(({ path, line, why }) => ({ path, line, why }));
  }

  /** If another process or tab has written meanwhile, the operation is repeated on the new content. */
  #runExclusive<Result>(run: () => Promise<Result>): Promise<Result> {
    return runExclusive(this.#workspace, SIGNALS_FILE, async () => {
      for (;;)
        try {
          return await run();
        } catch (error) {
          if (!(error instanceof FileChangedError)) throw error;
        }
    });
  }

  /** Writes the result of `change`, which operates on a copy, so that a failed write leaves no trace in memory. */
  #change(
    change: (signals: Map<string, ShortTermSignal>, counted: CountedMessages | undefined) => ShortTermSignal[] | Promise<ShortTermSignal[]>,
    more?: CountedMessages,
  ): Promise<ShortTermSignal[]> {
    return this.#runExclusive(async () => {
      const loaded = await this.#load();
      const signals = new Map(loaded.signals);
      const changed = await change(signals, loaded.taken);
      if (changed.length === 0 && !more) return [];
      const next = { ...loaded, signals, taken: more ? mergeCounted(loaded.taken, more) : loaded.taken };
      if (signals.size > MAX_SIGNALS) {
        const excess = [...signals.values()].sort(compareForRemoval).slice(0, signals.size - TRIMMED_SIGNALS);
        await this.#rewrite(loaded.file, next, new Set(excess.map(({ contentHash }) => contentHash)));
      } else if (loaded.lines > signals.size * 2 + MAX_OBSOLETE_LINES) await this.#rewrite(loaded.file, next, new Set());
      else {
        const text = startOnNewLine(loaded.file, changed.map(formatSignal).join('') + (more ? formatCounted(more) : ''));
        await this.#workspace.append(SIGNALS_FILE, text);
        this.#loaded = { ...next, file: (loaded.file ?? '') + text, lines: loaded.lines + text.split('\n').length - 1 };
      }
      return changed.map(copySignal);
    });
  }

  /** `before`: the expected content of the file. Throws `FileChangedError`, without writing, if it has changed. */
  async #rewrite(before: string | undefined, { signals, broken, taken }: LoadedSignals, removedHashes: ReadonlySet<string>): Promise<void> {
    const remaining = [...signals.values()].filter(({ contentHash }) => !removedHashes.has(contentHash));
    const file =
      broken.map(({ text }) => `${text}\n`).join('') + remaining.map(formatSignal).join('') + (taken ? formatCounted(taken) : '');
    await this.#workspace.update(SIGNALS_FILE, (stored) => {
      if (stored !== before) throw new FileChangedError();
      return file;
    });
    this.#loaded = undefined;
  }

  /** Reads the file each time, because another process may have written it; parses only new lines. */
  async #load(): Promise<LoadedSignals> {
    const file = await this.#workspace.read(SIGNALS_FILE);
    const known = this.#loaded;
    if (known && known.file === file) return known;
    const isAppended = known?.file !== undefined && file?.startsWith(known.file) === true && known.file.endsWith('\n');
    const signals = new Map(isAppended ? known.signals : []);
    const broken = [...(isAppended ? known.broken : [])];
    let taken = isAppended ? known.taken : undefined;
    const lines = isAppended ? known.lines : 0;
    for await (const { block, first } of splitBlocks((file ?? '').slice(isAppended ? known.file?.length : 0), this.#pace, lines + 1)) {
      // Each parser sees the other kind's lines as empty, so that line numbers stay valid.
      const only = (isTaken: boolean): string => block.replace(/^.+$/gm, (line) => (line.startsWith(COUNTED_MARK) === isTaken ? line : ''));
      const read = parseJsonLines(only(false), signalLine, SIGNALS_FILE, first);
      for (const { value } of read.values) signals.set(value.contentHash, value);
      const counted = parseCounted(only(true), SIGNALS_FILE, first);
      for (const countedMessages of counted.taken) {
        taken = mergeCounted(taken, countedMessages);
        await this.#pace();
      }
      broken.push(...read.broken, ...counted.broken);
    }
    const loaded = { file, lines: (file ?? '').split('\n').length - 1, signals, broken, taken };
    this.#loaded = loaded;
    return loaded;
  }

  #mergeInput(known: ShortTermSignal | undefined, input: SignalInput, contentHash: string): ShortTermSignal {
    const at = input.at ?? this.#now();
    const query = (input.query ?? '').trim().slice(0, MAX_QUERY_CHARS);
    const recall = query === '' ? [] : [{ query, day: this.#toDay(at), score: clamp(input.score ?? DEFAULT_SCORE), at }];
    // A trusted source replaces an untrusted one that was noted before.
    const isBetterSource = !known || (known.untrusted !== undefined && input.untrusted === undefined && query === '');
    const { sourceRef, untrusted } = isBetterSource ? input : known;
    return {
      content: known?.content ?? input.content.trim(),
      sourceRef,
      query: known?.query || query,
      tags: mergeTags(known?.tags ?? [], input.tags ?? []),
      contentHash,
      createdAt: Math.min(known?.createdAt ?? at, at),
      recallCount: (known?.recallCount ?? 0) + recall.length,
      recalls: trimRecalls([...(known?.recalls ?? []), ...recall].sort((a, b) => a.at - b.at)),
      consolidations: known?.consolidations ?? 0,
      consolidationDays: known?.consolidationDays ?? [],
      ...(untrusted !== undefined && { untrusted }),
    };
  }
}

const copySignal = (signal: ShortTermSignal): ShortTermSignal => ({
  ...signal,
  tags: [...signal.tags],
  recalls: signal.recalls.map((recall) => ({ ...recall })),
  consolidationDays: [...signal.consolidationDays],
});

async function computeCheckedHash({ content, at }: SignalInput): Promise<string> {
  const text = content.trim();
  if (text === '') throw new Error('The content of a signal must not be empty.');
  if (text.length > MAX_CONTENT_CHARS) throw new Error(`The signal has ${text.length} characters. The maximum is ${MAX_CONTENT_CHARS}.`);
  if (at !== undefined && !(at >= 0)) throw new Error(`Invalid time: ${at}.`);
  return computeContentHash(text);
}

function validateDays(days: number): number {
  if (!(days >= 0)) throw new Error(`Invalid number of days: ${days}.`);
  return days;
}

const clamp = (score: number): number => (score >= 0 ? Math.min(1, score) : 0);
