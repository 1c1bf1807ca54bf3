/** A message in the form of the Prompt API. */
export interface Prompt {
  role: 'system' | 'user' | 'assistant';
  content: string;
  /** The reply continues this text. */
  prefix?: boolean;
}

export type Availability = 'unavailable' | 'downloadable' | 'downloading' | 'available';

interface LanguageOptions {
  expectedInputs?: { type: 'text'; languages: string[] }[];
  expectedOutputs?: { type: 'text'; languages: string[] }[];
}

/** A conversation with the model (`LanguageModel` session). */
export interface Conversation {
  /** Used tokens of the context window. */
  readonly contextUsage: number;
  readonly contextWindow: number;
  measureContextUsage(input: Prompt[] | string, options?: { signal?: AbortSignal }): Promise<number>;
  promptStreaming(input: Prompt[], options: { signal?: AbortSignal; responseConstraint?: Record<string, unknown> }): ReadableStream<string>;
  destroy(): void;
}

/** The used part of the Prompt API (https://webmachinelearning.github.io/prompt-api); available if the browser includes a model. */
export interface LanguageModel {
  availability(options?: LanguageOptions): Promise<Availability>;
  /** Downloads the model first if necessary, which requires a user gesture. Rejects with a DOMException. */
  create(
    options: LanguageOptions & {
      initialPrompts?: Prompt[];
      signal?: AbortSignal;
      monitor?(monitor: EventTarget): void;
    },
  ): Promise<Conversation>;
}

/** The browser's own model; undefined if it has none. */
export const getLanguageModel = (): LanguageModel | undefined => (globalThis as { LanguageModel?: LanguageModel }).LanguageModel;

/** Languages of Chrome's model (Chrome 156); it refuses others, with a warning in the console. */
const SUPPORTED_LANGUAGES = ['de', 'en', 'es', 'fr', 'ja'];

/** Options and availability for a language; English if the model does not support it. The browser requires the language. */
export async function findBestOptions(
  model: LanguageModel,
  locale: string,
): Promise<{ options: LanguageOptions; availability: Availability }> {
  const language = SUPPORTED_LANGUAGES.find((each) => each === locale.split('-', 1)[0]) ?? 'en';
  const texts = [{ type: 'text' as const, languages: [language] }];
  const options = { expectedInputs: texts, expectedOutputs: texts };
  return { options, availability: await model.availability(options).catch((): Availability => 'unavailable') };
}
