import { expect } from 'vitest';
import { mergeThreeWay } from './merge-config.ts';
import { findTypedServers } from './typed-servers.ts';
import type { Json } from '#shared/merge-patch.ts';
import { verifies } from '../../../../tests/requirements.ts';

const withServer = (server?: Json): Json => ({ tools: { mcpServers: server ? { mine: server } : {} } });
const getTypedServers = (synced: Json, own: Json, file: Json): string[] =>
  findTypedServers({ file, synced, own, document: mergeThreeWay(synced, own, file).document });
const [one, two] = [
  { command: 'one', args: ['a'] },
  { command: 'two', args: ['a'] },
];

verifies('mcp/approved-command', 'distinguishes typed settings from those that the gateway wrote or merged', () => {
  expect(getTypedServers({}, {}, withServer(one)), 'a new one').toEqual(['mine']);
  expect(getTypedServers(withServer(one), withServer(one), withServer(two)), 'a changed one').toEqual(['mine']);
  expect(getTypedServers(withServer(one), withServer(one), withServer(one)), 'nothing is new').toEqual([]);
  expect(
    getTypedServers(withServer(), withServer(one), withServer(one)),
    'written by the gateway, which was cut off before it noted that',
  ).toEqual([]);
  expect(getTypedServers(withServer(one), withServer(), withServer(one)), 'in the file alone since it was restored from before').toEqual(
    [],
  );
  const called = withServer({ command: 'one', args: ['evil'] });
  expect(
    getTypedServers(withServer(one), called, withServer({ ...one, cwd: '/there' })),
    'arguments by a call, the directory by hand',
  ).toEqual([]);
  expect(getTypedServers(withServer(one), withServer(two), withServer()), 'taken out').toEqual([]);
});
