import { chmod, mkdir, rename, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { fingerprintFile, isImmutable } from './file-fingerprint.ts';
import { findInterpreter, findOperands, findWrapped, toProgramName } from './interpreters.ts';
import { createDryLauncher } from './launcher.ts';
import { toShellArgs } from './interpreter-shims.ts';
import { createExecBridge } from './tests/exec-bridge.ts';

describe('a file that cannot be replaced', () => {
  test.skipIf(process.platform === 'win32')('belongs to root with all its folders, and only root writes there', async () => {
    expect(await isImmutable('/usr/bin/env', { uid: 1000 })).toBe(true);
    expect(await isImmutable('/usr/bin/no-such-file', { uid: 1000 })).toBe(false);
    expect(await isImmutable('/tmp', { uid: 1000 })).toBe(false);
    await using exec = await createExecBridge();
    const folder = join(exec.home, 'folder');
    await mkdir(folder);
    await writeFile(join(folder, 'file'), '', { mode: 0o755 });
    await chmod(folder, 0o777);
    expect(await isImmutable(join(folder, 'file'), { uid: 1000 })).toBe(false);
  });

  test.skipIf(process.platform === 'win32')('as root, only one of the system: root can write to all others', async () => {
    expect(await isImmutable('/usr/bin/env', { uid: 0 })).toBe(true);
    expect(await isImmutable('/etc/passwd', { uid: 0 })).toBe(false);
    expect(await isImmutable('/etc/passwd', { uid: 1000 })).toBe(true);
  });

  test('Windows: is in the folders of the system and of installed programs', async () => {
    const surface = { platform: 'win32', env: { SystemRoot: 'C:\\Windows', ProgramFiles: 'C:\\Program Files' } } as const;
    expect(await isImmutable('C:\\WINDOWS\\System32\\where.exe', surface)).toBe(true);
    expect(await isImmutable('C:\\Program Files\\nodejs\\node.exe', surface)).toBe(true);
    expect(await isImmutable('C:\\Program Files (x86)\\a.exe', surface)).toBe(false);
    expect(await isImmutable('C:\\Users\\ana\\app.exe', surface)).toBe(false);
  });
});

test('a large file is known by identity, size and time', async () => {
  await using exec = await createExecBridge();
  const path = join(exec.home, 'large');
  const print = async (): Promise<unknown> => (await fingerprintFile(path, 10))?.digest;
  await writeFile(path, 'more than ten');
  await utimes(path, 1, 1);
  const first = await print();
  expect(await print()).toBe(first);
  await utimes(path, 1, 2);
  const second = await print();
  await writeFile(`${path}2`, 'more than ten');
  await utimes(`${path}2`, 1, 2);
  await rename(`${path}2`, path);
  expect(new Set([first, second, await print()]).size).toBe(3);
});

describe('a system that cannot run the approved bytes', () => {
  const script = { path: '/ws/x', bytes: Buffer.from('1'), isSealed: false };
  test('Windows refuses programs of the user, and Perl’s scripts', async () => {
    const launcher = createDryLauncher('win32');
    await expect(async () => launcher.resolveProgram({ path: 'C:\\x.exe', isSealed: false }, undefined)).rejects.toThrow(
      'Install it in Program Files',
    );
    await expect(async () => launcher.passScript(script, 'perl', 'x')).rejects.toThrow('could change before that');
    expect(await launcher.passScript(script, 'python', 'x')).toEqual({ words: ['x'] });
  });

  test('every system refuses an interpreter that opens its script itself; macOS and Linux run copies of the user’s programs', async () => {
    for (const platform of ['linux', 'darwin'] as const) {
      const launcher = createDryLauncher(platform);
      await expect(async () => launcher.passScript(script, 'none', 'x')).rejects.toThrow('could change before that');
      expect(await launcher.passScript(script, 'perl', 'x')).toEqual({ words: ['x'] });
      expect(await launcher.resolveProgram({ path: '/x', isSealed: false }, undefined)).toEqual({ path: '/x' });
    }
  });

  const shellArgs = (text: string, copy: string, script: string): string[] => toShellArgs(Buffer.from(text), copy, script);

  test('a script that can’t be told from text that it passes on', () => {
    expect(() => shellArgs("cat <<'END'\n$BASH_SOURCE\nEND\n", '', 'x.sh')).toThrow('here-document');
    expect(() => shellArgs(`echo $BASH_SOURCE\n${'#'.repeat(100_000)}`, '', 'x.sh')).toThrow('longer than 100 KB');
    expect(shellArgs('#'.repeat(200_000), "/a'b", 'x.sh')).toEqual(['-c', `eval "$(head -c 200000 '/a'\\''b')"`, 'x.sh']);
    expect(shellArgs('exit\n\0\0', '', 'x.sh')).toEqual(['-c', 'exit\n', 'x.sh']);
  });
});

test.for([
  ['python3 -W ignore x.py a', { kind: 'script', at: 2 }],
  ['python3.11 -c code', { kind: 'inline', at: 1 }],
  ['python -Bm json.tool', { kind: 'unscripted' }],
  ['bash -o pipefail -eu x.sh', { kind: 'script', at: 3 }],
  ['bash -ec -x code', { kind: 'inline', at: 2 }],
  ['bash -s a', { kind: 'unscripted' }],
  ['node --require ./a x.js', { kind: 'script', at: 2 }],
  ['node --test a.test.js', { kind: 'unscripted' }],
  ['node -p 1', { kind: 'inline', at: 1 }],
  ['perl -I lib x.pl', { kind: 'script', at: 2 }],
  ['perl -ne code x', { kind: 'inline', at: 1 }],
  ['gawk -f x.awk data', { kind: 'script', at: 1 }],
  ['sed --file=x.sed data', { kind: 'script', at: 0, prefix: '--file=' }],
  ['awk -fx.awk data', { kind: 'script', at: 0, prefix: '-f' }],
  ['deno run --allow-net x.ts', { kind: 'script', at: 2 }],
  ['bash', undefined],
] as const)('%s', ([line, operand]) => {
  const [command = '', ...args] = line.split(' ');
  const interpreter = findInterpreter(command);
  expect(interpreter && findOperands(interpreter, args)[0]).toEqual(operand);
});

test('a program that runs another names it after its own options', () => {
  const inner = (line: string): string | undefined => {
    const [command = '', ...args] = line.split(' ');
    return args[findWrapped(command, args)];
  };
  expect(['env -u A B=1 sh x', 'timeout -k 5 10 sh x', 'nice -n 5 sh x', 'nohup sh x', 'xargs -n 1 sh', 'env'].map(inner)).toEqual([
    'sh',
    'sh',
    'sh',
    'sh',
    'sh',
    undefined,
  ]);
  expect(['/usr/bin/Python3.11', 'C:\\x\\NODE.EXE', 'perl5.36.0', 'x86-64'].map(toProgramName)).toEqual([
    'python',
    'node',
    'perl',
    'x86-64',
  ]);
});
