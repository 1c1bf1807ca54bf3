import { type ModelEvent, ProviderError, Unsupported, type Wishes } from '../providers/provider.ts';

/** Runs without reasoning effort if the model rejects it: clients set it for every model. */
export async function* withoutRefusedEffort(
  run: (wishes: Wishes) => AsyncIterable<ModelEvent>,
  wishes: Wishes,
  onrefused: () => void,
): AsyncGenerator<ModelEvent> {
  let begun = false;
  try {
    for await (const event of run(wishes)) {
      begun ||= event.type !== 'calling';
      yield event;
    }
  } catch (error) {
    if (begun || wishes.reasoningEffort === undefined || !refusesEffort(error)) throw error;
    onrefused();
    yield* run({ ...wishes, reasoningEffort: undefined });
  }
}

function refusesEffort(error: unknown): boolean {
  const cause = error instanceof Error && !(error instanceof ProviderError) ? error.cause : error;
  if (cause instanceof Unsupported) return cause.field === 'reasoningEffort';
  return cause instanceof ProviderError && (cause.status === 400 || cause.status === 422) && /reason|think|effort/i.test(cause.message);
}
