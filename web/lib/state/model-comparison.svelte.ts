import type { SessionEntry, Usage } from '#shared/rpc/record-schemas.ts';
import { formatTokenUsage } from '#lib/chat/reply-facts.ts';
import { gateway } from '#lib/gateway/gateway-connection.svelte.ts';
import { formatNumber } from '#lib/i18n/format.ts';
import { m } from '#lib/i18n/chat-messages.ts';
import { formatMoney } from '#lib/i18n/format-money.ts';
import { MAIN_AGENT } from './agents.svelte.ts';
import type { Chat } from './chat.svelte.ts';
import { chats } from './chats.ts';
import { models } from './models.svelte.ts';
import type { PickedFile } from './page-db.ts';

export const MAX_COLUMNS = 3;
/** So much of the first chat's id is in the mark of a comparison. */
const TAG_ID_CHARS = 4;

/** One model and the chat that it answers in; null before the first message. */
export interface ComparisonColumn {
  id: number;
  model: string;
  chat: Chat | null;
}

/** How long a reply took, milliseconds; null where it was not seen from its beginning. */
export interface ReplyTiming {
  first: number | null;
  total: number | null;
}

/** The same messages sent to several models, each in a chat of its own. */
export class ModelComparison {
  columns = $state.raw<ComparisonColumn[]>([]);
  readonly busy = $derived(this.columns.some(({ chat }) => chat?.busy));
  /** The chats that there are. */
  readonly ids = $derived(this.columns.flatMap(({ chat }) => (chat ? [chat.sessionId] : [])));
  readonly started = $derived(this.columns.some(({ chat }) => chat !== null));
  #nextId = 0;

  /** The chats of an earlier visit, or none: then the default model and another one. */
  constructor(sessionIds: readonly string[]) {
    this.columns =
      sessionIds.length > 1
        ? sessionIds
            .slice(0, MAX_COLUMNS)
            .map((id) => this.#createColumn(models.getChosen(`${MAIN_AGENT}/${id}`) ?? models.defaultModel, id))
        : [this.#createColumn(models.defaultModel), this.#createColumn(this.#createChatId([models.defaultModel]))];
  }

  add(): void {
    this.columns = [...this.columns, this.#createColumn(this.#createChatId(this.columns.map(({ model }) => model)))];
  }

  remove(id: number): void {
    this.columns = this.columns.filter((column) => column.id !== id);
  }

  /** From the next message on. */
  choose(id: number, model: string): void {
    this.columns = this.columns.map((column) => (column.id === id ? { ...column, model } : column));
    const chat = this.columns.find((column) => column.id === id)?.chat;
    if (chat) models.choose(chat.key, model);
  }

  /** Sends one message to each model; the ids of their chats. */
  send(text: string, files: PickedFile[], now: boolean): string[] {
    if (!this.started) {
      // Their ids are in the order of the columns: the chats themselves begin at once, in any order.
      const ids = this.columns.map(() => chats.createId()).sort();
      this.columns = this.columns.map((column, nth) => ({ ...column, chat: chats.get(MAIN_AGENT, ids[nth] ?? chats.createId()) }));
    }
    return this.columns.flatMap(({ chat, model }) => {
      if (!chat) return [];
      models.choose(chat.key, model);
      void chat.send(text, files, model, now && chat.busy);
      return [chat.sessionId];
    });
  }

  stop(): void {
    for (const { chat } of this.columns) if (chat?.busy) void chat.stop();
  }

  #createChatId(usedIds: readonly string[]): string {
    return models.list.find(({ key }) => !usedIds.includes(key))?.key ?? models.defaultModel;
  }

  #createColumn(model: string, sessionId?: string): ComparisonColumn {
    return { id: this.#nextId++, model, chat: sessionId === undefined ? null : chats.get(MAIN_AGENT, sessionId) };
  }
}

/** Tag that marks the chats of one comparison in the chat list. */
export const toComparisonTag = (sessionIds: readonly string[]): string =>
  m.chat_compare_tag({ id: sessionIds[0]?.slice(0, TAG_ID_CHARS) ?? '' });

/** The chats of the comparison that a chat came of, as its page shows them; none where it came of none, or the others are gone. */
export async function findComparedChats({ agentId, tags }: SessionEntry): Promise<string[]> {
  for (const tag of tags) {
    const marked = (await gateway.call('sessions.list', { agentId, tag })).sessions.sort((a, b) => (a.sessionId < b.sessionId ? -1 : 1));
    // The mark is said in the language that was spoken then, but always names the first of them.
    const first = marked.find(({ sessionId }) => tag.includes(sessionId.slice(0, TAG_ID_CHARS)));
    const ids = [...new Set([first, ...marked])].flatMap((entry) => entry?.sessionId ?? []).slice(0, MAX_COLUMNS);
    if (first && ids.length > 1) return ids;
  }
  return [];
}

/** Times one chat's replies as they are seen; undo stops it. */
export function observeTiming(chat: Chat, onTiming: (pace: ReplyTiming) => void): () => void {
  let began = 0;
  let first: number | null = null;
  const mine = ({ agentId, sessionId }: { agentId: string; sessionId: string }): boolean =>
    agentId === chat.agentId && sessionId === chat.sessionId;
  const end = (event: { agentId: string; sessionId: string }): void => {
    if (!mine(event)) return;
    if (began > 0) onTiming({ first, total: performance.now() - began });
    began = 0;
  };
  const off = [
    gateway.on('chat.message', (event) => {
      if (!mine(event)) return;
      [began, first] = [performance.now(), null];
      onTiming({ first, total: null });
    }),
    gateway.on('chat.delta', (event) => {
      if (!mine(event) || began === 0 || first !== null) return;
      first = performance.now() - began;
      onTiming({ first, total: null });
    }),
    gateway.on('chat.done', end),
    gateway.on('chat.error', end),
  ];
  return () => off.forEach((each) => each());
}

function computeSpan(ms: number): string {
  const digits = ms < 10_000 ? 1 : 0;
  return m.reply_span_seconds({ seconds: formatNumber(ms / 1000, { minimumFractionDigits: digits, maximumFractionDigits: digits }) });
}

/** Times, tokens and cost of a reply, as far as they are known. */
export function formatTiming({ first, total }: ReplyTiming, usage: Usage | undefined): string[] {
  return [
    ...(first === null ? [] : [m.chat_compare_first_word({ time: computeSpan(first) })]),
    ...(total === null ? [] : [m.chat_compare_whole({ time: computeSpan(total) })]),
    ...(usage ? [formatTokenUsage(usage)] : []),
    ...(usage?.cost === undefined ? [] : [formatMoney(usage.cost)]),
  ];
}
