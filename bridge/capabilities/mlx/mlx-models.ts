import { dirname } from 'node:path';
import { SseScanner } from '#shared/http/sse.ts';
import { estimateForFamily } from '#shared/tokens/estimate-for-family.ts';
import { getTokenFamily, type TokenFamily } from '#shared/tokens/token-family.ts';
import type { GgufRequest, ggufPort } from '#shared/ports/gguf-port.ts';
import type { ContractResult } from '#shared/rpc/contract.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { z } from '#shared/rpc/zod.ts';
import { Mutex } from '#shared/async/mutex.ts';
import { describeError } from '../../home-directory.ts';
import type { ProcessKeeper } from '../../processes/process-keeper.ts';
import { findCommand } from '../exec/prepare-command.ts';
import type { LocalModels } from '../models/local-models.ts';
import { request } from '../undici.ts';
import { type MlxServer, startMlxServer } from './mlx-server.ts';

type GenerateResult = ContractResult<(typeof ggufPort.calls)['gguf.generate']>;

/** Time without requests after which a model is unloaded. */
const IDLE_MS = 5 * 60_000;
/** Time of loading or silence after which a server counts as hung. */
const SILENCE_MS = 10 * 60_000;
const MLX_PROGRAM = 'mlx_lm.server';

const chunkSchema = z.looseObject({
  choices: z
    .array(
      z.looseObject({
        delta: z
          .looseObject({
            content: z.string().nullish(),
            reasoning: z.string().nullish(),
            tool_calls: z
              .array(
                z.looseObject({
                  index: z.number().int().optional(),
                  function: z.looseObject({ name: z.string().nullish(), arguments: z.string().nullish() }),
                }),
              )
              .nullish(),
          })
          .nullish(),
        finish_reason: z.string().nullish(),
      }),
    )
    .default([]),
  usage: z
    .looseObject({
      prompt_tokens: z.number(),
      completion_tokens: z.number(),
      prompt_tokens_details: z.looseObject({ cached_tokens: z.number().nullish() }).nullish(),
    })
    .nullish(),
});

export interface MlxOptions {
  models: LocalModels;
  keeper: Pick<ProcessKeeper, 'keep'>;
  log(line: string): void;
  platform?: NodeJS.Platform;
  arch?: string;
  env?: NodeJS.ProcessEnv;
  idleMs?: number;
  silenceMs?: number;
}

/** Runs MLX models with `mlx_lm.server`, one at a time and while they are used; further calls wait. Apple silicon only. */
export class MlxModels {
  readonly #options: MlxOptions;
  readonly #mutex = new Mutex();
  #loaded: { id: string; server: MlxServer } | undefined;
  #idleTimer: NodeJS.Timeout | undefined;

  constructor(options: MlxOptions) {
    this.#options = options;
  }

  /** Id of the process that runs a model. */
  get pid(): number | undefined {
    return this.#loaded?.server.pid;
  }

  /** Why no model can run here; null if one can. */
  async getProblem(): Promise<string | null> {
    if (!isAppleSilicon(this.#options)) return 'MLX requires a Mac with Apple silicon';
    return (await this.#findProgram().catch(() => null)) === null
      ? `${MLX_PROGRAM} is not on the bridge’s PATH. Install it with \`pip install mlx-lm\``
      : null;
  }

  /** Generates a chat reply, passing it to `onText` in pieces. Throws `RpcError`. */
  generate(
    id: string,
    chatRequest: GgufRequest,
    signal: AbortSignal,
    onText: (piece: { text: string; thought: boolean }) => void,
  ): Promise<GenerateResult> {
    if (chatRequest.json !== undefined)
      throw new RpcError('INVALID_PARAMS', 'MLX models don’t support structured output', { details: { field: 'responseFormat' } });
    return this.#mutex.take(signal, async () => {
      clearTimeout(this.#idleTimer);
      try {
        const server = await this.#getServer(id, signal);
        return await this.#requestReply(server, id, chatRequest, signal, onText);
      } finally {
        clearTimeout(this.#idleTimer);
        if (this.#loaded) this.#idleTimer = setTimeout(() => void this.unload(), this.#options.idleMs ?? IDLE_MS).unref();
      }
    });
  }

  /** Unloads this model, or any. */
  async unload(id?: string): Promise<void> {
    const loaded = this.#loaded;
    if (!loaded || (id !== undefined && loaded.id !== id)) return;
    this.#loaded = undefined;
    clearTimeout(this.#idleTimer);
    await loaded.server.end();
  }

  async #getServer(id: string, signal: AbortSignal): Promise<MlxServer> {
    const { models, keeper, log, silenceMs = SILENCE_MS } = this.#options;
    const model = await models.find(id);
    if (!model) throw new RpcError('NOT_FOUND', `No local model "${id}"`, { details: { resource: 'model' } });
    const problem = model.problem ?? (await this.getProblem());
    if (problem !== null) throw createModelError(id, `can’t be run: ${problem}`, 'damaged');
    if (this.#loaded?.id === id) return this.#loaded.server;
    await this.unload();
    const timeout = AbortSignal.timeout(silenceMs);
    const options = {
      program: await this.#findProgram(),
      dir: dirname(model.path),
      keeper,
      log,
      signal: AbortSignal.any([signal, timeout]),
    };
    const server = await startMlxServer(options).catch((error: unknown) => {
      signal.throwIfAborted();
      const reason = timeout.aborted ? `it was not ready after ${Math.round(silenceMs / 1000)} s` : describeError(error);
      throw createModelError(id, `couldn’t be loaded by ${MLX_PROGRAM}: ${reason}`, 'runner');
    });
    const loaded = { id, server };
    this.#loaded = loaded;
    void server.exited.then(() => {
      if (this.#loaded === loaded) this.#loaded = undefined;
    });
    return server;
  }

  async #requestReply(
    server: MlxServer,
    id: string,
    chatRequest: GgufRequest,
    signal: AbortSignal,
    onText: Parameters<MlxModels['generate']>[3],
  ): Promise<GenerateResult> {
    const silence = new AbortController();
    const { silenceMs = SILENCE_MS } = this.#options;
    const timer = setTimeout(() => silence.abort(new Error(`no response for ${Math.round(silenceMs / 1000)} s`)), silenceMs);
    const reading = new ReplyParser(onText, getTokenFamily(`mlx/${id}`));
    try {
      const { statusCode, body } = await request(`${server.base}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(toRequestBody(chatRequest)),
        dispatcher: server.dispatcher,
        signal: AbortSignal.any([signal, silence.signal]),
      });
      if (statusCode !== 200) throw new Error(`it returned status ${statusCode}: ${(await body.text()).slice(0, 300)}`);
      for await (const bytes of body as AsyncIterable<Buffer>) {
        timer.refresh();
        reading.add(bytes);
      }
      return reading.end(chatRequest);
    } catch (error) {
      signal.throwIfAborted();
      // Restart a server that hangs or sends invalid data.
      await this.unload(id);
      throw createModelError(
        id,
        `got no reply from ${MLX_PROGRAM}: ${describeError(silence.signal.aborted ? silence.signal.reason : error)}`,
        'runner',
      );
    } finally {
      clearTimeout(timer);
    }
  }

  async #findProgram(): Promise<string> {
    const { models, env = process.env } = this.#options;
    const surroundings = { workspace: models.dir, env: { PATH: env['PATH'] ?? '' } };
    return (await findCommand({ command: MLX_PROGRAM, workingDir: undefined }, surroundings)).realPath;
  }
}

/** Whether the platform can run MLX. */
export const isAppleSilicon = ({ platform = process.platform, arch = process.arch }: Pick<MlxOptions, 'platform' | 'arch'>): boolean =>
  platform === 'darwin' && arch === 'arm64';

const createModelError = (id: string, problem: string, reason: string): RpcError =>
  new RpcError('INTERNAL_ERROR', `The model ${id} ${problem}`, { details: { reason } });

/** Builds a request in OpenAI's format for the model that the server was started with. */
function toRequestBody({
  messages,
  tools,
  temperature,
  topP,
  maxTokens,
  stop,
  seed,
  presencePenalty,
  frequencyPenalty,
}: GgufRequest): object {
  return {
    model: 'default_model',
    stream: true,
    stream_options: { include_usage: true },
    messages: messages.map(({ role, text, toolCalls, toolCallId }) => ({
      role,
      content: text,
      ...(toolCalls?.length
        ? {
            tool_calls: toolCalls.map(({ id, tool, args }) => ({
              id,
              type: 'function',
              function: { name: tool, arguments: JSON.stringify(args) },
            })),
          }
        : {}),
      ...(toolCallId === undefined ? {} : { tool_call_id: toolCallId }),
    })),
    ...(tools?.length
      ? { tools: tools.map(({ name, description, schema }) => ({ type: 'function', function: { name, description, parameters: schema } })) }
      : {}),
    ...{
      temperature,
      top_p: topP,
      max_tokens: maxTokens,
      stop,
      seed,
      presence_penalty: presencePenalty,
      frequency_penalty: frequencyPenalty,
    },
  };
}

/** Parses a streamed response. */
class ReplyParser {
  readonly #onText: Parameters<MlxModels['generate']>[3];
  readonly #family: TokenFamily;
  readonly #scanner = new SseScanner();
  readonly #calls: { name: string; args: string }[] = [];
  #text = '';
  #finish = '';
  #usage: z.infer<typeof chunkSchema>['usage'];

  constructor(onText: Parameters<MlxModels['generate']>[3], family: TokenFamily) {
    this.#onText = onText;
    this.#family = family;
  }

  add(bytes: Uint8Array): void {
    for (const { data } of this.#scanner.push(bytes)) this.#readEvent(data);
  }

  /** Throws if the response was cut off. */
  end({ messages }: GgufRequest): GenerateResult {
    for (const { data } of this.#scanner.end()) this.#readEvent(data);
    if (this.#finish === '') throw new Error('the reply was cut off');
    const calls = this.#calls.map(({ name, args }) => ({
      tool: name,
      args: z.record(z.string(), z.unknown()).parse(JSON.parse(args || '{}')),
    }));
    return {
      finish: calls.length > 0 ? 'tool_calls' : this.#finish === 'length' ? 'length' : 'stop',
      calls,
      inputTokens: this.#usage?.prompt_tokens ?? messages.reduce((sum, { text }) => sum + estimateForFamily(text, this.#family), 0),
      cachedTokens: this.#usage?.prompt_tokens_details?.cached_tokens ?? 0,
      outputTokens: this.#usage?.completion_tokens ?? estimateForFamily(this.#text, this.#family),
    };
  }

  #readEvent(data: string): void {
    if (data === '[DONE]') return;
    const { choices, usage } = chunkSchema.parse(JSON.parse(data));
    if (usage) this.#usage = usage;
    for (const { delta, finish_reason: finish } of choices.slice(0, 1)) {
      for (const [text, thought] of [
        [delta?.reasoning, true],
        [delta?.content, false],
      ] as const) {
        if (!text) continue;
        this.#text += text;
        this.#onText({ text, thought });
      }
      for (const { index, function: made } of delta?.tool_calls ?? []) {
        const call = (this.#calls[index ?? this.#calls.length] ??= { name: '', args: '' });
        call.name ||= made.name ?? '';
        call.args += made.arguments ?? '';
      }
      if (finish) this.#finish = finish;
    }
  }
}
