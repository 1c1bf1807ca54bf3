import { countUsage } from './estimate-usage.ts';
import type { ModelEvent, ModelMessage } from './provider.ts';

/** The events of an answer, with its usage counted at the end if the provider reported none. `key`: the model's key. */
export async function* withCountedUsage(
  events: AsyncIterable<ModelEvent>,
  messages: readonly ModelMessage[],
  key: string,
): AsyncGenerator<ModelEvent> {
  let hasUsage = false;
  let generated = '';
  for await (const event of events) {
    if (event.type === 'usage') hasUsage = true;
    else if (event.type === 'text' || event.type === 'reasoning' || event.type === 'refusal') generated += event.text;
    else if (event.type === 'tool_call') generated += JSON.stringify(event.call);
    yield event;
  }
  if (!hasUsage) yield { type: 'usage', usage: await countUsage(messages, generated, key) };
}
