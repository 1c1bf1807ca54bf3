import type { Envelope } from '#shared/http/envelope.ts';
import type { ModelEvent, ModelMessage } from '../providers/provider.ts';
import type { Route } from '../providers/providers.ts';
import { countedStream } from '../providers/counted-stream.ts';
import { retriedStream } from '../providers/retry.ts';
import { readKnown } from './chat-request.ts';
import { badRequest, chatName } from './errors.ts';
import { type IgnoredFields, withoutUnsupported } from './ignored-fields.ts';
import type { HttpDeps } from './deps.ts';
import type { Thoughts } from './thoughts.ts';

/** Maximum number of choices of one request, which are generated in parallel. */
const MOST_CHOICES = 8;

interface Asking {
  body: Envelope;
  principal: string;
  abort: AbortController;
  ignored: IgnoredFields;
}

/** The choices of a model with another format: one parallel call each. The first failure ends them all. */
export function translated(
  { body, principal, abort, ignored }: Asking,
  { provider, model, key }: Route,
  { clock, thoughts }: Pick<HttpDeps, 'clock'> & { thoughts: Thoughts },
): { messages: ModelMessage[]; choices: AsyncIterable<ModelEvent>[] } {
  const { messages, wishes, tools, cacheKey } = readKnown(body, ignored);
  const count = body.n ?? 1;
  if (count > MOST_CHOICES) throw badRequest(`\`n\` must be at most ${MOST_CHOICES} for this model.`, 'n');
  const request = { model, messages: thoughts.restored(principal, messages), tools, exact: true, cacheKey };
  const failed = new AbortController();
  const signal = count > 1 ? AbortSignal.any([abort.signal, failed.signal]) : abort.signal;
  const choice = async function* (): AsyncGenerator<ModelEvent> {
    try {
      yield* thoughts.noting(
        principal,
        countedStream(
          withoutUnsupported(wishes, (left) => retriedStream(() => provider.stream({ ...request, ...left }, signal), { clock, signal }), {
            ignored,
            nameOf: chatName,
          }),
          messages,
          key,
        ),
      );
    } catch (error) {
      failed.abort(error);
      throw error;
    }
  };
  return { messages, choices: Array.from({ length: count }, choice) };
}
