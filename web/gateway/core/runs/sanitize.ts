import { RpcError } from '#shared/rpc/errors.ts';

// Control characters but tab, newline and carriage return.
// eslint-disable-next-line no-control-regex
const CONTROLS = /[\u0001-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g;

/**
 * A message as it is stored: NFC, no NUL (`INVALID_PARAMS`), other control characters but tab and newline dropped (decisions, "Chat"). `wordless`: it may be empty,
 * for something is attached. `param`: what its caller calls it.
 */
export function sanitize(message: string, { wordless = false, param = 'message' } = {}): string {
  if (message.includes('\0')) throw new RpcError('INVALID_PARAMS', `\`${param}\` must not contain NUL characters.`);
  const clean = message.replaceAll('\r\n', '\n').replaceAll('\r', '\n').replace(CONTROLS, '').toWellFormed().normalize('NFC');
  if (clean.trim() === '' && wordless) return '';
  if (clean.trim() === '') throw new RpcError('INVALID_PARAMS', `\`${param}\` must not be empty.`);
  return clean;
}
