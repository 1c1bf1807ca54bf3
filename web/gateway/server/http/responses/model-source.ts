import { RpcError } from '#shared/rpc/rpc-error.ts';
import { withCountedUsage } from '../../../providers/counted-usage.ts';
import { canForward } from '../../../providers/forwarding-provider.ts';
import {
  type GenerationOptions,
  type ModelEvent,
  type ModelMessage,
  type ModelRequest,
  UnsupportedOptionError,
} from '../../../providers/provider.ts';
import type { Route } from '../../../providers/providers.ts';
import { retryStream } from '../../../providers/retry.ts';
import type { HttpDeps } from '../http-deps.ts';
import { badRequest } from '../http-error.ts';
import { type IgnoredFields, retryWithoutUnsupported } from '../ignored-fields.ts';
import type { ProviderStateCache } from '../provider-state-cache.ts';
import { resolveRoute } from '../request-target.ts';
import { answerWithSearch } from '../search/hosted-search.ts';
import type { SearchEvent } from './output-builder.ts';
import type { ResponseOptions } from './response-builder.ts';
import type { SettledSearches } from './response-search.ts';
import type { ResponseRequest } from './responses-request.ts';
import { truncateMessages } from './truncate-messages.ts';

/** Parameter names in the Responses API. */
const PARAM_NAMES: Partial<Record<keyof ModelRequest, string>> = {
  messages: 'input',
  maxTokens: 'max_output_tokens',
  toolChoice: 'tool_choice',
  parallelToolCalls: 'parallel_tool_calls',
  responseFormat: 'text.format',
  topP: 'top_p',
  reasoningEffort: 'reasoning.effort',
};

export const toParamName = (field: keyof ModelRequest): string => PARAM_NAMES[field] ?? field;

export interface ResponseCall {
  asked: ResponseRequest;
  messages: ModelMessage[];
  principal: string;
  sessionId: string | undefined;
  signal: AbortSignal;
  ignored: IgnoredFields;
}

/** Source of the answer, and where to record the usage. */
export type ResponseSource = Pick<ResponseOptions, 'events' | 'messages' | 'record'>;

type ModelSourceDeps = HttpDeps & { providerStates: ProviderStateCache };

/** The answer of a model. */
export async function createModelSource(
  { asked, messages: all, principal, signal, ignored }: ResponseCall,
  { searches, maxSearches, options: generationOptions }: SettledSearches,
  deps: ModelSourceDeps,
): Promise<ResponseSource> {
  const { clock, record, providerStates } = deps;
  const route = await resolveRoute(asked.model, signal, deps);
  const { provider, model, key } = route;
  const messages = asked.truncate ? await truncate(all, route, asked.generationOptions.maxTokens ?? 0, deps, signal) : all;
  const reportIgnored = (field: string): void => {
    const name = asked.passed.get(field)?.name;
    if (name !== undefined) ignored.add(name);
  };
  const isForwarding = canForward(provider);
  if (!isForwarding) for (const field of asked.passed.keys()) reportIgnored(field);
  const request: Omit<ModelRequest, 'messages'> = {
    ...(isForwarding ? { passed: Object.fromEntries([...asked.passed].map(([field, { value }]) => [field, value])) } : {}),
    onRefusedField: reportIgnored,
    model,
    exact: true,
    cacheKey: asked.cacheKey,
  };
  const run = (step: Pick<ModelRequest, 'messages' | 'tools' | 'spentTools'>, options: GenerationOptions): AsyncIterable<ModelEvent> =>
    providerStates.recordFrom(
      principal,
      withCountedUsage(
        retryWithoutUnsupported(
          options,
          (wishes) => retryStream(() => provider.stream({ ...request, ...step, ...wishes }, signal), { clock, signal }),
          { ignored, toParamName },
        ),
        step.messages,
        key,
      ),
    );
  const restored = providerStates.restoreInto(principal, messages);
  const tools = asked.tools.specs;
  const events =
    searches.length > 0 && deps.searches
      ? answerWithSearch({
          ...{ messages: restored, tools, options: generationOptions, searches, maxSearches, signal },
          label: deps.searches.label,
          run: ({ options, ...step }) => run(step, options),
        })
      : run({ messages: restored, tools }, generationOptions);
  return {
    events: nameUnsupported(events),
    messages,
    record: (usage) => record?.({ at: clock.now(), provider: provider.id, model: key, principal, usage }),
  };
}

async function truncate(
  messages: ModelMessage[],
  { key }: Route,
  reserve: number,
  { providers }: ModelSourceDeps,
  signal: AbortSignal,
): Promise<ModelMessage[]> {
  const window = (await providers.list({ signal })).find((model) => model.key === key)?.context_window;
  return window ? truncateMessages(messages, window - reserve, key) : messages;
}

/** The events; unsupported options of a model or an agent are reported by their name in this API. */
export async function* nameUnsupported<T extends ModelEvent | SearchEvent>(events: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* events;
  } catch (error) {
    const unsupported = error instanceof RpcError ? error.cause : error;
    if (!(unsupported instanceof UnsupportedOptionError)) throw error;
    const param = toParamName(unsupported.field);
    throw badRequest(`Invalid \`${param}\`: ${unsupported.message}`, param);
  }
}
