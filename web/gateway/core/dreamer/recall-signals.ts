import { dialogPassages } from '../dreaming/dialog-passages.ts';
import type { Pace } from '../dreaming/pace.ts';
import { passagesInTurns } from '../dreaming/passages.ts';
import { saysSomething } from '../dreaming/says-something.ts';
import { DAY_MS, normalized } from '../dreaming/signal.ts';
import type { Noted, SignalsStore } from '../dreaming/signals-store.ts';
import { LATE_MS } from '../dreaming/taken-line.ts';
import type { Workspace } from '../memory/workspace.ts';
import type { Vault } from '../vault.ts';
import { recallingMessages, type RecalledPiece } from './recalled-messages.ts';

const LONG_TERM = 'MEMORY.md';
const LONGEST = 4000;
/** What an excerpt begins and ends with where it leaves something out. */
const CUT = /^…|…$/g;

export interface RecallSignalsDeps {
  messages: Pick<Vault['messages'], 'from' | 'get'>;
  workspace: Workspace;
  signals: SignalsStore;
  /** Whether what is said in a session counts. */
  belongs: (sessionKey: string) => boolean;
  maxAgeDays: number;
  now: () => number;
  pace: Pace;
}

/**
 * Takes the recalls of stored messages among the signals, each message once: for a message of a person what was recalled before the reply, for a search of an agent's what it returned.
 * What another host wrote up to a week before, and comes in later, is taken too. Resolves with the number of messages.
 */
export async function takeRecalls({ messages, workspace, signals, belongs, maxAgeDays, now, pace }: RecallSignalsDeps): Promise<number> {
  const until = now();
  const last = await signals.recallsUntil();
  const from = Math.max(until - maxAgeDays * DAY_MS, last === undefined ? 0 : Math.min(last, until) - LATE_MS);
  const recalling = await recallingMessages(messages, { from, belongs, pace });
  const places = new Places(workspace, pace);
  const all = [];
  for (const { id, at, query, pieces } of recalling) {
    const noted: Noted[] = [];
    for (const piece of pieces) {
      const place = await places.find(piece);
      if (place && saysSomething(place.content))
        noted.push({ ...place, query, tags: piece.tags, score: piece.score, at: Math.min(at, until) });
    }
    all.push({ id, at, noted });
  }
  return signals.noteRecalls(all, until);
}

interface Place {
  content: string;
  sourceRef: string;
}

/** Finds the passages that were recalled: a model is told an excerpt, and promotion wants the words of the source. */
class Places {
  readonly #workspace: Workspace;
  readonly #pace: Pace;
  readonly #files = new Map<string, Promise<{ text: string; line: number; plain: string }[]>>();

  constructor(workspace: Workspace, pace: Pace) {
    this.#workspace = workspace;
    this.#pace = pace;
  }

  /** Undefined where nothing is left of it. */
  async find({ text, source }: RecalledPiece): Promise<Place | undefined> {
    const told = text.trim().replace(CUT, '').trim();
    if (told === '') return undefined;
    const wanted = normalized(told);
    const path = pathIn(source);
    if (path !== undefined) {
      const passages = await this.#passages(path);
      const passage = passages.find(({ plain }) => plain.includes(wanted));
      if (passage) return { content: passage.text.slice(0, LONGEST), sourceRef: `${path}#L${passage.line}` };
    }
    // What it has no file for is remembered for long already, or its file is gone.
    return { content: told.slice(0, LONGEST), sourceRef: path === undefined ? LONG_TERM : source };
  }

  #passages(path: string): Promise<{ text: string; line: number; plain: string }[]> {
    let reading = this.#files.get(path);
    if (!reading) this.#files.set(path, (reading = this.#read(path)));
    return reading;
  }

  async #read(path: string): Promise<{ text: string; line: number; plain: string }[]> {
    const file = (await this.#workspace.read(path)) ?? '';
    const passages = path.endsWith('.jsonl')
      ? (await dialogPassages(file, path, this.#pace)).passages
      : await passagesInTurns(file, this.#pace);
    const read = [];
    for (const { text, line } of passages) {
      read.push({ text, line, plain: normalized(text) });
      await this.#pace();
    }
    return read;
  }
}

/** The file that a source names, with lines or without: `memory/2026-11-20.md#L3`, `dialog/2026-11-20.jsonl:12-14`. */
function pathIn(source: string): string | undefined {
  const [path = ''] = /^[^#:\s\\]+\.(?:md|jsonl|txt)\b/i.exec(source.trim()) ?? [];
  return path === '' || path.startsWith('/') || path.split('/').some((name) => name === '..' || name === '.') ? undefined : path;
}
