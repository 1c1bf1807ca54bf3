import { bytesOfBase64 } from '#shared/base64.ts';
import { fileNameOf } from '#shared/file-name.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import type { AttachmentInput } from '#shared/rpc/methods/chat.ts';
import type { HistoryMessage, Part } from '#shared/rpc/records.ts';

const MB = 1024 * 1024;
const MAX_EACH = 16 * MB;
/** Maximum bytes of one image. */
export const MAX_IMAGE = 6 * MB;
/** Maximum bytes of all files in one message. */
export const MAX_ATTACHED = 18 * MB;
const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

export interface Attached {
  parts: Part[];
  info: NonNullable<HistoryMessage['attachments']>;
}

/**
 * Validates and decodes the attachments of a message. Throws `INVALID_PARAMS` if one is too large or cannot be decoded. `of`: name of the
 * message in the caller's API.
 */
export function readAttachments(inputs: readonly AttachmentInput[], of?: string): Attached {
  let all = 0;
  const parts: Part[] = [];
  const info: Attached['info'] = [];
  for (const [index, input] of inputs.entries()) {
    const refuse = (why: string): never => {
      throw new RpcError('INVALID_PARAMS', `Invalid \`${of === undefined ? '' : `${of}.`}attachments.${index}\`: ${why}.`);
    };
    const filename = fileNameOf(input.filename ?? input.fileName ?? '');
    const data = (input.content ?? input.base64 ?? '').replace(/^data:[^,]*;base64,/, '').replace(/\s+/g, '');
    if (!BASE64.test(data) || data.replace(/=+$/, '').length % 4 === 1) refuse('the content is not valid base64');
    const size = bytesOfBase64(data);
    const image = input.mimeType.startsWith('image/');
    if (size > MAX_EACH) refuse(`${filename} is ${inMb(size)}, and the maximum for an attachment is 16 MB`);
    if (image && size > MAX_IMAGE) refuse(`${filename} is ${inMb(size)}, and the maximum for an image is 6 MB`);
    if (input.size !== undefined && input.size !== size) refuse(`size is ${input.size} bytes, but the content has ${size}`);
    all += size;
    if (all > MAX_ATTACHED) refuse('the attachments of a message must not exceed 18 MB');
    parts.push(
      image ? { type: 'image', mimeType: input.mimeType, data, filename } : { type: 'file', mimeType: input.mimeType, data, filename },
    );
    info.push({ filename, mimeType: input.mimeType, size });
  }
  return { parts, info };
}

const inMb = (bytes: number): string => `${(bytes / MB).toFixed(1)} MB`;
