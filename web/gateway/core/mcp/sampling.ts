import type { CreateMessageRequest, CreateMessageResult, SamplingMessage } from '@modelcontextprotocol/client';
import { withoutMiddle } from '#shared/cut-short.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import type { Part } from '#shared/rpc/records.ts';
import { type Agents, MAIN } from '../agents.ts';
import type { Desk } from '../approvals/desk.ts';
import type { Clock } from '../clock.ts';
import type { ModelMessage } from '../providers/provider.ts';
import type { Models } from '../runs/deps.ts';
import { generate, type Share } from '../runs/generate.ts';
import type { Vault } from '../vault.ts';
import { sourceOf } from './names.ts';

const MAX_TOKENS = 8192;
const MAX_MESSAGES = 100;
const MAX_CHARS = 200_000;
/** Maximum number of characters of a request that are shown to a person. */
const MAX_SHOWN = 2000;

export interface SamplingDeps {
  vault: Vault;
  clock: Clock;
  agents: Pick<Agents, 'get'>;
  models: Models;
  desk(): Promise<Desk>;
}

/**
 * Answers an MCP server with the main agent's model, after a person has approved the request. Usage is recorded for `mcp:<server>`. Rejects
 * with a message for the server.
 */
export async function sample(
  server: string,
  params: CreateMessageRequest['params'],
  signal: AbortSignal,
  { vault, clock, agents, models, desk }: SamplingDeps,
): Promise<CreateMessageResult> {
  if (params.tools !== undefined && params.tools.length > 0)
    throw new RpcError('INVALID_PARAMS', 'Tools are not supported in sampling requests.');
  const { messages, systemPrompt } = params;
  if (messages.length > MAX_MESSAGES || JSON.stringify(messages).length > MAX_CHARS)
    throw new RpcError('INVALID_PARAMS', 'The sampling request is too large.');
  const asked: ModelMessage[] = [
    ...(systemPrompt === undefined ? [] : [{ role: 'system' as const, content: systemPrompt }]),
    ...messages.map((message) => ({ role: message.role, content: partsOf(message) })),
  ];
  const principal = sourceOf(server);
  const agent = agents.get(MAIN);
  const last = asked.at(-1);
  const shown =
    typeof last?.content === 'string'
      ? last.content
      : (last?.content ?? []).map((part) => (part.type === 'text' ? part.text : `[${part.type}]`)).join('\n');
  const { approvals } = await desk();
  await approvals.ask(
    {
      tool: principal,
      args: {
        systemPrompt: withoutMiddle(systemPrompt ?? '', MAX_SHOWN),
        messages: messages.length,
        message: withoutMiddle(shown, MAX_SHOWN),
      },
      summary: `The MCP server ${server} asks your model: ${withoutMiddle(shown.replace(/\s+/g, ' '), 300)}`,
    },
    { agentId: MAIN, sessionKey: null, runId: null, principal, signal },
  );
  const chosen = await models.resolve(agent.model);
  const shares: Share[] = [];
  let text = '';
  let key = chosen.key;
  let stopReason = 'endTurn';
  try {
    for await (const event of generate({
      ...{ chosen, fallbacks: agent.fallbacks, models, messages: asked, tools: [], signal, clock, shares, stranger: true },
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

function partsOf({ content }: SamplingMessage): string | Part[] {
  const blocks = Array.isArray(content) ? content : [content];
  const parts = blocks.map((block): Part => {
    if (block.type === 'text') return { type: 'text', text: block.text };
    if (block.type === 'image') return { type: 'image', mimeType: block.mimeType, data: block.data };
    throw new RpcError('INVALID_PARAMS', `Content of type "${block.type}" is not supported.`);
  });
  return parts.every((part) => part.type === 'text') ? parts.map((part) => part.text).join('\n') : parts;
}
