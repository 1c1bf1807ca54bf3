import { renameSync } from 'node:fs';
import { appendFile, chmod, copyFile, mkdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { execPort } from '#shared/ports/exec-port.ts';
import { verifies } from '../../../tests/requirements.ts';
import { NO_KEEPER } from '../../processes/process-keeper.ts';
import { createExecHandlers } from './exec-handlers.ts';
import { type ExecBridge, createExecBridge } from './tests/exec-bridge.ts';

const resolve = (exec: ExecBridge, command: string, args: string[] = [], workingDir = exec.home) =>
  exec.bridge.call(execPort, 'exec.resolve', { command, args, workingDir });

/** Resolves a command, then changes something, then runs it. */
async function expectRefused(exec: ExecBridge, command: string, args: string[], swap: () => Promise<unknown>): Promise<void> {
  const execRequest = { command, args, workingDir: exec.home };
  const { hash } = await exec.bridge.call(execPort, 'exec.resolve', execRequest);
  await swap();
  await expect(exec.bridge.call(execPort, 'exec.run', { ...execRequest, hash })).rejects.toMatchObject({
    message: expect.stringContaining('changed after it was approved') as string,
  });
}

describe('an approval covers', () => {
  verifies('exec/script', 'the script of an interpreter, however it is named', async () => {
    await using exec = await createExecBridge();
    const swap = (name: string) => () => exec.script(name, 'other');
    await exec.script('a.sh', 'echo good');
    await expectRefused(exec, 'sh', ['a.sh'], swap('a.sh'));
    for (const [name, command, ...args] of [
      ['b.py', 'python3', '-u', 'b.py', 'x'],
      ['c.js', 'node', '--no-warnings', 'c'],
      ['d.pl', 'perl', '-w', 'd.pl'],
      ['e.sh', 'timeout', '5', 'bash', '-x', 'e.sh'],
      ['f.sh', 'env', 'A=1', 'sh', './f.sh'],
      ['g.awk', 'awk', '-f', 'g.awk', '/dev/null'],
      ['h.sh', 'sh', '-c', 'echo; sh h.sh'],
      ['i.py', 'python3', '-m', 'i'],
    ] as const) {
      await exec.script(name, '1');
      await expectRefused(exec, command, args, swap(name));
    }
    // A script that is created after the approval.
    await expect(resolve(exec, 'sh', ['later.sh'])).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
  });

  verifies('exec/script', 'what a shebang names, and files among the arguments', async () => {
    await using exec = await createExecBridge();
    await mkdir(join(exec.home, 'bin'));
    const own = await exec.script('bin/own', '#!/bin/sh\nexec sh "$@"');
    const script = await exec.script('run', `#!${own}\necho hi\n`);
    await expectRefused(exec, script, [], () => appendFile(own, '\n#'));
    const data = join(exec.home, 'data.txt');
    await writeFile(data, 'a');
    await expectRefused(exec, 'cat', ['data.txt'], () => writeFile(data, 'b'));
    await expectRefused(exec, 'dd', ['if=data.txt'], () => writeFile(data, 'c'));
    const { files, scripts } = await resolve(exec, 'sh', [await exec.script('s.sh', 'cat "$1"'), data]);
    expect(files).toEqual([{ path: data, bytes: 1, isData: true }]);
    expect(scripts).toMatchObject([{ path: join(exec.home, 's.sh'), text: 'cat "$1"' }]);
  });

  verifies('exec/standing', '"always" leaves out files that only hold data, and nothing that could be run', async () => {
    await using exec = await createExecBridge();
    const getStandingHash = async (command: string, ...args: string[]): Promise<unknown> =>
      (await resolve(exec, command, args)).standingHash;
    await exec.script('s.sh', 'cat "$1"');
    const data = await exec.script('d', '1');
    await chmod(data, 0o644);
    await exec.script('n.js', '1');
    const commands = [
      ['cat', 'd'],
      ['sh', 's.sh', 'd'],
      ['sh', '-c', 'sh "$1"', 'x', 'd'],
      ['make', '-f', 'd'],
      ['xargs', '-a', 'd'],
      ['node', '--require', './d', 'n.js'],
    ] as const;
    const before = await Promise.all(commands.map(([command, ...args]) => getStandingHash(command, ...args)));
    await writeFile(data, '2');
    const after = await Promise.all(commands.map(([command, ...args]) => getStandingHash(command, ...args)));
    expect(before.map((hash, at) => hash === after[at])).toEqual([true, true, false, false, false, false]);
  });

  verifies('exec/standing', '"always" never leaves out a file that an argument has the program run', async () => {
    await using exec = await createExecBridge();
    await mkdir(join(exec.home, 'sub'));
    const swap = async (text: string): Promise<void> => {
      for (const name of ['x.sh', 'sub/y.sh', 'Makefile', 'sub/Makefile', 'package.json', '.git/config'])
        await exec.script(name, `#!/bin/sh\necho ${text}\n`);
    };
    await mkdir(join(exec.home, '.git'));
    const commands = [
      ['make'],
      ['make', '-C', 'sub'],
      ['timeout', '5', 'npm', 'test'],
      ['sh', '-c', 'cd sub && make'],
      ['git', 'status'],
      ['tar', '-I', './x.sh', '-cf', 'o.tar', 'sub'],
      ['tar', '-I./x.sh', '-cf', 'o.tar', 'sub'],
      ['tar', '-cf', 'o.tar', '--checkpoint-action=exec=sh x.sh', 'sub'],
      ['sort', '--compress-program=./x.sh', 'big'],
      ['split', '--filter=sh x.sh', 'big'],
      ['awk', 'BEGIN { system("sh x.sh") }'],
      ['sed', '-n', '1e sh x.sh', 'big'],
      ['git', '-c', 'alias.z=!sh x.sh', 'z'],
      ['find', '.', '-exec', 'sh', '-c', 'cd sub && sh y.sh', ';'],
      ['sh', '-c', 'cd sub && ./y.sh'],
      ['make', '-C', 'sub', 'SHELL=./y.sh'],
    ] as const;
    const getStandingHash = async ([command, ...args]: readonly [string, ...string[]]): Promise<unknown> =>
      (await resolve(exec, command, args)).standingHash;
    await swap('good');
    const before = await Promise.all(commands.map(getStandingHash));
    await swap('evil');
    const after = await Promise.all(commands.map(getStandingHash));
    expect(commands.filter((_, at) => before[at] === after[at])).toEqual([]);
    // An earlier build's policy did not cover the file.
    expect((await resolve(exec, 'tar', ['-I', './x.sh', '-cf', 'o.tar', 'sub'])).earlierHash).toBeUndefined();
    expect((await resolve(exec, 'tar', ['-cf', 'o.tar', 'sub'])).earlierHash).toBeDefined();
    expect((await resolve(exec, 'cp', ['x.sh', 'z.sh'])).files).toMatchObject([{ isData: true }]);
    expect((await resolve(exec, 'git', ['status'])).isInterpreter).toBe(true);
    await expect(resolve(exec, 'env', ['-S', 'sh x.sh'])).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
    await expect(resolve(exec, 'env', ['-i', '--split-string=sh x.sh'])).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
  });
});

describe('running the approved bytes', () => {
  test.for([
    ['sh', 'x.sh', 'echo "$1"'],
    ['bash', 'x.sh', 'echo "$1"'],
    ['python3', 'x.py', 'import sys; print(sys.argv[1])'],
    ['node', 'x.js', 'console.log(process.argv[2])'],
    ['node', 'x.mjs', 'import fs from "node:fs"; console.log(process.argv[2])'],
    ['perl', 'x.pl', 'print "$ARGV[0]\\n"'],
  ] as const)('%s %s: is what was read at the check, though the file is swapped at once', async ([command, name, good]) => {
    await using exec = await createExecBridge();
    const path = await exec.script(name, good);
    // Replaces the interpreter with a program that changes the script before the interpreter opens it.
    await mkdir(join(exec.home, 'bin'));
    await exec.script(
      `bin/${command}`,
      `#!/bin/sh\nprintf '%s' evil > ${path}\nPATH=$OLD exec ${command} "$@"\n`.replace('$OLD', `'${process.env['PATH'] ?? ''}'`),
    );
    await using swapping = await createExecBridge({ ...process.env, PATH: `${join(exec.home, 'bin')}:${process.env['PATH'] ?? ''}` });
    const { stdout, stderr } = await swapping.run(command, [name, 'good'], { workingDir: exec.home });
    expect({ stdout, stderr, now: await readFile(path, 'utf8') }).toEqual({ stdout: 'good\n', stderr: '', now: 'evil' });
  });

  verifies('exec/script', 'a program that is swapped all the while never runs other than approved', async () => {
    await using exec = await createExecBridge();
    const path = await exec.script('tool', '#!/bin/sh\necho good\n');
    const { hash } = await resolve(exec, path);
    let stop = false;
    const swapping = (async () => {
      for (let at = 0; !stop; at++) {
        const next = await exec.script(`next-${at % 2}`, at % 2 ? '#!/bin/sh\necho good\n' : '#!/bin/sh\necho evil\n');
        await rename(next, path);
      }
    })();
    let output = '';
    for (let at = 0; at < 40; at++) {
      await exec.bridge
        .call(
          execPort,
          'exec.run',
          { command: path, args: [], workingDir: exec.home, hash },
          { on: { 'exec.output': ({ text }) => (output += text) } },
        )
        .catch((error: unknown) => {
          if (!(error instanceof Error && error.message.includes('changed after'))) throw error;
        });
    }
    stop = true;
    await swapping;
    expect(output).not.toContain('evil');
  });

  verifies('exec/script', 'a program of the user’s own that is swapped between the check and the start runs as approved', async () => {
    await using exec = await createExecBridge();
    const [tool, evil] = [join(exec.home, 'tool'), join(exec.home, 'evil')];
    await copyFile('/bin/echo', tool);
    await copyFile('/bin/false', evil);
    // The hook runs right before a process starts.
    const keeper = {
      keep: () => {
        renameSync(evil, tool);
        return NO_KEEPER.keep();
      },
    };
    const handlers = createExecHandlers({ home: exec.home, keeper });
    let output = '';
    const call = { signal: new AbortController().signal, send: (_: string, { text }: { text: string }) => (output += text) };
    const execRequest = { command: './tool', args: ['good'], workingDir: exec.home };
    const { hash } = await handlers['exec.resolve'](execRequest, call);
    expect(await handlers['exec.run']({ ...execRequest, hash, timeoutMs: 10_000 }, call)).toMatchObject({ exitCode: 0 });
    expect(output).toBe('good\n');
  });

  verifies('exec/script', 'an interpreter that must open its script itself is refused', async () => {
    await using exec = await createExecBridge();
    await mkdir(join(exec.home, 'bin'));
    await symlink('/bin/true', join(exec.home, 'bin/ruby'));
    await exec.script('x.rb', 'puts 1');
    await expect(resolve(exec, join(exec.home, 'bin/ruby'), ['x.rb'])).rejects.toMatchObject({
      code: 'INVALID_PARAMS',
      message: expect.stringContaining('can’t be run exactly as approved') as string,
    });
  });
});
