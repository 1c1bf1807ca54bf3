import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { runPerch } from '../../tests/e2e/perch-process.ts';
import { verifies } from '../../tests/requirements.ts';
import { createBridgedGateway } from '../../tests/support/bridged-gateway.ts';
import { createTempFolder } from '../backup/fixture.ts';
import { OwnerPassword } from '../owner-password.ts';
import { startTestBridge } from '../server/tests/test-bridge.ts';

const MAIN = join(import.meta.dirname, 'main.ts');
const PASSWORD = 'correct horse battery';

interface CommandOutput {
  code: number | null;
  stdout: string;
  stderr: string;
}

const readOutput = async (child: ChildProcess): Promise<CommandOutput> => {
  const ended = { stdout: '', stderr: '' };
  child.stdout?.on('data', (chunk: Buffer) => (ended.stdout += chunk.toString()));
  child.stderr?.on('data', (chunk: Buffer) => (ended.stderr += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, ...ended };
};

/** Runs `perch token …` with this standard input. */
function token(home: string, args: string[], input = ''): Promise<CommandOutput> {
  const child = spawn(process.execPath, [MAIN, 'token', ...args], { env: { ...process.env, PERCH_HOME: home } });
  child.stdin.end(input);
  return readOutput(child);
}

const isPassword = async (home: string, text: string): Promise<boolean> =>
  (await new OwnerPassword(join(home, 'password.json')).check(text)) !== undefined;

verifies('cli/token', 'a password is set from standard input, told of, and taken away', async () => {
  using home = createTempFolder();
  expect(await token(home.path, [])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^Token file: .*token\nPassword: not set\. /),
  });
  expect(await token(home.path, ['--set-password'], `${PASSWORD}\n`)).toMatchObject({ code: 0, stderr: '' });
  expect(await isPassword(home.path, PASSWORD)).toBe(true);
  expect((await token(home.path, [])).stdout).toMatch(/\nPassword: set\n$/);
  for (const [args, input] of [
    [['--set-password'], ''],
    [['--set-password'], 'short\n'],
    [['--set-password'], 'two lines\nof text\n'],
    [['--set-password'], 'x'.repeat(1001)],
    [['--set-password', '--clear-password'], PASSWORD],
    [['--nonsense'], ''],
    [['more'], ''],
  ] as const) {
    const { code, stdout, stderr } = await token(home.path, [...args], input);
    expect({ args, input, code, stdout }).toEqual({ args, input, code: 2, stdout: '' });
    expect(stderr).toMatch(/^perch: [^\n]+\n$/);
  }
  expect(await isPassword(home.path, PASSWORD)).toBe(true);
  expect((await token(home.path, ['--clear-password'])).stdout).toContain('Password removed');
  expect(existsSync(join(home.path, 'password.json'))).toBe(false);
  expect((await token(home.path, ['--clear-password'])).stdout).toContain('No password was set');
});

if (existsSync('/usr/bin/script') && process.platform === 'linux') {
  verifies('cli/token', 'at a terminal it is asked for twice, and not shown', async () => {
    using home = createTempFolder();
    for (const [again, code] of [
      ['something else', 1],
      [PASSWORD, 0],
    ] as const) {
      const command = `${process.execPath} ${MAIN} token --set-password`;
      const child = spawn('/usr/bin/script', ['-qec', command, '/dev/null'], { env: { ...process.env, CI: '', PERCH_HOME: home.path } });
      let shown = '';
      const answers = new Map([
        ['New password: ', PASSWORD],
        ['Confirm password: ', again],
      ]);
      child.stdout.on('data', (chunk: Buffer) => {
        shown += chunk.toString();
        for (const [question, answer] of answers) {
          if (!shown.includes(question)) continue;
          answers.delete(question);
          child.stdin.write(`${answer}\r`);
        }
      });
      expect((await readOutput(child)).code).toBe(code);
      expect(answers.size).toBe(0);
      expect(shown).not.toContain('horse');
      expect(await isPassword(home.path, PASSWORD)).toBe(code === 0);
    }
  });
}

verifies('cli/token', 'a command connects by a password that is given, and says so when it is wrong', async () => {
  await using bridge = await startTestBridge();
  await using gw = await createBridgedGateway();
  await gw.attach(bridge);
  await new OwnerPassword(bridge.home.passwordFile).set(PASSWORD);
  using home = createTempFolder();
  const doctor = (args: string[], env: Record<string, string> = {}): Promise<CommandOutput> =>
    runPerch(['doctor', '--json', '--port', new URL(bridge.url).port, ...args], { PERCH_HOME: home.path, ...env }).then(
      (output) => ({ code: 0, ...output }),
      (error: CommandOutput) => error,
    );
  // Without the password, it uses another home's token.
  expect((await doctor([])).stderr).toContain('Incorrect token');
  const examined = expect.stringContaining('"summary"') as string;
  expect(await doctor([], { PERCH_PASSWORD: PASSWORD })).toMatchObject({ stdout: examined });
  const shown = await doctor(['--password', PASSWORD]);
  expect(shown).toMatchObject({ stdout: examined, stderr: expect.stringContaining('is visible in the process list') });
  const wrong = await doctor([], { PERCH_PASSWORD: 'another one' });
  expect(wrong).toMatchObject({ code: 1, stderr: expect.stringMatching(/^perch: [^\n]*Incorrect password[^\n]*\n$/) });
  // An explicit token has priority.
  expect(await doctor([], { PERCH_PASSWORD: 'another one', PERCH_TOKEN: bridge.token })).toMatchObject({ stdout: examined });
});
