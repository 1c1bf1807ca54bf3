import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { newMessage, newSession } from '../../storage/fixture.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { createMirroredWorkspace } from '../../../../tests/support/mirrored-workspace.ts';

const CHAT_ID = 'main/chat';
const TODAY_PATH = 'dialog/2026-11-20.jsonl';
const MINUTE = 60_000;

/** Sessions, and a mirror that reads them from `begin` on: it polls for changes only every five minutes. */
async function createChatMirror(options: Parameters<typeof createMirroredWorkspace>[0] = {}) {
  const at = await createMirroredWorkspace(options);
  at.mirror.stop();
  await at.mirror.whenSettled();
  return Object.assign(at, {
    say: (id: string, content: string, key = CHAT_ID) => {
      const message = newMessage(id, null, { sessionKey: key, content, timestamp: at.clock.now() });
      return at.vault.sessions.add(newSession(key), [message]);
    },
    begin() {
      at.restart();
      return at.settle();
    },
    texts: (path: string): unknown[] =>
      at
        .read(path)
        .toString()
        .trimEnd()
        .split('\n')
        .map((line) => (JSON.parse(line) as { content: unknown }).content),
  });
}

verifies('mirror/dialogs', 'a day is written, grows, and goes with its chats; nothing of it is stored as a file', async () => {
  await using at = await createChatMirror();
  at.writeToDisk('dialog/2020-01-01.jsonl', 'of a person\n');
  await at.say('m1', 'Good morning');
  await at.say('m2', 'A stranger', 'main/telegram-5');
  await at.say('m3', 'Another agent', 'other/chat');
  expect(await at.begin()).toMatchObject({ state: 'synced', skippedCount: 0 });
  expect(at.texts(TODAY_PATH)).toEqual(['Good morning']);
  expect(Object.keys(await at.readVault())).toEqual(['dialog/2020-01-01.jsonl']);

  await at.say('m4', 'Good evening', 'main/second');
  await at.settle();
  expect(at.texts(TODAY_PATH)).toEqual(['Good morning']);
  at.clock.advance(5 * MINUTE);
  await at.settle();
  expect(at.texts(TODAY_PATH)).toEqual(['Good morning', 'Good evening']);
  expect(await at.begin()).toMatchObject({ state: 'synced', skippedCount: 0 });

  for (const key of [CHAT_ID, 'main/second']) await at.vault.sessions.remove(key);
  at.clock.advance(5 * MINUTE);
  expect(await at.settle()).toMatchObject({ state: 'synced', skippedCount: 0 });
  expect(Object.keys(at.readDisk())).toEqual(['dialog/2020-01-01.jsonl']);
  expect(at.faults).toEqual([]);
});

verifies(
  'mirror/dialogs',
  'files that a person changes or adds there are left alone and reported; deleted ones are written again',
  async () => {
    await using at = await createChatMirror();
    at.writeToDisk(TODAY_PATH, 'mine\n');
    await at.say('m1', 'Good morning');
    const skipped = [{ path: TODAY_PATH, why: expect.stringContaining('generated from chats') as string }];
    expect(await at.begin()).toMatchObject({ state: 'synced', skipped });
    expect(at.read(TODAY_PATH).toString()).toBe('mine\n');
    rmSync(join(at.root, TODAY_PATH));
    expect(await at.settle()).toMatchObject({ state: 'synced', skippedCount: 0 });
    expect(at.texts(TODAY_PATH)).toEqual(['Good morning']);
    rmSync(join(at.root, TODAY_PATH));
    expect(await at.settle()).toMatchObject({ state: 'synced', skippedCount: 0 });
    expect(at.texts(TODAY_PATH)).toEqual(['Good morning']);
    at.writeToDisk(TODAY_PATH, 'mine again\n');
    expect(await at.settle()).toMatchObject({ state: 'synced', skipped });
    expect(await at.readVault()).toEqual({});
  },
);

verifies('mirror/dialogs', 'a day that is too long is told of, and keeps nothing else from being written', async () => {
  await using at = await createChatMirror();
  for (let part = 0; part < 3; part++) await at.say(`m${part}`, 'long '.repeat(600_000), `main/chat-${part}`);
  await at.write('MEMORY.md', 'There');
  expect(await at.begin()).toMatchObject({ state: 'synced', skipped: [{ path: TODAY_PATH, why: 'it is larger than 8 MiB' }] });
  expect(at.readDisk()).toEqual({ 'MEMORY.md': 'There' });
});
