import { type ModelEvent, ProviderError, UnsupportedOptionError, type GenerationOptions } from '../../providers/provider.ts';

/** Runs without reasoning effort if the model rejects it: clients set it for every model. */
export async function* retryWithoutEffort(
  run: (generationOptions: GenerationOptions) => AsyncIterable<ModelEvent>,
  wishes: GenerationOptions,
  onrejected: () => void,
): AsyncGenerator<ModelEvent> {
  let hasBegun = false;
  try {
    for await (const event of run(wishes)) {
      hasBegun ||= event.type !== 'calling';
      yield event;
    }
  } catch (error) {
    if (hasBegun || wishes.reasoningEffort === undefined || !rejectsEffort(error)) throw error;
    onrejected();
    yield* run({ ...wishes, reasoningEffort: undefined });
  }
}

function rejectsEffort(error: unknown): boolean {
  const cause = error instanceof Error && !(error instanceof ProviderError) ? error.cause : error;
  if (cause instanceof UnsupportedOptionError) return cause.field === 'reasoningEffort';
  return cause instanceof ProviderError && (cause.status === 400 || cause.status === 422) && /reason|think|effort/i.test(cause.message);
}
