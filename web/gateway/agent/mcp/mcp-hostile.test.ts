import { describe, expect } from 'vitest';
import { findProcesses } from '../../../../bridge/capabilities/exec/tests/exec-bridge.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { createTestGateway, waitFor } from '../../../../tests/support/test-gateway.ts';
import { toTestServerCommand, createMcpBridge, waitForServerState, getServerState } from '../../../../tests/support/mcp-fixtures.ts';

/** Runs a hostile server among others: its final state, its leftover processes, and whether everything else still works. */
async function runHostileServer(
  mode: string,
  { settled = 'failed', timeoutMs = 60_000 }: { settled?: 'failed' | 'ready'; timeoutMs?: number } = {},
) {
  const mark = `hostile-${mode}-${process.pid}`;
  const mcpBridge = await createMcpBridge();
  const gw = await createTestGateway({ bridge: mcpBridge.bridge });
  const { client } = await gw.client();
  const key = 'tools.mcpServers.hostile';
  await client.call('config.set', { key, value: { ...toTestServerCommand(mode, mark), timeoutMs } });
  const { hash = '' } = await waitForServerState(client, 'hostile', 'waiting');
  await client.call('mcp.approve', { name: 'hostile', hash });
  const state = await waitForServerState(client, 'hostile', settled, 30_000);
  return {
    ...{ lent: mcpBridge, gw, client, state, mark },
    async [Symbol.asyncDispose]() {
      expect(await client.call('health', {})).toMatchObject({ status: 'ok' });
      await client.call('config.patch', { patch: { tools: { mcpServers: { hostile: null } } } });
      await waitFor(
        async () => (await getServerState(client, 'hostile')) === undefined && findProcesses(mark).length === 0,
        'the end of all it started',
      );
      expect(gw.faults).toEqual([]);
      await gw[Symbol.asyncDispose]();
      await mcpBridge[Symbol.asyncDispose]();
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
  for (const [mode, why] of FAILING) {
    verifies('mcp/hostile', `(${mode}) is reported in a sentence, and leaves nothing behind`, async () => {
      await using at = await runHostileServer(mode);
      expect(at.state.error).toMatch(why);
    });
  }

  for (const mode of ['silent', 'list-silent', 'wrong-id', 'no-result', 'does-not-read', 'flood-blindly']) {
    verifies('mcp/hostile', `(${mode}) that never answers is given up after its time`, async () => {
      await using at = await runHostileServer(mode, { timeoutMs: 2000 });
      const what =
        mode === 'list-silent'
          ? 'respond within 2 s.'
          : `start within 2 s (begun ${mode}). If its command downloads a package, check the network.`;
      expect(at.state.error).toBe(`MCP server hostile did not ${what}`);
    });
  }

  for (const mode of ['flood', 'flood-stderr', 'junk', 'deep']) {
    verifies('mcp/hostile', `(${mode}) that writes endlessly or sends invalid messages is throttled, and stays usable`, async () => {
      await using at = await runHostileServer(mode, { settled: 'ready' });
      expect(at.state.tools).toBe(9);
      expect((await at.client.call('mcp.logs', { name: 'hostile' })).text.length).toBeLessThanOrEqual(64 * 1024);
    });
  }

  verifies('mcp/hostile', 'that has no end of tools, or tools that are too large, has those that can be had', async () => {
    for (const [mode, tools, problem] of [
      ['many', 500, /first 500 tools/],
      ['endless-list', 1, /twice/],
      ['no-schema', 0, /say is skipped because it is invalid \(inputSchema/],
      ['huge-schema', 1, /schema larger than 64 KiB/],
    ] as const) {
      await using at = await runHostileServer(mode, { settled: 'ready' });
      expect([at.state.tools, at.state.problems.join()], mode).toEqual([tools, expect.stringMatching(problem)]);
    }
  });

  verifies('mcp/tree', 'that forks, or does not want to end, ends with all its processes', async () => {
    for (const [mode, count] of [
      ['forks', 4],
      ['stubborn', 1],
    ] as const) {
      await using at = await runHostileServer(mode, { settled: 'ready' });
      await waitFor(() => findProcesses(at.mark).length === count, mode);
    }
  });
});
