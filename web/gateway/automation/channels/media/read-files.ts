import { toBase64 } from '#shared/base64.ts';
import type { AttachmentInput } from '#shared/rpc/methods/chat-contracts.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { MAX_ATTACHMENTS_BYTES, MAX_IMAGE_BYTES } from '../../../agent/runs/attachments.ts';
import { toSource } from '../../../agent/trust/content-sources.ts';
import { getDocumentKind } from '../../../documents/document-kinds.ts';
import { ProviderError } from '../../../providers/provider.ts';
import type { IncomingFile, PendingMessage } from '../../../storage/records/channel-state.ts';
import type { ChannelAdapter } from '../channel-adapter.ts';
import { PlatformError } from '../platform-request.ts';
import { type ChannelMedia, MediaError, type MediaFile } from './channel-media.ts';

/** Maximum number of files of one message that are read. */
const MAX_FILES = 10;
/** Maximum number of characters of a document in the message. Agents with tools for files can read the rest. */
const MAX_DOCUMENT_CHARS = 20_000;

/** A message with the content of its files. */
export interface ReadMessage {
  text: string;
  attachments: AttachmentInput[];
  /** Outside sources of texts that are no attachments. */
  outside: string[];
  /** Sentences about files that could not be read, for the sender. */
  problems: string[];
}

interface ReadFilesDeps {
  adapter: Pick<ChannelAdapter, 'fetchFile'>;
  media: ChannelMedia;
  principal: string;
  signal: AbortSignal;
}

/**
 * Reads the files of a message: pictures and documents become attachments, recordings and documents text. Throws `PlatformError` if the
 * platform fails for a while, so that the message is tried again.
 */
export async function readFiles(
  { text, files = [], isVoice }: Pick<PendingMessage, 'text' | 'files' | 'isVoice'>,
  { adapter, media, principal, signal }: ReadFilesDeps,
): Promise<ReadMessage> {
  const texts = text === '' ? [] : [text];
  const attachments: AttachmentInput[] = [];
  const outside: string[] = [];
  const problems: string[] = [];
  let totalBytes = 0;
  const attach = ({ name, mimeType, bytes }: MediaFile): void => {
    totalBytes += bytes.byteLength;
    if (totalBytes > MAX_ATTACHMENTS_BYTES) throw new MediaError('the files of a message are limited to 18 MB');
    attachments.push({ filename: name, mimeType, content: toBase64(bytes) });
  };
  const read = async (file: IncomingFile): Promise<void> => {
    if (!adapter.fetchFile) throw new MediaError('files can’t be received on this channel');
    const { bytes, mimeType } = await adapter.fetchFile(file, signal);
    const fetched = { name: file.name, mimeType: isUnknownType(file.mimeType) ? mimeType : file.mimeType, bytes };
    switch (file.kind) {
      case 'image':
        if (bytes.byteLength > MAX_IMAGE_BYTES) throw new MediaError('pictures are limited to 6 MB');
        return attach(fetched);
      case 'audio': {
        const transcript = await media.transcribe(fetched, principal, signal);
        if (transcript === '') throw new MediaError('nothing was said in it');
        // Only a voice message is known to be spoken by the sender.
        if (isVoice && files.length === 1) return void texts.push(transcript);
        outside.push(toSource('document', file.name));
        return void texts.push(`[Recording ${file.name}]\n${transcript}`);
      }
      case 'document': {
        const kind = getDocumentKind(fetched.name, fetched.mimeType);
        if (!kind) throw new MediaError('files of this type can’t be read');
        const request = { kind, name: fetched.name, bytes, limit: MAX_DOCUMENT_CHARS };
        const { text: content, next } = await media.documents.read(request, signal);
        attach(fetched);
        texts.push(`[Document ${file.name}${next ? ', the beginning' : ''}]\n${content}`);
      }
    }
  };
  for (const file of files.slice(0, MAX_FILES)) {
    try {
      await read(file);
    } catch (error) {
      signal.throwIfAborted();
      problems.push(`I couldn’t ${describeUse(file)}: ${explain(error)}.`);
    }
  }
  if (files.length > MAX_FILES) problems.push(`I read the first ${MAX_FILES} of ${files.length} files.`);
  return { text: texts.join('\n\n'), attachments, outside, problems };
}

const isUnknownType = (mimeType: string): boolean => mimeType === '' || mimeType === 'application/octet-stream';

const describeUse = ({ kind, name }: IncomingFile): string =>
  kind === 'audio' ? 'understand the recording' : kind === 'image' ? 'open the picture' : `read ${name}`;

/** A reason in a clause. Rethrows what may work later. */
function explain(error: unknown): string {
  if (error instanceof PlatformError && !error.refused) throw error;
  const isKnown =
    error instanceof MediaError || error instanceof PlatformError || error instanceof RpcError || error instanceof ProviderError;
  return isKnown ? error.message.replace(/\.$/, '') : 'it is damaged, or its format is unknown';
}
