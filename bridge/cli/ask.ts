import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { CommandError } from './errors.ts';

/** Somebody sits at a terminal and can be asked. */
export const canAsk = (): boolean => Boolean(process.stdin.isTTY && process.stderr.isTTY && !process.env.CI);

/** Asks on standard error. Only a yes is one. */
export async function isAgreed(question: string): Promise<boolean> {
  return /^y(es)?$/i.test((await asked(question, process.stderr)).trim());
}

/** Asks on standard error. Rejects with the signal's reason where the question is withdrawn. */
export const answerTo = (question: string, signal: AbortSignal): Promise<string> => asked(question, process.stderr, signal);

/** Asks for what must not be seen. */
export async function hidden(question: string): Promise<string> {
  const answer = await asked(question, new Writable({ write: (_chunk, _encoding, done) => done() }));
  process.stderr.write('\n');
  return answer;
}

async function asked(question: string, output: NodeJS.WritableStream, signal?: AbortSignal): Promise<string> {
  // The terminal is told first not to show what is typed: somebody may answer at once.
  const reader = createInterface({ input: process.stdin, output, terminal: true });
  // Ctrl+C, Ctrl+D: nobody answers any more.
  const ended = new Promise<never>((_, fail) => reader.once('close', () => fail(new CommandError('Cancelled'))));
  ended.catch(() => {});
  // At once: what is said next begins a line of its own.
  const withdrawn = (): void => void process.stderr.write('\n');
  signal?.addEventListener('abort', withdrawn, { once: true });
  try {
    if (output !== process.stderr) process.stderr.write(question);
    return await Promise.race([reader.question(question, signal ? { signal } : {}), ended]);
  } catch (error) {
    if (!signal?.aborted) process.stderr.write('\n');
    throw error;
  } finally {
    signal?.removeEventListener('abort', withdrawn);
    reader.close();
  }
}
