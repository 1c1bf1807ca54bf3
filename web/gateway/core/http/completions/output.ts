import type { Usage } from '#shared/rpc/records.ts';
import { writeSse } from '#shared/http/sse.ts';
import { estimateUsage } from '../../providers/estimate.ts';
import type { ModelEvent, ModelMessage } from '../../providers/provider.ts';
import { sumUsage } from '../../providers/usage.ts';
import { DONE, type FinishReason } from '../completion.ts';
import type { HttpError } from '../errors.ts';
import { merged } from '../merged.ts';

/** Replies of a chat model as text completions. */
export interface TextSource {
  /** Events of each choice. */
  choices: readonly AsyncIterable<ModelEvent>[];
  /** Text before each choice (`echo`). */
  echoed: readonly string[];
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
  written: string;
  finish: FinishReason | undefined;
  usage: Usage | undefined;
}

/** Collects the choices, and their usage. */
class TextChoices {
  readonly list: TextChoice[];
  readonly #source: TextSource;

  constructor(source: TextSource) {
    this.#source = source;
    this.list = source.echoed.map((text) => ({ text, written: '', finish: undefined, usage: undefined }));
  }

  /** The text that an event adds to its choice. */
  add(index: number, event: ModelEvent): string {
    const choice = this.list[index];
    if (!choice) return '';
    if (event.type === 'usage') choice.usage = event.usage;
    else if (event.type === 'finish') choice.finish = event.reason;
    else if (event.type === 'text' || event.type === 'refusal' || event.type === 'reasoning') {
      choice.written += event.text;
      if (event.type === 'reasoning') return '';
      choice.text += event.text;
      return event.text;
    }
    return '';
  }

  get usage(): Usage {
    const { messages, head } = this.#source;
    return this.list
      .map(({ usage, written }, index) => usage ?? estimateUsage(messages[index] ?? [], written, head.model))
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
  let begun = false;
  try {
    for await (const { index, value } of merged(source.choices)) {
      begun ||= value.type !== 'calling';
      choices.add(index, value);
    }
  } finally {
    if (begun) source.record(choices.usage);
  }
  return {
    ...{ id: source.head.id, object: 'text_completion', created: source.head.created, model: source.head.model },
    choices: choices.list.map(({ text, finish }, index) => ({ text, index, logprobs: null, finish_reason: toFinish(finish) })),
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
  let begun = false;
  let echoed = source.echoed.map((text, index) => (text === '' ? '' : chunk(index, text))).join('');
  try {
    for await (const { index, value } of merged(source.choices)) {
      const text = choices.add(index, value);
      if (text === '') continue;
      begun = true;
      yield echoed + chunk(index, text);
      echoed = '';
    }
    begun = true;
    const ends = choices.list.map(({ finish }, index) => chunk(index, '', toFinish(finish))).join('');
    yield echoed + ends + (withUsage ? write({ choices: [], usage: toUsage(choices.usage) }) : '') + DONE;
  } catch (error) {
    if (!begun || signal.aborted) throw error;
    yield writeSse(JSON.stringify(explain(error).body())) + DONE;
  } finally {
    if (begun) source.record(choices.usage);
  }
}
