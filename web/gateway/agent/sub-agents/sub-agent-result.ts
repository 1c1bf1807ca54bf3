import { renumberCitations } from '#shared/citations/renumber-citations.ts';
import type { RpcError } from '#shared/rpc/rpc-error.ts';
import type { SubAgentEntry, SubAgentWork } from '#shared/rpc/record-schemas.ts';
import { truncateMiddle } from '#shared/truncate-text.ts';
import type { MessageRecord, SessionRecord } from '../../storage/chat-records.ts';
import { toPlainText } from '../../storage/session-views.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import type { RunTreeNode } from '../runs/run-tree.ts';
import type { ToolContext } from '../tools/tool-registry.ts';

/** Maximum characters of a sub-agent's answer in the result for its caller. */
const MAX_ANSWER_CHARS = 24_000;
/** Maximum number of messages of a sub-agent's last run that are read for its answer. */
export const MAX_ANSWER_MESSAGES = 400;

/** Result of a sub-agent for the model that called it. */
export interface SubAgentResult {
  /** Undefined if it is not stored. */
  id?: string;
  status: 'done' | 'stopped' | 'failed';
  answer: string;
  error?: string;
  tokens: number;
  cost?: number;
}

/** A sub-agent that waits or works. */
export interface LiveSubAgent {
  key: string;
  session: SessionRecord;
  node: RunTreeNode;
  work: SubAgentWork;
  activity: string | undefined;
}

/** The outcome of the session's last run. The caller's run gets the sources that the sub-agent has read. */
export async function readSubAgentResult(
  vault: Vault,
  { key, session, node, work }: LiveSubAgent,
  failure: RpcError | undefined,
  { taint, cite }: ToolContext,
): Promise<SubAgentResult> {
  const { messages } = await vault.messages.branch(key, { limit: MAX_ANSWER_MESSAGES, most: 0 });
  const last = messages.findLastIndex(({ role }) => role === 'user');
  const replies = messages.slice(last + 1);
  taint?.add(messages.flatMap(({ outside }) => outside ?? []));
  taint?.addText(replies.flatMap(({ quotedUrls }) => quotedUrls ?? []).join('\n'));
  const reply = replies.at(-1);
  const isEnded = reply?.role === 'assistant';
  const isStopped = isEnded ? reply.aborted === true : failure === undefined || failure.code === 'ABORTED';
  const error = isEnded ? (reply.error?.message ?? (reply.interrupted ? 'The sub-agent was interrupted.' : undefined)) : failure?.message;
  work.status = isStopped ? 'stopped' : error === undefined ? 'done' : 'failed';
  const texts = replies.flatMap(({ role, content }) => (role === 'assistant' ? [toPlainText(content)] : [])).filter(Boolean);
  // Without an answer, the texts of earlier steps are what there is.
  const answer = work.status === 'done' ? toCitedText(reply, cite) : texts.join('\n\n');
  return {
    id: session.sessionId,
    status: work.status,
    answer: truncateAnswer(answer),
    ...(isStopped ? { error: 'Stopped by the person.' } : error === undefined ? {} : { error }),
    ...toUsageFields(node),
  };
}

export const truncateAnswer = (answer: string): string => truncateMiddle(answer, MAX_ANSWER_CHARS);

/** The text of an answer; its claims have the numbers that their sources get in the caller's reply. */
function toCitedText(reply: MessageRecord | undefined, cite: ToolContext['cite']): string {
  if (!reply) return '';
  const { citations, sources } = reply;
  const text = toPlainText(reply.content);
  return cite ? renumberCitations({ text, citations, sources }, cite) : text;
}

export const toSubAgentEntry = ({ agentId, sessionId, title }: SessionRecord, work: SubAgentWork, activity?: string): SubAgentEntry => ({
  ...work,
  ...{ agentId, sessionId, title },
  ...(activity === undefined ? {} : { activity }),
});

export function toUsageFields({ usage }: RunTreeNode): { tokens: number; cost?: number } {
  return { tokens: usage?.totalTokens ?? 0, ...(usage?.cost === undefined ? {} : { cost: usage.cost }) };
}

/** Entry of a sub-agent that waits or works. */
export function toLiveEntry({ session, node, work, activity }: LiveSubAgent): SubAgentEntry {
  const { tokens: totalTokens, ...cost } = toUsageFields(node);
  return toSubAgentEntry(session, { ...work, totalTokens, ...cost }, activity);
}
