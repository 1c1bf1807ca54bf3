import { InsufficientScopeError, ProtocolError, SdkError, SdkErrorCode } from '@modelcontextprotocol/client';
import { withoutMiddle } from '#shared/cut-short.ts';
import { RpcError } from '#shared/rpc/errors.ts';

/** Characters of what a server says of a failure. */
const MAX_CHARS = 2000;

/** A failure as a sentence for persons and models. `over`: why the connection is over, where it is. */
export function failureOf(error: unknown, server: string, { timeoutMs, over }: { timeoutMs: number; over: string | undefined }): RpcError {
  const fail = (what: string): RpcError =>
    new RpcError('INTERNAL_ERROR', withoutMiddle(`The tool server ${server} ${what}`, MAX_CHARS), {}, { cause: error });
  if (error instanceof RpcError) return error;
  if (SdkError.isInstance(error)) {
    if (error.code === SdkErrorCode.RequestTimeout) return fail(`did not answer within ${timeoutMs / 1000} s`);
    if (over !== undefined) return fail(`is gone: ${over}`);
  }
  if (InsufficientScopeError.isInstance(error)) return fail('wants more permission for this: authorize it again');
  if (ProtocolError.isInstance(error)) return fail(`refused: ${error.message}`);
  const message = error instanceof Error ? error.message : String(error);
  return fail(over === undefined ? `failed: ${message}` : `is gone: ${over}`);
}
