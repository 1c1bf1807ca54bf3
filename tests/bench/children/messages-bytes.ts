// Responses of Anthropic's Messages API as bytes, with the texts of the upstream's completions.

const USAGE = { input_tokens: 11, output_tokens: 7 };
const HEAD_EVENTS = { id: 'msg_bench', type: 'message', role: 'assistant', model: 'bench' };
const END_EVENTS = { stop_reason: 'end_turn', stop_sequence: null };
const event = (value: { type: string } & Record<string, unknown>): string => `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`;

export const FULL_MESSAGE = Buffer.from(
  JSON.stringify({
    ...HEAD_EVENTS,
    content: [{ type: 'text', text: 'The quick brown fox jumps over the lazy dog.' }],
    ...END_EVENTS,
    usage: USAGE,
  }),
);

const streams = new Map<string, Buffer[]>();

/** Creates a stream of `count` deltas, `perWrite` in each write. */
export function toMessageBytes(count: number, perWrite: number): Buffer[] {
  const key = `${count}/${perWrite}`;
  const cached = streams.get(key);
  if (cached) return cached;
  const events = [...Array(count).keys()].map((i) =>
    event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: `w${i} ` } }),
  );
  const message = { ...HEAD_EVENTS, content: [], stop_reason: null, stop_sequence: null, usage: USAGE };
  const start = event({ type: 'message_start', message });
  events[0] = start + event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }) + (events[0] ?? '');
  const parts: Buffer[] = [];
  for (let at = 0; at < count; at += perWrite) parts.push(Buffer.from(events.slice(at, at + perWrite).join('')));
  const stop = event({ type: 'content_block_stop', index: 0 }) + event({ type: 'message_delta', delta: END_EVENTS, usage: USAGE });
  parts.push(Buffer.from(stop + event({ type: 'message_stop' })));
  streams.set(key, parts);
  return parts;
}
