import 'fake-indexeddb/auto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { DreamingConfig } from './dreaming.ts';
import { MemoryConfig, MemoryManager } from './memory.ts';
import { ClaimsManager, WikiVault } from './wiki.ts';

verifies(
  'memory.browser/config',
  'settings at an address, one that is not there, one that is no YAML, one that cannot be reached',
  async () => {
    const texts = new Map([
      ['/memory.yaml', 'memory:\n  compaction:\n    max_tokens: 500\n'],
      ['/dreaming.yaml', 'dreaming:\n  min_score: 0.25\n'],
      ['/wrong.yaml', 'compaction:\n  max_tokens: many\n'],
      ['/none-such.yaml', 'memory: ['],
    ]);
    const server = createServer(({ url = '' }, response) => {
      const text = texts.get(url);
      response.writeHead(text === undefined ? 404 : 200).end(text);
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const site = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    expect((await MemoryConfig.fromYaml(`${site}/memory.yaml`)).compaction.maxTokens).toBe(500);
    expect((await DreamingConfig.fromYaml(`${site}/dreaming.yaml`)).minScore).toBe(0.25);
    await expect(MemoryConfig.fromYaml(`${site}/none`)).rejects.toThrow(`Couldn’t read ${site}/none: HTTP 404`);
    await expect(MemoryConfig.fromYaml(`${site}/wrong.yaml`)).rejects.toThrow(/wrong\.yaml: .*max_?tokens/i);
    await expect(DreamingConfig.fromYaml(`${site}/none-such.yaml`)).rejects.toThrow(/none-such\.yaml: The settings are not valid YAML/);
    await new Promise((closed) => server.close(closed).closeAllConnections());
    await expect(MemoryConfig.fromYaml(`${site}/memory.yaml`)).rejects.toThrow('memory.yaml: ');
  },
);

verifies('memory.browser/libraries', 'a database has one name, with a slash behind it or not; an empty one is none', async () => {
  const vault = new WikiVault('notes/wiki/');
  expect([vault.vaultPath, new MemoryManager('mind/').workspaceDir]).toEqual(['notes/wiki', 'mind']);
  await vault.claims.addClaim('entities/miso', 'Miso is a cat', []);
  expect(await new ClaimsManager('notes/wiki/.perch-wiki/claims').listClaims()).toHaveLength(1);
  for (const none of ['', ' ', '/', '.perch-wiki/claims']) {
    expect(() => new ClaimsManager(none), none).toThrow('must not be empty');
    if (!none.includes('claims')) expect(() => new MemoryManager(none), none).toThrow('must not be empty');
  }
});
