import type { CreateMessageRequest, CreateMessageResult, SamplingMessage } from '@modelcontextprotocol/client';
import { truncateMiddle } from '#shared/truncate-text.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { MessagePart } from '#shared/rpc/record-schemas.ts';
import { type Agents } from '../agents.ts';
import { MAIN_AGENT_ID } from '../../config/main-agent.ts';
import type { ApprovalService } from '../approvals/approval-service.ts';
import type { Clock } from '#shared/async/clock.ts';
import type { ModelMessage } from '../../providers/provider.ts';
import type { Models } from '../runs/run-types.ts';
import { generate, type ModelUsage } from '../runs/generate.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import { toSourceId } from './mcp-tool-names.ts';
import type { Lazy } from '../../system/modules.ts';

const MAX_TOKENS = 8192;
const MAX_MESSAGES = 100;
const MAX_CHARS = 200_000;
/** Maximum number of characters of a request that are shown to a person. */
const MAX_SHOWN_CHARS = 2000;

export interface SamplingDeps {
  vault: Vault;
  clock: Clock;
  agents: Pick<Agents, 'get'>;
  models: Models;
  approvalService: Lazy<ApprovalService>;
}

/**
 * Answers an MCP server with the main agent's model, after a person has approved the request. Usage is recorded for `mcp:<server>`. Rejects
 * with a message for the server.
 */
export async function runSampling(
  server: string,
  params: CreateMessageRequest['params'],
  signal: AbortSignal,
  { vault, clock, agents, models, approvalService }: SamplingDeps,
): Promise<CreateMessageResult> {
  if (params.tools !== undefined && params.tools.length > 0)
    throw new RpcError('INVALID_PARAMS', 'Tools are not supported in sampling requests.');
  const { messages, systemPrompt } = params;
  if (messages.length > MAX_MESSAGES || JSON.stringify(messages).length > MAX_CHARS)
    throw new RpcError('INVALID_PARAMS', 'The sampling request is too large.');
  const modelMessages: ModelMessage[] = [
    ...(systemPrompt === undefined ? [] : [{ role: 'system' as const, content: systemPrompt }]),
    ...messages.map((message) => ({ role: message.role, content: toContent(message) })),
  ];
  const principal = toSourceId(server);
  const agent = agents.get(MAIN_AGENT_ID);
  const last = modelMessages.at(-1);
  const shownMessage =
    typeof last?.content === 'string'
      ? last.content
      : (last?.content ?? []).map((part) => (part.type === 'text' ? part.text : `[${part.type}]`)).join('\n');
  const { approvals } = await approvalService.load();
  await approvals.request(
    {
      tool: principal,
      args: {
        systemPrompt: truncateMiddle(systemPrompt ?? '', MAX_SHOWN_CHARS),
        messages: messages.length,
        message: truncateMiddle(shownMessage, MAX_SHOWN_CHARS),
      },
      summary: `The MCP server ${server} asks your model: ${truncateMiddle(shownMessage.replace(/\s+/g, ' '), 300)}`,
    },
    { agentId: MAIN_AGENT_ID, sessionKey: null, runId: null, principal, signal },
  );
  const chosen = await models.resolve(agent.model);
  const shares: ModelUsage[] = [];
  let text = '';
  let key = chosen.key;
  let stopReason = 'endTurn';
  try {
    for await (const event of generate({
      ...{ chosen, fallbacks: agent.fallbacks, models, messages: modelMessages, tools: [], signal, clock, shares, stranger: true },
      wishes: { maxTokens: Math.min(params.maxTokens, MAX_TOKENS), temperature: params.temperature, stop: params.stopSequences },
      runTool: () => Promise.reject(new Error('Tools are not available here.')),
    })) {
      if (event.type === 'text' || event.type === 'refusal') text += event.text;
      else if (event.type === 'model') key = event.key;
      else if (event.type === 'end' && event.reason === 'length') stopReason = 'maxTokens';
    }
  } finally {
    for (const share of shares) {
      const [provider = ''] = share.key.split('/', 1);
      vault.usage.add({
        id: crypto.randomUUID(),
        at: clock.now(),
        provider,
        model: share.key,
        sessionKey: null,
        principal,
        usage: share.usage,
        purpose: 'sampling',
      });
    }
  }
  return { role: 'assistant', content: { type: 'text', text }, model: key, stopReason };
}

function toContent({ content }: SamplingMessage): string | MessagePart[] {
  const blocks = Array.isArray(content) ? content : [content];
  const parts = blocks.map((block): MessagePart => {
    if (block.type === 'text') return { type: 'text', text: block.text };
    if (block.type === 'image') return { type: 'image', mimeType: block.mimeType, data: block.data };
    throw new RpcError('INVALID_PARAMS', `Content of type "${block.type}" is not supported.`);
  });
  return parts.every((part) => part.type === 'text') ? parts.map((part) => part.text).join('\n') : parts;
}
