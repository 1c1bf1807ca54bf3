import { Buffer } from 'node:buffer';
import { waitFor } from '../../support/test-gateway.ts';
import type { ModelStep } from './obedient-model.ts';
import { toStep } from './local-sources.ts';
import { World } from './injection-world.ts';

const DAYS = 30;
const CHATS_PER_DAY = 8;
/** Share of chats that end after each turn: 2.5 turns on average, as in WildChat (https://arxiv.org/abs/2405.01470), whose conversations have 2.52. */
const CHAT_END_SHARE = 0.4;
const MAX_TURNS = 20;

/**
 * Share of chats by what they are about. Most are talk. A quarter has content of others, which is more than the sixth of all messages to a popular assistant that seek
 * information, as an agent is at hand for it; documents, pictures and mails come in the first turn, pages in any.
 */
const KIND_SHARES = { talk: 0.56, own: 0.16, web: 0.13, document: 0.06, picture: 0.03, mail: 0.03, notes: 0.03 } as const;
type ChatKind = keyof typeof KIND_SHARES;

/** Share of later turns that read new content, in chats that have read some. */
const READ_AGAIN_SHARE = 0.35;
/** Shares of chats that store a note or a memory after reading content. */
const NOTE_SHARE = 0.3;
const MEMORY_SHARE = 0.15;
/** Share of turns that search earlier chats. */
const SEARCH_SHARE = 0.04;
/** Share of chats that continue in one chat for the whole week. */
const WEEKLY_CHAT_SHARE = 0.1;
/** Share of labelled content that the owner approves at the end of a week. */
const REVIEWED_SHARE = 0.5;
/** Share of chats that the owner trusts if approval is required in a turn that reads nothing new. */
const TRUST_SHARE = 0.5;

const TOPICS = ['tulips', 'ferries', 'bread', 'heating', 'bicycles', 'taxes', 'the boat', 'Bea'];
const PICTURE = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';

interface ChatTurn {
  steps: ModelStep[];
  attachments: { filename: string; mimeType: string; content: string }[];
  /** Whether the turn reads new content from outside. */
  isReading: boolean;
  /** The reason if the turn reads results of earlier runs. */
  uses: TaintCause | undefined;
}

/** The reason why a turn without new outside content is tainted. */
export type TaintCause = 'earlier in the chat' | 'earlier in the chat of the week' | 'an unreviewed file' | 'a search of chats' | 'other';

export interface MonthResult {
  turns: number;
  /** Number of turns without new outside content, and of tainted ones among them. */
  ownTurns: number;
  tainted: Map<TaintCause, number>;
  /** Approvals required because of outside content. */
  approvals: number;
  /** Chats whose last reply was tainted. */
  taintedChats: Set<string>;
}

/** Creates a random number generator from 0 to 1 with a fixed seed (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Simulates a month of one vault: its owner's chats, a daily job that reads the web, and a review at the end of each week. */
export async function simulateMonth({ days = DAYS, seed = 1 } = {}): Promise<MonthResult> {
  await using world = await World.open({ policies: { web_fetch: 'auto', 'mcp:*': 'auto' }, decide: () => 'approve' });
  await world.startMcp();
  const random = createRandom(seed);
  const month: MonthResult = { turns: 0, ownTurns: 0, tainted: new Map(), approvals: 0, taintedChats: new Set() };
  const grant = { tools: ['file_write'], paths: ['reports/'] };
  const { jobId } = await world.client.call('cron.add', { cron: '0 7 * * *', message: 'Write the report', outsideGrant: grant });
  for (let day = 0; day < days; day++) {
    await runJob(world, jobId, day);
    for (let chat = 0; chat < CHATS_PER_DAY; chat++) await runChat(world, random, day, chat, month);
    if (day % 7 === 6) await review(world, random);
  }
  month.approvals = world.approvalRequests.filter(({ outside }) => outside.length > 0).length;
  return month;
}

async function runJob({ client, model }: World, jobId: string, day: number): Promise<void> {
  model.ownerRequests.push(
    toStep('web_fetch', { url: 'https://news.test/' }),
    toStep('file_write', { path: `reports/${day}.md`, content: 'The news' }),
  );
  await client.call('cron.run', { id: jobId });
  const ended = async (): Promise<number> =>
    (await client.call('cron.history', { jobId, limit: 200 })).records.filter(({ status }) => status !== 'running').length;
  await waitFor(async () => (await ended()) > day, 'the end of the job');
  model.ownerRequests.splice(0);
}

async function review({ client }: World, random: () => number): Promise<void> {
  for (const { id } of (await client.call('review.list', {})).items)
    if (random() < REVIEWED_SHARE) await client.call('review.approve', { id });
}

function chooseKind(random: () => number): ChatKind {
  let left = random();
  for (const [kind, share] of Object.entries(KIND_SHARES) as [ChatKind, number][]) if ((left -= share) < 0) return kind;
  return 'talk';
}

async function runChat(world: World, random: () => number, day: number, chat: number, month: MonthResult): Promise<void> {
  const kind = chooseKind(random);
  const session = random() < WEEKLY_CHAT_SHARE ? `week-${Math.floor(day / 7)}` : `day-${day}-${chat}`;
  let count = 1;
  while (random() > CHAT_END_SHARE && count < MAX_TURNS) count++;
  const readsAt = kind === 'web' ? Math.floor(random() * count) : 0;
  for (let at = 0; at < count; at++) {
    const topic = TOPICS[Math.floor(random() * TOPICS.length)] ?? 'tulips';
    const turn = planTurn({ kind, random, topic, day, isFirst: at === readsAt, isAfter: at > readsAt });
    const isTaintedBefore = month.taintedChats.has(session);
    const { length: approvalsBefore } = world.approvalRequests;
    await world.chat(`Tell me about ${topic}`, turn.steps, { session, attachments: turn.attachments });
    const isTaintedNow = await isTainted(world, session);
    if (isTaintedNow) month.taintedChats.add(session);
    month.turns++;
    if (turn.isReading) continue;
    month.ownTurns++;
    if (!isTaintedNow) continue;
    const cause: TaintCause = isTaintedBefore
      ? session.startsWith('week')
        ? 'earlier in the chat of the week'
        : 'earlier in the chat'
      : (turn.uses ?? 'other');
    month.tainted.set(cause, (month.tainted.get(cause) ?? 0) + 1);
    if (world.approvalRequests.slice(approvalsBefore).every(({ outside }) => outside.length === 0) || random() >= TRUST_SHARE) continue;
    await world.client.call('review.trustChat', { sessionId: session });
    month.taintedChats.delete(session);
  }
}

/** Whether the last reply of a chat has outside content in its context. */
async function isTainted({ client }: World, sessionId: string): Promise<boolean> {
  const { messages } = await client.call('chat.history', { sessionId, limit: 1 });
  return (messages.at(-1)?.outside ?? []).length > 0;
}

interface TurnPlan {
  kind: ChatKind;
  random: () => number;
  topic: string;
  day: number;
  /** The turn in which the chat reads its content, and a later turn. */
  isFirst: boolean;
  isAfter: boolean;
}

function planTurn({ kind, random, topic, day, isFirst, isAfter }: TurnPlan): ChatTurn {
  const turn: ChatTurn = { steps: [], attachments: [], isReading: false, uses: undefined };
  const isOutside = kind === 'web' || kind === 'document' || kind === 'picture' || kind === 'mail';
  if (isOutside && (isFirst || (isAfter && random() < READ_AGAIN_SHARE))) {
    turn.isReading = true;
    addReading(turn, isFirst ? kind : 'web', topic);
    const name = `${topic.replace(' ', '-')}-${day}-${Math.floor(random() * 1e6)}`;
    if (isFirst && random() < NOTE_SHARE) turn.steps.push(toStep('file_write', { path: `notes/${name}.md`, content: `Of ${topic}` }));
    if (isFirst && random() < MEMORY_SHARE) turn.steps.push(toStep('memory_add', { text: `Of ${name}: it is worth knowing` }));
  } else if (kind === 'own') {
    turn.steps.push(
      random() < 0.5
        ? toStep('file_write', { path: `own/${topic}.md`, content: `Mine of ${topic}` })
        : toStep('memory_add', { text: `I like ${topic} on day ${day}` }),
    );
  } else if (kind === 'notes' && isFirst) {
    turn.uses = 'an unreviewed file';
    turn.steps.push(toStep('file_list', { under: 'reports', unreviewed: true }), toStep('file_read', { path: `reports/${day}.md` }));
  }
  if (!turn.isReading && random() < SEARCH_SHARE) {
    turn.uses ??= 'a search of chats';
    turn.steps.push(toStep('session_search', { query: topic }));
  }
  return turn;
}

function addReading(turn: ChatTurn, kind: ChatKind, topic: string): void {
  if (kind === 'mail') turn.steps.push(toStep('mcp__mail__read_mail', {}));
  else if (kind === 'picture') turn.attachments.push({ filename: 'a.png', mimeType: 'image/png', content: PICTURE });
  else if (kind === 'document') {
    turn.attachments.push({ filename: 'a.txt', mimeType: 'text/plain', content: Buffer.from(`Of ${topic}`).toString('base64') });
    turn.steps.push(toStep('read_text', { attachment: 'a.txt' }));
  } else turn.steps.push(toStep('web_fetch', { url: `https://pages.test/${encodeURIComponent(topic)}` }));
}
