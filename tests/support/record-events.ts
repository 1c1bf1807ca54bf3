import type { Link } from '#shared/link/link.ts';
import type { EventFrame } from '#shared/rpc/frames.ts';

/** Wraps a link so that all received event frames are also added to `events`. */
export const recordEvents = (link: Link<string>, events: EventFrame[]): Link<string> => ({
  get buffered() {
    return link.buffered;
  },
  send: (text) => link.send(text),
  close: (code, reason) => link.close(code, reason),
  receive: (handlers) =>
    link.receive({
      ...handlers,
      message(text) {
        const frame = JSON.parse(text) as EventFrame;
        if (frame.type === 'event') events.push(frame);
        handlers.message(text);
      },
    }),
});
