import type { Part } from '#shared/rpc/records.ts';
import { fileNote } from './file-note.ts';

const NO_TOOLS: ReadonlySet<string> = new Set();

/** The text of a message's content; pictures leave nothing. `tools`: those that may read what is attached. */
export function plainText(content: string | readonly Part[], tools: ReadonlySet<string> = NO_TOOLS): string {
  if (typeof content === 'string') return content;
  return content
    .flatMap((part) => (part.type === 'image' ? [] : part.type === 'text' ? [part.text] : [fileNote(part, tools)]))
    .join('\n\n');
}

/** The data of a part in the one alphabet that every API reads. */
export const base64Of = ({ data }: { data: string }): string => data.replaceAll('-', '+').replaceAll('_', '/');
