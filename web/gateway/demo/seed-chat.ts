import { type MessageRecord, type SessionRecord, toSessionKey } from '../storage/chat-records.ts';
import type { MessagePart, ToolCall } from '#shared/rpc/record-schemas.ts';
import { estimateUsage } from '../providers/estimate-usage.ts';
import { MINUTE_MS } from './demo-time.ts';

/** A reply, or a part of one that ends in a tool call. */
interface SeedReply {
  reply: string;
  reasoning?: string;
}
interface SeedCall {
  call: Pick<ToolCall, 'tool' | 'args'>;
  result: unknown;
  /** Text before the call. */
  before?: string;
}
type SeedTurn = { user: string | MessagePart[] } | SeedReply | SeedCall;

/** A chat of the demo's past. */
export interface SeedChat {
  agentId?: string;
  sessionId: string;
  title: string;
  /** Time of the first message, in milliseconds since 1970. */
  at: number;
  pinned?: boolean;
  archived?: boolean;
  folder?: string;
  projectId?: string;
  tags?: readonly string[];
  turns: readonly SeedTurn[];
}

const MODEL = 'demo/scripted';
/** USD per input token and output token. */
const [INPUT_PRICE, OUTPUT_PRICE] = [2.5e-6, 10e-6];

/** The records of a chat: half a minute passes between two messages, and its replies have usage like those of a model. */
export function toChatRecords(chat: SeedChat): { session: SessionRecord; messages: MessageRecord[] } {
  const { agentId = 'main', sessionId, title, at, pinned = false, archived = false, folder = null, projectId = null, tags = [] } = chat;
  const key = toSessionKey(agentId, sessionId);
  const messages: MessageRecord[] = [];
  const add = (message: Pick<MessageRecord, 'role' | 'content'> & Partial<MessageRecord>): void => {
    const depth = messages.length;
    messages.push({
      id: `${key.replace('/', '-')}-${depth}`,
      sessionKey: key,
      parentId: messages.at(-1)?.id ?? null,
      depth,
      timestamp: at + (depth * MINUTE_MS) / 2,
      ...message,
    });
  };
  chat.turns.forEach((turn, index) => {
    if ('user' in turn) add({ role: 'user', content: turn.user });
    else if ('call' in turn) {
      const id = `${sessionId}-call-${index}`;
      add({ role: 'assistant', content: turn.before ?? '', model: MODEL, toolCalls: [{ id, ...turn.call }] });
      add({ role: 'tool', content: JSON.stringify(turn.result), toolCallId: id, name: turn.call.tool });
    } else {
      const counted = estimateUsage(messages, turn.reply, MODEL);
      const usage = { ...counted, estimated: false, cost: counted.inputTokens * INPUT_PRICE + counted.outputTokens * OUTPUT_PRICE };
      const thought = turn.reasoning === undefined ? {} : { reasoning: { text: turn.reasoning, ms: 3_200 } };
      add({ role: 'assistant', content: turn.reply, model: MODEL, usage, elapsedMs: 2_400 + turn.reply.length * 6, ...thought });
    }
  });
  const session: SessionRecord = {
    ...{ key, agentId, sessionId, title, pinned, archived, folder, tags: [...tags] },
    ...(projectId === null ? {} : { projectId }),
    createdAt: at,
    updatedAt: messages.at(-1)?.timestamp ?? at,
    ...{ messageCount: 0, size: 0, preview: '', headId: null },
  };
  return { session, messages };
}
