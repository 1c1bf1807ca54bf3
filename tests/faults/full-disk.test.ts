import { join } from 'node:path';
import { expect } from 'vitest';
import { RpcError } from '../../shared/rpc/rpc-error.ts';
import { startPerch } from '../e2e/perch-process.ts';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { mountSmallDisk } from '../support/small-disk.ts';

const ROUNDS = 2;
const WRITES = 25;

verifies(
  ['storage/disk-full', 'vault.journal/full'],
  'the whole disk is full: told clearly, nothing is lost, and it heals',
  async ({ skip }) => {
    using disk = mountSmallDisk(192);
    if (!disk) return skip('no file system can be mounted here');
    await using perch = await startPerch({ host: 'headless', home: join(disk.dir, 'home') });
    await waitFor(async () => (await perch.fetch('/ready')).ok, 'the gateway to serve', 30_000);
    const client = await perch.client();
    const acknowledged: string[] = [];
    const write = async (text: string): Promise<unknown> => {
      try {
        await client.call('memory.add', { text });
        acknowledged.push(text);
        return undefined;
      } catch (error) {
        return error;
      }
    };
    const hasLogged = async (): Promise<boolean> => {
      const { lines } = await client.call('logs.tail', { json: true });
      return JSON.stringify(lines).includes('"Storage is full');
    };
    for (let round = 0; round < ROUNDS; round++) {
      const name = (i: number): string => `Round ${round}, note ${i}: ${'tea'.repeat(700)}`;
      for (let i = 0; i < WRITES; i++) expect(await write(name(i))).toBeUndefined();
      // Text that fits into allocated blocks is still stored and acknowledged; the databases also free blocks now and then.
      const refusals: unknown[] = [];
      let isLogged = false;
      for (let i = 100; refusals.length < WRITES; i++) {
        disk.fill();
        const errors = await Promise.all([write(name(i)), write(`${name(i)} again`)]);
        refusals.push(...errors.filter((error) => error !== undefined));
        // Looked at in between: where Chromium loses its database, the log is gone with it.
        isLogged ||= refusals.length > 0 && (await hasLogged());
        expect(i).toBeLessThan(600);
      }
      for (const error of refusals) {
        expect(error).toBeInstanceOf(RpcError);
        const { code, message, extra } = error as RpcError;
        expect({ code, message, extra }).toEqual({
          code: 'INTERNAL_ERROR',
          message: expect.stringMatching(/^Storage is full/),
          extra: { retryable: true, details: { reason: 'storage-full' } },
        });
      }
      // Said once a minute.
      if (round === 0) expect(isLogged).toBe(true);
      disk.fill();
      const { checks } = await client.call('doctor.run', {});
      const found = Object.fromEntries(checks.map(({ id, severity, message }) => [id, `${severity}: ${message}`]));
      expect(found['vault']).toMatch(/^critical: .*disk is full/);
      expect(found['disk']).toMatch(/^error: Only \d+ MB free/);
      disk.free();
      await waitFor(
        async () => (await write(`Round ${round}, after: ${crypto.randomUUID()}`)) === undefined,
        'writing to work again',
        20_000,
      );
    }
    const remembered = async (by: typeof client): Promise<string[]> => (await by.call('memory.list', {})).memories.map(({ text }) => text);
    // Chromium may have lost its database: then it is read again from the journal.
    const missing = async (by: typeof client): Promise<string[]> => {
      const found = new Set(await remembered(by));
      return acknowledged.filter((text) => !found.has(text)).map((text) => text.slice(0, 40));
    };
    await expect.poll(() => missing(client)).toEqual([]);
    client.close();
    await perch.kill('SIGKILL');
    await perch.restart();
    await waitFor(async () => (await perch.fetch('/ready')).ok, 'the next gateway to serve', 30_000);
    const next = await perch.client();
    await expect.poll(() => missing(next)).toEqual([]);
    next.close();
  },
);
