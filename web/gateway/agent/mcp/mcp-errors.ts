import { InsufficientScopeError, ProtocolError, SdkError, SdkErrorCode, SdkHttpError, SseError } from '@modelcontextprotocol/client';
import { toClause } from '#shared/clause.ts';
import { truncateMiddle } from '#shared/truncate-text.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { parseFault } from '../../providers/upstream-errors.ts';

/** Maximum number of characters of a server's error message. */
const MAX_CHARS = 2000;

/** An error as a sentence for people and models. `endReason`: why the connection has ended, if it has. */
export function toMcpError(
  error: unknown,
  server: string,
  { timeoutMs, over: endReason }: { timeoutMs: number; over: string | undefined },
): RpcError {
  const fail = (problem: string): RpcError =>
    new RpcError('INTERNAL_ERROR', truncateMiddle(`MCP server ${server} ${problem}`, MAX_CHARS), {}, { cause: error });
  if (error instanceof RpcError) return error;
  if (SdkError.isInstance(error)) {
    if (error.code === SdkErrorCode.RequestTimeout) return fail(`did not respond within ${timeoutMs / 1000} s.`);
    if (endReason !== undefined) return fail(`disconnected: ${toClause(endReason)}.`);
  }
  if (InsufficientScopeError.isInstance(error)) return fail('needs more permissions for this. Authorize it again.');
  const refusalText = findRefusal(error, server);
  if (refusalText !== undefined) return fail(refusalText);
  if (ProtocolError.isInstance(error)) return fail(`rejected the request: ${error.message}`);
  const message = error instanceof Error ? error.message.replace(/^SSE error: (TypeError: )?/, '') : String(error);
  return fail(endReason === undefined ? `failed: ${message}` : `disconnected: ${toClause(endReason)}.`);
}

/** The SDK reports the status of a failed message over the older HTTP transport only in its text. */
const POST_ERROR = /^Error POSTing to endpoint \(HTTP ([45]\d\d)\): ([^]*)$/;

/** A sentence about an error status of the server; undefined if the error is something else. For a redirect, the SDK reports its target. */
function findRefusal(error: unknown, server: string): string | undefined {
  if (SdkHttpError.isInstance(error) && error.status >= 400)
    return describeRefusal(error.status, typeof error.data['text'] === 'string' ? error.data['text'] : '', server);
  if (SseError.isInstance(error) && error.code !== undefined && error.code >= 400) return describeRefusal(error.code, '', server);
  const [, status, text = ''] = POST_ERROR.exec(error instanceof Error ? error.message : '') ?? [];
  return status === undefined ? undefined : describeRefusal(Number(status), text, server);
}

function describeRefusal(status: number, text: string, server: string): string {
  const reason = text.trim() === '' ? `HTTP ${status}` : `HTTP ${status}: ${parseFault(text).message}`;
  if (status === 401 || status === 403) return `denied access (${reason}). Check \`tools.mcpServers.${server}.headers\`.`;
  if (status === 404 || status === 405) return `was not found at its URL (${reason}). Check the path.`;
  if (status === 429) return `is limiting requests (${reason}). Try again later.`;
  return status >= 500 ? `failed (${reason}). Check its logs.` : `rejected the request (${reason}).`;
}
