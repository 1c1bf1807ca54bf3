import { z } from '#shared/rpc/zod.ts';
import type { Button, ButtonPress } from '../channel-adapter.ts';
import type { MatrixEvent } from './matrix-events.ts';

/** Field of a message of the account with the values of its buttons, by emoji. */
const BUTTONS_FIELD = 'perch.buttons';
/** Signs of buttons without one of their own. */
const DEFAULT_EMOJI = ['1️⃣', '2️⃣', '3️⃣', '4️⃣', '5️⃣'];

const buttonValues = z.record(z.string(), z.string());
const reactionContent = z.object({
  'm.relates_to': z.object({ rel_type: z.literal('m.annotation'), event_id: z.string().min(1), key: z.string() }),
});

/** Buttons of a message. Matrix has none: people react with an emoji, which the text explains. */
interface MatrixButtons {
  /** Line that explains the reactions. */
  legend: string;
  /** Fields of the message. */
  fields: Record<string, unknown>;
  emoji: string[];
}

export function toMatrixButtons(buttons: readonly Button[]): MatrixButtons {
  const signed = buttons.map(({ label, value, emoji }, index) => ({ label, value, emoji: emoji ?? DEFAULT_EMOJI[index] ?? label }));
  return {
    legend: `React with ${signed.map(({ emoji, label }) => `${emoji} for “${label}”`).join(', ')}.`,
    fields: { [BUTTONS_FIELD]: Object.fromEntries(signed.map(({ emoji, value }) => [toKey(emoji), value])) },
    emoji: signed.map(({ emoji }) => emoji),
  };
}

/** Clients differ in whether they mark an emoji as one. */
const toKey = (emoji: string): string => emoji.replaceAll('\u{fe0f}', '');

/** The message that an event reacts to; undefined if it is no reaction of somebody else. */
export function getReactionTarget({ type, sender, content }: MatrixEvent, self: string): { eventId: string; emoji: string } | undefined {
  if (type !== 'm.reaction' || sender === self) return undefined;
  const { data } = reactionContent.safeParse(content);
  return data && { eventId: data['m.relates_to'].event_id, emoji: data['m.relates_to'].key };
}

/** The press that a reaction to a message of the account stands for; undefined if the message has no such button. */
export function toButtonPress(
  reaction: MatrixEvent,
  emoji: string,
  target: MatrixEvent,
  { self, roomId, isGroup }: { self: string; roomId: string; isGroup: boolean },
): ButtonPress | undefined {
  if (target.sender !== self) return undefined;
  const value = buttonValues.safeParse(target.content[BUTTONS_FIELD]).data?.[toKey(emoji)];
  if (value === undefined) return undefined;
  const { event_id: id, sender } = reaction;
  return { id, user: { id: sender, name: sender }, conversation: roomId, isPrivate: !isGroup, value, postId: target.event_id };
}
