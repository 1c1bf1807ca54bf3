import { getBase64ByteLength } from '#shared/base64.ts';
import { toSafeFileName } from '#shared/file-name.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { AttachmentInput } from '#shared/rpc/methods/chat-contracts.ts';
import type { HistoryMessage, MessagePart } from '#shared/rpc/record-schemas.ts';

const MB = 1024 * 1024;
const MAX_FILE_BYTES = 16 * MB;
/** Maximum bytes of one image. */
export const MAX_IMAGE_BYTES = 6 * MB;
/** Maximum bytes of all files in one message. */
export const MAX_ATTACHMENTS_BYTES = 18 * MB;
const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

interface ParsedAttachments {
  parts: MessagePart[];
  info: NonNullable<HistoryMessage['attachments']>;
}

/**
 * Validates and decodes the attachments of a message. Throws `INVALID_PARAMS` if one is too large or cannot be decoded. `param`: name of the
 * message in the caller's API.
 */
export function parseAttachments(inputs: readonly AttachmentInput[], param?: string): ParsedAttachments {
  let totalBytes = 0;
  const parts: MessagePart[] = [];
  const info: ParsedAttachments['info'] = [];
  for (const [index, input] of inputs.entries()) {
    const refuse = (message: string): never => {
      throw new RpcError('INVALID_PARAMS', `Invalid \`${param === undefined ? '' : `${param}.`}attachments.${index}\`: ${message}.`);
    };
    const filename = toSafeFileName(input.filename ?? input.fileName ?? '');
    const data = (input.content ?? input.base64 ?? '').replace(/^data:[^,]*;base64,/, '').replace(/\s+/g, '');
    if (!BASE64.test(data) || data.replace(/=+$/, '').length % 4 === 1) refuse('the content is not valid base64');
    const size = getBase64ByteLength(data);
    const image = input.mimeType.startsWith('image/');
    if (size > MAX_FILE_BYTES) refuse(`${filename} is ${formatMb(size)}, and the maximum for an attachment is 16 MB`);
    if (image && size > MAX_IMAGE_BYTES) refuse(`${filename} is ${formatMb(size)}, and the maximum for an image is 6 MB`);
    if (input.size !== undefined && input.size !== size) refuse(`size is ${input.size} bytes, but the content has ${size}`);
    totalBytes += size;
    if (totalBytes > MAX_ATTACHMENTS_BYTES) refuse('the attachments of a message must not exceed 18 MB');
    parts.push(
      image ? { type: 'image', mimeType: input.mimeType, data, filename } : { type: 'file', mimeType: input.mimeType, data, filename },
    );
    info.push({ filename, mimeType: input.mimeType, size });
  }
  return { parts, info };
}

const formatMb = (bytes: number): string => `${(bytes / MB).toFixed(1)} MB`;
