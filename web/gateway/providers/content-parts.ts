import type { MessagePart } from '#shared/rpc/record-schemas.ts';
import { describeFile, NO_READER } from './describe-file.ts';

/** Text of a message's content; images are omitted. `reader`: how attached files can be read. */
export function toPlainText(content: string | readonly MessagePart[], reader = NO_READER): string {
  if (typeof content === 'string') return content;
  return content
    .flatMap((part) => (part.type === 'image' ? [] : part.type === 'text' ? [part.text] : [describeFile(part, reader)]))
    .join('\n\n');
}

/** The text parts of a content. */
export const getTextParts = (content: string | readonly MessagePart[]): string | readonly MessagePart[] =>
  typeof content === 'string' ? content : content.filter(({ type }) => type === 'text');
/** The parts of a content that are not text. */
export const getOtherParts = (content: string | readonly MessagePart[]): readonly MessagePart[] =>
  typeof content === 'string' ? [] : content.filter(({ type }) => type !== 'text');

/** The part's data in standard base64, which every API accepts. */
export const toStandardBase64 = ({ data }: { data: string }): string => data.replaceAll('-', '+').replaceAll('_', '/');

/** User turn in front of an API client's conversation that does not begin with one. */
export const OPENING_TEXT = '…';
