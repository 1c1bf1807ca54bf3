import type { MessageRecord, RunContext } from '../vault.ts';
import type { ModelMessage } from '../providers/provider.ts';
import { toWrittenBranch } from '../tools/routed-call.ts';

/** The system message: the agent's instructions and its notes that seldom change. Everything else is in the context block (`run-context.ts`), so that prompts keep their prefix. */
export const createSystemText = (systemPrompt: string | undefined, notes = ''): string =>
  [systemPrompt, notes].filter(Boolean).join('\n\n');

/** No message for an empty text: some servers refuse one without content. */
export const toSystemMessages = (text: string): ModelMessage[] => (text === '' ? [] : [{ role: 'system', content: text }]);

/** What a model is told of a call whose result is not in the branch. */
const NO_RESULT = '{"error":"the result of this call is not here"}';

/**
 * The prompt for a model, by its key: the system message, then the branch as it stands. Where that was cut (by its length, a fork, or whoever wrote a chat that was
 * imported), calls and results are made to fit again: servers refuse a request with one that lacks the other, and would from then on.
 */
export function promptOf(system: string, branch: readonly MessageRecord[], modelKey = ''): ModelMessage[] {
  const messages = toSystemMessages(system);
  /** Calls whose results are still to come. */
  const open = new Map<string, string>();
  const close = (): void => {
    for (const [toolCallId, name] of open) messages.push({ role: 'tool', content: NO_RESULT, toolCallId, name });
    open.clear();
  };
  for (const message of toWrittenBranch(branch)) {
    const { role, toolCalls, toolCallId, name, runContext, providerState, model } = message;
    if (role !== 'tool') close();
    else if (toolCallId === undefined || !open.delete(toolCallId)) continue;
    for (const call of toolCalls ?? []) open.set(call.id, call.tool);
    const content = role === 'assistant' ? withoutFiles(message.content) : message.content;
    // An empty reply (stopped before the first word) would be refused by some servers.
    if (role === 'assistant' && content === '' && !toolCalls?.length) continue;
    messages.push({
      role,
      content,
      ...(toolCalls ? { toolCalls } : {}),
      ...(toolCallId === undefined ? {} : { toolCallId }),
      ...(name === undefined ? {} : { name }),
      ...(providerState ? { kept: providerState, model } : {}),
      ...(runContext ? { context: { text: runContext.text, position: 'before' }, files: toShownFiles(runContext, modelKey) } : {}),
    });
  }
  close();
  return messages;
}

/** Marks what is sent now, which is the last message, and what the session had before. */
export const inSession = (messages: readonly ModelMessage[]): ModelMessage[] =>
  messages.map((message, index) => ({ ...message, inSession: index === messages.length - 1 ? 'now' : 'earlier' }));

const toShownFiles = ({ files }: RunContext, modelKey: string): ModelMessage['files'] =>
  files && { readers: files.readers, exact: files.exactFor === modelKey };

/** What an agent has sent is named to it, and not sent back to its model. */
function withoutFiles(content: MessageRecord['content']): string {
  if (typeof content === 'string') return content;
  return content
    .map((part) => (part.type === 'text' ? part.text : `[You sent the file ${part.filename ?? 'without a name'}.]`))
    .join('\n\n');
}
