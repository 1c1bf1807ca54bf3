import type { Envelope } from '#shared/http/envelope.ts';
import type { ModelEvent, ModelMessage } from '../../providers/provider.ts';
import type { Route } from '../../providers/providers.ts';
import { withCountedUsage } from '../../providers/counted-usage.ts';
import { retryStream } from '../../providers/retry.ts';
import { readChatOptions } from './chat-request.ts';
import { badRequest, toChatParam } from './http-error.ts';
import { type IgnoredFields, retryWithoutUnsupported } from './ignored-fields.ts';
import type { HttpDeps } from './http-deps.ts';
import type { ProviderStateCache } from './provider-state-cache.ts';

/** Maximum number of choices of one request, which are generated in parallel. */
const MAX_CHOICES = 8;

interface ChoicesRequest {
  body: Envelope;
  principal: string;
  abort: AbortController;
  ignored: IgnoredFields;
}

/** The choices of a model with another format: one parallel call each. The first failure ends them all. */
export function createChoices(
  { body, principal, abort, ignored }: ChoicesRequest,
  { provider, model, key }: Route,
  { clock, providerStates }: Pick<HttpDeps, 'clock'> & { providerStates: ProviderStateCache },
): { messages: ModelMessage[]; choices: AsyncIterable<ModelEvent>[] } {
  const { messages, generationOptions, tools, cacheKey } = readChatOptions(body, ignored);
  const count = body.n ?? 1;
  if (count > MAX_CHOICES) throw badRequest(`\`n\` must be at most ${MAX_CHOICES} for this model.`, 'n');
  const request = { model, messages: providerStates.restoreInto(principal, messages), tools, exact: true, cacheKey };
  const failed = new AbortController();
  const signal = count > 1 ? AbortSignal.any([abort.signal, failed.signal]) : abort.signal;
  const generateChoice = async function* (): AsyncGenerator<ModelEvent> {
    try {
      yield* providerStates.recordFrom(
        principal,
        withCountedUsage(
          retryWithoutUnsupported(
            generationOptions,
            (remaining) => retryStream(() => provider.stream({ ...request, ...remaining }, signal), { clock, signal }),
            {
              ignored,
              toParamName: toChatParam,
            },
          ),
          messages,
          key,
        ),
      );
    } catch (error) {
      failed.abort(error);
      throw error;
    }
  };
  return { messages, choices: Array.from({ length: count }, generateChoice) };
}
