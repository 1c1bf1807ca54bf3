/** A message as the browser's own model takes it. */
export interface Prompt {
  role: 'system' | 'user' | 'assistant';
  content: string;
  /** The answer goes on from here. */
  prefix?: boolean;
}

export type Availability = 'unavailable' | 'downloadable' | 'downloading' | 'available';

interface Wished {
  expectedInputs?: { type: 'text'; languages: string[] }[];
  expectedOutputs?: { type: 'text'; languages: string[] }[];
}

/** A conversation with it. */
export interface Conversation {
  /** Tokens. */
  readonly contextUsage: number;
  readonly contextWindow: number;
  measureContextUsage(input: Prompt[] | string, options?: { signal?: AbortSignal }): Promise<number>;
  promptStreaming(input: Prompt[], options: { signal?: AbortSignal; responseConstraint?: Record<string, unknown> }): ReadableStream<string>;
  destroy(): void;
}

/** The part of the Prompt API (webmachinelearning.github.io/prompt-api) that is used; pages have it if the browser includes a model. */
export interface LanguageModel {
  availability(wished?: Wished): Promise<Availability>;
  /** Fetches the model first where it is not here yet: only at a person's click then. Rejects with a DOMException. */
  create(
    options: Wished & {
      initialPrompts?: Prompt[];
      signal?: AbortSignal;
      monitor?(monitor: EventTarget): void;
    },
  ): Promise<Conversation>;
}

/** The browser's own model; undefined where it has none. */
export const languageModel = (): LanguageModel | undefined => (globalThis as { LanguageModel?: LanguageModel }).LanguageModel;

/** Languages of Chrome's model (Chrome 156); it refuses others, with a warning in the console. */
const SPOKEN = ['de', 'en', 'es', 'fr', 'ja'];

/** How it can be had for a language: in that, or in English where it does not speak it. The browser wants to be told. */
export async function bestWish(model: LanguageModel, locale: string): Promise<{ wished: Wished; availability: Availability }> {
  const language = SPOKEN.find((each) => each === locale.split('-', 1)[0]) ?? 'en';
  const texts = [{ type: 'text' as const, languages: [language] }];
  const wished = { expectedInputs: texts, expectedOutputs: texts };
  return { wished, availability: await model.availability(wished).catch((): Availability => 'unavailable') };
}
