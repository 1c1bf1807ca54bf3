import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { HistoryMessage, MessagePart } from '#shared/rpc/record-schemas.ts';
import type { SentFile } from '../tools/tool-registry.ts';
import { MAX_ATTACHMENTS_BYTES } from './attachments.ts';

const MAX_FILES = 50;

/** The files that an agent sends with its reply. */
export class ReplyFiles {
  readonly #parts: MessagePart[] = [];
  readonly #info: NonNullable<HistoryMessage['attachments']> = [];
  #bytes = 0;

  /** Throws `INVALID_PARAMS` if the reply cannot contain another file. */
  add({ filename, mimeType, data, size, note }: SentFile): void {
    if (this.#info.length === MAX_FILES) throw new RpcError('INVALID_PARAMS', `A reply can include at most ${MAX_FILES} files.`);
    if (this.#bytes + size > MAX_ATTACHMENTS_BYTES) throw new RpcError('INVALID_PARAMS', 'The files of a reply must not exceed 18 MB.');
    this.#bytes += size;
    if (note !== undefined) this.#parts.push({ type: 'text', text: note });
    this.#parts.push({ type: mimeType.startsWith('image/') ? 'image' : 'file', mimeType, data, filename });
    this.#info.push({ filename, mimeType, size });
  }

  /** The reply's content with the files. */
  toContent(content: HistoryMessage['content']): Pick<HistoryMessage, 'content' | 'attachments'> {
    if (this.#info.length === 0) return { content };
    const text: MessagePart[] = typeof content !== 'string' ? content : content === '' ? [] : [{ type: 'text', text: content }];
    return { content: [...text, ...this.#parts], attachments: this.#info };
  }
}
