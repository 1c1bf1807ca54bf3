import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import MiniSearch from 'minisearch';
import { MemorySearch } from '../../web/gateway/core/memory/search/memory-search.ts';
import type { Passage } from '../../web/gateway/core/memory/search/passage.ts';
import { atLeast, atMost, type Figure } from './figures.ts';
import { memoryRestart } from './memory-restart.ts';
import { percentile } from './stats.ts';

const KINDS = ['single-hop', 'multi-hop', 'temporal', 'adversarial'] as const;
const ENTRIES = 50_000;

interface Question {
  question: string;
  /** Turns that answer it. */
  evidence: string[];
  kind: (typeof KINDS)[number];
  /** The day on which it is asked. */
  asked: string;
}

interface Conversation {
  name: string;
  language: string;
  sessions: { date: string; turns: [id: string, speaker: string, text: string][] }[];
  questions: Question[];
}

/** The ids of the best turns for a question, best first. */
type Search = (question: Question, limit: number) => string[];

/** Conversations with questions of which it is known what answers them. */
export const conversations = (): Conversation[] => {
  const folder = join(import.meta.dirname, 'conversations');
  return readdirSync(folder).map((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as Conversation);
};

const passagesOf = ({ name, sessions }: Conversation): Passage[] =>
  sessions.flatMap(({ date, turns }, session) =>
    turns.map(([id, speaker, text]) => ({ id, thread: `${name}/${session}`, text, speaker, at: Date.parse(`${date}Z`) })),
  );

function ours(conversation: Conversation): Search {
  const search = new MemorySearch();
  for (const passage of passagesOf(conversation)) search.add(passage);
  return ({ question, asked }, limit) => search.search(question, { limit, now: Date.parse(asked) }).map(({ passage }) => passage.id);
}

/** The peer: MiniSearch as it comes. */
function plain(conversation: Conversation): Search {
  const search = new MiniSearch<{ id: string; text: string }>({ fields: ['text'] });
  search.addAll(passagesOf(conversation).map(({ id, speaker, text }) => ({ id, text: `${speaker ?? ''}: ${text}` })));
  return ({ question }, limit) =>
    search
      .search(question)
      .slice(0, limit)
      .map(({ id }) => String(id));
}

interface Judged {
  kind: Question['kind'];
  recall5: number;
  recall10: number;
  reciprocal: number;
  gain: number;
}

function judge(search: Search, question: Question): Judged {
  const wanted = new Set(question.evidence);
  const found = search(question, 10).map((id) => wanted.has(id));
  const first = found.indexOf(true);
  const discounted = (hits: readonly boolean[]): number => hits.reduce((sum, hit, at) => sum + (hit ? 1 / Math.log2(at + 2) : 0), 0);
  const recall = (limit: number): number => found.slice(0, limit).filter(Boolean).length / wanted.size;
  return {
    kind: question.kind,
    recall5: recall(5),
    recall10: recall(10),
    reciprocal: first === -1 ? 0 : 1 / (first + 1),
    gain: discounted(found) / discounted(Array.from({ length: Math.min(10, wanted.size) }, () => true)),
  };
}

/** Quality of memory search compared with a plain search engine, and its speed among many entries. */
export function memorySearch({ quick }: { quick: boolean }): Promise<Figure[]> {
  const all = conversations();
  const judged = (make: (conversation: Conversation) => Search): Judged[] =>
    all.flatMap((conversation) => {
      const search = make(conversation);
      return conversation.questions.map((question) => judge(search, question));
    });
  const [mine, theirs] = [judged(ours), judged(plain)];
  const turns = all.reduce((sum, each) => sum + passagesOf(each).length, 0);
  console.error(`${turns} turns, ${mine.length} questions`);
  const pair = (what: string, of: (each: Judged) => number, only?: Question['kind']): Figure => {
    const mean = (some: readonly Judged[]): number => {
      const asked = some.filter(({ kind }) => only === undefined || kind === only);
      return (100 * asked.reduce((sum, each) => sum + of(each), 0)) / asked.length;
    };
    return { what, unit: '%', ours: mean(mine), floor: { name: 'MiniSearch', value: mean(theirs) } };
  };
  const recall = pair('memory: recall@10', ({ recall10 }) => recall10);
  const above = recall.ours - (recall.floor?.value ?? 0);
  return Promise.resolve([
    pair('memory: recall@5', ({ recall5 }) => recall5),
    { ...recall, bar: { ...(atLeast(above, 20, 'points above') ?? { met: false }), text: '20 points above' } },
    pair('memory: MRR', ({ reciprocal }) => reciprocal),
    pair('memory: nDCG@10', ({ gain }) => gain),
    ...KINDS.map((kind) => pair(`  recall@10, ${kind}`, ({ recall10 }) => recall10, kind)),
    ...among(all, quick ? ENTRIES / 10 : ENTRIES),
    ...memoryRestart(
      all.flatMap(({ name, sessions }) =>
        sessions.flatMap(({ turns }, nth) => turns.map(([, speaker, text]) => ({ session: `${name}/${nth}`, speaker, text }))),
      ),
      quick ? ENTRIES / 10 : ENTRIES,
    ),
  ]);
}

/** Repeats the same conversations under other names until there are `entries` entries. */
function among(all: readonly Conversation[], entries: number): Figure[] {
  const search = new MemorySearch();
  const before = process.memoryUsage();
  const began = performance.now();
  for (let round = 0; search.size < entries; round++) {
    for (const conversation of all) {
      for (const passage of passagesOf(conversation)) {
        search.add({ ...passage, id: `${round}/${conversation.name}/${passage.id}`, thread: `${round}/${passage.thread}` });
      }
    }
  }
  const built = performance.now() - began;
  const grown = process.memoryUsage();
  const samples = all.flatMap(({ questions }) =>
    questions.map(({ question, asked }) => {
      const start = performance.now();
      search.search(question, { limit: 10, now: Date.parse(asked) });
      return performance.now() - start;
    }),
  );
  const many = `${entries.toLocaleString('en')} entries`;
  return [
    {
      what: `memory: search among ${many}, p50`,
      unit: 'ms',
      ours: percentile(samples, 0.5),
      bar: atMost(percentile(samples, 0.5), 20, 'ms'),
    },
    { what: `memory: search among ${many}, p99`, unit: 'ms', ours: percentile(samples, 0.99) },
    { what: `memory: index of ${many} made`, unit: 's', ours: built / 1000 },
    {
      what: `memory: room of ${many}`,
      unit: 'MB',
      ours: (grown.heapUsed + grown.arrayBuffers - before.heapUsed - before.arrayBuffers) / 2 ** 20,
      bar: atMost((grown.heapUsed + grown.arrayBuffers - before.heapUsed - before.arrayBuffers) / 2 ** 20, 150, 'MB'),
    },
  ];
}
