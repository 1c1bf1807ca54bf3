import MiniSearch from 'minisearch';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Figure } from './figures.ts';
import { PlainBm25 } from './questions/plain-bm25.ts';
import { generateConversations, type OwnConversation, type OwnQuestion } from './questions/generate-conversations.ts';
import { MIN_FIT } from '../../web/gateway/knowledge/memory/search/min-fit.ts';
import { QUESTION_KINDS, type QuestionKind } from './questions/material.ts';
import { type FoundTurn, quoteAnswer } from './questions/quoting-reader.ts';

const LIMIT = 10;
const ROOT = join(import.meta.dirname, '../..');
/** Points by which the held-back half must exceed an earlier build, of which `PERCH_BENCH_BASE` is a checkout with its packages. */
const BARS = { all: 4, several: 10, lines: 8 };
/** Number of facts that are forgotten in each conversation. */
const FORGOTTEN = 4;

interface Turn extends FoundTurn {
  thread: string;
}

interface Found {
  /** Ids of the best turns for a question, best first. */
  ids: string[];
  /** Whether the search expects one of them to answer it. */
  fits: boolean;
}

type Search = (question: OwnQuestion) => Promise<Found> | Found;

/** Makes a search over turns; `asLines`: each is added as a memory `Name: text`. */
type Contestant = (turns: readonly Turn[], asLines: boolean) => Promise<Search> | Search;

/** Recall of the project's own questions by kind, on the conversations held back from tuning, and answers that quote what was found. */
export async function benchRecallQuality(): Promise<Figure[]> {
  const held = generateConversations().filter(({ isHeldBack }) => isHeldBack);
  const base = process.env['PERCH_BENCH_BASE'];
  const contestants: Record<string, Contestant> = { MiniSearch: createMiniSearch, BM25: createBm25, Perch: await loadPerch(ROOT) };
  if (base) contestants['before'] = await loadPerch(base);
  const judged = new Map<string, Judged>();
  for (const [name, make] of Object.entries(contestants)) judged.set(name, await judge(held, make));
  const get = (name: string, what: keyof Judged, kind?: string): number => mean(judged.get(name)?.[what] ?? [], kind);
  console.error(`${held.length} conversations held back, ${judged.get('Perch')?.turns.length ?? 0} questions`);
  const toFigure = (what: string, of: keyof Judged, kind?: string, bar?: number): Figure => {
    const ours = get('Perch', of, kind);
    const peers = ['MiniSearch', 'BM25'].map((name) => `${name} ${get(name, of, kind).toFixed(1)}`).join(', ');
    const figure = { what: `${what} (${peers})`, unit: '%', ours };
    if (base === undefined) return figure;
    const before = get('before', of, kind);
    const verdict = bar === undefined ? undefined : { met: ours - before >= bar, text: `${bar} points more` };
    return { ...figure, floor: { name: 'before', value: before }, ...(verdict ? { bar: verdict } : {}) };
  };
  return [
    toFigure('recall@10', 'turns', undefined, BARS.all),
    ...QUESTION_KINDS.map((kind) => toFigure(`  ${kind}`, 'turns', kind, kind === 'several-turn' ? BARS.several : undefined)),
    toFigure('recall@10 of single lines', 'lines', undefined, BARS.lines),
    toFigure('right answers', 'answers'),
    ...[...QUESTION_KINDS, 'forgetting', 'abstaining'].map((kind) => toFigure(`  ${kind}`, 'answers', kind)),
  ];
}

interface Score {
  kind: string;
  value: number;
}

interface Judged {
  turns: Score[];
  lines: Score[];
  answers: Score[];
}

async function judge(conversations: readonly OwnConversation[], make: Contestant): Promise<Judged> {
  const judged: Judged = { turns: [], lines: [], answers: [] };
  for (const conversation of conversations) {
    const { questions, unanswerable } = conversation;
    const turns = toTurns(conversation);
    const byId = new Map(turns.map((turn) => [turn.id, turn]));
    const people = [...new Set(turns.map(({ speaker }) => speaker))];
    const toTurnsOf = (ids: readonly string[]): Turn[] => ids.flatMap((id) => byId.get(id) ?? []);
    const quote = (question: string, { ids, fits }: Found): FoundTurn[] => (fits ? quoteAnswer(question, toTurnsOf(ids), people) : []);
    const [search, lines] = [await make(turns, false), await make(turns, true)];
    for (const question of questions) {
      const found = await search(question);
      judged.turns.push({ kind: question.kind, value: share(question.evidence, found.ids) });
      judged.lines.push({ kind: question.kind, value: share(question.evidence, (await lines(question)).ids) });
      const quoted = quote(question.question, found).map(({ id }) => id);
      judged.answers.push({ kind: question.kind, value: judgeAnswer(question, quoted) });
    }
    for (const question of unanswerable) {
      const quoted = quote(question.question, await search(question));
      judged.answers.push({ kind: 'abstaining', value: Number(quoted.length === 0) });
    }
    const forgotten = questions.filter(({ kind }) => kind === 'one-turn').slice(0, FORGOTTEN);
    const gone = new Set(forgotten.flatMap(({ evidence }) => evidence));
    const without = await make(
      turns.filter(({ id }) => !gone.has(id)),
      false,
    );
    for (const question of forgotten) {
      const quoted = quote(question.question, await without(question));
      const isQuoted = toTurnsOf(question.evidence).some((lost) =>
        quoted.some(({ speaker, text }) => speaker === lost.speaker && text.includes(lost.text)),
      );
      judged.answers.push({ kind: 'forgetting', value: Number(!isQuoted) });
    }
  }
  return judged;
}

const share = (expected: readonly string[], found: readonly string[]): number =>
  expected.filter((id) => found.includes(id)).length / expected.length;

/** Several turns count in part. What is out of date must not be quoted before what is not. */
function judgeAnswer({ kind, evidence, stale }: OwnQuestion, quoted: readonly string[]): number {
  const several: readonly QuestionKind[] = ['several-turn', 'contradictions'];
  if (several.includes(kind)) return share(evidence, quoted);
  const first = quoted.find((id) => evidence.includes(id) || stale.includes(id));
  return Number(first !== undefined && evidence.includes(first));
}

function mean(scores: readonly Score[], kind?: string): number {
  const selected = scores.filter((score) => kind === undefined || score.kind === kind);
  return (100 * selected.reduce((sum, { value }) => sum + value, 0)) / Math.max(1, selected.length);
}

const toTurns = ({ name, sessions }: OwnConversation): Turn[] =>
  sessions.flatMap(({ date, turns }, session) =>
    turns.map(([id, speaker, text], index) => ({
      id,
      speaker,
      text,
      before: turns[index - 1]?.[2] ?? '',
      at: Date.parse(`${date}Z`),
      thread: `${name}/${session}`,
    })),
  );

/** The memory search of a checkout. */
async function loadPerch(root: string): Promise<Contestant> {
  const load = (path: string): Promise<unknown> => import(pathToFileURL(join(root, 'web/gateway/knowledge/memory', path)).href);
  const { MemorySearch } = (await load(
    'search/memory-search.ts',
  )) as typeof import('../../web/gateway/knowledge/memory/search/memory-search.ts');
  const { MemoryManager } = (await load('memory-manager.ts')) as typeof import('../../web/gateway/knowledge/memory/memory-manager.ts');
  const { formatMemory } = (await load('long-term.ts')) as typeof import('../../web/gateway/knowledge/memory/long-term.ts');
  return async (turns, asLines) => {
    if (!asLines) {
      const search = new MemorySearch();
      for (const { id, thread, text, speaker, at } of turns) search.add({ id, thread, text, speaker, at });
      return ({ question, askedAt }) => {
        const found = search.search(question, { limit: LIMIT, now: Date.parse(`${askedAt}Z`) });
        return { ids: found.map(({ passage }) => passage.id), fits: isFitting(found) };
      };
    }
    const idsByLine = new Map<string, string[]>();
    for (const turn of turns) idsByLine.set(toLine(turn), [...(idsByLine.get(toLine(turn)) ?? []), turn.id]);
    // The format of `addMemory`, written at once.
    const file = turns.map((turn) => formatMemory({ text: toLine(turn), category: 'fact', createdAt: turn.at })).join('');
    const now = Math.max(...turns.map(({ at }) => at));
    const manager = await new MemoryManager({ workspace: createReadOnlyWorkspace(file), clock: { now: () => now } }).open();
    return async ({ question }) => {
      const found = await manager.searchMemory(question, LIMIT);
      return { ids: found.flatMap(({ text }) => idsByLine.get(text) ?? []), fits: isFitting(found) };
    };
  };
}

/** Builds before the estimate of the fit answer everything. */
const isFitting = (found: readonly { fit?: number }[]): boolean => (found[0]?.fit ?? 1) >= MIN_FIT;

const toLine = ({ speaker, text }: Turn): string => `${speaker}: ${text}`;

function createReadOnlyWorkspace(memoryFile: string) {
  const path = 'MEMORY.md';
  const size = new TextEncoder().encode(memoryFile).length;
  const refuse = (): Promise<never> => Promise.reject(new Error('read-only'));
  return {
    read: (name: string) => Promise.resolve(name === path ? memoryFile : undefined),
    stat: (name: string) => Promise.resolve(name === path ? { path, size, modifiedAt: 1 } : undefined),
    list: () => Promise.resolve([]),
    write: refuse,
    append: refuse,
    update: refuse,
    remove: refuse,
  };
}

/** The peer with its default settings. */
const createMiniSearch: Contestant = (turns) => {
  const search = new MiniSearch<{ id: string; text: string }>({ fields: ['text'] });
  search.addAll(turns.map((turn) => ({ id: turn.id, text: toLine(turn) })));
  return ({ question }) => ({
    ids: search
      .search(question)
      .slice(0, LIMIT)
      .map(({ id }) => String(id)),
    fits: true,
  });
};

const createBm25: Contestant = (turns) => {
  const search = new PlainBm25(turns.map((turn) => ({ id: turn.id, text: toLine(turn) })));
  return ({ question }) => ({ ids: search.search(question, LIMIT), fits: true });
};
