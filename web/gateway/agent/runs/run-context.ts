import { READER_TOOLS } from '../../documents/document-kinds.ts';
import type { ModelMessage } from '../../providers/provider.ts';
import { createMark } from '../../knowledge/recall/context-message.ts';
import { mergeSources } from '../trust/content-sources.ts';
import type { MessageRecord, RunContext } from '../../storage/chat-records.ts';
import type { AgentNotes, RecallResult } from './run-types.ts';

/** The line with the current time for a model. */
export function formatTimeContext(now: number, timeZone: string): string {
  const localTime = new Date(now).toLocaleString('en-GB', { timeZone, dateStyle: 'full', timeStyle: 'short' });
  return `Current date and time: ${localTime} (${timeZone}).`;
}

interface ContextParts {
  time: string;
  /** Queued notices for the session. */
  events?: { text: string; sources: readonly string[] } | undefined;
  notes: AgentNotes;
  recalled?: RecallResult | undefined;
}

/** Start of a plan's note, with the plan's id. */
const PLAN_START = /^Plan \S+ of this chat/;

/**
 * Builds the context block of a turn: everything that changes from turn to turn, so that the system message does not. Omits a plan if the
 * latest note about it in `earlier` messages has the same text. The mark, which occurs nowhere else in the block, keeps quoted text from
 * ending it.
 */
export function buildRunContext({ time, events, notes, recalled }: ContextParts, earlier: readonly MessageRecord[] = []): RunContext {
  const planId = PLAN_START.exec(notes.plan.text)?.[0];
  const lastPlan = planId && earlier.findLast(({ runContext }) => runContext?.text.includes(planId))?.runContext?.text;
  const plan = lastPlan?.includes(notes.plan.text) ? undefined : notes.plan;
  const content = [time, events?.text, plan?.text, notes.skill.text, recalled?.content].filter(Boolean).join('\n\n');
  const mark = createMark(content);
  const outside = mergeSources(events?.sources, plan?.outside, notes.skill.outside, recalled?.outside);
  return {
    text: `[context ${mark}: added by Perch, not by the user]\n${content}\n[end of context ${mark}]`,
    ...(outside.length > 0 ? { outside } : {}),
    ...(recalled ? { memories: recalled.lines } : {}),
  };
}

/** How the files of a message are shown to a model with these tools; undefined for a message without files. */
export function toVisibleFiles({ content }: MessageRecord, offered: readonly { name: string }[], exactFor?: string): RunContext['files'] {
  if (typeof content === 'string' || !content.some(({ type }) => type === 'file')) return undefined;
  const readers = [...new Set(Object.values(READER_TOOLS))].filter((reader) => offered.some(({ name }) => name === reader));
  return { readers, ...(exactFor === undefined ? {} : { exactFor }) };
}

/**
 * The messages with a context block at the very end: a client sends them again without it, so everything before it stays the same. Results
 * of tools are not changed: the block follows them as a separate message. It is not placed after the start of a reply, but after the user's
 * message before that.
 */
export function withContextAtEnd(messages: readonly ModelMessage[], text: string): ModelMessage[] {
  const context: ModelMessage['context'] = { text, position: 'after' };
  if (messages.at(-1)?.role === 'tool') return [...messages, { role: 'user', content: '', context }];
  const end = messages.findLastIndex(({ role }) => role === 'user');
  return messages.map((message, index) => (index === end ? { ...message, context } : message));
}

/** The messages with their context blocks included in the content, as sent to models. */
export const inlineContext = (messages: readonly ModelMessage[]): ModelMessage[] =>
  messages.map(({ context, ...message }) => (context ? addText(message, context.text, context.position) : message));

/**
 * Adds a text before or after the message's content. It is not a separate message: the templates of some models reject two consecutive user
 * messages.
 */
export function addText<M extends Pick<ModelMessage, 'content'>>(message: M, text: string, position: 'before' | 'after'): M {
  const { content } = message;
  const part = { type: 'text' as const, text };
  if (typeof content !== 'string') return { ...message, content: position === 'before' ? [part, ...content] : [...content, part] };
  const texts = position === 'before' ? [text, content] : [content, text];
  return { ...message, content: texts.filter(Boolean).join('\n\n') };
}
