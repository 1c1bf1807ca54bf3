import { mkdtempSync, mkdirSync, readdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { removeTempFiles } from './temp-cleanup.ts';

const NOW = 1_000_000_000_000;
let dir: string;
beforeEach(() => void (dir = mkdtempSync(join(tmpdir(), 'perch-left-'))));
afterEach(() => rmSync(dir, { recursive: true }));

function file(name: string, ageMs: number): void {
  writeFileSync(join(dir, name), 'x', { mode: 0o600 });
  utimesSync(join(dir, name), NOW / 1000, (NOW - ageMs) / 1000);
}

async function runCleanup(): Promise<{ left: string[]; warnings: string[] }> {
  const warnings: string[] = [];
  await removeTempFiles(dir, { now: NOW, warn: (line) => void warnings.push(line) });
  return { left: readdirSync(dir).sort(), warnings };
}

it('what writes that were killed have left is removed', async () => {
  for (const name of ['token', 'credentials.json', 'b.zip', 'journal'].map((name) => `${name}.0123456789ab.tmp`)) file(name, 61_000);
  file('journal.0123456789ab.tmp-wal', 61_000);
  file('token', 61_000);
  expect(await runCleanup()).toEqual({ left: ['token'], warnings: [] });
});

it('files that may still be in use, and those of others, are not deleted', async () => {
  file('token.0123456789ab.tmp', 59_000);
  // SQLite writes to a file next to the database first.
  file('journal.0123456789ab.tmp', 3_600_000);
  file('journal.0123456789ab.tmp-wal', 1000);
  file('mine.tmp', 3_600_000);
  file('mine.0123456789AB.tmp', 3_600_000);
  mkdirSync(join(dir, 'folder.0123456789ab.tmp'));
  utimesSync(join(dir, 'folder.0123456789ab.tmp'), 0, 0);
  symlinkSync(join(dir, 'mine.tmp'), join(dir, 'link.0123456789ab.tmp'));
  const before = readdirSync(dir).sort();
  expect(await runCleanup()).toEqual({ left: before, warnings: [] });
});

it('a missing directory is skipped, an unreadable one is reported', async () => {
  const existing = dir;
  dir = join(existing, 'none');
  await removeTempFiles(dir, { now: NOW, warn: () => expect.unreachable() });
  dir = existing;
  file('token', 0);
  const warnings: string[] = [];
  await removeTempFiles(join(dir, 'token'), { now: NOW, warn: (line) => void warnings.push(line) });
  expect(warnings).toEqual([expect.stringContaining('Couldn’t remove temporary files')]);
});
