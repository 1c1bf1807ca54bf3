import type { GgufRequest } from '#shared/ports/gguf-port.ts';
import type { ParsedParams, ContractResult } from '#shared/rpc/contract.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { toGrammarSchema } from './grammar-schema.ts';
import type {
  ChatWrapper,
  EmbeddingContext,
  LlamaFunctions,
  Llama,
  LlamaChat,
  LlamaModel,
  LlamaModule,
  ResponseOptions,
  LlamaSequence,
  FunctionCall,
  HistoryItem,
} from './llama-types.ts';
import type { runnerPort } from './runner-port.ts';

type LoadParams = ParsedParams<(typeof runnerPort.calls)['run.load']>;
type GenerateResult = ContractResult<(typeof runnerPort.calls)['run.generate']>;
type EmbedResult = ContractResult<(typeof runnerPort.calls)['run.embed']>;

/** Default sampling parameters. */
const TEMPERATURE = 0.7;
const TOP_P = 0.95;
const MIN_P = 0.05;
/** Minimum context in tokens. */
const MIN_CONTEXT_TOKENS = 2048;
/** Models smaller than this finish before a second thread has started. */
const MAX_ONE_THREAD_BYTES = 16 * 1024 * 1024;
/** Tokens left unused at the end of the context. */
const MARGIN_TOKENS = 8;

/** A model in memory, with the last conversation that it evaluated. */
export class LoadedModel {
  readonly contextSize: number;
  readonly #llama: Llama;
  readonly #model: LlamaModel;
  readonly #wrapper: ChatWrapper;
  readonly #sequence: LlamaSequence;
  readonly #chat: LlamaChat;
  readonly #threads: { threads?: number };
  #embedding: Promise<EmbeddingContext> | undefined;

  private constructor(
    { LlamaChat: Chat, ...module }: LlamaModule,
    {
      llama,
      model,
      context,
      threads,
    }: { llama: Llama; model: LlamaModel; context: Awaited<ReturnType<LlamaModel['createContext']>>; threads: { threads?: number } },
  ) {
    this.#llama = llama;
    this.#model = model;
    this.#threads = threads;
    this.contextSize = context.contextSize;
    this.#sequence = context.getSequence();
    this.#wrapper = module.resolveChatWrapper(model, { warningLogs: false }) ?? new module.GeneralChatWrapper();
    this.#chat = new Chat({ contextSequence: this.#sequence, chatWrapper: this.#wrapper });
  }

  /** Throws RpcError if there is not enough memory or the file can't be loaded. */
  static async load(module: LlamaModule, { path, sizeBytes, bytesPerToken, contextSize, freeBytes }: LoadParams): Promise<LoadedModel> {
    const llama = await module.getLlama({ gpu: 'auto', build: 'never', skipDownload: true, logLevel: 'error' });
    const graphics = llama.gpu === false ? 0 : (await llama.getVramState()).free;
    const needed = sizeBytes + bytesPerToken * Math.min(contextSize, MIN_CONTEXT_TOKENS);
    if (needed > freeBytes + graphics) {
      const sentence = `The model needs ${formatGigabytes(needed)} of memory, but only ${formatGigabytes(freeBytes + graphics)} is free. Use a smaller model or close other programs.`;
      throw new RpcError('INTERNAL_ERROR', sentence, { details: { reason: 'memory' } });
    }
    try {
      const model = await llama.loadModel({ modelPath: path });
      const threads = sizeBytes < MAX_ONE_THREAD_BYTES ? { threads: 1 } : {};
      const context = await model.createContext({ contextSize: { max: contextSize }, ...threads });
      return new LoadedModel(module, { llama, model, context, threads });
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message.split('\n')[0] : String(cause);
      throw new RpcError('INTERNAL_ERROR', `Couldn’t load the model: ${reason}`, { details: { reason: 'load' } }, { cause });
    }
  }

  /** Generates a chat reply; `onText` receives its text. Throws RpcError for invalid requests, and the signal's reason. */
  async generate(request: GgufRequest, signal: AbortSignal, onText: (text: string, isThought: boolean) => void): Promise<GenerateResult> {
    const functions = toFunctions(request);
    const history = toChatHistory(request.messages);
    const length = this.#countTokens(history, functions);
    const availableTokens = this.contextSize - length - MARGIN_TOKENS;
    if (availableTokens < 1) {
      const sentence = `The conversation has ${length} tokens. The model’s limit is ${this.contextSize}.`;
      throw new RpcError('INVALID_PARAMS', sentence, { details: { field: 'messages' } });
    }
    const meterBefore = this.#sequence.tokenMeter.getState();
    const { functionCalls, metadata } = await this.#chat.generateResponse(history, {
      ...(await this.#toResponseOptions(request, functions)),
      maxTokens: Math.min(request.maxTokens ?? availableTokens, availableTokens),
      signal,
      onResponseChunk: ({ type, text }) => void (text !== '' && onText(text, type === 'segment')),
    });
    signal.throwIfAborted();
    const used = this.#sequence.tokenMeter.diff(meterBefore);
    const inputTokens = Math.max(used.usedInputTokens, this.#sequence.nextTokenIndex - used.usedOutputTokens);
    const calls = (functionCalls ?? []).map(({ functionName, params }) => ({ tool: functionName, args: toObject(params) }));
    return {
      finish: calls.length > 0 ? 'tool_calls' : metadata.stopReason === 'maxTokens' ? 'length' : 'stop',
      calls,
      inputTokens,
      cachedTokens: inputTokens - used.usedInputTokens,
      outputTokens: used.usedOutputTokens,
    };
  }

  async embed(texts: readonly string[], signal: AbortSignal): Promise<EmbedResult> {
    this.#embedding ??= this.#model.createEmbeddingContext({ contextSize: { max: this.contextSize }, ...this.#threads });
    const context = await this.#embedding;
    const vectors: number[][] = [];
    let tokens = 0;
    for (const [index, text] of texts.entries()) {
      signal.throwIfAborted();
      const length = context.calculateInputLength(text);
      if (length > this.contextSize) {
        const sentence = `Text ${index + 1} has ${length} tokens. The model’s limit is ${this.contextSize}.`;
        throw new RpcError('INVALID_PARAMS', sentence, { details: { field: 'input' } });
      }
      tokens += length;
      vectors.push([...(await context.getEmbeddingFor(text)).vector]);
    }
    return { vectors, tokens };
  }

  #countTokens(
    chatHistory: Parameters<ChatWrapper['generateContextState']>[0]['chatHistory'],
    functions: LlamaFunctions | undefined,
  ): number {
    const { contextText } = this.#wrapper.generateContextState({
      chatHistory,
      ...(functions ? { availableFunctions: functions } : {}),
    });
    return contextText.tokenize(this.#model.tokenizer).length;
  }

  async #toResponseOptions(
    { json, temperature, topP, seed, stop, presencePenalty, frequencyPenalty, parallelToolCalls }: GgufRequest,
    functions: LlamaFunctions | undefined,
  ): Promise<Omit<ResponseOptions, 'maxTokens' | 'signal' | 'onResponseChunk'>> {
    const penalties = {
      ...(presencePenalty === undefined ? {} : { presencePenalty }),
      ...(frequencyPenalty === undefined ? {} : { frequencyPenalty }),
    };
    return {
      temperature: temperature ?? TEMPERATURE,
      topP: topP ?? TOP_P,
      minP: MIN_P,
      contextShift: { size: 1 },
      ...(seed === undefined ? {} : { seed }),
      ...(Object.keys(penalties).length > 0 ? { repeatPenalty: penalties } : {}),
      ...(stop?.length ? { customStopTriggers: stop } : {}),
      ...(json === undefined ? {} : { grammar: await this.#grammar(json) }),
      ...(functions ? { functions, ...(parallelToolCalls === false ? { maxParallelFunctionCalls: 1 } : {}) } : {}),
    };
  }

  #grammar(json: NonNullable<GgufRequest['json']>): ReturnType<Llama['getGrammarFor']> {
    return json === true ? this.#llama.getGrammarFor('json') : this.#llama.createGrammarForJsonSchema(toGrammarSchema(json, true));
  }
}

function toFunctions({ tools }: GgufRequest): LlamaFunctions | undefined {
  if (!tools?.length) return undefined;
  return Object.fromEntries(tools.map(({ name, description, schema }) => [name, { description, params: toGrammarSchema(schema, false) }]));
}

const toObject = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};

const formatGigabytes = (bytes: number): string => `${(bytes / 1024 ** 3).toFixed(1)} GB`;

/**
 * Converts a chat to the runtime's format: one item for each of the model's turns, including its calls and their results, and at the end
 * the item to be continued.
 */
function toChatHistory(messages: GgufRequest['messages']): HistoryItem[] {
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
