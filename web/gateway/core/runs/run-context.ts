import { READER } from '../documents/kinds.ts';
import type { ModelMessage } from '../providers/provider.ts';
import { createMark } from '../recall/context-message.ts';
import { mergeSources } from '../trust/sources.ts';
import type { MessageRecord, RunContext } from '../vault.ts';
import type { AgentNotes, Recalled } from './deps.ts';

/** The line that tells a model the time. */
export function timeContext(now: number, timeZone: string): string {
  const at = new Date(now).toLocaleString('en-GB', { timeZone, dateStyle: 'full', timeStyle: 'short' });
  return `Current date and time: ${at} (${timeZone}).`;
}

interface ContextParts {
  time: string;
  /** Notices that wait for the session. */
  events?: { text: string; sources: readonly string[] } | undefined;
  notes: AgentNotes;
  recalled?: Recalled | undefined;
}

/** Start of a plan's note, with the plan's id. */
const PLAN = /^Plan \S+ of this chat/;

/**
 * Builds the context block of a turn: all that changes from turn to turn, so that the system message does not. A plan that the model was told of in the same
 * words by the newest note on it in `earlier` messages is left out. The mark, which occurs nowhere else in the block, keeps quoted text from ending it.
 */
export function buildRunContext({ time, events, notes, recalled }: ContextParts, earlier: readonly MessageRecord[] = []): RunContext {
  const planId = PLAN.exec(notes.plan.text)?.[0];
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

/** How the files of a message are shown to a model that is offered these tools; undefined for a message without files. */
export function toShownFiles({ content }: MessageRecord, offered: readonly { name: string }[], exactFor?: string): RunContext['files'] {
  if (typeof content === 'string' || !content.some(({ type }) => type === 'file')) return undefined;
  const readers = [...new Set(Object.values(READER))].filter((reader) => offered.some(({ name }) => name === reader));
  return { readers, ...(exactFor === undefined ? {} : { exactFor }) };
}

/**
 * The messages with a context block at the very end: a program sends them again without it, and what is in front of it stays the same. Results of tools are not
 * changed: the block follows them as a message. It is not put behind the beginning of a reply, but behind the user's message before that.
 */
export function withContextAtEnd(messages: readonly ModelMessage[], text: string): ModelMessage[] {
  const context: ModelMessage['context'] = { text, position: 'after' };
  if (messages.at(-1)?.role === 'tool') return [...messages, { role: 'user', content: '', context }];
  const end = messages.findLastIndex(({ role }) => role === 'user');
  return messages.map((message, index) => (index === end ? { ...message, context } : message));
}

/** The messages with their context blocks in their content, as models are given them. */
export const inlineContext = (messages: readonly ModelMessage[]): ModelMessage[] =>
  messages.map(({ context, ...message }) => (context ? addText(message, context.text, context.position) : message));

/** The message with a text before or after its content. No message of its own: the templates of some models refuse two messages of the user in a row. */
export function addText<M extends Pick<ModelMessage, 'content'>>(message: M, text: string, position: 'before' | 'after'): M {
  const { content } = message;
  const part = { type: 'text' as const, text };
  if (typeof content !== 'string') return { ...message, content: position === 'before' ? [part, ...content] : [...content, part] };
  const texts = position === 'before' ? [text, content] : [content, text];
  return { ...message, content: texts.filter(Boolean).join('\n\n') };
}
