import { withMarkers } from '#shared/citations/with-markers.ts';
import type { MessageRecord, RunContext } from '../../storage/chat-records.ts';
import type { ModelMessage } from '../../providers/provider.ts';
import { toOriginalBranch } from '../../storage/records/routed-call.ts';

/**
 * The system message: the agent's instructions and its notes that rarely change. Everything else is in the context block
 * (`run-context.ts`), so that prompts keep their prefix.
 */
export const createSystemText = (systemPrompt: string | undefined, notes = ''): string =>
  [systemPrompt, notes].filter(Boolean).join('\n\n');

/** No message for an empty text: some servers refuse one without content. */
export const toSystemMessages = (text: string): ModelMessage[] => (text === '' ? [] : [{ role: 'system', content: text }]);

/** Result for a call whose own result is not in the branch. */
const NO_RESULT = '{"error":"the result of this call is not here"}';

/**
 * The prompt for a model, by its key: the system message, then the branch. If the branch was truncated (by length, a fork, or in an
 * imported chat), calls and results are matched again: servers would reject this and every later request with one that lacks the other.
 */
export function createPrompt(system: string, branch: readonly MessageRecord[], modelKey = ''): ModelMessage[] {
  const messages = toSystemMessages(system);
  /** Calls without a result so far. */
  const open = new Map<string, string>();
  const close = (): void => {
    for (const [toolCallId, name] of open) messages.push({ role: 'tool', content: NO_RESULT, toolCallId, name });
    open.clear();
  };
  for (const message of toOriginalBranch(branch)) {
    const { role, toolCalls, toolCallId, name, runContext, providerState, model, citations = [] } = message;
    if (role !== 'tool') close();
    else if (toolCallId === undefined || !open.delete(toolCallId)) continue;
    for (const call of toolCalls ?? []) open.set(call.id, call.tool);
    // Models see their citations as they write them.
    const content = role === 'assistant' ? withMarkers(withoutFiles(message.content), citations) : message.content;
    // Some servers would reject an empty reply (stopped before the first word).
    if (role === 'assistant' && content === '' && !toolCalls?.length) continue;
    messages.push({
      role,
      content,
      ...(toolCalls ? { toolCalls } : {}),
      ...(toolCallId === undefined ? {} : { toolCallId }),
      ...(name === undefined ? {} : { name }),
      ...(providerState ? { kept: providerState, model } : {}),
      ...(runContext ? { context: { text: runContext.text, position: 'before' }, files: toVisibleFiles(runContext, modelKey) } : {}),
    });
  }
  close();
  return messages;
}

/** Marks the last message as sent `now`, and all others as `earlier`. */
export const markSession = (messages: readonly ModelMessage[]): ModelMessage[] =>
  messages.map((message, index) => ({ ...message, inSession: index === messages.length - 1 ? 'now' : 'earlier' }));

const toVisibleFiles = ({ files }: RunContext, modelKey: string): ModelMessage['files'] =>
  files && { readers: files.readers, exact: files.exactFor === modelKey };

/** Files that an agent has sent are mentioned by name, not sent back to its model. */
function withoutFiles(content: MessageRecord['content']): string {
  if (typeof content === 'string') return content;
  return content
    .map((part) => (part.type === 'text' ? part.text : `[You sent the file ${part.filename ?? 'without a name'}.]`))
    .join('\n\n');
}
