import type { BrowserContext } from 'playwright';

/** Built-in model of the browser for the next pages: none, an available one, or one that must be downloaded. */
export type ModelAvailability = 'unavailable' | 'downloadable' | 'available';

/**
 * Stands in for the model that Chrome brings, which it has on large machines alone: by the same rules, as far as they concern who asks it. It is fetched at a
 * person's click only, in five steps; counts words as tokens, takes 60 of them, and says back what it was asked, a word at a time.
 */
export async function installFakeLanguageModel(context: BrowserContext, brings: ModelAvailability): Promise<void> {
  await context.addInitScript((begins) => {
    const KEY = 'stand-in-model';
    const has = (): string => localStorage.getItem(KEY) ?? begins;
    const count = (input: { content: string }[] | string): number =>
      (typeof input === 'string' ? input : input.map(({ content }) => content).join(' ')).split(/\s+/).filter(Boolean).length;
    const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));
    const model = {
      availability: async () => has(),
      async create({
        initialPrompts = [],
        signal,
        monitor,
      }: {
        initialPrompts?: { role: string; content: string }[];
        signal?: AbortSignal;
        monitor?: (target: EventTarget) => void;
      }) {
        if (initialPrompts.slice(1).some(({ role }) => role === 'system')) throw new TypeError('instructions come first');
        if (has() === 'unavailable') throw new DOMException('There is no model', 'NotAllowedError');
        if (has() === 'downloadable') {
          if (!navigator.userActivation.isActive) throw new DOMException('Requires a user gesture', 'NotAllowedError');
          const target = new EventTarget();
          monitor?.(target);
          for (let step = 0; step <= 5; step++) {
            target.dispatchEvent(new ProgressEvent('downloadprogress', { loaded: step / 5, total: 1, lengthComputable: true }));
            // Held until the test lets it go on.
            while (step === 2 && !localStorage.getItem('stand-in-goes-on')) {
              signal?.throwIfAborted();
              await turn();
            }
            signal?.throwIfAborted();
            await turn();
          }
          localStorage.setItem(KEY, 'available');
        }
        return {
          contextUsage: count(initialPrompts),
          contextWindow: 400,
          measureContextUsage: async (input: { content: string }[] | string) => count(input),
          promptStreaming(input: { content: string }[], options: { signal?: AbortSignal; responseConstraint?: unknown }) {
            // The user's own words, without the context block.
            const userText = String(input.at(-1)?.content ?? '').replace(/\[context (\w+): [^]*?\[end of context \1\]\s*/, '');
            const words = options.responseConstraint ? ['{"said": ', '"yes"}'] : `You said: ${userText}`.split(/(?<= )/);
            return new ReadableStream<string>({
              async pull(controller) {
                await turn();
                if (options.signal?.aborted) return controller.error(options.signal.reason);
                const word = words.shift();
                if (word === undefined) controller.close();
                else controller.enqueue(word);
                // A prompt that ends with “for ever” gets an endless response.
                if (words.length === 0 && input.at(-1)?.content.endsWith('for ever')) words.push('and on ');
              },
            });
          },
          destroy: () => {},
        };
      },
    };
    Object.defineProperty(globalThis, 'LanguageModel', { value: model, configurable: true });
  }, brings);
}
