import type { CDPSession, Page } from 'playwright';
import { RpcError } from '#shared/rpc/errors.ts';
import { firstLine, inTime, told } from './page-answers.ts';

const MAX_RESULT = 4 * 1024 * 1024;
const END_MS = 1_000;

type Evaluated = Awaited<ReturnType<typeof send<'Runtime.evaluate'>>>;
type Value = Evaluated['result'];

/**
 * Runs JavaScript in the page: an expression, a function (which is called), or statements, all with `await`. Returns the result as JSON;
 * for statements the value of `return`, or of the last statement. Rejects with `INVALID_PARAMS` for a syntax error.
 */
export async function evaluate(page: Page, source: string, signal: AbortSignal): Promise<unknown> {
  // Open the session before the script runs, since a busy page can't.
  const session = await inTime(page.context().newCDPSession(page), { signal }).catch((error: unknown) => {
    throw told(error, 'Couldn’t use the page');
  });
  const crash = Promise.withResolvers<never>();
  const fail = (): void => crash.reject(new Error('Page crashed'));
  page.once('crash', fail);
  try {
    const json = await inTime(Promise.race([run(session, source), crash.promise]), { signal });
    if (json === null) throw new RpcError('INVALID_PARAMS', `fn: the result is longer than ${MAX_RESULT} characters`);
    return JSON.parse(json);
  } catch (error) {
    // Terminate a running script, which would block the page.
    await inTime(session.send('Runtime.terminateExecution'), { ms: END_MS }).catch(() => {});
    if (isNavigation(error)) throw new RpcError('INTERNAL_ERROR', 'The page navigated before the script ended', {}, { cause: error });
    throw told(error, 'The page reported an error');
  } finally {
    page.off('crash', fail);
    void session.detach().catch(() => {});
  }
}

/** Returns the result as JSON; null if it is too long. */
async function run(session: CDPSession, source: string): Promise<string | null> {
  await session.send('Runtime.enable');
  const expression = `(async () => (\n${source}\n))`;
  if ((await syntaxError(session, expression)) === undefined) return toResult(session, expression);
  const body = `(async () => {\n${source}\n})`;
  const wrong = await syntaxError(session, body);
  if (wrong !== undefined) throw invalid(await plainest(session, source, wrong));
  // Like the developer tools: returns the value of the last statement, and declares nothing visible to the page’s own scripts.
  const { result: realm } = await send(session, 'Runtime.evaluate', { expression: 'globalThis' });
  const block = await send(session, 'Runtime.evaluate', {
    expression: `{\n${source}\n}`,
    replMode: true,
    awaitPromise: true,
    allowUnsafeEvalBlockedByCSP: true,
  });
  if (isReturn(block)) return toResult(session, body);
  const value = read(block);
  if (value.objectId === undefined) return JSON.stringify(value.value ?? null);
  const called = await send(session, 'Runtime.callFunctionOn', {
    functionDeclaration: String(toJson),
    objectId: realm.objectId ?? '',
    arguments: [{ objectId: value.objectId }, { value: MAX_RESULT }],
    awaitPromise: true,
    returnByValue: true,
  });
  return read(called).value as string | null;
}

/** Calls a function and serializes the result in one step, since the page may hang or navigate right after it. */
async function toResult(session: CDPSession, source: string): Promise<string | null> {
  const called = await send(session, 'Runtime.evaluate', {
    expression: `(${String(toJson)})(${source}(), ${MAX_RESULT})`,
    awaitPromise: true,
    returnByValue: true,
    allowUnsafeEvalBlockedByCSP: true,
  });
  return read(called).value as string | null;
}

const send = <M extends 'Runtime.evaluate' | 'Runtime.callFunctionOn' | 'Runtime.compileScript'>(
  session: CDPSession,
  method: M,
  params: Parameters<typeof session.send<M>>[1],
) => session.send(method, params);

async function syntaxError(session: CDPSession, expression: string): Promise<string | undefined> {
  const { exceptionDetails } = await send(session, 'Runtime.compileScript', { expression, sourceURL: '', persistScript: false });
  return exceptionDetails && describe(exceptionDetails);
}

/** Returns the error without the wrapper, whose brackets it may mention, unless only `await` or `return` is invalid there. */
async function plainest(session: CDPSession, source: string, wrapped: string): Promise<string> {
  const plain = await syntaxError(session, source);
  return plain === undefined || /\bawait\b|Illegal return/.test(plain) ? wrapped : plain;
}

/** Nothing has run if `return` is the error. A script’s own error has a stack. */
const isReturn = ({ exceptionDetails: thrown }: Evaluated): boolean =>
  thrown?.stackTrace === undefined && /^SyntaxError: Illegal return/.test(thrown?.exception?.description ?? '');

function read({ result, exceptionDetails }: Evaluated): Value {
  if (exceptionDetails) throw new RpcError('INTERNAL_ERROR', `The page reported an error: ${describe(exceptionDetails)}`);
  return result;
}

const describe = ({ exception, text }: NonNullable<Evaluated['exceptionDetails']>): string =>
  firstLine(`page: ${exception?.description ?? (exception && 'value' in exception ? JSON.stringify(exception.value) : text)}`);

const invalid = (message: string): RpcError =>
  new RpcError('INVALID_PARAMS', `\`fn\` is not valid JavaScript: ${message}`, { details: { issues: [{ key: 'fn', message }] } });

const isNavigation = (error: unknown): boolean =>
  error instanceof Error && /navigated or closed|Cannot find (default execution )?context|context was destroyed/.test(error.message);

/** Runs in the page. */
const toJson = async (value: unknown, most: number): Promise<string | null> => {
  const settled = await value;
  const json = JSON.stringify(await (typeof settled === 'function' ? (settled as () => unknown)() : settled)) ?? 'null';
  return json.length > most ? null : json;
};
