import { countUsage } from './estimate.ts';
import type { ModelEvent, ModelMessage } from './provider.ts';

/** The events of an answer, with its usage counted at the end if the provider reported none. `key`: the model's key. */
export async function* countedStream(
  events: AsyncIterable<ModelEvent>,
  messages: readonly ModelMessage[],
  key: string,
): AsyncGenerator<ModelEvent> {
  let given = false;
  let written = '';
  for await (const event of events) {
    if (event.type === 'usage') given = true;
    else if (event.type === 'text' || event.type === 'reasoning' || event.type === 'refusal') written += event.text;
    else if (event.type === 'tool_call') written += JSON.stringify(event.call);
    yield event;
  }
  if (!given) yield { type: 'usage', usage: await countUsage(messages, written, key) };
}
