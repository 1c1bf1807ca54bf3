import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { MemoryManager } from './memory.ts';
import { SqliteIndex } from './sqlite-index.ts';

let dir: string;
beforeEach(() => void (dir = mkdtempSync(join(tmpdir(), 'perch-index-'))));
afterEach(() => rmSync(dir, { recursive: true, force: true }));
const database = (): string => join(dir, 'memory.db');

const filled = (length: number, byte: number): Uint8Array<ArrayBuffer> => new Uint8Array(length).fill(byte);

verifies(
  'memory.index/crash',
  'a process that is killed while it writes snapshots leaves one of them whole',
  async () => {
    const program = `
    import { SqliteIndex } from ${JSON.stringify(join(import.meta.dirname, 'sqlite-index.ts'))};
    const index = new SqliteIndex(${JSON.stringify(database())});
    for (let nth = 1; ; nth++) {
      await index.putSnapshot(new Uint8Array(3_000_000 + nth).fill(nth % 251));
      console.log(nth);
    }`;
    for (let round = 1; round <= 8; round++) {
      const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
      const ended = once(child, 'exit');
      let lastRound = 0;
      try {
        for await (const line of createInterface(child.stdout)) if ((lastRound = Number(line)) === round) break;
      } finally {
        child.kill('SIGKILL');
        await ended;
      }
      expect(lastRound).toBe(round);
      const index = new SqliteIndex(database());
      const bytes = (await index.snapshot()) ?? filled(0, 0);
      index.close();
      const nth = bytes.length - 3_000_000;
      expect(nth).toBeGreaterThanOrEqual(lastRound);
      expect(Buffer.compare(bytes, filled(bytes.length, nth % 251))).toBe(0);
    }
  },
  60_000,
);

verifies('memory.index/damaged', 'a snapshot that is damaged within the database loses nothing', async () => {
  const sql = (statement: string): Record<string, unknown> | undefined => {
    const db = new DatabaseSync(database());
    try {
      return db.prepare(statement).get();
    } finally {
      db.close();
    }
  };
  const found = async (): Promise<string[]> => {
    await using memory = await new MemoryManager(dir).open();
    return (await memory.searchMemory('cats')).map(({ text }) => text);
  };
  {
    await using memory = await new MemoryManager(dir).open();
    await memory.addMemory('Ana has a cat called Miso');
  }
  const size = "SELECT length(bytes) AS size FROM snapshot WHERE bytes <> x'00'";
  const snapshot = sql(size);
  expect(snapshot?.['size']).toBeGreaterThan(500);
  for (const damage of [
    'UPDATE snapshot SET bytes = substr(bytes, 1, length(bytes) - 8)',
    "UPDATE snapshot SET bytes = x'00'",
    'UPDATE snapshot SET bytes = zeroblob(length(bytes))',
    'DELETE FROM snapshot',
  ]) {
    sql(damage);
    expect(await found(), damage).toEqual(['Ana has a cat called Miso']);
    expect(sql(size), damage).toEqual(snapshot);
  }
});
