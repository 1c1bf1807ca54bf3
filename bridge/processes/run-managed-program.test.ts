import { expect, test } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { waitFor } from '../../tests/support/test-gateway.ts';
import { findProcesses } from '../capabilities/exec/tests/exec-bridge.ts';
import { NO_KEEPER } from './process-keeper.ts';
import { ProgramLimitError, runManagedProgram } from './run-managed-program.ts';

const limits = { keeper: NO_KEEPER, timeout: 10_000, maxBuffer: 1000 };
/** A Node program that forks a child in its own session that ignores SIGTERM, and prints a line once it runs. */
const forks = (mark: string, then: string): [string, ...string[]] => {
  const child = `process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); // ${mark}`;
  const text = `require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(child)}], { detached: true, stdio: 'inherit' }); ${then}`;
  return [process.execPath, '-e', text];
};

test('records a program’s output, its exit and its input', async () => {
  const { stdout, stderr, code } = await runManagedProgram(['sh', '-c', 'cat; echo bad >&2; exit 3'], { ...limits, input: 'words' });
  expect([stdout.toString(), stderr.toString(), code]).toEqual(['words', 'bad\n', 3]);
  await expect(runManagedProgram(['no such program'], limits)).rejects.toMatchObject({ code: 'ENOENT' });
  await expect(runManagedProgram(['sh', '-c', 'x'.repeat(4_000_000)], limits)).rejects.toMatchObject({ code: 'E2BIG' });
});

verifies(
  'bridge/nothing-outlives-it',
  'a program that took too long, wrote too much, is not wanted or has ended: all of its tree is',
  async () => {
    const over = new AbortController();
    const began = (reason: string): boolean => findProcesses(`${reason}-${process.pid}`).length > 1;
    const hangs = 'setInterval(() => {}, 1000)';
    const ended = Promise.allSettled([
      runManagedProgram(forks(`time-${process.pid}`, hangs), { ...limits, timeout: 2000 }),
      runManagedProgram(forks(`output-${process.pid}`, "setInterval(() => console.log('x'.repeat(100)), 50)"), limits),
      runManagedProgram(forks(`abort-${process.pid}`, hangs), { ...limits, signal: over.signal }),
      runManagedProgram(forks(`exit-${process.pid}`, 'setTimeout(() => process.exit(), 300)'), limits),
    ]);
    await waitFor(() => began('time') && began('abort'), 'their children');
    over.abort(new Error('enough'));
    const node = process.execPath;
    expect(await ended).toMatchObject([
      { reason: new ProgramLimitError(`${node} didn’t finish within 2 s`) },
      { reason: new ProgramLimitError(`${node} wrote more than 1000 bytes`) },
      { reason: new Error('enough') },
      { value: { code: 0 } },
    ]);
    for (const reason of ['time', 'output', 'abort', 'exit']) expect(findProcesses(`${reason}-${process.pid}`)).toEqual([]);
  },
);
