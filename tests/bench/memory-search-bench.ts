import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import MiniSearch from 'minisearch';
import { MemorySearch } from '../../web/gateway/knowledge/memory/search/memory-search.ts';
import type { Passage } from '../../web/gateway/knowledge/memory/search/passage.ts';
import { toMinBar, toMaxBar, type Figure } from './figures.ts';
import { benchMemoryRestart } from './memory-restart-bench.ts';
import { computePercentile } from './stats.ts';

const QUESTION_KINDS = ['single-hop', 'multi-hop', 'temporal', 'adversarial'] as const;
const ENTRY_COUNT = 50_000;
const MAX_SEARCH_MS = 6;

interface Question {
  question: string;
  /** Turns that answer it. */
  evidence: string[];
  kind: (typeof QUESTION_KINDS)[number];
  /** Date of the question. */
  askedAt: string;
}

interface Conversation {
  name: string;
  language: string;
  sessions: { date: string; turns: [id: string, speaker: string, text: string][] }[];
  questions: Question[];
}

/** Returns the ids of the best turns for a question, best first. */
type Search = (question: Question, limit: number) => string[];

/** Conversations with questions whose answers are known. */
export const conversations = (): Conversation[] => {
  const folder = join(import.meta.dirname, 'conversations');
  return readdirSync(folder).map((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as Conversation);
};

const toPassages = ({ name, sessions }: Conversation): Passage[] =>
  sessions.flatMap(({ date, turns }, session) =>
    turns.map(([id, speaker, text]) => ({ id, thread: `${name}/${session}`, text, speaker, at: Date.parse(`${date}Z`) })),
  );

function createPerchSearch(conversation: Conversation): Search {
  const search = new MemorySearch();
  for (const passage of toPassages(conversation)) search.add(passage);
  return ({ question, askedAt }, limit) => search.search(question, { limit, now: Date.parse(askedAt) }).map(({ passage }) => passage.id);
}

/** The peer: MiniSearch with default settings. */
function createMiniSearch(conversation: Conversation): Search {
  const search = new MiniSearch<{ id: string; text: string }>({ fields: ['text'] });
  search.addAll(toPassages(conversation).map(({ id, speaker, text }) => ({ id, text: `${speaker ?? ''}: ${text}` })));
  return ({ question }, limit) =>
    search
      .search(question)
      .slice(0, limit)
      .map(({ id }) => String(id));
}

interface JudgedQuestion {
  kind: Question['kind'];
  recall5: number;
  recall10: number;
  reciprocal: number;
  gain: number;
}

function judgeQuestion(search: Search, question: Question): JudgedQuestion {
  const evidenceIds = new Set(question.evidence);
  const found = search(question, 10).map((id) => evidenceIds.has(id));
  const first = found.indexOf(true);
  const discounted = (hits: readonly boolean[]): number => hits.reduce((sum, hit, at) => sum + (hit ? 1 / Math.log2(at + 2) : 0), 0);
  const recall = (limit: number): number => found.slice(0, limit).filter(Boolean).length / evidenceIds.size;
  return {
    kind: question.kind,
    recall5: recall(5),
    recall10: recall(10),
    reciprocal: first === -1 ? 0 : 1 / (first + 1),
    gain: discounted(found) / discounted(Array.from({ length: Math.min(10, evidenceIds.size) }, () => true)),
  };
}

/** Quality of memory search compared with a plain search engine, and its speed among many entries. */
export function benchMemorySearch({ quick }: { quick: boolean }): Promise<Figure[]> {
  const all = conversations();
  const judged = (make: (conversation: Conversation) => Search): JudgedQuestion[] =>
    all.flatMap((conversation) => {
      const search = make(conversation);
      return conversation.questions.map((question) => judgeQuestion(search, question));
    });
  const [mine, theirs] = [judged(createPerchSearch), judged(createMiniSearch)];
  const turns = all.reduce((sum, each) => sum + toPassages(each).length, 0);
  console.error(`${turns} turns, ${mine.length} questions`);
  const toFigure = (what: string, getScore: (each: JudgedQuestion) => number, only?: Question['kind']): Figure => {
    const mean = (some: readonly JudgedQuestion[]): number => {
      const selected = some.filter(({ kind }) => only === undefined || kind === only);
      return (100 * selected.reduce((sum, each) => sum + getScore(each), 0)) / selected.length;
    };
    return { what, unit: '%', ours: mean(mine), floor: { name: 'MiniSearch', value: mean(theirs) } };
  };
  const recall = toFigure('memory: recall@10', ({ recall10 }) => recall10);
  const above = recall.ours - (recall.floor?.value ?? 0);
  return Promise.resolve([
    toFigure('memory: recall@5', ({ recall5 }) => recall5),
    { ...recall, bar: { ...(toMinBar(above, 20, 'points above') ?? { met: false }), text: '20 points above' } },
    toFigure('memory: MRR', ({ reciprocal }) => reciprocal),
    toFigure('memory: nDCG@10', ({ gain }) => gain),
    ...QUESTION_KINDS.map((kind) => toFigure(`  recall@10, ${kind}`, ({ recall10 }) => recall10, kind)),
    ...repeatConversations(all, quick ? ENTRY_COUNT / 10 : ENTRY_COUNT),
  ]);
}

/** Time until the repeated conversations can be searched after a restart. */
export const benchRestartOfConversations = ({ quick }: { quick: boolean }): Promise<Figure[]> =>
  Promise.resolve(
    benchMemoryRestart(
      conversations().flatMap(({ name, sessions }) =>
        sessions.flatMap(({ turns }, nth) => turns.map(([, speaker, text]) => ({ session: `${name}/${nth}`, speaker, text }))),
      ),
      quick ? ENTRY_COUNT / 10 : ENTRY_COUNT,
    ),
  );

/** Repeats the same conversations under other names until there are `entries` entries. */
function repeatConversations(all: readonly Conversation[], entries: number): Figure[] {
  const search = new MemorySearch();
  const before = process.memoryUsage();
  const startedAt = performance.now();
  for (let round = 0; search.size < entries; round++) {
    for (const conversation of all) {
      for (const passage of toPassages(conversation)) {
        search.add({ ...passage, id: `${round}/${conversation.name}/${passage.id}`, thread: `${round}/${passage.thread}` });
      }
    }
  }
  const built = performance.now() - startedAt;
  const after = process.memoryUsage();
  const samples = all.flatMap(({ questions }) =>
    questions.map(({ question, askedAt }) => {
      const start = performance.now();
      search.search(question, { limit: 10, now: Date.parse(askedAt) });
      return performance.now() - start;
    }),
  );
  const many = `${entries.toLocaleString('en')} entries`;
  return [
    {
      what: `memory: search among ${many}, p50`,
      unit: 'ms',
      ours: computePercentile(samples, 0.5),
      bar: toMaxBar(computePercentile(samples, 0.5), MAX_SEARCH_MS, 'ms'),
    },
    { what: `memory: search among ${many}, p99`, unit: 'ms', ours: computePercentile(samples, 0.99) },
    { what: `memory: index of ${many} made`, unit: 's', ours: built / 1000 },
    {
      what: `memory: room of ${many}`,
      unit: 'MB',
      ours: (after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers) / 2 ** 20,
      bar: toMaxBar((after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers) / 2 ** 20, 150, 'MB'),
    },
  ];
}
