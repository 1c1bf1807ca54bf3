import type { CDPSession, Page } from 'playwright';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { firstLine, withTimeout, toRpcError } from './playwright-errors.ts';

const MAX_RESULT_CHARS = 4 * 1024 * 1024;
const TERMINATE_MS = 1_000;

type EvaluationResult = Awaited<ReturnType<typeof send<'Runtime.evaluate'>>>;
type RemoteValue = EvaluationResult['result'];

/**
 * Runs JavaScript in the page: an expression, a function (which is called), or statements, all with `await`. Returns the result as JSON;
 * for statements the value of `return`, or of the last statement. Rejects with `INVALID_PARAMS` for a syntax error.
 */
export async function evaluate(page: Page, source: string, signal: AbortSignal): Promise<unknown> {
  // Open the session before the script runs, since a busy page can't.
  const session = await withTimeout(page.context().newCDPSession(page), { signal }).catch((error: unknown) => {
    throw toRpcError(error, 'Couldn’t use the page');
  });
  const crash = Promise.withResolvers<never>();
  const fail = (): void => crash.reject(new Error('Page crashed'));
  page.once('crash', fail);
  try {
    const json = await withTimeout(Promise.race([evaluateSource(session, source), crash.promise]), { signal });
    if (json === null) throw new RpcError('INVALID_PARAMS', `fn: the result is longer than ${MAX_RESULT_CHARS} characters`);
    return JSON.parse(json);
  } catch (error) {
    // Terminate a running script, which would block the page.
    await withTimeout(session.send('Runtime.terminateExecution'), { ms: TERMINATE_MS }).catch(() => {});
    if (isNavigation(error)) throw new RpcError('INTERNAL_ERROR', 'The page navigated before the script ended', {}, { cause: error });
    throw toRpcError(error, 'The page reported an error');
  } finally {
    page.off('crash', fail);
    void session.detach().catch(() => {});
  }
}

/** Returns the result as JSON; null if it is too long. */
async function evaluateSource(session: CDPSession, source: string): Promise<string | null> {
  await session.send('Runtime.enable');
  const expression = `(async () => (\n${source}\n))`;
  if ((await findSyntaxError(session, expression)) === undefined) return toResult(session, expression);
  const body = `(async () => {\n${source}\n})`;
  const wrong = await findSyntaxError(session, body);
  if (wrong !== undefined) throw createInvalidError(await findPlainError(session, source, wrong));
  // Like the developer tools: returns the value of the last statement, and declares nothing visible to the page’s own scripts.
  const { result: realm } = await send(session, 'Runtime.evaluate', { expression: 'globalThis' });
  const block = await send(session, 'Runtime.evaluate', {
    expression: `{\n${source}\n}`,
    replMode: true,
    awaitPromise: true,
    allowUnsafeEvalBlockedByCSP: true,
  });
  if (isReturnError(block)) return toResult(session, body);
  const value = readResult(block);
  if (value.objectId === undefined) return JSON.stringify(value.value ?? null);
  const called = await send(session, 'Runtime.callFunctionOn', {
    functionDeclaration: String(toJson),
    objectId: realm.objectId ?? '',
    arguments: [{ objectId: value.objectId }, { value: MAX_RESULT_CHARS }],
    awaitPromise: true,
    returnByValue: true,
  });
  return readResult(called).value as string | null;
}

/** Calls a function and serializes the result in one step, since the page may hang or navigate right after it. */
async function toResult(session: CDPSession, source: string): Promise<string | null> {
  const called = await send(session, 'Runtime.evaluate', {
    expression: `(${String(toJson)})(${source}(), ${MAX_RESULT_CHARS})`,
    awaitPromise: true,
    returnByValue: true,
    allowUnsafeEvalBlockedByCSP: true,
  });
  return readResult(called).value as string | null;
}

const send = <M extends 'Runtime.evaluate' | 'Runtime.callFunctionOn' | 'Runtime.compileScript'>(
  session: CDPSession,
  method: M,
  params: Parameters<typeof session.send<M>>[1],
) => session.send(method, params);

async function findSyntaxError(session: CDPSession, expression: string): Promise<string | undefined> {
  const { exceptionDetails } = await send(session, 'Runtime.compileScript', { expression, sourceURL: '', persistScript: false });
  return exceptionDetails && describeValue(exceptionDetails);
}

/** Returns the error without the wrapper, whose brackets it may mention, unless only `await` or `return` is invalid there. */
async function findPlainError(session: CDPSession, source: string, wrapped: string): Promise<string> {
  const plain = await findSyntaxError(session, source);
  return plain === undefined || /\bawait\b|Illegal return/.test(plain) ? wrapped : plain;
}

/** Nothing has run if `return` is the error. A script’s own error has a stack. */
const isReturnError = ({ exceptionDetails: thrown }: EvaluationResult): boolean =>
  thrown?.stackTrace === undefined && /^SyntaxError: Illegal return/.test(thrown?.exception?.description ?? '');

function readResult({ result, exceptionDetails }: EvaluationResult): RemoteValue {
  if (exceptionDetails) throw new RpcError('INTERNAL_ERROR', `The page reported an error: ${describeValue(exceptionDetails)}`);
  return result;
}

const describeValue = ({ exception, text }: NonNullable<EvaluationResult['exceptionDetails']>): string =>
  firstLine(`page: ${exception?.description ?? (exception && 'value' in exception ? JSON.stringify(exception.value) : text)}`);

const createInvalidError = (message: string): RpcError =>
  new RpcError('INVALID_PARAMS', `\`fn\` is not valid JavaScript: ${message}`, { details: { issues: [{ key: 'fn', message }] } });

const isNavigation = (error: unknown): boolean =>
  error instanceof Error && /navigated or closed|Cannot find (default execution )?context|context was destroyed/.test(error.message);

/** Runs in the page. */
const toJson = async (value: unknown, maxChars: number): Promise<string | null> => {
  const settled = await value;
  const json = JSON.stringify(await (typeof settled === 'function' ? (settled as () => unknown)() : settled)) ?? 'null';
  return json.length > maxChars ? null : json;
};
