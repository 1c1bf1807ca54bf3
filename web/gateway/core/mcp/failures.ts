import { InsufficientScopeError, ProtocolError, SdkError, SdkErrorCode, SdkHttpError, SseError } from '@modelcontextprotocol/client';
import { toClause } from '#shared/clause.ts';
import { withoutMiddle } from '#shared/cut-short.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import { faultFromText } from '../providers/openai-errors.ts';

/** Maximum number of characters of a server's error message. */
const MAX_CHARS = 2000;

/** An error as a sentence for people and models. `over`: why the connection has ended, if it has. */
export function failureOf(error: unknown, server: string, { timeoutMs, over }: { timeoutMs: number; over: string | undefined }): RpcError {
  const fail = (what: string): RpcError =>
    new RpcError('INTERNAL_ERROR', withoutMiddle(`MCP server ${server} ${what}`, MAX_CHARS), {}, { cause: error });
  if (error instanceof RpcError) return error;
  if (SdkError.isInstance(error)) {
    if (error.code === SdkErrorCode.RequestTimeout) return fail(`did not respond within ${timeoutMs / 1000} s.`);
    if (over !== undefined) return fail(`disconnected: ${toClause(over)}.`);
  }
  if (InsufficientScopeError.isInstance(error)) return fail('needs more permissions for this. Authorize it again.');
  const refused = refusalOf(error, server);
  if (refused !== undefined) return fail(refused);
  if (ProtocolError.isInstance(error)) return fail(`rejected the request: ${error.message}`);
  const message = error instanceof Error ? error.message.replace(/^SSE error: (TypeError: )?/, '') : String(error);
  return fail(over === undefined ? `failed: ${message}` : `disconnected: ${toClause(over)}.`);
}

/** The SDK reports the status of a failed message over the older HTTP transport only in its text. */
const POSTED = /^Error POSTing to endpoint \(HTTP ([45]\d\d)\): ([^]*)$/;

/** A sentence about an error status of the server; undefined if the error is something else. For a redirect, the SDK reports its target. */
function refusalOf(error: unknown, server: string): string | undefined {
  if (SdkHttpError.isInstance(error) && error.status >= 400)
    return refusal(error.status, typeof error.data['text'] === 'string' ? error.data['text'] : '', server);
  if (SseError.isInstance(error) && error.code !== undefined && error.code >= 400) return refusal(error.code, '', server);
  const [, status, text = ''] = POSTED.exec(error instanceof Error ? error.message : '') ?? [];
  return status === undefined ? undefined : refusal(Number(status), text, server);
}

function refusal(status: number, text: string, server: string): string {
  const why = text.trim() === '' ? `HTTP ${status}` : `HTTP ${status}: ${faultFromText(text).message}`;
  if (status === 401 || status === 403) return `denied access (${why}). Check \`tools.mcpServers.${server}.headers\`.`;
  if (status === 404 || status === 405) return `was not found at its URL (${why}). Check the path.`;
  if (status === 429) return `is limiting requests (${why}). Try again later.`;
  return status >= 500 ? `failed (${why}). Check its logs.` : `rejected the request (${why}).`;
}
