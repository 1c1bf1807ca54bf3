import { Buffer } from 'node:buffer';
import { until } from '../../support/gateway.ts';
import type { Step } from './obedient-model.ts';
import { step } from './sources.ts';
import { World } from './world.ts';

const DAYS = 30;
const CHATS_A_DAY = 8;
/** Share of chats that end after each turn: 2.5 turns on average, as in WildChat (https://arxiv.org/abs/2405.01470), whose conversations have 2.52. */
const ENDS = 0.4;
const MAX_TURNS = 20;

/**
 * Share of chats by what they are about. Most are talk. A quarter has content of others, which is more than the sixth of all messages to a popular assistant that seek
 * information, as an agent is at hand for it; documents, pictures and mails come in the first turn, pages in any.
 */
const KINDS = { talk: 0.56, own: 0.16, web: 0.13, document: 0.06, picture: 0.03, mail: 0.03, notes: 0.03 } as const;
type Kind = keyof typeof KINDS;

/** A later turn of a chat that has read something reads something new. */
const READS_ON = 0.35;
/** A chat that has read something leaves a note, or a memory. */
const LEAVES_NOTE = 0.3;
const LEAVES_MEMORY = 0.15;
/** A turn of any chat searches the chats before it. */
const SEARCHES = 0.04;
/** Share of chats that continue in one chat for the whole week. */
const IN_WEEKLY_CHAT = 0.1;
/** Labelled content that its owner approves at the end of a week. */
const REVIEWS = 0.5;
/** The owner trusts a chat that asks because of outside content in a turn that reads nothing. */
const TRUSTS = 0.5;

const TOPICS = ['tulips', 'ferries', 'bread', 'heating', 'bicycles', 'taxes', 'the boat', 'Bea'];
const PICTURE = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';

interface Turn {
  steps: Step[];
  attachments: { filename: string; mimeType: string; content: string }[];
  /** Whether it reads new content from others. */
  isReading: boolean;
  /** Whether it reads the results of earlier runs. */
  uses: Cause | undefined;
}

/** The reason why a turn without new outside content is tainted. */
export type Cause = 'earlier in the chat' | 'earlier in the chat of the week' | 'an unreviewed file' | 'a search of chats' | 'other';

export interface Month {
  turns: number;
  /** Turns without new outside content, and those of them that are tainted. */
  ownTurns: number;
  tainted: Map<Cause, number>;
  /** Approvals that were asked for because of outside content. */
  approvals: number;
  /** Chats whose last reply was tainted. */
  taintedChats: Set<string>;
}

/** Numbers from 0 to 1 that are the same in each run (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** A month of one vault: its owner's chats, a daily job that reads the web, and a review at the end of each week. */
export async function simulateMonth({ days = DAYS, seed = 1 } = {}): Promise<Month> {
  await using world = await World.open({ policies: { web_fetch: 'auto', 'mcp:*': 'auto' }, decide: () => 'approve' });
  await world.startMcp();
  const random = createRandom(seed);
  const month: Month = { turns: 0, ownTurns: 0, tainted: new Map(), approvals: 0, taintedChats: new Set() };
  const grant = { tools: ['file_write'], paths: ['reports/'] };
  const { jobId } = await world.client.call('cron.add', { cron: '0 7 * * *', message: 'Write the report', outsideGrant: grant });
  for (let day = 0; day < days; day++) {
    await runJob(world, jobId, day);
    for (let chat = 0; chat < CHATS_A_DAY; chat++) await haveChat(world, random, day, chat, month);
    if (day % 7 === 6) await review(world, random);
  }
  month.approvals = world.asked.filter(({ outside }) => outside.length > 0).length;
  return month;
}

async function runJob({ client, model }: World, jobId: string, day: number): Promise<void> {
  model.wishes.push(
    step('web_fetch', { url: 'https://news.test/' }),
    step('file_write', { path: `reports/${day}.md`, content: 'The news' }),
  );
  await client.call('cron.run', { id: jobId });
  const ended = async (): Promise<number> =>
    (await client.call('cron.history', { jobId, limit: 200 })).records.filter(({ status }) => status !== 'running').length;
  await until(async () => (await ended()) > day, 'the end of the job');
  model.wishes.splice(0);
}

async function review({ client }: World, random: () => number): Promise<void> {
  for (const { id } of (await client.call('review.list', {})).items) if (random() < REVIEWS) await client.call('review.approve', { id });
}

function chooseKind(random: () => number): Kind {
  let left = random();
  for (const [kind, share] of Object.entries(KINDS) as [Kind, number][]) if ((left -= share) < 0) return kind;
  return 'talk';
}

async function haveChat(world: World, random: () => number, day: number, chat: number, month: Month): Promise<void> {
  const kind = chooseKind(random);
  const session = random() < IN_WEEKLY_CHAT ? `week-${Math.floor(day / 7)}` : `day-${day}-${chat}`;
  let count = 1;
  while (random() > ENDS && count < MAX_TURNS) count++;
  const readsAt = kind === 'web' ? Math.floor(random() * count) : 0;
  for (let at = 0; at < count; at++) {
    const topic = TOPICS[Math.floor(random() * TOPICS.length)] ?? 'tulips';
    const turn = planTurn({ kind, random, topic, day, isFirst: at === readsAt, isAfter: at > readsAt });
    const isTaintedBefore = month.taintedChats.has(session);
    const { length: asked } = world.asked;
    await world.chat(`Tell me about ${topic}`, turn.steps, { session, attachments: turn.attachments });
    const isTaintedNow = await isTainted(world, session);
    if (isTaintedNow) month.taintedChats.add(session);
    month.turns++;
    if (turn.isReading) continue;
    month.ownTurns++;
    if (!isTaintedNow) continue;
    const cause: Cause = isTaintedBefore
      ? session.startsWith('week')
        ? 'earlier in the chat of the week'
        : 'earlier in the chat'
      : (turn.uses ?? 'other');
    month.tainted.set(cause, (month.tainted.get(cause) ?? 0) + 1);
    if (world.asked.slice(asked).every(({ outside }) => outside.length === 0) || random() >= TRUSTS) continue;
    await world.client.call('review.trustChat', { sessionId: session });
    month.taintedChats.delete(session);
  }
}

/** True if the last reply of a chat has outside content in its context. */
async function isTainted({ client }: World, sessionId: string): Promise<boolean> {
  const { messages } = await client.call('chat.history', { sessionId, limit: 1 });
  return (messages.at(-1)?.outside ?? []).length > 0;
}

interface Plan {
  kind: Kind;
  random: () => number;
  topic: string;
  day: number;
  /** The turn in which the chat reads what it is about; a later one. */
  isFirst: boolean;
  isAfter: boolean;
}

function planTurn({ kind, random, topic, day, isFirst, isAfter }: Plan): Turn {
  const turn: Turn = { steps: [], attachments: [], isReading: false, uses: undefined };
  const isOutside = kind === 'web' || kind === 'document' || kind === 'picture' || kind === 'mail';
  if (isOutside && (isFirst || (isAfter && random() < READS_ON))) {
    turn.isReading = true;
    read(turn, isFirst ? kind : 'web', topic);
    const name = `${topic.replace(' ', '-')}-${day}-${Math.floor(random() * 1e6)}`;
    if (isFirst && random() < LEAVES_NOTE) turn.steps.push(step('file_write', { path: `notes/${name}.md`, content: `Of ${topic}` }));
    if (isFirst && random() < LEAVES_MEMORY) turn.steps.push(step('memory_add', { text: `Of ${name}: it is worth knowing` }));
  } else if (kind === 'own') {
    turn.steps.push(
      random() < 0.5
        ? step('file_write', { path: `own/${topic}.md`, content: `Mine of ${topic}` })
        : step('memory_add', { text: `I like ${topic} on day ${day}` }),
    );
  } else if (kind === 'notes' && isFirst) {
    turn.uses = 'an unreviewed file';
    turn.steps.push(step('file_list', { under: 'reports', unreviewed: true }), step('file_read', { path: `reports/${day}.md` }));
  }
  if (!turn.isReading && random() < SEARCHES) {
    turn.uses ??= 'a search of chats';
    turn.steps.push(step('session_search', { query: topic }));
  }
  return turn;
}

function read(turn: Turn, kind: Kind, topic: string): void {
  if (kind === 'mail') turn.steps.push(step('mcp__mail__read_mail', {}));
  else if (kind === 'picture') turn.attachments.push({ filename: 'a.png', mimeType: 'image/png', content: PICTURE });
  else if (kind === 'document') {
    turn.attachments.push({ filename: 'a.txt', mimeType: 'text/plain', content: Buffer.from(`Of ${topic}`).toString('base64') });
    turn.steps.push(step('read_text_file', { attachment: 'a.txt' }));
  } else turn.steps.push(step('web_fetch', { url: `https://pages.test/${encodeURIComponent(topic)}` }));
}
