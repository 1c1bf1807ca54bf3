import type { GgufRequest } from '#shared/ports/gguf-port.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { FunctionCall, HistoryItem } from './llama-types.ts';

/**
 * Converts a chat to the runtime's format: one item for each of the model's turns, including its calls and their results, and at the end
 * the item to be continued.
 */
export function toChatHistory(messages: GgufRequest['messages']): HistoryItem[] {
  const history: HistoryItem[] = [];
  const calls = new Map<string, FunctionCall>();
  const modelTurn = (): (string | FunctionCall)[] => {
    const last = history.at(-1);
    if (last?.type === 'model') return last.response;
    const response: (string | FunctionCall)[] = [];
    history.push({ type: 'model', response });
    return response;
  };
  for (const { role, text, toolCalls = [], toolCallId = '' } of messages) {
    if (role === 'system' || role === 'user') history.push({ type: role, text });
    else if (role === 'assistant') {
      const response = modelTurn();
      if (text !== '') response.push(text);
      for (const { id, tool, args } of toolCalls) {
        const call: FunctionCall = { type: 'functionCall', name: tool, params: args, result: null };
        calls.set(id, call);
        response.push(call);
      }
    } else {
      const call = calls.get(toolCallId);
      if (!call) throw new RpcError('INVALID_PARAMS', 'A tool result has no matching tool call', { details: { field: 'messages' } });
      call.result = text;
    }
  }
  modelTurn();
  return history;
}
