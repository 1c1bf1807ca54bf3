import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { CommandError } from './command-error.ts';

/** Whether the user is at a terminal and can be asked. */
export const isInteractive = (): boolean => Boolean(process.stdin.isTTY && process.stderr.isTTY && !process.env.CI);

/** Asks a yes-no question on standard error. Anything but yes means no. */
export async function confirm(question: string): Promise<boolean> {
  return /^y(es)?$/i.test((await prompt(question, process.stderr)).trim());
}

/** Asks on standard error. Rejects with the signal's reason if the question is withdrawn. */
export const promptText = (question: string, signal: AbortSignal): Promise<string> => prompt(question, process.stderr, signal);

/** Asks for input that is not shown. */
export async function promptHidden(question: string): Promise<string> {
  const answer = await prompt(question, new Writable({ write: (_chunk, _encoding, done) => done() }));
  process.stderr.write('\n');
  return answer;
}

async function prompt(question: string, output: NodeJS.WritableStream, signal?: AbortSignal): Promise<string> {
  // Hide the input before printing the question: the user may type at once.
  const reader = createInterface({ input: process.stdin, output, terminal: true });
  // Ctrl+C or Ctrl+D: no answer follows.
  const ended = new Promise<never>((_, fail) => reader.once('close', () => fail(new CommandError('Cancelled'))));
  ended.catch(() => {});
  // Immediately, so that further output begins on a new line.
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
