import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { IncognitoMessage } from '#shared/rpc/methods/incognito-contracts.ts';
import type { MethodParsed, MethodResult } from '#shared/rpc/methods/index.ts';
import type { Agent } from '../agents.ts';
import type { Clock } from '#shared/async/clock.ts';
import type { Caller } from '../../system/caller.ts';
import type { ModelMessage } from '../../providers/provider.ts';
import { parseAttachments } from '../runs/attachments.ts';
import type { Models } from '../runs/run-types.ts';
import { generate, type ModelUsage } from '../runs/generate.ts';
import { NO_NOTES } from '../runs/run-types.ts';
import { toDefaultInstructions } from '../../config/default-instructions.ts';
import { toSystemMessages } from '../runs/prompt.ts';
import { buildRunContext, formatTimeContext, withContextAtEnd } from '../runs/run-context.ts';
import { mergeParameters, toGenerationOptions, toInstructions } from '../runs/run-parameters.ts';
import { toUsageRecords } from '../runs/run-usage.ts';
import { sanitizeMessage } from '../runs/sanitize.ts';
import { ReasoningBuffer } from '../runs/reasoning-buffer.ts';
import type { Vault } from '../../storage/vault-interface.ts';

export interface IncognitoServiceDeps {
  vault: Pick<Vault, 'usage'>;
  clock: Clock;
  models: Models;
  timeZone(): string;
  /** The agent whose instructions and parameters apply. */
  main(): Agent;
  silenceMs?: () => number;
  fault(error: unknown): RpcError;
}

type IncognitoRequest = MethodParsed<'incognito.send'>;
type IncognitoResult = MethodResult<'incognito.send'>;
type IncognitoCaller = Pick<Caller, 'principal' | 'emit' | 'ready' | 'signal'>;

interface ActiveReply {
  abort: AbortController;
  ended: Promise<unknown>;
}

/**
 * Answers chats that are not stored (docs/decisions/0061-incognito.md). Their text is in memory only during the answer, and goes to the
 * model and to the connection that asked; closing that connection aborts the answer. Each request ends with exactly one of `incognito.done`
 * and `incognito.error`.
 */
export class IncognitoService {
  readonly #deps: IncognitoServiceDeps;
  readonly #active = new Map<string, ActiveReply>();
  #draining = false;

  constructor(deps: IncognitoServiceDeps) {
    this.#deps = deps;
  }

  /** Resolves when the answer is complete. Invalid params are refused before any event is sent. */
  async send(request: IncognitoRequest, caller: IncognitoCaller): Promise<IncognitoResult> {
    if (this.#draining)
      throw new RpcError('INTERNAL_ERROR', 'The gateway is restarting with a newer version. Try again.', {
        retryable: true,
        retryAfterMs: 1000,
      });
    const messages = toModelMessages(request.messages);
    const key = toKey(caller.principal, request.runId);
    if (this.#active.has(key)) throw new RpcError('ALREADY_EXISTS', 'A reply with this `runId` is already in progress.');
    const abort = new AbortController();
    const ended = this.#answer(request, messages, caller, AbortSignal.any([abort.signal, caller.signal]));
    this.#active.set(key, { abort, ended });
    try {
      return await ended;
    } finally {
      this.#active.delete(key);
    }
  }

  /** Returns whether there was an answer to abort. */
  abort(principal: string, runId: string): boolean {
    const activeRun = this.#active.get(toKey(principal, runId));
    activeRun?.abort.abort(new RpcError('ABORTED', 'The reply was stopped.'));
    return activeRun !== undefined;
  }

  /** Accepts no new requests; resolves when pending answers have ended, and aborts them after `ms`. */
  async drain(ms: number): Promise<void> {
    this.#draining = true;
    const activeRuns = [...this.#active.values()];
    const cancel = this.#deps.clock.after(ms, () => {
      for (const { abort } of activeRuns) abort.abort(new RpcError('ABORTED', 'The gateway is restarting with a newer version.'));
    });
    await Promise.allSettled(activeRuns.map(({ ended }) => ended));
    cancel();
  }

  async #answer(
    request: IncognitoRequest,
    messages: ModelMessage[],
    caller: IncognitoCaller,
    signal: AbortSignal,
  ): Promise<IncognitoResult> {
    const { runId } = request;
    const { vault, clock } = this.#deps;
    const shares: ModelUsage[] = [];
    try {
      await this.#stream(request, messages, shares, caller, signal);
      const { key: model, usage } = getLastUsage(shares);
      caller.emit({ event: 'incognito.done', payload: { runId, model, usage } });
      return { completed: true, runId, model, usage };
    } catch (cause) {
      const error = this.#toSafeError(cause);
      caller.emit({ event: 'incognito.error', payload: { runId, error: error.toShape() } });
      throw error;
    } finally {
      // The caller's id would link two answers of one chat.
      for (const record of toUsageRecords(crypto.randomUUID(), shares, { at: clock.now(), sessionKey: null, principal: caller.principal }))
        vault.usage.add(record);
    }
  }

  async #stream(
    request: IncognitoRequest,
    messages: ModelMessage[],
    shares: ModelUsage[],
    caller: IncognitoCaller,
    signal: AbortSignal,
  ): Promise<void> {
    const { clock, models, timeZone, silenceMs, main } = this.#deps;
    const { runId, temperature, thinking } = request;
    const agent = main();
    const chosen = await models.resolve(request.model ?? agent.model, request.provider);
    signal.throwIfAborted();
    const parameters = mergeParameters({ temperature, thinking }, agent.parameters);
    const prompt = request.systemPrompt ?? agent.systemPrompt ?? toDefaultInstructions([]);
    const system = [prompt, toInstructions(parameters)].filter(Boolean).join('\n\n');
    const context = buildRunContext({ time: formatTimeContext(clock.now(), timeZone()), notes: NO_NOTES });
    const reasoning = new ReasoningBuffer(() => clock.now());
    let length = 0;
    for await (const event of generate({
      chosen,
      // No other provider receives the chat.
      fallbacks: [],
      models,
      messages: [...toSystemMessages(system), ...withContextAtEnd(messages, context.text)],
      tools: [],
      // A second step for a model that calls tools anyway: it is told that there are none.
      maxSteps: 2,
      ownOptions: toGenerationOptions(parameters),
      // The guide would search memories and chats for their owner.
      stranger: true,
      ...(silenceMs ? { silenceMs: silenceMs() } : {}),
      signal,
      clock,
      shares,
      runTool: () => Promise.reject(new Error('Tools are not available here.')),
    })) {
      if (event.type === 'reasoning') {
        const offset = reasoning.text.length;
        const delta = reasoning.add(event.text);
        if (delta !== '') caller.emit({ event: 'incognito.reasoning', payload: { runId, delta, offset } });
      } else if (event.type === 'text' || event.type === 'refusal') {
        caller.emit({ event: 'incognito.delta', payload: { runId, delta: event.text, offset: length } });
        length += event.text.length;
      }
      await caller.ready?.();
    }
  }

  /** Logs an internal error by its name only: its message may contain the person's text. */
  #toSafeError(cause: unknown): RpcError {
    const { fault } = this.#deps;
    if (cause instanceof RpcError || (cause instanceof DOMException && cause.name === 'AbortError')) return fault(cause);
    return fault(new Error(`Incognito reply failed: ${cause instanceof Error ? cause.name : typeof cause}`));
  }
}

const toKey = (principal: string, runId: string): string => JSON.stringify([principal, runId]);

function getLastUsage(shares: readonly ModelUsage[]): ModelUsage {
  const share = shares.at(-1);
  if (!share) throw new Error('a complete reply has usage');
  return share;
}

/** The chat as messages for models. Throws `INVALID_PARAMS`. */
function toModelMessages(messages: readonly IncognitoMessage[]): ModelMessage[] {
  if (messages.at(-1)?.role !== 'user') throw new RpcError('INVALID_PARAMS', 'The last message in `messages` must have the role "user".');
  return messages.map(({ role, content, attachments = [] }, index) => {
    const param = `messages.${index}`;
    if (role === 'assistant' && attachments.length > 0)
      throw new RpcError('INVALID_PARAMS', `\`${param}.attachments\` is only allowed in user messages.`);
    const { parts } = parseAttachments(attachments, param);
    const text = sanitizeMessage(content, { wordless: parts.length > 0, param: `${param}.content` });
    return { role, content: parts.length === 0 ? text : [...(text === '' ? [] : [{ type: 'text' as const, text }]), ...parts] };
  });
}
