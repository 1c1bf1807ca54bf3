import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { useHooks } from '../../bridge/setup.js';

const ROOT = new URL('../..', import.meta.url).pathname;

/** Runs a test with a temporary git repository that has this project's hooks. */
async function withRepository(
  run: (git: (...args: string[]) => { status: number | null; stdout: string; stderr: string }) => void,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'perch-hooks-'));
  const env = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' };
  const git = (...args: string[]) =>
    spawnSync('git', ['-C', folder, '-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', ...args], { encoding: 'utf8', env });
  try {
    git('init', '-q');
    await writeFile(join(folder, 'a.txt'), 'a');
    git('add', '.');
    useHooks(folder);
    git('config', 'core.hooksPath', join(ROOT, git('config', '--get', 'core.hooksPath').stdout.trim()));
    run(git);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

test('the commit hook takes a subject with a scope, and refuses others with a reason', () =>
  withRepository((git) => {
    const commit = (message: string) => git('commit', '-q', '--allow-empty', '-m', message);
    const taken = [
      'memory: rank turns of one thread apart',
      `ui: ${'é'.repeat(68)}`,
      'bridge/cli, docs: name the port\n\nWhy.',
      'Revert "ui: x"',
    ];
    for (const message of taken) expect(commit(message), message).toMatchObject({ status: 0, stderr: '' });
    const refused = [
      ['Rank turns apart', 'Start the subject with a scope'],
      [`ui: ${'x'.repeat(69)}`, 'longer than 72 characters'],
      ['ui: name the port.', 'Leave out the full stop'],
    ];
    for (const [message = '', reason = ''] of refused) {
      const { status, stderr } = commit(message);
      expect(status, message).not.toBe(0);
      expect(stderr).toContain(reason);
    }
  }));

test('hooks that are configured already stay', () =>
  withRepository((git) => {
    const root = git('rev-parse', '--show-toplevel').stdout.trim();
    git('config', 'core.hooksPath', 'mine');
    useHooks(root);
    expect(git('config', '--get', 'core.hooksPath').stdout.trim()).toBe('mine');
  }));
