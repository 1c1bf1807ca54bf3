import type { SessionEntry, Usage } from '#shared/rpc/record-schemas.ts';
import { formatTokenUsage } from '../reply-facts.ts';
import { gateway } from '#app/connection/gateway-connection.svelte.ts';
import { formatNumber } from '#app/i18n/format.ts';
import { m } from '#app/i18n/messages.ts';
import { formatMoney } from '#app/i18n/format-money.ts';
import { MAIN_AGENT } from '#app/state/agents.svelte.ts';
import type { Chat } from '../chat.svelte.ts';
import { chats } from '../chats.ts';
import { models } from '#app/state/models.svelte.ts';
import type { PickedFile } from '#app/state/page-db.ts';

export const MAX_COLUMNS = 3;
/** Length of the part of the first chat's id that the tag of a comparison contains. */
const TAG_ID_CHARS = 4;

/** One model and the chat that it answers in; null before the first message. */
export interface ComparisonColumn {
  id: number;
  model: string;
  chat: Chat | null;
}

/** Duration of a reply until its first text and in total, in milliseconds; null if unknown. */
export interface ReplyTiming {
  first: number | null;
  total: number | null;
}

/** The same messages sent to several models, each in a chat of its own. */
export class ModelComparison {
  columns = $state.raw<ComparisonColumn[]>([]);
  readonly busy = $derived(this.columns.some(({ chat }) => chat?.busy));
  /** Ids of the chats. */
  readonly ids = $derived(this.columns.flatMap(({ chat }) => (chat ? [chat.sessionId] : [])));
  readonly started = $derived(this.columns.some(({ chat }) => chat !== null));
  #nextId = 0;

  /** `sessionIds`: the chats of an earlier visit; if there are fewer than two, the default model is compared with another one. */
  constructor(sessionIds: readonly string[]) {
    this.columns =
      sessionIds.length > 1
        ? sessionIds
            .slice(0, MAX_COLUMNS)
            .map((id) => this.#createColumn(models.getChosen(`${MAIN_AGENT}/${id}`) ?? models.defaultModel, id))
        : [this.#createColumn(models.defaultModel), this.#createColumn(this.#pickModel([models.defaultModel]))];
  }

  add(): void {
    this.columns = [...this.columns, this.#createColumn(this.#pickModel(this.columns.map(({ model }) => model)))];
  }

  remove(id: number): void {
    this.columns = this.columns.filter((column) => column.id !== id);
  }

  /** Changes the model of a column from the next message on. */
  choose(id: number, model: string): void {
    this.columns = this.columns.map((column) => (column.id === id ? { ...column, model } : column));
    const chat = this.columns.find((column) => column.id === id)?.chat;
    if (chat) models.choose(chat.key, model);
  }

  /** Sends a message to each model and returns the ids of the chats. `steer`: into running replies. */
  send(text: string, files: PickedFile[], steer: boolean): string[] {
    if (!this.started) {
      // Sorted ids keep the order of the columns, as the chats are created at the same time.
      const ids = this.columns.map(() => chats.createId()).sort();
      this.columns = this.columns.map((column, index) => ({ ...column, chat: chats.get(MAIN_AGENT, ids[index] ?? chats.createId()) }));
    }
    return this.columns.flatMap(({ chat, model }) => {
      if (!chat) return [];
      models.choose(chat.key, model);
      void chat.send(text, files, model, steer && chat.busy);
      return [chat.sessionId];
    });
  }

  stop(): void {
    for (const { chat } of this.columns) if (chat?.busy) void chat.stop();
  }

  /** The first model that is not among `usedKeys`, or the default one. */
  #pickModel(usedKeys: readonly string[]): string {
    return models.list.find(({ key }) => !usedKeys.includes(key))?.key ?? models.defaultModel;
  }

  #createColumn(model: string, sessionId?: string): ComparisonColumn {
    return { id: this.#nextId++, model, chat: sessionId === undefined ? null : chats.get(MAIN_AGENT, sessionId) };
  }
}

/** Tag that marks the chats of one comparison in the chat list. */
export const toComparisonTag = (sessionIds: readonly string[]): string =>
  m.chat_compare_tag({ id: sessionIds[0]?.slice(0, TAG_ID_CHARS) ?? '' });

/** Ids of the chats of the comparison to which a chat belongs, in the order of its page; empty if there is none or the other chats were deleted. */
export async function findComparedChats({ agentId, tags }: SessionEntry): Promise<string[]> {
  for (const tag of tags) {
    const tagged = (await gateway.call('sessions.list', { agentId, tag })).sessions.sort((a, b) => (a.sessionId < b.sessionId ? -1 : 1));
    // The text of the tag depends on the language, but it always contains the id of the first chat.
    const first = tagged.find(({ sessionId }) => tag.includes(sessionId.slice(0, TAG_ID_CHARS)));
    const ids = [...new Set([first, ...tagged])].flatMap((entry) => entry?.sessionId ?? []).slice(0, MAX_COLUMNS);
    if (first && ids.length > 1) return ids;
  }
  return [];
}

/** Measures the durations of a chat's replies. Returns a function that stops it. */
export function observeTiming(chat: Chat, onTiming: (timing: ReplyTiming) => void): () => void {
  let startedAt = 0;
  let first: number | null = null;
  const isOwnEvent = ({ agentId, sessionId }: { agentId: string; sessionId: string }): boolean =>
    agentId === chat.agentId && sessionId === chat.sessionId;
  const end = (event: { agentId: string; sessionId: string }): void => {
    if (!isOwnEvent(event)) return;
    if (startedAt > 0) onTiming({ first, total: performance.now() - startedAt });
    startedAt = 0;
  };
  const unsubscribers = [
    gateway.on('chat.message', (event) => {
      if (!isOwnEvent(event)) return;
      [startedAt, first] = [performance.now(), null];
      onTiming({ first, total: null });
    }),
    gateway.on('chat.delta', (event) => {
      if (!isOwnEvent(event) || startedAt === 0 || first !== null) return;
      first = performance.now() - startedAt;
      onTiming({ first, total: null });
    }),
    gateway.on('chat.done', end),
    gateway.on('chat.error', end),
  ];
  return () => unsubscribers.forEach((unsubscribe) => unsubscribe());
}

function formatSeconds(ms: number): string {
  const digits = ms < 10_000 ? 1 : 0;
  return m.reply_span_seconds({ seconds: formatNumber(ms / 1000, { minimumFractionDigits: digits, maximumFractionDigits: digits }) });
}

/** Times, tokens and cost of a reply, as far as they are known. */
export function formatTiming({ first, total }: ReplyTiming, usage: Usage | undefined): string[] {
  return [
    ...(first === null ? [] : [m.chat_compare_first_word({ time: formatSeconds(first) })]),
    ...(total === null ? [] : [m.chat_compare_whole({ time: formatSeconds(total) })]),
    ...(usage ? [formatTokenUsage(usage)] : []),
    ...(usage?.cost === undefined ? [] : [formatMoney(usage.cost)]),
  ];
}
