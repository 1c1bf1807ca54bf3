import { spawn } from 'node:child_process';
import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { execPort } from '#shared/ports/exec-port.ts';
import { verifies } from '../../../tests/requirements.ts';
import { waitFor } from '../../../tests/support/test-gateway.ts';
import { toTaskkillArgs } from '../../processes/process-tree.ts';
import { parsePs } from '../../processes/list-processes.ts';
import { createExecBridge, findProcesses } from './tests/exec-bridge.ts';

const SHOW = '#!/usr/bin/env node\nconsole.log(JSON.stringify(process.argv.slice(2)))';

/**
 * Forks a child, one in its own session, one whose parent exits, one that clears its environment, and one that does so in its own session.
 */
const forks = (mark: string): string => `#!/bin/bash
trap '' TERM
(trap '' TERM; exec -a ${mark}-child sleep 1000) &
setsid bash -c "trap '' TERM; (exec -a ${mark}-orphan sleep 1000) & exec -a ${mark}-session sleep 1000" &
env -i /bin/bash -c "exec -a ${mark}-bare sleep 1000" &
env -i setsid /bin/bash -c "trap '' TERM; exec -a ${mark}-far sleep 1000" &
echo ready
exec -a ${mark}-root sleep 1000
`;
const FORKED = 6;

describe('a command', () => {
  verifies('exec/no-shell', 'its arguments reach the program as they are', async () => {
    await using exec = await createExecBridge();
    const show = await exec.script('show args.js', SHOW);
    const args = [
      'a b',
      '"q"',
      "'s'",
      ';',
      'touch x',
      '$(touch x)',
      '`touch x`',
      '$HOME',
      '*',
      '',
      '\n',
      '\\',
      '&&',
      '| cat',
      '>x',
      'é😀',
      '-e',
    ];
    const { stdout, exitCode } = await exec.run(show, args);
    expect(JSON.parse(stdout)).toEqual(args);
    expect(exitCode).toBe(0);
  });

  verifies('exec/no-shell', 'its output, both kinds, its exit code and its signal come back; it has no input', async () => {
    await using exec = await createExecBridge();
    expect(await exec.run('sh', ['-c', 'echo out; echo err >&2; cat; exit 3'])).toEqual({
      stdout: 'out\n',
      stderr: 'err\n',
      exitCode: 3,
      signal: null,
      timedOut: false,
      truncated: false,
    });
    expect(await exec.run('sh', ['-c', 'kill -9 $$'])).toMatchObject({ exitCode: null, signal: 'SIGKILL' });
  });

  verifies('exec/no-shell', 'more arguments than the system takes are told of', async () => {
    await using lent = await createExecBridge();
    await expect(lent.run('echo', Array(100).fill('x'.repeat(32_000)))).rejects.toMatchObject({
      code: 'INTERNAL_ERROR',
      message: expect.stringContaining(': spawn E2BIG'),
    });
    expect(lent.bridge.faults).toEqual([]);
  });

  verifies('exec/environment', 'has the listed names alone', async () => {
    await using exec = await createExecBridge({
      ...process.env,
      PERCH_TOKEN: 'secret',
      PERCH_HOME: '/x',
      OPENAI_API_KEY: 'secret',
      LANG: 'C',
      TZ: 'UTC',
    });
    const { stdout } = await exec.run('env');
    const names = stdout.split('\n').flatMap((line) => line.split('=')[0] || []);
    expect(names).toEqual(expect.arrayContaining(['PATH', 'LANG', 'TZ', 'TERM']));
    const inherited = ['PATH', 'HOME', 'USER', 'LOGNAME', 'LANG', 'LANGUAGE', 'LC_ALL', 'LC_CTYPE', 'TZ', 'TMPDIR', 'TERM'];
    expect(names.filter((name) => !inherited.includes(name) && !name.startsWith('PROGRAM_RUN_'))).toEqual([]);
    expect(stdout).not.toContain('secret');
  });

  verifies('exec/directory', 'runs in the workspace, or where it is told', async () => {
    await using exec = await createExecBridge();
    expect((await exec.run('pwd')).stdout).toBe(`${join(exec.home, 'workspace')}\n`);
    expect((await exec.run('pwd', [], { workingDir: exec.home })).stdout).toBe(`${exec.home}\n`);
    const file = await exec.script('file', '');
    for (const [workingDir, says] of [
      ['workspace', /absolute/],
      ['~', /absolute/],
      [join(exec.home, 'none'), /no folder/],
      [file, /is not a folder/],
    ] as const) {
      await expect(exec.bridge.call(execPort, 'exec.resolve', { command: 'pwd', args: [], workingDir })).rejects.toMatchObject({
        code: 'INVALID_PARAMS',
        message: expect.stringMatching(says) as string,
      });
    }
  });

  verifies('exec/directory', 'that is not there, or no program, is refused', async () => {
    await using exec = await createExecBridge({ ...process.env, PATH: `.:${process.env['PATH'] ?? ''}` });
    await mkdir(join(exec.home, 'workspace'));
    await writeFile(join(exec.home, 'workspace', 'here'), SHOW, { mode: 0o755 });
    await writeFile(join(exec.home, 'text'), 'text', { mode: 0o644 });
    for (const [command, says] of [
      ['no-such-program', /no program no-such-program on the bridge’s PATH/],
      // With a relative PATH entry, the contents of a folder would decide what runs.
      ['here', /no program here/],
      ['package.json', /no program package.json/],
      ['./none', /no file/],
      [join(exec.home, 'text'), /is not executable/],
      [exec.home, /is not executable/],
      ['a\0b', /NUL/],
    ] as const) {
      await expect(exec.bridge.call(execPort, 'exec.resolve', { command, args: [] })).rejects.toMatchObject({
        code: 'INVALID_PARAMS',
        message: expect.stringMatching(says) as string,
      });
    }
    expect((await exec.run('./here')).stdout).toBe('[]\n');
  });
});

describe('the hash', () => {
  verifies('exec/bound', 'changes with anything that an approval binds to, and with nothing else', async () => {
    await using exec = await createExecBridge();
    await using other = await createExecBridge({ ...process.env, LANG: 'xx' });
    const script = await exec.script('script', '#!/bin/sh\necho 1');
    const hash = async (args: string[] = [], command = script, workingDir = exec.home, from = exec): Promise<string> =>
      (await from.bridge.call(execPort, 'exec.resolve', { command, args, workingDir })).hash;
    const first = await hash();
    expect(await hash()).toBe(first);
    const link = join(exec.home, 'link');
    await symlink(script, link);
    const others = [
      await hash(['']),
      await hash(['a', 'b']),
      await hash(['a b']),
      await hash([], link),
      await hash([], script, '/'),
      await hash([], script, exec.home, other),
    ];
    await exec.script('script', '#!/bin/sh\necho 2');
    others.push(await hash());
    expect(new Set([first, ...others]).size).toBe(others.length + 1);
  });

  verifies('exec/bound', 'a program, a link or a directory that was swapped since is refused', async () => {
    await using exec = await createExecBridge();
    const ran = join(exec.home, 'ran');
    const evil = `#!/bin/sh\ntouch ${ran}`;
    const dir = join(exec.home, 'dir');
    await mkdir(dir);
    const refused = async (command: string, swap: () => Promise<unknown>): Promise<void> => {
      const execRequest = { command, args: [], workingDir: dir };
      const { realPath: _, ...resolved } = await exec.bridge.call(execPort, 'exec.resolve', execRequest);
      await swap();
      await expect(exec.bridge.call(execPort, 'exec.run', { ...execRequest, ...resolved })).rejects.toMatchObject({
        code: 'INTERNAL_ERROR',
        message: expect.stringContaining('changed after it was approved') as string,
      });
    };
    await refused(await exec.script('a', '#!/bin/sh\n'), () => exec.script('a', evil));
    const link = join(exec.home, 'link');
    await symlink(await exec.script('b', '#!/bin/sh\n'), link);
    await refused(link, async () => {
      await rm(link);
      await symlink(await exec.script('c', '#!/bin/sh\n'), link);
    });
    await refused(await exec.script('d', `#!/bin/sh\ntouch ${ran}`), async () => {
      await rename(dir, `${dir}2`);
      await symlink(exec.home, dir);
    });
    expect((await exec.run('ls', [exec.home])).stdout).not.toContain('ran');
  });
});

describe('the end', () => {
  const mark = (): string => `tree${Math.random().toString(36).slice(2)}`;

  verifies('exec/tree', 'an abort takes all processes along, whatever they made of themselves', async () => {
    await using exec = await createExecBridge();
    const name = mark();
    const script = await exec.script('forks', forks(name));
    const abort = new AbortController();
    const run = exec.run(script, [], { signal: abort.signal });
    run.catch(() => {});
    await waitFor(() => findProcesses(name).length === FORKED, 'the forks');
    abort.abort(new Error('not wanted'));
    await expect(run).rejects.toThrow('not wanted');
    await waitFor(() => findProcesses(name).length === 0, 'the end of all', 4000);
  });

  verifies('exec/tree', 'its time is over: the same', async () => {
    await using exec = await createExecBridge();
    const name = mark();
    const script = await exec.script('forks', forks(name));
    const ended = await exec.run(script, [], { timeoutMs: 500 });
    expect(ended).toMatchObject({ timedOut: true, exitCode: null, stdout: 'ready\n' });
    expect(findProcesses(name)).toEqual([]);
  });

  verifies('exec/tree', 'the program ends: what it left running ends too, and does not hold up the answer', async () => {
    await using exec = await createExecBridge();
    const name = mark();
    const script = await exec.script('leaves', `#!/bin/bash\nsetsid bash -c "exec -a ${name} sleep 1000" &\necho left\n`);
    expect(await exec.run(script)).toMatchObject({ exitCode: 0, stdout: 'left\n' });
    expect(findProcesses(name)).toEqual([]);
  });

  verifies('exec/tree', 'the bridge is killed: nothing is left', async () => {
    await using exec = await createExecBridge();
    const name = mark();
    const script = await exec.script('forks', forks(name));
    const bridge = spawn(process.execPath, [join(import.meta.dirname, 'tests/parent.ts'), exec.home, script], { stdio: 'ignore' });
    await waitFor(() => findProcesses(`${name}-`).length === FORKED, 'the forks');
    bridge.kill('SIGKILL');
    await waitFor(() => findProcesses(`${name}-`).length === 0, 'the end of all', 4000);
  });

  verifies('exec/flood', 'hundreds of megabytes are read, and dropped beyond the limit', async () => {
    await using exec = await createExecBridge();
    const before = process.memoryUsage().rss;
    let most = 0;
    const flood =
      "const part = Buffer.alloc(1e6, 'x'); let left = 300; const go = () => { if (left-- > 0) process.stdout.write(part, go); else process.stderr.write('done'); }; go();";
    const ended = await exec.run('node', ['-e', flood], { ontext: () => (most = Math.max(most, process.memoryUsage().rss)) });
    expect(ended).toMatchObject({ exitCode: 0, truncated: true, stderr: 'done' });
    expect(ended.stdout).toHaveLength(1024 * 1024);
    expect(Math.max(most, process.memoryUsage().rss) - before).toBeLessThan(150 * 1024 * 1024);
  });

  verifies('exec/flood', 'a character at the limit is not torn', async () => {
    await using exec = await createExecBridge();
    const { stdout } = await exec.run('node', ['-e', "process.stdout.write('a' + 'é'.repeat(600_000))"]);
    expect(stdout).toBe(`a${'é'.repeat(524_287)}`);
  });

  verifies('exec/tree', 'other systems: parses `ps` output, and calls `taskkill`', () => {
    expect(parsePs('  12     1    12 Ss   Fri Nov 20 10:00:00 2026\n  13    12    12 Z    Fri Nov 20 10:00:01 2026\n\n')).toEqual([
      { pid: 12, parent: 1, group: 12, session: 0, startTime: 'Fri Nov 20 10:00:00 2026', hasMark: false },
    ]);
    expect(toTaskkillArgs(12)).toEqual(['/PID', '12', '/T', '/F']);
  });
});
