import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { SignalsStore } from './dreaming.ts';
import { folderWorkspace } from './folder-workspace.ts';

let dir: string;
let lock: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'perch-lock-'));
  lock = join(dir, '.perch.lock');
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const readLines = (name: string): string[] => readFileSync(join(dir, name), 'utf8').trim().split('\n');

verifies(
  'memory.node/processes',
  'several processes change one folder, and nothing of it is lost',
  async () => {
    const moduleAt = (name: string): string => JSON.stringify(pathToFileURL(join(import.meta.dirname, name)).href);
    const program = `
    const [{ folderWorkspace }, { SignalsStore }] = await Promise.all([import(${moduleAt('folder-workspace.ts')}), import(${moduleAt('dreaming.ts')})]);
    const [dir, name] = process.argv.slice(1);
    const workspace = folderWorkspace(dir);
    const signals = new SignalsStore(dir);
    for (let at = 0; at < 25; at++) {
      await workspace.update('MEMORY.md', (text = '') => text + name + at + '\\n');
      await workspace.append('log.md', name + at + '\\n');
      await signals.addSignal('signal ' + name + at, 'memory/2026-11-20.md', 'query');
    }`;
    const ends = ['a', 'b', 'c'].map(async (name) => {
      const child = spawn(process.execPath, ['--input-type=module', '-e', program, dir, name], { stdio: ['ignore', 'ignore', 'inherit'] });
      expect((await once(child, 'exit'))[0]).toBe(0);
    });
    await Promise.all(ends);
    const all = ['a', 'b', 'c'].flatMap((name) => Array.from({ length: 25 }, (_, at) => `${name}${at}`)).sort();
    expect(readLines('MEMORY.md').sort()).toEqual(all);
    expect(readLines('log.md').sort()).toEqual(all);
    const signals = await new SignalsStore(dir).getAllSignals();
    expect(signals.map(({ content }) => content.replace('signal ', '')).sort()).toEqual(all);
    expect(existsSync(lock)).toBe(false);
  },
  60_000,
);

verifies('memory.node/processes', 'a lock is waited for, but not one that a process left which is gone', async () => {
  const workspace = folderWorkspace(dir);
  writeFileSync(lock, `${process.ppid} ${hostname()} x`);
  const contents: (string | undefined)[] = [];
  const changed = workspace.update('MEMORY.md', (text) => {
    contents.push(text);
    return `${text ?? ''}ours\n`;
  });
  writeFileSync(join(dir, 'MEMORY.md'), 'theirs\n');
  rmSync(lock);
  await changed;
  expect([contents, readLines('MEMORY.md')]).toEqual([['theirs\n'], ['theirs', 'ours']]);

  const { pid } = spawnSync(process.execPath, ['-e', '']);
  for (const owner of [`${pid} ${hostname()} x`, `${process.pid} ${hostname()} x`]) {
    writeFileSync(lock, owner);
    // A lock with this process's own id is an earlier process's if it is older than this process.
    if (owner.startsWith(`${process.pid} `)) utimesSync(lock, 1, 1);
    await workspace.append('MEMORY.md', 'after\n');
  }
  expect([readLines('MEMORY.md').length, existsSync(lock)]).toEqual([4, false]);
});

verifies('memory.node/processes', 'stores of signals over one folder count together', async () => {
  const stores = [new SignalsStore(dir), new SignalsStore(`${dir}/.`)];
  await Promise.all(
    Array.from({ length: 20 }, (_, at) => stores[at % 2]?.addSignal('My bike is in the barn', 'memory/2026-11-20.md', `query ${at}`)),
  );
  expect(await new SignalsStore(dir).getStats()).toMatchObject({ total: 1, totalRecallQueries: 20 });
});
