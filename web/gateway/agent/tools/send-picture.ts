import { RpcError } from '#shared/rpc/rpc-error.ts';
import { MAX_IMAGE_BYTES } from '../runs/attachments.ts';
import type { ToolContext } from './tool-registry.ts';

const MB = 1024 * 1024;

const EXTENSIONS: Readonly<Record<string, string>> = { 'image/png': 'png', 'image/jpeg': 'jpg' };

/**
 * Sends an image from a tool to the model with the call's result, and to the user with the reply. Throws `INVALID_PARAMS` if it is too
 * large.
 */
export function sendPicture(
  { send, show }: ToolContext,
  { data, mimeType, size, name }: { data: string; mimeType: string; size: number; name: string },
): { filename: string; sizeBytes: number; sent: boolean } {
  if (size > MAX_IMAGE_BYTES)
    throw new RpcError('INVALID_PARAMS', `The image is ${(size / MB).toFixed(1)} MB. The maximum is 6 MB. Capture a smaller area.`);
  const filename = `${name}.${EXTENSIONS[mimeType] ?? 'png'}`;
  send?.({ filename, mimeType, data, size });
  show?.({ mimeType, data });
  return { filename, sizeBytes: size, sent: send !== undefined };
}
