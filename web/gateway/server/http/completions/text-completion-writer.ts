import type { Usage } from '#shared/rpc/record-schemas.ts';
import { writeSse } from '#shared/http/sse.ts';
import { estimateUsage } from '../../../providers/estimate-usage.ts';
import type { ModelEvent, ModelMessage } from '../../../providers/provider.ts';
import { sumUsage } from '../../../providers/sum-usage.ts';
import { DONE_EVENT, type FinishReason } from '../completion-objects.ts';
import type { HttpError } from '../http-error.ts';
import { mergeIterables } from '../merge-iterables.ts';

/** Replies of a chat model as text completions. */
export interface TextSource {
  /** Events of each choice. */
  choices: readonly AsyncIterable<ModelEvent>[];
  /** Text before each choice (`echo`). */
  echoes: readonly string[];
  /** The messages that led to each choice, to estimate its usage. */
  messages: readonly (readonly ModelMessage[])[];
  /** The model as named by the client, and the time in seconds. */
  head: { id: string; created: number; model: string };
  /** Called once, when the answer ends. */
  record(usage: Usage): void;
}

interface TextChoice {
  text: string;
  /** All text that the model wrote, including thoughts. */
  allText: string;
  finish: FinishReason | undefined;
  usage: Usage | undefined;
}

/** Collects the choices, and their usage. */
class TextChoices {
  readonly choices: TextChoice[];
  readonly #source: TextSource;

  constructor(source: TextSource) {
    this.#source = source;
    this.choices = source.echoes.map((text) => ({ text, allText: '', finish: undefined, usage: undefined }));
  }

  /** The text that an event adds to its choice. */
  add(index: number, event: ModelEvent): string {
    const choice = this.choices[index];
    if (!choice) return '';
    if (event.type === 'usage') choice.usage = event.usage;
    else if (event.type === 'finish') choice.finish = event.reason;
    else if (event.type === 'text' || event.type === 'refusal' || event.type === 'reasoning') {
      choice.allText += event.text;
      if (event.type === 'reasoning') return '';
      choice.text += event.text;
      return event.text;
    }
    return '';
  }

  get usage(): Usage {
    const { messages, head } = this.#source;
    return this.choices
      .map(({ usage, allText }, index) => usage ?? estimateUsage(messages[index] ?? [], allText, head.model))
      .reduce(sumUsage);
  }
}

const toFinish = (finish: FinishReason | undefined): string => (finish === undefined || finish === 'tool_calls' ? 'stop' : finish);

const toUsage = ({ inputTokens, outputTokens, totalTokens }: Usage): Record<string, unknown> => ({
  ...{ prompt_tokens: inputTokens, completion_tokens: outputTokens, total_tokens: totalTokens },
});

/** The whole `text_completion`. */
export async function buildCompletion(source: TextSource): Promise<Record<string, unknown>> {
  const choices = new TextChoices(source);
  let hasBegun = false;
  try {
    for await (const { index, value } of mergeIterables(source.choices)) {
      hasBegun ||= value.type !== 'calling';
      choices.add(index, value);
    }
  } finally {
    if (hasBegun) source.record(choices.usage);
  }
  return {
    ...{ id: source.head.id, object: 'text_completion', created: source.head.created, model: source.head.model },
    choices: choices.choices.map(({ text, finish }, index) => ({ text, index, logprobs: null, finish_reason: toFinish(finish) })),
    usage: toUsage(choices.usage),
  };
}

/** The completion as events, with exactly one `[DONE]`. Throws only before the first event; later failures are an error object. */
export async function* streamCompletion(
  source: TextSource,
  { withUsage, signal, explain }: { withUsage: boolean; signal: AbortSignal; explain: (error: unknown) => HttpError },
): AsyncGenerator<string> {
  const choices = new TextChoices(source);
  const write = (rest: Record<string, unknown>): string =>
    writeSse(
      JSON.stringify({
        ...{ id: source.head.id, object: 'text_completion', created: source.head.created, model: source.head.model },
        ...rest,
      }),
    );
  const chunk = (index: number, text: string, finish: string | null = null): string =>
    write({ choices: [{ text, index, logprobs: null, finish_reason: finish }], ...(withUsage ? { usage: null } : {}) });
  let hasBegun = false;
  let pendingEcho = source.echoes.map((text, index) => (text === '' ? '' : chunk(index, text))).join('');
  try {
    for await (const { index, value } of mergeIterables(source.choices)) {
      const text = choices.add(index, value);
      if (text === '') continue;
      hasBegun = true;
      yield pendingEcho + chunk(index, text);
      pendingEcho = '';
    }
    hasBegun = true;
    const ends = choices.choices.map(({ finish }, index) => chunk(index, '', toFinish(finish))).join('');
    yield pendingEcho + ends + (withUsage ? write({ choices: [], usage: toUsage(choices.usage) }) : '') + DONE_EVENT;
  } catch (error) {
    if (!hasBegun || signal.aborted) throw error;
    yield writeSse(JSON.stringify(explain(error).body())) + DONE_EVENT;
  } finally {
    if (hasBegun) source.record(choices.usage);
  }
}
