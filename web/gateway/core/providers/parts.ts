import type { Part } from '#shared/rpc/records.ts';
import { fileNote, NO_READER } from './file-note.ts';

/** The text of a message's content; pictures leave nothing. `reader`: who may read what is attached. */
export function plainText(content: string | readonly Part[], reader = NO_READER): string {
  if (typeof content === 'string') return content;
  return content
    .flatMap((part) => (part.type === 'image' ? [] : part.type === 'text' ? [part.text] : [fileNote(part, reader)]))
    .join('\n\n');
}

/** What of a content is text. */
export const textsOf = (content: string | readonly Part[]): string | readonly Part[] =>
  typeof content === 'string' ? content : content.filter(({ type }) => type === 'text');
/** What of it is not. */
export const besideOf = (content: string | readonly Part[]): readonly Part[] =>
  typeof content === 'string' ? [] : content.filter(({ type }) => type !== 'text');

/** The data of a part in the one alphabet that every API reads. */
export const base64Of = ({ data }: { data: string }): string => data.replaceAll('-', '+').replaceAll('_', '/');

/** The person's turn where a program's conversation has to begin with one and does not. */
export const OPENING = '…';
