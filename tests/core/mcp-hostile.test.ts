import { describe, expect } from 'vitest';
import { processesWith } from '../../bridge/capabilities/exec/tests/lent.ts';
import { verifies } from '../requirements.ts';
import { testGateway, until } from '../support/gateway.ts';
import { byHand, lendMcp, standing, stateOf } from '../support/mcp.ts';

/** Runs a hostile server among others: its final state, its leftover processes, and whether everything else still works. */
async function meets(way: string, { settled = 'failed', timeoutMs = 60_000 }: { settled?: 'failed' | 'ready'; timeoutMs?: number } = {}) {
  const mark = `hostile-${way}-${process.pid}`;
  const lent = await lendMcp();
  const gw = await testGateway({ bridge: lent.bridge });
  const { client } = await gw.client();
  const key = 'tools.mcpServers.hostile';
  await client.call('config.set', { key, value: { ...byHand(way, mark), timeoutMs } });
  const { hash = '' } = await standing(client, 'hostile', 'waiting');
  await client.call('mcp.approve', { name: 'hostile', hash });
  const state = await standing(client, 'hostile', settled, 30_000);
  return {
    ...{ lent, gw, client, state, mark },
    async [Symbol.asyncDispose]() {
      expect(await client.call('health', {})).toMatchObject({ status: 'ok' });
      await client.call('config.patch', { patch: { tools: { mcpServers: { hostile: null } } } });
      await until(
        async () => (await stateOf(client, 'hostile')) === undefined && processesWith(mark).length === 0,
        'the end of all it started',
      );
      expect(gw.faults).toEqual([]);
      await gw[Symbol.asyncDispose]();
      await lent[Symbol.asyncDispose]();
    },
  };
}

describe('a hostile server', () => {
  const FAILING: [way: string, why: RegExp][] = [
    ['huge-line', /disconnected: it sent a line longer than 4 MiB/],
    ['asks-without-end', /disconnected: it sent too many requests/],
    ['dies', /disconnected: exited with code 3 \(I cannot go on\)/],
    ['other-version', /version/],
    ['list-fails', /rejected the request: .*no list today/],
  ];
  for (const [way, why] of FAILING) {
    verifies('mcp/hostile', `(${way}) is reported in a sentence, and leaves nothing behind`, async () => {
      await using at = await meets(way);
      expect(at.state.error).toMatch(why);
    });
  }

  for (const way of ['silent', 'list-silent', 'wrong-id', 'no-result', 'does-not-read', 'flood-blindly']) {
    verifies('mcp/hostile', `(${way}) that never answers is given up after its time`, async () => {
      await using at = await meets(way, { timeoutMs: 2000 });
      const what =
        way === 'list-silent'
          ? 'respond within 2 s.'
          : `start within 2 s (begun ${way}). If its command downloads a package, check the network.`;
      expect(at.state.error).toBe(`MCP server hostile did not ${what}`);
    });
  }

  for (const way of ['flood', 'flood-stderr', 'junk', 'deep']) {
    verifies('mcp/hostile', `(${way}) that writes endlessly or sends invalid messages is throttled, and stays usable`, async () => {
      await using at = await meets(way, { settled: 'ready' });
      expect(at.state.tools).toBe(9);
      expect((await at.client.call('mcp.logs', { name: 'hostile' })).text.length).toBeLessThanOrEqual(64 * 1024);
    });
  }

  verifies('mcp/hostile', 'that has no end of tools, or tools that are too large, has those that can be had', async () => {
    for (const [way, tools, problem] of [
      ['many', 500, /first 500 tools/],
      ['endless-list', 1, /twice/],
      ['no-schema', 0, /say is skipped because it is invalid \(inputSchema/],
      ['huge-schema', 1, /schema larger than 64 KiB/],
    ] as const) {
      await using at = await meets(way, { settled: 'ready' });
      expect([at.state.tools, at.state.problems.join()], way).toEqual([tools, expect.stringMatching(problem)]);
    }
  });

  verifies('mcp/tree', 'that forks, or does not want to end, ends with all its processes', async () => {
    for (const [way, count] of [
      ['forks', 4],
      ['stubborn', 1],
    ] as const) {
      await using at = await meets(way, { settled: 'ready' });
      await until(() => processesWith(at.mark).length === count, way);
    }
  });
});
