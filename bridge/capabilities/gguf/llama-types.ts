// Types for the used part of node-llama-cpp (bridge/extras/gguf-extra.ts), which is imported from its own folder and is not a dependency of
// Perch.

export interface LlamaModule {
  getLlama(options: { gpu: 'auto'; build: 'never'; skipDownload: true; logLevel: 'error' }): Promise<Llama>;
  resolveChatWrapper(model: LlamaModel, options: { warningLogs: false }): ChatWrapper | null;
  GeneralChatWrapper: new () => ChatWrapper;
  LlamaChat: new (options: { contextSequence: LlamaSequence; chatWrapper: ChatWrapper }) => LlamaChat;
}

export interface Llama {
  readonly gpu: string | false;
  getVramState(): Promise<{ free: number }>;
  loadModel(options: { modelPath: string }): Promise<LlamaModel>;
  createGrammarForJsonSchema(schema: Record<string, unknown>): Promise<Grammar>;
  getGrammarFor(type: 'json'): Promise<Grammar>;
}

/** Opaque here. */
interface Grammar {
  readonly grammar: string;
}

export interface LlamaModel {
  readonly tokenizer: unknown;
  readonly trainContextSize: number;
  createContext(options: { contextSize: { max: number }; threads?: number }): Promise<LlamaContext>;
  createEmbeddingContext(options: { contextSize: { max: number }; threads?: number }): Promise<EmbeddingContext>;
}

interface LlamaContext {
  readonly contextSize: number;
  getSequence(): LlamaSequence;
}

export interface LlamaSequence {
  /** Number of tokens in it. */
  readonly nextTokenIndex: number;
  readonly tokenMeter: { getState(): TokenCount; diff(before: TokenCount): TokenCount };
}

interface TokenCount {
  usedInputTokens: number;
  usedOutputTokens: number;
}

export interface EmbeddingContext {
  calculateInputLength(text: string): number;
  getEmbeddingFor(text: string): Promise<{ readonly vector: readonly number[] }>;
}

export type LlamaFunctions = Record<string, { description?: string; params?: Record<string, unknown> }>;

export interface FunctionCall {
  type: 'functionCall';
  name: string;
  params: unknown;
  result: unknown;
}

export type HistoryItem =
  { type: 'system'; text: string } | { type: 'user'; text: string } | { type: 'model'; response: (string | FunctionCall)[] };

export interface ChatWrapper {
  generateContextState(options: { chatHistory: HistoryItem[]; availableFunctions?: LlamaFunctions }): {
    contextText: { tokenize(tokenizer: unknown): unknown[] };
  };
}

export interface ResponseOptions {
  signal: AbortSignal;
  onResponseChunk(chunk: { type?: 'segment' | undefined; segmentType?: string | undefined; text: string }): void;
  maxTokens: number;
  temperature: number;
  topP: number;
  minP: number;
  seed?: number;
  repeatPenalty?: { frequencyPenalty?: number; presencePenalty?: number };
  customStopTriggers?: string[];
  contextShift: { size: number };
  grammar?: Grammar;
  functions?: LlamaFunctions;
  maxParallelFunctionCalls?: number;
}

export interface LlamaChat {
  generateResponse(
    history: HistoryItem[],
    options: ResponseOptions,
  ): Promise<{ functionCalls?: { functionName: string; params: unknown }[]; metadata: { stopReason: string } }>;
}
