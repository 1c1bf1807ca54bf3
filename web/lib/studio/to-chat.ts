import { goto } from '$app/navigation';
import type { Drawing } from '#shared/canvas/drawing.ts';
import { drafts } from '#lib/state/drafts.ts';
import type { PickedFile } from '#lib/state/page-db.ts';
import { refusal } from '#lib/chat/limits.ts';
import { pictureForChat } from './export-drawing.ts';
import { dataUrlOf } from './read-picture.ts';
import { notesOf } from './notes.ts';

/** A chat to send to: `new`, or `<agentId>/<sessionId>`. */
export type ChatKey = string;

/**
 * Adds the drawing to the draft of a chat as one card with its picture and notes, replacing an earlier one of the same drawing, and opens
 * the chat. Rejects with an Error that says why the message cannot carry it.
 */
export async function sendToChat(key: ChatKey, { id, title, drawing }: { id: string; title: string; drawing: Drawing }): Promise<void> {
  const file = await pictureForChat(drawing, title);
  const others = (await drafts.files(key)).filter((each) => each.drawing?.id !== id);
  const why = refusal(file, others);
  if (why) throw new Error(why);
  const card: PickedFile = {
    id: crypto.randomUUID(),
    filename: file.name,
    mimeType: file.type,
    size: file.size,
    content: (await dataUrlOf(file)).replace(/^[^,]*,/, ''),
    drawing: { id, notes: notesOf(title, drawing.shapes) },
  };
  await drafts.keepFiles(key, [...others, card]);
  await goto(key === 'new' ? '/' : `/chat/${key}`);
}
