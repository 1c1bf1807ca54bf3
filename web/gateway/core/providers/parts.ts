import type { Part } from '#shared/rpc/records.ts';
import { fileNote, NO_READER } from './file-note.ts';

/** Text of a message's content; images are omitted. `reader`: how attached files can be read. */
export function plainText(content: string | readonly Part[], reader = NO_READER): string {
  if (typeof content === 'string') return content;
  return content
    .flatMap((part) => (part.type === 'image' ? [] : part.type === 'text' ? [part.text] : [fileNote(part, reader)]))
    .join('\n\n');
}

/** The text parts of a content. */
export const textsOf = (content: string | readonly Part[]): string | readonly Part[] =>
  typeof content === 'string' ? content : content.filter(({ type }) => type === 'text');
/** The parts of a content that are not text. */
export const besideOf = (content: string | readonly Part[]): readonly Part[] =>
  typeof content === 'string' ? [] : content.filter(({ type }) => type !== 'text');

/** The part's data in standard base64, which every API accepts. */
export const base64Of = ({ data }: { data: string }): string => data.replaceAll('-', '+').replaceAll('_', '/');

/** User turn in front of an API client's conversation that does not begin with one. */
export const OPENING = '…';
