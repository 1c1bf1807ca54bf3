import { goto } from '$app/navigation';
import type { Drawing } from '#shared/canvas/drawing.ts';
import { drafts } from '#app/state/drafts.ts';
import type { PickedFile } from '#app/state/page-db.ts';
import { getAttachmentError } from '#app/files/attachment-limits.ts';
import { createChatPicture } from './export-drawing.ts';
import { toDataUrl } from './read-picture.ts';
import { formatNotes } from './marker-notes.ts';

/** A chat to send to: `new`, or `<agentId>/<sessionId>`. */
type ChatKey = string;

/**
 * Adds the drawing to the draft of a chat as one card with its picture and notes, replacing an earlier one of the same drawing, and opens
 * the chat. Rejects with an Error that says why the message cannot carry it.
 */
export async function sendToChat(key: ChatKey, { id, title, drawing }: { id: string; title: string; drawing: Drawing }): Promise<void> {
  const file = await createChatPicture(drawing, title);
  const otherFiles = (await drafts.files(key)).filter((each) => each.drawing?.id !== id);
  const attachmentError = getAttachmentError(file, otherFiles);
  if (attachmentError) throw new Error(attachmentError);
  const card: PickedFile = {
    id: crypto.randomUUID(),
    filename: file.name,
    mimeType: file.type,
    size: file.size,
    content: (await toDataUrl(file)).replace(/^[^,]*,/, ''),
    drawing: { id, notes: formatNotes(title, drawing.shapes) },
  };
  await drafts.storeFiles(key, [...otherFiles, card]);
  await goto(key === 'new' ? '/' : `/chat/${key}`);
}
