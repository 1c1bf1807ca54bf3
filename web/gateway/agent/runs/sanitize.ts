import { RpcError } from '#shared/rpc/rpc-error.ts';

// Control characters except tab, newline and carriage return.
// eslint-disable-next-line no-control-regex
const CONTROL_CHARS = /[\u0001-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g;

/**
 * Normalizes a message for storage: NFC, without control characters except tab and newline. Throws `INVALID_PARAMS` if it contains NUL or
 * is empty. `wordless`: may be empty, as something is attached. `param`: its name in the caller's API.
 */
export function sanitizeMessage(message: string, { wordless = false, param = 'message' } = {}): string {
  if (message.includes('\0')) throw new RpcError('INVALID_PARAMS', `\`${param}\` must not contain NUL characters.`);
  const clean = message.replaceAll('\r\n', '\n').replaceAll('\r', '\n').replace(CONTROL_CHARS, '').toWellFormed().normalize('NFC');
  if (clean.trim() === '' && wordless) return '';
  if (clean.trim() === '') throw new RpcError('INVALID_PARAMS', `\`${param}\` must not be empty.`);
  return clean;
}
