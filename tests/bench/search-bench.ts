import { setTimeout as sleep } from 'node:timers/promises';
import { launchBrowser } from '../e2e/test-browser.ts';
import { startPerch } from '../e2e/perch-process.ts';
import { SocketCaller } from './caller.ts';
import { toMaxBar, type Figure } from './figures.ts';
import { disableRateLimit } from './bench-gateway.ts';
import { measureIndexBytes, isSettled, seedSessions } from './search-seed.ts';
import { computeMedian, computePercentile, measureSequential } from './stats.ts';

const MESSAGES_PER_SESSION = 200;
/** Number of sessions written by one call of the page. */
const SESSIONS_PER_BATCH = 500;
const POLL_MS = 50;

/** Ranks in the seed's list of words: in a fifth of all messages, and in one in a thousand. */
const QUERIES: [what: string, query: string][] = [
  ['a word of one message', 'unique123'],
  ['a common word', 'wordCommon'],
  ['a common and a rare one', 'both'],
  ['the beginning of words', 'prefix'],
  ['a phrase of two', 'phrase'],
];

/** Sessions of several years: listing, opening, searching, and the cost of the index. */
export async function benchSearch({ quick }: { quick: boolean }): Promise<Figure[]> {
  const sessions = Number(process.env['PERCH_BENCH_SESSIONS'] ?? (quick ? 500 : 10_000));
  const rounds = quick ? 10 : 30;
  await using perch = await startPerch({ host: 'tab' });
  await using browser = await launchBrowser();
  // The app creates the vault, which is then filled while the app is closed.
  const app = await browser.page(await perch.open());
  await app.locator('#composer').waitFor();
  using first = await connectCaller(perch.wsUrl, perch.token);
  await disableRateLimit(first);
  const health = await browser.page(`${perch.url}/health`);
  await app.close();
  await browser.killSharedWorkers(perch.url);
  const seeding = performance.now();
  let text = 0;
  for (let at = 0; at < sessions; at += SESSIONS_PER_BATCH)
    text += await health.evaluate(seedSessions, [at, Math.min(sessions, at + SESSIONS_PER_BATCH), MESSAGES_PER_SESSION] as const);
  console.error(`seeded ${sessions} × ${MESSAGES_PER_SESSION} in ${((performance.now() - seeding) / 1000).toFixed(0)} s`);

  const page = await browser.page(perch.url);
  await page.locator('#composer').waitFor();
  using caller = await connectCaller(perch.wsUrl, perch.token);
  const building = performance.now();
  const latencies: number[] = [];
  const find = async (query: string, params: Record<string, unknown> = {}): Promise<SearchResults> =>
    (JSON.parse(await caller.call('sessions.search', { query, ...params })) as { payload: SearchResults }).payload;
  let searchCount = 0;
  for (let complete = false; !complete;) {
    latencies.push(...(await measureSequential(1, () => caller.call('health', {}))));
    await sleep(POLL_MS);
    if (++searchCount % 20 === 0) complete = !(await find('unique1')).incomplete;
  }
  const built = performance.now() - building;
  console.error(`index of ${sessions * MESSAGES_PER_SESSION} messages complete after ${(built / 1000).toFixed(0)} s`);
  for (let settled = 0; settled < 3;) {
    await sleep(1_000);
    settled = (await health.evaluate(isSettled)) ? settled + 1 : 0;
  }
  console.error(`merged after ${((performance.now() - building) / 1000).toFixed(0)} s`);
  const index = await health.evaluate(measureIndexBytes);

  const idle = await measureSequential(200, () => caller.call('health', {}));
  const words = await listWords(caller);
  const figures: Figure[] = [];
  const measure = async (what: string, limit: number, call: (round: number) => Promise<unknown>): Promise<void> => {
    let round = 0;
    const samples = await measureSequential(rounds, () => call(round++));
    const p50 = computeMedian(samples);
    figures.push(
      { what: `${what}, p50`, unit: 'ms', ours: p50, bar: toMaxBar(p50, limit, 'ms') },
      { what: '  p95', unit: 'ms', ours: computePercentile(samples, 0.95) },
    );
  };
  const many = `${sessions.toLocaleString('en')} × ${MESSAGES_PER_SESSION}`;
  await measure(`${many}: list, all of them`, 50, () => caller.call('sessions.list', {}));
  await measure('  list, 200 of them', 50, () => caller.call('sessions.list', { limit: 200 }));
  await measure('  open: the last 200 messages of a chat', 100, (round) =>
    caller.call('chat.history', { sessionId: `s${(round * 37) % sessions}` }),
  );
  for (const [what, kind] of QUERIES) {
    await measure(`  search: ${what}`, 100, (round) => find(createQuery(kind, words, round, sessions)));
  }
  return [
    ...figures,
    { what: '  index made, messages', unit: '/s', ours: (sessions * MESSAGES_PER_SESSION) / (built / 1000) },
    {
      ...{
        what: '    `health` meanwhile, p95',
        unit: 'ms',
        ours: computePercentile(latencies, 0.95),
        bar: toMaxBar(computePercentile(latencies, 0.95), 50, 'ms'),
      },
      floor: { name: 'after', value: computePercentile(idle, 0.95) },
    },
    { what: '    the longest', unit: 'ms', ours: Math.max(...latencies), floor: { name: 'after', value: Math.max(...idle) } },
    {
      what: '  index by the texts’ bytes',
      unit: 'MB',
      ours: index / 2 ** 20,
      floor: { name: 'texts', value: text / 2 ** 20 },
      ratio: index / text,
    },
  ];
}

interface SearchResults {
  results: { snippet: string; total: number | null }[];
  incomplete?: boolean;
}

/** The host is ready once a page has connected. */
async function connectCaller(url: string, token: string): Promise<SocketCaller> {
  for (let tries = 0; ; tries++) {
    try {
      return await SocketCaller.connect(url, token);
    } catch (error) {
      if (tries > 50) throw error;
      await sleep(200);
    }
  }
}

/** First words of chats, with a natural frequency. */
async function listWords(caller: SocketCaller): Promise<string[][]> {
  const { payload } = JSON.parse(await caller.call('chat.history', { sessionId: 's7' })) as {
    payload: { messages: { content: string }[] };
  };
  return payload.messages.map(({ content }) => content.split(' '));
}

function createQuery(kind: string, words: readonly string[][], round: number, sessions: number): string {
  const message = words[round % words.length] ?? [];
  const rare = message.toSorted((a, b) => b.length - a.length)[0] ?? '';
  const counts = new Map<string, number>();
  for (const word of words.flat()) counts.set(word, (counts.get(word) ?? 0) + 1);
  const common = [...counts].sort(([, a], [, b]) => b - a)[5 + (round % 20)]?.[0] ?? '';
  if (kind === 'unique123') return `unique${(round * 31) % sessions}`;
  if (kind === 'wordCommon') return `${common} `;
  if (kind === 'both') return `${common} ${rare} `;
  if (kind === 'prefix') return rare.slice(0, 4);
  return `"${message[3]} ${message[4]}"`;
}
